"""Largest costs of the history and of the monitor's loop, as counts. Raise one only with a reason in the commit."""

from __future__ import annotations

from typing import Final

STATEMENTS: Final = 215
"""SQL statements of a tick of 200 samples: one for each sample, and some for the transactions and the snapshot."""

COMMITS: Final = 3
"""Transactions of a tick: samples, entries, and the snapshot."""

BYTES: Final = 70_000
"""Bytes written by a usual tick of 200 samples, median."""

BYTES_ON_AVERAGE: Final = 300_000
"""The same with its share of moved minutes and of the log's way into the file."""

ENCODE_CALLS: Final = 5000
"""Calls that encode a snapshot of 200 events after one that equals it, object by object."""

SAMPLES_A_PASS: Final = 30
"""Samples analysed in one pass of the event loop."""

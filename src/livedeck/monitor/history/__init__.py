"""The history: what was measured, what went wrong and what was done, in an SQLite file (monitoring.md, "History").

Knows its records and the monitor's facts; `database.py` alone imports sqlite3.
"""

from __future__ import annotations

from livedeck.monitor.history.history import History
from livedeck.monitor.history.reads import HistoryReader, HistoryReads
from livedeck.monitor.history.samples import StreamKey

__all__ = ["History", "HistoryReader", "HistoryReads", "StreamKey"]

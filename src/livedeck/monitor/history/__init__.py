"""Samples, faults, alarms and people's actions in an SQLite file (monitoring.md, "History").

Only `database.py` and `foreign.py` import sqlite3.
"""

from __future__ import annotations

from livedeck.monitor.history.history import History
from livedeck.monitor.history.reads import HistoryReader, HistoryReads, NotReadError
from livedeck.monitor.history.samples import StreamKey

__all__ = ["History", "HistoryReader", "HistoryReads", "NotReadError", "StreamKey"]

"""The bad night, played once a process."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest

from report.night import record_night


@cache
def _recorded() -> Path:
    path = Path(mkdtemp(prefix="night-")) / "history.sqlite"
    record_night(path)
    return path


@pytest.fixture(scope="session")
def night() -> Path:
    """The history of the bad night."""
    return _recorded()

"""The bad night, played once for all workers of a run."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

from report.night import record_night


@pytest.fixture(scope="session")
def night(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The history of the bad night. The workers of a run share the folder above theirs; the first one plays it."""
    folder = tmp_path_factory.getbasetemp()
    folder = folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder
    path, part = folder / "night.sqlite", folder / "night.part"
    with (folder / "night.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            record_night(part)
            part.rename(path)
    return path

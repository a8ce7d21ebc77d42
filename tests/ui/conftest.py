"""Golden pictures are SVG files, one for each test, to be looked at in any browser."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode
from syrupy.types import SerializedData

from livedeck.ui.kit.dialogs import modal
from pictures import as_seen
from ui.deck_stage import PATIENCE


@pytest.fixture(autouse=True)
def same_evening(one_evening: None, parsed_once: None, whole_pauses: None) -> None:
    """Let every stage watch the shared evening, share stylesheets, and end pauses when no work is in progress."""


@pytest.fixture(autouse=True)
def keys_wait_on_a_busy_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove the time limit of a key that waits for the key before: it is real time, and no test may depend on it."""
    monkeypatch.setattr(modal, "MAX_HOLD", PATIENCE)


class Picture(SingleFileSnapshotExtension):
    """Snapshot with one file for each picture."""

    file_extension = "svg"
    _write_mode = WriteMode.TEXT

    def matches(self, *, serialized_data: SerializedData, snapshot_data: SerializedData) -> bool:
        """Return whether two pictures look alike."""
        return as_seen(str(serialized_data)) == as_seen(str(snapshot_data))


@pytest.fixture
def picture(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    """Assertion that equals the picture stored under the test's name."""
    return snapshot.use_extension(Picture)

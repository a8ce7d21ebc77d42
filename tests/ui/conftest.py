"""Golden pictures are SVG files, one a test: to be looked at in any browser."""

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
    """Every stage watches it, in the same colours, and a pause ends when nothing is under way."""


@pytest.fixture(autouse=True)
def keys_wait_on_a_busy_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """How long a key waits for the one before it is real time: nothing that a test says may depend on that."""
    monkeypatch.setattr(modal, "MAX_HOLD", PATIENCE)


class Picture(SingleFileSnapshotExtension):
    """One file a picture."""

    file_extension = "svg"
    _write_mode = WriteMode.TEXT

    def matches(self, *, serialized_data: SerializedData, snapshot_data: SerializedData) -> bool:
        """Whether they look alike."""
        return as_seen(str(serialized_data)) == as_seen(str(snapshot_data))


@pytest.fixture
def picture(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    """Equal to the picture that was kept under this test's name."""
    return snapshot.use_extension(Picture)

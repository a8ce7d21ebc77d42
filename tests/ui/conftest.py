"""Golden pictures are SVG files, one a test: to be looked at in any browser."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode


class Picture(SingleFileSnapshotExtension):
    """One file a picture."""

    file_extension = "svg"
    _write_mode = WriteMode.TEXT


@pytest.fixture
def picture(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    """Equal to the picture that was kept under this test's name."""
    return snapshot.use_extension(Picture)

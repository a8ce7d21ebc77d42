"""Fixtures of the tests of commands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from cli.groups_stage import Stage


@pytest.fixture(scope="module")
def on_stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A simulated platform with a home of its own, for the tests of a file."""
    from cli.groups_stage import stage

    with stage(tmp_path_factory.mktemp("stage")) as made:
        yield made

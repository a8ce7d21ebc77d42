"""Deck that waits in the middle of its imports until a test lets it continue, to run in a terminal."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from pathlib import Path
from types import ModuleType

from livedeck.cli import main

STANDING = "stands still"
"""Text that the deck writes while it waits."""


class _Gate(MetaPathFinder):
    """Import hook that finds nothing. Before a large library is searched, it waits for a writer of the FIFO."""

    def __init__(self, fifo: Path) -> None:
        self._fifo = fifo

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:  # noqa: ARG002
        if name == "pydantic":
            sys.stderr.write(STANDING)
            sys.stderr.flush()
            self._fifo.read_bytes()


if __name__ == "__main__":
    sys.meta_path.insert(0, _Gate(Path(sys.argv[1])))
    main(sys.argv[2:], prog_name="livedeck")

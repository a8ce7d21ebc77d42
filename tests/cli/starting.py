"""A deck that stands still in the middle of its imports until it is let go; to be run in a terminal."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from pathlib import Path
from types import ModuleType

from livedeck.cli import main

FAULT = "fault"
"""As the first argument: it cannot be imported. Else that is a FIFO, and who opens it lets the deck go."""


class _Holding(MetaPathFinder):
    """Finds nothing, and takes its time over it where it matters."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:  # noqa: ARG002
        if name != "pydantic":
            return
        if HELD_BY == FAULT:
            raise RuntimeError("a library is broken")
        Path(HELD_BY).read_bytes()


if __name__ == "__main__":
    _, HELD_BY, *arguments = sys.argv
    sys.meta_path.insert(0, _Holding())
    main(arguments, prog_name="livedeck")

"""Deck that records, after its first frame, its imported modules and the number of dataclasses that were made."""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path
from typing import Any

BARE = {*sys.modules}
made = [0]


def count_dataclasses() -> None:
    """Count each class that becomes a dataclass, by the private function of the standard library that makes each."""
    process: Any = vars(dataclasses)["_process_class"]

    def counted(*arguments: Any) -> Any:
        made[0] += 1
        return process(*arguments)

    vars(dataclasses)["_process_class"] = counted


def note_first_frame(path: Path) -> None:
    """Write the counts to a file when the deck has drawn its first frame."""
    from livedeck.ui.app import Deck

    mount = Deck.on_mount

    def note() -> None:
        counts = {"modules": sorted({*sys.modules} - BARE), "dataclasses": made[0]}
        path.with_suffix(".new").write_text(json.dumps(counts), encoding="utf-8")
        path.with_suffix(".new").rename(path)

    def on_mount(self: Deck) -> None:
        self.call_after_refresh(note)
        mount(self)

    Deck.on_mount = on_mount  # type: ignore[method-assign]  # the only way in from outside


if __name__ == "__main__":
    count_dataclasses()
    note_first_frame(Path(sys.argv[1]))
    from livedeck.cli import main

    main(sys.argv[2:], prog_name="livedeck")

"""Cache of drawn parts of each event. A part is valid while the event does not change."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from operator import is_
from typing import Any, TypeVar

from livedeck.text.segments import ShadedLine, fit

T = TypeVar("T")


class DrawCache:
    """Cache of one wall. It saves time, because few events change from one second to the next."""

    def __init__(self) -> None:
        self._drawn: dict[tuple[str, str], tuple[object, object, Any]] = {}
        self._joined: dict[int, tuple[int, tuple[ShadedLine, ...], ShadedLine]] = {}

    def get(self, name: str, event_id: str, subject: object, args: object, draw: Callable[[], T]) -> T:
        """Return the result of `draw`, or of the last call if `subject` is the same object and `args` are equal.

        Subjects are compared by identity, because a comparison of their samples would take as long as the cache saves.
        """
        cached = self._drawn.get((name, event_id))
        if cached is None or cached[0] is not subject or cached[1] != args:
            cached = self._drawn[name, event_id] = subject, args, draw()
        drawn: T = cached[2]
        return drawn

    def beside(self, first: int, blocks: Sequence[Sequence[ShadedLine]], cells: int) -> list[ShadedLine]:
        """Return blocks of equal height side by side, `cells` wide. `first`: first row of the blocks on the wall.

        Returns the same object for a line as in the last call if all its parts are the same objects.
        """
        return [self._join(row, parts, cells) for row, parts in enumerate(zip(*blocks, strict=True), first)]

    def _join(self, row: int, parts: tuple[ShadedLine, ...], cells: int) -> ShadedLine:
        cached = self._joined.get(row)
        if cached is None or cached[0] != cells or len(cached[1]) != len(parts) or not all(map(is_, cached[1], parts)):
            line = fit([segment for part in parts for segment in part], cells)
            cached = self._joined[row] = cells, parts, line
        return cached[2]

    def keep_only(self, event_ids: Collection[str]) -> None:
        """Drop the entries of all other events."""
        self._drawn = {key: cached for key, cached in self._drawn.items() if key[1] in event_ids}


def shares(total: int, parts: int) -> list[int]:
    """Split `total` into `parts` whole numbers that differ by at most one."""
    return [total * (part + 1) // parts - total * part // parts for part in range(parts)]

"""Cache of the parts drawn for each event, valid while the event does not change."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from operator import is_
from typing import Any, TypeVar

from livedeck.text.segments import ShadedLine, fit

T = TypeVar("T")


class DrawCache:
    """Cache of one wall. It pays because hardly any event changes from one second to the next."""

    def __init__(self) -> None:
        self._drawn: dict[tuple[str, str], tuple[object, object, Any]] = {}
        self._joined: dict[int, tuple[int, tuple[ShadedLine, ...], ShadedLine]] = {}

    def get(self, name: str, event_id: str, subject: object, args: object, draw: Callable[[], T]) -> T:
        """Return the result of `draw`, from the cache if `subject` is the same and `args` are equal to last time.

        Subjects are compared by identity: to compare their samples would cost as much as the cache saves.
        """
        cached = self._drawn.get((name, event_id))
        if cached is None or cached[0] is not subject or cached[1] != args:
            cached = self._drawn[name, event_id] = subject, args, draw()
        drawn: T = cached[2]
        return drawn

    def beside(self, first: int, blocks: Sequence[Sequence[ShadedLine]], cells: int) -> list[ShadedLine]:
        """Join blocks of equal height side by side, `cells` wide. `first`: row of the wall where they start.

        A line is the same object as last time if its parts are the same objects.
        """
        return [self._join(row, parts, cells) for row, parts in enumerate(zip(*blocks, strict=True), first)]

    def _join(self, row: int, parts: tuple[ShadedLine, ...], cells: int) -> ShadedLine:
        cached = self._joined.get(row)
        if cached is None or cached[0] != cells or len(cached[1]) != len(parts) or not all(map(is_, cached[1], parts)):
            line = fit([segment for part in parts for segment in part], cells)
            cached = self._joined[row] = cells, parts, line
        return cached[2]

    def keep_only(self, event_ids: Collection[str]) -> None:
        """Drop the entries of all events but these."""
        self._drawn = {key: cached for key, cached in self._drawn.items() if key[1] in event_ids}


def shares(total: int, parts: int) -> list[int]:
    """Split `total` into `parts` whole numbers that differ by at most one."""
    return [total * (part + 1) // parts - total * part // parts for part in range(parts)]

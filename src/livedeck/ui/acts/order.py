"""Rows put into another order: one request with the whole list, and what came or went meanwhile is said first."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

from livedeck import wording
from livedeck.client import Api, NotFound, Progress, Unfinished
from livedeck.ui.acts.act import Act, Target
from livedeck.ui.dialogs.confirm import Question
from livedeck.ui.dialogs.edits import Change
from livedeck.ui.library import Video, tracks
from livedeck.ui.renderables.ink import Ink
from livedeck.ui.renderables.lines import Span

AT_ONCE = 8

Ids = tuple[str, ...]


@dataclass(slots=True)
class Ordering:
    """What is wanted, and the rows as they were read last: what is sent names every one of these and no other.

    `names`: of the rows, by their id.
    """

    wanted: Ids
    seen: Ids
    names: Mapping[str, str]
    latest: Ids = field(default=())
    sent: bool = False

    def order(self) -> Ids:
        """The rows that are there, in the order that is wanted; those that came meanwhile are last."""
        there = set(self.latest)
        known = set(self.wanted)
        return (*(one for one in self.wanted if one in there), *(one for one in self.latest if one not in known))

    def differences(self, before: Ids, now: Ids) -> tuple[str, ...]:
        """Rows that went, came, or were moved by somebody else."""
        gone = [self.names.get(one, one) for one in before if one not in set(now)]
        come = sum(one not in set(before) for one in now)
        stayed = [one for one in before if one in set(now)]
        moved = stayed != [one for one in now if one in set(before)]
        said = [f"gone: {wording.safe(', '.join(gone), 120)}"] if gone else []
        said += [f"{come} came, and will be last"] if come else []
        return (*said, *(("somebody else moved rows",) if moved else ()))

    def ask(self, _: Ids, changes: tuple[str, ...]) -> Question | None:
        """Nothing is asked where all is as it was seen: the rows were put in order by hand."""
        if not changes:
            return None
        news: tuple[Span, ...] = tuple((f"▲ Since you looked: {change}.", Ink.WARNING) for change in changes)
        told = f"{len(self.order())} rows are sent in your order, whole."
        return Question("Send the order all the same?", (*news, (told, Ink.TEXT)), "Send")


def of_tracks(api: Api, video: Video, wanted: Ids, seen: Ids, names: Mapping[str, str]) -> Act[Ids]:
    """The order of the subtitle tracks."""
    ordering = Ordering(wanted, seen, names)

    async def look() -> Ids:
        ordering.latest = tuple(one.id for one in await tracks(api, video.id))
        return ordering.latest

    def applied(_: Ids, after: Ids | None) -> bool:
        return after == ordering.order()

    return _act(
        "subtitle", video, ordering, look=look, call=lambda ids: api.subtitles.reorder(video.id, ids), applied=applied
    )


def of_materials(api: Api, video: Video, wanted: Ids, seen: Ids, names: Mapping[str, str]) -> Act[Ids]:
    """The order of the materials that the deck knows of. Their links tell which are there; nothing tells the order."""
    ordering = Ordering(wanted, seen, names)

    async def look() -> Ids:
        if ordering.sent:
            raise Unfinished("no endpoint tells the order of materials")
        ordering.latest = await there(api, seen)
        return ordering.latest

    async def call(ids: Sequence[str]) -> object:
        ordering.sent = True
        await api.materials.reorder(ids)
        return ids

    return _act("material", video, ordering, look=look, call=call, applied=lambda *_: False)


async def there(api: Api, ids: Sequence[str]) -> Ids:
    """Those of these materials that have a link. Raises ApiError."""
    gate = asyncio.Semaphore(AT_ONCE)

    async def known(identity: str) -> bool:
        async with gate:
            try:
                await api.materials.link(identity)
            except NotFound:
                return False
            return True

    found = await asyncio.gather(*map(known, ids))
    return tuple(one for one, is_there in zip(ids, found, strict=True) if is_there)


def _act(
    kind: str,
    video: Video,
    ordering: Ordering,
    *,
    look: Callable[[], Awaitable[Ids]],
    call: Callable[[Sequence[str]], Awaitable[object]],
    applied: Callable[[Ids, Ids | None], bool],
) -> Act[Ids]:
    async def send(_: Progress) -> object:
        return await call(ordering.order())

    target = Target(kind, f"order of {video.id}", f"{len(ordering.wanted)} rows of {wording.safe(video.title, 40)}")
    edits = (
        Change("Order", "", wording.safe(", ".join(ordering.names.get(one, one) for one in ordering.wanted), 400)),
    )
    return Act(
        "order.send", "order", target, ordering.seen, look, ordering.differences, ordering.ask, send, applied, edits
    )

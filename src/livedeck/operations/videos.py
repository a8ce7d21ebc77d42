"""What the changes on the extras of a video share, and rows put into another order."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from livedeck.client import Api, Incomplete, Model, NotFound, Progress, collect
from livedeck.monitor import Video
from livedeck.operations.diff import Change, lines
from livedeck.operations.operation import Operation, Target
from livedeck.text import values
from livedeck.text.segments import Segment, StyleRole
from livedeck.ui.kit.dialogs.confirm import Confirmation

M = TypeVar("M", bound=Model)

T = TypeVar("T")


Ask = Callable[[Any, tuple[str, ...]], Confirmation | None]

Call = Callable[[], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class ObjectTarget:
    """An extra frozen when the key was pressed. `look`: reads it again. `facts`: the fields that matter, in words."""

    target: Target
    it: Any
    look: Callable[[], Awaitable[Any]]
    facts: Mapping[str, str] = field(default_factory=dict)

    def differences(self, seen: Any, now: Any) -> tuple[str, ...]:
        """What is otherwise: `its title was "A" and is "B" now`, `it was shown and is not any more`."""
        if not self.facts:
            return ()
        both = seen.model_fields_set & now.model_fields_set
        unlike = [name for name in self.facts if name in both and getattr(seen, name) != getattr(now, name)]
        return tuple(_otherwise(self.facts[name], getattr(seen, name), getattr(now, name)) for name in unlike)


def _otherwise(fact: str, seen: object, now: object) -> str:
    if isinstance(now, bool):
        return f"it was not {fact} and is now" if now else f"it was {fact} and is not any more"
    return f"its {fact} was {_quoted(seen)} and is {_quoted(now)} now"


def _quoted(value: object) -> str:
    return f'"{values.safe(value, 60)}"' if isinstance(value, str) else values.safe(str(value), 20)


def changing(
    one: ObjectTarget,
    verb: str,
    call: Call,
    *,
    shown: Callable[[Any, Any], bool],
    ask: Ask,
    edits: tuple[Change, ...] = (),
) -> Operation[Any]:
    """An act on one extra that is there."""

    async def send(_: Progress) -> object:
        return await call()

    name = f"{one.target.kind}.{verb}"
    return Operation(name, verb, one.target, one.it, one.look, one.differences, ask, send, shown, edits)


def editing(one: ObjectTarget, call: Call, wanted: Mapping[str, object], edits: tuple[Change, ...]) -> Operation[Any]:
    """An act that sets fields of an extra, shown before they are sent. `wanted`: what they are to be."""

    def stands(_: object, after: object) -> bool:
        return after is not None and all(getattr(after, name) == value for name, value in wanted.items())

    return changing(one, "edit", call, shown=stands, ask=saving(one.target, edits), edits=edits)


def deleting(one: ObjectTarget, call: Call, effect: str) -> Operation[Any]:
    """An act that deletes an extra, asked with that effect."""
    return changing(one, "delete", call, shown=gone, ask=asking(one.target, "delete", effect))


def making(
    name: str,
    target: Target,
    look: Callable[[], Awaitable[tuple[Any, ...]]],
    call: Call,
    *,
    like: Callable[[Any], bool],
    ask: Ask = lambda *_: None,
    edits: tuple[Change, ...] = (),
) -> Operation[Any]:
    """An act that makes an extra. That it was made shows by one like it that was not there before."""

    async def send(_: Progress) -> object:
        return await call()

    def made(before: tuple[Any, ...], after: tuple[Any, ...] | None) -> bool:
        known = {one.id for one in before}
        return any(one.id not in known and like(one) for one in after or ())

    verb = name.partition(".")[2]
    return Operation(name, verb, target, (), look, lambda *_: (), ask, send, made, edits)


def gone(_: object, after: object) -> bool:
    """Whether it was deleted."""
    return after is None


def asking(target: Target, verb: str, *effect: str, more: tuple[Segment, ...] = ()) -> Ask:
    """A question: what, what has changed since, its state, the effect."""

    def ask(_: object, changes: tuple[str, ...]) -> Confirmation:
        news: tuple[Segment, ...] = tuple((f"▲ Since you looked: {change}.", StyleRole.WARNING) for change in changes)
        state: tuple[Segment, ...] = (
            ((f"It is {target.state}.", StyleRole.TEXT),) if target.state and not changes else ()
        )
        told = tuple((text, StyleRole.TEXT) for text in effect)
        word = verb.capitalize()
        return Confirmation(f'{word} {target.kind} "{target.name}"?', (*news, *state, *told, *more), word)

    return ask


def saving(target: Target, edits: tuple[Change, ...]) -> Ask:
    """A question that shows what is sent."""
    return asking(target, "save", "This is sent and nothing else:", more=lines(edits))


def unless_changed(target: Target, verb: str, effect: str) -> Ask:
    """No question, a form was consent enough, unless something is otherwise than it was seen."""
    ask = asking(target, verb, effect)
    return lambda seen, changes: ask(seen, changes) if changes else None


@dataclass(slots=True)
class CreatedTarget:
    """What no endpoint reads (decisions.md, "What has no endpoint"): only before it is sent is there a look to take.

    `check`: raises ApiError where it may not be sent. `sent`: it went out whole, so nobody can tell what became of it.
    """

    check: Callable[[], Awaitable[object]]
    sent: bool = False

    async def look(self) -> bool:
        """True where it is there. Raises Unfinished once it was sent: then there is no knowing."""
        if self.sent:
            raise Incomplete("no endpoint tells what became of it")
        await self.check()
        return True


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
        said = [f"gone: {values.safe(', '.join(gone), 120)}"] if gone else []
        said += [f"{come} came, and will be last"] if come else []
        return (*said, *(("somebody else moved rows",) if moved else ()))

    def ask(self, _: Ids, changes: tuple[str, ...]) -> Confirmation | None:
        """Nothing is asked where all is as it was seen: the rows were put in order by hand."""
        if not changes:
            return None
        news: tuple[Segment, ...] = tuple((f"▲ Since you looked: {change}.", StyleRole.WARNING) for change in changes)
        told = f"{len(self.order())} rows are sent in your order, whole."
        return Confirmation("Send the order all the same?", (*news, (told, StyleRole.TEXT)), "Send")


def of_tracks(api: Api, video: Video, wanted: Ids, seen: Ids, names: Mapping[str, str]) -> Operation[Ids]:
    """The order of the subtitle tracks."""
    ordering = Ordering(wanted, seen, names)

    async def look() -> Ids:
        ordering.latest = tuple(one.id for one in await collect(api.subtitles.iterate(video.id, order="position.asc")))
        return ordering.latest

    def applied(_: Ids, after: Ids | None) -> bool:
        return after == ordering.order()

    return _act(
        "subtitle", video, ordering, look=look, call=lambda ids: api.subtitles.reorder(video.id, ids), applied=applied
    )


def of_materials(api: Api, video: Video, wanted: Ids, seen: Ids, names: Mapping[str, str]) -> Operation[Ids]:
    """The order of the materials that the deck knows of. Their links tell which are there; nothing tells the order."""
    ordering = Ordering(wanted, seen, names)

    async def look() -> Ids:
        if ordering.sent:
            raise Incomplete("no endpoint tells the order of materials")
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
) -> Operation[Ids]:
    async def send(_: Progress) -> object:
        return await call(ordering.order())

    target = Target(kind, f"order of {video.id}", f"{len(ordering.wanted)} rows of {values.safe(video.title, 40)}")
    edits = (Change("Order", "", values.safe(", ".join(ordering.names.get(one, one) for one in ordering.wanted), 400)),)
    return Operation(
        "order.send", "order", target, ordering.seen, look, ordering.differences, ordering.ask, send, applied, edits
    )

"""What all changes on the extras of a video share: what was seen is read again, and shows what became of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from livedeck import wording
from livedeck.client import Model, Progress, Unfinished
from livedeck.ui.acts.act import Act, Target
from livedeck.ui.dialogs.confirm import Question
from livedeck.ui.dialogs.edits import Change, lines
from livedeck.ui.renderables.ink import Ink
from livedeck.ui.renderables.lines import Span

M = TypeVar("M", bound=Model)
T = TypeVar("T")

Ask = Callable[[Any, tuple[str, ...]], Question | None]
Call = Callable[[], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Seen:
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
    return f'"{wording.safe(value, 60)}"' if isinstance(value, str) else wording.safe(str(value), 20)


def changing(
    one: Seen,
    verb: str,
    call: Call,
    *,
    shown: Callable[[Any, Any], bool],
    ask: Ask,
    edits: tuple[Change, ...] = (),
) -> Act[Any]:
    """An act on one extra that is there."""

    async def send(_: Progress) -> object:
        return await call()

    name = f"{one.target.kind}.{verb}"
    return Act(name, verb, one.target, one.it, one.look, one.differences, ask, send, shown, edits)


def editing(one: Seen, call: Call, wanted: Mapping[str, object], edits: tuple[Change, ...]) -> Act[Any]:
    """An act that sets fields of an extra, shown before they are sent. `wanted`: what they are to be."""

    def stands(_: object, after: object) -> bool:
        return after is not None and all(getattr(after, name) == value for name, value in wanted.items())

    return changing(one, "edit", call, shown=stands, ask=saving(one.target, edits), edits=edits)


def deleting(one: Seen, call: Call, effect: str) -> Act[Any]:
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
) -> Act[Any]:
    """An act that makes an extra. That it was made shows by one like it that was not there before."""

    async def send(_: Progress) -> object:
        return await call()

    def made(before: tuple[Any, ...], after: tuple[Any, ...] | None) -> bool:
        known = {one.id for one in before}
        return any(one.id not in known and like(one) for one in after or ())

    verb = name.partition(".")[2]
    return Act(name, verb, target, (), look, lambda *_: (), ask, send, made, edits)


def gone(_: object, after: object) -> bool:
    """Whether it was deleted."""
    return after is None


def asking(target: Target, verb: str, *effect: str, more: tuple[Span, ...] = ()) -> Ask:
    """A question: what, what has changed since, its state, the effect."""

    def ask(_: object, changes: tuple[str, ...]) -> Question:
        news: tuple[Span, ...] = tuple((f"▲ Since you looked: {change}.", Ink.WARNING) for change in changes)
        state: tuple[Span, ...] = ((f"It is {target.state}.", Ink.TEXT),) if target.state and not changes else ()
        told = tuple((text, Ink.TEXT) for text in effect)
        word = verb.capitalize()
        return Question(f'{word} {target.kind} "{target.name}"?', (*news, *state, *told, *more), word)

    return ask


def saving(target: Target, edits: tuple[Change, ...]) -> Ask:
    """A question that shows what is sent."""
    return asking(target, "save", "This is sent and nothing else:", more=lines(edits))


def unless_changed(target: Target, verb: str, effect: str) -> Ask:
    """No question, a form was consent enough, unless something is otherwise than it was seen."""
    ask = asking(target, verb, effect)
    return lambda seen, changes: ask(seen, changes) if changes else None


@dataclass(slots=True)
class Unseen:
    """What no endpoint reads (decisions.md, "What has no endpoint"): only before it is sent is there a look to take.

    `check`: raises ApiError where it may not be sent. `sent`: it went out whole, so nobody can tell what became of it.
    """

    check: Callable[[], Awaitable[object]]
    sent: bool = False

    async def look(self) -> bool:
        """True where it is there. Raises Unfinished once it was sent: then there is no knowing."""
        if self.sent:
            raise Unfinished("no endpoint tells what became of it")
        await self.check()
        return True

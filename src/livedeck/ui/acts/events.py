"""What can be done with a live event and its stream."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import datetime

from livedeck import wording
from livedeck.client import EventDraft, Progress
from livedeck.ui.acts.act import Act
from livedeck.ui.acts.sight import ENDED, Sight, Subject, differences
from livedeck.ui.dialogs.confirm import Question, short_name
from livedeck.ui.dialogs.edits import Change, lines
from livedeck.ui.dialogs.event_sheet import facts, stands
from livedeck.ui.renderables.ink import Ink
from livedeck.ui.renderables.lines import Span

Ask = Callable[[Sight, tuple[str, ...]], Question | None]
Call = Callable[[], Awaitable[object]]
Shown = Callable[[Sight, Sight | None], bool | None]


def complete(one: Subject) -> Act[Sight]:
    """End it."""
    effect = "Ingest stops, viewers are cut off, the recording closes. It cannot be resumed."
    quiet = "It ends for good: ingest accepts no more streams."
    return _act(one, "complete", lambda: one.api.events.complete(one.target.id), _completed, _risky(one, effect, quiet))


def enable(one: Subject) -> Act[Sight]:
    """Let streams in."""
    effect = "Ingest accepts a stream from now on, and viewers can watch it."
    return _act(one, "enable", lambda: one.api.events.enable(one.target.id), _touched, _plain(one, "enable", effect))


def delete(one: Subject) -> Act[Sight]:
    """Delete it for good."""
    quiet = "It is deleted for good, its settings and stream keys with it. Its recordings stay."
    ask = _risky(one, f"Viewers are cut off at once. {quiet}", quiet, verb="delete")
    return _act(one, "delete", lambda: one.api.events.delete(one.target.id), lambda _, after: after is None, ask)


def move(one: Subject, parent_id: str) -> Act[Sight]:
    """Put it into another project or folder."""
    was, there = (wording.safe(place or "none", 60) for place in (one.seen.event.parent_id, parent_id))
    effect = f"It moves from {was} to {there}. Who sees and manages it may change with that."

    def moved(_: Sight, after: Sight | None) -> bool:
        return after is not None and after.event.parent_id == parent_id

    ask = _risky(one, effect, effect, verb="move")
    act = _act(one, "move", lambda: one.api.events.move(one.target.id, parent_id), moved, ask)
    return replace(act, edits=(Change("Project or folder", was, there),))


def update(one: Subject, draft: EventDraft, wanted: Mapping[str, object], edits: tuple[Change, ...]) -> Act[Sight]:
    """Change what the draft sets. `wanted`: the same by dotted names; `edits`: the same in words."""

    def changed(seen: Sight, now: Sight) -> tuple[str, ...]:
        return (*differences(seen, now), *_overtaken(seen, now, wanted))

    def updated(_: Sight, after: Sight | None) -> bool:
        return after is not None and stands(after.event, wanted)

    ask = _plain(one, "save", "This is sent and nothing else:", lines(edits))
    act = _act(one, "edit", lambda: one.api.events.update(one.target.id, draft), updated, ask)
    return replace(act, differences=changed, edits=edits)


def poster(one: Subject, url: str) -> Act[Sight]:
    """Give it the picture at that address."""

    def changed(before: Sight, after: Sight | None) -> bool:
        old, new = before.event.poster, after.event.poster if after else None
        return new is not None and (old is None or (new.id, new.original) != (old.id, old.original))

    ask = _willing(one, "poster", f"Its picture becomes {wording.link(url)}.")
    return _act(one, "poster", lambda: one.api.posters.upload_for_event(one.target.id, url), changed, ask)


def schedule(one: Subject, at: datetime) -> Act[Sight]:
    """Give it a stream that begins then."""

    def scheduled(before: Sight, after: Sight | None) -> bool:
        old, new = before.event.stream, after.event.stream if after else None
        return new is not None and (old is None or new.id != old.id)

    effect = f"A stream is scheduled for {_moment(at)}. It takes the place of the present one."
    ask = _willing(one, "schedule", effect)
    act = _act(one, "schedule", lambda: one.api.streams.schedule(one.target.id, at), scheduled, ask, noun="stream")
    return replace(act, edits=(Change("Stream begins", "", _moment(at)),))


def reschedule(one: Subject, at: datetime) -> Act[Sight]:
    """Move its stream to another time."""
    stream = one.seen.event.stream
    was = _moment(stream.started_at) if stream and stream.started_at else "not set"

    def moved(_: Sight, after: Sight | None) -> bool:
        now = after.event.stream if after else None
        return bool(now and now.started_at and abs((now.started_at - at).total_seconds()) < 1)

    ask = _willing(one, "reschedule", f"Its stream moves from {was} to {_moment(at)}.")
    act = _act(one, "reschedule", lambda: one.api.streams.reschedule(one.target.id, at), moved, ask, noun="stream")
    return replace(act, edits=(Change("Stream begins", was, _moment(at)),))


def _act(one: Subject, verb: str, call: Call, shown: Shown, ask: Ask, *, noun: str = "event") -> Act[Sight]:
    async def send(_: Progress) -> object:
        return await call()

    return Act(f"{noun}.{verb}", verb, one.target, one.seen, one.look, differences, ask, send, shown)


def _risky(one: Subject, effect: str, quiet: str, *, verb: str = "complete") -> Ask:
    """Asked always; on air the short name has to be typed."""

    def ask(sight: Sight, changes: tuple[str, ...]) -> Question:
        return _question(one, sight, changes, verb, effect if sight.on_air else quiet, typed=sight.on_air)

    return ask


def _plain(one: Subject, verb: str, effect: str, more: tuple[Span, ...] = ()) -> Ask:
    """Asked always; nobody is cut off."""
    return lambda sight, changes: _question(one, sight, changes, verb, effect, more=more)


def _willing(one: Subject, verb: str, effect: str) -> Ask:
    """A form was consent enough, unless an audience is there or something changed meanwhile."""
    ask = _plain(one, verb, effect)
    return lambda sight, changes: ask(sight, changes) if changes or sight.on_air else None


def _question(
    one: Subject,
    sight: Sight,
    changes: tuple[str, ...],
    verb: str,
    effect: str,
    *,
    more: tuple[Span, ...] = (),
    typed: bool = False,
) -> Question:
    """What, its state, the effect; and before all of it what has changed since the person looked."""
    name = wording.safe(sight.event.name or "", 60) or one.target.id
    news: tuple[Span, ...] = tuple((f"▲ Since you looked: {change}.", Ink.WARNING) for change in changes)
    state = () if changes else ((f"It is {one.target.state}.", Ink.TEXT),)
    word = short_name(name, one.target.id) if typed else ""
    return Question(
        f'{verb.capitalize()} "{name}"?', (*news, *state, (effect, Ink.TEXT), *more), verb.capitalize(), word
    )


def _completed(before: Sight, after: Sight | None) -> bool | None:
    """Its stream ended; without one a later date is all there is, and while one runs that tells nothing."""
    stream = after.event.stream if after else None
    if stream and (stream.finished_at or stream.status == ENDED):
        return True
    touched = _touched(before, after)
    return None if touched and before.on_air else touched


def _touched(before: Sight, after: Sight | None) -> bool:
    """Whether the platform dates a change later than before: the only trace of what no field shows."""
    earlier, later = before.event.updated_at, after.event.updated_at if after else None
    return later is not None and (earlier is None or later > earlier)


def _overtaken(seen: Sight, now: Sight, wanted: Mapping[str, object]) -> tuple[str, ...]:
    """Fields that are about to be overwritten and that somebody else changed meanwhile."""
    before, after = facts(seen.event), facts(now.event)
    told = {"name", "scheduled.time", "parent_id"}  # `differences` says these
    names = [name for name in wanted if name in before and name not in told and before[name] != after[name]]
    return tuple(f"somebody else changed {name}" for name in names)


def _moment(at: datetime) -> str:
    return f"{at:%d %b %Y %H:%M:%S}Z"

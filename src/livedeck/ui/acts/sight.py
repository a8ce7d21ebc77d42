"""An event as somebody sees it, and what has become of it since."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from livedeck import wording
from livedeck.client import Api, Event
from livedeck.monitor import EventState, Snapshot, Tally
from livedeck.ui.acts.act import Target
from livedeck.ui.renderables.moment import Moment

WAITING = frozenset({Tally.SCHEDULED, Tally.LATE})
"""Only time lies between the two."""

QUIET = frozenset({Tally.DRAFT, Tally.COMPLETED, *WAITING})
"""No audience is cut off. A tally that is not known is none of them: unknown is not green."""

ENDED = "finished"


@dataclass(frozen=True, slots=True)
class Sight:
    """The platform's object, and what the monitor made of it when it was shown (None: it was not)."""

    event: Event
    state: EventState | None

    @property
    def tally(self) -> Tally:
        """What it is to the audience, as far as anybody knows."""
        return self.state.phase.tally if self.state else Tally.UNKNOWN

    @property
    def on_air(self) -> bool:
        """Whether an audience may be watching, as far as anybody knows."""
        stream = self.event.stream
        running = bool(stream and not stream.finished_at and stream.status not in {"pending", ENDED})
        return running or (self.state is not None and self.tally not in QUIET)


@dataclass(frozen=True, slots=True)
class Subject:
    """An event frozen when the key was pressed, and the way to see it again. `known`: the last snapshot."""

    api: Api
    known: Callable[[], Snapshot | None]
    seen: Sight
    target: Target

    @classmethod
    def of(cls, api: Api, known: Callable[[], Snapshot | None], state: EventState, moment: Moment, seq: int) -> Subject:
        """That event, as it is shown at that moment."""
        name = wording.safe(state.event.name or "", 60) or state.id
        shown = f"{words(state, moment)}, as of {state.as_of:%H:%M:%S}Z"
        return cls(api, known, Sight(state.event, state), Target("event", state.id, name, shown, seq))

    async def look(self) -> Sight:
        """The event as the platform has it now, by the id that was shown. Raises ApiError."""
        event = await self.api.events.get(self.target.id)
        snapshot = self.known()
        return Sight(event, snapshot.find(self.target.id) if snapshot else None)


def words(state: EventState, moment: Moment) -> str:
    """Its state as the screen shows it: `ON AIR for 01:02:48, health 100 GOOD, 4 of 4 restreams connected`."""
    phase, health = state.phase, state.verdict.health
    said = [phase.tally.value]
    if phase.mark is not None and phase.tally is not Tally.COMPLETED:
        since = moment.server_since(phase.mark)
        said[0] += f" for {wording.duration(since)}" if since >= 0 else f", T-{wording.duration(-since)}"
    if phase.tally.owes_bits:
        said.append(f"health {wording.NO_DATA if health.score is None else health.score} {health.grade}".rstrip())
        said += _restreams(state.event)
    return ", ".join(said)


def _restreams(event: Event) -> list[str]:
    wanted = [one for one in event.restreams or () if one.enabled is not False]
    connected = sum(one.status == "connected" for one in wanted)
    return [f"{connected} of {len(wanted)} restreams connected"] if wanted else []


def differences(seen: Sight, now: Sight) -> tuple[str, ...]:
    """What matters to whoever acts on it and is otherwise than it was seen: `its name was "A" and is "B" now`."""
    said = seen.event.model_fields_set & now.event.model_fields_set
    texts = {
        "name": f"its name was {_name(seen.event)} and is {_name(now.event)} now",
        "type": f"its type was {_word(seen.event.type)} and is {_word(now.event.type)} now",
        "parent_id": "it was moved to another project or folder",
        "scheduled": f"its start was {_start(seen.event)} and is {_start(now.event)} now",
    }
    changed = (name for name in texts if name in said and getattr(seen.event, name) != getattr(now.event, name))
    return (*(texts[name] for name in changed), *_stream(seen, now))


def _name(event: Event) -> str:
    return f'"{wording.safe(event.name or "", 60)}"'


def _word(word: str | None) -> str:
    return wording.safe(word or wording.UNKNOWN, 20)


def _start(event: Event) -> str:
    time = event.scheduled.time if event.scheduled else None
    return f"{time:%d %b %H:%M:%S}Z" if time else "not set"


def _stream(seen: Sight, now: Sight) -> tuple[str, ...]:
    """What is otherwise with the stream; of several words for it the plainest."""
    if seen.tally is not now.tally and not {seen.tally, now.tally} <= WAITING:
        return (f"it was {seen.tally} and is {now.tally} now",)
    one, other = seen.event.stream, now.event.stream
    if (one.id if one else None) != (other.id if other else None):
        return ("its stream is another one now",)
    if one and other and one.status != other.status:
        return (f"its stream was {_word(one.status)} and is {_word(other.status)} now",)
    return ()

"""Probe with made-up results, and states after its rounds."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from datetime import datetime, timedelta
from typing import Any

from livedeck.monitor import Clock, Delivery, Picture, Sound, Source, Viewed, ViewerState
from monitor.stage import NOW

HOST = "cdn.example"


def moment(seconds: float) -> datetime:
    """Return the time `seconds` after NOW."""
    return NOW + timedelta(seconds=seconds)


def seen(seconds: float, **fields: Any) -> ViewerState:
    """Return the state after a round at `seconds` from NOW: all is well except for `fields`."""
    at, rounds = moment(seconds), int(fields.pop("rounds", 10))
    since = fields.pop("begun", None)
    begun = moment(seconds if since is None else since)
    well = {
        "source": Source.PLAYLIST,
        "delivery": Delivery.PLAYS,
        "picture": Picture.MOVES,
        "sound": Sound.HEARD,
        "since": begun,
        "picture_since": begun,
        "sound_since": begun,
        "as_of": at,
        "rounds": rounds,
        "advances": 1,
        "head_time": moment(seconds - 8),
        "target": 2.0,
        "latency": 8.0,
        "ratio": 0.1,
        "rungs": (360, 720),
        "listed": 5 * rounds,
        "host": HOST,
    }
    return ViewerState(**{**well, **fields})


class Probe:
    """A `Viewer` whose rounds a test makes up: one each 10 s, and each 4 s of an event in doubt.

    `see`: the state of an event at a number of seconds; None for an event without an address. `phase`: seconds of the
    first round. `rounds`: the rounds so far of each event.
    """

    note = ""

    def __init__(self, clock: Clock, see: Callable[[str, float], ViewerState | None], phase: float = 0.0) -> None:
        self._clock, self.see, self.phase = clock, see, phase
        self.wanted: dict[str, Viewed] = {}
        self.rounds: dict[str, list[float]] = {}
        self._states: dict[str, ViewerState] = {}
        self.words = ""

    def want(self, events: Collection[Viewed]) -> None:
        self._catch_up()
        self.wanted = {event.event_id: event for event in events}
        self._states = {key: state for key, state in self._states.items() if key in self.wanted}

    def states(self) -> Mapping[str, ViewerState]:
        self._catch_up()
        return dict(self._states)

    def fault(self) -> str:
        return self.words

    def picture(self, event_id: str) -> bytes:
        return b"JPEG of " + event_id.encode()

    def _catch_up(self) -> None:
        now = self._clock.monotonic()
        for event_id, event in self.wanted.items():
            rounds = self.rounds.setdefault(event_id, [])
            while (due := rounds[-1] + (4.0 if event.is_doubted else 10.0) if rounds else self.phase) <= now:
                rounds.append(due)
                if state := self.see(event_id, due):
                    self._states[event_id] = state


class Packager:
    """A packager of segments of `target` seconds, each served `delay` seconds after its end, until `dies`.

    Its dates are those of the encoder's pictures. `is_dated`: its playlists have EXT-X-PROGRAM-DATE-TIME.
    """

    def __init__(self, target: float, delay: float, *, dies: float = 1e9, is_dated: bool = True) -> None:
        self.target, self.delay, self.dies, self.is_dated = target, delay, dies, is_dated
        self._advances, self._rounds, self._head = 0, 0, -1e9
        self._since = 0.0

    def see(self, _event_id: str, seconds: float) -> ViewerState:
        """The state after a round."""
        newest = min(seconds - self.delay, self.dies)
        head = newest - newest % self.target
        if head > self._head:
            self._since = seconds
        self._advances = self._advances + 1 if head > self._head else 0
        self._head, self._rounds = head, self._rounds + 1
        is_stalled = seconds - self._since > 1.5 * self.target
        return seen(
            seconds,
            delivery=Delivery.STALLED if is_stalled else Delivery.PLAYS,
            advances=self._advances,
            rounds=self._rounds,
            target=self.target,
            head_time=moment(head) if self.is_dated else None,
            latency=seconds - head if self.is_dated else None,
        )

"""Publishers of a world: their admission by stream key, measurement in each beat, and end. No sockets."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from math import floor

from livedeck.simulator.engine.clock import ClockState, format_epoch
from livedeck.simulator.engine.disk import is_disk_full
from livedeck.simulator.engine.encoder import MEASURED, EncoderState, encoder_states
from livedeck.simulator.engine.store import Document
from livedeck.simulator.engine.world import World
from livedeck.simulator.errors import ApiError
from livedeck.simulator.ingest.machine import show_machine
from livedeck.simulator.ingest.meter import NO_READING, SLOW_VERDICTS, Meter, Reading, Verdict
from livedeck.simulator.rehearsal.commands import change_encoder, end_open_turns

CLOCK_MOVED = "the rehearsal clock is moved"

SILENT_SECONDS, FAST_SECONDS = 15.0, 30.0
"""Seconds without media, or faster than real time, after which a publisher is cut."""

TAKEOVER_SECONDS = 5.0
"""Seconds without media after which a second publisher with the same key replaces the first."""

SAVE_BEATS = 5
"""Beats between two transactions of measured samples: 10 s."""

ENDED = 20
"""Number of ended publishers that the control API still shows."""

_log = logging.getLogger("livedeck.simulator")


class RefusedError(Exception):
    """The publisher may not send. The message is for the encoder's operator, and never contains a stream key."""


@dataclass(slots=True, eq=False)
class Publisher:
    """Encoder that publishes to an event. `cut` closes its connection, with a reason for the log."""

    event_id: str
    event_name: str
    stream_id: str
    peer: str
    since: float
    meter: Meter
    cut: Callable[[str], None] = field(repr=False)
    clock: ClockState
    reading: Reading = NO_READING
    fast_since: float | None = None

    @property
    def state(self) -> EncoderState:
        """State of the event's encoder as long as this publisher sends."""
        return EncoderState(self.since, MEASURED)


class Publishers:
    """Publishers by event."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._by_event: dict[str, Publisher] = {}
        self._ended = deque[Document](maxlen=ENDED)
        self._beats = 0
        if world.store.is_kept:
            end_open_turns(world)
        world.ingest.show = self._show

    @property
    def cadence(self) -> float:
        """Seconds between two beats."""
        return self._world.encoders.cadence

    def open(self, address: str | None) -> None:
        """Set the RTMP address that events show; None to show none."""
        self._world.ingest.address = address

    def publish(self, key: str, peer: str, cut: Callable[[str], None], now: float) -> Publisher:
        """Admit a publisher. `now`: seconds of the meter's clock. Raises RefusedError."""
        world = self._world
        clock = world.clock.state
        if clock.paused or clock.speed != 1:
            raise RefusedError(CLOCK_MOVED)
        world.timeline.catch_up(world.now())
        event = self._event_of(key)
        if event is None:
            raise RefusedError("unknown stream key")
        before = self._by_event.get(event["id"])
        if before is not None:
            if now - before.meter.last_media < TAKEOVER_SECONDS:
                raise RefusedError("this stream key is already publishing")
            self._cut(before, "another publisher took over")
            event = world.store.get("event", event["id"]) or event
        at = world.now()
        try:
            with world.store.transaction():
                change_encoder(world, at, event, {"sending": True, "shape": MEASURED})
        except ApiError as error:
            raise RefusedError(error.message) from error
        except OSError as error:
            if not is_disk_full(error):
                raise
            world.disk.refuse(error)
            raise RefusedError("the disk is full") from error
        world.encoders.measured.forget_after(event["stream"]["id"], self._tick())
        publisher = Publisher(event["id"], event["name"], event["stream"]["id"], peer, at, Meter(now), cut, clock)
        self._by_event[event["id"]] = publisher
        return publisher

    def _event_of(self, key: str) -> Document | None:
        store = self._world.store
        for workspace in self._world.workspaces():
            for event in store.find_all("event", workspace.workspace_id, where=[("streamkey", key)]):
                return event
        return None

    def end(self, publisher: Publisher, reason: str = "the connection ended") -> None:
        """Record that a publisher has gone: its encoder stops. A second call does nothing."""
        if self._by_event.get(publisher.event_id) is publisher:
            del self._by_event[publisher.event_id]
            self._ended.append(_show_turn(publisher) | {"until": self._world.timestamp(), "reason": reason})
            event = self._world.store.get("event", publisher.event_id)
            if event is not None and encoder_states(event["encoder"])[-1:] == (publisher.state,):
                with suppress(ApiError), self._stored():
                    change_encoder(self._world, self._world.now(), event, {"sending": False})
            self._save()

    def beat(self, now: float) -> None:
        """Measure every publisher, and cut those that may not go on."""
        world = self._world
        tick = self._tick()
        for publisher in [*self._by_event.values()]:
            reason = self.objection(publisher) or self._check(publisher, now)
            if reason is not None:
                self._cut(publisher, reason)
            elif publisher.reading.sample is not None:
                world.encoders.measured.add(publisher.stream_id, tick, publisher.reading.sample)
        self._beats += 1
        if self._beats % SAVE_BEATS == 0:
            self._save()

    def seconds_to_beat(self) -> float:
        """Return the seconds until the next multiple of the cadence on the simulator's clock."""
        clock, cadence = self._world.clock, self._world.encoders.cadence
        return cadence if clock.paused else (cadence - self._world.now() % cadence)

    def _tick(self) -> int:
        """Return the current tick. The last 5 % of a beat count as the next tick, because a timer may fire early."""
        return floor(self._world.now() / self.cadence + 0.05)

    def objection(self, publisher: Publisher) -> str | None:
        """Return the reason to cut the publisher if the clock was changed since it began; otherwise None."""
        return None if self._world.clock.state is publisher.clock else CLOCK_MOVED

    def _check(self, publisher: Publisher, now: float) -> str | None:
        event = self._world.store.get("event", publisher.event_id)
        if event is None or not self._is_measured(event, publisher):
            return "the event does not take this stream any more"
        if now - publisher.meter.last_media > SILENT_SECONDS:
            return f"silent for {SILENT_SECONDS:.0f} s"
        publisher.reading = publisher.meter.beat(now)
        if publisher.reading.verdict != Verdict.FAST:
            publisher.fast_since = None
        elif publisher.fast_since is None:
            publisher.fast_since = now
        elif now - publisher.fast_since > FAST_SECONDS:
            return f"faster than real time for {FAST_SECONDS:.0f} s"
        return None

    def _is_measured(self, event: Document, publisher: Publisher) -> bool:
        """Return whether the event's current stream still comes from this publisher."""
        stream = event["stream"]
        is_same = stream is not None and stream["id"] == publisher.stream_id
        return is_same and encoder_states(event["encoder"])[-1:] == (publisher.state,)

    def _cut(self, publisher: Publisher, reason: str) -> None:
        self.end(publisher, reason)
        publisher.cut(reason)

    def close(self) -> None:
        """Cut every publisher and store the last samples."""
        for publisher in [*self._by_event.values()]:
            self._cut(publisher, "the simulator stops")
        self._save()

    def _save(self) -> None:
        with self._stored():
            self._world.encoders.measured.save()

    @contextmanager
    def _stored(self) -> Iterator[None]:
        """Run the block, and record a full disk instead of raising it."""
        try:
            with self._world.store.transaction():
                yield
        except OSError as error:
            if not is_disk_full(error):
                raise
            self._world.disk.refuse(error)

    def _show(self) -> Document:
        """Return the address, the publishers and this machine in the form of the control API."""
        for publisher in [*self._by_event.values()]:
            if (reason := self.objection(publisher)) is not None:  # its next beat is up to 2 s away
                self._cut(publisher, reason)
        publishers = [*self._by_event.values()]
        slow_peers = [publisher.peer for publisher in publishers if publisher.reading.verdict in SLOW_VERDICTS]
        return {
            "address": self._world.ingest.address,
            "publishers": [_show(publisher) for publisher in publishers],
            "ended": [*self._ended],
            "machine": show_machine(slow_peers),
        }


def _show(publisher: Publisher) -> Document:
    """Return the publisher in the form of the control API."""
    reading, sample = publisher.reading, publisher.reading.sample
    return _show_turn(publisher) | {
        "verdict": reading.verdict,
        "status": sample and sample.status,
        "bitrate_video": sample and sample.video,
        "bitrate_audio": sample and sample.audio,
        "frame_rate": sample and sample.fps,
        "speed": reading.speed and round(reading.speed, 3),
        "idle": reading.idle and round(reading.idle, 3),
    }


def _show_turn(publisher: Publisher) -> Document:
    return {
        "event": {"id": publisher.event_id, "name": publisher.event_name},
        "peer": publisher.peer,
        "since": format_epoch(publisher.since),
    }

"""Samples that the simulator does not compute: measured ones of real encoders, and those of a recording."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from livedeck.simulator.engine.store import Store

MAX_SAMPLES = 3600
"""Maximum number of samples in a response (platform-api.md, "QoS response")."""


class Sample(NamedTuple):
    """Video and audio in bits per second, frames per second, QoS status."""

    video: int
    audio: int
    fps: int
    status: int


class MeasuredSamples:
    """Measured samples by stream and tick; a tick is the number of cadences since the epoch."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._streams: dict[str, deque[tuple[int, Sample]]] = {}
        self._unsaved: list[tuple[str, int, Sample]] = []

    def add(self, stream: str, tick: int, sample: Sample) -> None:
        """Add a sample, or drop it if its tick is not after the last one: the API returns ascending samples."""
        if tick > self.last_tick(stream):
            self._of(stream).append((tick, sample))
            self._unsaved.append((stream, tick, sample))

    def forget_after(self, stream: str, tick: int) -> None:
        """Forget samples after `tick`, which exist if the clock was moved back."""
        if self.last_tick(stream) > tick:
            self._streams[stream] = deque((row for row in self._of(stream) if row[0] <= tick), maxlen=MAX_SAMPLES)
            self._unsaved = [row for row in self._unsaved if row[0] != stream or row[1] <= tick]
            self._store.forget_measured_after(stream, tick)

    def save(self) -> None:
        """Store the samples since the last call in one transaction. Raises OSError if the disk is full."""
        if self._unsaved:
            self._store.add_measured((stream, tick, *sample) for stream, tick, sample in self._unsaved)
            self._unsaved.clear()

    def clear(self) -> None:
        """Forget every sample in memory. `Store.clear` deletes the stored samples."""
        self._streams.clear()
        self._unsaved.clear()

    def last_tick(self, stream: str) -> int:
        """Return the tick of the newest sample, 0 if there is none."""
        samples = self._of(stream)
        return samples[-1][0] if samples else 0

    def newest_first(self, stream: str, ticks: range) -> Iterator[tuple[int, Sample]]:
        """Yield the samples at `ticks`, newest first."""
        for tick, sample in reversed(self._of(stream)):
            if tick < ticks.start:
                return
            if tick < ticks.stop:
                yield tick, sample

    def recorded(self, stream: str, after: float, until: float) -> Iterator[tuple[float, tuple[float | None, ...]]]:
        """Yield time and values of the recorded samples in (after, until] (epoch seconds), newest first."""
        for at, *values in self._store.recorded(stream, round(after * 1000), round(until * 1000), MAX_SAMPLES):
            yield at / 1000, tuple(values)

    def _of(self, stream: str) -> deque[tuple[int, Sample]]:
        if stream not in self._streams:
            rows = ((tick, Sample(*values)) for tick, *values in self._store.measured(stream))
            self._streams[stream] = deque(rows, maxlen=MAX_SAMPLES)
        return self._streams[stream]

"""QoS samples in columns of numbers, so that an hour of samples of two hundred events fits in little memory."""

from __future__ import annotations

from array import array
from math import nan
from typing import NamedTuple

from msgspec import field

from livedeck.record import Record


class Reading(NamedTuple):
    """QoS sample: `time` in epoch seconds (server clock), rates in bit/s, `fps` in frames/s. None means missing."""

    time: float
    video: float | None
    audio: float | None
    fps: float | None
    status: int | None


NO_STATUS = -1
"""Value in `Readings.status` for a sample without a status."""


def _doubles() -> array[float]:
    return array("d")


def _integers() -> array[int]:
    return array("q")


class Readings(Record, eq=False):
    """QoS samples of one stream in columns, ascending, one row for each time. NaN is missing; 0 is a measurement."""

    time: array[float] = field(default_factory=_doubles)
    video: array[float] = field(default_factory=_doubles)
    audio: array[float] = field(default_factory=_doubles)
    fps: array[float] = field(default_factory=_doubles)
    status: array[int] = field(default_factory=_integers)

    def __len__(self) -> int:
        return len(self.time)

    def __getitem__(self, index: int) -> Reading:
        status = self.status[index]
        return Reading(
            self.time[index],
            _or_none(self.video[index]),
            _or_none(self.audio[index]),
            _or_none(self.fps[index]),
            None if status == NO_STATUS else status,
        )

    @property
    def newest_time(self) -> float | None:
        """Time of the newest sample, or None."""
        return self.time[-1] if self.time else None

    @property
    def last(self) -> Reading | None:
        """Newest sample, or None."""
        return self[-1] if len(self.time) else None


def _or_none(value: float) -> float | None:
    return None if value != value else value  # noqa: PLR0124  only NaN differs from itself


MISSING = nan
"""Value in the columns of `Readings` for a sample without a number."""

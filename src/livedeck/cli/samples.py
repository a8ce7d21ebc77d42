"""QoS samples as text: for people, as JSON, as CSV. Pure. Missing is empty or null, and never 0."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from livedeck import wording
from livedeck.monitor import Reading, Readings
from livedeck.ui.renderables.status import look

FIELDS = ("time", "bitrate_video", "bitrate_audio", "frame_rate", "status")
"""The names of the document (platform-api.md, 2); rates in bit/s whatever the platform counts in."""

HEAD = f"{'TIME':<24}  {'VIDEO':>7}  {'AUDIO':>7}  {'FPS':>6}  STATUS"


def csv_row(reading: Reading) -> str:
    """One line, without its end. Numbers and a timestamp need no quotes."""
    return ",".join("" if value is None else str(value) for value in as_object(reading).values())


def as_object(reading: Reading) -> dict[str, Any]:
    """The sample under the document's names; None is missing."""
    values = (reading.video, reading.audio, reading.fps)
    return dict(zip(FIELDS, (stamp(reading.time), *map(_whole, values), reading.status), strict=True))


def row(reading: Reading) -> str:
    """One line for people, under HEAD."""
    rates = f"{wording.bits(reading.video):>7}  {wording.bits(reading.audio):>7}  {wording.frames(reading.fps):>6}"
    return f"{stamp(reading.time):<24}  {rates}  {_status(reading.status)}"


def stamp(time: float) -> str:
    """Epoch seconds as ISO 8601 UTC, to the millisecond."""
    return f"{datetime.fromtimestamp(time, UTC).replace(tzinfo=None).isoformat(timespec='milliseconds')}Z"


def since(readings: Readings, last: float | None) -> Iterable[Reading]:
    """The samples of the newest `last` seconds, counted from the newest of all; None: every one."""
    newest = readings.last
    begin = None if newest is None or last is None else newest.time - last
    return (one for one in map(readings.__getitem__, range(len(readings))) if begin is None or one.time >= begin)


def _status(status: int | None) -> str:
    if status is None:
        return wording.UNKNOWN
    shown = look(status)
    return f"{status} {shown.word}" if status == 0 else f"{status} {shown.glyph} {shown.word}"


def _whole(value: float | None) -> float | int | None:
    return int(value) if value is not None and value.is_integer() else value

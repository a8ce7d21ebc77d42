"""Times as people type them: `18:30`, `2104`, `tomorrow 9:00`, `in 20 min`, `-15m`, `2026-11-21 18:00Z`; and as ISO
8601. Pure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import overload

from livedeck.text.values import duration

EXAMPLES = "18:30, tomorrow 18:30, in 20 min, 2026-11-21 18:30, ...Z for UTC"
"""What may be typed, for hints and error messages."""

PAST_EXAMPLES = "21:04, 2104, -15m, yesterday 21:04, 2026-11-20 21:04Z"
"""The same where the past is meant."""

_UNIT_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_PART = r"\d{1,5} *(?:days?|d|hours?|h|min|m|sec|s)"
_LENGTH = rf"({_PART}(?:[ ,]*(?:and +)?{_PART})*)"
_IN = re.compile(rf"(?:in +|\+ *){_LENGTH}")
_AGO = re.compile(rf"(?:- *{_LENGTH}|{_LENGTH} +ago)")

_ABSOLUTE = re.compile(
    r"(?:(?P<day>\d{4}-\d\d-\d\d|yesterday|today|tomorrow)(?:[t ] *))?"
    r"(?P<time>\d{1,2}:\d\d(?::\d\d(?:\.\d{1,6})?)?|\d{4})"
    r" *(?P<zone>z|utc|[+-]\d\d:?\d\d)?"
)


@dataclass(frozen=True, slots=True)
class TimeReference:
    """What a typed time is relative to: `now` (aware), and the zone of the person (None: that of this machine).

    `past`: a time without a day is the last such time, not the next. `after`: it is the first such time after that.
    """

    now: datetime
    zone: tzinfo | None = None
    past: bool = False
    after: datetime | None = None


def parse(text: str, reference: TimeReference) -> datetime:
    """The time that the text means, in UTC. Raises ValueError, saying what may be typed."""
    typed = " ".join(text.casefold().split())
    try:
        if match := _IN.fullmatch(typed):
            return (reference.now + _length(match[1])).astimezone(UTC)
        if match := _AGO.fullmatch(typed):
            return (reference.now - _length(match[1] or match[2])).astimezone(UTC)
        if match := _ABSOLUTE.fullmatch(typed):
            return _absolute(match, reference)
    except OverflowError as error:
        raise ValueError("is too far away") from error
    raise ValueError(f"is no moment; type {PAST_EXAMPLES if reference.past else EXAMPLES}")


def is_time_of_day(text: str) -> bool:
    """Whether it names no day: `21:04`, `2104`."""
    match = _ABSOLUTE.fullmatch(text.strip().casefold())
    return bool(match and not match["day"])


def format_time(at: datetime, zone: tzinfo | None) -> str:
    """The time as `parse` reads it: local, with seconds where it has any; fractions of a second are cut off."""
    local = _local(at, zone)
    return f"{_isoformat(local)}Z" if local.tzinfo is UTC and zone is not UTC else _isoformat(local)


def describe(at: datetime, reference: TimeReference) -> str:
    """The time in UTC, in the local zone, and how far away it is: `18:30Z  19:30 CET  T-00:20:00`."""
    local, ahead = _local(at, reference.zone), (at - reference.now).total_seconds()
    distance = f"T-{duration(ahead)}" if ahead >= 0 else f"T+{duration(-ahead)}"
    utc, today = at.astimezone(UTC), reference.now.astimezone(UTC)
    day = "" if utc.date() == today.date() else f"{utc:%d %b} " if utc.year == today.year else f"{utc:%d %b %Y} "
    return f"{day}{utc:%H:%M}Z  {local:%H:%M %Z}  {distance}"


def _local(at: datetime, zone: tzinfo | None) -> datetime:
    """The time in that zone; in UTC where it lies outside the calendar of the zone."""
    try:
        return at.astimezone(zone)
    except (OverflowError, ValueError):  # the machine's own zone raises ValueError
        return at.astimezone(UTC)


def _isoformat(local: datetime) -> str:
    return local.replace(tzinfo=None).isoformat(" ", "seconds" if local.second else "minutes")


def _length(text: str) -> timedelta:
    parts = re.findall(r"(\d+) *([a-z])", text)
    return timedelta(seconds=sum(int(count) * _UNIT_SECONDS[unit] for count, unit in parts))


def _absolute(match: re.Match[str], reference: TimeReference) -> datetime:
    zone, clock_time = reference.zone, _clock_time(match["time"])
    if match["zone"]:
        zone = UTC if match["zone"] in {"z", "utc"} else datetime.strptime(match["zone"], "%z").tzinfo
    today = reference.now.astimezone(zone).date()
    if match["day"]:
        return _combine(_day(match["day"], today), clock_time, zone)
    if reference.past and not reference.after:
        at = _combine(today, clock_time, zone)
        return at if at <= reference.now else _combine(today - timedelta(days=1), clock_time, zone)
    since = reference.after or reference.now
    day = since.astimezone(zone).date()
    at = _combine(day, clock_time, zone)
    return at if at > since else _combine(day + timedelta(days=1), clock_time, zone)


def _clock_time(text: str) -> time:
    try:
        return time.fromisoformat(text if text[1] != ":" else f"0{text}")  # which reads `2104`, too
    except ValueError:
        raise ValueError("has no such time of day") from None


def _day(word: str, today: date) -> date:
    offsets = {"yesterday": -1, "today": 0, "tomorrow": 1}
    if word in offsets:
        return today + timedelta(days=offsets[word])
    try:
        return date.fromisoformat(word)
    except ValueError:
        raise ValueError("has no such day") from None


def _combine(day: date, clock_time: time, zone: tzinfo | None) -> datetime:
    """That time of that day in UTC. Raises ValueError for one that the change to summer time skips, OverflowError for
    one outside the calendar.
    """
    naive = datetime.combine(day, clock_time)
    try:
        at = (naive.replace(tzinfo=zone) if zone else naive.astimezone()).astimezone(UTC)
    except ValueError as error:  # the machine's own zone raises it for OverflowError
        raise OverflowError from error
    if at.astimezone(zone).replace(tzinfo=None) != naive:
        raise ValueError("does not exist: clocks go forward then; type it in UTC, with a Z")
    return at


def timestamp(epoch_seconds: float) -> str:
    """Epoch seconds as ISO 8601 UTC, to the millisecond: `2026-11-20T21:14:07.000Z`."""
    return f"{datetime.fromtimestamp(epoch_seconds, UTC).replace(tzinfo=None).isoformat(timespec='milliseconds')}Z"


@overload
def isoformat_utc(at: datetime) -> str: ...
@overload
def isoformat_utc(at: datetime | None) -> str | None: ...
def isoformat_utc(at: datetime | None) -> str | None:
    """An aware time in UTC as ISO 8601, with a Z; None stays None."""
    return None if at is None else at.isoformat().replace("+00:00", "Z")


def parse_timestamp(text: str) -> datetime:
    """An ISO 8601 timestamp, aware and in UTC; without an offset it is UTC (platform-api.md, "Addresses").

    Digits past the microsecond are cut off. Raises ValueError for anything else.
    """
    time = datetime.fromisoformat(text)
    if time.tzinfo is UTC:
        return time
    if time.tzinfo is None:
        return time.replace(tzinfo=UTC)
    try:
        return time.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("out of range") from error


def format_timestamp(time: datetime) -> str:
    """The timestamp of an aware datetime, as the platform writes them: `2026-11-21T18:00:00.000000Z`."""
    return time.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")

"""Parses and formats times. Pure.

People type `now`, `18:30`, `2104`, `tomorrow 9:00`, `in 20 min`, `-15m` or `2026-11-21 18:00Z`; the platform uses ISO
8601.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import overload

from livedeck.record import Record
from livedeck.text.values import duration

EXAMPLES = "18:30, tomorrow 18:30, in 20 min, 2026-11-21 18:30, ...Z for UTC"
"""Examples of times, for hints and error messages."""

PAST_EXAMPLES = "21:04, 2104, -15m, yesterday 21:04, 2026-11-20 21:04Z"
"""Examples of times in the past."""

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


class TimeReference(Record):
    """Reference for a typed time.

    Attributes:
        now: Current time, with a time zone.
        zone: Time zone of the user; None for the time zone of this machine.
        past: Whether a time without a day means the last such time instead of the next.
        after: If given, a time without a day means the first such time after `after`.
    """

    now: datetime
    zone: tzinfo | None = None
    past: bool = False
    after: datetime | None = None


def parse(text: str, reference: TimeReference) -> datetime:
    """Return a typed time in UTC.

    Raises ValueError. Its message is put after the typed text: `is not a time; try 18:30`.
    """
    typed = " ".join(text.casefold().split())
    if typed == "now":
        return reference.now.astimezone(UTC)
    try:
        if match := _IN.fullmatch(typed):
            return (reference.now + _length(match[1])).astimezone(UTC)
        if match := _AGO.fullmatch(typed):
            return (reference.now - _length(match[1] or match[2])).astimezone(UTC)
        if match := _ABSOLUTE.fullmatch(typed):
            return _absolute(match, reference)
    except OverflowError as error:
        raise ValueError("is too far away") from error
    raise ValueError(f"is not a time; try {PAST_EXAMPLES if reference.past else EXAMPLES}")


def is_time_of_day(text: str) -> bool:
    """Return whether a text is a time without a day, such as `21:04` or `2104`."""
    match = _ABSOLUTE.fullmatch(text.strip().casefold())
    return bool(match and not match["day"])


def format_time(at: datetime, zone: tzinfo | None) -> str:
    """Return the time in the zone, in a form that `parse` accepts. Omits fractions of a second and 0 seconds."""
    local = _local(at, zone)
    return f"{_isoformat(local)}Z" if local.tzinfo is UTC and zone is not UTC else _isoformat(local)


def describe(at: datetime, reference: TimeReference) -> str:
    """Return the time in UTC and in the local zone, and its distance from now: `18:30Z  19:30 CET  T-00:20:00`."""
    local, ahead = _local(at, reference.zone), (at - reference.now).total_seconds()
    distance = f"T-{duration(ahead)}" if ahead >= 0 else f"T+{duration(-ahead)}"
    utc, today = at.astimezone(UTC), reference.now.astimezone(UTC)
    day = "" if utc.date() == today.date() else f"{utc:%d %b} " if utc.year == today.year else f"{utc:%d %b %Y} "
    return f"{day}{utc:%H:%M}Z  {local:%H:%M %Z}  {distance}"


def _local(at: datetime, zone: tzinfo | None) -> datetime:
    """Return the time in the zone, or in UTC if it lies outside the zone's calendar."""
    try:
        return at.astimezone(zone)
    except (OverflowError, ValueError):  # the machine's own zone raises ValueError for such a time
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
        return time.fromisoformat(text if text[1] != ":" else f"0{text}")  # also reads `2104`
    except ValueError:
        raise ValueError("has no valid time of day") from None


def _day(word: str, today: date) -> date:
    offsets = {"yesterday": -1, "today": 0, "tomorrow": 1}
    if word in offsets:
        return today + timedelta(days=offsets[word])
    try:
        return date.fromisoformat(word)
    except ValueError:
        raise ValueError("has no valid day") from None


def _combine(day: date, clock_time: time, zone: tzinfo | None) -> datetime:
    """Return the clock time on that day, in the zone, as a time in UTC.

    Raises ValueError for a time that the change to summer time skips, OverflowError for a time outside the calendar.
    """
    naive = datetime.combine(day, clock_time)
    try:
        at = (naive.replace(tzinfo=zone) if zone else naive.astimezone()).astimezone(UTC)
    except ValueError as error:  # the machine's own zone raises ValueError instead of OverflowError
        raise OverflowError from error
    if at.astimezone(zone).replace(tzinfo=None) != naive:
        raise ValueError("does not exist: clocks go forward then; type the time in UTC, with a Z")
    return at


def timestamp(epoch_seconds: float) -> str:
    """Format epoch seconds as ISO 8601 in UTC, to the millisecond: `2026-11-20T21:14:07.000Z`."""
    return f"{datetime.fromtimestamp(epoch_seconds, UTC).replace(tzinfo=None).isoformat(timespec='milliseconds')}Z"


@overload
def isoformat_utc(at: datetime) -> str: ...
@overload
def isoformat_utc(at: datetime | None) -> str | None: ...
def isoformat_utc(at: datetime | None) -> str | None:
    """Format a time as ISO 8601 in UTC, with a Z. None stays None."""
    return None if at is None else at.isoformat().replace("+00:00", "Z")


def parse_timestamp(text: str) -> datetime:
    """Parse an ISO 8601 timestamp and return it in UTC (platform-api.md, "Timestamps").

    A timestamp without an offset counts as UTC. Digits after the microsecond are cut off. Raises ValueError for any
    other text.
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
    """Format a datetime with a time zone as the platform does: `2026-11-21T18:00:00.000000Z`."""
    return time.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")

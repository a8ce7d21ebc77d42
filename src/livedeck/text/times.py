"""Moments as people type them: `18:30`, `tomorrow 9:00`, `in 20 min`, `2026-11-21 18:00Z`. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo

from livedeck.text import values

EXAMPLES = "18:30, tomorrow 18:30, in 20 min, 2026-11-21 18:30, ...Z for UTC"

"""What may be typed, in short."""


_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}

_PART = r"\d{1,5} *(?:days?|d|hours?|h|min|m|sec|s)"

_LENGTH = rf"({_PART}(?:[ ,]*(?:and +)?{_PART})*)"

_RELATIVE = re.compile(rf"(?:in +|\+ *){_LENGTH}")

_AGO = re.compile(rf"{_LENGTH} +ago")

_ABSOLUTE = re.compile(
    r"(?:(?P<day>\d{4}-\d\d-\d\d|yesterday|today|tomorrow)(?:[t ] *))?(?P<time>\d{1,2}:\d\d(?::\d\d(?:\.\d{1,6})?)?)"
    r" *(?P<zone>z|utc|[+-]\d\d:?\d\d)?"
)


@dataclass(frozen=True, slots=True)
class Present:
    """What a typed moment is read against: now (aware), and the zone of the person; None: that of this machine.

    `past`: a time without a day is its last one, not its next.
    """

    now: datetime
    zone: tzinfo | None = None
    past: bool = False


def parse(text: str, present: Present) -> datetime:
    """The moment meant, in UTC. A time without a day is its next one, or its last one where the past is asked for.

    Raises ValueError, saying what may be typed.
    """
    typed = " ".join(text.casefold().split())
    try:
        if relative := _RELATIVE.fullmatch(typed):
            return (present.now + _length(relative[1])).astimezone(UTC)
        if ago := _AGO.fullmatch(typed):
            return (present.now - _length(ago[1])).astimezone(UTC)
        if absolute := _ABSOLUTE.fullmatch(typed):
            return _absolute(absolute, present)
    except OverflowError as error:
        raise ValueError("is too far away") from error
    raise ValueError(f"is no moment; type {EXAMPLES}")


def shown(moment: datetime, zone: tzinfo | None) -> str:
    """A moment as it is typed: local time, to the second where it has seconds; the platform keeps no more."""
    local = _local(moment, zone)
    return f"{_written(local)}Z" if local.tzinfo is UTC and zone is not UTC else _written(local)


def both(moment: datetime, present: Present) -> str:
    """UTC, local time, and how far away: nobody should have to reckon."""
    local, ahead = _local(moment, present.zone), (moment - present.now).total_seconds()
    away = f"T-{values.duration(ahead)}" if ahead >= 0 else f"T+{values.duration(-ahead)}"
    utc, today = moment.astimezone(UTC), present.now.astimezone(UTC)
    day = "" if utc.date() == today.date() else f"{utc:%d %b} " if utc.year == today.year else f"{utc:%d %b %Y} "
    return f"{day}{utc:%H:%M}Z  {local:%H:%M %Z}  {away}"


def _local(moment: datetime, zone: tzinfo | None) -> datetime:
    """It in that zone; in UTC where the calendar ends before that."""
    try:
        return moment.astimezone(zone)
    except (OverflowError, ValueError):  # the machine's own zone says it by a ValueError
        return moment.astimezone(UTC)


def _written(local: datetime) -> str:
    return local.replace(tzinfo=None).isoformat(" ", "seconds" if local.second else "minutes")


def _length(text: str) -> timedelta:
    parts = re.findall(r"(\d+) *([a-z])", text)
    return timedelta(seconds=sum(int(count) * _SECONDS[unit] for count, unit in parts))


def _absolute(found: re.Match[str], present: Present) -> datetime:
    zone = UTC if found["zone"] in {"z", "utc"} else present.zone
    clock = _clock(found["time"])
    if found["zone"] and zone is not UTC:
        zone = datetime.strptime(found["zone"], "%z").tzinfo
    today = present.now.astimezone(zone).date()
    if found["day"]:
        return _on(_day(found["day"], today), clock, zone)
    first = _on(today, clock, zone)
    if present.past:
        return first if first <= present.now else _on(today - timedelta(days=1), clock, zone)
    return first if first > present.now else _on(today + timedelta(days=1), clock, zone)


def _clock(text: str) -> time:
    try:
        return time.fromisoformat(text if text[1] != ":" else f"0{text}")
    except ValueError:
        raise ValueError("has no such time of day") from None


def _day(word: str, today: date) -> date:
    named = {"yesterday": -1, "today": 0, "tomorrow": 1}
    if word in named:
        return today + timedelta(days=named[word])
    try:
        return date.fromisoformat(word)
    except ValueError:
        raise ValueError("has no such day") from None


def _on(day: date, clock: time, zone: tzinfo | None) -> datetime:
    """That time of that day in UTC. Raises ValueError for one that the change to summer time leaves out,
    OverflowError for one outside the calendar.
    """
    naive = datetime.combine(day, clock)
    try:
        moment = (naive.replace(tzinfo=zone) if zone else naive.astimezone()).astimezone(UTC)
    except ValueError as error:  # the machine's own zone says it so
        raise OverflowError from error
    if moment.astimezone(zone).replace(tzinfo=None) != naive:
        raise ValueError("does not exist: clocks go forward then; type it in UTC, with a Z")
    return moment

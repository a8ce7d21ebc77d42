"""Evidence of a drill for tests."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from livedeck.drill.truth import Act, Answer, Change, Evidence, ExpectedAlarm, Raised, Timing, Truth
from livedeck.monitor import AlarmKey, Severity

BEGAN = datetime(2026, 3, 1, 19, tzinfo=UTC)


def at(seconds: float) -> datetime:
    """Return the time so many seconds from the start of the drill."""
    return BEGAN + timedelta(seconds=seconds)


def answer(number: int = 0, severity: Severity = Severity.CRITICAL, note: str = "") -> Answer:
    """Return an answer to an alarm of the event `Stage NUMBER`, whose fault begins at NUMBER minutes."""
    return Answer(
        "AUDIO_LOST",
        f"Stage {number}",
        "",
        at(60 * number),
        None,
        severity,
        Timing(30, 180),
        Timing(60, 300),
        note,
        "a change",
    )


def key(number: int = 0) -> AlarmKey:
    """Return the key of the alarm of that answer."""
    return AlarmKey(f"id-{number}", "AUDIO_LOST", "")


def raised(number: int = 0, seconds: float = 10) -> Raised:
    """Return the alarm of that answer, so many seconds after its fault."""
    return Raised(at(60 * number + seconds), key(number), f"Stage {number}", "", Severity.CRITICAL)


def acknowledged(number: int = 0, after: float = 0) -> Act:
    """Return an acknowledgement so many seconds after that alarm."""
    return Act(raised(number).at + timedelta(seconds=after), key(number), "anna@desk")


def changed(number: int = 0, after: float = 0, *, is_carried_out: bool = True) -> Change:
    """Return the wanted change so many seconds after that alarm."""
    when = raised(number).at + timedelta(seconds=after)
    return Change(when, f"update_event {number}", f"id-{number}", f"Stage {number}", is_carried_out, (number,))


def wrong(seconds: float, does: str = "update_event Foyer", *, ends_event: bool = False) -> Change:
    """Return a change that no row wants or allows."""
    return Change(at(seconds), does, "id-foyer", "Foyer", is_carried_out=True, ends_event=ends_event)


def truth(*answers: Answer, alarms: Iterable[ExpectedAlarm] = ()) -> Truth:
    """Return a scenario of two hours with these answers."""
    return Truth("test", "Test", "0" * 16, 1, BEGAN, at(7200), answers, tuple(alarms))


def evidence(
    count: int = 2, *, acknowledge: float | None = 0, act: float | None = 0, more: Iterable[Change] = ()
) -> Evidence:
    """Return a drill with so many incidents, each with the same reactions in seconds; None: no reaction."""
    numbers = range(count)
    return Evidence(
        truth(*map(answer, numbers)),
        at(7200),
        tuple(map(raised, numbers)),
        tuple(acknowledged(number, acknowledge) for number in numbers if acknowledge is not None),
        (*(changed(number, act) for number in numbers if act is not None), *more),
    )

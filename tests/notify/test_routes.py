"""Choice of routes for alarms, and the hours of their readers."""

from __future__ import annotations

from datetime import datetime

import pytest

from livedeck.monitor import Severity
from livedeck.notify import Case, CaseEvent, Hours, Route, reasons_against

SHOW = Case("NO_INGEST", Severity.CRITICAL, [CaseEvent("4d2c", "Friday show", "news")])

TWO = [CaseEvent("1", "Friday", "a"), CaseEvent("2", "Monday", "b")]


@pytest.mark.parametrize(
    ("route", "case", "against"),
    [
        (Route("a", "a"), SHOW, ""),
        (Route("a", "a", events=("friday*",)), SHOW, ""),
        (Route("a", "a", events=("4D*",)), SHOW, ""),
        (Route("a", "a", events=("monday*", "5*")), SHOW, "the event of the alarm does not match monday*, 5*"),
        (Route("a", "a", kinds=("AUDIO_*",)), SHOW, "the kind of the alarm does not match AUDIO_*"),
        (Route("a", "a", events=("monday*",)), Case("API_BLIND", Severity.CRITICAL), ""),
        (Route("a", "a"), Case("X", Severity.INFO), "severity info is below warning"),
        (
            Route("a", "a", severity=Severity.CRITICAL),
            Case("X", Severity.WARNING),
            "severity warning is below critical",
        ),
        (Route("a", "a", events=("mon*",)), Case("PLATFORM", Severity.CRITICAL, TWO), ""),
        (Route("a", "a", projects=("NE*",)), SHOW, ""),
        (Route("a", "a", projects=("sport", "talk")), SHOW, "the project of the event does not match sport, talk"),
        (Route("a", "a", projects=("news",)), Case("API_BLIND", Severity.CRITICAL), ""),
        (
            Route("a", "a", events=("fri*",), projects=("b",)),
            Case("X", Severity.CRITICAL, TWO),
            "the project of the event does not match b",
        ),
    ],
)
def test_a_route_takes_what_fits_and_says_why_not(route: Route, case: Case, against: str) -> None:
    assert "; ".join(reasons_against(route, case)) == against


@pytest.mark.parametrize(
    ("hours", "moment", "is_read"),
    [
        ("", "2026-11-21T03:00", True),
        ("Mo-Su 08:00-23:00", "2026-11-21T08:00", True),
        ("Mo-Su 08:00-23:00", "2026-11-21T23:00", False),
        ("08:00-24:00", "2026-11-21T23:59", True),
        ("Mo-Fr 08:00-18:00, Sa 10:00-14:00", "2026-11-21T12:00", True),  # a Saturday
        ("Mo-Fr 08:00-18:00, Sa 10:00-14:00", "2026-11-22T12:00", False),
        ("Fr 22:00-06:00", "2026-11-21T05:59", True),
        ("Fr 22:00-06:00", "2026-11-22T05:59", False),
        ("sa-mo 00:00-24:00", "2026-11-23T12:00", True),
        ("sa-mo 00:00-24:00", "2026-11-24T12:00", False),
    ],
)
def test_hours_are_read_as_they_are_written(hours: str, moment: str, is_read: bool) -> None:
    assert Hours.parse(hours).covers(datetime.fromisoformat(moment)) is is_read


@pytest.mark.parametrize("text", ["Mo-Fr", "8-18", "Xx 08:00-18:00", "Mo 25:00-26:00", "Mo-Fr 08:00"])
def test_hours_that_are_none_are_refused_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match="write Mo-Fr 08:00-18:00"):
        Hours.parse(text)

"""Words for what viewers get: unknown is never good, and the worst comes first."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from livedeck.monitor import (
    BroadcastState,
    Content,
    Delivery,
    EventState,
    Finding,
    Picture,
    Severity,
    Sound,
    Source,
    ViewerState,
)
from livedeck.presentation import viewer
from livedeck.text.segments import StyleRole, plain, width
from presentation.test_events import FRESH, NOW, state

BEFORE = NOW - timedelta(seconds=600)
PLAYS = ViewerState(
    source=Source.PLAYLIST,
    delivery=Delivery.PLAYS,
    picture=Picture.MOVES,
    sound=Sound.HEARD,
    since=BEFORE,
    picture_since=BEFORE,
    sound_since=BEFORE,
    as_of=NOW - timedelta(seconds=4),
    rounds=60,
    latency=8.2,
    loudness=-21.2,
    peaks=(-6.0, -8.0),
    luma=120.0,
    image="a" * 64,
    image_at=NOW - timedelta(seconds=4),
)


def seen(found: ViewerState | None = PLAYS, content: Content = Content.SHOW, **changes: Any) -> EventState:
    """An event on air for viewers of that state, changed like this."""
    return replace(state(), viewer=found and replace(found, **changes), content=content)


def wrong(kind: str, severity: Severity = Severity.CRITICAL, **changes: Any) -> EventState:
    """Return the event with a present fault of this kind."""
    event = seen(**changes)
    return replace(event, assessment=replace(event.assessment, findings=(Finding(kind, severity, "", ""),)))


GONE = wrong("VIEWER_GONE", delivery=Delivery.GONE, since=NOW - timedelta(seconds=38), error="404 playlist")
LAST_SEEN = replace(GONE.viewer or PLAYS, image_at=NOW - timedelta(seconds=40))
SILENT = wrong("VIEWER_SILENT", Severity.WARNING, sound=Sound.SILENT, sound_since=NOW - timedelta(seconds=34))


def ago(seconds: float) -> Any:
    return NOW - timedelta(seconds=seconds)


@pytest.mark.parametrize(
    ("event", "word", "severity"),
    [
        (seen(), "✓ plays", None),
        (seen(None), "-", None),
        (seen(ViewerState()), "-", None),
        (seen(ViewerState(source=Source.PLAYLIST)), "·", None),
        (seen(source=Source.PLAYER_PAGE), "? player page", None),
        (seen(source=Source.DASH), "? DASH", None),
        (seen(source=Source.ENCRYPTED), "✓ arrives", None),
        (seen(delivery=Delivery.UNKNOWN), "?", None),
        (seen(as_of=ago(31)), "▒ stale", None),
        (seen(as_of=ago(31), interval=30.0), "✓ plays", None),
        (seen(is_stale=True), "▒ stale", None),
        (GONE, "✖ gone", Severity.CRITICAL),
        (wrong("VIEWER_STALLED", delivery=Delivery.STALLED), "✖ stalled", Severity.CRITICAL),
        (wrong("VIEWER_SLOW", Severity.WARNING, delivery=Delivery.SLOW), "▲ slow", Severity.WARNING),
        (wrong("VIEWER_LATE", Severity.WARNING), "▲ late", Severity.WARNING),
        (wrong("VIEWER_SEGMENTS", Severity.INFO), "✓ plays", None),
        (seen(delivery=Delivery.ENDED), "▲ ended", Severity.WARNING),
        (wrong("VIEWER_BLACK", picture=Picture.BLACK), "✖ black", Severity.CRITICAL),
        (wrong("VIEWER_FROZEN", Severity.WARNING, picture=Picture.STILL), "▲ frozen", Severity.WARNING),
        (SILENT, "▲ silent", Severity.WARNING),
        (wrong("VIEWER_SILENT", sound=Sound.NONE), "✖ no sound", Severity.CRITICAL),
        (seen(delivery=Delivery.GONE, since=ago(1)), "? unsure", None),
        (seen(delivery=Delivery.STALLED, since=ago(1)), "? unsure", None),
        (seen(picture=Picture.BLACK, sound=Sound.SILENT), "✓ plays", None),
        (wrong("PACKET_LOSS"), "✓ plays", None),
    ],
)
def test_the_badge_is_the_worst_fact_and_nothing_unknown_is_good(
    event: EventState, word: str, severity: Severity | None
) -> None:
    assert plain(viewer.cell(event, FRESH)) == word
    assert viewer.badge(event, FRESH).severity is severity
    assert (viewer.badge(event, FRESH).role is StyleRole.OK) == (word == "✓ plays")


def test_an_ended_event_may_end_for_viewers() -> None:
    over = replace(seen(delivery=Delivery.ENDED), phase=state(BroadcastState.COMPLETED).phase)
    assert plain(viewer.cell(over, FRESH)) == "■ ended"


def test_the_worst_for_viewers_is_first_then_what_is_judged_then_the_others() -> None:
    shown = {
        "gone": GONE,
        "black": wrong("VIEWER_BLACK", picture=Picture.BLACK),
        "silent": SILENT,
        "plays": seen(),
        "page": seen(source=Source.PLAYER_PAGE),
        "off": seen(ViewerState()),
    }
    ranked = viewer.worst_first(reversed(shown.values()), FRESH)
    names = [next(name for name, event in shown.items() if event is found) for found in ranked]
    assert names[:3] == ["gone", "black", "silent"]
    assert names[-1] == "off"


@pytest.mark.parametrize(
    ("event", "text"),
    [
        (seen(), "ingest ✓ 100   late 8 s   -21 LUFS"),
        (GONE, "ingest ✓ 100   ✖ 404 playlist"),
        (seen(sound=Sound.SILENT, sound_since=ago(34)), "ingest ✓ 100   late 8 s   silent 00:34"),
        (seen(missing=("a.ts", "b.ts")), "ingest ✓ 100   2 missing   late 8 s"),
        (seen(source=Source.ENCRYPTED), "ingest ✓ 100   late 8 s   encrypted"),
        (seen(as_of=ago(31)), "ingest ✓ 100"),
        (seen(None), "ingest ✓ 100"),
    ],
)
def test_the_facts_fit_under_a_picture_and_old_ones_are_left_out(event: EventState, text: str) -> None:
    assert plain(viewer.facts_line(event, FRESH, 38)) == text
    assert width(viewer.facts_line(event, FRESH, 20)) <= 20


@pytest.mark.parametrize(("seconds", "left"), [(0, 0.0), (59, 59.0), (60, None)])
def test_a_picture_is_taken_away_after_a_minute(seconds: float, left: float | None) -> None:
    picture = replace(PLAYS, image_at=ago(seconds))
    assert viewer.picture_age(picture, FRESH) == left
    assert viewer.picture_age(replace(picture, image=""), FRESH) is None


@pytest.mark.parametrize(("seconds", "left"), [(5, (-6.0, -8.0)), (61, ())])
@pytest.mark.parametrize(
    "changes",
    [
        {"source": Source.ENCRYPTED, "image": "", "image_at": None},
        {"picture": Picture.UNKNOWN, "image": "", "image_at": None},
    ],
    ids=["encrypted", "radio"],
)
def test_without_a_picture_the_peaks_are_taken_away_a_minute_after_their_end(
    changes: dict[str, Any], seconds: float, left: tuple[float, ...]
) -> None:
    """interface.md, "Viewers"."""
    gone = wrong("VIEWER_GONE", delivery=Delivery.GONE, since=ago(seconds), **changes)
    assert viewer.shown_peaks(gone, FRESH) == left
    stale = seen(is_stale=True, as_of=ago(seconds), **changes)
    assert viewer.shown_peaks(stale, FRESH) == left
    assert viewer.shown_peaks(seen(**changes), FRESH) == PLAYS.peaks


@pytest.mark.parametrize(
    ("event", "texts"),
    [
        (seen(), []),
        (
            wrong("VIEWER_GONE", delivery=Delivery.GONE, since=ago(38), image_at=ago(40)),
            ["GONE 00:38", "last seen 20:59:20Z"],
        ),
        (wrong("VIEWER_BLACK", picture=Picture.BLACK, picture_since=ago(70)), ["BLACK 01:10"]),
        (seen(as_of=ago(40), image_at=ago(40)), ["STALE 00:40", "last seen 20:59:20Z"]),
        (seen(image=""), ["moves, bright"]),
        (seen(image="", luma=12.0), ["moves, dark"]),
        (seen(image="", picture=Picture.UNKNOWN), ["picture unknown"]),
        (seen(source=Source.ENCRYPTED, image=""), ["encrypted, picture not judged"]),
        (seen(source=Source.PLAYER_PAGE, image=""), ["a player page, not a playlist"]),
        (seen(ViewerState()), ["no playlist address"]),
        (seen(ViewerState(source=Source.PLAYLIST)), ["not asked yet"]),
    ],
)
def test_words_over_a_picture_say_what_it_cannot(event: EventState, texts: list[str]) -> None:
    assert [text.strip() for text, _ in viewer.over_picture(event, FRESH)] == texts


@pytest.mark.parametrize(
    ("event", "text"),
    [
        (seen(), "viewers ✓ plays 8 s late"),
        (seen(latency=None), "viewers ✓ plays"),
        (GONE, "viewers ✖ gone 00:38"),
        (seen(None), ""),
    ],
)
def test_a_pane_says_it_in_a_few_words(event: EventState, text: str) -> None:
    assert plain(viewer.short_text(event, FRESH)) == text


def test_the_counts_name_what_is_wrong_first() -> None:
    events = [seen(), GONE, seen(ViewerState()), SILENT]
    line = " ".join(plain(group).strip() for _, group in viewer.counts_line(events, FRESH))
    assert line == "● 4 on air ✖ 1 gone ▲ 1 silent ? 1 not judged ✓ 1 play"

"""Screen 3: samples from memory and history on one axis; the cursor, the faults, the markers."""

from __future__ import annotations

import re
from array import array
from dataclasses import replace
from datetime import datetime, timedelta
from math import nan
from pathlib import Path

import pytest

from livedeck.cli.screenshots import EVENING
from livedeck.monitor import Buckets, Episode, EventState, History, MinMax, Readings, Severity
from livedeck.presentation import events, qos
from livedeck.presentation.qos import Axis, Bucket
from livedeck.text.segments import StyleRole, plain
from livedeck.ui.app import Deck
from livedeck.ui.qos import view
from livedeck.ui.qos.plot import GUTTER, OVERLAY_GLYPH, PlotMarks, PlotSeries, plot_lines
from livedeck.ui.qos.screen import QosScreen
from livedeck.ui.qos.series import chart_axis, concat, from_history, from_memory, needs_history
from presentation.test_events import FRESH, NOW, state
from ui.stage import act, known, running, text_of

AXIS = Axis(100.0, 110.0, 5)


def readings(times: list[float], value: float = 5.0, statuses: list[int] | None = None) -> Readings:
    column = array("d", [value] * len(times))
    return Readings(array("d", times), column, column, column, array("q", statuses or [0] * len(times)))


def band(low: list[float], high: list[float]) -> MinMax:
    return MinMax(array("d", low), array("d", high))


def test_a_series_from_the_history_keeps_its_gaps() -> None:
    values = band([1.0, nan, 0.0, nan, 4.0], [2.0, nan, 0.0, nan, 4.0])
    columns = {0: array("q", [1, 0, 1, 0, 0]), 5: array("q", [0, 0, 0, 0, 2])}
    buckets = Buckets(
        100.0, 2.0, array("q", [1, 0, 1, 0, 2]), values, values, values, array("q", [0, -1, 0, -1, 5]), columns
    )
    series = from_history(AXIS, buckets)
    assert series.video == [Bucket(1, 2), None, Bucket(0, 0), None, Bucket(4, 4)]
    assert [style.word if style else "" for style in series.statuses] == ["normal", "", "normal", "", "LOSS"]
    assert series.counts == {0: 2, 5: 2}


def test_samples_in_memory_go_before_the_history_whose_older_columns_are_shifted() -> None:
    old = from_memory(Axis(96.0, 106.0, 5), readings([97, 99, 101, 103], 1.0))
    new = from_memory(AXIS, readings([103, 105, 107], 9.0, [0, 4, 0]))
    both = concat(old, new)
    assert both.video == [Bucket(1, 1), Bucket(9, 9), Bucket(9, 9), Bucket(9, 9), None]
    assert both.statuses[2] is qos.KEY_50
    assert concat(None, new) == new
    assert concat(from_memory(Axis(0.0, 110.0, 5), readings([1])), new) == new


@pytest.mark.parametrize(("times", "needed"), [([], True), ([101.0], False), ([108.0], True)])
def test_the_history_is_queried_only_for_what_memory_lacks(times: list[float], needed: bool) -> None:
    assert needs_history(AXIS, readings(times)) == needed


def test_the_range_all_begins_with_the_stream() -> None:
    started = NOW - timedelta(hours=5)
    axis = chart_axis(state(stream={"id": "s", "started_at": started.isoformat()}), FRESH, None, 100)
    assert axis is not None
    assert axis.start == pytest.approx(started.timestamp(), abs=2 * axis.step)


def episode(since: datetime, minutes: float | None = None, severity: Severity = Severity.CRITICAL) -> Episode:
    until = None if minutes is None else since + timedelta(minutes=minutes)
    return Episode("PACKET_LOSS", severity, "", since, until, "loss in 4 of 6", "no loss")


def test_ongoing_faults_come_first_the_worst_on_top_then_those_that_are_over_newest_first() -> None:
    def fault(age: int, minutes: float | None, severity: Severity) -> Episode:
        return episode(NOW - timedelta(minutes=age), minutes, severity)

    loud, long_over = fault(20, None, Severity.CRITICAL), fault(30, 1, Severity.CRITICAL)
    new, old, over = (fault(age, ended, Severity.WARNING) for age, ended in ((3, None), (24, None), (2, 1)))
    faults = [long_over, old, loud, new, over]
    assert view.sort_episodes(faults) == [loud, new, old, over, long_over]
    worse = replace(new, severity=Severity.CRITICAL, actual="loss in 6 of 6")
    assert view.index_of(view.sort_episodes([worse, *faults[:2]]), new) == 0
    assert view.index_of(faults, episode(NOW)) is None


@pytest.mark.parametrize("width", [90, 120, 160, 200])
def test_the_list_of_faults_uses_the_width_and_leaves_the_notes_theirs(width: int) -> None:
    words = "key-frame times differ over 50 % in 2 of 6 samples"
    sick = replace(state(), episodes=(replace(episode(NOW - timedelta(minutes=3)), actual=words),))
    shown = [plain(line) for line in view.episode_lines(sick, None, FRESH, width, 5)]
    assert (words in shown[0]) == (width >= 160)
    assert "cause" in shown[0]
    assert max(map(len, shown)) <= width


def test_a_fault_says_what_to_do() -> None:
    sick = replace(state(), episodes=(episode(NOW - timedelta(minutes=20), 2), episode(NOW - timedelta(minutes=3))))
    shown = [plain(line) for line in view.episode_lines(sick, None, FRESH, 120, 5)]
    assert re.match(r">20:57:00  03:00 and on\s+✖ PACKET_LOSS", shown[0])
    assert re.match(r" 20:40:00  02:00\s+✖ PACKET_LOSS", shown[1])
    for label in ("cause", "viewers", "do"):
        assert any(f"  {label}" in line for line in shown)
    assert all("cause" not in plain(line) for line in view.episode_lines(sick, None, FRESH, 80, 2))
    assert view.episode_lines(state(), None, FRESH, 120, 5) == []


def test_a_fault_hides_a_marker_and_a_critical_one_a_warning() -> None:
    at = datetime.fromtimestamp(103, NOW.tzinfo)
    faults = (
        episode(at),
        episode(at, severity=Severity.WARNING),
        episode(at + timedelta(seconds=4), 1, Severity.WARNING),
    )
    marks = (at, at + timedelta(seconds=6), at + timedelta(hours=1))
    assert {column: sign for column, (sign, _) in view.flags(AXIS, faults, marks).items()} == {1: "✖", 3: "▲", 4: "m"}


async def settled(deck: Deck, group: str) -> None:
    """Wait for the workers of that group; none is fine."""
    for worker in [worker for worker in deck.workers if worker.group == group]:
        await worker.wait()


async def test_the_cursor_shows_what_was_measured_and_faults_are_selected() -> None:
    async with running((120, 40), "down", "3") as (deck, pilot):
        assert "samples" in text_of(deck)
        await act(pilot, "qos.left")
        assert "each column 8 s" in text_of(deck)
        await act(pilot, "qos.right")
        assert "each column" not in text_of(deck)
        state_shown = deck.selected_event()
        assert state_shown is not None
        await act(pilot, "qos.next_fault", "qos.next_fault")
        second = view.sort_episodes(state_shown.episodes)[1].since
        assert f">{second:%H:%M:%S}" in text_of(deck).replace("</text>", "").replace(">>", ">")
        await act(pilot, "qos.previous_fault")
        assert deck.screen_of(QosScreen).screen is deck.screen


async def test_samples_that_the_platform_dropped_come_from_the_history_and_markers_are_kept(tmp_path: Path) -> None:
    history = await History.open(tmp_path / "history.sqlite", EVENING)
    try:
        async with running((120, 40), "down", history=history) as (deck, pilot):
            shown = deck.selected_event()
            assert shown is not None
            before = EVENING.timestamp() - 3 * 3600
            old = replace(
                shown, qos=replace(shown.qos, readings=readings([before + second for second in range(0, 600, 2)], 4e6))
            )
            await history.append(replace(known(deck), events=(old,)))
            await history.flush()
            await act(pilot, "qos.mark")
            await pilot.press(*"kickoff", "enter")
            await pilot.pause()
            await settled(deck, "actions")
            (marker,) = await history.markers(shown.id)
            assert (marker.text, marker.at) == ("kickoff", EVENING)
            await act(pilot, "screen.qos", "qos.longer", "qos.longer")
            await settled(deck, "past")
            await pilot.pause()
            match = re.search(r"of (\d+) samples", text_of(deck))
            assert match is not None
            assert int(match[1]) >= len(old.qos.readings)
            assert ">m<" in text_of(deck)
    finally:
        await history.close()


async def test_without_a_history_nothing_is_marked_and_it_is_said() -> None:
    async with running() as (deck, pilot):
        await act(pilot, "qos.mark")
        assert "no history is kept" in text_of(deck)


def event_of(deck: Deck, event_id: str) -> EventState:
    state = known(deck).find(event_id)
    assert state is not None
    return state


async def test_a_second_event_is_drawn_over_the_first_and_removed_again() -> None:
    """The action "qos.over": its curves by a sign of their own, its status beside the other, its name above."""
    async with running((120, 40), "down", "3") as (deck, pilot):
        first = deck.selected_event()
        assert first is not None
        others: list[str] = []
        while True:
            await act(pilot, "qos.over")
            other = deck.screen_of(QosScreen).overlay_id
            if other is None:
                break
            others.append(other)
            assert "○ other" in text_of(deck)
            assert events.name(event_of(deck, other)) in text_of(deck)
        on_air = {state.id for state in known(deck).events if state.phase.tally.expects_signal}
        assert {*others} == on_air - {first.id}
        assert "○" not in text_of(deck)


async def test_the_second_event_can_be_named_and_is_never_the_first() -> None:
    async with running((120, 40), "3") as (deck, pilot):
        for words, answer in (("nobody", "no other event is called so"), ("e", "events are called so")):
            deck.dispatch("qos.over", words)
            await pilot.pause()
            assert answer in text_of(deck)
        deck.dispatch("qos.over", "harbour webcam")
        await pilot.pause()
        screen = deck.screen_of(QosScreen)
        harbour = screen.overlay_id
        assert harbour is not None
        deck.select_event(harbour)
        await pilot.pause()
        assert screen.overlay_id is None
        assert "○ other" not in text_of(deck)


def test_the_band_is_drawn_between_its_limits_and_under_everything_else() -> None:
    curve = [Bucket(9.0, 9.0), Bucket(5.0, 5.0), None, None]
    overlay = [None, None, Bucket(9.0, 9.0), None]
    series = PlotSeries("video", StyleRole.VIDEO, curve, 0, 10, 1, 0, [], limits=(2.0, 8.0), overlay=overlay)
    with_cursor, without_cursor = (
        [plain(line)[GUTTER:] for line in plot_lines(series, [None] * 4, marks, 10, stale=False)]
        for marks in (PlotMarks(cursor=2), PlotMarks())
    )
    limit_rows = [row for row, text in enumerate(with_cursor) if "╌" in text]
    band_rows = [row for row, text in enumerate(with_cursor) if "░" in text]
    assert band_rows == [*range(limit_rows[0] + 1, limit_rows[1])]
    assert len(limit_rows) == 2
    assert all(text[2] == "│" for text in with_cursor)
    assert not any(OVERLAY_GLYPH in text for text in with_cursor)
    assert any(text[2] == OVERLAY_GLYPH for text in without_cursor)


async def test_the_absence_of_samples_is_shown_among_the_alarms() -> None:
    """It is in no list of faults: these come of samples."""
    async with running((120, 40), "3") as (deck, _):
        state = deck.selected_event()
        assert state is not None
        assert [alarm.kind for alarm in known(deck).alarms if alarm.event_id == state.id] == ["RECONNECTING"]
        assert "expected the encoder's stream" in text_of(deck)

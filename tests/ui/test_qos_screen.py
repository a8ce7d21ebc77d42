"""Screen 3: samples from memory and history on one axis; the cursor, the faults, the markers."""

from __future__ import annotations

import re
from array import array
from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta
from math import nan
from pathlib import Path

import pytest

from livedeck.cli.screenshots import EVENING
from livedeck.monitor import Buckets, Episode, EventState, History, MinMax, Readings, Severity
from livedeck.presentation import events, qos
from livedeck.presentation.qos import Axis, Bucket
from livedeck.presentation.time_series import chart_axis, concat, from_history, from_memory, hold_samples, needs_history
from livedeck.text.segments import Shade, StyleRole, plain
from livedeck.ui.app import Deck
from livedeck.ui.kit.chart import FAINT
from livedeck.ui.qos import view
from livedeck.ui.qos.screen import QosChart, QosScreen, QosSide
from presentation.test_events import FRESH, NOW, state
from ui.deck_stage import deck_stage
from ui.stage import act, known, letters_of, running, show, text_of

AXIS = Axis(100.0, 110.0, 5)


def readings(times: list[float], value: float = 5.0, statuses: list[int] | None = None) -> Readings:
    column = array("d", [value] * len(times))
    return Readings(array("d", times), column, column, column, array("q", statuses or [0] * len(times)))


def band(low: list[float], high: list[float]) -> MinMax:
    return MinMax(array("d", low), array("d", high))


def test_a_series_from_the_history_keeps_its_gaps() -> None:
    values = band([1.0, nan, 0.0, nan, 4.0, nan], [2.0, nan, 0.0, nan, 4.0, nan])
    columns = {0: array("q", [1, 0, 1, 0, 0, 0]), 5: array("q", [0, 0, 0, 0, 2, 0])}
    status = array("q", [0, -1, 0, -1, 5, -1])
    buckets = Buckets(100.0, 1.0, array("q", [1, 0, 1, 0, 2, 0]), values, values, values, status, columns)
    series = from_history(Axis(100.0, 106.0, 3), buckets)
    assert series.video == [Bucket(1, 1.5, 2), None, Bucket(0, 0, 0), None, Bucket(4, 4, 4), None]
    assert [style.word if style else "" for style in series.statuses] == ["normal", "normal", "LOSS"]
    assert series.counts == {0: 2, 5: 2}


@pytest.mark.parametrize(
    ("window", "words"), [(300, "window 05:00 of 07:20"), (440, "all of 07:20"), (1008, "all of 07:20")]
)
def test_a_window_that_is_longer_than_the_whole_shows_all_of_it(window: float, words: str) -> None:
    whole = replace(from_memory(Axis(0.0, 440.0, 44), readings([1])), expected=range(44))
    assert view.window_words(Axis(440.0 - window, 440.0, 10), whole) == words


def level(value: float) -> Bucket:
    return Bucket(value, value, value)


def test_samples_in_memory_go_before_the_history_whose_older_columns_are_shifted() -> None:
    old = from_memory(Axis(96.0, 106.0, 5), readings([97, 99, 101, 103], 1.0))
    new = from_memory(AXIS, readings([103, 105, 107], 9.0, [0, 4, 0]))
    both = concat(old, new)
    assert both.video == [None, level(1), None, level(9), None, level(9), None, level(9), None, None]
    assert both.statuses[2] is qos.KEY_50
    assert concat(None, new) == new
    assert concat(from_memory(Axis(0.0, 110.0, 5), readings([1])), new) == new


def test_a_sample_stands_until_the_next_one_is_due_and_what_is_empty_then_is_a_gap() -> None:
    """interface.md, "Charts": never zero, and nothing beyond the newest answer."""
    axis = Axis(100.0, 120.0, 20)
    series = hold_samples(from_memory(axis, readings([100, 102, 104, 110, 112])), 100.0, 115.5, 2.0)
    drawn = [bucket is not None for bucket in series.fps]
    assert drawn == [*[True] * 12, *[False] * 8, *[True] * 8, *[False] * 12]
    assert series.expected == range(15)
    assert all(bucket is None or bucket.low == 5.0 for bucket in series.fps)


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


def shown_with(*episodes: Episode) -> view.Shown:
    """Return the content of the screen of an event with these faults."""
    series = from_memory(AXIS, readings([]))
    return view.Shown(replace(state(), episodes=episodes), FRESH, view.Chart(series), view.sort_episodes(episodes))


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
    sick = shown_with(replace(episode(NOW - timedelta(minutes=3)), actual=words))
    shown = [plain(line) for line in view.episode_lines(sick, width, 5)]
    assert (words in shown[0]) == (width >= 160)
    assert "  do " in shown[0]
    assert ("key-frame" in shown[0]) == (width >= 160)
    assert max(map(len, shown)) <= width


def test_a_fault_says_what_to_do() -> None:
    sick = shown_with(episode(NOW - timedelta(minutes=20), 2), episode(NOW - timedelta(minutes=3)))
    shown = [plain(line) for line in view.episode_lines(sick, 120, 5)]
    assert re.match(r"▌20:57:00  03:00 so far\s+✖ PACKET_LOSS", shown[0])
    assert re.match(r" 20:40:00  02:00\s+✖ PACKET_LOSS", shown[1])
    for label in ("cause", "viewers", "do"):
        assert any(f"  {label}" in line for line in shown)
    narrow = [plain(line) for line in view.episode_lines(sick, 80, 2)]
    assert [line[:9] for line in narrow] == ["▌20:57:00", "  do     "]
    assert view.episode_lines(shown_with(), 120, 5) == []


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


async def test_the_outage_that_is_running_is_the_first_fault_and_an_ended_one_is_not_filled() -> None:
    """A lost encoder sends no sample that could show the fault."""
    async with deck_stage((160, 45)) as stage:
        lost = stage.choose("Cup final, pitch 2")
        await stage.act("screen.qos")
        await stage.settle()
        (since,) = [alarm.since for alarm in known(stage.deck).alarms if alarm.event_id == lost.id]
        assert f"▌{since:%H:%M:%S} 01:21 so far ✖ RECONNECTING" in stage.text()
        assert f"✖ RECONNECTING since {since:%H:%M:%S}" in stage.text()
        await stage.act("qos.next_fault")
        await stage.act("qos.next_fault")
        assert "✖ RECONNECTING from 20:57:46 05:10" in stage.text()
        lines = stage.deck.screen.query_one(QosSide).draw(50, 40)
        ended = next(line for line in lines if "from 20:57:46" in plain(line))
        assert StyleRole.CRITICAL not in {role for _, role in ended}


async def test_the_cursor_shows_what_was_measured_and_faults_are_selected() -> None:
    async with running((120, 40), "down", "3") as (deck, pilot):
        assert "samples" in text_of(deck)
        await act(pilot, "qos.left")
        assert "│ 21:1" in text_of(deck)
        await act(pilot, "qos.right")
        assert "│ 21:1" not in text_of(deck)
        state_shown = deck.selected_event()
        assert state_shown is not None
        await act(pilot, "qos.next_fault", "qos.next_fault")
        second = view.sort_episodes(state_shown.episodes)[1].since
        assert f"▌{second:%H:%M:%S}" in "".join(
            plain(line) for line in deck.screen_of(QosScreen).query_one(QosChart).draw(120, 33)
        )
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
            match = re.search(r"normal \d+ of (\d+) samples", text_of(deck))
            assert match is not None
            assert int(match[1]) >= len(old.qos.readings)
            assert ">m<" in text_of(deck)
    finally:
        await history.close()


async def test_without_a_history_nothing_is_marked_and_it_is_said() -> None:
    async with running() as (deck, pilot):
        await act(pilot, "qos.mark")
        assert "No history is kept, so there are no markers" in text_of(deck)


def event_of(deck: Deck, event_id: str) -> EventState:
    state = known(deck).find(event_id)
    assert state is not None
    return state


async def test_a_second_event_is_drawn_beside_the_first_and_removed_again() -> None:
    """The action "qos.over": its curves dotted, its name and values beside those of the first."""
    async with running((120, 40), "down", "3") as (deck, pilot):
        first = deck.selected_event()
        assert first is not None
        others: list[str] = []
        while True:
            await act(pilot, "qos.over")
            other = deck.screen_of(QosScreen).second_id
            if other is None:
                break
            others.append(other)
            assert events.name(event_of(deck, other)) in text_of(deck)
        on_air = {state.id for state in known(deck).events if state.phase.tally.expects_signal}
        assert {*others} == on_air - {first.id}
        assert view.SECOND_SIGN not in text_of(deck)


async def test_the_window_moves_into_the_past_and_says_so_until_it_is_live_again() -> None:
    """The actions "qos.earlier", "qos.later" and "qos.now"; interface.md, "Charts"."""
    async with running((120, 40), "down", "3") as (deck, pilot):
        assert "NOT LIVE" not in text_of(deck)
        await act(pilot, "qos.shorter", "qos.earlier")
        assert re.search(r"NOT LIVE 21:0\d-21:1\d ", text_of(deck))
        await act(pilot, *["qos.earlier"] * 9)
        assert re.search(r"NOT LIVE 20:5\d-2\d:\d\d ", text_of(deck)), "it stops where the stream began"
        await act(pilot, *["qos.later"] * 12)
        assert "NOT LIVE" not in text_of(deck)
        await act(pilot, "qos.left", "qos.earlier", "qos.now")
        assert "NOT LIVE" not in text_of(deck)
        assert "│ 21:1" not in text_of(deck)


async def test_zooming_keeps_the_cursor_in_its_place() -> None:
    """The actions "qos.shorter" and "qos.longer"."""
    async with running((120, 40), "down", "3") as (deck, pilot):
        await act(pilot, *["qos.left"] * 60)
        before = readout_of(deck)
        await act(pilot, "qos.shorter")
        assert "NOT LIVE" in text_of(deck)
        assert abs(seconds_of(readout_of(deck)) - seconds_of(before)) <= 10
        await act(pilot, "qos.longer")
        assert abs(seconds_of(readout_of(deck)) - seconds_of(before)) <= 10


def readout_of(deck: Deck) -> str:
    match = re.search(r"│ (\d\d:\d\d:\d\d)", text_of(deck))
    assert match is not None
    return match[1]


def seconds_of(clock: str) -> int:
    hours, minutes, seconds = map(int, clock.split(":"))
    return 3600 * hours + 60 * minutes + seconds


async def test_the_scales_can_be_fitted_to_what_was_measured() -> None:
    """The action "qos.fit"."""
    async with running((120, 40), "down", "3") as (deck, pilot):
        assert not re.search(r"from \d", text_of(deck))
        await act(pilot, "qos.fit")
        assert re.search(r"from \d", text_of(deck))
        await act(pilot, "qos.fit")
        assert not re.search(r"from \d", text_of(deck))


async def test_a_second_event_is_laid_by_the_clock_or_by_its_start() -> None:
    """The action "qos.align"."""
    async with running((120, 40), "down", "3") as (deck, pilot):
        deck.dispatch("qos.over", "harbour webcam")
        await pilot.pause()
        chart = deck.screen_of(QosScreen).query_one(QosChart)
        by_clock = chart.draw(120, 33)
        await act(pilot, "qos.align")
        assert "aligned by its start" in text_of(deck)
        assert chart.draw(120, 33) != by_clock
        await act(pilot, "qos.align")
        assert "aligned by the clock" in text_of(deck)
        assert chart.draw(120, 33) == by_clock


async def test_a_click_in_the_chart_sets_the_cursor() -> None:
    async with running((120, 40), "down", "3") as (deck, pilot):
        await pilot.click(QosChart, offset=(40, 5))
        await pilot.pause()
        first = seconds_of(readout_of(deck))
        await pilot.click(QosChart, offset=(50, 5))
        await pilot.pause()
        assert 50 <= seconds_of(readout_of(deck)) - first <= 100


async def test_a_drag_moves_the_window_and_so_does_a_click_in_the_map() -> None:
    async with running((120, 40), "down", "3") as (deck, pilot):
        await pilot.mouse_down(QosChart, offset=(30, 5))
        await pilot.mouse_up(QosChart, offset=(70, 5))
        await pilot.pause()
        assert "NOT LIVE" in text_of(deck)
        await act(pilot, "qos.now", "qos.shorter")
        assert "NOT LIVE" not in text_of(deck)
        drawn = [plain(line) for line in deck.screen_of(QosScreen).query_one(QosChart).draw(120, 33)]
        (row,) = [row for row, text in enumerate(drawn) if text.startswith(" whole")]
        await pilot.click(QosChart, offset=(40, row))
        await pilot.pause()
        assert "NOT LIVE" in text_of(deck)
        assert "│ 2" not in text_of(deck)


@pytest.mark.parametrize(("size", "words"), [((80, 24), "status"), ((120, 40), "cause"), ((200, 60), "Fault share")])
async def test_every_size_has_its_panes(size: tuple[int, int], words: str) -> None:
    async with running(size, "down", "3") as (deck, _):
        shown = text_of(deck)
        assert words in shown
        assert ("Fault share" in shown) == (size[0] >= 160)
        assert "kbit/s" in shown
        assert "whole" in shown


async def test_the_second_event_can_be_named_and_is_never_the_first() -> None:
    async with running((120, 40), "3") as (deck, pilot):
        for words, answer in (("nobody", "no other event has that name"), ("e", "events have that name")):
            deck.dispatch("qos.over", words)
            await pilot.pause()
            assert answer in text_of(deck)
        deck.dispatch("qos.over", "harbour webcam")
        await pilot.pause()
        screen = deck.screen_of(QosScreen)
        harbour = screen.second_id
        assert harbour is not None
        deck.select_event(harbour)
        await pilot.pause()
        assert screen.second_id is None
        assert view.SECOND_SIGN not in text_of(deck)


async def test_the_absence_of_samples_is_shown_once_with_what_to_do() -> None:
    """It is in the list of faults, so the lines of alarms do not repeat it."""
    async with running((120, 40), "3") as (deck, _):
        state = deck.selected_event()
        assert state is not None
        assert [alarm.kind for alarm in known(deck).alarms if alarm.event_id == state.id] == ["RECONNECTING"]
        assert "Call the encoder's operator" in text_of(deck)
        assert text_of(deck).count("expected the encoder's stream") == 0


@pytest.mark.parametrize(
    ("event", "words"),
    [
        ("Lecture 7", ("no samples yet", "NO-GO", "start the encoder, or move the start", "window 10:00")),
        ("Untitled event", ("no samples yet", "window 10:00")),
        ("Rehearsal Tuesday", ("no samples known", "window 10:00")),
    ],
)
async def test_an_event_without_samples_shows_its_checks_and_facts_in_place_of_charts(
    event: str, words: tuple[str, ...]
) -> None:
    """interface.md, "Preflight"; "yet" promises samples, which an ended event will not get."""
    async with deck_stage((80, 24)) as stage:
        chosen = stage.choose(event)
        await stage.act("screen.qos")
        shown = stage.text()
        assert f"{chosen.name}: {words[0]}" in shown
        for word in words:
            assert word in shown


async def test_keys_act_on_the_selected_fault_alone_and_on_all_alarms_without_one() -> None:
    """interface.md, "Charts"."""
    async with running((120, 40)) as (deck, pilot):
        counts = Counter(alarm.event_id for alarm in known(deck).alarms if alarm.needs_ack)
        event_id, count = counts.most_common(1)[0]
        assert count > 1
        deck.select_event(event_id)
        await pilot.press("3")
        await act(pilot, "qos.next_fault", "qos.next_fault")
        screen = deck.screen
        assert isinstance(screen, QosScreen)
        (target,) = screen.target_alarms(known(deck))
        assert f"ack {target.kind}  " in letters_of(deck).splitlines()[-1]
        await act(pilot, "alarm.note")
        assert f"{target.subject} {target.kind}: note" in letters_of(deck)
        await pilot.press("escape")
        await act(pilot, "qos.now")
        assert len(screen.target_alarms(known(deck))) == count


async def test_a_window_without_samples_says_when_the_newest_was_and_keeps_the_map_and_the_faults() -> None:
    """A lost encoder emptied the screen once the window was past its last sample."""
    async with running((120, 40), "down", "3") as (deck, pilot):
        town = next(state for state in known(deck).events if state.event.name == "Town hall, main")
        deck.select_event(town.id)
        times = [EVENING.timestamp() - age for age in range(1300, 1000, -2)]
        quiet = replace(town, qos=replace(town.qos, readings=readings(times)))
        await show(deck, pilot, events=(quiet,))
        shown = letters_of(deck)
        newest = datetime.fromtimestamp(times[-1], EVENING.tzinfo)
        assert f"no samples in this window, the newest at {newest:%d %b %H:%M:%S}Z" in shown
        assert "start" in next(line for line in shown.splitlines() if "pan" in line)
        assert "✖ PACKET_LOSS" in shown


async def test_a_theme_without_colours_has_no_grid_from_the_moment_it_is_chosen() -> None:
    """interface.md, "Charts": without colours a grid could not be told from a curve."""
    async with running((120, 40), "down", "3") as (deck, pilot):
        chart = deck.screen_of(QosScreen).query_one(QosChart)
        faint = Shade(StyleRole.TEXT, FAINT)

        def has_grid() -> bool:
            return any(role == faint for line in chart.draw(120, 33) for _, role in line)

        await show(deck, pilot)
        assert has_grid()
        deck.theme = "mono"
        await pilot.pause()
        assert not has_grid()


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_the_readout_of_a_column_of_many_samples_has_its_span_and_its_least_and_greatest(
    size: tuple[int, int],
) -> None:
    """Its status is the worst of all of them: one time and one value beside it would be those of another sample."""
    async with running(size, "down", "3") as (deck, pilot):
        await act(pilot, "qos.next_fault", *["qos.longer"] * 2)
        start, end, low, high = read_span(deck)
        assert seconds_of(end) - seconds_of(start) >= 60
        assert low < high
        await act(pilot, *["qos.shorter"] * 5, "qos.now", "qos.left")
        holds_many = size[0] < 120  # five minutes in its columns
        assert bool(re.search(r"│ \d\d:\d\d:\d\d\.\.", words_of(deck))) == holds_many


def words_of(deck: Deck) -> str:
    return "\n".join(strip.text for strip in deck.screen._compositor.render_strips(deck.size))


def read_span(deck: Deck) -> tuple[str, str, float, float]:
    pattern = r"│ (\d\d:\d\d:\d\d)\.\.(\d\d:\d\d:\d\d) +video ([\d.]+?)\.\.([\d.]+) Mbit/s .*LOSS"
    match = re.search(pattern, words_of(deck))
    assert match is not None, words_of(deck)
    return match[1], match[2], float(match[3]), float(match[4])

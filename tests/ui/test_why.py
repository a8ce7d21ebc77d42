"""The pane that explains an event, and the verdict of a person who closes an alarm."""

from __future__ import annotations

from datetime import timedelta

import pytest
from textual.containers import VerticalScroll
from textual.pilot import Pilot

from livedeck.monitor import Alarm, AlarmState, BadActor, Explanation, Figure, Verdict
from livedeck.presentation.explanation import explanation_lines
from livedeck.text.segments import plain, width
from livedeck.ui.alarms.screen import AlarmsScreen
from livedeck.ui.alarms.view import figure_line
from livedeck.ui.alarms.why import WhyScreen, why_lines
from livedeck.ui.app import Deck
from ui.deck_stage import deck_stage
from ui.stage import act, known, running, text_of


async def explained(deck: Deck, pilot: Pilot[int]) -> str:
    """Return the words on the screen once the explanation is there."""
    for worker in [worker for worker in deck.workers if worker.group == "reading"]:
        await worker.wait()
    await pilot.pause()
    return text_of(deck)


def at_cursor(deck: Deck) -> Alarm:
    """Return the alarm under the cursor of the board."""
    assert isinstance(deck.screen, AlarmsScreen)
    alarm = deck.screen.alarm_at_cursor()
    assert alarm is not None
    return alarm


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_the_key_explains_the_selected_event(size: tuple[int, int]) -> None:
    async with running(size) as (deck, pilot):
        await act(pilot, "alarm.why")
        assert isinstance(deck.screen, WhyScreen)
        text, state = await explained(deck, pilot), deck.selected_event()
        assert state is not None
        assert "alarms" in text
        assert "would alarm" in text
        assert str(state.event.name)[:10] in text
        await pilot.press("escape")
        assert not isinstance(deck.screen, WhyScreen)


async def test_on_the_board_the_key_explains_the_kind_under_the_cursor() -> None:
    async with running((120, 40), "7") as (deck, pilot):
        kind = next(alarm.kind for alarm in known(deck).alarms if alarm.event_id)
        while (row := at_cursor(deck)).kind != kind:
            await act(pilot, "row.down")
        await act(pilot, "alarm.why")
        text = await explained(deck, pilot)
        assert f"Why {row.kind}" in text
        assert f"{row.kind} needs" in text


async def test_an_explanation_fits_its_width_and_says_all_it_has() -> None:
    async with running() as (deck, _):
        state = deck.selected_event()
        assert state is not None
        found = await deck.monitor.explain(state.id)
        assert isinstance(found, Explanation)
    for cells in (40, 76, 150):
        lines = why_lines(found, cells)
        assert max(map(width, lines)) <= cells
        words = " ".join(" ".join(plain(line) for line in lines).split())
        for label, texts in explanation_lines(found):
            assert label in words
            assert all(text.split()[0] in words for text in texts)


async def test_an_alarm_is_closed_with_one_of_three_words() -> None:
    async with deck_stage() as stage:
        stage.choose("Lecture 7")
        await stage.press("7")
        while at_cursor(stage.deck).kind != "LATE_START":
            await stage.act("row.down")
        await stage.act("alarm.close")
        await stage.press("3")
        await stage.idle()
        (closed,) = [alarm for alarm in known(stage.deck).alarms if alarm.kind == "LATE_START"]
        assert (closed.verdict, closed.state) == (Verdict.MEANT_SO, AlarmState.ACKNOWLEDGED)


def test_a_figure_says_whether_its_goal_is_met() -> None:
    good = plain(figure_line(Figure("flood_share", "share of the time in a flood", 0.004, "share", 0.01)))
    bad = plain(figure_line(Figure("most_in_10_min", "most announced in 10 min", 31.0, "", 10.0)))
    none = plain(figure_line(Figure("not_watched_share", "not watched", None, "share", missing="not recorded")))
    assert ("✓" in good, "0.4 %" in good, "at most 1 %" in good) == (True, True, True)
    assert ("✖" in bad, "31" in bad, "at most 10" in bad) == (True, True, True)
    assert "not recorded" in none
    worst = plain(figure_line(BadActor("one", "Studio A", "VIDEO_LOW", 12, 0.4)))
    assert ("12 (40 %)" in worst, "VIDEO_LOW  Studio A" in worst) == (True, True)


async def test_the_pane_is_renewed_after_some_seconds_only() -> None:
    async with running() as (deck, pilot):
        await act(pilot, "alarm.why")
        await explained(deck, pilot)
        screen = deck.screen
        assert isinstance(screen, WhyScreen)
        before = screen._found
        deck.snapshot_signal.publish(None)
        await explained(deck, pilot)
        assert screen._found is before
        assert before is not None
        assert abs(before.at - deck.clock.now()) < timedelta(days=1)


async def test_a_pane_that_scrolls_paints_whole_lines() -> None:
    async with running((80, 16)) as (deck, pilot):
        await act(pilot, "alarm.why")
        await explained(deck, pilot)
        screen = deck.screen
        assert isinstance(screen, WhyScreen)
        assert screen.query_one(VerticalScroll).max_scroll_y > 0
        assert screen.cells <= screen.query_one("#reading").size.width

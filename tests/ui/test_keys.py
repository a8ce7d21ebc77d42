"""Keys do what the help says, to the selected event."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from textual.pilot import Pilot

from livedeck.cli.screenshots import export_svg
from livedeck.monitor import EventState, Freshness, Grade, Health
from livedeck.presentation import events
from livedeck.text.segments import StyleRole
from livedeck.ui.app import Deck
from livedeck.ui.general.help import HelpScreen
from livedeck.ui.kit import themes
from livedeck.ui.kit.canvas import Canvas
from livedeck.ui.kit.table import Table
from livedeck.ui.qos.screen import QosScreen
from ui.stage import act, known, running, show, text_of


def selected(deck: Deck) -> EventState:
    state = deck.selected_event()
    assert state is not None
    return state


async def pressed(pilot: Pilot[int], *keys: str) -> None:
    await pilot.press(*keys)
    await pilot.pause()


async def test_the_worst_event_is_selected_until_the_operator_chooses() -> None:
    async with running() as (deck, _):
        assert selected(deck).id == known(deck).events[0].id


async def test_rows_are_walked_one_by_one_by_the_screenful_and_to_the_ends() -> None:
    async with running((80, 24)) as (deck, pilot):
        ids = [state.id for state in known(deck).events]
        screenful = deck.screen.query_one(Table).size.height - 2
        for names, row in (
            (("row.up",), 0),
            (("row.down", "row.down"), 2),
            (("row.up",), 1),
            (("row.page_down",), min(1 + screenful, 11)),
            (("row.page_up",), max(0, min(1 + screenful, 11) - screenful)),
            (("row.last",), 11),
            (("row.down",), 11),
            (("row.first",), 0),
        ):
            await act(pilot, *names)
            assert selected(deck).id == ids[row], names
        await pressed(pilot, "j", "j", "k")
        assert selected(deck).id == ids[1]


async def test_a_fault_of_an_action_is_told_and_ends_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise ZeroDivisionError

    async with running() as (deck, pilot):
        monkeypatch.setattr(deck.monitor, "refresh", broken)
        await act(pilot, "app.ask", "row.down")
        assert ":app.ask failed because of a fault in the deck: ZeroDivisionError" in text_of(deck)
        assert selected(deck).id == known(deck).events[1].id


async def test_the_cursor_follows_the_event_when_the_rows_change_places() -> None:
    async with running() as (deck, pilot):
        await pressed(pilot, "down", "down")
        before = selected(deck).id
        await show(deck, pilot, events=tuple(reversed(known(deck).events)))
        assert selected(deck).id == before
        assert deck.screen.query_one(Table).cursor == before


async def test_an_event_that_vanished_leaves_nothing_selected_though_it_comes_back() -> None:
    async with running() as (deck, pilot):
        await pressed(pilot, "down", "down")
        all_events, gone = known(deck).events, selected(deck)
        await show(deck, pilot, events=tuple(state for state in all_events if state.id != gone.id))
        assert deck.selected_event() is None
        assert deck.screen.query_one(Table).cursor is None
        await show(deck, pilot, events=all_events)
        assert deck.selected_event() is None
        await act(pilot, "row.open")
        assert deck.current_mode == "events"
        text = f'nothing is selected: "{gone.event.name}" left the list; choose an event'
        assert text in deck.preferences.notices[-1].text


@pytest.mark.parametrize(("key", "step"), [("down", 0), ("up", -1)])
async def test_the_arrows_go_on_from_where_the_row_was_that_vanished(key: str, step: int) -> None:
    async with running() as (deck, pilot):
        await pressed(pilot, "down", "down", "down")
        all_events, gone = known(deck).events, selected(deck)
        left = tuple(state for state in all_events if state.id != gone.id)
        await show(deck, pilot, events=left)
        await pressed(pilot, key)
        assert selected(deck).id == left[all_events.index(gone) + step].id


async def test_enter_opens_the_event_under_the_cursor_and_escape_returns_to_it() -> None:
    async with running() as (deck, pilot):
        await act(pilot, "row.down", "row.down", "row.open")
        event_id = known(deck).events[2].id
        assert (deck.current_mode, selected(deck).id) == ("qos", event_id)
        await act(pilot, "qos.back")
        assert (deck.current_mode, selected(deck).id) == ("events", event_id)


async def test_the_qos_screen_stays_with_its_event_whatever_becomes_worse() -> None:
    async with running((120, 40), "3") as (deck, pilot):
        shown = selected(deck).id
        await show(deck, pilot, events=tuple(reversed(known(deck).events)))
        assert selected(deck).id == shown


async def test_the_qos_screen_says_that_its_event_is_gone_and_takes_no_other() -> None:
    async with running((120, 40), "3") as (deck, pilot):
        gone = selected(deck)
        await show(deck, pilot, events=tuple(state for state in known(deck).events if state.id != gone.id))
        assert deck.selected_event() is None
        assert "no longer in the platform's list" in text_of(deck)
        await pressed(pilot, "escape")
        assert deck.selected_event() is None


async def test_number_keys_switch_screens() -> None:
    async with running() as (deck, pilot):
        for name, mode in (("screen.qos", "qos"), ("screen.events", "events"), ("screen.qos", "qos")):
            await act(pilot, name)
            assert deck.current_mode == mode


async def test_a_click_selects_and_a_double_click_opens() -> None:
    async with running() as (deck, pilot):
        await pilot.click(Table, offset=(20, 3))
        await pilot.pause()
        assert selected(deck).id == known(deck).events[2].id
        await pilot.click(Table, offset=(20, 5), times=2)
        await pilot.pause()
        assert (deck.current_mode, selected(deck).id) == ("qos", known(deck).events[4].id)


async def test_plus_and_minus_change_the_range_and_stop_at_its_ends() -> None:
    async with running((120, 40), "3") as (deck, pilot):
        screen, names = deck.screen_of(QosScreen), []
        for name in (*["qos.shorter"] * 2, *["qos.longer"] * 6):
            await act(pilot, name)
            names.append(screen.range_name)
        assert names == ["5m", "5m", "15m", "1h", "6h", "all", "all", "all"]


async def test_arrows_walk_through_the_events_that_should_be_sending() -> None:
    async with running((120, 40), "3") as (deck, pilot):
        sending = [state.id for state in known(deck).events if state.phase.tally in {"ON AIR", "RECONNECTING", "LOST"}]
        walked = []
        for _ in sending:
            await act(pilot, "qos.next")
            walked.append(selected(deck).id)
        assert walked == [*sending[1:], sending[0]]
        await act(pilot, "qos.previous")
        assert selected(deck).id == sending[-1]


async def test_help_opens_over_any_screen_and_closes_to_it() -> None:
    async with running((120, 40), "3") as (deck, pilot):
        for closing in ("escape", "question_mark", "enter"):
            await pressed(pilot, "question_mark")
            assert isinstance(deck.screen, HelpScreen)
            await pressed(pilot, closing)
            assert deck.current_mode == "qos"
            assert not isinstance(deck.screen, HelpScreen)


async def test_q_and_ctrl_c_leave() -> None:
    for name, code in (("app.quit", 0), ("app.interrupt", 130)):
        async with running() as (deck, pilot):
            await act(pilot, name)
            assert deck.return_value == code


async def test_the_platform_is_asked_when_the_operator_says_so() -> None:
    async with running() as (deck, pilot):
        before = known(deck).seq
        await act(pilot, "app.ask")
        await pilot.pause()
        assert known(deck).seq > before


async def test_a_hidden_screen_catches_up_when_it_is_shown() -> None:
    async with running((120, 40), "3", "1") as (deck, pilot):
        only = known(deck).events[3]
        await show(deck, pilot, events=(only,))
        await pressed(pilot, "down", "3")
        assert events.name(only) in text_of(deck)


async def test_a_terminal_of_any_size_is_drawn() -> None:
    async with running() as (deck, pilot):
        for size in ((1, 1), (20, 5), (60, 20), (300, 100), (80, 24)):
            await pilot.resize_terminal(*size)
            await pressed(pilot, "3")
            await pressed(pilot, "1")
            assert deck.size == size
        assert "Choir, hall B" in text_of(deck)


async def test_an_unchanged_snapshot_paints_nothing() -> None:
    """performance.md, "Budgets": nothing is sent to the terminal when nothing changed."""
    for keys in ((), ("3",)):
        async with running((120, 40), *keys) as (deck, _):
            assert [canvas.repaint() for canvas in deck.screen.query(Canvas)] == [0] * len(deck.screen.query(Canvas))
            for table in deck.screen.query(Table):
                assert table.repaint() == 0


async def test_a_thousand_events_scroll_to_the_last_and_draw_only_what_is_in_sight() -> None:
    async with running((80, 24)) as (deck, pilot):
        model = known(deck).events[0]
        names = [f"Show {number}" for number in range(1000)]
        copies = [model.event.model_copy(update={"id": name, "name": name}) for name in names]
        await show(deck, pilot, events=tuple(replace(model, event=copy) for copy in copies))
        assert "Show 999" not in text_of(deck)
        await pressed(pilot, "end")
        assert selected(deck).id == "Show 999"
        assert "Show 999" in text_of(deck)
        await pressed(pilot, "home")
        assert "Show 0" in text_of(deck)


async def test_a_row_that_was_in_sight_stays_in_sight_and_what_is_worse_above_is_said() -> None:
    async with running((80, 24)) as (deck, pilot):
        model = known(deck).events[0]
        copies = [model.event.model_copy(update={"id": str(number), "name": f"Show {number}"}) for number in range(40)]
        await show(deck, pilot, events=tuple(replace(model, event=copy) for copy in copies))
        await pressed(pilot, *["down"] * 12)
        await show(deck, pilot, events=tuple(reversed(known(deck).events)))
        assert text_of(deck).count("Show 12") == len(("row", "detail"))
        assert "more above" in text_of(deck)


HOSTILE = "\x1b[2J\x1b]0;owned\x07[bold red]Cup[/] \u202efinal\n" + "e" + "\u0301" * 20 + "東" * 300


async def test_hostile_text_is_shown_as_text() -> None:
    """trust.md, "Outside text"."""
    async with running((120, 40)) as (deck, pilot):
        model = known(deck).events[0]
        event = model.event.model_copy(update={"name": HOSTILE, "play_link": HOSTILE, "type": HOSTILE})
        alarms = tuple(replace(one, subject=HOSTILE, actual=HOSTILE) for one in known(deck).alarms)
        await show(deck, pilot, events=(replace(model, event=event),), alarms=alarms)
        assert "[2J]0;owned[bold red]Cup" in text_of(deck)
        for keys in ((), ("3",)):
            await pressed(pilot, *keys)
            text = text_of(deck)
            assert "[2J]0;owned[" in text
            assert not set(text) & {"\x1b", "\x07", "\u202e"}
            assert "RECONNECTING" in text


async def test_an_event_whose_own_quality_cannot_be_asked_for_is_dark() -> None:
    """monitoring.md, "Freshness": unknown is not green, though every other event is fine."""
    async with running((120, 40)) as (deck, pilot):
        clean = next(state for state in known(deck).events if state.event.name == "Choir, hall B")
        verdict = replace(clean.assessment, health=Health(grade=Grade.STALE))
        dark = replace(
            clean,
            is_stale=True,
            assessment=verdict,
            qos=replace(clean.qos, freshness=Freshness.STALE, error="500 500500"),
        )
        await show(deck, pilot, events=(dark,), alarms=())
        await pressed(pilot, "down", "3")
        text = export_svg(deck)
        assert "STALE" in text
        assert "500 500500" in text_of(deck)
        styles = themes.PALETTES["dark"].styles
        trusted = {styles[role].colour for role in (StyleRole.VIDEO, StyleRole.ON_AIR)}
        assert not trusted & set(re.findall(r"#[0-9a-f]{6}", text))

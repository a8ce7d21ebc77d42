"""Mouse: everything that looks clickable does what it looks like.

Most targets are links: a click on a link runs a command. They are found by walking over every cell of every screen, so
that a new link is tested here without a new line. Classes that handle the mouse themselves are listed in `DRIVEN` with
their tests.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterable, Iterator
from dataclasses import replace
from importlib import import_module
from typing import NamedTuple

import pytest
from textual import events
from textual.dom import DOMNode
from textual.pilot import Pilot
from textual.widget import Widget

import livedeck.ui
from breadth import slow
from livedeck.presentation.events import EVENTS
from livedeck.text.segments import Link, ShadedLine, plain
from livedeck.ui.app import Deck
from livedeck.ui.general.columns import ColumnsScreen
from livedeck.ui.general.palette import CommandScreen
from livedeck.ui.kit.canvas import StyledWidget
from livedeck.ui.kit.dialogs.choice import ChoiceScreen
from livedeck.ui.kit.lines import FramedPanel, LinesWidget
from livedeck.ui.kit.table import Table
from livedeck.ui.qos.screen import QosChart, QosScreen
from livedeck.ui.shell.frame import Footer, Header
from ui.stage import REGISTRY, act, known, running, show

SIZES = ((80, 24), (200, 60))


class Target(NamedTuple):
    """Link, and a cell of it."""

    link: Link
    widget: Widget
    offset: tuple[int, int]


def targets(deck: Deck) -> Iterator[Target]:
    """Yield every link of the screen in front, once."""
    found: set[tuple[type[Widget], str, str]] = set()
    for widget in deck.screen.walk_children(Widget):
        if isinstance(widget, StyledWidget) and widget.display:
            for y in range(widget.size.height):
                for x in range(widget.size.width):
                    link = widget.link_at(x, y)
                    if link and (type(widget), link.command, link.argument) not in found:
                        found.add((type(widget), link.command, link.argument))
                        yield Target(link, widget, (x, y))


async def click(pilot: Pilot[int], target: Target, times: int = 1) -> None:
    """Click on a cell of the screen."""
    offset = target.widget.content_region.offset + target.offset
    await pilot.click(offset=offset, times=times)
    for _ in range(3):
        await pilot.pause()


async def click_link(deck: Deck, pilot: Pilot[int], command: str, argument: str = "") -> None:
    """Click on the first link with that command."""
    await click(pilot, next(t for t in targets(deck) if (t.link.command, t.link.argument) == (command, argument)))


async def click_all(
    size: tuple[int, int], monkeypatch: pytest.MonkeyPatch, modes: Iterable[str], *, every_argument: bool
) -> int:
    """Click each link of these screens at its cell, and check its command. Returns the number of links."""
    clicked: set[tuple[type[Widget], str, str]] = set()
    async with running(size) as (deck, pilot):
        for mode in modes:
            deck.go_to(mode)
            for _ in range(3):
                await pilot.pause()
            sent: list[tuple[str, str]] = []
            with monkeypatch.context() as patch:
                patch.setattr(deck, "dispatch", lambda name, argument="", sent=sent: sent.append((name, argument)))
                for target in [*targets(deck)]:
                    link = target.link
                    assert REGISTRY.by_name[link.command].works_on(mode), (mode, link)
                    assert not link.argument or REGISTRY.by_name[link.command].takes, (mode, link)
                    kind = type(target.widget), link.command, link.argument if every_argument else ""
                    if kind not in clicked:
                        clicked.add(kind)
                        sent.clear()
                        await click(pilot, target)
                        assert sent == [(link.command, link.argument)], (mode, kind)
    return len(clicked)


async def test_a_click_on_a_link_is_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """One link of each command in each kind of widget of three screens."""
    assert await click_all((80, 24), monkeypatch, ("events", "qos", "alarms"), every_argument=False) > 20


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
async def test_a_click_on_any_link_is_its_command(size: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    assert await click_all(size, monkeypatch, REGISTRY.screens, every_argument=True) > 60


@pytest.mark.parametrize("size", [SIZES[0], *slow(*SIZES[1:])])
async def test_every_word_of_tabs_and_footer_is_a_link(size: tuple[int, int]) -> None:
    async with running(size) as (deck, pilot):
        for mode in REGISTRY.screens:
            deck.go_to(mode)
            for _ in range(3):
                await pilot.pause()
            for widget, row in ((deck.screen.query_one(Header), 1), (deck.screen.query_one(Footer), 0)):
                dead = [text for text, role in widget.line_at(row) if text.strip(" │") and not isinstance(role, Link)]
                assert not dead, (mode, type(widget))


async def test_every_column_that_sorts_does_so_at_a_click() -> None:
    """First one way, then the other, then as it was: worst first."""
    async with running((200, 60)) as (deck, pilot):
        heads = {target.link.argument for target in targets(deck) if isinstance(target.widget, Table)}
        assert heads == set(EVENTS.sortable_columns())
        orders = []
        for _ in range(4):
            orders.append([deck.preferences.view("events").sort, deck.preferences.view("events").down])
            await click_link(deck, pilot, "view.sort", "event")
        assert orders == [["", False], ["event", False], ["event", True], ["", False]]
        text = " ".join(plain(line) for line in [*_lines(deck, "filter")])
        assert "sorted by event, not worst first" in text


def _lines(deck: Deck, name: str) -> Iterator[ShadedLine]:
    widget = deck.screen.query_one(f"#{name}", LinesWidget)
    yield from (widget.line_at(row) for row in range(widget.size.height))


async def test_the_table_that_is_clicked_is_the_one_that_is_sorted() -> None:
    """Rooms have two: the keys move in one of them, and a click in the other turns to it."""
    async with running((120, 40), "5") as (deck, pilot):
        tables = {target.widget.id: target for target in targets(deck) if isinstance(target.widget, Table)}
        for name in ("relays", "rooms"):
            await click(pilot, tables[name])
            assert deck.preferences.view(name).sort == tables[name].link.argument


async def test_a_row_is_selected_by_a_click_and_opened_by_two() -> None:
    async with running() as (deck, pilot):
        row = known(deck).events[3]
        await pilot.click(Table, offset=(20, 4))
        await pilot.pause()
        assert deck.selected_event() == row
        await pilot.click(Table, offset=(20, 4), times=2)
        await pilot.pause()
        assert deck.current_mode == "qos"


async def test_the_wheel_scrolls_a_table_and_leaves_the_cursor() -> None:
    async with running((80, 24)) as (deck, pilot):
        model = known(deck).events[0]
        copies = [model.event.model_copy(update={"id": str(number), "name": f"Show {number}"}) for number in range(40)]
        await show(deck, pilot, events=tuple(replace(model, event=copy) for copy in copies))
        table, before = deck.screen.query_one(Table), deck.selected_event()
        await turn_wheel(deck, pilot, events.MouseScrollDown, table)
        assert table.scroll_offset.y > 0
        assert deck.selected_event() == before


async def turn_wheel(deck: Deck, pilot: Pilot[int], kind: type[events.MouseEvent], widget: Widget) -> None:
    """Turn the wheel by one notch over the middle of a widget, as the terminal does."""
    x, y = widget.region.center
    deck.post_message(kind(None, int(x), int(y), 0, 0, 0, shift=False, meta=False, ctrl=False))
    for _ in range(3):
        await pilot.pause()


async def test_the_panes_of_the_events_lead_to_what_they_show() -> None:
    async with running() as (deck, pilot):
        alarm = next(alarm for alarm in known(deck).alarms[1:] if alarm.event_id)
        await click_link(deck, pilot, "row.select", alarm.event_id)
        selected = deck.selected_event()
        assert selected is not None
        assert selected.id == alarm.event_id
        for pane, mode in (("#event-alarms", "alarms"), ("#selected", "qos")):
            deck.go_to("events")
            await pilot.pause()
            await pilot.click(deck.screen.query_one(pane, FramedPanel), offset=(10, 0))
            await pilot.pause()
            assert deck.current_mode == mode


async def test_the_chart_takes_clicks_drags_and_the_wheel() -> None:
    """A click sets the cursor; a drag moves the window; the wheel zooms, as a range that is clicked does."""
    async with running((120, 40), "down", "3") as (deck, pilot):
        screen = deck.screen_of(QosScreen)
        chart = screen.query_one(QosChart)
        before = [plain(line) for line in _lines(deck, "title")]
        await pilot.click(QosChart, offset=(40, 5))
        await pilot.pause()
        assert [plain(line) for line in _lines(deck, "title")] != before
        await pilot.mouse_down(QosChart, offset=(30, 5))
        await pilot.mouse_up(QosChart, offset=(70, 5))
        await pilot.pause()
        assert "NOT LIVE" in plain(next(_lines(deck, "title")))
        await act(pilot, "qos.now")
        await click_link(deck, pilot, "qos.longer", "1h")
        assert screen.range_name == "1h"
        for kind, name in ((events.MouseScrollUp, "15m"), (events.MouseScrollDown, "1h")):
            await turn_wheel(deck, pilot, kind, chart)
            assert screen.range_name == name


async def test_menus_are_clicked_and_closed_by_a_click_beside_them() -> None:
    async with running() as (deck, pilot):
        await act(pilot, "view.copy")
        assert isinstance(deck.screen, ChoiceScreen)
        await click_link(deck, pilot, "id")
        assert "id of" in deck.preferences.notices[-1].text
        await act(pilot, "app.palette")
        assert isinstance(deck.screen, CommandScreen)
        await pilot.press(*"quality time")
        await click_link(deck, pilot, "screen.qos")
        assert deck.current_mode == "qos"
        for name in ("app.palette", "app.command"):
            await act(pilot, name)
            assert deck.screen.is_modal
            await pilot.click(offset=(1, 1))
            await pilot.pause()
            assert not deck.screen.is_modal, name


async def test_a_click_on_a_column_hides_it() -> None:
    async with running() as (deck, pilot):
        await act(pilot, "view.columns")
        assert isinstance(deck.screen, ColumnsScreen)
        await click_link(deck, pilot, "fps")
        await click_link(deck, pilot, "take")
        assert deck.preferences.view("events").hidden == ("fps",)


async def test_what_lies_behind_a_dialog_cannot_be_clicked() -> None:
    async with running() as (deck, pilot):
        tab = next(target for target in targets(deck) if target.link.command == "screen.qos")
        await act(pilot, "event.create")
        before = deck.screen
        assert before.is_modal
        await click(pilot, tab)
        assert (deck.screen, deck.current_mode) == (before, "events")


DRIVEN = {
    "StyledWidget": test_a_click_on_a_link_is_its_command,
    "Table": test_a_row_is_selected_by_a_click_and_opened_by_two,
    "QosChart": test_the_chart_takes_clicks_drags_and_the_wheel,
    "QosScreen": test_the_chart_takes_clicks_drags_and_the_wheel,
    "Modal": test_menus_are_clicked_and_closed_by_a_click_beside_them,
}
"""Class that handles the mouse itself -> the test that drives it."""

DRIVEN_ELSEWHERE = {"Button", "ChipsInput", "Mosaic", "ReferenceInput", "Remark", "RowsInput"}
"""Tiles of `test_viewers.py`, and controls of forms, which the tests of the dialogs click."""


def test_what_handles_the_mouse_is_driven_by_a_test() -> None:
    """One more class that does so fails here, until a test drives it."""
    for module in pkgutil.walk_packages(livedeck.ui.__path__, "livedeck.ui."):
        import_module(module.name)
    kinds = [kind for kind in vars(events).values() if isinstance(kind, type) and issubclass(kind, events.MouseEvent)]
    names = {f"{prefix}{kind.handler_name}" for kind in kinds for prefix in ("", "_")}
    own = [kind for kind in _subclasses(DOMNode) if kind.__module__.startswith("livedeck.")]
    found = {
        kind.__name__
        for kind in own
        if names & set(vars(kind)) or set(kinds) & set(vars(kind).get("_decorated_handlers", {}))
    }
    assert found == DRIVEN.keys() | DRIVEN_ELSEWHERE


def _subclasses(kind: type[DOMNode]) -> set[type[DOMNode]]:
    return {kind}.union(*(_subclasses(child) for child in kind.__subclasses__()))

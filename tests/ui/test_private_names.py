"""Private names of Textual that the deck uses: which ones another version lacks, and the effect of that.

All uses are in `ui/kit/terminal.py`, `ui/kit/layers.py` and `ui/kit/driver.py`.
"""

from __future__ import annotations

import ast
import gc
from inspect import getsource, signature
from pathlib import Path

import pytest
from textual import _compositor, message_pump
from textual._styles_cache import StylesCache
from textual._xterm_parser import XTermParser
from textual.app import App
from textual.drivers.headless_driver import HeadlessDriver
from textual.drivers.linux_driver import LinuxDriver
from textual.events import Key
from textual.screen import Screen
from textual.widget import Widget

from livedeck.cli.screenshots import still_deck
from livedeck.ui.kit import terminal
from livedeck.ui.kit.control_strings import osc52
from ui.stage import act, running, steady, text_of

UI = Path(terminal.__file__).parents[1]


def test_a_changed_part_of_the_screen_is_described_by_strips_spans_and_ends() -> None:
    """`ExactUpdate` crops the strips of a `ChopsUpdate` to its spans."""
    assert [*signature(_compositor.ChopsUpdate).parameters] == ["chops", "spans", "chop_ends"], (
        "ChopsUpdate is made of something else: exact updates are off, a clock costs twenty times the bytes over ssh"
    )
    assert issubclass(_compositor.ChopsUpdate, _compositor.CompositorUpdate)


def test_updates_turn_themselves_into_bytes() -> None:
    assert [*signature(_compositor.CompositorUpdate.render_segments).parameters] == ["self", "console"], (
        "an update is no longer asked for its bytes: exact updates and copying through tmux are off"
    )


def test_an_update_of_the_whole_screen_is_strips_and_a_region() -> None:
    assert [*signature(_compositor.LayoutUpdate).parameters] == ["strips", "region"], (
        "LayoutUpdate is made of something else: exact updates are off, and a name in Devanagari shifts its row"
    )


def test_every_update_goes_through_one_method_of_the_app() -> None:
    assert [*signature(App._display).parameters] == ["self", "screen", "renderable"], (
        "App._display is called otherwise: exact updates and copying through tmux are off"
    )
    assert terminal.has_exact_updates()


def test_a_screen_behind_another_one_hands_on_what_changed_by_one_method() -> None:
    assert [*signature(Screen._compositor_refresh).parameters] == ["self"], (
        "a covered screen hands on what changed otherwise: look at the bytes under an open dialog"
    )
    assert "self._set_dirty(*self._compositor._dirty_regions)" in getsource(Screen._compositor_refresh), (
        "it no longer repaints what it has handed on: layers.py can go"
    )
    assert [*signature(Widget._exchange_repaint_regions).parameters] == ["self"]
    assert [*signature(Widget._set_dirty).parameters] == ["self", "regions"]
    assert [*signature(Screen._on_timer_update).parameters] == ["self"], "a frame is painted by another method"
    assert [*signature(_compositor.Compositor.update_widgets).parameters] == ["self", "widgets"]
    assert "self._dirty_widgets.clear()\n                self._dirty_widgets.add(self)" in getsource(
        Screen._on_timer_update
    ), "it no longer forgets changed widgets: `LayeredScreen._on_timer_update` can go"


def test_a_crash_of_the_app_comes_by_one_method_within_the_handling_of_its_error() -> None:
    """Without it a traceback with local variables is printed, and these may hold a token."""
    assert [*signature(App._fatal_error).parameters] == ["self"], "App._fatal_error is gone: a crash shows locals"
    assert "self._fatal_error()" in getsource(App._handle_exception), "a crash shows locals: it goes another way now"
    assert "except Exception as error:" in getsource(message_pump.MessagePump._process_messages_loop)


def test_no_other_file_of_the_screens_imports_a_private_module_of_textual() -> None:
    importers = {
        path.relative_to(UI).as_posix()
        for path in UI.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(("textual._", "rich._"))
    }
    assert importers == {"kit/terminal.py", "kit/driver.py", "kit/layers.py"}


async def test_a_closed_dialog_is_freed() -> None:
    """Textual keeps the last thousand widgets in a cache of colours; `LayeredScreen.on_unmount` empties it."""
    async with running() as (_, pilot):

        async def drawn_after_help() -> int:
            await pilot.press("question_mark")
            await pilot.pause()
            await pilot.press("escape")
            await pilot.pause()
            gc.collect()
            return sum(isinstance(found, StylesCache) for found in gc.get_objects())

        first = await drawn_after_help()
        assert await drawn_after_help() == first


def test_the_terminal_is_read_by_a_parser_that_is_fed_and_ticks() -> None:
    """`TerminalDriver` takes sequences out of what is pasted before it reads that."""
    parser = XTermParser()
    assert [type(message) for message in parser.feed("q")] == [Key], "keys come otherwise: see run_input_thread"
    assert [*parser.tick()] == []
    assert "self.run_input_thread()" in getsource(LinuxDriver), "the terminal is read otherwise: a paste presses keys"


class SentDriver(HeadlessDriver):
    """Driver that the app takes for a terminal; it stores what is sent."""

    sent = ""

    @property
    def is_headless(self) -> bool:
        return False

    def write(self, data: str) -> None:
        SentDriver.sent += data


async def test_without_them_textuals_own_updates_show_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    async with running((80, 24)) as (deck, pilot):
        await act(pilot, "row.down")
        expected = await steady(deck, pilot)
    monkeypatch.setattr(terminal, "EXACT_UPDATES", False)
    async with still_deck() as deck:
        deck.driver_class = SentDriver
        async with deck.run_test(headless=False, size=(80, 24)) as pilot:
            await pilot.pause()
            await act(pilot, "row.down")
            assert await steady(deck, pilot) == expected
            assert "Cup final" in SentDriver.sent
            assert not deck.send([])
            deck.copy("words", "text")
            await pilot.pause()
            assert "text copied" in text_of(deck)
            assert "\x1b]52;c;d29yZHM=\x07" in SentDriver.sent


@pytest.mark.parametrize("multiplexer", ["", "tmux", "screen"])
async def test_a_copy_reaches_the_terminal_once(multiplexer: str) -> None:
    async with still_deck() as deck:
        deck.driver_class = SentDriver
        async with deck.run_test(headless=False, size=(80, 24)) as pilot:
            await pilot.pause()
            SentDriver.sent = ""
            assert deck.copy_text("words", multiplexer)
            await pilot.pause()
            sequence = osc52("words", multiplexer)
            assert sequence
            assert SentDriver.sent.count(sequence) == 1

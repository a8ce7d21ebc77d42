"""Texts of strangers are edited unchanged and shown without control characters; the last filter drops the rest."""

from __future__ import annotations

import re

import pytest
from rich.cells import cell_len
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual.app import ComposeResult
from textual.color import Color
from textual.containers import Container, ScrollableContainer
from textual.events import Paste
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input, Static

from livedeck.client import Event, EventDraft
from livedeck.text.outside import shown
from livedeck.ui.kit.canvas import StyledWidget
from livedeck.ui.kit.control_strings import osc52
from livedeck.ui.kit.dialogs.form import Form
from livedeck.ui.kit.dialogs.inputs import SelectInput
from livedeck.ui.kit.line_filters import ascii_only
from livedeck.ui.kit.output_filter import ControlFilter, OutputFilter
from livedeck.ui.kit.terminal import ExactApp, positioned
from livedeck.ui.kit.text_field import TextField
from payloads import HIDDEN, LEGIT, SEQUENCES
from ui.deck_stage import Stage, deck_stage
from ui.meeting import agree
from ui.stage import known

HOSTILE = "Choir \x1b]52;c;c3RvbGVu\x07\x9b2J\u202e\u3164\\n"
CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


async def renamed(stage: Stage, name: str) -> Event:
    """Select an event that somebody else has renamed."""
    event = stage.choose("Untitled event")
    await stage.api.events.update(event.id, EventDraft(name=name))
    await seen(stage, name)
    return stage.choose(name)


async def seen(stage: Stage, name: str) -> None:
    """Wait until the deck shows an event of that name."""
    stage.deck.monitor.refresh()
    await stage.until(lambda: any(state.event.name == name for state in known(stage.deck).events))
    stage.choose(name)
    await stage.settle()


async def test_a_name_that_was_not_edited_is_not_sent_and_one_that_was_keeps_the_rest() -> None:
    async with deck_stage() as stage:
        event = await renamed(stage, HOSTILE)
        await stage.act("event.edit")
        assert stage.shows(Form)
        text = stage.text()
        assert "\\x1b]52;c;c3RvbGVu\\x07\\x9b2J\\u202e\\u3164\\\\n" in text
        assert not CONTROLS.search(text.replace("\n", ""))
        stage.deck.screen.query(SelectInput).first().focus()
        await stage.press("space", "ctrl+s")
        assert "Name:" not in stage.text()
        await agree(stage)
        assert (await stage.event(event)).name == HOSTILE
        await stage.act("event.edit")
        await stage.press("end")
        await stage.enter(", hall B")
        await stage.press("ctrl+s")
        assert not CONTROLS.search(stage.text().replace("\n", ""))
        await agree(stage)
        assert (await stage.event(event)).name == f"{HOSTILE}, hall B"


async def test_a_name_as_people_write_it_stands_in_the_list_and_in_the_form() -> None:
    async with deck_stage() as stage:
        event = stage.choose("Untitled event")
        for name in LEGIT[::4]:
            await stage.api.events.update(event.id, EventDraft(name=name))
            await seen(stage, name)
            assert " ".join(name.split()) in stage.text()
            await stage.act("event.edit")
            assert " ".join(name.split()) in stage.text()
            await stage.press("escape")


class Fields(ExactApp):
    """App of fields with texts from outside."""

    def __init__(self, *texts: str) -> None:
        super().__init__()
        self._texts = texts

    def compose(self) -> ComposeResult:
        for text in self._texts:
            yield TextField(text)


async def test_a_field_holds_every_text_to_the_byte_and_shows_none_of_its_controls() -> None:
    texts = [*SEQUENCES.values(), *HIDDEN.values(), *LEGIT, HOSTILE]
    app = Fields(*texts)
    async with app.run_test(size=(200, len(texts))):
        fields = list(app.query(TextField))
        assert [field.text for field in fields] == texts
        assert all(shown(field.value) == field.value for field in fields)


async def test_what_is_pasted_enters_a_field_as_it_is_seen() -> None:
    app = Fields("")
    async with app.run_test() as pilot:
        for text in ("Cafe", "\u0301 \x1b[31m\u202e", "\u3164"):
            app.post_message(Paste(text))
            await pilot.pause()
        assert app.query_one(TextField).text == "Cafe\u0301 [31m␣"


async def test_all_that_draws_text_on_a_screen_draws_lines_or_is_a_field() -> None:
    """A widget of another kind would render what it is given."""
    kinds: set[type[Widget]] = set()
    async with deck_stage() as stage:
        for action in ("event.edit", "app.help", "app.palette", "view.filter", "view.columns", "event.delete"):
            await stage.act(action)
            kinds |= {type(widget) for widget in stage.deck.screen.walk_children(Widget)}
            await stage.press("escape", "escape")
        for mode in stage.deck.actions.screens:
            stage.deck.go_to(mode)
            await stage.settle()
            kinds |= {type(widget) for widget in stage.deck.screen.walk_children(Widget)}
    others = {kind for kind in kinds if not issubclass(kind, (StyledWidget, TextField))}
    assert {kind.__name__ for kind in others if not issubclass(kind, (Container, ScrollableContainer))} <= {
        "Grid", "Horizontal", "Vertical", "VerticalScroll", "ToastRack", "Tooltip", "ScrollBar", "Thumbnail",
    }  # fmt: skip
    assert not any(issubclass(kind, Input) for kind in others)


@pytest.mark.parametrize("payload", SEQUENCES.values(), ids=SEQUENCES)
def test_the_last_filter_passes_no_sequence_of_a_text(payload: str) -> None:
    """In a frame: behind a move of the cursor, between two colours. What a colour imitates is the other half's."""
    (segment,) = ControlFilter().apply([Segment(payload)], Color(0, 0, 0))
    assert not CONTROLS.search(segment.text)
    frame = OutputFilter().apply(f"\x1b[1;1H\x1b[38;2;9;9;9m{payload}\x1b[0m\x1b[1;1H")
    others = frame.replace("\x1b[1;1H", "").replace("\x1b[38;2;9;9;9m", "").replace("\x1b[0m", "")
    imitated = {"\x1b[38;2;1;2;3m", "\x1b[8;38;2;1;2;4m", "\x1b[77;177H"}
    for sequence in imitated & {payload}:
        others = others.replace(sequence, "")
    assert not CONTROLS.search(others.replace("\n", ""))


@pytest.mark.parametrize("multiplexer", ["", "tmux", "screen"])
def test_the_filter_passes_what_was_allowed_once_and_where_it_stands_first(multiplexer: str) -> None:
    sequence = osc52("a name", multiplexer)
    assert sequence
    output = OutputFilter()
    assert "\x1b" not in output.apply(sequence)
    output.allow(sequence)
    assert output.apply("\x1b[?2026h") == "\x1b[?2026h", "what is written meanwhile uses it up not"
    assert sequence not in output.apply(f"\x1b[1;1H{sequence}")
    assert output.apply(f"{sequence}\x1b[1;1H") == f"{sequence}\x1b[1;1H"
    assert "\x1b" not in output.apply(sequence)


def test_the_filter_rings_the_bell_and_shapes_the_pointer() -> None:
    output = OutputFilter()
    for data in ("\x07", "\x1b]22;text\x07", "\x1b[?1049h", "\x1b[>25u", "\x1b[<u", "\x1b[?2048$p", "\x1b[m", "a\nb"):
        assert output.apply(data) == data


class Raw(ExactApp):
    """App of Textual's own widgets, which render any text."""

    def compose(self) -> ComposeResult:
        for payload in SEQUENCES.values():
            yield Static(payload, markup=False)


async def test_the_last_filter_holds_without_the_first_protection() -> None:
    app = Raw()
    async with app.run_test(size=(100, 60)):
        text = "".join(strip.text for strip in app.screen._compositor.render_strips(app.size))
    assert text.count("stolen") >= 10
    assert not CONTROLS.search(text)


def test_letters_of_several_characters_keep_their_cells_in_ascii() -> None:
    assert ascii_only("Cafe\u0301 \U0001f468\u200d\U0001f469 \u6771●") == "Cafe ?? ??*"


def test_what_follows_a_text_of_disputed_width_begins_at_its_own_cell() -> None:
    """A terminal may draw more or fewer cells for the name than we count: it shifts nothing."""
    name = LEGIT[3]
    cells = cell_len(name)
    text = positioned(Strip([Segment(name), Segment(" 4.5M", Style(bold=True))]), 3, 1, Console(color_system=None))
    assert text.startswith(f"\x1b[2;4H{' ' * cells}\x1b[2;4H{name}\x1b[2;{4 + cells}H")
    assert positioned(Strip([Segment("\u6771 \u25cf")]), 3, 1, Console()) == "\x1b[2;4H\u6771 \u25cf"

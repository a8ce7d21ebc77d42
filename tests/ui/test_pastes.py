"""Pasted text is text: none of it is a key, however it is cut, and keys typed around it arrive unchanged."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual._xterm_parser import XTermParser
from textual.app import App, ComposeResult
from textual.events import Key, Paste

from livedeck.text.outside import shown
from livedeck.ui.kit.input_filter import MAX_PASTE_CHARS, PASTE_END, PASTE_START, PasteFilter
from livedeck.ui.kit.text_field import MAX_CHARS, TextField
from ui.deck_stage import deck_stage

SEQUENCES = st.sampled_from(
    [
        "\x1b[31m",
        "\x1b[0m",
        "\x1b",
        "\x1b[A",
        "\x1b[200",
        "\x1b[48;5;20;5;20t",
        "\x1b]0;x\x07",
        "q",
        "é",
        "\r\n",
        "x" * 40,
    ]
)
TEXTS = st.lists(SEQUENCES, max_size=12).map("".join).filter(lambda text: PASTE_START not in text)
CUTS = st.lists(st.integers(0, 400), max_size=8)


def pieces(text: str, cuts: list[int]) -> list[str]:
    places = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    return [text[start:end] for start, end in pairwise(places)]


@given(TEXTS, CUTS)
def test_a_paste_is_one_paste_and_no_key_however_it_is_cut(pasted: str, cuts: list[int]) -> None:
    parser, pastes = XTermParser(), PasteFilter()
    messages = [
        message
        for piece in pieces(f"a{PASTE_START}{pasted}{PASTE_END}b", cuts)
        if (typed := pastes.apply(piece))
        for message in parser.feed(typed)
    ]
    assert [message.key for message in messages if isinstance(message, Key)] == ["a", "b"]
    assert [message.text for message in messages if isinstance(message, Paste)] == [pasted.replace("\x1b", "")]


@given(st.lists(st.one_of(SEQUENCES, st.just(PASTE_END)), max_size=12), CUTS)
def test_what_is_typed_passes_at_once_and_as_it_is(typed: list[str], cuts: list[int]) -> None:
    text, pastes = "".join(typed), PasteFilter()
    if PASTE_START not in text:
        for piece in pieces(text, cuts):
            assert pastes.apply(piece) == piece


def test_of_a_paste_passes_what_a_field_may_take_and_the_next_one_passes_again() -> None:
    pastes = PasteFilter()
    assert pastes.apply(PASTE_START) == PASTE_START
    passed = sum(len(pastes.apply("x" * 10_000)) for _ in range(100))
    assert passed == MAX_PASTE_CHARS >= MAX_CHARS
    assert pastes.apply(f"y{PASTE_END}q") == f"{PASTE_END}q"
    assert pastes.apply(f"{PASTE_START}x{PASTE_END}") == f"{PASTE_START}x{PASTE_END}"


class Field(App[None]):
    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text

    def compose(self) -> ComposeResult:
        yield TextField(self._text)


async def test_a_field_takes_so_many_characters_and_what_was_longer_can_be_cut() -> None:
    app = Field("")
    async with app.run_test() as pilot:
        field = app.query_one(TextField)
        app.post_message(Paste("word \x1b[31mred" * 4000))
        await pilot.pause()
        assert len(field.value) == MAX_CHARS
        await pilot.press("x", "backspace", "y")
        assert field.value[-1] == "y"
        assert len(field.value) == MAX_CHARS
    longer = "z" * (2 * MAX_CHARS)
    app = Field(longer)
    async with app.run_test() as pilot:
        field = app.query_one(TextField)
        await pilot.press("end", "x", "backspace")
        assert field.text == longer[:-1] == shown(field.text)


@pytest.mark.parametrize(
    ("pasted", "becomes"),
    [("one\ntwo", "old"), ("one", "one"), ("\none\n", "one"), ("a\r\n\r\nb\r\n", "old"), ("\n", "old")],
)
async def test_a_field_takes_one_line_or_nothing(pasted: str, becomes: str) -> None:
    """Half of a paste in a field would be sent as if it were the whole."""
    app = Field("old")
    async with app.run_test() as pilot:
        app.post_message(Paste(pasted))
        await pilot.pause()
        assert app.query_one(TextField).text == becomes


async def test_a_form_and_a_prompt_say_why_a_paste_was_refused() -> None:
    async with deck_stage() as stage:
        stage.choose("Morning service")
        await stage.act("event.edit")
        await stage.enter("one\ntwo\nthree")
        assert "✖ 3 lines pasted, only one fits: nothing changed" in stage.text()
        await stage.press("escape", "escape")
        await stage.act("view.filter")
        await stage.enter("one\ntwo")
        assert "✖ 2 lines pasted, only one fits: nothing changed" in stage.text()
        assert not stage.writes

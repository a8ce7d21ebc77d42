"""What the keys do and what the signs mean."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen

from livedeck.ui.actions import table
from livedeck.ui.actions.keymap import Keymap, keys_of, written
from livedeck.ui.renderables.cells import SEVERITIES, TALLY_INKS
from livedeck.ui.renderables.ink import Ink
from livedeck.ui.renderables.lines import Line, fit, wrapped
from livedeck.ui.renderables.status import HIGHLIGHTED, NORMAL, ODD
from livedeck.ui.widgets.frame import Lines

MOST_CELLS, FRAME_CELLS = 74, 5
"""What the box takes at most, and of that its border, its padding and the scroll bar (app.tcss)."""

KEY_CELLS = 18


class HelpScreen(ModalScreen[None]):
    """Any of its closing keys leads back to where it was opened."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,question_mark,enter,q", "dismiss", "close")]

    def __init__(self, keymap: Keymap) -> None:
        super().__init__()
        self._keymap = keymap

    def compose(self) -> ComposeResult:
        with VerticalScroll():
            yield Lines(id="help")

    def on_resize(self) -> None:
        self.query_one("#help", Lines).show(help_lines(self._keymap, min(MOST_CELLS, self.size.width) - FRAME_CELLS))


def help_lines(keymap: Keymap, cells: int) -> list[Line]:
    """The keys in force by group, then the signs; nothing of it is wider than that."""
    lines: list[Line] = []
    for title, actions in table.groups():
        lines.append([(title.upper(), Ink.HEAD)])
        for action in actions:
            keys = "  ".join(written(key) for key in keys_of(action, keymap)) or f":{action.name}"
            lines += _rows(keys, action.help, Ink.STRONG, cells)
        lines.append([])
    return lines + sign_lines(cells)


def sign_lines(cells: int) -> list[Line]:
    """Every sign that stands in a cell of a table."""
    lines: list[Line] = [[("SIGNS", Ink.HEAD)]]
    for look in (NORMAL, *HIGHLIGHTED, ODD):
        lines += _rows(f"{look.glyph} {look.word}", look.meaning, look.ink, cells)
    lines.append([("  ", Ink.TEXT), *_severities()])
    lines += _rows("0  ?  --  -", "zero, unknown, no fresh data, not measured", Ink.TEXT, cells)
    lines += _rows("▒ STALE", "not to be believed: too old, or not answered", Ink.STALE, cells)
    lines += [[], [("TALLY", Ink.HEAD)]]
    lines += [[("  ", Ink.TEXT), (f" {glyph} {tally.value:<13}", ink)] for tally, (glyph, ink) in TALLY_INKS.items()]
    return lines


def _severities() -> Line:
    line: Line = []
    for severity, (glyph, word, ink) in SEVERITIES.items():
        line += [(f"{glyph} {word} ", ink), (f"{severity.value}   ", Ink.TEXT)]
    return line


def _rows(left: str, right: str, ink: Ink, cells: int) -> list[Line]:
    text = wrapped(right, Ink.TEXT, cells - KEY_CELLS)
    return [[*fit([("" if at else f"  {left}", ink)], KEY_CELLS, ellipsis=True), *row] for at, row in enumerate(text)]

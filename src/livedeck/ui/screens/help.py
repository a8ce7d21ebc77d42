"""What the keys do and what the signs mean."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen

from livedeck.ui.actions import table
from livedeck.ui.actions.keymap import Keymap, keys_of, written
from livedeck.ui.renderables import cells
from livedeck.ui.renderables.ink import Ink
from livedeck.ui.renderables.lines import Line, fit
from livedeck.ui.renderables.status import HIGHLIGHTED, NORMAL, ODD
from livedeck.ui.widgets.frame import Lines


class HelpScreen(ModalScreen[None]):
    """Any of its closing keys leads back to where it was opened."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,question_mark,enter,q", "dismiss", "close")]

    def __init__(self, keymap: Keymap) -> None:
        super().__init__()
        self._keymap = keymap

    def compose(self) -> ComposeResult:
        with VerticalScroll():
            yield Lines(id="help")

    def on_mount(self) -> None:
        self.query_one("#help", Lines).show(help_lines(self._keymap))


def help_lines(keymap: Keymap) -> list[Line]:
    """The keys in force by group, then the signs."""
    lines: list[Line] = []
    for title, actions in table.groups():
        lines.append([(title.upper(), Ink.HEAD)])
        for action in actions:
            keys = "  ".join(written(key) for key in keys_of(action, keymap)) or f":{action.name}"
            lines.append(_row(keys, action.help, Ink.STRONG))
        lines.append([])
    return lines + sign_lines()


def sign_lines() -> list[Line]:
    """Every sign that stands in a cell."""
    lines: list[Line] = [[("SIGNS", Ink.HEAD)]]
    lines += [_row(f"{look.glyph} {look.word}", look.meaning, look.ink) for look in (NORMAL, *HIGHLIGHTED, ODD)]
    lines.append([("  ", Ink.TEXT), *_severities()])
    lines.append(_row("0  ?  --  -", "zero, unknown, no fresh data, not measured", Ink.TEXT))
    lines.append(_row("▒ STALE", "not to be believed: too old, or not answered", Ink.STALE))
    lines += [[], [("TALLY", Ink.HEAD)]]
    lines += [
        [("  ", Ink.TEXT), (f" {glyph} {tally.value:<12}", ink)] for tally, (glyph, ink) in cells.TALLY_INKS.items()
    ]
    return lines


def _severities() -> Line:
    line: Line = []
    for severity, (glyph, word, ink) in cells.SEVERITIES.items():
        line += [(f"{glyph} {word} ", ink), (f"{severity.value}   ", Ink.TEXT)]
    return line


def _row(left: str, right: str, ink: Ink) -> Line:
    return [*fit([(f"  {left}", ink)], 22, ellipsis=True), (right, Ink.TEXT)]

"""What the keys do and what the signs mean."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen

from livedeck.ui.renderables import cells
from livedeck.ui.renderables.ink import Ink
from livedeck.ui.renderables.lines import Line
from livedeck.ui.renderables.status import HIGHLIGHTED, NORMAL, ODD
from livedeck.ui.widgets.frame import Lines

KEYS: tuple[tuple[str, str], ...] = (
    ("1  3", "Events, QoS of the selected event"),
    ("↑ ↓  k j", "previous, next event"),
    ("page up  page down", "a screenful"),
    ("home end", "first, last event"),
    ("enter", "from the table to the QoS of that event"),
    ("esc", "back"),
    ("+ -", "QoS: longer, shorter range"),
    ("[ ]", "QoS: previous, next event on air"),
    ("r", "ask the platform now"),
    ("?", "this help"),
    ("q  ctrl-c  ctrl-z", "quit, quit, suspend"),
)


class HelpScreen(ModalScreen[None]):
    """Any of its closing keys leads back to where it was opened."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,question_mark,enter,q", "dismiss", "close")]

    def compose(self) -> ComposeResult:
        with VerticalScroll():
            yield Lines(id="help")

    def on_mount(self) -> None:
        self.query_one("#help", Lines).show(help_lines())


def help_lines() -> list[Line]:
    """Two short tables: keys, signs."""
    lines: list[Line] = [[("KEYS", Ink.HEAD)], *[_row(key, what, Ink.STRONG) for key, what in KEYS], []]
    lines.append([("SIGNS", Ink.HEAD)])
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
    return [(f"  {left:<20}", ink), (right, Ink.TEXT)]

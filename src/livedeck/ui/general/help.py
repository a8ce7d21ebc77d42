"""What the keys do and what the signs mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen

from livedeck.presentation.badges import SEVERITY_BADGES, TALLY_BADGES
from livedeck.presentation.qos import HIGHLIGHTED, NORMAL, ODD
from livedeck.text.segments import Line, StyleRole, fit, wrap
from livedeck.ui.kit.lines import LinesWidget
from livedeck.ui.shell.action import ActionRegistry
from livedeck.ui.shell.keymap import key_text

MOST_CELLS, FRAME_CELLS = 74, 5

"""What the box takes at most, and of that its border, its padding and the scroll bar (app.tcss)."""


KEY_CELLS = 18


class HelpScreen(ModalScreen[None]):
    """Any of its closing keys leads back to where it was opened."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,question_mark,enter,q", "dismiss", "close")]

    def __init__(self, registry: ActionRegistry) -> None:
        super().__init__()
        self._registry = registry

    def compose(self) -> ComposeResult:
        with VerticalScroll():
            yield LinesWidget(id="help")

    def on_resize(self) -> None:
        self.query_one("#help", LinesWidget).show(
            help_lines(self._registry, min(MOST_CELLS, self.size.width) - FRAME_CELLS)
        )


def help_lines(registry: ActionRegistry, cells: int) -> list[Line]:
    """The keys in force by group, then the signs; nothing of it is wider than that."""
    lines: list[Line] = []
    for title, actions in registry.groups():
        lines.append([(title.upper(), StyleRole.HEAD)])
        for action in actions:
            keys = "  ".join(key_text(key) for key in registry.keys_of(action)) or f":{action.name}"
            lines += _rows(keys, action.help, StyleRole.STRONG, cells)
        lines.append([])
    return lines + sign_lines(cells)


def sign_lines(cells: int) -> list[Line]:
    """Every sign that stands in a cell of a table."""
    lines: list[Line] = [[("SIGNS", StyleRole.HEAD)]]
    for look in (NORMAL, *HIGHLIGHTED, ODD):
        lines += _rows(f"{look.glyph} {look.word}", look.meaning, look.role, cells)
    lines.append([("  ", StyleRole.TEXT), *_severities()])
    lines += _rows("0  ?  --  -", "zero, unknown, no fresh data, not measured", StyleRole.TEXT, cells)
    lines += _rows("▒ STALE", "not to be believed: too old, or not answered", StyleRole.STALE, cells)
    lines += [[], [("TALLY", StyleRole.HEAD)]]
    for tally, (glyph, _, role) in TALLY_BADGES.items():
        lines.append([("  ", StyleRole.TEXT), (f" {glyph} {tally.value:<13}", role)])
    return lines


def _severities() -> Line:
    line: Line = []
    for severity, (glyph, word, ink) in SEVERITY_BADGES.items():
        line += [(f"{glyph} {word} ", ink), (f"{severity.value}   ", StyleRole.TEXT)]
    return line


def _rows(left: str, right: str, ink: StyleRole, cells: int) -> list[Line]:
    text = wrap(right, StyleRole.TEXT, cells - KEY_CELLS)
    return [[*fit([("" if at else f"  {left}", ink)], KEY_CELLS, ellipsis=True), *row] for at, row in enumerate(text)]


Named = tuple[str, str]

"""A column by its name and its head."""


class ColumnsScreen(ModalScreen[tuple[str, ...] | None]):
    """Space takes a column out or in; enter gives the hidden ones, escape None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "close"),
        Binding("up,k", "move(-1)", "up"),
        Binding("down,j", "move(1)", "down"),
        Binding("space", "turn", "show or hide"),
        Binding("enter", "take", "take"),
    ]

    def __init__(self, columns: Sequence[Named], hidden: Sequence[str]) -> None:
        super().__init__()
        self._columns, self._hidden, self._at = columns, set(hidden), 0

    def compose(self) -> ComposeResult:
        with Vertical(id="command"):
            yield LinesWidget(id="columns")

    def on_mount(self) -> None:
        self._paint()

    def action_move(self, step: int) -> None:
        """Mark the next or the previous one."""
        self._at = (self._at + step) % len(self._columns)
        self._paint()

    def action_turn(self) -> None:
        """Hide the marked one, or show it again."""
        self._hidden ^= {self._columns[self._at][0]}
        self._paint()

    def action_take(self) -> None:
        """Done."""
        self.dismiss(tuple(name for name, _ in self._columns if name in self._hidden))

    def _paint(self) -> None:
        lines: list[Line] = [
            [(" Columns   space shows or hides, enter keeps; a narrow table drops some", StyleRole.HEAD)]
        ]
        for at, (name, head) in enumerate(self._columns):
            box = "[ ]" if name in self._hidden else "[x]"
            marked = at == self._at
            lines.append(
                [
                    ("> " if marked else "  ", StyleRole.STRONG),
                    (f"{box} {name:<9}", StyleRole.TEXT),
                    (head, StyleRole.DIM),
                ]
            )
        self.query_one("#columns", LinesWidget).show(lines)

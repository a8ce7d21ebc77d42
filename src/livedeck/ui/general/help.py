"""What the keys do and what the signs mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll

from livedeck.presentation.badges import LAMP_ROLES, SEVERITY_BADGES, TALLY_BADGES, severity_chip
from livedeck.presentation.qos import HIGHLIGHTED, NORMAL, ODD
from livedeck.text.segments import Line, StyleRole, fit, wrap
from livedeck.ui.kit.dialogs.modal import Modal
from livedeck.ui.kit.lines import LinesWidget
from livedeck.ui.shell.context import ActionRegistry
from livedeck.ui.shell.keymap import key_text

MAX_CELLS, FRAME_CELLS = 74, 5
"""The width of the box at most, and what border, padding and scroll bar take of it (app.tcss)."""

KEY_CELLS = 18


class HelpScreen(Modal[None]):
    """Any of its closing keys leads back to where it was opened."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,question_mark,enter,q", "dismiss", "close")]

    def __init__(self, registry: ActionRegistry) -> None:
        super().__init__()
        self._registry = registry

    def compose(self) -> ComposeResult:
        with VerticalScroll():
            yield LinesWidget(id="help")

    def on_resize(self) -> None:
        width = min(MAX_CELLS, self.size.width) - FRAME_CELLS
        self.query_one("#help", LinesWidget).show(help_lines(self._registry, width))


def help_lines(registry: ActionRegistry, width: int) -> list[Line]:
    """The keys in force by group, then the signs; no line is wider than that."""
    lines: list[Line] = []
    for title, actions in registry.groups():
        lines.append([(title.upper(), StyleRole.HEAD)])
        for action in actions:
            keys = "  ".join(key_text(key) for key in registry.keys_of(action)) or f":{action.name}"
            lines += _rows(keys, action.help, StyleRole.STRONG, width)
        lines.append([])
    return lines + sign_lines(width)


def sign_lines(width: int) -> list[Line]:
    """Every sign that stands in a cell of a table."""
    lines: list[Line] = [[("SIGNS", StyleRole.HEAD)]]
    for style in (NORMAL, *HIGHLIGHTED, ODD):
        lines += _rows(f"{style.glyph} {style.word}", style.meaning, style.role, width)
    lines.append([("  ", StyleRole.TEXT), *_severities()])
    lines += _rows("0  ?  --  -", "zero, unknown, no fresh data, not measured", StyleRole.TEXT, width)
    lines += _rows("▒ STALE", "not to be believed: too old, or not answered", StyleRole.STALE, width)
    lines += [[], [("TALLY", StyleRole.HEAD)]]
    for tally, (glyph, _, role) in TALLY_BADGES.items():
        lines.append([(f"   {glyph}", LAMP_ROLES.get(tally, StyleRole.DIM)), (f" {tally.value}", role)])
    return lines


def _severities() -> Line:
    line: Line = []
    for severity in SEVERITY_BADGES:
        line += [severity_chip(severity), (f" {severity.value}  ", StyleRole.TEXT)]
    return line


def _rows(left: str, right: str, role: StyleRole, width: int) -> list[Line]:
    rows = [*wrap(right, StyleRole.TEXT, width - KEY_CELLS)]
    lefts = [f"  {left}", *[""] * (len(rows) - 1)]
    return [[*fit([(text, role)], KEY_CELLS, ellipsis=True), *row] for text, row in zip(lefts, rows, strict=True)]


ColumnTitle = tuple[str, str]
"""The name of a column and its title."""


class ColumnsScreen(Modal[tuple[str, ...] | None]):
    """Space shows or hides a column; enter returns the hidden ones, escape None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "close"),
        Binding("up,k", "move(-1)", "up"),
        Binding("down,j", "move(1)", "down"),
        Binding("space", "toggle_column", "show or hide"),
        Binding("enter", "take", "take"),
    ]

    def __init__(self, columns: Sequence[ColumnTitle], hidden: Sequence[str]) -> None:
        super().__init__()
        self._columns, self._hidden, self._index = columns, set(hidden), 0

    def compose(self) -> ComposeResult:
        with Vertical(id="command"):
            yield LinesWidget(id="columns")

    def on_mount(self) -> None:
        self._paint()

    def action_move(self, step: int) -> None:
        """Mark the next or the previous column."""
        self._index = (self._index + step) % len(self._columns)
        self._paint()

    def action_toggle_column(self) -> None:
        """Hide the marked column, or show it again."""
        self._hidden ^= {self._columns[self._index][0]}
        self._paint()

    def action_take(self) -> None:
        """Return the hidden columns in the order of the table."""
        self.dismiss(tuple(name for name, _ in self._columns if name in self._hidden))

    def _paint(self) -> None:
        lines: list[Line] = [
            [(" Columns   space shows or hides, enter keeps; a narrow table drops some", StyleRole.HEAD)]
        ]
        for index, (name, title) in enumerate(self._columns):
            cursor = "> " if index == self._index else "  "
            box = "[ ]" if name in self._hidden else "[x]"
            lines.append([(cursor, StyleRole.STRONG), (f"{box} {name:<9}", StyleRole.TEXT), (title, StyleRole.DIM)])
        self.query_one("#columns", LinesWidget).show(lines)

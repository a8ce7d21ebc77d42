"""Help screen with a search for keys and signs. The keys of the current screen are first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll

from livedeck.presentation.badges import LAMP_ROLES, SEVERITY_BADGES, TALLY_BADGES, severity_chip
from livedeck.presentation.qos import HIGHLIGHTED, NORMAL, ODD
from livedeck.text.segments import Line, Role, Segment, ShadedLine, StyleRole, cell_len, fit, linked, wrap
from livedeck.ui.kit.canvas import StyledWidget
from livedeck.ui.kit.dialogs.modal import Modal
from livedeck.ui.kit.lines import LinesWidget
from livedeck.ui.kit.text_field import TextField
from livedeck.ui.shell import commands
from livedeck.ui.shell.context import Action, ActionRegistry
from livedeck.ui.shell.keymap import key_text

FRAME_CELLS = 5
"""Width in cells of the frame, a blank and the scroll bar together (dialogs.tcss)."""

COLUMN_CELLS, CAP_CELLS, GAP = 37, 11, 1
"""Widths in cells: minimum width of a column, width of a key's cap, gap between two columns."""

Block = Sequence[ShadedLine]
"""Heading with its lines. A block is never split between columns."""


class HelpScreen(Modal[str | None]):
    """Help with a search for keys. A click on a key that works here returns the name of its action."""

    CLOSES_OUTSIDE = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "close"),
        Binding("up", "scroll(-1)", "up"),
        Binding("down", "scroll(1)", "down"),
        Binding("pageup", "page(-1)", "page up"),
        Binding("pagedown", "page(1)", "page down"),
    ]

    def __init__(self, registry: ActionRegistry, mode: str, title: str) -> None:
        super().__init__()
        self._registry, self._mode, self._title = registry, mode, title

    def compose(self) -> ComposeResult:
        with Vertical(id="help-box"):
            with Horizontal(id="search"):
                yield TextField(placeholder="type to search")
                yield LinesWidget(id="found")
            with VerticalScroll(can_focus=False):
                yield LinesWidget(id="help")

    def on_mount(self) -> None:
        self.query_one("#help-box").border_title = f"Help: {self._title}"
        self.query_one(TextField).focus()

    def on_resize(self) -> None:
        self._paint()

    def on_input_changed(self) -> None:
        if "?" in self.query_one(TextField).text:  # the key that opened the help also closes it
            self.dismiss(None)
            return
        self._paint()
        self.query_one(VerticalScroll).scroll_home(animate=False)

    def on_input_submitted(self) -> None:
        self.dismiss(None)

    def on_styled_widget_followed(self, message: StyledWidget.Followed) -> None:
        """Close the help and run the clicked action."""
        message.stop()
        self.dismiss(message.link.command)

    def action_scroll(self, step: int) -> None:
        self.query_one(VerticalScroll).scroll_relative(y=step, animate=False)

    def action_page(self, direction: int) -> None:
        scroll = self.query_one(VerticalScroll)
        scroll.scroll_relative(y=direction * max(1, scroll.size.height - 1), animate=False)

    def _paint(self) -> None:
        text, width = self.query_one(TextField).text.strip(), self.size.width - FRAME_CELLS
        matches = commands.search(self._registry, text, self._mode)
        count = f"{len(matches)} of {len(self._registry.actions)} keys" if text else "the keys of this screen first"
        self.query_one("#found", LinesWidget).show([[(f" {count}; esc closes", StyleRole.DIM)]])
        signs = () if text else tuple(SIGNS)
        self.query_one("#help", LinesWidget).show(help_lines(self._registry, self._mode, matches, width, signs))


def _columns(width: int) -> int:
    return max(1, (width + GAP) // (COLUMN_CELLS + GAP))


def _column_cells(width: int) -> int:
    columns = _columns(width)
    return (width - GAP * (columns - 1)) // columns


def help_lines(
    registry: ActionRegistry, mode: str, actions: Iterable[Action], width: int, signs: Iterable[str] = ()
) -> list[ShadedLine]:
    """Return lines of `width` cells with the keys of `actions`.

    Order: keys of the screen `mode`, keys that work on every screen, the `signs`, keys of other screens. `signs`: keys
    of SIGNS.
    """
    wanted, cells = {action.name for action in actions}, _column_cells(width)
    groups = [(title, [action for action in group if action.name in wanted]) for title, group in registry.groups()]
    sections: list[tuple[str, list[Block]]] = []
    for heading, belongs in (
        ("On this screen", lambda action: action.screens and action.works_on(mode)),
        ("On every screen", lambda action: not action.screens),
        ("On other screens", lambda action: not action.works_on(mode)),
    ):
        own = [(title, [action for action in group if belongs(action)]) for title, group in groups]
        sections.append((heading, [_key_block(registry, mode, *group, cells) for group in own if group[1]]))
    sections.insert(2, ("Signs", [_sign_block(title, cells) for title in signs]))
    lines: list[ShadedLine] = []
    for heading, blocks in sections:
        if blocks:
            lines += [
                *([[]] if lines else []),
                [(f" {heading}".ljust(width), StyleRole.RAISED)],
                *_in_columns(blocks, width),
            ]
    return lines or [[("No key found; esc closes", StyleRole.TEXT)]]


def _key_block(registry: ActionRegistry, mode: str, title: str, actions: Iterable[Action], cells: int) -> Block:
    return [[(title.upper(), StyleRole.INFO)], *(row for a in actions for row in _key_rows(registry, a, mode, cells))]


def _key_rows(registry: ActionRegistry, action: Action, mode: str, cells: int) -> list[ShadedLine]:
    keys = " ".join(key_text(key) for key in registry.keys_of(action)) or f":{action.verb}"
    rows = _rows([(keys, StyleRole.TAB)], action.help, cells)
    return [linked(row, action.name) for row in rows] if action.works_on(mode) else [*rows]


def _statuses() -> Iterable[tuple[Line, str]]:
    for style in (NORMAL, *HIGHLIGHTED, ODD):
        yield [(f"{style.glyph} {style.word}", style.role)], style.meaning


def _tallies() -> Iterable[tuple[Line, str]]:
    for tally, (glyph, word, role) in TALLY_BADGES.items():
        yield [(f"{glyph} ", LAMP_ROLES.get(tally, StyleRole.DIM)), (word, role)], tally.value.capitalize()


def _severities() -> Iterable[tuple[Line, str]]:
    for severity in SEVERITY_BADGES:
        yield [severity_chip(severity)], severity.value.capitalize()


def _cells() -> Iterable[tuple[Line, str]]:
    yield [("0 ? -- -", StyleRole.TEXT)], "Zero, unknown, no fresh data, nothing to measure"
    yield [("·", StyleRole.DIM)], "Not requested yet"
    yield [("▒ STALE", StyleRole.STALE)], "Do not trust: too old, or no response"


SIGNS = {"Tally": _tallies, "Alarms": _severities, "QoS status": _statuses, "Cells": _cells}
"""Heading -> function that yields the signs under the heading, in their colours, each with its meaning."""


def _sign_block(title: str, cells: int) -> Block:
    rows = (row for cap, words in SIGNS[title]() for row in _rows(cap, words, cells))
    return [[(title.upper(), StyleRole.INFO)], *rows]


def _rows(cap: Sequence[Segment], words: str, cells: int) -> list[ShadedLine]:
    """Return the lines of a key's cap (or a sign) and its meaning.

    The meaning is beside the cap, or under a wide cap.
    """
    texts = [*wrap(words, StyleRole.TEXT, cells - CAP_CELLS - 1)]
    length = sum(cell_len(text) for text, _ in cap)
    role = cap[0][1]
    ground = role if role is StyleRole.TAB else StyleRole.TEXT
    if length > CAP_CELLS:
        return [cap, *([(" " * (CAP_CELLS + 1), StyleRole.TEXT), *text] for text in texts)]
    before = (CAP_CELLS - length) // 2
    first: list[tuple[str, Role]] = [(" " * before, ground), *cap, (" " * (CAP_CELLS - length - before), ground)]
    rest: list[tuple[str, Role]] = [(" " * CAP_CELLS, StyleRole.TEXT)]
    return [[*(first if not index else rest), (" ", StyleRole.TEXT), *text] for index, text in enumerate(texts)]


def _in_columns(blocks: Sequence[Block], width: int) -> Iterable[ShadedLine]:
    """Yield lines with the blocks in columns of minimum height. Each column is filled from the top."""
    count, cells = _columns(width), _column_cells(width)
    total = sum(len(block) + 1 for block in blocks)
    height = next(height for height in range(total // count, total + 1) if len(_fill(blocks, height)) <= count)
    columns = _fill(blocks, height)
    for row in range(max(map(len, columns))):
        parts = [fit(column[row] if row < len(column) else [], cells, ellipsis=True) for column in columns]
        yield [segment for part in parts for segment in (*part, (" " * GAP, StyleRole.TEXT))][:-1]


def _fill(blocks: Sequence[Block], height: int) -> list[list[ShadedLine]]:
    """Distribute the blocks over columns of at most `height` lines. A longer block has a column of its own."""
    columns: list[list[ShadedLine]] = []
    for block in blocks:
        if columns and len(columns[-1]) + 1 + len(block) <= height:
            columns[-1] += [[], *block]
        else:
            columns.append([*block])
    return columns

"""Help: a page of the keys that work here and of the signs, and a search in all keys."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar, NamedTuple

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

FRAME_CELLS, FRAME_LINES = 5, 3
"""Width in cells of the frame, a blank and the scroll bar together (dialogs.tcss); height of the frame and the search.
"""

COLUMN_CELLS, SENTENCE_CELLS, CAP_CELLS, GAP = 26, 37, 11, 1
"""Widths in cells: minimum width of a column of words and of one of sentences, width of a key's cap, gap between two
columns."""

Block = Sequence[ShadedLine]
"""Heading with its lines."""


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

    def __init__(self, registry: ActionRegistry, mode: str, title: str, *, is_probing: bool = False) -> None:
        super().__init__()
        self._registry, self._mode, self._title, self._is_probing = registry, mode, title, is_probing

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
        total = len(self._registry.actions)
        count = f"{len(matches)} of {total} keys" if text else f"{total} keys"
        self.query_one("#found", LinesWidget).show([[(f" {count}; esc closes", StyleRole.DIM)]])
        lines = (
            found_lines(self._registry, self._mode, matches, width)
            if text
            else page_lines(
                self._registry, self._mode, width, self.size.height - FRAME_LINES, is_probing=self._is_probing
            )
        )
        self.query_one("#help", LinesWidget).show(lines)


def page_lines(
    registry: ActionRegistry, mode: str, width: int, height: int, *, is_probing: bool = False
) -> list[ShadedLine]:
    """Return lines of `width` cells: keys of the screen `mode`, keys of every screen, signs.

    Each key has two or three words. Actions without a key are omitted, because only a search finds them. A page that
    would be higher than `height` splits groups of keys between two columns. `is_probing`: a probe runs, so include the
    key of the Viewers screen.
    """
    whole = _page(registry, mode, width, is_probing=is_probing, least_split=0)
    if len(whole) <= height:
        return whole
    return _page(registry, mode, width, is_probing=is_probing, least_split=MIN_SPLIT)


def _page(registry: ActionRegistry, mode: str, width: int, *, is_probing: bool, least_split: int) -> list[ShadedLine]:
    columns, wide = _Columns.of(width, COLUMN_CELLS), _Columns.of(width, SENTENCE_CELLS)
    absent = {tab.action_name for tab in registry.tabs if tab.is_of_probe and not is_probing}
    keyed = [
        action
        for action in registry.actions
        if registry.keys_of(action) and action.works_on(mode) and action.name not in absent
    ]
    lines: list[ShadedLine] = []
    for heading, actions in _by_place(keyed, mode):
        blocks = _blocks(registry, actions, mode, columns.cells, sentences=False)
        lines += _section(heading, blocks, width, columns, least_split=least_split)
    return [*lines, *_section("Signs", [_sign_block(title, wide.cells) for title in SIGNS], width, wide)]


def found_lines(registry: ActionRegistry, mode: str, actions: Iterable[Action], width: int) -> list[ShadedLine]:
    """Return lines of `width` cells with a sentence for each of the actions, those of the screen `mode` first."""
    columns, lines = _Columns.of(width, SENTENCE_CELLS), list[ShadedLine]()
    for heading, found in _by_place([*actions], mode):
        lines += _section(heading, _blocks(registry, found, mode, columns.cells, sentences=True), width, columns)
    return lines or [[("No key found; esc closes", StyleRole.TEXT)]]


def _by_place(actions: Sequence[Action], mode: str) -> Iterable[tuple[str, list[Action]]]:
    """Yield the headings for this screen, for every screen and for other screens, each with its actions."""
    yield "On this screen", [action for action in actions if action.screens and action.works_on(mode)]
    yield "On every screen", [action for action in actions if not action.screens]
    yield "On other screens", [action for action in actions if not action.works_on(mode)]


class _Columns(NamedTuple):
    """Columns of a page: their number, and the width of each in cells."""

    number: int
    cells: int

    @classmethod
    def of(cls, width: int, least: int) -> _Columns:
        """Return as many columns of at least `least` cells as fit."""
        number = max(1, (width + GAP) // (least + GAP))
        return cls(number, (width - GAP * (number - 1)) // number)


def _blocks(
    registry: ActionRegistry, actions: Iterable[Action], mode: str, cells: int, *, sentences: bool
) -> list[Block]:
    """Return a block for each heading that has actions. `sentences`: show an action's help instead of its label."""
    names = {action.name for action in actions}
    groups = [(title, [action for action in group if action.name in names]) for title, group in registry.groups()]
    return [
        [
            [(title.upper(), StyleRole.INFO)],
            *(row for action in group for row in _key_rows(registry, action, mode, cells, sentences=sentences)),
        ]
        for title, group in groups
        if group
    ]


MIN_SPLIT = 3
"""Minimum number of rows in each part of a block that is split between two columns."""


def _section(
    heading: str, blocks: Sequence[Block], width: int, columns: _Columns, *, least_split: int = 0
) -> list[ShadedLine]:
    """Return the blocks under their heading; nothing without blocks.

    `least_split`: minimum number of rows of a block in a column; 0 if a block is never split.
    """
    head: ShadedLine = [(f" {heading}".ljust(width), StyleRole.RAISED)]
    return [head, *_in_columns(blocks, columns, least_split)] if blocks else []


def _key_rows(registry: ActionRegistry, action: Action, mode: str, cells: int, *, sentences: bool) -> list[ShadedLine]:
    keys = " ".join(key_text(key) for key in registry.keys_of(action)) or f":{action.verb}"
    rows = _rows([(keys, StyleRole.TAB)], action.help if sentences else action.label, cells)
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
    yield [('"', StyleRole.DIM)], "Somebody wrote a note"


def _cells() -> Iterable[tuple[Line, str]]:
    yield [("0 ? -- -", StyleRole.TEXT)], "Zero, unknown, old, none"
    yield [("·", StyleRole.DIM)], "Not requested yet"
    yield [("▒ STALE", StyleRole.STALE)], "Too old to be trusted"


SIGNS = {"Tally": _tallies, "QoS status": _statuses, "Alarms": _severities, "Cells": _cells}
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


def _in_columns(blocks: Sequence[Block], columns: _Columns, least_split: int) -> Iterable[ShadedLine]:
    """Yield lines with the blocks in columns of minimum height. Each column is filled from the top."""
    count, cells = columns
    total = sum(len(block) + 1 for block in blocks)
    height = next(
        height
        for height in range(max(2, total // count), total + 1)
        if len(_fill(blocks, height, least_split)) <= count
    )
    filled = _fill(blocks, height, least_split)
    for row in range(max(map(len, filled))):
        parts = [fit(column[row] if row < len(column) else [], cells, ellipsis=True) for column in filled]
        yield [segment for part in parts for segment in (*part, (" " * GAP, StyleRole.TEXT))][:-1]


def _fill(blocks: Sequence[Block], height: int, least_split: int) -> list[list[ShadedLine]]:
    """Distribute the blocks over columns of at most `height` lines.

    A block that does not fit begins the next column. A block that may be split fills its column first; its other rows
    begin the next column under the same heading. A block that is longer than a column and may not be split gets its own
    column.
    """
    columns: list[list[ShadedLine]] = [[]]
    for head, *rows in blocks:
        left = rows
        while left:
            column = columns[-1]
            room = height - len(column) - bool(column) - 1
            whole = len(left) <= room or not (column or least_split)
            if not whole and (room < least_split or not least_split) and column:
                columns.append([])
                continue
            part = left if whole else left[: max(1, room)]
            column += [*([[]] if column else []), head, *part]
            left = left[len(part) :]
    return columns

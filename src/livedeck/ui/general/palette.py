"""Command line and palette: a list of all actions, with completion or search."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from livedeck.text.segments import Line, ShadedLine, StyleRole, fit, linked, shorten, width
from livedeck.ui.kit.canvas import StyledWidget
from livedeck.ui.kit.dialogs.modal import Modal
from livedeck.ui.kit.lines import LinesWidget
from livedeck.ui.kit.text_field import TextField
from livedeck.ui.shell import commands
from livedeck.ui.shell.context import Action, ActionRegistry
from livedeck.ui.shell.keymap import key_text

Command = tuple[str, str]
"""Name of an action and its argument."""

MAX_ROWS, KEY_CELLS = 8, 11
"""Maximum number of visible actions, and the width in cells of the column with their keys."""


class CommandScreen(Modal[Command | None]):
    """Input line with the matching actions.

    With `search`, typed words find actions and enter runs the marked action. Without it, the person types a whole
    command.
    """

    TAKES_TYPED_AHEAD = True
    CLOSES_OUTSIDE = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "close"),
        Binding("up", "move(-1)", "up", priority=True),
        Binding("down", "move(1)", "down", priority=True),
        Binding("tab", "complete", "complete", priority=True),
    ]

    def __init__(
        self, mode: str, registry: ActionRegistry, *, read_only: bool, typed: str = "", search: bool = False
    ) -> None:
        super().__init__()
        self._mode, self._registry, self._read_only = mode, registry, read_only
        self._typed, self._search = typed, search
        self._matches: list[Action] = []
        self._index = 0

    def compose(self) -> ComposeResult:
        with Vertical(id="command"):
            yield LinesWidget(id="matches")
            yield LinesWidget(id="error")
            hint = "search all actions" if self._search else "a command; tab completes it"
            yield TextField(self._typed, placeholder=hint)

    def on_mount(self) -> None:
        self.query_one("#error").display = False
        self.query_one(TextField).focus()
        self._find()

    def on_resize(self) -> None:
        self._paint()

    def on_input_changed(self) -> None:
        self._index = 0
        self.query_one("#error", LinesWidget).show([])
        self._find()

    def on_input_submitted(self) -> None:
        text = self.query_one(TextField).text.strip()
        if self._search:
            self.dismiss((self._matches[self._index].name, "") if self._matches else None)
            return
        if not text.removeprefix(":"):
            self.dismiss(None)
            return
        try:
            action, argument = commands.parse(self._registry, text, self._mode)
        except commands.CommandError as error:
            self.query_one("#error", LinesWidget).show([[(f" ▲ {error}", StyleRole.WARNING)]])
            return
        self.dismiss((action.name, argument))

    def on_styled_widget_followed(self, message: StyledWidget.Followed) -> None:
        """Close the dialog with the clicked action as its result."""
        message.stop()
        self.dismiss((message.link.command, ""))

    def action_move(self, step: int) -> None:
        """Mark the next or the previous action."""
        if self._matches:
            self._index = (self._index + step) % len(self._matches)
            self._paint()

    def action_complete(self) -> None:
        """Put the name of the marked action into the line."""
        if self._matches:
            action, line = self._matches[self._index], self.query_one(TextField)
            line.value = action.name + (" " if action.takes else "")
            line.cursor_position = len(line.value)

    def _find(self) -> None:
        find = commands.search if self._search else commands.completions
        self._matches = find(self._registry, self.query_one(TextField).text, self._mode)
        self._paint()

    def _paint(self) -> None:
        first = max(0, self._index - MAX_ROWS + 1)
        actions = self._matches[first : first + MAX_ROWS]
        rows = [self._row(action, marked=index == self._index) for index, action in enumerate(actions, first)]
        hidden = len(self._matches) - first - len(rows)
        rows += [[(f"   {hidden} more", StyleRole.DIM)]] if hidden > 0 else []
        self.query_one("#matches", LinesWidget).show(rows)

    def _row(self, action: Action, *, marked: bool) -> ShadedLine:
        disabled = self._read_only and action.writes
        role = StyleRole.DIM if disabled else StyleRole.STRONG if marked else StyleRole.TEXT
        key = next((key_text(key) for key in self._registry.keys_of(action)), "")
        command = f":{action.name}{f' {action.takes}' if action.takes else ''}"
        before: Line = [
            ("> " if marked else "  ", StyleRole.STRONG),
            *fit([(command, role)], 26, ellipsis=True),
            *fit([(f" {key}", StyleRole.DIM)], KEY_CELLS, ellipsis=True),
            *fit([(" RO" if disabled else "", StyleRole.DIM)], 4 if self._read_only else 1),
        ]
        words = shorten(action.help, self.size.width - width(before))
        return linked([*before, (words, StyleRole.DIM if disabled else StyleRole.TEXT)], action.name)

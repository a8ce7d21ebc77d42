"""The command line and the palette: one list of everything that can be done, completed or searched."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input

from livedeck.text.segments import Line, StyleRole, fit
from livedeck.ui.kit.lines import LinesWidget
from livedeck.ui.shell import commands
from livedeck.ui.shell.action import Action, ActionRegistry
from livedeck.ui.shell.keymap import key_text

Picked = tuple[str, str]

"""The name of an action and what stands after its command."""


LISTED, KEY_CELLS = 8, 11


class CommandScreen(ModalScreen[Picked | None]):
    """`search`: by words, enter takes the marked one. Else by name, and only a whole command is taken."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "close"),
        Binding("up", "move(-1)", "up", priority=True),
        Binding("down", "move(1)", "down", priority=True),
        Binding("tab", "complete", "complete", priority=True),
    ]

    def __init__(
        self, mode: str, *, registry: ActionRegistry, read_only: bool, typed: str = "", search: bool = False
    ) -> None:
        super().__init__()
        self._mode, self._registry, self._read_only = mode, registry, read_only
        self._typed, self._search = typed, search
        self._found: list[Action] = []
        self._at = 0

    def compose(self) -> ComposeResult:
        with Vertical(id="command"):
            yield LinesWidget(id="found")
            yield LinesWidget(id="said")
            asks = "search what can be done" if self._search else "a command; tab completes it"
            line = Input(self._typed, compact=True, placeholder=asks)
            line.cursor_blink = False
            yield line

    def on_mount(self) -> None:
        self.query_one("#said").display = False
        self.query_one(Input).focus()
        self._look()

    def on_input_changed(self) -> None:
        self._at = 0
        self.query_one("#said", LinesWidget).show([])
        self._look()

    def on_input_submitted(self) -> None:
        text = self.query_one(Input).value.strip()
        if self._search:
            self.dismiss((self._found[self._at].name, "") if self._found else None)
            return
        if not text.removeprefix(":"):
            self.dismiss(None)
            return
        try:
            action, argument = commands.parse(self._registry, text, self._mode)
        except commands.CommandError as error:
            self.query_one("#said", LinesWidget).show([[(f" ▲ {error}", StyleRole.WARNING)]])
            return
        self.dismiss((action.name, argument))

    def action_move(self, step: int) -> None:
        """Mark the next or the previous one."""
        if self._found:
            self._at = (self._at + step) % len(self._found)
            self._paint()

    def action_complete(self) -> None:
        """Take the marked one's name into the line."""
        if self._found:
            line = self.query_one(Input)
            line.value = self._found[self._at].name + (" " if self._found[self._at].takes else "")
            line.cursor_position = len(line.value)

    def _look(self) -> None:
        text = self.query_one(Input).value
        find = commands.search if self._search else commands.completions
        self._found = find(self._registry, text, self._mode)
        self._paint()

    def _paint(self) -> None:
        first = max(0, self._at - LISTED + 1)
        rows = [self._row(one, marked=first + at == self._at) for at, one in enumerate(self._found[first:][:LISTED])]
        more = len(self._found) - first - len(rows)
        rows += [[(f"   {more} more", StyleRole.DIM)]] if more > 0 else []
        self.query_one("#found", LinesWidget).show(rows)

    def _row(self, action: Action, *, marked: bool) -> Line:
        refused = self._read_only and action.writes
        ink = StyleRole.DIM if refused else StyleRole.STRONG if marked else StyleRole.TEXT
        key = next((key_text(key) for key in self._registry.keys_of(action)), "")
        command = f":{action.name}{f' {action.takes}' if action.takes else ''}"
        return [
            ("> " if marked else "  ", StyleRole.STRONG),
            *fit([(command, ink)], 26, ellipsis=True),
            *fit([(f" {key}", StyleRole.DIM)], KEY_CELLS, ellipsis=True),
            *fit([(" RO" if refused else "", StyleRole.DIM)], 4 if self._read_only else 1),
            (action.help, StyleRole.DIM if refused else StyleRole.TEXT),
        ]

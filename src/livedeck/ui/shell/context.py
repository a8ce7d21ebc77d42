"""What screens and actions may use of the deck: the app implements it, and they import nothing of the app."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypedDict, TypeVar

from textual.screen import Screen
from textual.signal import Signal
from textual.worker import Worker

from livedeck.client import Api
from livedeck.monitor import Clock, EventState, History, Monitor, Severity, Snapshot
from livedeck.presentation.render_time import RenderTime
from livedeck.ui.shell.action import ActionRegistry
from livedeck.ui.shell.preferences import Displayed, ViewState

if TYPE_CHECKING:
    from livedeck.ui.shell.confirmer import Confirmer

R = TypeVar("R")
S = TypeVar("S")
ScreenType = TypeVar("ScreenType", bound=Screen[Any])


Opener = Callable[[Path], Awaitable[str]]
"""Has a file shown by the program that this machine has for it; returns why it cannot, or nothing."""


class Identity(TypedDict):
    """What the header says of the deck itself. `zone`: of the local clock, None for the machine's."""

    profile: str
    host: str
    read_only: bool
    zone: tzinfo | None


class Context(Protocol):
    """The deck as features see it.

    `snapshot`: the newest one, None before the first. `snapshot_signal`: published after each snapshot, each second,
    and when what is selected, held still or said changed. `api`: None where nothing is ever written. `history`: None
    where none is kept. `fault`: why the monitor ended, empty while it runs. `downloads`: where files go that name no
    folder.
    """

    actions: ActionRegistry
    api: Api | None
    clock: Clock
    downloads: Path
    fault: str
    history: History | None
    identity: Identity
    monitor: Monitor
    opener: Opener | None
    preferences: ViewState
    snapshot: Snapshot | None
    snapshot_signal: Signal[None]

    @property
    def confirmer(self) -> Confirmer:
        """Where operations are confirmed and run."""

    @property
    def theme(self) -> str:
        """The name of the theme in force."""

    @property
    def current_mode(self) -> str:
        """The mode of the screen that is shown, or lies behind a dialog."""

    @property
    def screen(self) -> Screen[Any]:
        """The screen or dialog in front."""

    @property
    def screen_stack(self) -> Sequence[Screen[Any]]:
        """The screen of this mode and the dialogs over it, the one in front last."""

    def screen_of(self, kind: type[ScreenType]) -> ScreenType:
        """The screen in front, which is of that kind: an action works only where its `screens` say so."""

    def render_time(self) -> RenderTime | None:
        """The instant to paint for, one for all that is painted between two ticks; None before the first snapshot."""

    def displayed(self) -> Displayed | None:
        """What the bodies of the screens show: the newest there is, or what the operator holds still."""

    def selected_event(self) -> EventState | None:
        """The selected event as it is displayed; the first one until the operator chooses. None: it is gone."""

    def select_event(self, event_id: str | None) -> None:
        """Select an event for every screen; None follows the first one again."""

    def reconcile_selection(self, rows: Sequence[EventState]) -> None:
        """A table shows these rows: an event that is not among them stays selected no longer."""

    def watch_event(self, event_id: str | None) -> None:
        """Have that event's quality polled most often; None: no event's more than the others'."""

    def go_to(self, mode: str) -> None:
        """Show the screen of that mode."""

    def dispatch(self, name: str, argument: str = "") -> None:
        """Carry out the action of that name, or say why it cannot be done now."""

    def announce(self, text: str, severity: Severity = Severity.INFO) -> None:
        """Say that above the keys, and keep it among the notices. (Textual's own `notify` draws a toast.)"""

    def copy(self, text: str, what: str) -> None:
        """Copy to the clipboard of the terminal's machine; what is too long for it goes to a file."""

    async def ask(self, dialog: Screen[R]) -> R:
        """Show a dialog over whatever is there and wait for its result; only from a worker."""

    def open(self, dialog: Screen[R], then: Callable[[R | None], None] | None = None) -> None:
        """Show a dialog; its result goes to `then`."""

    def start(self, work: Awaitable[None], name: str) -> Worker[None]:
        """Run that in a worker of its own; errors are its own affair."""

    def state(self, make: Callable[[Context], S]) -> S:
        """What a feature keeps for as long as the deck runs: made at the first call with that function."""

    def set_theme(self, name: str) -> bool:
        """Draw in that theme and keep it. Returns False, and does nothing, where the terminal is to have no colour."""

    def suspend_process(self) -> None:
        """Hand the terminal back to the shell until `fg`."""

    def leave(self) -> None:
        """End the deck; the terminal is left as it was found."""

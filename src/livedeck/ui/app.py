"""The deck: its screens, its global keys, and the one road by which snapshots reach them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from datetime import tzinfo
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, TypedDict, TypeVar

import structlog
from rich.text import Text
from textual.app import App
from textual.binding import BindingType
from textual.filter import LineFilter
from textual.screen import Screen
from textual.signal import Signal

from livedeck.client import Api
from livedeck.monitor import Clock, EventState, History, Monitor, NotificationRecord, Severity, Snapshot
from livedeck.presentation.render_time import RenderTime
from livedeck.ui import features
from livedeck.ui.chat.jobs import Exports, Opener
from livedeck.ui.events.screen import EventsScreen
from livedeck.ui.features import handler
from livedeck.ui.kit import themes
from livedeck.ui.kit.terminal import Ascii, ExactApp, Plain, osc52
from livedeck.ui.registry import BY_NAME, Action
from livedeck.ui.shell import keymap as bindings
from livedeck.ui.shell.availability import disabled_reason
from livedeck.ui.shell.desk import Desk
from livedeck.ui.shell.keymap import Keymap
from livedeck.ui.shell.preferences import PreferencesStore, ViewState
from livedeck.ui.shell.screen import TALL, DeckScreen
from livedeck.ui.videos.library import MaterialCache, ResourceCache

log = structlog.get_logger()


ScreenType = TypeVar("ScreenType", bound=Screen[Any])


def _import_the_rest() -> None:
    """Everything that the next pictures will need, while the first one is looked at."""
    features.import_all()
    import_module("livedeck.operations.executor")
    import_module("livedeck.ui.kit.dialogs.form")


class Identity(TypedDict):
    """What the header says of the deck itself."""

    profile: str
    host: str
    read_only: bool
    zone: tzinfo | None


class Deck(ExactApp):
    """Shows what a monitor says. It is given everything and constructs nothing.

    `zone`: of the local clock in the header, None for the machine's. `log_file`: named when the deck has to give up.
    `api`: where writes go, by the one road for them; None: nothing is ever written. `history`: what was, and where
    marks and actions are kept. `keymap`: see `actions.keymap`. `theme`: a name of `themes.PALETTES`, or AUTO. `keep`:
    where the arrangement outlives the deck. `multiplexer`: `tmux` or `screen` where the terminal is one. `downloads`:
    where files go that name no folder. `opener`: shows a file by the program that this machine has for it.
    """

    CSS_PATH = "app.tcss"
    TITLE = "livedeck"
    ENABLE_COMMAND_PALETTE = False
    VERTICAL_BREAKPOINTS: list[tuple[int, str]] | None = [(0, "-low"), (TALL, "-tall")]  # noqa: RUF012  as Textual has it
    MODES: ClassVar[dict[str, Any]] = {"events": EventsScreen, **features.LATER}
    DEFAULT_MODE = "events"
    BINDINGS: ClassVar[list[BindingType]] = bindings.everywhere()

    def __init__(
        self,
        monitor: Monitor,
        clock: Clock,
        *,
        profile: str,
        host: str,
        read_only: bool,
        zone: tzinfo | None = None,
        log_file: Path | None = None,
        api: Api | None = None,
        history: History | None = None,
        keymap: Keymap | None = None,
        keep: PreferencesStore | None = None,
        multiplexer: str = "",
        downloads: Path = Path(),
        opener: Opener | None = None,
        theme: str = themes.AUTO,
        ascii_only: bool = False,
    ) -> None:
        super().__init__()
        for each in themes.textual():
            self.register_theme(each)
        self.arrangement = ViewState(keep)
        wanted = self.arrangement.theme if theme == themes.AUTO else theme
        self.theme = themes.fitting(wanted, no_color=self.no_color, colours=self.console.color_system)
        self._filters_of_ours = (Plain(), Ascii(enabled=ascii_only))
        self.monitor, self.api, self.history = monitor, api, history
        self.read_only, self.keymap = read_only, keymap or {}
        self.set_keymap(bindings.textual(self.keymap))
        self.identity: Identity = {"profile": profile, "host": host, "read_only": read_only, "zone": zone}
        self.snapshot: Snapshot | None = None
        self.fault = ""
        self.news: Signal[None] = Signal(self, "news")
        self.clock, self._log_file = clock, log_file
        self.desk = Desk(self, history)
        self.library = ResourceCache(api, MaterialCache(history, clock), clock)
        self.exports, self.downloads, self.opener = Exports(self), downloads, opener
        self._chosen: str | None = None
        self._following = self._lit = True
        self._begun: float | None = None
        self._painted: RenderTime | None = None
        self._known: tuple[Snapshot, dict[str, EventState]] | None = None
        self._attended: str | None = None
        self._multiplexer = multiplexer

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Textual's, then ours: no colour code in a theme without colour, only ASCII where that is asked."""
        plain, characters = self._filters_of_ours
        plain.enabled = themes.PALETTES[self.theme].plain
        return [*super().get_line_filters(), *(each for each in (plain, characters) if each.enabled)]

    def on_mount(self) -> None:
        self.run_worker(self._watch(), name="monitor", exit_on_error=False)
        self.set_interval(0.5, self._tick)
        self.app_resume_signal.subscribe(self, self._repaint_all)

    async def _watch(self) -> None:
        """Publish each snapshot. Should the monitor ever end, the screen says so: frozen is not fine."""
        try:
            async for snapshot in self.monitor.snapshots():
                self.snapshot, self._painted = snapshot, None
                self.news.publish(None)
                if snapshot.seq == 1:  # the first that a round of answers is in
                    self.run_worker(asyncio.to_thread(_import_the_rest), exit_on_error=False)
        except Exception as error:
            log.exception("the monitor stopped")
            self.fault = f"{type(error).__name__}; see {self._log_file or 'the log'}"
            self.news.publish(None)

    def _repaint_all(self, _: App[int]) -> None:
        """Back from a suspension: the terminal has forgotten every line."""
        for widget in self.screen.walk_children():
            widget.refresh()
        self.screen.refresh(layout=True)

    def _tick(self) -> None:
        """Each second everything that is a matter of time; half a second later what blinks (1 Hz)."""
        self._begun = self.clock.monotonic() if self._begun is None else self._begun
        self._lit = round((self.clock.monotonic() - self._begun) * 2) % 2 == 0
        if self._lit:
            self._painted = None
            self.news.publish(None)
        elif isinstance(self.screen, DeckScreen):
            self.screen.blink()

    def moment(self) -> RenderTime | None:
        """The instant to paint for, one for all that is painted between two ticks; None before the first snapshot."""
        if self.snapshot is None:
            return None
        now = self.clock.now()
        now = self._painted.now if self._painted and self._painted.same_second(now) else now
        self._painted = RenderTime.from_snapshot(self.snapshot, now, watched=not self.fault, blink_on=self._lit)
        return self._painted

    def shown(self) -> tuple[Snapshot, RenderTime] | None:
        """What the bodies of the screens show: the newest there is, or what the operator holds still."""
        moment = self.moment()
        if self.arrangement.frozen or self.snapshot is None or moment is None:
            return self.arrangement.frozen
        return self.snapshot, moment

    def chosen(self) -> EventState | None:
        """The selected event as it is shown, by its id; the first one until the operator chooses. None: it is gone."""
        shown = self.shown()
        if shown is None:
            return None
        if self._chosen is None:
            return next(iter(shown[0].events), None)
        if self._known is None or self._known[0] is not shown[0]:
            self._known = shown[0], {state.id: state for state in shown[0].events}
        return self._known[1].get(self._chosen)

    def choose(self, event_id: str | None) -> None:
        """Select an event for every screen; None follows the first one again."""
        self._chosen, self._following = event_id, event_id is None
        self.news.publish(None)

    def settle(self, rows: Sequence[EventState]) -> None:
        """A table shows these: nothing that is out of its sight stays selected, for what is done is done to that."""
        every = (shown := self.shown()) is not None and rows is shown[0].events
        if self._following or not (self.chosen() if every else any(state.id == self._chosen for state in rows)):
            self._following = True
            self._chosen = rows[0].id if rows else ""

    def attend(self, event_id: str | None) -> None:
        """Have that event's quality asked for most often; None: no event's more than the others'."""
        if event_id != self._attended:
            self._attended = event_id
            self.monitor.set_focus(event_id)

    def action_do(self, name: str) -> None:
        """The action that a key is bound to."""
        self.do(name)

    def do(self, name: str, argument: str = "") -> None:
        """Carry out an action of the registry, or say why not: the one way in from keys, palette and commands.

        No `check_action`: it would swallow the key without a word.
        """
        action = BY_NAME[name]
        why = disabled_reason(self, action)
        if why:
            self.tell(why, Severity.WARNING)
            return
        try:
            work = handler(action)(self, argument)
        except Exception as error:
            log.exception("an action failed", action=action.name)
            self._tell_fault(action, error)
            return
        if work is not None:
            self.run_worker(self._carry(action, work), name=name, group="actions", exit_on_error=False)

    async def _carry(self, action: Action, work: Awaitable[None]) -> None:
        try:
            await work
        except Exception as error:
            log.exception("an action failed", action=action.name)
            self._tell_fault(action, error)

    def _tell_fault(self, action: Action, error: Exception) -> None:
        why = f"{type(error).__name__}; see {self._log_file or 'the log'}"
        self.tell(f":{action.name} ended by a fault of the deck: {why}", Severity.CRITICAL)

    def tell(self, text: str, severity: Severity = Severity.INFO) -> None:
        """Say that above the keys, and keep it among the notices."""
        now = self.clock.now()
        self.arrangement.note(now, severity, text)
        if self.history is not None:
            self.run_worker(self.history.notified(NotificationRecord(now, severity, text)), exit_on_error=False)
        log.info("told", severity=severity.value, text=text)
        self.news.publish(None)

    def copy(self, text: str, what: str) -> None:
        """To the clipboard of the terminal's machine; what is too long for it goes to a file."""
        sequence = osc52(text, self._multiplexer)
        if sequence is not None and self._driver is not None:
            self._driver.write(sequence)
            self.tell(f"{what} copied")
        elif self.arrangement.keep is None:
            self.tell(f"{what} is too long for the clipboard, and there is no place for a file", Severity.WARNING)
        else:
            self.run_worker(self._copy_to_file(self.arrangement.keep, text, what), group="copy", exit_on_error=False)

    async def _copy_to_file(self, store: PreferencesStore, text: str, what: str) -> None:
        reason = f"{what} is too long for the clipboard"
        try:
            path = await asyncio.to_thread(store.spill, "copied.txt", text)
        except OSError as error:
            self.tell(f"{reason}, and no file of it can be written: {error.strerror}", Severity.WARNING)
        else:
            self.tell(f"{reason}; it is in {path}")

    def screen_of(self, kind: type[ScreenType]) -> ScreenType:
        """The screen in front, which is of that kind: an action works only where the registry says so."""
        assert isinstance(self.screen, kind)
        return self.screen

    def _fatal_error(self) -> None:
        """A crash says where to read about it. It shows no local variables: they may hold a key or a token."""
        log.error("the deck ended with an error", exc_info=self._exception)
        where = f"; the log is {self._log_file}" if self._log_file else ""
        self._exit_renderables.append(Text(f"livedeck ended with {type(self._exception).__name__}{where}"))
        self._close_messages_no_wait()

"""Deck: connects the features and passes snapshots on to their screens."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta, tzinfo
from functools import cached_property
from math import inf
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar, cast

from textual.binding import Binding, BindingType
from textual.filter import LineFilter
from textual.screen import Screen
from textual.signal import Signal
from textual.worker import Worker

from livedeck.client import Api, ApiError
from livedeck.log import Log, prepare
from livedeck.monitor import (
    AlarmRefused,
    Clock,
    EventState,
    Feed,
    History,
    HistoryReads,
    NotificationRecord,
    NotReadError,
    PastError,
    Playback,
    Severity,
    Snapshot,
)
from livedeck.operations.open_changes import OpenChanges
from livedeck.presentation.alarms import rule_words
from livedeck.presentation.filtering import NamedViews
from livedeck.presentation.preflight import DuePreflights
from livedeck.presentation.render_time import RenderTime
from livedeck.text.secrets import mask_secrets, masked
from livedeck.text.values import safe
from livedeck.ui.features import FEATURES
from livedeck.ui.kit import themes
from livedeck.ui.kit.canvas import StyledWidget
from livedeck.ui.kit.graphics import Graphics
from livedeck.ui.kit.line_filters import Ascii, Plain
from livedeck.ui.kit.selection import Absence, RowSelection
from livedeck.ui.kit.terminal import ExactApp
from livedeck.ui.shell.calls import Caller, Calls, title_string
from livedeck.ui.shell.context import Action, ActionRegistry, Context, Identity, Keymap, Opener, ScreenType
from livedeck.ui.shell.keymap import action_text, key_of
from livedeck.ui.shell.preferences import Displayed, PreferencesStore, ViewState
from livedeck.ui.shell.screen import TALL, BaseScreen
from livedeck.ui.shell.sights import Sight, Sights

if TYPE_CHECKING:
    from livedeck.operations.executor import LockPort
    from livedeck.ui.shell.confirmer import Confirmer
    from livedeck.ui.shell.directory import Directory, Names

log = Log(__name__)

R = TypeVar("R")
S = TypeVar("S")

OPEN_CHANGES_SECONDS = 30.0
"""Seconds between two reads of other decks' changes that have no verdict yet."""

_BACK = timedelta(seconds=5)
"""Distance of two snapshots' times: if the newer one is earlier by more than this, the rehearsal jumped back."""

INTERRUPT = "app.interrupt"
"""Name of the only action whose key works while a dialog is open."""


def _event_name(state: EventState) -> str:
    return safe(state.event.name or state.id, 60)


class _Now(NamedTuple):
    """Sources of current data. The deck puts them aside while it shows the past."""

    monitor: Feed
    clock: Clock
    api: Api | None
    history: History | None
    records: HistoryReads | None
    open_changes: OpenChanges


class Deck(ExactApp):
    """App that shows the snapshots of a monitor. It receives every collaborator and constructs none.

    `zone`: time zone of the local clock in the header; None for the machine's. `log_file`: log that a crash message
    names. `api`: client that sends changes; None if the deck sends no changes. `make_locks`: makes the lock of an
    object during a change; its argument reports that the lock cannot be held. `history`: stored past, markers and
    actions. `records`: stored past if another process writes it. `past`: recording or history to show instead of the
    present. `at`: moment to show at first; None for now. `keymap`: keys from the settings. `theme`: a name of
    `themes.PALETTES`, or AUTO. `names`: names from the settings for ids without a name on the platform. `views`: named
    views of the Events table. `store`: storage of the preferences. `multiplexer`: `tmux` or `screen` if the deck runs
    in one. `checks_uploads`: try the upload address after the first snapshot. `graphics`: protocol for posters.
    `cell_pixels`: width and height of a cell. `downloads`: folder for downloads to a path without a folder. `opener`:
    opens a file with this machine's program for the file. `child_variables`: environment of processes that the deck
    starts. `pace`: returns the speed of the rehearsal, as text, if the deck follows the clock of a rehearsal; otherwise
    empty.

    Attributes:
        drawn: Set once the first frame is drawn.
    """

    CSS_PATH = "app.tcss"
    TITLE = "livedeck"
    ENABLE_COMMAND_PALETTE = False
    VERTICAL_BREAKPOINTS: list[tuple[int, str]] | None = [(0, "-low"), (TALL, "-tall")]  # noqa: RUF012  as Textual has it
    DEFAULT_MODE = "events"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+c", f"do({INTERRUPT!r})", show=False, priority=True)]

    def __init__(
        self,
        monitor: Feed,
        clock: Clock,
        *,
        profile: str,
        host: str,
        read_only: bool,
        zone: tzinfo | None = None,
        log_file: Path | None = None,
        api: Api | None = None,
        history: History | None = None,
        make_locks: Callable[[Callable[[str], None]], LockPort] | None = None,
        records: HistoryReads | None = None,
        past: Playback | None = None,
        at: datetime | None = None,
        keymap: Keymap | None = None,
        names: Names | None = None,
        views: NamedViews = MappingProxyType({}),
        store: PreferencesStore | None = None,
        multiplexer: str = "",
        downloads: Path = Path(),
        opener: Opener | None = None,
        theme: str = themes.AUTO,
        ascii_only: bool = False,
        calls: Calls = Calls(),  # noqa: B008  frozen
        checks_uploads: bool = False,
        graphics: Graphics = Graphics.BLOCKS,
        cell_pixels: tuple[int, int] = (10, 20),
        child_variables: Mapping[str, str] = MappingProxyType({}),
        notice: str = "",
        pace: Callable[[], str] = str,
    ) -> None:
        super().__init__(clock.monotonic)
        self.actions = ActionRegistry(FEATURES, keymap)
        for mode, screen in self.actions.screens.items():
            self.add_mode(mode, screen.create)
        for action in self.actions.actions:
            keys = self.actions.keys_of(action)
            if keys and not action.fixed:
                self.bind(",".join(keys), f"do({action.name!r})", show=False)
        for textual_theme in themes.textual_themes():
            self.register_theme(textual_theme)
        self.preferences = ViewState(store, views)
        self.graphics, self.cell_pixels, self.child_variables = graphics, cell_pixels, child_variables
        self._names, self._checks_uploads = names or {}, checks_uploads
        self._first_notice, self.drawn = notice, asyncio.Event()
        name = self.preferences.theme if theme == themes.AUTO else theme
        self.theme = themes.select_theme(name, no_color=self.no_color, color_system=self.console.color_system)
        self._own_filters = (Plain(), Ascii(enabled=ascii_only))
        self.has_fine_lines = not ascii_only
        self.monitor, self.api, self.history = monitor, api, history
        self.locks = make_locks(lambda text: self.announce(text, Severity.WARNING)) if make_locks else None
        self.records: HistoryReads | None = past.history if past else records or history
        self.past, self._at = past, at
        self.identity: Identity = {
            "profile": profile,
            "host": host,
            "read_only": read_only,
            "is_past": past is not None,
            "recording": past.history.path.name if past else "",
            "pace": pace,
            "zone": zone,
        }
        self.snapshot: Snapshot | None = None
        self.fault = ""
        self.snapshot_signal: Signal[None] = Signal(self, "snapshot")
        self.clock, self._log_file = clock, log_file
        self.open_changes = OpenChanges(lambda: self.snapshot_signal.publish(None))
        self._now = None if past else _Now(monitor, clock, api, history, self.records, self.open_changes)
        self._newest: Snapshot | None = None  # present, while the past is shown
        self._now_fault = ""
        self._open_changes_due = -inf  # time of their next read from the history (monotonic s)
        self.downloads, self.opener = downloads, opener
        self._selection = RowSelection(follows_first=True)
        self._sights = Sights()
        self._blink_on = True
        self._ticking_since: float | None = None
        self._render_time: RenderTime | None = None
        self._events_by_id: tuple[Snapshot, dict[str, EventState]] | None = None
        self._due_preflights = DuePreflights(is_read_only=read_only)
        self._watched_id: str | None = None
        self._states: dict[Callable[[Context], Any], Any] = {}
        self._multiplexer = multiplexer
        self._calls, self._caller, self._title_shown = calls, Caller(calls), ""

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Return Textual's filters, then the deck's: no colour codes in a theme without colour, ASCII if requested."""
        plain, ascii_filter = self._own_filters
        plain.enabled = themes.PALETTES[self.theme].plain
        return [*super().get_line_filters(), *(own for own in (plain, ascii_filter) if own.enabled)]

    def on_mount(self) -> None:
        self.app_resume_signal.subscribe(self, self._on_app_resumed)
        self.theme_changed_signal.subscribe(self, lambda _: self.snapshot_signal.publish(None))  # some lack a grid
        self.run_worker(self._play(self.past) if self.past else self._watch(), name="monitor", exit_on_error=False)
        if self._at:
            self.run_worker(self._begin_at(self._at), exit_on_error=False)
        self.set_interval(0.5, self._tick)
        self.call_after_refresh(self.drawn.set)
        self.call_after_refresh(self._prepare_log)
        if self._first_notice:
            self.call_after_refresh(self.announce, self._first_notice)

    def _prepare_log(self) -> None:
        """Import the log's modules once the first frame is drawn, so that the first log line causes no delay."""
        self.run_worker(asyncio.to_thread(prepare), exit_on_error=False)

    def _on_app_resumed(self, _: object) -> None:
        self._title_shown = ""  # the shell may have set a title; the next snapshot sets the deck's title again

    async def _watch(self) -> None:
        """Publish each snapshot.

        If the monitor ends with an error, show the error as a fault, because the unchanged screen would look good.
        """
        try:
            async for snapshot in self.monitor.snapshots():
                self._newest = snapshot
                if self.past:
                    self._call_for(snapshot)  # new alarms ring while the past is shown, too
                    continue
                before, self.snapshot, self._render_time = self.snapshot, snapshot, None
                if before and snapshot.at < before.at - _BACK and self.identity["pace"]():
                    self._forget()  # the rehearsal jumped back, so what the screens hold lies in its future
                self._select_awaited()
                self._end_selection_of_vanished()
                self.snapshot_signal.publish(None)
                self._call_for(snapshot)
                self._announce_rule_changes(snapshot)
                for text in snapshot.attachment.outcomes if snapshot.attachment else ():
                    self.announce(text, Severity.WARNING)
                self._read_open_changes()
                if snapshot.seq == 1:  # the first snapshot after a full poll round
                    self.run_worker(asyncio.to_thread(self._import_the_rest), exit_on_error=False)
                    self.run_worker(self._check_uploads(), exit_on_error=False)
        except Exception as error:
            log.exception("the monitor stopped")
            self._now_fault = f"{type(error).__name__}; see {self._log_file or 'the log'}"
            self.fault = self.fault if self.past else self._now_fault
            self.snapshot_signal.publish(None)

    async def travel(self, moment: datetime | None) -> None:
        """Show the deck as it was at a moment; None shows the present.

        The monitor runs on while the past is shown, so the deck returns to data of now.
        """
        if self._now is None:
            if self.past is None or moment is None:
                raise PastError("this is a recording: it has no present to return to")
            await self.past.jump(moment)
        elif moment is None:
            await self._return(self._now)
        elif self.past:
            await self.past.jump(moment)
        else:
            await self._leave(self._now, moment)
        self.snapshot_signal.publish(None)

    async def _begin_at(self, moment: datetime) -> None:
        try:
            await self.travel(moment)
        except PastError as error:
            self.announce(f"The deck shows the present instead: {error}", Severity.CRITICAL)

    async def _leave(self, now: _Now, moment: datetime) -> None:
        if now.records is not now.history:
            raise PastError("the collector keeps the history; run `livedeck --at` on its machine")
        if now.history is None or now.history.path is None:
            raise PastError("no history file is kept; set `history` in the settings to keep one")
        await now.history.flush()
        past = await Playback.open(now.history.path, now.clock, moment)
        self.past, self.monitor, self.clock = past, past, past.clock
        self.api, self.history, self.records = None, None, past.history
        self.open_changes = OpenChanges(lambda: None)
        self._show(past.snapshot, is_past=True)
        self.run_worker(self._play(past), name="past", exit_on_error=False)

    async def _return(self, now: _Now) -> None:
        past, self.past = self.past, None
        if past is None:
            return
        self.monitor, self.clock, self.api, self.history, self.records, self.open_changes = now
        self.fault = self._now_fault
        self._show(self._newest, is_past=False)
        await past.close()

    def _show(self, snapshot: Snapshot | None, *, is_past: bool) -> None:
        """Show another time, and drop all state of the previous time."""
        self.identity["is_past"] = is_past
        self.preferences.frozen, self._watched_id = None, None
        self.snapshot, self._render_time = snapshot, None
        self._sights.clear()
        self._forget()

    def _forget(self) -> None:
        for stack in self._screen_stacks.values():
            for screen in stack:
                if isinstance(screen, BaseScreen):
                    screen.forget()

    async def _play(self, past: Playback) -> None:
        """Publish the snapshots of the past. If the playback fails, show the error."""
        try:
            async for snapshot in past.snapshots():
                if self.past is not past:
                    return
                before, self.snapshot, self._render_time = self.snapshot, snapshot, None
                if before and snapshot.at < before.at:
                    self._forget()  # screens may hold data from later moments
                self._end_selection_of_vanished()
                self.snapshot_signal.publish(None)
        except Exception as error:
            if self.past is past:
                log.exception("the past stopped")
                self.fault = f"{error}"
                self.snapshot_signal.publish(None)

    def machine_time(self) -> datetime:
        """Return the current time of this machine's clock, even while the past is shown."""
        return self._now.clock.now() if self._now else self.past.machine_time() if self.past else self.clock.now()

    async def _check_uploads(self) -> None:
        """Warn already at the start if uploads would fail."""
        try:
            if self.api is not None and self._checks_uploads:
                await self.api.check_uploads()
        except ApiError as error:
            self.announce(f"Uploads will fail: {error}", Severity.WARNING)

    def _select_awaited(self) -> None:
        """Select the event that a person has just created, once the platform lists it."""
        displayed, awaited = self.displayed(), self._selection.awaited
        if displayed and awaited and displayed.snapshot.find(awaited):
            self._selection.choose(awaited)

    def _end_selection_of_vanished(self) -> None:
        """Clear the selection on every screen if the platform no longer lists the selected event."""
        if self._selection.is_chosen:
            state = self.selected_event()
            self._selection.follow(_event_name(state) if state else None, None)

    def _call_for(self, snapshot: Snapshot) -> None:
        """Ring once for new alarms, and show the most urgent unacknowledged alarm in the window title."""
        title = title_string(self._calls, snapshot, self.identity["profile"])
        is_new, self._title_shown = title != self._title_shown, title
        self.tell_terminal((title if is_new else "") + self._caller.call_string(snapshot))

    def _announce_rule_changes(self, snapshot: Snapshot) -> None:
        """Announce rule changes of other people. A change at this deck is announced when it is made."""
        for change in snapshot.rule_changes:
            if not change.actor or change.actor != self.monitor.actor:
                state = snapshot.find(change.event_id)
                subject = _event_name(state) if state else change.event_id
                self.announce(rule_words(change, subject), Severity.WARNING if change.is_fault else Severity.INFO)

    def _read_open_changes(self) -> None:
        """Read the open changes of every deck from the history. An open change was sent and has no verdict."""
        if self.history is not None and self.clock.monotonic() >= self._open_changes_due:
            self._open_changes_due = self.clock.monotonic() + OPEN_CHANGES_SECONDS
            self.run_worker(self._take_open_changes(self.history), group="open changes", exit_on_error=False)

    async def _take_open_changes(self, history: History) -> None:
        try:
            self.open_changes.take_recorded(await history.whole(history.open_changes()))
        except NotReadError:  # changes stay open until a verdict is read
            return

    def _import_the_rest(self) -> None:
        """Import the modules of the other screens, after the first picture."""
        import livedeck.operations.catalogue
        import livedeck.ui.shell.confirmer  # noqa: F401

        for screen in self.actions.screens.values():
            screen.load()

    def _tick(self) -> None:
        """Repaint all parts that depend on time each second, and blinking cells half a second later (1 Hz)."""
        now = self.clock.monotonic()
        self._ticking_since = now if self._ticking_since is None else self._ticking_since
        self._blink_on = round((now - self._ticking_since) * 2) % 2 == 0
        if self._blink_on:
            self._render_time = None
            self.snapshot_signal.publish(None)
        elif isinstance(self.screen, BaseScreen):
            self.screen.blink()

    @cached_property
    def directory(self) -> Directory:
        """Names for ids without a name on the platform. The module is imported when a form opens."""
        from livedeck.ui.shell.directory import Directory

        return Directory(self._names, self.preferences)

    @cached_property
    def confirmer(self) -> Confirmer:
        """Confirmer, which asks for consent and runs operations.

        Its modules are imported at the first question, because the first picture does not need them.
        """
        from livedeck.ui.shell.confirmer import Confirmer

        return Confirmer(self, zone=self.identity["zone"], refresh_key=key_of("app.ask", self.actions))

    def render_time(self) -> RenderTime | None:
        """Return the time to paint for; None before the first snapshot.

        It stays the same object until the next tick.
        """
        if self.snapshot is None:
            return None
        now = self.clock.now()
        before = self._render_time if self._render_time and self._render_time.same_second(now) else None
        render_time = RenderTime.from_snapshot(
            self.snapshot,
            before.now if before else now,
            watched=not self.fault,
            blink_on=self._blink_on,
            changes=self.open_changes.steps,
        )
        preflights = before.preflights if before else self._due_preflights.at(self.snapshot, render_time.server)
        folders = self._names.get("folder", {})
        render_time = replace(render_time, preflights=preflights, pinned=self.preferences.pinned, folders=folders)
        if render_time != before:  # the same object shows that no redraw is needed
            self._render_time = render_time
        return self._render_time

    def displayed(self) -> Displayed | None:
        """Return the content of the screens: the newest snapshot or the frozen snapshot."""
        render_time = self.render_time()
        if self.preferences.frozen or self.snapshot is None or render_time is None:
            return self.preferences.frozen
        return Displayed(self.snapshot, render_time)

    def selected_event(self) -> EventState | None:
        """Return the selected event as displayed; None if there is none."""
        displayed = self.displayed()
        if displayed is None:
            return None
        if self._selection.key is None:
            return None if self._selection.is_chosen else next(iter(displayed.snapshot.events), None)
        if self._events_by_id is None or self._events_by_id[0] is not displayed.snapshot:
            self._events_by_id = displayed.snapshot, {event.id: event for event in displayed.snapshot.events}
        return self._events_by_id[1].get(self._selection.key)

    def select_event(self, event_id: str) -> None:
        """Select an event on every screen."""
        self._selection.choose(event_id)
        self.snapshot_signal.publish(None)

    def note_sight(self) -> None:
        """Record that the screen in front shows the newest snapshot and the selected event."""
        if self.snapshot is not None:
            state = self.selected_event()
            self._sights.paint(Sight(self.snapshot, state.id if state else None), self.clock.monotonic())

    def forget_sights(self) -> None:
        """Forget the recent pictures, so that the next picture counts as seen at once.

        Call this after a key that changes the picture, because the person expects the change.
        """
        self._sights.clear()

    def last_seen(self) -> Snapshot | None:
        """Return the snapshot that a person saw last; None before the first. A key acts on this snapshot."""
        sight = self._sights.last_seen(self.clock.monotonic())
        return sight.snapshot if sight else self.snapshot

    def _aim(self) -> None:
        """If the cursor follows the worst event, move it back to the event that a person last saw under it."""
        sight = self._sights.last_seen(self.clock.monotonic())
        if sight is not None:
            self._selection.aim(sight.event_id or "")

    def select_new_event(self, event_id: str) -> None:
        """Select an event that a person has just created, once it is listed."""
        self._selection.awaited = event_id
        self._select_awaited()
        self.snapshot_signal.publish(None)

    def no_event_text(self) -> str:
        """Return the reason why no event is selected, and advice."""
        return self._selection.missing_text("event") or "no event is selected"

    def event_absence(self) -> Absence:
        """Return why the last selected event is selected no longer."""
        return self._selection.absence

    def has_chosen_event(self) -> bool:
        """Return whether the operator has chosen an event at least once."""
        return self._selection.is_chosen

    def reconcile_selection(
        self, rows: Sequence[EventState], everything: Sequence[EventState] = (), first: EventState | None = None
    ) -> None:
        """Clear the selection if the rows no longer contain the selected event.

        Actions apply to the selected event, so the event must be visible. `everything`: all rows, hidden rows included.
        `first`: event under the cursor until a person chooses an event; None without rows.
        """
        displayed = self.displayed()
        if displayed is not None and rows is displayed.snapshot.events:
            state = self.selected_event()
        else:
            state = next((event for event in rows if event.id == self._selection.key), None)
        absence = Absence.GONE
        if state is None and self.selected_event() is not None:
            is_listed = any(event.id == self._selection.key for event in everything)
            absence = Absence.FILTERED if is_listed else Absence.UNLISTED
        default = first.id if first else None
        self._selection.follow(_event_name(state) if state else None, default, absence)

    def watch_event(self, event_id: str | None) -> None:
        """Poll the samples of an event more often than those of other events; None polls all equally often."""
        if event_id != self._watched_id:
            self._watched_id = event_id
            self.monitor.set_focus(event_id)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return whether a key's action works on this screen, even if `disabled_reason` blocks it now."""
        if action != "do":
            return super().check_action(action, parameters)
        return self.actions.by_name[str(parameters[0])].works_on(self.current_mode)

    def action_do(self, name: str) -> None:
        """Run the action of a key."""
        self.dispatch(name)

    def on_styled_widget_followed(self, message: StyledWidget.Followed) -> None:
        """Run the command of a clicked link on the screen in front."""
        if message.widget.screen is self.screen:
            self.dispatch(message.link.command, message.link.argument)

    def dispatch(self, name: str, argument: str = "") -> None:
        """Run the action `name`, or announce the reason why it is not possible now.

        Keys, palette and commands call this method.
        """
        action = self.actions.by_name[name]
        self._aim()
        reason = action.disabled_reason(self, action_text(action, self.actions))
        if reason:
            self.announce(reason, Severity.WARNING)
            return
        try:
            work = action.run(self, argument)
        except Exception as error:
            log.exception("an action failed", action=name)
            self._announce_fault(f":{action.name}", error)
            return
        if work is not None:
            self.run_worker(self._finish(action, work), name=name, group="actions", exit_on_error=False)

    async def _finish(self, action: Action, work: Awaitable[None]) -> None:
        try:
            await work
        except (AlarmRefused, NotReadError) as error:  # its text is the reason, such as a locked file
            self.announce(str(error), Severity.WARNING)
        except Exception as error:
            log.exception("an action failed", action=action.name)
            self._announce_fault(f":{action.name}", error)

    def _announce_fault(self, name: str, error: Exception) -> None:
        where = f"{type(error).__name__}; see {self._log_file or 'the log'}"
        self.announce(f"{name} failed because of a fault in the deck: {where}", Severity.CRITICAL)

    def announce(self, text: str, severity: Severity = Severity.INFO) -> None:
        """Show a notice above the keys and keep it in the log."""
        now, text = self.machine_time(), masked(text)
        self.preferences.add_notice(now, severity, text)
        if self.history is not None:
            self.run_worker(self.history.notified(NotificationRecord(now, severity, text)), exit_on_error=False)
        log.info("notice", severity=severity.value, text=text)
        self.snapshot_signal.publish(None)

    def copy(self, text: str, name: str, *, in_clear: bool = False) -> None:
        """Copy a text to the clipboard of the terminal's machine, or to a file if the text is too long."""
        text = text if in_clear else mask_secrets(text)
        if self.copy_text(text, self._multiplexer):
            self.announce(f"{name} copied")
        elif self.preferences.store is None:
            self.announce(
                f"{name} is too long for the clipboard, and this deck has no folder for a file", Severity.WARNING
            )
        else:
            self.run_worker(self._copy_to_file(self.preferences.store, text, name), group="copy", exit_on_error=False)

    async def _copy_to_file(self, store: PreferencesStore, text: str, name: str) -> None:
        reason = f"{name} is too long for the clipboard"
        try:
            path = await asyncio.to_thread(store.write_overflow, "copied.txt", text)
        except OSError as error:
            self.announce(f"{reason}, and could not be written to a file: {error.strerror}", Severity.WARNING)
        else:
            self.announce(f"{reason}. Saved to {path} instead.")

    def screen_of(self, kind: type[ScreenType]) -> ScreenType:
        """Return the screen in front, typed as `kind`."""
        assert isinstance(self.screen, kind)
        return self.screen

    def go_to(self, mode: str) -> None:
        """Show the screen of a mode. Does nothing while a dialog is open, because the dialog would be hidden."""
        if not self.screen.is_modal:
            self.switch_mode(mode)

    async def ask(self, dialog: Screen[R]) -> R:
        """Show a dialog over the current one and wait for its result."""
        return await self.push_screen_wait(dialog)

    def open(self, dialog: Screen[R], then: Callable[[R | None], None] | None = None) -> None:
        """Show a dialog and pass its result to `then`.

        If `then` fails, the error is announced like that of an action, and the deck continues.
        """

        def take(result: R | None) -> None:
            try:
                if then is not None:
                    then(result)
            except Exception as error:
                log.exception("the result of a dialog could not be handled", dialog=type(dialog).__name__)
                self._announce_fault(type(dialog).__name__, error)

        self.push_screen(dialog, take)

    def start(self, work: Awaitable[None], name: str) -> Worker[None]:
        """Run work in its own worker."""
        return self.run_worker(work, name=name, group=name, exit_on_error=False)

    def state(self, make: Callable[[Context], S]) -> S:
        """Return the state of a feature. The first call makes it by `make`; the state lasts until the deck ends."""
        if make not in self._states:
            self._states[make] = make(self)
        return cast("S", self._states[make])

    def set_theme(self, name: str) -> bool:
        """Draw the deck in a theme and save the choice."""
        if self.no_color:
            return False
        self.theme = name
        self.preferences.choose_theme(name)
        return True

    def suspend_process(self) -> None:
        """Stop the deck and return the terminal to the shell, until `fg` continues it."""
        self.action_suspend_process()

    def leave(self, code: int = 0) -> None:
        """End the deck with the exit code `code` and restore the terminal."""
        self.exit(code)

    def crash_text(self, error: str) -> str:
        """Add the path of the log to the crash message."""
        return super().crash_text(error) + (f"; see the log at {self._log_file}" if self._log_file else "")

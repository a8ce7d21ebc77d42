"""Interface between the deck and its features: Context in one direction, actions and features in the other.

The registry of actions provides keys, footer, help, palette and commands.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypedDict, TypeVar

from textual.screen import Screen
from textual.signal import Signal
from textual.worker import Worker

from livedeck.client import Api
from livedeck.monitor import AlarmKey, Clock, EventState, Feed, History, HistoryReads, Playback, Severity, Snapshot
from livedeck.operations.open_changes import OpenChanges
from livedeck.presentation.render_time import RenderTime
from livedeck.text.segments import Segment
from livedeck.ui.kit.graphics import Graphics
from livedeck.ui.shell.preferences import Displayed, ViewState

if TYPE_CHECKING:
    from livedeck.ui.shell.confirmer import Confirmer
    from livedeck.ui.shell.directory import Directory

R = TypeVar("R")
S = TypeVar("S")
ScreenType = TypeVar("ScreenType", bound=Screen[Any])

Opener = Callable[[Path], Awaitable[str]]
"""Opens a file with this machine's program for it. Returns the reason if that fails, else an empty text."""


class Identity(TypedDict):
    """Identity of the deck in the header.

    `is_past`: the deck shows the past. `recording`: file name of the recording on display; empty if a platform is
    watched. `zone`: time zone of the local clock, None for the machine's.
    """

    profile: str
    host: str
    read_only: bool
    is_past: bool
    recording: str
    zone: tzinfo | None


class Context(Protocol):
    """The deck as features see it.

    `snapshot`: the newest one, None before the first. `snapshot_signal`: published after each snapshot, each second,
    and when the selection, the frozen screen or the notices change. `api`: None if nothing is ever written. `history`:
    stores markers and actions, None without one. `records`: reads the stored past, None without one. `past`: playback
    that replaces the present; None while the present is shown. `fault`: why the monitor ended, empty while it runs.
    `open_changes`: sent changes without a verdict. `downloads`: folder for files without a folder. `child_variables`:
    environment of processes that the deck starts. `has_fine_lines`: whether the terminal can show dots and blocks.
    """

    actions: ActionRegistry
    api: Api | None
    clock: Clock
    downloads: Path
    cell_pixels: tuple[int, int]
    child_variables: Mapping[str, str]
    fault: str
    graphics: Graphics
    has_fine_lines: bool
    history: History | None
    identity: Identity
    monitor: Feed
    open_changes: OpenChanges
    opener: Opener | None
    past: Playback | None
    preferences: ViewState
    records: HistoryReads | None
    snapshot: Snapshot | None
    snapshot_signal: Signal[None]

    @property
    def directory(self) -> Directory:
        """Names of ids that have none on the platform."""

    @property
    def confirmer(self) -> Confirmer:
        """Confirms and runs operations."""

    @property
    def theme(self) -> str:
        """Name of the theme in force."""

    @property
    def current_mode(self) -> str:
        """Mode of the screen on display or behind a dialog."""

    @property
    def screen(self) -> Screen[Any]:
        """The screen or dialog in front."""

    @property
    def screen_stack(self) -> Sequence[Screen[Any]]:
        """The screen of this mode and the dialogs over it, the front one last."""

    def screen_of(self, kind: type[ScreenType]) -> ScreenType:
        """Return the screen in front as that type.

        Callers rely on an action's `screens`: it runs on those only.
        """

    def machine_time(self) -> datetime:
        """Return the time on this machine's clock, even while the past is shown."""

    async def travel(self, moment: datetime | None) -> None:
        """Show that moment of the past, or the present if None.

        Raises PastError if there is no stored past for it.
        """

    def render_time(self) -> RenderTime | None:
        """Return the instant to paint for, the same until the next tick; None before the first snapshot."""

    def displayed(self) -> Displayed | None:
        """Return the content of the screens: the newest snapshot, or the frozen one."""

    def selected_event(self) -> EventState | None:
        """Return the selected event as displayed; None if there is none.

        Until the operator chooses, this is the first event.
        """

    def select_event(self, event_id: str) -> None:
        """Select an event on every screen."""

    def note_sight(self) -> None:
        """Record that the screen in front shows the newest snapshot and the selected event."""

    def forget_sights(self) -> None:
        """Treat the next picture as seen, because the person at the keys has just changed it."""

    def last_seen(self) -> Snapshot | None:
        """Return the snapshot that a person saw last.

        A snapshot that arrives as a key is pressed does not count as seen.
        """

    def select_new_event(self, event_id: str) -> None:
        """Select an event that a person has just made once it is listed, unless another is selected first."""

    def no_event_text(self) -> str:
        """Return why no event is selected, and what to do."""

    def has_chosen_event(self) -> bool:
        """Return whether the operator has ever chosen an event.

        Before that, the cursor follows the worst event.
        """

    def reconcile_selection(self, rows: Sequence[EventState]) -> None:
        """Clear the selection if the table's rows no longer contain it. No other event is selected instead."""

    def watch_event(self, event_id: str | None) -> None:
        """Poll the quality of that event most often; None treats all events alike."""

    def has_keys_waiting(self) -> bool:
        """Return whether more keys of a burst have arrived, so that the next picture will not stay."""

    def has_keys_under_way(self) -> bool:
        """Return whether keys are waiting, or the effects of the last one are not complete."""

    def go_to(self, mode: str) -> None:
        """Show the screen of that mode."""

    def dispatch(self, name: str, argument: str = "") -> None:
        """Run the named action, or announce why it is not possible now."""

    def announce(self, text: str, severity: Severity = Severity.INFO) -> None:
        """Show a notice above the keys and keep it in the log; Textual's own `notify` draws a toast."""

    def copy(self, text: str, name: str, *, in_clear: bool = False) -> None:
        """Copy to the clipboard of the terminal's machine. A text that is too long goes to a file.

        Secrets are masked unless `in_clear`: then a person has requested them, and the request is recorded.
        """

    async def ask(self, dialog: Screen[R]) -> R:
        """Show a dialog over the current one and wait for its result. Call it from a worker only."""

    def open(self, dialog: Screen[R], then: Callable[[R | None], None] | None = None) -> None:
        """Show a dialog and pass its result to `then`."""

    def start(self, work: Awaitable[None], name: str) -> Worker[None]:
        """Run work in its own worker. The work must handle its errors itself."""

    def state(self, make: Callable[[Context], S]) -> S:
        """Return a feature's state, made at the first call with that function and kept until the deck ends."""

    def set_theme(self, name: str) -> bool:
        """Draw in that theme and save it.

        Returns False and does nothing if the terminal must not have colours.
        """

    def suspend_process(self) -> None:
        """Return the terminal to the shell until `fg`."""

    def leave(self, code: int = 0) -> None:
        """End the deck with that exit code and restore the terminal."""


FIRST = 1
"""Footer rank of the main action of a screen, before all others."""


class ScreenKind(IntEnum):
    """Table keys that work on a screen; each kind has those of the kinds above it, too.

    ROWS: a cursor moves in rows. TABLE: rows are filtered and sorted, columns chosen. EVENTS: a row leads to an event.
    """

    PLAIN = 0
    ROWS = 1
    TABLE = 2
    EVENTS = 3


Run = Callable[[Context, str], Awaitable[None] | None]
"""Runs an action. The string is the argument of its command, empty from a key.

A plain function runs at once. An awaitable runs in its own worker and may wait for a dialog or the platform.
"""

Reason = Callable[[Context], str]
"""Returns why an action is not possible now; empty if it is."""


def always(_: Context) -> str:
    """Return no reason: the action is always possible."""
    return ""


def needs_event(ctx: Context) -> str:
    """Return a reason unless an event is selected."""
    return "" if ctx.selected_event() else f"needs an event: {ctx.no_event_text()}"


def needs_collector(ctx: Context, *keys: AlarmKey) -> str:
    """Return a reason if an attached deck cannot reach its collector, which must record alarm actions.

    `keys`: target alarms.
    """
    attachment = ctx.snapshot.attachment if ctx.snapshot else None
    return attachment.refusal(*keys) if attachment else ""


def needs_chosen_event(ctx: Context) -> str:
    """Return a reason unless a person has chosen an event.

    A cursor that follows the worst event may move just as a key is pressed.
    """
    if ctx.selected_event() and not ctx.has_chosen_event():
        return "needs an event that you have chosen: until you move the cursor, it follows the worst event"
    return needs_event(ctx)


@dataclass(frozen=True, slots=True)
class Action:
    """An action that a person can start.

    `name`: `group.verb`, also its command (`:event.complete`, `:complete`). `keys`: Textual's key names; the first one
    is shown. Without keys, palette and command only. `label`: a word for the footer. `own_help`: a sentence without its
    full stop; if empty, the help of `operation` is used. `operation`: name of the operation that it runs.

    `screens`: modes where it works, () for everywhere; with a `kind`, all screens of that kind. `blocked`: why it is
    not possible now. `writes`: True if it changes the platform. `takes`: the argument of its command, empty for none.
    `rank`: place in the footer, 0 for none; `past_rank`: place in the footer of the past, before all others. `home`:
    mode in which it is the main action. `alarm_label`: label before the name of an alarm that no cursor shows. `fixed`:
    cannot be remapped, and works while a dialog is open. `is_for_now`: polls the platform or stores something, so it is
    not possible in the past; nor is a change.

    An action that ends something has a capital letter, and never the shifted letter of a harmless key.
    """

    name: str
    keys: tuple[str, ...]
    label: str
    own_help: str
    run: Run
    screens: tuple[str, ...] = ()
    kind: ScreenKind = ScreenKind.PLAIN
    blocked: Reason = always
    writes: bool = False
    takes: str = ""
    rank: int = 0
    home: str = ""
    alarm_label: str = ""
    fixed: bool = False
    operation: str = ""
    is_for_now: bool = False
    past_rank: int = 0

    @property
    def is_alarm_action(self) -> bool:
        """True if it acts on an alarm."""
        return self.group == "alarm"

    @property
    def help(self) -> str:
        """Help text: a sentence without its full stop. Imports the operations at the first use."""
        if self.own_help:
            return self.own_help
        from livedeck.operations.catalogue import OPERATIONS

        return OPERATIONS[self.operation].help

    @property
    def group(self) -> str:
        """The part of the name before the dot."""
        return self.name.partition(".")[0]

    @property
    def verb(self) -> str:
        """The part of the name after the dot: the short form of its command."""
        return self.name.partition(".")[2]

    @property
    def works_in_past(self) -> bool:
        """True if it works while the past is shown."""
        return not self.writes and not self.is_for_now

    def footer_rank(self, mode: str) -> int:
        """Return its place in that screen's footer; 0 for none."""
        return FIRST if self.home == mode else self.rank

    def works_on(self, mode: str) -> bool:
        """Return whether its key works on that screen."""
        return not self.screens or mode in self.screens

    def meets(self, other: Action) -> bool:
        """Return whether both actions work on some screen. There they must not share a key."""
        return not self.screens or not other.screens or bool(set(self.screens) & set(other.screens))

    def disabled_reason(self, ctx: Context) -> str:
        """Return why it is not possible now; empty if it is.

        Only a courtesy: the gate of a read-only deck is in the client.
        """
        if ctx.past and not self.works_in_past:
            return "You are viewing the past: nothing can be changed here"
        if ctx.identity["read_only"] and self.writes:
            return f"RO: this deck is read-only, and :{self.name} would change the platform"
        if ctx.api is None and self.writes:
            return f":{self.name} would change the platform, and this deck has no access to it"
        if not self.works_on(ctx.current_mode):
            return f":{self.name} works on {', '.join(self.screens)}"
        reason = self.blocked(ctx)
        return f":{self.name} {reason}" if reason else ""


def change(
    name: str,
    keys: tuple[str, ...],
    label: str,
    run: Run,
    screens: tuple[str, ...],
    *,
    operation: str = "",
    blocked: Reason = always,
    takes: str = "",
    rank: int = 0,
) -> Action:
    """Return an action that runs an operation, by default the one of the same name, and uses its help."""
    operation = operation or name
    return Action(
        name, keys, label, "", run, screens, blocked=blocked, writes=True, takes=takes, rank=rank, operation=operation
    )


@dataclass(frozen=True, slots=True)
class Tab:
    """A feature's tab, and the action that opens it.

    `key`, `label`, `help`: of that action. `run`: None opens the feature's first screen.
    """

    title: str
    key: str
    label: str
    help: str
    run: Run | None = None

    @property
    def action_name(self) -> str:
        """Name of the action."""
        return f"screen.{self.title.lower()}"

    def action(self, mode: str) -> Action:
        """Return the action. `mode`: the feature's first screen."""
        run = self.run or (lambda ctx, _: ctx.go_to(mode))
        return Action(self.action_name, (self.key,), self.label, self.help, run)


@dataclass(frozen=True, slots=True)
class HelpGroup:
    """A heading of the help. `name`: group of its actions. `order`: sort key, smallest first."""

    name: str
    title: str
    order: int


@dataclass(frozen=True, slots=True)
class Unfinished:
    """Work that ends with the deck. `stop`: ends it and waits until it is cleaned up."""

    title: str
    lines: tuple[Segment, ...]
    stop: Callable[[], Awaitable[None]] | None = None


class FeatureScreen(NamedTuple):
    """A screen of a feature. `load`: imports and returns its class; nothing is imported before the screen opens."""

    load: Callable[[], type[Screen[Any]]]
    kind: ScreenKind = ScreenKind.PLAIN

    def create(self) -> Screen[Any]:
        """Return a new screen."""
        return self.load()()


@dataclass(frozen=True, slots=True)
class Feature:
    """A package of `ui` as the rest of the deck sees it. Its module imports only what the first picture needs.

    `screens`: by mode. `help`: headings of its actions. `unfinished`: returns work that leaving would end.
    """

    actions: tuple[Action, ...] = ()
    screens: Mapping[str, FeatureScreen] = field(default_factory=dict)
    help: tuple[HelpGroup, ...] = ()
    tab: Tab | None = None
    unfinished: Callable[[Context], Unfinished | None] | None = None


TABS = HelpGroup("screen", "Screens", 0)
"""Heading of the tabs' actions, the first in the help."""

Keymap = Mapping[str, tuple[str, ...]]
"""Action name -> keys, for actions whose keys the settings change."""


class ActionRegistry:
    """The actions of all features and their keys in force.

    `keymap`: keys from the settings.
    """

    def __init__(self, features: Sequence[Feature], keymap: Keymap | None = None) -> None:
        self.features = tuple(features)
        self.keymap: Keymap = keymap or {}
        tabs = [(feature.tab, next(iter(feature.screens))) for feature in features if feature.tab]
        tabs.sort(key=lambda tab: tab[0].key)
        self.tabs = tuple(tab for tab, _ in tabs)
        self.screens = {mode: screen for feature in features for mode, screen in feature.screens.items()}
        own = [self._resolved(action) for feature in features for action in feature.actions]
        self.actions: tuple[Action, ...] = (*(tab.action(mode) for tab, mode in tabs), *own)
        self.by_name = {action.name: action for action in self.actions}

    def _resolved(self, action: Action) -> Action:
        """Return the action with the screens of its kind as modes."""
        if action.kind is ScreenKind.PLAIN:
            return action
        return replace(
            action, screens=tuple(mode for mode, screen in self.screens.items() if screen.kind >= action.kind)
        )

    def on_screen(self, mode: str) -> tuple[Action, ...]:
        """Return the actions that work on that screen."""
        return tuple(action for action in self.actions if action.works_on(mode))

    def footer(self, mode: str) -> tuple[Action, ...]:
        """Return the actions in that screen's footer, the most important first."""
        ranked = [action for action in self.on_screen(mode) if action.footer_rank(mode)]
        return tuple(sorted(ranked, key=lambda action: action.footer_rank(mode)))

    def past_footer(self, ctx: Context) -> tuple[Action, ...]:
        """Return the footer of the past: actions that move through it, then those that only look."""
        moves = [action for action in self.actions if action.past_rank and not action.blocked(ctx)]
        looks = [action for action in self.footer(ctx.current_mode) if action.works_in_past and not action.past_rank]
        return (*sorted(moves, key=lambda action: action.past_rank), *looks)

    def groups(self) -> list[tuple[str, list[Action]]]:
        """Return the actions under the headings of the help, in its order."""
        groups = sorted((TABS, *(group for feature in self.features for group in feature.help)), key=lambda g: g.order)
        return [(group.title, [action for action in self.actions if action.group == group.name]) for group in groups]

    def keys_of(self, action: Action) -> tuple[str, ...]:
        """Return the keys in force."""
        return self.keymap.get(action.name, action.keys)

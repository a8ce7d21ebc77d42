"""What the deck and its features tell each other: the Context one way, actions and features the other.

From the registry of the actions come keys, footer, help, palette and commands.
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
"""Has a file shown by the program that this machine has for it; returns why it cannot, or nothing."""


class Identity(TypedDict):
    """What the header says of the deck itself. `is_past`: it does not show now. `recording`: the name of the file
    that is shown in place of a platform, empty: a platform is watched. `zone`: of the local clock, None for the
    machine's."""

    profile: str
    host: str
    read_only: bool
    is_past: bool
    recording: str
    zone: tzinfo | None


class Context(Protocol):
    """The deck as features see it.

    `snapshot`: the newest one, None before the first. `snapshot_signal`: published after each snapshot, each second,
    and when what is selected, held still or said changed. `api`: None where nothing is ever written. `history`: where
    marks and actions are kept, None where none is. `records`: where what was is read, None where nothing is kept.
    `past`: what is shown instead of now, None while that is now. `fault`: why the monitor ended, empty while it runs.
    `open_changes`: what was sent and has no verdict. `downloads`: where files go that name no folder.
    `child_variables`: the environment of processes that the deck starts. `has_fine_lines`: whether dots and blocks show
    as they are.
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
        """What ids are called that the platform has no name for."""

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

    def machine_time(self) -> datetime:
        """What this machine's clock says, whatever moment is shown."""

    async def travel(self, moment: datetime | None) -> None:
        """Show that moment of the past, None: now. Raises PastError where nothing is kept of it."""

    def render_time(self) -> RenderTime | None:
        """The instant to paint for, one for all that is painted between two ticks; None before the first snapshot."""

    def displayed(self) -> Displayed | None:
        """What the bodies of the screens show: the newest there is, or what the operator holds still."""

    def selected_event(self) -> EventState | None:
        """The selected event as it is displayed, the first one until the operator chooses. None: none is."""

    def select_event(self, event_id: str) -> None:
        """Select an event for every screen."""

    def note_sight(self) -> None:
        """Note that the screen in front shows the newest snapshot and the selected event."""

    def forget_sights(self) -> None:
        """Take the next picture as seen: the person whose keys are read has just changed it."""

    def last_seen(self) -> Snapshot | None:
        """Return the snapshot that a person saw last: one that came as they pressed a key was not seen."""

    def select_new_event(self, event_id: str) -> None:
        """Select an event that a person has just made, once it is shown, unless they select another one before."""

    def no_event_text(self) -> str:
        """Why no event is selected, in words, and what to do."""

    def has_chosen_event(self) -> bool:
        """Whether the operator has ever chosen an event; until then the cursor follows the worst one."""

    def reconcile_selection(self, rows: Sequence[EventState]) -> None:
        """A table shows these rows: an event that is not among them stays selected no longer, and no other one is."""

    def watch_event(self, event_id: str | None) -> None:
        """Have that event's quality polled most often; None: no event's more than the others'."""

    def go_to(self, mode: str) -> None:
        """Show the screen of that mode."""

    def dispatch(self, name: str, argument: str = "") -> None:
        """Carry out the action of that name, or say why it cannot be done now."""

    def announce(self, text: str, severity: Severity = Severity.INFO) -> None:
        """Say that above the keys, and keep it among the notices. (Textual's own `notify` draws a toast.)"""

    def copy(self, text: str, what: str, *, in_clear: bool = False) -> None:
        """Copy to the clipboard of the terminal's machine; what is too long for it goes to a file.

        Secrets are masked. `in_clear`: they were asked for, and that is recorded.
        """

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

    def leave(self, code: int = 0) -> None:
        """End the deck with that exit code; the terminal is left as it was found."""


FIRST = 1
"""The rank before all others."""


class ScreenKind(IntEnum):
    """What the keys of every table do on a screen: what those of the kinds above it do, and more.

    ROWS: a cursor moves in rows. TABLE: they are filtered, sorted, shown by columns. EVENTS: a row leads to an event.
    """

    PLAIN = 0
    ROWS = 1
    TABLE = 2
    EVENTS = 3


Run = Callable[[Context, str], Awaitable[None] | None]
"""Carries out an action. The string stood after its command, empty from a key.

A plain function runs at once; what is awaited runs in a worker of its own and may wait for a dialog or the platform.
"""

Reason = Callable[[Context], str]
"""Why an action cannot be done now, in words; empty where it can."""


def always(_: Context) -> str:
    """No reason: it can be done whatever is selected."""
    return ""


def needs_event(ctx: Context) -> str:
    """An event has to be selected."""
    return "" if ctx.selected_event() else f"needs an event: {ctx.no_event_text()}"


def needs_collector(ctx: Context, *keys: AlarmKey) -> str:
    """What is answered must be known to all: at an attached deck by its collector. `keys`: the alarms meant."""
    attachment = ctx.snapshot.attachment if ctx.snapshot else None
    return attachment.refusal(*keys) if attachment else ""


def needs_chosen_event(ctx: Context) -> str:
    """An event has to be selected, by a person: a cursor that follows the worst one may move as a key is pressed."""
    if ctx.selected_event() and not ctx.has_chosen_event():
        return "needs an event that you chose: the cursor follows the worst one until you move it"
    return needs_event(ctx)


@dataclass(frozen=True, slots=True)
class Action:
    """One thing that a person can have done.

    `name`: `group.verb`, also its command (`:event.complete`, `:complete`). `keys`: by Textual's names, the first one
    is shown; none: palette and command only. `label`: a word for the footer. `own_help`: a sentence without its full
    stop; empty: that of `operation`, the name of the operation that it runs.
    `screens`: the modes where it works, () everywhere; with a `kind`: on all screens of that kind. `blocked`: why it
    cannot be done now. `writes`: whether it changes the platform. `takes`: what may stand after its command, empty:
    nothing. `rank`: its place in the footer, 0 not there; `past_rank`: in that of the past, before all others. `home`:
    the mode where it is what one does, and stands first. `alarm_label`: its label before the name of an alarm that no
    cursor shows. `fixed`: it cannot be remapped, and works whatever is open. `is_for_now`: it asks the platform or
    keeps something, which cannot be done in the past; nor can what writes.

    What ends something has a capital letter, and never the shifted letter of a harmless key.
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
    def is_answer(self) -> bool:
        """Whether it answers an alarm."""
        return self.group == "alarm"

    @property
    def help(self) -> str:
        """What it does: a sentence without its full stop. Operations are imported when one is first asked for."""
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
        """Whether it is more than for now."""
        return not self.writes and not self.is_for_now

    def footer_rank(self, mode: str) -> int:
        """Where it stands in the footer of that screen; 0: not there."""
        return FIRST if self.home == mode else self.rank

    def works_on(self, mode: str) -> bool:
        """Whether its key does something on that screen."""
        return not self.screens or mode in self.screens

    def meets(self, other: Action) -> bool:
        """Whether there is a screen on which both work: there they may share no key."""
        return not self.screens or not other.screens or bool(set(self.screens) & set(other.screens))

    def disabled_reason(self, ctx: Context) -> str:
        """Why it cannot be done now, or nothing. A courtesy: the lock of a read-only deck is the client's gate."""
        if ctx.past and not self.works_in_past:
            return f"PAST: {self.label} is not possible, nothing can be changed in it"
        if ctx.identity["read_only"] and self.writes:
            return f"RO: this deck is read-only, :{self.name} would change the platform"
        if ctx.api is None and self.writes:
            return f":{self.name} would change the platform, and this deck was given no way to it"
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
    """The action that runs an operation, mostly the one of its name, and says what that one says."""
    operation = operation or name
    return Action(
        name, keys, label, "", run, screens, blocked=blocked, writes=True, takes=takes, rank=rank, operation=operation
    )


@dataclass(frozen=True, slots=True)
class Tab:
    """A feature's place in the row of tabs, and the action that leads there.

    `key`, `label`, `help`: of that action. `run`: None shows the first of the feature's screens.
    """

    title: str
    key: str
    label: str
    help: str
    run: Run | None = None

    @property
    def action_name(self) -> str:
        """The name of the action."""
        return f"screen.{self.title.lower()}"

    def action(self, mode: str) -> Action:
        """The action; `mode`: of the feature's first screen."""
        run = self.run or (lambda ctx, _: ctx.go_to(mode))
        return Action(self.action_name, (self.key,), self.label, self.help, run)


@dataclass(frozen=True, slots=True)
class HelpGroup:
    """A heading of the help. `name`: the part before the dot of its actions. `order`: its place, smallest first."""

    name: str
    title: str
    order: int


@dataclass(frozen=True, slots=True)
class Unfinished:
    """Work that leaving the deck would end. `stop`: ends it and waits until nothing of it is left."""

    title: str
    lines: tuple[Segment, ...]
    stop: Callable[[], Awaitable[None]] | None = None


class FeatureScreen(NamedTuple):
    """A screen of a feature. `load`: imports it and returns its class; before it is opened nothing of it is needed."""

    load: Callable[[], type[Screen[Any]]]
    kind: ScreenKind = ScreenKind.PLAIN

    def create(self) -> Screen[Any]:
        """A new screen."""
        return self.load()()


@dataclass(frozen=True, slots=True)
class Feature:
    """A package of `ui` as the rest of the deck knows it. Its module imports nothing that a first picture can spare.

    `screens`: by mode. `help`: the headings of its actions. `unfinished`: what leaving would end.
    """

    actions: tuple[Action, ...] = ()
    screens: Mapping[str, FeatureScreen] = field(default_factory=dict)
    help: tuple[HelpGroup, ...] = ()
    tab: Tab | None = None
    unfinished: Callable[[Context], Unfinished | None] | None = None


TABS = HelpGroup("screen", "Screens", 0)
"""The actions of the tabs are the first ones of the help."""

Keymap = Mapping[str, tuple[str, ...]]
"""Name of an action -> its keys, for those that the settings change."""


class ActionRegistry:
    """The actions of all features, and their keys in force. `keymap`: the keys that the settings change."""

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
        """The action with the screens of its kind by their modes."""
        if action.kind is ScreenKind.PLAIN:
            return action
        return replace(
            action, screens=tuple(mode for mode, screen in self.screens.items() if screen.kind >= action.kind)
        )

    def on_screen(self, mode: str) -> tuple[Action, ...]:
        """What can be done there, everything included that can be done anywhere."""
        return tuple(action for action in self.actions if action.works_on(mode))

    def footer(self, mode: str) -> tuple[Action, ...]:
        """What the footer of that screen shows, most needed first."""
        ranked = [action for action in self.on_screen(mode) if action.footer_rank(mode)]
        return tuple(sorted(ranked, key=lambda action: action.footer_rank(mode)))

    def past_footer(self, ctx: Context) -> tuple[Action, ...]:
        """What the footer of the screen in front shows in the past: what leads through it, then what only looks."""
        moves = [action for action in self.actions if action.past_rank and not action.blocked(ctx)]
        looks = [action for action in self.footer(ctx.current_mode) if action.works_in_past and not action.past_rank]
        return (*sorted(moves, key=lambda action: action.past_rank), *looks)

    def groups(self) -> list[tuple[str, list[Action]]]:
        """The actions under the headings of the help, in its order."""
        groups = sorted((TABS, *(group for feature in self.features for group in feature.help)), key=lambda g: g.order)
        return [(group.title, [action for action in self.actions if action.group == group.name]) for group in groups]

    def keys_of(self, action: Action) -> tuple[str, ...]:
        """The keys in force."""
        return self.keymap.get(action.name, action.keys)

"""Interface between the deck and its features: a feature gets the deck as a `Context`.

The deck gets the features' actions. Their registry provides keys, footer, help, palette and commands.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, tzinfo
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypedDict, TypeVar

from msgspec import field
from textual.screen import Screen
from textual.signal import Signal
from textual.worker import Worker

from livedeck.client import Api
from livedeck.monitor import AlarmKey, Clock, EventState, Feed, History, HistoryReads, Playback, Severity, Snapshot
from livedeck.operations.open_changes import OpenChanges
from livedeck.presentation.render_time import RenderTime
from livedeck.record import Record
from livedeck.text.segments import Segment
from livedeck.ui.kit.graphics import Graphics
from livedeck.ui.kit.selection import Absence
from livedeck.ui.shell.preferences import Displayed, ViewState

if TYPE_CHECKING:
    from livedeck.ui.shell.confirmer import Confirmer
    from livedeck.ui.shell.directory import Directory

R = TypeVar("R")
S = TypeVar("S")
ScreenType = TypeVar("ScreenType", bound=Screen[Any])

Opener = Callable[[Path], Awaitable[str]]
"""Function that opens a file in this machine's program for it. Returns the reason of a failure, or an empty text."""


class Identity(TypedDict):
    """Identity of the deck in the header.

    `is_past`: the deck shows the past. `recording`: file name of the shown recording; empty if the deck watches a
    platform. `pace`: returns the speed of the rehearsal whose clock the deck follows, or an empty text. `zone`: time
    zone of the local clock; None for the machine's.
    """

    profile: str
    host: str
    read_only: bool
    is_past: bool
    recording: str
    pace: Callable[[], str]
    zone: tzinfo | None


class Context(Protocol):
    """Deck as features see it.

    `snapshot`: newest snapshot; None before the first. `snapshot_signal`: published after each snapshot, each second,
    and when the selection, the frozen screen or the notices change. `api`: client; None if the deck cannot send
    changes. `history`: store for markers and actions, or None. `records`: reads of the stored past, or None. `past`:
    playback in place of the present; None while the present is shown. `fault`: reason why the monitor ended; empty
    while it runs. `open_changes`: sent changes without a verdict. `downloads`: folder for files without a folder in
    their path. `child_variables`: environment of processes that the deck starts. `has_fine_lines`: the terminal can
    show dots and blocks.
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
        """Names for ids without a name on the platform."""

    @property
    def confirmer(self) -> Confirmer:
        """Confirmer, which asks for consent and runs operations."""

    @property
    def theme(self) -> str:
        """Name of the theme in force."""

    @property
    def current_mode(self) -> str:
        """Mode of the current screen, even while a dialog covers the screen."""

    @property
    def screen(self) -> Screen[Any]:
        """Screen or dialog in front."""

    @property
    def screen_stack(self) -> Sequence[Screen[Any]]:
        """Screen of the current mode and the dialogs over it. The dialog in front is last."""

    def screen_of(self, kind: type[ScreenType]) -> ScreenType:
        """Return the screen in front, typed as `kind`.

        Actions may call this, because they run only on the screens in their `screens`.
        """

    def machine_time(self) -> datetime:
        """Return the current time of this machine's clock, even while the past is shown."""

    async def travel(self, moment: datetime | None) -> None:
        """Show the deck as it was at a moment; None shows the present.

        Raises PastError if no data are stored for the moment.
        """

    def render_time(self) -> RenderTime | None:
        """Return the time to paint for; None before the first snapshot.

        It stays the same object until the next tick.
        """

    def displayed(self) -> Displayed | None:
        """Return the content of the screens: the newest snapshot or the frozen snapshot."""

    def selected_event(self) -> EventState | None:
        """Return the selected event as shown; None without one.

        Until the operator chooses an event, the first event is selected.
        """

    def select_event(self, event_id: str) -> None:
        """Select an event on every screen."""

    def note_sight(self) -> None:
        """Record that the screen in front shows the newest snapshot and the selected event."""

    def forget_sights(self) -> None:
        """Forget the recent pictures, so that the next picture counts as seen at once.

        Call this after a key that changes the picture, because the person expects the change.
        """

    def last_seen(self) -> Snapshot | None:
        """Return the snapshot that a person saw last; None before the first. A key acts on this snapshot.

        A snapshot that was painted just before the key press does not count as seen.
        """

    def select_new_event(self, event_id: str) -> None:
        """Select an event that a person has just created, once it is listed. A choice of another event cancels this."""

    def no_event_text(self) -> str:
        """Return the reason why no event is selected, and advice."""

    def event_absence(self) -> Absence:
        """Return why the last selected event is selected no longer."""

    def has_chosen_event(self) -> bool:
        """Return whether the operator has chosen an event at least once.

        Before that, the cursor follows the worst event.
        """

    def reconcile_selection(
        self, rows: Sequence[EventState], everything: Sequence[EventState] = (), first: EventState | None = None
    ) -> None:
        """Clear the selection if the rows no longer contain the selected event. Selects no other event.

        `everything`: all rows, including rows that the filter hides. `first`: event under the cursor until a person
        chooses an event; None without rows.
        """

    def watch_event(self, event_id: str | None) -> None:
        """Poll the samples of an event more often than those of other events; None polls all equally often."""

    def has_keys_waiting(self) -> bool:
        """Return whether more keys of a burst have arrived. If so, the next picture would be out of date at once."""

    def has_keys_under_way(self) -> bool:
        """Return whether keys are waiting, or the last key still has effects to come."""

    def go_to(self, mode: str) -> None:
        """Show the screen of that mode."""

    def dispatch(self, name: str, argument: str = "") -> None:
        """Run the action `name`, or announce why it is not possible now."""

    def announce(self, text: str, severity: Severity = Severity.INFO) -> None:
        """Show a notice above the keys and keep it in the log. Replaces Textual's `notify`, which draws a toast."""

    def copy(self, text: str, name: str, *, in_clear: bool = False) -> None:
        """Copy a text to the clipboard of the terminal's machine, or to a file if the text is too long.

        `name`: name of the text. Secrets are masked unless `in_clear` is True. Set `in_clear` only if a person has
        requested the secret and the copy is recorded.
        """

    async def ask(self, dialog: Screen[R]) -> R:
        """Show a dialog over the current one and wait for its result. Call this only in a worker."""

    def open(self, dialog: Screen[R], then: Callable[[R | None], None] | None = None) -> None:
        """Show a dialog and pass its result to `then`."""

    def start(self, work: Awaitable[None], name: str) -> Worker[None]:
        """Run work in its own worker. The work must handle its errors itself."""

    def state(self, make: Callable[[Context], S]) -> S:
        """Return the state of a feature. The first call makes it by `make`; the state lasts until the deck ends."""

    def set_theme(self, name: str) -> bool:
        """Draw the deck in a theme and save the choice.

        If the terminal must not have colours, returns False without a change.
        """

    def suspend_process(self) -> None:
        """Stop the deck and return the terminal to the shell, until `fg` continues it."""

    def leave(self, code: int = 0) -> None:
        """End the deck with the exit code `code` and restore the terminal."""


FIRST = 1
"""Footer rank of a screen's main action, which is the first in the footer."""


class ScreenKind(IntEnum):
    """Kind of a screen, which decides its table keys. Each kind also has the keys of the kinds before it.

    ROWS: keys to move a cursor in rows. TABLE: keys to filter, to sort and to choose columns. EVENTS: keys for events,
    because each row belongs to an event.
    """

    PLAIN = 0
    ROWS = 1
    TABLE = 2
    EVENTS = 3


Run = Callable[[Context, str], Awaitable[None] | None]
"""Function that runs an action. The string is the argument of the action's command; empty for a key press.

If the function returns an awaitable, it runs in a separate worker and may wait for a dialog or the platform.
"""

Reason = Callable[[Context], str]
"""Function that returns the reason why an action is not possible now; empty if it is possible."""


def always(_: Context) -> str:
    """Return an empty text, because the action is always possible."""
    return ""


def needs_event(ctx: Context) -> str:
    """Return the reason why the action is blocked; empty if an event is selected."""
    return "" if ctx.selected_event() else f"needs an event: {ctx.no_event_text()}"


def own_actor(ctx: Context) -> str:
    """Return the author of this deck's alarm actions. A collector records the owner of the deck's token."""
    attachment = ctx.snapshot.attachment if ctx.snapshot else None
    is_shared = attachment is not None and attachment.actor and not attachment.is_alone
    return attachment.actor if attachment and is_shared else ctx.monitor.actor


def needs_collector(ctx: Context, *keys: AlarmKey) -> str:
    """Return the reason why an alarm action is blocked; empty if the collector can record it.

    `keys`: keys of the alarms.
    """
    attachment = ctx.snapshot.attachment if ctx.snapshot else None
    return attachment.refusal(*keys) if attachment else ""


def needs_chosen_event(ctx: Context) -> str:
    """Return the reason why the action is blocked; empty if a person has chosen an event.

    Before a choice, the cursor follows the worst event, and may move to another event just when a key is pressed.
    """
    if ctx.selected_event() and not ctx.has_chosen_event():
        return "needs an event that you have chosen: the cursor follows the worst event until you move it"
    return needs_event(ctx)


class Action(Record):
    """Action that a person can start.

    `name`: `group.verb`, also the action's command (`:event.complete`, `:complete`). `keys`: Textual's key names; the
    first key is shown. An action without keys is run from the palette or by its command. `label`: word for the footer.
    `own_help`: sentence without its full stop; if empty, the help of `operation` is used. `operation`: name of the
    operation that the action runs.

    `screens`: modes of the screens on which the action works; () for all. `kind`: if set, the action works on all
    screens of this kind. `blocked`: returns the reason why the action is not possible now. `writes`: the action changes
    the platform, so it is not possible in the past. `is_for_now`: the action polls the platform or stores data, so it
    is not possible in the past, either. `takes`: argument of the command; empty for none. `rank`: place in the footer;
    0 for none. `past_rank`: place in the footer while the past is shown; actions with 0 come after those with a place.
    `home`: mode of the screen on which the action is the main action. `alarm_label`: word in the footer before the name
    of the alarm that the action concerns. `fixed`: the key cannot be changed, and works while a dialog is open.

    An action that ends an object has a capital letter as its key. No screen gives a small letter to an action that
    writes and its capital to a harmless action, or the reverse.
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
        """True if the action acts on an alarm."""
        return self.group == "alarm"

    @property
    def help(self) -> str:
        """Help text: a sentence without its full stop. The first read imports the operations."""
        if self.own_help:
            return self.own_help
        from livedeck.operations.catalogue import OPERATIONS

        return OPERATIONS[self.operation].help

    @property
    def group(self) -> str:
        """Part of the action's name before the dot."""
        return self.name.partition(".")[0]

    @property
    def verb(self) -> str:
        """Part of the action's name after the dot, which is the short form of its command."""
        return self.name.partition(".")[2]

    @property
    def works_in_past(self) -> bool:
        """True if the action works while the past is shown."""
        return not self.writes and not self.is_for_now

    def footer_rank(self, mode: str) -> int:
        """Return the action's place in the footer of a screen; 0 for none."""
        return FIRST if self.home == mode else self.rank

    def works_on(self, mode: str) -> bool:
        """Return whether the action works on a screen."""
        return not self.screens or mode in self.screens

    def meets(self, other: Action) -> bool:
        """Return whether a screen has both actions, so that they must not share a key."""
        return not self.screens or not other.screens or bool(set(self.screens) & set(other.screens))

    def disabled_reason(self, ctx: Context, name: str) -> str:
        """Return the reason why the action is not possible now; empty if it is possible.

        The text is only an explanation. In a read-only deck the client itself refuses to write. `name`: the action as a
        person knows it.
        """
        if ctx.past and not self.works_in_past:
            return "You are viewing the past, which cannot be changed"
        if ctx.identity["read_only"] and self.writes:
            return f"RO: this deck is read-only, and {name} would change the platform"
        if ctx.api is None and self.writes:
            return f"{name} changes the platform, but this deck has no access to the platform"
        if not self.works_on(ctx.current_mode):
            return f"{name} works on {', '.join(self.screens)}"
        reason = self.blocked(ctx)
        return f"{name} {reason}" if reason else ""


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
    """Return an action that runs an operation and has its help. By default, the operation has the action's name."""
    operation = operation or name
    return Action(
        name, keys, label, "", run, screens, blocked=blocked, writes=True, takes=takes, rank=rank, operation=operation
    )


class Tab(Record):
    """Tab of a feature, and the action that opens the tab.

    `key`, `label`, `help`: key, label and help of the action. `run`: function that the action runs; None to open the
    feature's first screen. `is_of_probe`: the tab is shown only while a probe runs.
    """

    title: str
    key: str
    label: str
    help: str
    run: Run | None = None
    is_of_probe: bool = False

    @property
    def action_name(self) -> str:
        """Name of the action that opens the tab."""
        return f"screen.{self.title.lower()}"

    def action(self, mode: str) -> Action:
        """Return the action that opens the tab. `mode`: mode of the feature's first screen."""
        run = self.run or (lambda ctx, _: ctx.go_to(mode))
        return Action(self.action_name, (self.key,), self.label, self.help, run)


class HelpGroup(Record):
    """Heading in the help. `name`: group of the actions under the heading. `order`: sort key, smallest first."""

    name: str
    title: str
    order: int


class Unfinished(Record):
    """Work that ends if the person leaves the deck. `stop`: function that ends the work and waits for its clean-up."""

    title: str
    lines: tuple[Segment, ...]
    stop: Callable[[], Awaitable[None]] | None = None


class FeatureScreen(NamedTuple):
    """Screen of a feature. `load`: imports and returns the class of the screen; called when the screen opens."""

    load: Callable[[], type[Screen[Any]]]
    kind: ScreenKind = ScreenKind.PLAIN

    def create(self) -> Screen[Any]:
        """Return a new instance of the screen."""
        return self.load()()


class Feature(Record):
    """Interface of a package of `ui`. Its module of actions imports only modules that the first picture needs.

    `screens`: screens by mode. `help`: headings of the actions. `unfinished`: returns work that ends with the deck, or
    None.
    """

    actions: tuple[Action, ...] = ()
    screens: Mapping[str, FeatureScreen] = field(default_factory=dict)
    help: tuple[HelpGroup, ...] = ()
    tab: Tab | None = None
    unfinished: Callable[[Context], Unfinished | None] | None = None


TABS = HelpGroup("screen", "Screens", 0)
"""Heading of the actions that open tabs. It is the first heading in the help."""

Keymap = Mapping[str, tuple[str, ...]]
"""Name of an action -> its keys in the settings, if the settings change them."""


class ActionRegistry:
    """Actions of all features, with their keys in force.

    `keymap`: keys from the settings, which replace an action's own keys.
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
        self._footers: dict[str, tuple[Action, ...]] = {}

    def _resolved(self, action: Action) -> Action:
        """Return the action. If it has a `kind`, the modes of all screens of this kind become its `screens`."""
        if action.kind is ScreenKind.PLAIN:
            return action
        return replace(
            action, screens=tuple(mode for mode, screen in self.screens.items() if screen.kind >= action.kind)
        )

    def on_screen(self, mode: str) -> tuple[Action, ...]:
        """Return the actions that work on the screen `mode`."""
        return tuple(action for action in self.actions if action.works_on(mode))

    def footer(self, mode: str) -> tuple[Action, ...]:
        """Return the actions in the footer of the screen `mode`, most important first."""
        if mode not in self._footers:
            ranked = [action for action in self.on_screen(mode) if action.footer_rank(mode)]
            self._footers[mode] = tuple(sorted(ranked, key=lambda action: action.footer_rank(mode)))
        return self._footers[mode]

    def past_footer(self, ctx: Context) -> tuple[Action, ...]:
        """Return the actions in the footer while the past is shown.

        Actions that move in time are first. Actions that change nothing follow.
        """
        moves = [action for action in self.actions if action.past_rank and not action.blocked(ctx)]
        looks = [action for action in self.footer(ctx.current_mode) if action.works_in_past and not action.past_rank]
        return (*sorted(moves, key=lambda action: action.past_rank), *looks)

    def groups(self) -> list[tuple[str, list[Action]]]:
        """Return the headings of the help in order, each with its actions."""
        groups = sorted((TABS, *(group for feature in self.features for group in feature.help)), key=lambda g: g.order)
        members: dict[str, list[Action]] = {}
        for action in self.actions:
            members.setdefault(action.group, []).append(action)
        return [(group.title, members.get(group.name, [])) for group in groups]

    def keys_of(self, action: Action) -> tuple[str, ...]:
        """Return the action's keys in force: the keys in the settings, or else its own keys."""
        return self.keymap.get(action.name, action.keys)

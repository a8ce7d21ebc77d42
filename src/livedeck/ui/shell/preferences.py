"""Operator's view: table views, theme, frozen display and notices. Only table views and theme are saved."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

from msgspec import field

from livedeck.monitor import Severity, Snapshot
from livedeck.presentation.badges import severity_chip
from livedeck.presentation.filtering import PROJECTS, NamedViews, TableView
from livedeck.presentation.render_time import RenderTime
from livedeck.record import Record
from livedeck.text.segments import Line, StyleRole, wrap
from livedeck.text.values import safe

NOTICE_SECONDS = {Severity.INFO: 6.0, Severity.WARNING: 12.0, Severity.CRITICAL: 30.0}
"""Number of seconds that a notice stays above the keys, by severity."""


class Notice(Record):
    """Announced text. `at`: time of this machine's clock."""

    at: datetime
    severity: Severity
    text: str


def notice_lines(notices: tuple[Notice, ...], now: datetime, cells: int) -> list[Line]:
    """Return the lines of the last notice, at most `MAX_NOTICE_LINES`; empty after its `NOTICE_SECONDS`."""
    if not notices:
        return []
    notice = notices[-1]
    if (now - notice.at).total_seconds() >= NOTICE_SECONDS[notice.severity]:
        return []
    badge, role = severity_chip(notice.severity)
    first, *more = list(wrap(safe(notice.text), StyleRole.STRONG, cells - len(badge) - 1)) or [[]]
    indent = (" " * len(badge), StyleRole.STRONG)
    return [[(badge, role), *first], *([indent, *line] for line in more)][:MAX_NOTICE_LINES]


class Displayed(NamedTuple):
    """Content of the screens: a snapshot, and the instant for its ages."""

    snapshot: Snapshot
    render_time: RenderTime


MAX_NOTICE_LINES = 4
"""Maximum height in lines of a notice. A longer notice is cut on the screen, but is whole in the log of notices."""

MAX_NOTICES = 200
"""Maximum number of notices in memory."""


class Preferences(Record):
    """Saved preferences: the theme (empty before a choice) and the view of each table by name.

    `recent`: recently chosen ids by kind, last chosen first. `pinned`: ids of pinned events, last pinned first. Only a
    named view keeps its sort order. Any other table has the worst row first after a restart.
    """

    theme: str = ""
    views: Mapping[str, TableView] = field(default_factory=dict)
    recent: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    pinned: tuple[str, ...] = ()


MAX_PINNED = 50
"""Maximum number of pinned events."""


class PreferencesStore(Protocol):
    """Store of the preferences on this machine. Only the operator can read it."""

    def load(self) -> Preferences:
        """Return the saved preferences; the defaults if none are saved or they are unreadable."""

    def save(self, preferences: Preferences) -> None:
        """Start to save preferences, and return at once.

        Errors are logged, never raised, because a full disk must not end the deck.
        """

    def write_overflow(self, name: str, text: str) -> Path:
        """Write a text that is too long for the clipboard to a file, and return the path. Raises OSError.

        Blocks, so call this in a thread.
        """


class ViewState:
    """Operator's view in one deck: preferences, frozen display, notices.

    `store`: None if nothing is saved. `named`: views of the Events table in the settings.
    """

    def __init__(self, store: PreferencesStore | None, named: NamedViews = MappingProxyType({})) -> None:
        self.store = store
        self.named: NamedViews = {PROJECTS.name: PROJECTS, **named}
        self.notices: tuple[Notice, ...] = ()
        self.frozen: Displayed | None = None
        self._preferences = self._renewed(store.load()) if store else Preferences()
        self._pinned = frozenset(self._preferences.pinned)

    @property
    def theme(self) -> str:
        """Last chosen theme; empty before a choice."""
        return self._preferences.theme

    def view(self, table: str) -> TableView:
        """Return the operator's view of a table: filter, order and columns."""
        return self._preferences.views.get(table, TableView())

    def change_view(self, table: str, **changes: Any) -> None:
        """Change the operator's view of a table and save it. The changed view has no name."""
        self.use_view(table, replace(self.view(table), **{"name": "", **changes}))

    def use_view(self, table: str, view: TableView) -> None:
        """Arrange a table by a view, and save it."""
        self._save(replace(self._preferences, views={**self._preferences.views, table: view}))

    @property
    def pinned(self) -> frozenset[str]:
        """Ids of the pinned events."""
        return self._pinned

    def toggle_pin(self, event_id: str, listed: Container[str] = ()) -> bool | None:
        """Pin an event, or unpin it, and save the change. Returns whether the event is pinned now.

        If `MAX_PINNED` events are pinned already, first drop the pins of events that are not in `listed`. If that drops
        none, return None and change nothing.
        """
        others = tuple(pinned for pinned in self._preferences.pinned if pinned != event_id)
        has_pin = others == self._preferences.pinned
        if has_pin and len(others) >= MAX_PINNED:
            others = tuple(pinned for pinned in others if pinned in listed)
            if len(others) >= MAX_PINNED:
                return None
        pinned = (event_id, *others) if has_pin else others
        self._pinned = frozenset(pinned)
        self._save(replace(self._preferences, pinned=pinned))
        return has_pin

    def recent(self, kind: str) -> tuple[str, ...]:
        """Return the recently chosen ids of a kind, most recent first."""
        return self._preferences.recent.get(kind, ())

    def remember(self, kind: str, chosen: str, maximum: int) -> None:
        """Put the id `chosen` first among the recent ids of its kind, and drop ids after the first `maximum`."""
        others = tuple(id_ for id_ in self.recent(kind) if id_ != chosen)
        recent = {**self._preferences.recent, str(kind): (chosen, *others)[:maximum]}
        self._save(replace(self._preferences, recent=recent))

    def choose_theme(self, name: str) -> None:
        self._save(replace(self._preferences, theme=name))

    def add_notice(self, at: datetime, severity: Severity, text: str) -> None:
        """Add a notice. If there are more than `MAX_NOTICES`, drop the oldest."""
        self.notices = (*self.notices, Notice(at, severity, text))[-MAX_NOTICES:]

    def _renewed(self, preferences: Preferences) -> Preferences:
        """Return saved preferences with the arrangement that each named view has in the settings now.

        A table whose named view is gone from the settings shows all rows.
        """
        saved = _unsorted(preferences).views.items()
        views = {table: self.named.get(view.name, TableView()) if view.name else view for table, view in saved}
        return replace(preferences, views=views)

    def _save(self, preferences: Preferences) -> None:
        self._preferences = preferences
        if self.store:
            self.store.save(_unsorted(preferences))


def _unsorted(preferences: Preferences) -> Preferences:
    views = {name: replace(view, sort="", down=False) for name, view in preferences.views.items()}
    return replace(preferences, views=views)

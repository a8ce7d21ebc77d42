"""The operator's view: of each table, which theme, what is held still, the notices. Tables and theme are saved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from livedeck.monitor import Severity, Snapshot
from livedeck.presentation.badges import severity_chip
from livedeck.presentation.filtering import TableView
from livedeck.presentation.render_time import RenderTime
from livedeck.text.segments import Line, StyleRole, wrap
from livedeck.text.values import safe

NOTICE_SECONDS = {Severity.INFO: 6.0, Severity.WARNING: 12.0, Severity.CRITICAL: 30.0}
"""How long a notice stands above the keys."""


@dataclass(frozen=True, slots=True)
class Notice:
    """One thing that was announced. `at`: by this machine's clock."""

    at: datetime
    severity: Severity
    text: str


def notice_lines(notices: tuple[Notice, ...], now: datetime, cells: int) -> list[Line]:
    """The last notice for as long as it stands above the keys, in as many lines as it needs and may have."""
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
    """What the bodies of the screens show: a snapshot, and the instant that its ages are reckoned for."""

    snapshot: Snapshot
    render_time: RenderTime


MAX_NOTICE_LINES = 4
"""What a notice may hide of the screen; longer ones are cut, and stand whole among the notices."""

MAX_NOTICES = 200
"""Notices kept in memory at most."""


@dataclass(frozen=True, slots=True)
class Preferences:
    """What outlives a restart: a theme (empty: none was chosen) and the view of each table by its name.

    `recent`: the ids that were chosen last in forms, by what they are, the last one first.
    The order of the rows does not: after a restart the worst stands first again.
    """

    theme: str = ""
    views: Mapping[str, TableView] = field(default_factory=dict)
    recent: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


class PreferencesStore(Protocol):
    """A place on this machine that the operator alone can read."""

    def load(self) -> Preferences:
        """What was saved; the defaults where there is nothing, or nothing that can be read."""

    def save(self, preferences: Preferences) -> None:
        """Save that; returns at once. What fails is logged, never raised: a full disk stops no broadcast."""

    def write_overflow(self, name: str, text: str) -> Path:
        """Write a text that is too long for the clipboard; to be called in a thread. Raises OSError."""


class ViewState:
    """The operator's view of one deck: preferences, what is held still, notices. `store` None: nothing is saved."""

    def __init__(self, store: PreferencesStore | None) -> None:
        self.store = store
        self.notices: tuple[Notice, ...] = ()
        self.frozen: Displayed | None = None
        self._preferences = _unsorted(store.load()) if store else Preferences()

    @property
    def theme(self) -> str:
        """The theme that was chosen last; empty where none was."""
        return self._preferences.theme

    def view(self, table: str) -> TableView:
        """The view of the table of that name."""
        return self._preferences.views.get(table, TableView())

    def change_view(self, table: str, **changes: Any) -> None:
        """Change the view of that table, and save it."""
        view = replace(self.view(table), **changes)
        self._save(replace(self._preferences, views={**self._preferences.views, table: view}))

    def recent(self, kind: str) -> tuple[str, ...]:
        """The ids of that kind that were chosen last, the last one first."""
        return self._preferences.recent.get(kind, ())

    def remember(self, kind: str, chosen: str, maximum: int) -> None:
        """That id was chosen: keep it, before the others of its kind and `maximum` of them at most."""
        others = tuple(id_ for id_ in self.recent(kind) if id_ != chosen)
        recent = {**self._preferences.recent, str(kind): (chosen, *others)[:maximum]}
        self._save(replace(self._preferences, recent=recent))

    def choose_theme(self, name: str) -> None:
        """Save that theme."""
        self._save(replace(self._preferences, theme=name))

    def add_notice(self, at: datetime, severity: Severity, text: str) -> None:
        """Keep what was announced."""
        self.notices = (*self.notices, Notice(at, severity, text))[-MAX_NOTICES:]

    def _save(self, preferences: Preferences) -> None:
        self._preferences = preferences
        if self.store:
            self.store.save(_unsorted(preferences))


def _unsorted(preferences: Preferences) -> Preferences:
    views = {name: replace(view, sort="", down=False) for name, view in preferences.views.items()}
    return replace(preferences, views=views)

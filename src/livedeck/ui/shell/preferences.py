"""What the operator prefers: how each table looks, what is held still, what was said. The looks outlive a restart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from livedeck.monitor import Severity, Snapshot
from livedeck.presentation.badges import SEVERITY_BADGES
from livedeck.presentation.filtering import TableView
from livedeck.presentation.render_time import RenderTime
from livedeck.text import values
from livedeck.text.segments import Line, StyleRole

SHOWN = {Severity.INFO: 6.0, Severity.WARNING: 12.0, Severity.CRITICAL: 30.0}

"""Seconds that a notice stands above the keys."""


@dataclass(frozen=True, slots=True)
class Notice:
    """One thing that was said, when (this machine's clock) and how loud."""

    at: datetime
    severity: Severity
    text: str


def line(notices: tuple[Notice, ...], moment: RenderTime) -> list[Line]:
    """The last notice while it is news; no line afterwards."""
    if not notices or moment.seconds_since(notices[-1].at) >= SHOWN[notices[-1].severity]:
        return []
    glyph, word, ink = SEVERITY_BADGES[notices[-1].severity]
    return [[(f" {glyph} {word} ", ink), (values.safe(notices[-1].text), StyleRole.STRONG)]]


class Displayed(NamedTuple):
    """What the bodies of the screens show: a snapshot, and the instant that its ages are reckoned for."""

    snapshot: Snapshot
    render_time: RenderTime


NOTICES = 200

"""So many notices are kept in memory."""


@dataclass(frozen=True, slots=True)
class Preferences:
    """What outlives a restart: a theme (empty: none was chosen) and the view of each screen by its name."""

    theme: str = ""
    views: Mapping[str, TableView] = field(default_factory=dict)


class PreferencesStore(Protocol):
    """A place on this machine that the operator alone can read."""

    def load(self) -> Preferences:
        """What was kept; nothing where there is nothing, or nothing that can be read."""

    def save(self, kept: Preferences) -> None:
        """Keep that; returns at once. What fails is logged, never raised: a full disk stops no broadcast."""

    def spill(self, name: str, text: str) -> Path:
        """Write a text that is too long for the clipboard; to be called in a thread. Raises OSError."""


class ViewState:
    """One deck's arrangement. `keep` None: nothing outlives it."""

    def __init__(self, keep: PreferencesStore | None) -> None:
        self.keep = keep
        self.notices: tuple[Notice, ...] = ()
        self.frozen: Displayed | None = None
        self._kept = keep.load() if keep else Preferences()

    @property
    def theme(self) -> str:
        """The theme that was chosen last; empty where none was."""
        return self._kept.theme

    def view(self, screen: str) -> TableView:
        """How the table of that screen is arranged."""
        return self._kept.views.get(screen, TableView())

    def arrange(self, screen: str, **changes: Any) -> None:
        """Change the view of that screen, and keep it."""
        view = replace(self.view(screen), **changes)
        self._save(replace(self._kept, views={**self._kept.views, screen: view}))

    def choose_theme(self, name: str) -> None:
        """Keep that theme."""
        self._save(replace(self._kept, theme=name))

    def note(self, at: datetime, severity: Severity, text: str) -> None:
        """Remember what was said."""
        self.notices = (*self.notices, Notice(at, severity, text))[-NOTICES:]

    def _save(self, kept: Preferences) -> None:
        self._kept = kept
        if self.keep:
            self.keep.save(kept)

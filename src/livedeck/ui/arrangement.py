"""What the operator arranged: how each table looks, what is held still, what was said. The looks outlive a restart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from livedeck.monitor import Severity, Snapshot
from livedeck.ui.arranging import View
from livedeck.ui.notices import Notice
from livedeck.ui.renderables.moment import Moment

NOTICES = 200
"""So many notices are kept in memory."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What outlives a restart: a theme (empty: none was chosen) and the view of each screen by its name."""

    theme: str = ""
    views: Mapping[str, View] = field(default_factory=dict)


class Keep(Protocol):
    """A place on this machine that the operator alone can read."""

    def load(self) -> Kept:
        """What was kept; nothing where there is nothing, or nothing that can be read."""

    def save(self, kept: Kept) -> None:
        """Keep that. What fails is logged, never raised: a full disk stops no broadcast."""

    def spill(self, name: str, text: str) -> Path:
        """Write a text that is too long for the clipboard. Raises OSError."""


class Arrangement:
    """One deck's arrangement. `keep` None: nothing outlives it."""

    def __init__(self, keep: Keep | None) -> None:
        self.keep = keep
        self.notices: tuple[Notice, ...] = ()
        self.frozen: tuple[Snapshot, Moment] | None = None
        self._kept = keep.load() if keep else Kept()

    @property
    def theme(self) -> str:
        """The theme that was chosen last; empty where none was."""
        return self._kept.theme

    def view(self, screen: str) -> View:
        """How the table of that screen is arranged."""
        return self._kept.views.get(screen, View())

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

    def _save(self, kept: Kept) -> None:
        self._kept = kept
        if self.keep:
            self.keep.save(kept)

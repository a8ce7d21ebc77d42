"""Names for ids without a name on the platform, and the most recently chosen ids."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from livedeck.monitor import Snapshot
from livedeck.operations.schema import FieldValues, FormSchema, Referent, Suggestion, Suggestions
from livedeck.ui.shell.preferences import ViewState

Names = Mapping[str, Mapping[str, str]]
"""Kind of object (`Referent`) -> id -> name from the settings."""

MAX_RECENT = 8
"""Maximum number of recent ids of each kind."""


class Directory:
    """Suggests ids for the reference fields of a form: recent ids first, then ids with a name, then other ids.

    The platform lists no users, projects or folders, so their names come from the settings. An id without a name is
    described by the events that use it.
    """

    def __init__(self, names: Names, preferences: ViewState) -> None:
        self._names, self._preferences = names, preferences

    def suggestions(self, schema: FormSchema[Any], snapshot: Snapshot | None) -> Suggestions:
        """Return name of a field -> suggestions, for each reference field of the form that has suggestions."""
        by_field = {field.name: self.of(field.referent, snapshot) for field in schema.fields if field.referent}
        return {name: suggestions for name, suggestions in by_field.items() if suggestions}

    def of(self, referent: Referent, snapshot: Snapshot | None) -> tuple[Suggestion, ...]:
        """Return suggestions for ids of a kind.

        `snapshot`: snapshot whose events show which folders are in use, or None.
        """
        names, recent = self._names.get(referent, {}), self._preferences.recent(referent)
        notes = _used_in(snapshot) if snapshot and referent is Referent.FOLDER else {}
        others = sorted({*names, *notes} - {*recent}, key=lambda id_: (not names.get(id_), names.get(id_, ""), id_))
        last = {id_: f"last used{f', {notes[id_]}' if id_ in notes else ''}" for id_ in recent[:1]}
        return tuple(
            Suggestion(id_, names.get(id_, ""), last.get(id_, notes.get(id_, ""))) for id_ in (*recent, *others)
        )

    def remember(self, schema: FormSchema[Any], entries: FieldValues) -> None:
        """Remember the ids in the entries. They are suggested first from now on, even after a restart."""
        for field in schema.fields:
            entry = entries.get(field.name)
            if field.referent and isinstance(entry, str) and entry:
                self._preferences.remember(field.referent, entry, MAX_RECENT)


def _used_in(snapshot: Snapshot) -> dict[str, str]:
    """Return project or folder id -> text that names its events: `with Choir, hall B and 2 more`."""
    events = [state.event for state in snapshot.events]
    parents = [(event.parent_id, event.name or event.id) for event in events if event.parent_id]
    counts, first = Counter(parent for parent, _ in parents), dict(reversed(parents))
    more = {parent: f" and {count - 1} more" if count > 1 else "" for parent, count in counts.items()}
    return {parent: f"with {first[parent]}{more[parent]}" for parent in counts}

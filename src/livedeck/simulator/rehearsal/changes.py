"""Changes that reached the platform, matched to the rows of a drill that want or allow them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from livedeck.simulator.engine.journal import Entry
from livedeck.simulator.engine.pattern import RequestPattern
from livedeck.simulator.rehearsal.redaction import Redaction
from livedeck.simulator.rehearsal.scenario import Scenario

MAX_WORDS = 200
"""Maximum number of characters of a change in words."""

ENDS_EVENT = {"complete_event", "delete_event"}
"""Operations that end an event for its viewers."""


@dataclass(frozen=True, slots=True)
class Change:
    """Change that reached the platform. `does`: operation and body, without secrets.

    `event_id`, `event`: id and name of the event; empty without one. `answers`: indices of the scenario's answers that
    ask for this change. `ends_event`: the change completes or deletes the event.
    """

    at: datetime
    does: str
    event_id: str
    event: str
    is_carried_out: bool
    answers: tuple[int, ...]
    is_allowed: bool
    ends_event: bool


def changes_of(entries: Iterable[Entry], scenario: Scenario, secrets: Iterable[str]) -> Iterator[Change]:
    """Yield the changes among the entries of the journal. `secrets`: texts to mask in its words."""
    secrets = [*secrets]
    wanted = [None if row.request is None else RequestPattern(row.request) for row in scenario.answers]
    allowed = [RequestPattern(table) for table in scenario.allowed]
    for entry in entries:
        request = entry.request
        if request.is_read:
            continue
        yield Change(
            at=datetime.fromtimestamp(entry.answer.at, UTC),
            does=_words(entry, secrets),
            event_id=request.ids.get("event", ""),
            event=request.names.get("event", ""),
            is_carried_out=request.is_carried_out,
            answers=tuple(number for number, pattern in enumerate(wanted) if pattern and pattern.matches(request)),
            is_allowed=any(pattern.matches(request) for pattern in allowed),
            ends_event=request.operation in ENDS_EVENT,
        )


def _words(entry: Entry, secrets: Iterable[str]) -> str:
    """Return the change in words, the same for the same change."""
    request, hidden = entry.request, Redaction.of(entry, secrets)
    name = request.operation or request.method
    place = "" if "event" in request.names else hidden.text(request.path)
    return " ".join(filter(None, (name, place, hidden.text(request.text()))))[:MAX_WORDS]

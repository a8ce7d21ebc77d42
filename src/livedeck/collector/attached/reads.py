"""Collector's history, read by an attached deck."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from functools import wraps
from typing import Any, Protocol, TypeVar, cast

from livedeck.collector.attached.link import CollectorError, CollectorRefusedError
from livedeck.collector.protocol.questions import QUESTIONS, Question
from livedeck.monitor import HistoryReads

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Awaitable[Any]])

_UNKNOWN = (404, "unknown")
"""Status and code with which an older collector refuses a question that it does not know."""

_ADDED = frozenset(
    question.__name__ for question in (HistoryReads.unwatched, HistoryReads.stops, HistoryReads.silence_log)
)
"""Questions that older collectors lack. A report needs the results of all other questions."""


class Getter(Protocol):
    """Part of `Link` that `RemoteHistory` uses."""

    async def get(self, path: str, query: str = "") -> dict[str, Any]:
        """Return the JSON object of the collector's reply. Raises CollectorError."""


def _asked(ask: F) -> F:
    """Return a method that sends the question `ask` to the collector. After a failure its result is empty."""
    question = QUESTIONS[ask.__name__]

    @wraps(ask)
    async def put(self: RemoteHistory, *args: Any, **kwargs: Any) -> Any:
        try:
            return await self.put(question, question.query(*args, **kwargs))
        except CollectorError as error:
            is_refusal = isinstance(error, CollectorRefusedError) and (error.status, error.code) == _UNKNOWN
            if is_refusal and question.name in _ADDED:
                self.unknown_questions |= {question.name}
            elif self.is_strict:
                raise
            else:
                self.fault = str(error)
                self.failures += 1
        return await ask(self, *args, **kwargs)  # the same empty result as from an unreadable file

    return cast("F", put)


class RemoteHistory(HistoryReads):
    """Collector's history, read over HTTP. Each read is a question to the collector (`QUESTIONS`).

    Methods that watch a file for new rows return nothing here, because snapshots bring the new rows. `is_strict`: raise
    CollectorError if a question fails, so that no report is made from incomplete data. `now`: the collector's time at
    its last reply; None before the first. If an older collector lacks a question, its result is empty, and its name is
    added to `unknown_questions`.
    """

    fault: str = ""
    failures: int = 0

    def __init__(self, link: Getter, *, is_strict: bool = False) -> None:
        super().__init__()
        self.link, self.is_strict = link, is_strict
        self.now: datetime | None = None

    async def put(self, question: Question, query: str) -> Any:
        """Return the result of a question to the collector. Raises CollectorError."""
        values = await self.link.get(f"/v1/history/{question.name}", query)
        try:
            found, fault = question.load(values["answer"]), values["fault"]
            self.now = datetime.fromtimestamp(values["now"] / 1000, UTC)
        except (KeyError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
            reason = f"this deck cannot read the collector's response: {type(error).__name__}"
            raise CollectorError(reason) from None
        self.fault = f"at the collector: {fault}" if fault else ""
        self.failures += bool(fault)
        return found

    async def _read(self, query: Callable[..., T], otherwise: T) -> T:  # noqa: ARG002  without a file
        return otherwise

    series = _asked(HistoryReads.series)
    recorded = _asked(HistoryReads.recorded)
    readings = _asked(HistoryReads.readings)
    standing_alarms = _asked(HistoryReads.standing_alarms)
    streams = _asked(HistoryReads.streams)
    spans = _asked(HistoryReads.spans)
    events = _asked(HistoryReads.events)
    episodes = _asked(HistoryReads.episodes)
    watched = _asked(HistoryReads.watched)
    unwatched = _asked(HistoryReads.unwatched)
    stops = _asked(HistoryReads.stops)
    answer_log = _asked(HistoryReads.answer_log)
    silence_log = _asked(HistoryReads.silence_log)
    viewer_rounds = _asked(HistoryReads.viewer_rounds)
    ruling_log = _asked(HistoryReads.ruling_log)
    collected_streams = _asked(HistoryReads.collected_streams)
    alarm_log = _asked(HistoryReads.alarm_log)
    audit = _asked(HistoryReads.audit)
    intents = _asked(HistoryReads.intents)
    open_changes = _asked(HistoryReads.open_changes)
    markers = _asked(HistoryReads.markers)
    connection_log = _asked(HistoryReads.connection_log)
    notifications = _asked(HistoryReads.notifications)
    materials = _asked(HistoryReads.materials)

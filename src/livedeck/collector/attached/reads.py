"""The history of a collector, asked by a deck that is attached to it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from functools import wraps
from typing import Any, Protocol, TypeVar, cast

from livedeck.collector.attached.link import CollectorError
from livedeck.collector.protocol.questions import QUESTIONS, Question
from livedeck.monitor import HistoryReads

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Awaitable[Any]])


class Getter(Protocol):
    """What is wanted of a link."""

    async def get(self, path: str, query: str = "") -> dict[str, Any]:
        """The object that the collector answers. Raises CollectorError."""


def _asked(ask: F) -> F:
    """The same question, put to the collector; answered with nothing where it cannot be asked."""
    question = QUESTIONS[ask.__name__]

    @wraps(ask)
    async def answer(self: RemoteHistory, *args: Any, **kwargs: Any) -> Any:
        try:
            return await self.put(question, question.query(*args, **kwargs))
        except CollectorError as error:
            if self.is_strict:
                raise
            self.fault = str(error)
        return await ask(self, *args, **kwargs)  # what a file that cannot be read gives

    return cast("F", answer)


class RemoteHistory(HistoryReads):
    """The past as a collector has it. What is new since the last time is in its snapshots, and nothing here.

    `is_strict`: raises CollectorError for a question that is not answered, so that nothing is told from half of the
    answers. `now`: the collector's clock at its last answer; None before.
    """

    fault: str = ""

    def __init__(self, link: Getter, *, is_strict: bool = False) -> None:
        super().__init__()
        self.link, self.is_strict = link, is_strict
        self.now: datetime | None = None

    async def put(self, question: Question, query: str) -> Any:
        """What the collector answers to that. Raises CollectorError."""
        values = await self.link.get(f"/v1/history/{question.name}", query)
        try:
            found, fault = question.load(values["answer"]), values["fault"]
            self.now = datetime.fromtimestamp(values["now"] / 1000, UTC)
        except (KeyError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
            reason = f"the collector answers otherwise than this deck understands: {type(error).__name__}"
            raise CollectorError(reason) from None
        self.fault = f"at the collector: {fault}" if fault else ""
        return found

    async def _read(self, query: Callable[..., T], otherwise: T) -> T:  # noqa: ARG002  there is no file
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
    answer_log = _asked(HistoryReads.answer_log)
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

"""Route for questions to the collector's history (collector.md, "Questions")."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from msgspec import json
from pydantic import create_model
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from livedeck.collector.protocol.questions import QUESTIONS, Question, QuestionError
from livedeck.collector.serving.endpoints import Caller, Endpoint, Parameter, Refusal
from livedeck.monitor import HistoryReads
from livedeck.text.secrets import masked_line

MAX_QUESTIONS = 2
"""Maximum number of questions at a time, because results are in memory as a whole and can be large."""


@dataclass(frozen=True)
class _Past:
    """History of the collector, or None. `now`: returns the collector's time."""

    history: HistoryReads | None
    now: Callable[[], datetime]
    slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(MAX_QUESTIONS))

    async def respond(self, question: Question, request: Request) -> Response:
        """Respond with the answer to a question."""
        history = self.history
        if history is None:
            raise Refusal(503, "no history", "this collector keeps no history")
        async with self.slots:
            failures = history.failures
            try:
                arguments = question.arguments(request.query_params.multi_items())
                found = await getattr(history, question.name)(**arguments)
            except QuestionError as error:
                raise Refusal(422, "not understood", masked_line(str(error), 300)) from None
            except (ArithmeticError, ValueError):
                raise Refusal(422, "not understood", "a time or a number is out of range") from None
            fault = history.fault if history.failures > failures else ""  # a write that fails leaves the result whole
            content = await asyncio.to_thread(_dumped, question, found, fault, round(self.now().timestamp() * 1000))
        return Response(content, media_type="application/json", headers={"Cache-Control": "no-store"})


_WORDS = {
    "columns": "Number of columns.",
    "event_id": "Id of an event; leave it out for all events.",
    "newest": "Maximum number of newest samples of each stream; -1 for all.",
    "now": "Time at which the alarms were open.",
    "since": "Start: a time with its zone. For samples also seconds since 1970, by the server's clock.",
    "stream_id": "Id of a stream.",
    "streams": "Event id -> stream id.",
    "until": "End, in the form of `since`.",
    "video_id": "Id of a video.",
}
"""Parameter of a question -> its meaning."""


def routes(history: HistoryReads | None, now: Callable[[], datetime]) -> list[Route]:
    """Return a route for each question. `history`: history of the collector, or None. `now`: the collector's time."""
    past = _Past(history, now)
    return [endpoint(question).route(past) for question in QUESTIONS.values()]


def endpoint(question: Question) -> Endpoint[_Past]:
    """Return the endpoint of a question, without the parameter and reply types. `described` adds these."""

    async def respond(past: _Past, request: Request, _: Caller) -> Response:
        return await past.respond(question, request)

    respond.__name__, respond.__doc__ = f"history_{question.name}", question.ask.__doc__
    return Endpoint("GET", f"/v1/history/{question.name}", "read", respond, refuses=(422, 503))


def described(question: Question) -> Endpoint[_Past]:
    """Return the endpoint of a question with the types of its parameters and of its reply."""
    parameters = tuple(
        Parameter(name, _WORDS[name], adapter.json_schema(), is_required=name in question.required, is_json=is_json)
        for name, (adapter, is_json) in question.parameters.items()
    )
    reply = create_model(f"{question.name}_reply", answer=(question.answer, ...), fault=(str, ...), now=(int, ...))
    return replace(endpoint(question), parameters=parameters, reply=reply)


def _dumped(question: Question, found: Any, fault: str, now: int) -> bytes:
    """Return the body of the reply. Even in a thread msgspec blocks the event loop, 4 ms for a day of samples."""
    return json.encode({"answer": question.dump(found), "fault": masked_line(fault), "now": now})

"""Route for questions to the collector's history (collector.md, "Questions")."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime
from typing import Any

from msgspec import json
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from livedeck.collector.protocol.questions import QUESTIONS, Question, QuestionError
from livedeck.collector.serving.endpoints import Caller, Refusal, endpoint
from livedeck.monitor import HistoryReads
from livedeck.text.secrets import masked_line

MAX_QUESTIONS = 2
"""Maximum number of questions at a time, because results are in memory as a whole and can be large."""


def routes(history: HistoryReads | None, now: Callable[[], datetime]) -> list[Route]:
    """Return the route. `history`: history of the collector, or None. `now`: returns the collector's time."""
    slots = asyncio.Semaphore(MAX_QUESTIONS)

    async def respond(request: Request, _: Caller) -> Response:
        question = QUESTIONS.get(request.path_params["question"])
        if question is None:
            raise Refusal(404, "unknown", f"no such question; use one of {', '.join(QUESTIONS)}")
        if history is None:
            raise Refusal(503, "no history", "this collector keeps no history")
        async with slots:
            failures = history.failures
            try:
                arguments = question.arguments(request.query_params.multi_items())
                found = await getattr(history, question.name)(**arguments)
            except QuestionError as error:
                raise Refusal(422, "not understood", masked_line(str(error), 300)) from None
            except (ArithmeticError, ValueError):
                raise Refusal(422, "not understood", "a time or a number is out of range") from None
            fault = history.fault if history.failures > failures else ""  # a write that fails leaves the result whole
            content = await asyncio.to_thread(_dumped, question, found, fault, round(now().timestamp() * 1000))
        return Response(content, media_type="application/json", headers={"Cache-Control": "no-store"})

    return [Route("/v1/history/{question}", endpoint("read", respond), methods=["GET"])]


def _dumped(question: Question, found: Any, fault: str, now: int) -> bytes:
    """Return the body of the reply. Even in a thread msgspec blocks the event loop, 4 ms for a day of samples."""
    return json.encode({"answer": question.dump(found), "fault": masked_line(fault), "now": now})

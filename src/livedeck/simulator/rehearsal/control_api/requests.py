"""Routes of the journal: list, find, count and verify the requests that came."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Sequence
from importlib import metadata
from typing import Annotated, Any

from pydantic import AfterValidator, Field
from starlette.responses import Response

from livedeck.simulator.engine.journal import Entry, Journal, NearMiss
from livedeck.simulator.engine.pattern import PatternError, RequestPattern
from livedeck.simulator.engine.store import Document
from livedeck.simulator.engine.world import World
from livedeck.simulator.errors import conflict, invalid
from livedeck.simulator.http import ApiRequest, Endpoint, data, json_response
from livedeck.simulator.models import UNSET, Must, Parameters, RequestBody, digits, inside, integer, number
from livedeck.simulator.rehearsal.har import archive, show_entry
from livedeck.simulator.rehearsal.redaction import Redaction

MAX_WAIT = 60
"""Seconds that a request of the journal may wait."""


def _checked_pattern(table: dict[str, Any]) -> dict[str, Any]:
    try:
        RequestPattern(table, of_journal=True)
    except PatternError as error:
        raise inside(error.problems) from None
    return table


Pattern = Annotated[dict[str, Any], Must("a table"), AfterValidator(_checked_pattern)]
Count = Annotated[int, integer(0, 10**9)]
Patterns = Annotated[
    list[Pattern], Field(min_length=1, max_length=100, description="a list of 1 to 100 patterns, in order")
]


class EntryList(Parameters):
    """Entries after a number, at most `limit`; `wait`: the seconds to hold the answer until there is one."""

    after: Annotated[int, digits(0)] = 0
    limit: Annotated[int, digits(1, 1000)] = 100
    wait: Annotated[int, digits(0, MAX_WAIT)] = 0


class Search(RequestBody):
    """Pattern that entries match, and how many of them to return, the newest."""

    pattern: Pattern = Field(default_factory=dict)
    limit: Annotated[int, integer(1, 1000)] = 100


class Counting(RequestBody):
    """Pattern that entries match."""

    pattern: Pattern = Field(default_factory=dict)


class Expectation(RequestBody):
    """Number of requests that match a pattern, or patterns that requests match in this order.

    `within`: seconds to wait for it.
    """

    pattern: Pattern = UNSET
    exactly: Count = UNSET
    at_least: Count = UNSET
    at_most: Count = UNSET
    in_order: Patterns = UNSET
    within: Annotated[float, number(0, MAX_WAIT)] = 0.0


async def list_requests(request: ApiRequest[EntryList]) -> Response:
    """List the entries of the journal, oldest first; with `wait`, hold until there is one."""
    query, journal = request.query(), _journal(request)
    await _until(journal, query.wait, lambda: bool(journal.after(query.after)))
    return data(_show(request.world, journal.after(query.after)[: query.limit]))


async def find_requests(request: ApiRequest[Search]) -> Response:
    """Return the newest entries that match a pattern, oldest first."""
    search = await request.body()
    found = [*_journal(request).find(RequestPattern(search.pattern, of_journal=True))]
    return data(_show(request.world, found[-search.limit :]))


async def count_requests(request: ApiRequest[Counting]) -> Response:
    """Count the entries that match a pattern."""
    pattern = RequestPattern((await request.body()).pattern, of_journal=True)
    return data({"count": sum(1 for _ in _journal(request).find(pattern))})


async def verify_requests(request: ApiRequest[Expectation]) -> Response:
    """Say whether the expected requests came; if not, with the entries that almost match."""
    expected, journal = await request.body(), _journal(request)
    bounds = expected.given().keys() & {"exactly", "at_least", "at_most"}
    if "in_order" in expected.given():
        if bounds or "pattern" in expected.given():
            raise invalid(("in_order", "must be left out beside pattern, exactly, at_least and at_most"))
        patterns = [RequestPattern(table, of_journal=True) for table in expected.in_order]
        await _until(journal, expected.within, lambda: journal.first_missing(patterns) == len(patterns))
        came = journal.first_missing(patterns)
        missing = patterns[came] if came < len(patterns) else None
        return data(_verdict(request.world, came, missing, journal, with_matches=True))
    if len(bounds) != 1:
        raise invalid(("exactly", "must be given, or at_least, or at_most, or in_order: one of them"))
    (bound,) = bounds
    wanted, pattern = getattr(expected, bound), RequestPattern(expected.pattern or {}, of_journal=True)

    def count() -> int:
        return sum(1 for _ in journal.find(pattern))

    await _until(journal, expected.within, lambda: count() >= wanted if bound == "at_least" else count() > wanted)
    met = count()
    is_met = {"exactly": met == wanted, "at_least": met >= wanted, "at_most": met <= wanted}[bound]
    return data(_verdict(request.world, met, None if is_met else pattern, journal))


async def archive_requests(request: ApiRequest[None]) -> Response:
    """Return the journal as an HTTP Archive (HAR 1.2)."""
    entries = _show(request.world, _journal(request).after(0))
    return json_response(json.dumps(archive(entries, request.origin, metadata.version("livedeck"))).encode())


async def forget_requests(request: ApiRequest[None]) -> Response:
    """Forget every entry. The numbers go on."""
    _journal(request).clear()
    return data({"requests": 0})


def _journal(request: ApiRequest[Any]) -> Journal:
    """Return the journal. Raises the error that it is turned off."""
    journal = request.world.journal
    if not journal.limit:
        raise conflict("the journal is turned off: start with --journal N")
    return journal


async def _until(journal: Journal, seconds: float, is_so: Callable[[], bool]) -> None:
    """Wait until something is so, or for these seconds of this machine."""
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    while not is_so() and (left := end - loop.time()) > 0:
        try:
            await journal.wait_after(journal.last, left)
        except asyncio.CancelledError:  # the server stops: answer with what is there
            return


def _show(world: World, entries: Iterable[Entry]) -> list[Document]:
    secrets = [workspace.token for workspace in world.workspaces()]
    return [show_entry(entry, secrets) for entry in entries]


def _verdict(
    world: World, count: int, failed: RequestPattern | None, journal: Journal, *, with_matches: bool = False
) -> Document:
    """Return the result. `failed`: the pattern whose requests did not come as expected; None if all is well."""
    misses = journal.near_misses(failed, with_matches=with_matches) if failed else []
    return {"verified": failed is None, "count": count, "near_misses": [_show_miss(world, miss) for miss in misses]}


def _show_miss(world: World, miss: NearMiss) -> Document:
    entry = miss.entry
    hidden = Redaction.of(entry, [workspace.token for workspace in world.workspaces()])
    differences = miss.pattern.differences(entry.request, entry.answer)
    return {
        "n": entry.n,
        "method": entry.request.method,
        "path": hidden.text(entry.request.path),
        "operation": entry.request.operation,
        "status": entry.answer.status,
        "outcome": entry.answer.outcome,
        "distance": round(miss.distance, 3),
        "differs": [hidden.difference(difference) for difference in differences],
    }


ENDPOINTS: Sequence[Endpoint[Any]] = (
    Endpoint("GET", "/_control/requests", list_requests, EntryList),
    Endpoint("DELETE", "/_control/requests", forget_requests),
    Endpoint("POST", "/_control/requests/find", find_requests, Search),
    Endpoint("POST", "/_control/requests/count", count_requests, Counting),
    Endpoint("POST", "/_control/requests/verify", verify_requests, Expectation),
    Endpoint("GET", "/_control/requests.har", archive_requests),
)

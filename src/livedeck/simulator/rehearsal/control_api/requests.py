"""Routes of the journal: list, find, count and verify the requests that came."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from functools import partial
from importlib import metadata
from typing import Annotated, Any

from pydantic import AfterValidator, Field
from starlette.responses import Response

from livedeck.simulator.engine.journal import Entry, Journal, NearMiss
from livedeck.simulator.engine.pattern import RequestPattern
from livedeck.simulator.engine.store import Document
from livedeck.simulator.engine.world import World
from livedeck.simulator.errors import conflict, invalid
from livedeck.simulator.http import ApiRequest, Endpoint, data, json_response
from livedeck.simulator.models import UNSET, Must, Parameters, RequestBody, digits, integer, number
from livedeck.simulator.rehearsal.fault_arguments import checked_pattern
from livedeck.simulator.rehearsal.har import archive, show_entry
from livedeck.simulator.rehearsal.redaction import Redaction

MAX_WAIT = 60
"""Maximum seconds that a request for entries may wait."""


Pattern = Annotated[dict[str, Any], Must("a table"), AfterValidator(partial(checked_pattern, of_journal=True))]
Count = Annotated[int, integer(0, 10**9)]
Patterns = Annotated[
    list[Pattern], Field(min_length=1, max_length=100, description="a list of 1 to 100 patterns, in order")
]


class EntryList(Parameters):
    """Entries after a number, at most `limit`. `wait`: seconds of this machine to wait for the first."""

    after: Annotated[int, digits(0)] = 0
    limit: Annotated[int, digits(1, 1000)] = 100
    wait: Annotated[int, digits(0, MAX_WAIT)] = 0


class Search(RequestBody):
    """Pattern that entries match, and the maximum number of entries to return, the newest ones."""

    pattern: Pattern = Field(default_factory=dict)
    limit: Annotated[int, integer(1, 1000)] = 100


class Counting(RequestBody):
    """Pattern that entries match."""

    pattern: Pattern = Field(default_factory=dict)


class Expectation(RequestBody):
    """Number of requests that match a pattern, or patterns that requests match in this order.

    `within`: seconds of this machine to wait for it.
    """

    pattern: Pattern = UNSET
    exactly: Count = UNSET
    at_least: Count = UNSET
    at_most: Count = UNSET
    in_order: Patterns = UNSET
    within: Annotated[float, number(0, MAX_WAIT)] = 0.0


async def list_requests(request: ApiRequest[EntryList]) -> Response:
    """List the entries of the journal, oldest first. With `wait`, wait until an entry exists."""
    query, journal = request.query(), _journal(request)
    await _until(journal, query.wait, lambda: bool(journal.after(query.after)))
    return data(await _show(request.world, journal.after(query.after)[: query.limit]))


async def find_requests(request: ApiRequest[Search]) -> Response:
    """Return the newest entries that match a pattern, oldest first."""
    search = await request.body()
    found = [*_journal(request).find(RequestPattern(search.pattern, of_journal=True))]
    return data(await _show(request.world, found[-search.limit :]))


async def count_requests(request: ApiRequest[Counting]) -> Response:
    """Count the entries that match a pattern."""
    pattern, journal = RequestPattern((await request.body()).pattern, of_journal=True), _journal(request)
    return data({"count": sum(1 for _ in journal.find(pattern)), "dropped": journal.dropped})


async def verify_requests(request: ApiRequest[Expectation]) -> Response:
    """Say whether the expected requests came: true, false, or null if a dropped request may match. List near misses."""
    expected, journal = await request.body(), _journal(request)
    bounds = expected.given().keys() & {"exactly", "at_least", "at_most"}
    if "in_order" in expected.given():
        if bounds or "pattern" in expected.given():
            raise invalid(("in_order", "must be left out if pattern, exactly, at_least or at_most is given"))
        patterns = [RequestPattern(table, of_journal=True) for table in expected.in_order]
        await _until(journal, expected.within, lambda: journal.first_missing(patterns) == len(patterns))
        came = journal.first_missing(patterns)
        missing = patterns[came] if came < len(patterns) else None
        is_known = missing is None or all(map(journal.is_whole, patterns))
        return data(_verdict(request.world, came, missing, journal, is_known=is_known, with_matches=True))
    if len(bounds) != 1:
        raise invalid(("exactly", "give only one of exactly, at_least, at_most and in_order"))
    (bound,) = bounds
    wanted, pattern = getattr(expected, bound), RequestPattern(expected.pattern or {}, of_journal=True)

    def count() -> int:
        return sum(1 for _ in journal.find(pattern))

    await _until(journal, expected.within, lambda: count() >= wanted if bound == "at_least" else count() > wanted)
    met = count()
    is_met = {"exactly": met == wanted, "at_least": met >= wanted, "at_most": met <= wanted}[bound]
    is_known = journal.is_whole(pattern) or met > wanted or (is_met and bound == "at_least")
    return data(_verdict(request.world, met, None if is_met else pattern, journal, is_known=is_known))


async def archive_requests(request: ApiRequest[None]) -> Response:
    """Return the journal as an HTTP Archive (HAR 1.2)."""
    journal, version = _journal(request), metadata.version("livedeck")
    dropped, entries = journal.dropped, await _show(request.world, journal.after(0))
    har = archive(entries, request.origin, version, dropped=dropped)
    return json_response(json.dumps(har).encode())


async def forget_requests(request: ApiRequest[None]) -> Response:
    """Forget every entry, and the requests in progress. The numbers go on."""
    _journal(request).clear()
    return data({"requests": 0})


def _journal(request: ApiRequest[Any]) -> Journal:
    """Return the journal. Raises an error if it is turned off."""
    journal = request.world.journal
    if not journal.limit:
        raise conflict("the journal is turned off: start with --journal N")
    return journal


async def _until(journal: Journal, seconds: float, is_so: Callable[[], bool]) -> None:
    """Wait until `is_so` returns True, at most for `seconds` of this machine."""
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    while not is_so() and (left := end - loop.time()) > 0:
        await journal.wait_after(journal.last, left)


async def _show(world: World, entries: Sequence[Entry]) -> list[Document]:
    """Return the entries as the control API shows them. A full journal takes seconds, so a thread works on it."""
    secrets = world.tokens()
    return await asyncio.to_thread(lambda: [show_entry(entry, secrets) for entry in entries])


def _verdict(
    world: World,
    count: int,
    failed: RequestPattern | None,
    journal: Journal,
    *,
    is_known: bool,
    with_matches: bool = False,
) -> Document:
    """Return the result of a check in the form of the control API.

    `failed`: the pattern whose requests did not come as expected; None if all is well. `is_known`: no dropped request
    can change the result.
    """
    misses = journal.near_misses(failed, with_matches=with_matches) if failed else []
    return {
        "verified": failed is None if is_known else None,
        "count": count,
        "dropped": journal.dropped,
        "near_misses": [_show_miss(world, miss) for miss in misses],
    }


def _show_miss(world: World, miss: NearMiss) -> Document:
    entry = miss.entry
    hidden = Redaction.of(entry, world.tokens())
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

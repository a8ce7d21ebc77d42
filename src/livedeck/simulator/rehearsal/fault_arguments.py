"""Fields of a fault as a rehearsal gives them, in JSON or TOML, and as the control API shows them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import inf
from typing import Annotated, Any

from pydantic import AfterValidator, ConfigDict, Field, model_validator

from livedeck.simulator.api import ENDPOINTS
from livedeck.simulator.engine.clock import format_epoch
from livedeck.simulator.engine.faults import FAULT_EFFECTS, LANDINGS, LATE_ANSWERS, Fault, FaultCounts
from livedeck.simulator.engine.pattern import PatternError, RequestPattern
from livedeck.simulator.engine.store import Document
from livedeck.simulator.models import UNSET, Must, RequestBody, inside, integer, number, one_of, parsed, text
from livedeck.simulator.rehearsal.naming import there_are

KIND_FIELDS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(FAULT_EFFECTS, ()),
    "status": ("status",),
    "rate-limit": ("seconds", "retry_after"),
    "redirect": ("status",),
    "answer": ("status", "headers", "json", "body"),
    "latency": ("seconds", "jitter"),
    "late-apply": ("seconds", "lands", "answer", "status"),
    "drip": ("size", "pause"),
    "bandwidth": ("kbit_per_s",),
    "reset-peer": ("after",),
    "limit-data": ("bytes",),
    "slow-close": ("seconds",),
    "late-samples": ("seconds",),
    "skew": ("seconds",),
    "hls-missing": ("every",),
    "hls-slow": ("seconds",),
    "hls-late": ("seconds",),
    "cdn-down": ("host", "status"),
}
"""Kind of fault -> the fields that it uses, besides those of every fault."""

NEEDED = {
    "bandwidth": "kbit_per_s",
    "limit-data": "bytes",
    "slow-close": "seconds",
    "hls-missing": "every",
    "cdn-down": "host",
}
"""Kind of fault -> its required field."""

OPERATIONS = {endpoint.operation: endpoint for endpoint in ENDPOINTS}
"""Name of an operation -> its endpoint."""

_OWN_FIELDS = {name for names in KIND_FIELDS.values() for name in names}
_STATUSES = {"redirect": (300, 399), "answer": (200, 599)}
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_FRAMING = {"content-length", "transfer-encoding", "date"}
_HEADER_RULE = "must be one line of ASCII text, in a header other than Content-Length, Transfer-Encoding and Date"


def checked_pattern(table: dict[str, Any], *, of_journal: bool = False) -> dict[str, Any]:
    """Return the table of a request pattern. Raises the error of a validator for a wrong one."""
    try:
        RequestPattern(table, of_journal=of_journal)
    except PatternError as error:
        raise inside(error.problems) from None
    named = table.get("operation")
    if isinstance(named, str) and named not in OPERATIONS:
        raise inside([("operation", f'no operation is called "{named}"; {there_are(OPERATIONS, named)}')])
    return table


def _checked_headers(headers: dict[str, Any]) -> dict[str, Any]:
    wrong = [
        (name, _HEADER_RULE)
        for name, value in headers.items()
        if not (
            _HEADER.fullmatch(name)
            and name.lower() not in _FRAMING
            and isinstance(value, str)
            and (value == "" or (value.isprintable() and value.isascii()))
        )
    ]
    if wrong:
        raise inside(wrong)
    return headers


PatternTable = Annotated[dict[str, Any], Must("a table"), AfterValidator(checked_pattern)]
"""Table of a request pattern."""


def _checked_id(value: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9._-]{1,64}", value):
        raise ValueError
    return value


FaultId = Annotated[str, parsed("1 to 64 letters, digits and . _ -", _checked_id, {"maxLength": 64})]
_Numbers = Annotated[list[Annotated[int, integer(1, 10**9)]], Field(min_length=1, max_length=1000)]


class FaultArguments(RequestBody):
    """Fields of a `Fault`, and `lasts`: the number of seconds for which the fault is in force."""

    model_config = ConfigDict(extra="forbid", defer_build=True, populate_by_name=True)

    id: FaultId = UNSET
    kind: Annotated[str, one_of(*FAULT_EFFECTS)]
    match: PatternTable = UNSET
    nth: Annotated[_Numbers, Must("a list of 1 to 1000 whole numbers from 1")] = UNSET
    skip: Annotated[int, integer(0, 10**9)] = UNSET
    times: Annotated[int, integer(1, 10**9)] = UNSET
    chance: Annotated[float, number(0, 1)] = UNSET
    lasts: Annotated[float, number(0, 1e9)] = UNSET
    status: Annotated[int, integer(200, 599)] = UNSET
    seconds: Annotated[float, number(-1e6, 1e6)] = UNSET
    jitter: Annotated[float, number(0, 1e6)] = UNSET
    retry_after: Annotated[str, one_of("none", "seconds", "date")] = UNSET
    lands: Annotated[str, one_of(*LANDINGS)] = UNSET
    answer: Annotated[str, one_of(*LATE_ANSWERS)] = UNSET
    headers: Annotated[dict[str, Any], Must("a table of headers"), AfterValidator(_checked_headers)] = UNSET
    json_: Annotated[Any, Field(alias="json", description="any JSON")] = UNSET
    body: Annotated[str, text(0, 1024 * 1024)] = UNSET
    size: Annotated[int, integer(1, 10**9)] = UNSET
    pause: Annotated[float, number(0, 1e6)] = UNSET
    kbit_per_s: Annotated[float, number(0.1, 1e7)] = UNSET
    after: Annotated[int, integer(0, 10**9)] = UNSET
    bytes: Annotated[int, integer(0, 10**9)] = UNSET
    every: Annotated[int, integer(1, 10**9)] = UNSET
    host: Annotated[str, text(1, 253)] = UNSET

    @model_validator(mode="after")
    def _check_kind(self) -> FaultArguments:
        """Refuse a field that the kind does not use, and values that exclude each other."""
        wrong = [*self._misplaced()]
        if wrong:
            raise inside(wrong)
        return self

    def _misplaced(self) -> Iterator[tuple[str, str]]:
        used = KIND_FIELDS[self.kind]
        given = {name.rstrip("_") for name in self.model_fields_set}
        for name in sorted(given & _OWN_FIELDS - {*used}):
            choice = f"which uses {', '.join(used)}" if used else "which has no fields of its own"
            yield name, f"is not used by {self.kind}, {choice}"
        needed = NEEDED.get(self.kind)
        if needed and needed not in given:
            yield needed, f"must be given for {self.kind}"
        for name in sorted(given & {"skip", "times", "chance"} if "nth" in given else ()):
            yield name, "must be left out if nth is given"
        low, high = _STATUSES.get(self.kind, (300, 599))
        if "status" in used and "status" in given and not low <= self.status <= high:
            yield "status", f"must be an integer from {low} to {high}"
        if {"json", "body"} <= given & {*used}:
            yield "body", "must be left out if json is given"
        if self.status in {204, 205, 304} and given & {"json", "body"}:
            yield "status", "must be a status whose replies have a body"

    def fault(self, now: float) -> Fault:
        """Return the fault, in force from `now` (epoch seconds)."""
        fields = {name.rstrip("_"): value for name, value in self.given().items()}
        seconds = fields.pop("lasts", None)
        until = inf if seconds is None else now + seconds
        return replace(Fault(**{"id": "", **fields}), since=now, until=until)


def show_fault(fault: Fault, counts: FaultCounts) -> Document:
    """Return a fault in the form of the control API."""
    document = fault.document()
    common = ("id", "kind", "match", "nth", "skip", "times", "chance")
    until = None if fault.until > 1e12 else format_epoch(fault.until)
    return {
        **{name: document[name] for name in (*common, *KIND_FIELDS[fault.kind])},
        "since": format_epoch(fault.since),
        "until": until,
        "seen": counts.seen,
        "hits": counts.hits,
        "left": counts.left(fault),
    }

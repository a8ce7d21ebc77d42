"""Request pattern: criteria that a request must meet. Faults and the journal use the same class (simulator.md)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from fnmatch import fnmatchcase
from functools import cached_property
from math import inf
from typing import Any

from livedeck.simulator.engine.clock import format_epoch

BODY_MATCHED = 64 * 1024
"""Bytes of a body that are matched and kept."""

CRITERIA = 50
"""Maximum number of criteria in a pattern."""

PATH_WEIGHT = 3
"""Weight of the path in a distance; any other criterion has 1."""

Problem = tuple[str, str]
"""Field of a pattern, and the reason why its value is wrong."""

Json = Any


@dataclass(slots=True)
class SeenRequest:
    """Fields of a request that a pattern compares. `body` grows while it arrives, to at most `BODY_MATCHED` bytes.

    `token`: owner of its token (served, other, wrong, none). `ids` and `names`: kind of object -> its id and name.
    `is_carried_out`: it changed something, even if its reply was lost or it was carried out later.
    """

    method: str
    path: str
    operation: str = ""
    ids: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    token: str = "none"  # noqa: S105  a word for its owner
    query: Sequence[tuple[str, str]] = ()
    headers: Sequence[tuple[str, str]] = ()
    body: bytearray = field(default_factory=bytearray)
    bytes_received: int = 0
    is_carried_out: bool = False

    @property
    def is_read(self) -> bool:
        """True if the request changes nothing."""
        return self.method in {"GET", "HEAD", "OPTIONS"}

    def text(self) -> str:
        """Return the kept part of the body as text."""
        return self.body.decode(errors="replace")

    def json(self) -> Json:
        """Return the body as JSON, or None if it is not JSON."""
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            return None


@dataclass(frozen=True, slots=True)
class SeenAnswer:
    """End of a request: the HTTP status (0 without one), its outcome, and its arrival in epoch seconds."""

    status: int
    outcome: str
    at: float


@dataclass(frozen=True, slots=True)
class Difference:
    """Criterion that a request fails. `actual`: the values it has instead."""

    field: str
    expected: Json
    actual: Sequence[Json]


class RequestPattern:
    """Criteria on a request, all of which must hold. An empty pattern matches any request.

    `of_journal`: the pattern may also have criteria for the reply and the time. Raises PatternError with every wrong
    field.
    """

    def __init__(self, table: Mapping[str, Json], *, of_journal: bool = False) -> None:
        problems = [
            *([("", f"must have at most {CRITERIA} criteria")] if len(table) > CRITERIA else []),
            *((name, reason) for name in table if (reason := _problem(name, table[name], of_journal=of_journal))),
        ]
        if problems:
            raise PatternError(problems)
        self._table = dict(table)

    @cached_property
    def since(self) -> float:
        """Earliest arrival that can match, in epoch seconds."""
        return _epoch(self._table["since"]) if "since" in self._table else -inf

    @cached_property
    def reads_body(self) -> bool:
        """True if a criterion depends on the body."""
        return any(name == "body" or name.startswith("json.") for name in self._table)

    def matches(self, request: SeenRequest, answer: SeenAnswer | None = None) -> bool:
        """Return whether the request meets every criterion."""
        return next(self.differences(request, answer), None) is None

    def differences(self, request: SeenRequest, answer: SeenAnswer | None = None) -> Iterator[Difference]:
        """Yield the criteria that the request fails."""
        for name, expected in self._table.items():
            actual = _values(name, request, answer)
            if not _meets(name, expected, actual):
                yield Difference(name, expected, actual)

    def distance(self, request: SeenRequest, answer: SeenAnswer | None = None) -> float:
        """Return the weighted share of the criteria that fail, from 0 (it matches) to 1."""
        failed = sum(_share(difference) for difference in self.differences(request, answer))
        return failed / max(1, sum(PATH_WEIGHT if name == "path" else 1 for name in self._table))


class PatternError(ValueError):
    """Pattern with wrong fields."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("; ".join(f"{name} {reason}" for name, reason in problems))
        self.problems = tuple(problems)


def pattern_words(table: Mapping[str, Json]) -> str:
    """Return the criteria of a pattern in words, such as `operation update_event, reconnect_window at least 900`."""

    def words(value: Json) -> str:
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

    def criterion(value: Json) -> str:
        if not isinstance(value, dict):
            return words(value)
        return " and ".join(f"{matcher.replace('_', ' ')} {words(wanted)}" for matcher, wanted in value.items())

    return ", ".join(f"{name.removeprefix('json.')} {criterion(value)}" for name, value in table.items())


REQUEST_FIELDS = ("method", "path", "operation", "event", "token", "body", "query.NAME", "header.NAME", "json.PATH")
ANSWER_FIELDS = ("status", "outcome", "since", "until")
MATCHERS = ("equals", "contains", "glob", "any_of", "absent", "at_least", "at_most")
VALUE_WORDS = f"text, a number, true, false, null, or a table of {', '.join(MATCHERS)}"


def _problem(name: str, value: Json, *, of_journal: bool) -> str:
    """Return the reason why a criterion is wrong; empty if it is valid."""
    family, _, rest = name.partition(".")
    fields = (*REQUEST_FIELDS, *ANSWER_FIELDS) if of_journal else REQUEST_FIELDS
    is_known = name in fields if not rest else family in {"query", "header", "json"} and name not in REQUEST_FIELDS
    if not is_known:
        return f"unknown field: choose from {', '.join(fields)}"
    if name in {"since", "until"}:
        return "" if _is_time(value) else "must be an ISO 8601 timestamp with its offset"
    if isinstance(value, dict):
        return _matcher_problem(value)
    return "" if _is_scalar(value) else f"must be {VALUE_WORDS}"


def _matcher_problem(matcher: Mapping[str, Json]) -> str:
    if not matcher or not matcher.keys() <= {*MATCHERS}:
        return f"must be {VALUE_WORDS}"
    for name, value in matcher.items():
        if not _MATCHER_TAKES[name][0](value):
            return f"needs {_MATCHER_TAKES[name][1]} for {name}"
    return ""


def _is_scalar(value: Json) -> bool:
    return value is None or isinstance(value, str | int | float)


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_MATCHER_TAKES: Mapping[str, tuple[Callable[[Json], bool], str]] = {
    "equals": (lambda value: _is_scalar(value) or isinstance(value, list | dict), "a value"),
    "contains": (lambda value: isinstance(value, str) and value != "", "text"),
    "glob": (lambda value: isinstance(value, str) and len(value) <= 1000, "text with *"),
    "any_of": (lambda value: isinstance(value, list) and value != [] and all(map(_is_scalar, value)), "a list"),
    "absent": (lambda value: isinstance(value, bool), "true or false"),
    "at_least": (_is_number, "a number"),
    "at_most": (_is_number, "a number"),
}


def _values(name: str, request: SeenRequest, answer: SeenAnswer | None) -> list[Json]:
    """Return the values of a field: none if it is absent, several for a repeated query name or header."""
    family, _, rest = name.partition(".")
    if family in {"query", "header"}:
        pairs, wanted = (request.query, rest) if family == "query" else (request.headers, rest.lower())
        return [value for key, value in pairs if key == wanted]
    if family == "json":
        return _json_at(request.json(), rest.split("."))
    if name == "event":
        return [found["event"] for found in (request.names, request.ids) if "event" in found]
    if name == "body":
        return [request.text()]
    if name in {"since", "until"}:
        return [format_epoch(answer.at)] if answer else []
    of = answer if name in ANSWER_FIELDS else request
    return [getattr(of, name)] if of else []


def _json_at(value: Json, keys: Sequence[str]) -> list[Json]:
    for key in keys:
        if isinstance(value, dict) and key in value:
            value = value[key]
        elif isinstance(value, list) and key.isascii() and key.isdecimal() and int(key[:9]) < len(value):
            value = value[int(key[:9])]
        else:
            return []
    return [value]


def _meets(name: str, expected: Json, actual: Sequence[Json]) -> bool:
    if name == "since":
        return bool(actual) and _epoch(actual[0]) >= _epoch(expected)
    if name == "until":
        return bool(actual) and _epoch(actual[0]) < _epoch(expected)
    if name == "path" and isinstance(expected, str):
        return glob_path(expected, actual[0])
    if not isinstance(expected, dict):
        return any(_is_equal(expected, value) for value in actual)
    matcher = {**expected}
    if "absent" in matcher and matcher.pop("absent") == bool(actual):
        return False
    return not matcher or any(
        all(_MEETS[kind](wanted, value, name) for kind, wanted in matcher.items()) for value in actual
    )


def _is_equal(expected: Json, actual: Json) -> bool:
    """Return whether a value of a request equals the expected one.

    Text from a query or header equals a number or boolean that it spells, such as `5` or `true`.
    """
    if isinstance(expected, bool) or isinstance(actual, bool):
        return expected is actual or (isinstance(actual, str) and actual == str(expected).lower())
    if _is_number(expected) and isinstance(actual, str):
        return bool(_number(actual) == expected)
    return bool(expected == actual)


def _number(value: Json) -> float | None:
    try:
        return None if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        return None


def _is_within(low: float | None, high: float | None, actual: Json) -> bool:
    number = _number(actual)
    return number is not None and (low is None or number >= low) and (high is None or number <= high)


def _glob(wanted: str, actual: Json, name: str) -> bool:
    if not isinstance(actual, str):
        return False
    return glob_path(wanted, actual) if name == "path" else fnmatchcase(actual, _without_sets(wanted))


_MEETS: Mapping[str, Callable[[Json, Json, str], bool]] = {
    "equals": lambda wanted, actual, _: _is_equal(wanted, actual),
    "contains": lambda wanted, actual, _: isinstance(actual, str) and wanted in actual,
    "glob": _glob,
    "any_of": lambda wanted, actual, _: any(_is_equal(value, actual) for value in wanted),
    "at_least": lambda wanted, actual, _: _is_within(wanted, None, actual),
    "at_most": lambda wanted, actual, _: _is_within(None, wanted, actual),
}


def glob_path(pattern: str, path: str) -> bool:
    """Return whether the path fits: `*` is any text within one segment, `**` any number of segments."""
    wanted, segments = pattern.split("/"), path.split("/")
    reached = {0}  # numbers of leading segments that the pattern up to here can match
    for part in wanted:
        if part == "**":
            reached = set(range(min(reached), len(segments) + 1))
        else:
            reached = {
                at + 1 for at in reached if at < len(segments) and fnmatchcase(segments[at], _without_sets(part))
            }
        if not reached:
            return False
    return len(segments) in reached


def _without_sets(pattern: str) -> str:
    """Return the pattern with `*` as its only special character."""
    return pattern.replace("[", "[[]").replace("?", "[?]")


def _share(difference: Difference) -> float:
    """Return the weight of a failed criterion. The weight of a path is multiplied by the share of unequal segments."""
    if difference.field != "path" or not isinstance(difference.expected, str):
        return PATH_WEIGHT if difference.field == "path" else 1
    wanted, segments = difference.expected.split("/")[1:], str(difference.actual[0]).split("/")[1:]
    equal = sum(fnmatchcase(segment, _without_sets(part)) for part, segment in zip(wanted, segments, strict=False))
    return PATH_WEIGHT * (1 - min(equal, max(len(wanted), len(segments)) - 1) / max(len(wanted), len(segments), 1))


def _is_time(value: Json) -> bool:
    try:
        return datetime.fromisoformat(value).tzinfo is not None
    except (TypeError, ValueError):
        return False


def _epoch(timestamp: str) -> float:
    return datetime.fromisoformat(timestamp).timestamp()

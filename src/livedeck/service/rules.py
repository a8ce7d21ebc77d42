"""Rules for parameters. The words of a rule refuse a bad value and describe the admin door, so that both are true."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from livedeck.service.clock import FIRST, LAST
from livedeck.service.errors import invalid

T = TypeVar("T")
N = TypeVar("N", int, float)

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_DIGITS = re.compile(r"[0-9]{1,15}")


@dataclass(frozen=True, slots=True)
class Rule:
    """`says` completes "must be ..."; `take` makes the value out of what was sent, or raises ValueError."""

    says: str
    take: Callable[[Any], Any]


Rules = Mapping[str, Rule]


def gather(rules: Rules, given: Mapping[str, object]) -> dict[str, Any]:
    """Every given value by its rule. Raises the documented refusal that names all that is wrong, unknown names too."""
    taken = {}
    faults = [(name, "unknown parameter") for name in given if name not in rules]
    for name, rule in rules.items():
        if name in given:
            try:
                taken[name] = rule.take(given[name])
            except ValueError:
                faults.append((name, f"must be {rule.says}"))
    if faults:
        raise invalid(*faults)
    return taken


def is_uuid(text: str) -> bool:
    """Whether it is a UUID in its usual form."""
    return _UUID.fullmatch(text) is not None


def whole(low: int, high: int | None = None) -> Rule:
    """A whole number in a query."""

    def take(text: str) -> int:
        return _in_range(int(_demand(_DIGITS.fullmatch(text), text)), low, high)

    return Rule(f"a whole number from {low}" + (f" to {high}" if high else ""), take)


def ordering(*fields: str) -> Rule:
    """An order in a query: pairs of field and direction."""

    def take(text: str) -> list[tuple[str, str]]:
        pairs = [(name, direction) for name, _, direction in (term.partition(".") for term in text.split(","))]
        known = all(name in fields and direction in {"asc", "desc"} for name, direction in pairs)
        return _demand(known and len(dict(pairs)) == len(pairs), pairs)

    return Rule(f"a comma list of field.asc or field.desc, each field once, out of {', '.join(fields)}", take)


def number(low: float, high: float) -> Rule:
    """A number in a JSON body."""

    def take(value: float) -> float:
        return _in_range(_demand(type(value) in {int, float}, value), low, high)

    return Rule(f"a number from {low:,.15g} to {high:,.15g}", take)


def integer(low: int, high: int) -> Rule:
    """An integer in a JSON body."""

    def take(value: int) -> int:
        return _in_range(_demand(type(value) is int, value), low, high)

    return Rule(f"an integer from {low} to {high}", take)


def choice(*names: str) -> Rule:
    """One of a few words."""
    return Rule(f"one of {', '.join(names)}", lambda value: _demand(isinstance(value, str) and value in names, value))


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(_demand(type(text) is str, text))
    return _demand(moment.tzinfo is not None and FIRST <= moment <= LAST, moment)


UUID = Rule("a UUID", lambda text: _demand(is_uuid(text), text).lower())
FLAG = Rule("true or false", lambda text: _demand(text in {"true", "false"}, text) == "true")
BOOLEAN = Rule("true or false", lambda value: _demand(isinstance(value, bool), value))
MOMENT = Rule("an ISO 8601 timestamp with its offset, from 1970 to 2200", _moment)


def _demand(sound: object, value: T) -> T:
    if not sound:
        raise ValueError
    return value


def _in_range(value: N, low: float, high: float | None) -> N:
    return _demand(low <= value and (high is None or value <= high), value)

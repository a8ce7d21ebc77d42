"""Rules for parameters. The words of a rule refuse a bad value and describe the admin door, its schema describes it to
machines, so that all three are true."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, TypeVar
from urllib.parse import unquote

from livedeck.simulator import schema
from livedeck.simulator.engine.clock import FIRST, LAST, stamp
from livedeck.simulator.errors import invalid
from livedeck.simulator.schema import Schema

T = TypeVar("T")

N = TypeVar("N", int, float)


Fault = tuple[str, str]

"""Where, and what is wrong there."""


_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)

_DIGITS = re.compile(r"[0-9]{1,15}")

_ENCODED_BYTE = re.compile("%[89A-F][0-9A-F]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Rule:
    """`says` completes "must be ..."; `take` makes the value out of what was sent, or raises ValueError.

    `schema` says the same in JSON Schema as far as that can; `needed`: an absent value is refused too.
    """

    says: str
    take: Callable[[Any], Any]
    schema: Schema = field(default_factory=dict)
    needed: bool = False


Rules = dict[str, Rule]


class InnerError(ValueError):
    """Faults inside a value, each with the place in it."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        super().__init__()
        self.faults = faults


def gather(rules: Rules, given: Mapping[str, object]) -> dict[str, Any]:
    """Every given value by its rule. Raises the documented refusal that names all that is wrong, unknown names too."""
    taken, faults = _sift(rules, given)
    if faults:
        raise invalid(*faults)
    return taken


def take(rule: Rule, given: object, name: str = "body") -> Any:
    """One value by its rule. Raises the documented refusal."""
    return gather({name: rule}, {name: given})[name]


def _sift(rules: Rules, given: Mapping[str, object]) -> tuple[dict[str, Any], list[Fault]]:
    taken: dict[str, Any] = {}
    faults = [(name, "unknown parameter") for name in given if name not in rules]
    for name, rule in rules.items():
        if name in given:
            try:
                taken[name] = rule.take(given[name])
            except ValueError as error:
                faults += _faults(name, rule, error)
        elif rule.needed:
            faults.append((name, "must be given"))
    return taken, faults


def _faults(name: str, rule: Rule, error: ValueError) -> Iterator[Fault]:
    if not isinstance(error, InnerError):
        yield name, f"must be {rule.says}"
        return
    for place, reason in error.faults:
        yield f"{name}{place}" if place.startswith("[") else f"{name}.{place}", reason


def is_uuid(text: str) -> bool:
    """Whether it is a UUID in its usual form."""
    return _UUID.fullmatch(text) is not None


def needed(rule: Rule) -> Rule:
    """The same, and not to be left out."""
    return replace(rule, needed=True)


def maybe(rule: Rule) -> Rule:
    """The same, or null."""
    return Rule(
        f"{rule.says}, or null", lambda value: None if value is None else rule.take(value), schema.maybe(rule.schema)
    )


def whole(low: int, high: int | None = None) -> Rule:
    """A whole number in a query."""
    limits = {"minimum": low, "maximum": high or 10**15 - 1}
    says = f"a whole number from {low}" + (f" to {high}" if high else "")
    return Rule(
        says, lambda text: _in_range(int(demand(_DIGITS.fullmatch(text), text)), low, high), schema.INTEGER | limits
    )


def ordering(*fields: str) -> Rule:
    """An order in a query: pairs of field and direction."""

    def take(text: str) -> list[tuple[str, str]]:
        pairs = [(name, direction) for name, _, direction in (term.partition(".") for term in text.split(","))]
        known = all(name in fields and direction in {"asc", "desc"} for name, direction in pairs)
        return demand(known and len(dict(pairs)) == len(pairs), pairs)

    says = f"a comma list of field.asc or field.desc, each field once, out of {', '.join(fields)}"
    term = rf"(?:{'|'.join(fields)})\.(?:asc|desc)"
    once = "".join(rf"(?!.*\b{name}\..*\b{name}\.)" for name in fields)
    return Rule(says, take, schema.TEXT | {"pattern": f"^{once}{term}(?:,{term})*$"})


def number(low: float, high: float) -> Rule:
    """A number in a JSON body."""

    def take(value: float) -> float:
        return _in_range(demand(type(value) in {int, float}, value), low, high)

    return Rule(f"a number from {low:,.15g} to {high:,.15g}", take, schema.NUMBER | {"minimum": low, "maximum": high})


def integer(low: int, high: int) -> Rule:
    """An integer in a JSON body."""

    def take(value: int) -> int:
        return _in_range(demand(type(value) is int, value), low, high)

    return Rule(f"an integer from {low} to {high}", take, schema.INTEGER | {"minimum": low, "maximum": high})


def text(low: int, high: int) -> Rule:
    """Text of so many characters."""

    def take(value: object) -> str:
        sound = string(value)
        demand(low <= len(sound) <= high, sound)
        sound.encode()  # half a surrogate pair is no character: this raises a ValueError
        return sound

    return Rule(f"text of {low} to {high} characters", take, schema.TEXT | {"minLength": low, "maxLength": high})


def decoded(rule: Rule) -> Rule:
    """The same for a name or title in a header: percent-encoded UTF-8 where it holds an encoded byte of 0x80 or more,
    else as it came (decisions.md, "Header values of uploads")."""

    def take(value: str) -> Any:
        return rule.take(unquote(value, errors="strict") if _ENCODED_BYTE.search(value) else value)

    return replace(rule, take=take, schema=rule.schema | {"pattern": "^(?:[!-$&-~]|%[2-7][0-9A-F])+$"})


def choice(*names: str) -> Rule:
    """One of a few words."""
    says = f"one of {', '.join(names)}"
    return Rule(says, lambda value: demand(isinstance(value, str) and value in names, value), schema.words(*names))


def nested(rules: Rules) -> Rule:
    """An object whose values have rules of their own."""

    def take(value: Mapping[str, object]) -> dict[str, Any]:
        taken, faults = _sift(rules, demand(isinstance(value, dict), value))
        if faults:
            raise InnerError(faults)
        return taken

    return Rule("an object", take, described(rules))


def each(rule: Rule, most: int, least: int = 0) -> Rule:
    """A list of so many, every one by that rule."""

    def take(values: Any) -> list[Any]:
        demand(isinstance(values, list) and least <= len(values) <= most, values)
        places = {f"[{place}]": one for place, one in enumerate(values)}
        taken, faults = _sift(dict.fromkeys(places, rule), places)
        if faults:
            raise InnerError(faults)
        return [*taken.values()]

    limits = {"minItems": least, "maxItems": most}
    return Rule(f"a list of {least} to {most}", take, schema.many(rule.schema) | limits)


def described(rules: Rules) -> Schema:
    """These rules as the schema of an object."""
    fields = {name: rule.schema for name, rule in rules.items()}
    return schema.record(fields, needed=tuple(name for name, rule in rules.items() if rule.needed))


def _moment(text: object) -> datetime:
    moment = datetime.fromisoformat(string(text))
    return demand(moment.tzinfo is not None and FIRST <= moment <= LAST, moment)


def _uuid(text: object) -> str:
    return demand(is_uuid(string(text)), string(text)).lower()


UUID = Rule("a UUID", _uuid, schema.UUID)

FLAG = Rule("true or false", lambda text: demand(text in {"true", "false"}, text) == "true", schema.BOOLEAN)

BOOLEAN = Rule("true or false", lambda value: demand(isinstance(value, bool), value), schema.BOOLEAN)

_MOMENT = schema.MOMENT | {"pattern": "^(?:19[7-9]|20[0-9]|21[0-9])[0-9]-"}

MOMENT = Rule("an ISO 8601 timestamp with its offset, from 1970 to 2200", _moment, _MOMENT)

STAMP = Rule(MOMENT.says, lambda text: stamp(_moment(text)), _MOMENT)

"""A moment that is kept as the API writes it."""


def demand(sound: object, value: T) -> T:
    """That value, where it is sound. Raises ValueError where it is not."""
    if not sound:
        raise ValueError
    return value


def string(value: object) -> str:
    """That value, where it is text. Raises ValueError where it is not."""
    if not isinstance(value, str):
        raise ValueError  # noqa: TRY004  what is wrong with a parameter is a ValueError here
    return value


def _in_range(value: N, low: float, high: float | None) -> N:
    return demand(low <= value and (high is None or value <= high), value)

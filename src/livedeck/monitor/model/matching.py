"""Matchers: conditions of routes and silences that choose alarms (monitoring.md, "Silences"). Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import NamedTuple

from livedeck.monitor.model.alarm import Severity
from livedeck.record import Record
from livedeck.text.patterns import fits

MAX_CHARS = 500
"""Maximum number of characters of the value of a matcher."""


class MatchField(StrEnum):
    """Property of an alarm that a matcher compares.

    EVENT: id of the event. NAME: its name. PROJECT: id of its project or folder. CONTENT: its content. KIND: kind of
    the alarm. TARGET: id or name of the affected part, such as a restream.
    """

    EVENT = "event"
    NAME = "name"
    PROJECT = "project"
    CONTENT = "content"
    KIND = "kind"
    SEVERITY = "severity"
    TARGET = "target"


_OF_EVENT = frozenset({MatchField.EVENT, MatchField.NAME, MatchField.PROJECT, MatchField.CONTENT})


class MatchOp(StrEnum):
    """Comparison of a matcher: equal or not, or by a shell pattern, which ignores upper and lower case."""

    IS = "="
    IS_NOT = "!="
    FITS = "~"
    FITS_NOT = "!~"


class CaseEvent(NamedTuple):
    """Event that an alarm affects. `project`: the id of its project or folder; empty if it has none."""

    id: str
    name: str
    project: str = ""
    content: str = ""


class Case(NamedTuple):
    """Fields of an alarm that matchers compare.

    `events`: the affected events; empty for the deck's own alarms. `targets`: id and name of the affected part.
    """

    kind: str
    severity: Severity
    events: Sequence[CaseEvent] = ()
    targets: Sequence[str] = ()


class Matcher(Record):
    """Condition on one property of an alarm."""

    field: MatchField
    op: MatchOp
    value: str

    @classmethod
    def parse(cls, text: str) -> Matcher:
        """Read a matcher such as `name ~ Studio *`. Raises ValueError."""
        match = _MATCHER.fullmatch(text.strip())
        fields = [*MatchField]
        if match is None or match["field"].lower() not in fields:
            raise ValueError(
                f"{text!r} is not a condition; write FIELD=VALUE. Fields: {', '.join(fields)}. Comparisons: = != ~ !~"
            )
        return cls.of(MatchField(match["field"].lower()), MatchOp(match["op"]), match["value"])

    @classmethod
    def of(cls, field: MatchField, op: MatchOp, value: str) -> Matcher:
        """Return a matcher whose value was checked. Raises ValueError."""
        if len(value) > MAX_CHARS:
            raise ValueError(f"{field}: at most {MAX_CHARS} characters")
        if field is MatchField.KIND:
            value = value.upper()
        if field is MatchField.SEVERITY:
            value = value.lower()
            if op in {MatchOp.IS, MatchOp.IS_NOT} and value not in [*Severity]:
                raise ValueError(f"severity: one of {', '.join(Severity)}")
        return cls(field, op, value)

    @property
    def text(self) -> str:
        """Matcher as people write it: `name ~ Studio *`."""
        return f"{self.field} {self.op} {self.value}"

    @property
    def takes_everything(self) -> bool:
        """True if the matcher fits every value."""
        return (self.op is MatchOp.FITS and set(self.value) == {"*"}) or (self.op, self.value) == (MatchOp.IS_NOT, "")

    def fits(self, case: Case, event: CaseEvent | None = None) -> bool:
        """Return whether the matcher fits an alarm. `event`: the affected event to compare; None without an event.

        Without it, a matcher of the event's id, name, project or content never fits.
        """
        if self.field in _OF_EVENT and event is None:
            return False
        names = _names(self.field, case, event)
        is_pattern = self.op in {MatchOp.FITS, MatchOp.FITS_NOT}
        found = fits((self.value,), *names) if is_pattern else self.value in names
        return found is (self.op in {MatchOp.IS, MatchOp.FITS})


_MATCHER = re.compile(r"(?P<field>[a-zA-Z]+)\s*(?P<op>!=|!~|=|~)\s*(?P<value>.*)", re.DOTALL)


def match(matchers: Iterable[Matcher], case: Case, event: CaseEvent | None = None) -> bool:
    """Return whether all matchers fit an alarm. `event`: as for `Matcher.fits`."""
    return all(matcher.fits(case, event) for matcher in matchers)


def _names(field: MatchField, case: Case, event: CaseEvent | None) -> Sequence[str]:
    """Return the values of a property."""
    match field:
        case MatchField.KIND:
            return (case.kind,)
        case MatchField.SEVERITY:
            return (case.severity.value,)
        case MatchField.TARGET:
            return tuple(case.targets) or ("",)
    assert event, "a condition on an event needs an event"
    return (getattr(event, "id" if field is MatchField.EVENT else field.value),)

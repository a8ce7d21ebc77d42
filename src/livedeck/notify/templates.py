"""Templates of titles and texts, from the settings: words with fields, and no code (notifications.md, "Templates")."""

from __future__ import annotations

from collections.abc import Mapping
from string import Template as Words
from types import MappingProxyType

from livedeck.record import Record

FIELDS: Mapping[str, str] = MappingProxyType(
    {
        "event": "name of the event",
        "part": "affected part, such as a restream",
        "kind": "kind of the alarm",
        "severity": "CRIT, WARN or INFO",
        "status": "FIRING, RESOLVED, NOT ACKNOWLEDGED and so on",
        "actual": "what is seen",
        "expected": "what is expected",
        "since": "onset, in the zone of `timezone`",
        "length": "how long it has lasted",
        "cause": "probable cause",
        "viewers": "effect on viewers",
        "advice": "what to do",
        "airing": "state of the event, and since when",
        "link": "your page about the event, or a command",
        "acknowledge": "link that acknowledges the alarm; empty without `link_url`, and in a title",
        "collector": "host of the collector",
        "profile": "profile of the settings",
    }
)
"""Every field of a template, in words."""


class Template(Record):
    """Words of the messages to a target. Empty: the default words."""

    title: str = ""
    text: str = ""


def check_template(text: str) -> str:
    """Return a template unchanged. Raises ValueError if it has an unknown field or a stray dollar sign."""
    words = Words(text)
    if not words.is_valid():
        raise ValueError("has a `$` that begins no field; write `$$` for a dollar sign")
    if unknown := [name for name in words.get_identifiers() if name not in FIELDS]:
        raise ValueError(f"no such field: {', '.join(unknown)}; known: {', '.join(FIELDS)}")
    return text


def names_field(text: str, field: str) -> bool:
    """Return whether a template has a field."""
    return field in Words(text).get_identifiers()


def filled(text: str, values: Mapping[str, str]) -> str:
    """Return a template with these values in its fields. A value with a field in it is not filled again."""
    return Words(text).substitute(values)

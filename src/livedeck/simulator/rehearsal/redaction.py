"""Journal entries as they are shown: without tokens, keys and signatures. Matching never uses this form."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from livedeck.simulator.engine.journal import Entry
from livedeck.simulator.engine.pattern import Difference

REDACTED = "[REDACTED]"

_SECRET_NAME = re.compile(
    r"(?:token|(?:^|[_.\[-])(?:authorization|cookie|sign|signature|secret|passw(?:or)?d|stream_?key|(?:api_?)?key|rtmp_link))"
    r"\]?$",
    re.IGNORECASE,
)
_IN_JSON = re.compile(r'(?<!\\)"(?P<name>(?:[^"\\]|\\.)*)"\s*:\s*"(?P<value>(?:[^"\\]|\\.)*)(?:"|\\?$)')
_IN_URL = re.compile(r"(?<![\w\[\].%-])(?P<name>[\w\[\].%-]+)=(?P<value>[^&\s\"'#<>\\]+)")
_LEAST = 4
"""Minimum length of a secret that is removed wherever it occurs; a shorter one is removed only from its own field."""


def is_secret(name: str) -> bool:
    """Return whether the value of a header, query name or field is secret by its name."""
    return _SECRET_NAME.search(name) is not None


@dataclass(frozen=True, slots=True)
class Redaction:
    """Removes secrets from the texts of one entry. `secrets`: values that no text may contain."""

    secrets: tuple[str, ...]

    @classmethod
    def of(cls, entry: Entry, known: Iterable[str]) -> Redaction:
        """Return the redaction of an entry: of its own secrets and of the `known` ones."""
        found = {*known, *_secrets_of(entry)}
        written = found | {json.dumps(secret)[1:-1] for secret in found}
        return cls(tuple(sorted((secret for secret in written if len(secret) >= _LEAST), key=len, reverse=True)))

    def text(self, text: str) -> str:
        """Return the text of a body, path or query value without secrets."""
        try:
            content = json.loads(text)
        except (ValueError, RecursionError):
            text = _IN_JSON.sub(_without_value, text)
        else:
            cleaned = _without_secrets(content)
            text = text if cleaned == content else json.dumps(cleaned, separators=(",", ":"), ensure_ascii=False)
        return self.value(_IN_URL.sub(_without_value, text))

    def value(self, text: str) -> str:
        """Return the text with `REDACTED` in place of each known secret."""
        for secret in self.secrets:
            text = text.replace(secret, REDACTED)
        return text

    def pair(self, name: str, value: str) -> str:
        """Return the value of a header or query name."""
        if not is_secret(name):
            return self.text(value)
        scheme, space, _ = value.partition(" ")
        return f"{scheme} {REDACTED}" if space and scheme.lower() in {"bearer", "basic"} else REDACTED

    def difference(self, difference: Difference) -> dict[str, Any]:
        """Return a criterion that the request did not meet: its field, the expected value and the request's values."""
        family, _, name = difference.field.partition(".")
        actual = [
            REDACTED if is_secret(name) and family in {"header", "query", "json"} else self._any(value)
            for value in difference.actual
        ]
        shown = None if not actual else actual[0] if len(actual) == 1 else actual
        expected = REDACTED if is_secret(name) else self._any(difference.expected)
        return {"field": difference.field, "expected": expected, "actual": shown}

    def _any(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        return json.loads(self.text(json.dumps(value))) if isinstance(value, dict | list) else value


def _without_value(match: re.Match[str]) -> str:
    if not is_secret(match["name"]):
        return match[0]
    return match[0].replace(match["value"], REDACTED) if match["value"] else match[0]


def _without_secrets(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_secrets(item) for item in value]
    if isinstance(value, dict):
        return {
            name: REDACTED if is_secret(name) and _hides(child) else _without_secrets(child)
            for name, child in value.items()
        }
    return value


def _hides(value: Any) -> bool:
    return value is not None and not isinstance(value, bool)


def _secrets_of(entry: Entry) -> Iterator[str]:
    """Yield the secret values of an entry by their names."""
    for name, value in (*entry.request.headers, *entry.headers, *entry.request.query):
        if is_secret(name):
            yield value
            yield value.partition(" ")[2]
    for body in (entry.request.text(), entry.text.decode(errors="replace")):
        try:
            yield from _secrets_in(json.loads(body))
        except (ValueError, RecursionError):
            yield from (found["value"] for found in _IN_JSON.finditer(body) if is_secret(found["name"]))


def _secrets_in(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from _secrets_in(item)
    elif isinstance(value, dict):
        for name, child in value.items():
            yield from (_texts_in if is_secret(name) else _secrets_in)(child)


def _texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for child in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _texts_in(child)

"""Decides from the status and the whole envelope whether the platform carried out a request. Pure.

Platforms report failures with status 200, and some report success and failure at once. A reply that contradicts itself
proves neither (trust.md, "Verdicts").
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from livedeck.record import Record

_AFFIRMATIVE = frozenset({"true", "1", "1.0", "yes", "y", "ok", "success", "succeeded", "done"})
_NEGATIVE = frozenset({"false", "0", "no", "error", "errors", "fail", "failed", "failure", "ko"})

_COMPLETE = frozenset({200, 201, 203, 204, 205})
"""Statuses that mean by themselves that a request was carried out. 202 only means that it was accepted."""

_MAX_DEPTH = 3


class Decision(StrEnum):
    """Meaning of a reply.

    SUCCESS: the reply says that the request was carried out, and no part contradicts this. ERROR: it has an error body
    or an error status. DOUBT: it contradicts itself, or reports a failure in an undocumented form.
    """

    SUCCESS = "success"
    ERROR = "error"
    DOUBT = "doubt"


class Ruling(Record):
    """Decision about a reply. `reason`: reason for a doubt in words, or empty."""

    decision: Decision
    reason: str = ""


def decide(status: int, document: object, *, is_to_change: bool) -> Ruling:
    """Return the meaning of a reply with this status and decoded body (None without a body).

    `is_to_change`: the request was a change. Two more replies to a change are in doubt: an error status with a body
    that reports success, and a status such as 202 with a body that does not.
    """
    is_affirmed = affirms(document)
    if not 200 <= status < 300:
        if is_to_change and is_affirmed:
            return _contradiction(f"the status is {status}, but the body reports success")
        return Ruling(Decision.ERROR)
    signs = [*_signs(document, is_to_change=is_to_change)]
    if signs:
        if is_affirmed or _has_content(document):
            beside = "the body also reports success" if is_affirmed else "data is not empty"
            return _contradiction(f"{signs[0]}, but {beside}")
        is_error_body = isinstance(document, dict) and bool(document.get("error"))
        return Ruling(Decision.ERROR) if is_error_body else Ruling(Decision.DOUBT, f"it reports a failure: {signs[0]}")
    if is_to_change and status not in _COMPLETE and not (is_affirmed or _has_content(document)):
        return Ruling(Decision.DOUBT, f"status {status} does not say that the change is made")
    return Ruling(Decision.SUCCESS)


def _contradiction(text: str) -> Ruling:
    return Ruling(Decision.DOUBT, f"it contradicts itself: {text}")


def affirms(document: object) -> bool:
    """Return whether the envelope, or its data, states `success: true`."""
    if not isinstance(document, dict):
        return False
    inner = document.get("data")
    stated = [part[name] for part in (document, inner) if isinstance(part, dict) for name in _FLAGS if name in part]
    return any(map(_is_affirmative, stated))


def _has_content(document: object) -> bool:
    """Return whether the envelope has data without a sign of a failure."""
    inner = document.get("data") if isinstance(document, dict) else None
    return bool(inner) and not [*_signs_of_data(inner, "data", 1, is_to_change=True)]


_FLAGS = ("success", "ok")


def _signs(document: object, path: str = "", depth: int = _MAX_DEPTH, *, is_to_change: bool = False) -> Iterator[str]:
    """Yield the signs of a failure in an envelope, in words such as `errors is not empty`."""
    if not isinstance(document, dict):
        if not path and _is_negative(document):
            yield f"the body is {_shown(document)}"
        return
    if document.get("error"):
        yield f"{path}error is set"
    if document.get("errors"):
        yield f"{path}errors is not empty"
    for name in _FLAGS:
        if name in document and not _is_affirmative(document[name]):
            yield f"{path}{name} is {_shown(document[name])}"
    for name in ("status", "result"):
        if (isinstance(document.get(name), str) and _is_negative(document[name])) or _is_error_code(document.get(name)):
            yield f"{path}{name} is {_shown(document[name])}"
    if _is_error_code(document.get("code")):
        yield f"{path}code is {_shown(document['code'])}"
    if depth:
        yield from _signs_of_data(document.get("data"), f"{path}data", depth - 1, is_to_change=is_to_change)


def _signs_of_data(data: object, path: str, depth: int, *, is_to_change: bool) -> Iterator[str]:
    """Yield the signs of a failure in `data`. The `status` of an object with an id is its own state, and no sign."""
    if isinstance(data, dict):
        if "id" not in data:
            yield from _signs(data, f"{path}.", depth, is_to_change=is_to_change)
        elif "success" in data and not _is_affirmative(data["success"]):
            yield f"{path}.success is {_shown(data['success'])}"
    elif isinstance(data, list):
        if is_to_change and depth:
            for item in data:
                yield from _signs_of_data(item, f"{path}[]", depth - 1, is_to_change=is_to_change)
    elif _is_negative(data):
        yield f"{path} is {_shown(data)}"


def _is_affirmative(value: object) -> bool:
    return isinstance(value, str | int | float) and str(value).strip().lower() in _AFFIRMATIVE


def _is_negative(value: object) -> bool:
    return isinstance(value, str | int | float) and str(value).strip().lower() in _NEGATIVE


def _is_error_code(value: object) -> bool:
    """Return whether a value is an HTTP error status, or a code of the platform that begins with one."""
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) <= 6:
        value = int(value)
    return type(value) is int and (400 <= value < 600 or 400_000 <= value < 600_000)


def _shown(value: object) -> str:
    """Return a value in words that are safe to show, without texts of the platform."""
    if value is None:
        return "null"
    text = str(value).strip().lower()
    is_short = isinstance(value, str | int | float) and (text in _NEGATIVE or (len(text) <= 6 and text.isdecimal()))
    return text if is_short else "not true"

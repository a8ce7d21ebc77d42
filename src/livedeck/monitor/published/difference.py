"""Difference between two JSON objects, and its application. Pure."""

from __future__ import annotations

from typing import Any

Values = dict[str, Any]
"""JSON object, which is never changed after it was made."""

_SET, _INSIDE, _GONE = "set", "in", "gone"


def diff(before: Values, after: Values) -> Values:
    """Return the difference from `before` to `after`; empty if they are equal.

    Returns:
        `set`: new and changed members. `in`: name -> difference of a member that is an object in both. `gone`: names
        of removed members. An empty part is left out.
    """
    changed: Values = {}
    within: Values = {}
    for name, value in after.items():
        old = before.get(name, _ABSENT)
        if old is value or old == value:
            continue
        if isinstance(old, dict) and isinstance(value, dict):
            within[name] = diff(old, value)
        else:
            changed[name] = value
    gone = [] if before.keys() <= after.keys() else [name for name in before if name not in after]
    parts: tuple[tuple[str, Any], ...] = ((_SET, changed), (_INSIDE, within), (_GONE, gone))
    return {name: part for name, part in parts if part}


def apply(difference: Values, before: Values) -> Values:
    """Apply a difference to `before` and return the later object: `apply(diff(a, b), a) == b`.

    Ignores unknown members of the difference.
    """
    if not difference:
        return before
    gone = frozenset(difference.get(_GONE, ()))
    after = {name: value for name, value in before.items() if name not in gone} if gone else dict(before)
    after.update(difference.get(_SET, {}))
    for name, inner in difference.get(_INSIDE, {}).items():
        after[name] = apply(inner, before.get(name, {}))
    return after


_ABSENT = object()

"""What has changed between two values of JSON, and the later one made of the earlier. Pure."""

from __future__ import annotations

from typing import Any

Values = dict[str, Any]
"""An object of JSON, never changed once made."""

_SET, _INSIDE, _GONE = "set", "in", "gone"


def diff(before: Values, after: Values) -> Values:
    """What is otherwise in `after`, by value: `set`, members that are new or another; `in`, the differences within
    those that are objects both times; `gone`, the names of those that went. Empty where nothing is otherwise."""
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
    gone = [name for name in before if name not in after]
    parts: tuple[tuple[str, Any], ...] = ((_SET, changed), (_INSIDE, within), (_GONE, gone))
    return {name: part for name, part in parts if part}


def apply(difference: Values, before: Values) -> Values:
    """The later value: `apply(diff(a, b), a) == b`. What the difference has besides is ignored."""
    if not difference:
        return before
    gone = frozenset(difference.get(_GONE, ()))
    after = {name: value for name, value in before.items() if name not in gone} if gone else dict(before)
    after.update(difference.get(_SET, {}))
    for name, inner in difference.get(_INSIDE, {}).items():
        after[name] = apply(inner, before.get(name, {}))
    return after


_ABSENT = object()

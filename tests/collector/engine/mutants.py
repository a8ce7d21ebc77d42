"""Values that a stranger may write into Redis in place of a collector's: random ones, and near misses."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

_TIMES = st.sampled_from(["2026-03-01T12:00:00", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59-12:00", "2026-03-01"])
_NUMBERS = st.sampled_from([-1, 0, 2**31, 2**53, 2**63, 10**30, -(10**30), 1e300, -0.0, 1e-320, True])
_SCALARS = st.none() | st.integers() | st.floats() | st.text(max_size=9) | _TIMES | _NUMBERS | st.booleans()
_JSON = st.recursive(
    _SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
)
_DEEP = st.sampled_from([b"[", b'{"a":', b'{"kind":"UsualMark","row":']).map(lambda part: part * 5_000)
_WORDS = st.binary(max_size=30) | st.text(max_size=20).map(lambda text: text.encode("utf-8", "surrogatepass"))


def written(value: Any) -> bytes:
    """Return the value as JSON bytes."""
    return json.dumps(value).encode()


@st.composite
def mutants(draw: st.DrawFn, entry: bytes) -> bytes:
    """Generate another value than the entry: cut, torn, or with another value anywhere in it."""
    how = draw(st.sampled_from(["changed", "changed", "changed", "torn", "json", "words", "deep"]))
    if how == "torn":
        begin, end = draw(st.integers(0, len(entry))), draw(st.integers(0, len(entry)))
        return entry[:begin] + draw(_WORDS) + entry[end:]
    if how == "changed":
        return _changed(draw, entry)
    return draw({"json": _JSON.map(written), "words": _WORDS, "deep": _DEEP}[how])


def _like(value: object) -> st.SearchStrategy[Any]:
    """Generate another value of the same JSON type."""
    return _TIMES if isinstance(value, str) else _NUMBERS


def _changed(draw: st.DrawFn, entry: bytes) -> bytes:
    try:
        whole = json.loads(entry)
    except ValueError:
        return draw(_WORDS)
    inner = whole
    while isinstance(inner, dict | list) and inner:
        place: Any = draw(st.sampled_from(sorted(inner) if isinstance(inner, dict) else range(len(inner))))
        if not isinstance(inner[place], dict | list) or not inner[place] or not draw(st.integers(0, 3)):
            if draw(st.integers(0, 4)):
                inner[place] = draw(_like(inner[place]) | _JSON)
            else:
                del inner[place]
            break
        inner = inner[place]
    return written(whole)

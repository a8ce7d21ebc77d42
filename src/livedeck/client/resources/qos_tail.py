"""Parses only the new samples of a QoS reply, because each reply repeats up to 3600 samples of the one before.

The result is always the same as after parsing the whole reply. Samples of the last reply are reused only if the new
reply repeats their bytes. If it does not, the new reply is parsed whole.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

import msgspec

_HEAD, _END = b'{"data":[', b"]}"
_members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_rows = msgspec.json.Decoder(list[msgspec.Raw]).decode
_values = msgspec.json.Decoder(list[dict[str, object]]).decode

_SHORT = 64 * 2**10
"""Maximum bytes of a reply that is always parsed whole, because that takes less than a millisecond."""

_LARGEST = 32 * 2**20
"""Maximum total bytes of the kept replies. Once they are full, the reply of any other event is parsed as a whole."""

_KEPT_SECONDS = 60.0
"""Seconds after which the next reply of an event is parsed whole again."""

T = TypeVar("T")


class Continuation(NamedTuple):
    """Difference between two replies: the new one begins with samples of the last one, and adds others.

    `first`: index, in the last reply, of the first sample of the new reply. `rows`: added samples.
    """

    first: int
    rows: list[dict[str, object]]


class _Kept(NamedTuple, Generic[T]):
    body: bytes
    samples: T
    until: float


class LastAnswers(Generic[T]):
    """Last reply of each event, to compare the next reply with. `timer`: seconds that never run backwards."""

    def __init__(self, timer: Callable[[], float]) -> None:
        self._timer = timer
        self._kept: dict[str, _Kept[T]] = {}

    def find(self, event_id: str, body: bytes) -> tuple[T, Continuation] | None:
        """Return the samples of the last reply and how `body` continues it; None if `body` must be parsed whole."""
        kept = self._kept.get(event_id)
        if kept is None or kept.until <= self._timer():
            return None
        found = continuation(kept.body, body)
        return (kept.samples, found) if found else None

    def keep(self, event_id: str, body: bytes, samples: T, *, is_whole: bool) -> None:
        """Keep a reply whose samples are all readable, and forget expired replies (`_KEPT_SECONDS`).

        `is_whole`: this reply was parsed whole; such a reply is kept only if `is_plain`.
        """
        now, before = self._timer(), self._kept.pop(event_id, None)
        self._kept = {key: kept for key, kept in self._kept.items() if kept.until > now}
        if len(body) <= _SHORT or sum(len(kept.body) for kept in self._kept.values()) + len(body) > _LARGEST:
            return
        if is_whole and not is_plain(body):
            return
        until = now + _KEPT_SECONDS if is_whole or before is None else before.until
        self._kept[event_id] = _Kept(body, samples, until)

    def forget(self, event_id: str) -> None:
        """Forget the reply of an event."""
        self._kept.pop(event_id, None)


def is_plain(body: bytes) -> bool:
    """Return whether a body is an object with a list named `data` and nothing else, without white space around it."""
    try:
        members = _members(body)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return False
    # the length tells: of two members named `data`, the last is found
    is_alone = members.keys() == {"data"} and len(bytes(members["data"])) == len(body) - len(_HEAD) - len(_END) + 2
    return is_alone and body.startswith(_HEAD) and body.endswith(_END)


def continuation(before: bytes, body: bytes) -> Continuation | None:
    """Return how `body` continues `before`; None if `body` does not, or is not plain (see `is_plain`).

    `before` must be plain. The last samples of `before` must be the first samples of `body`, byte by byte.
    """
    start, end = len(_HEAD), len(body) - len(_END)
    if not body.startswith(_HEAD) or not body.endswith(_END) or (stop := body.find(b"}", start)) < 0:
        return None
    place = before.find(body[start : stop + 1], start)
    if place < 0:
        return None
    common = before[place : -len(_END)]
    then = start + len(common)
    if then > end or not body.startswith(common, start):  # a row may end like the answer
        return None
    added = body[then:end]
    try:
        # the dropped rows are a list of their own, so the common ones begin where a row begins
        dropped = 0 if place == start else len(_rows(b"[%b]" % before[start : place - 1]))
        if (place > start and before[place - 1 : place] != b",") or (added and added[:1] != b","):
            return None
        return Continuation(dropped, _values(b"[%b]" % added[1:]) if added else [])
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None

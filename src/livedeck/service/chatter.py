"""What viewers write, as a pure function of seed and time. Some of it is hostile to terminals and to spreadsheets.

Chat is computed, not stored, as quality samples are: the same question has the same answer, and a log of a million
messages needs no room.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import resources
from itertools import pairwise
from math import ceil, inf
from typing import NamedTuple

from livedeck.service.clock import stamp_epoch
from livedeck.service.identity import number_of, uuid_of

RATE = 0.2
"""Messages a second of a chat that is on."""


class Pace(NamedTuple):
    """From `at` (epoch seconds) that many messages come a second."""

    at: float
    rate: float


class Message(NamedTuple):
    """A chat message; the names are those of the document, the misspelt one too (platform-api.md, "Chat message")."""

    id: str
    username: str
    external_id: str
    is_admin: str
    message: str
    created_at: str
    cteated_at_local: str


def paced(paces: Iterable[Iterable[float]], pace: Pace) -> tuple[Pace, ...]:
    """The paces after a change: the past stays as it was."""
    return (*(earlier for earlier in (Pace(*row) for row in paces) if earlier.at < pace.at), pace)


def messages(seed: int, paces: Iterable[Iterable[float]], began: float, until: float) -> Iterator[Message]:
    """What was written from `began` to `until` (epoch seconds), ascending."""
    for pace, after in pairwise([*(Pace(*row) for row in paces), Pace(inf, 0)]):
        if pace.rate > 0:
            yield from _written(seed, pace, max(began, pace.at), min(until, after.at))


def _written(seed: int, pace: Pace, begin: float, end: float) -> Iterator[Message]:
    for number in range(max(0, int((begin - pace.at) * pace.rate)), max(0, ceil((end - pace.at) * pace.rate))):
        drawn = number_of(seed, "chat", pace.at, number)
        at = pace.at + (number + drawn % 1000 / 1000) / pace.rate
        if begin <= at < end:
            yield _message(seed, drawn, at)


def _message(seed: int, drawn: int, at: float) -> Message:
    viewer = drawn // 1000 % 211
    names, lines = _table()["names"], _table()["hostile" if drawn % 23 == 0 else "lines"]
    name, line = f"{names[viewer % len(names)]}{viewer or ''}", lines[drawn // 7 % len(lines)]
    moment = stamp_epoch(at)
    return Message(uuid_of(seed, drawn), name, f"viewer-{viewer}", str(viewer == 0).lower(), line, moment, moment)


@cache
def _table() -> dict[str, list[str]]:
    text = (resources.files("livedeck.service") / "data" / "chatter.toml").read_text(encoding="utf-8")
    table = tomllib.loads(text)
    return table | {"hostile": [*table["hostile"], "long " * 400]}

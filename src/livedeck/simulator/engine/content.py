"""What viewers write and what speech recognition hears: pure functions of a seed."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import resources
from itertools import pairwise
from math import ceil, inf
from typing import NamedTuple, TypedDict

from livedeck.simulator.engine.clock import stamp_epoch
from livedeck.simulator.engine.identity import number_of, uuid_of

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
    text = (resources.files("livedeck.simulator") / "data" / "chatter.toml").read_text(encoding="utf-8")
    table = tomllib.loads(text)
    return table | {"hostile": [*table["hostile"], "long " * 400]}


TAKES = 30.0

"""Seconds from the order to the finished track, by the service's clock."""


class Cue(TypedDict):
    """A line that is shown from `start` to `end`, in seconds."""

    start: float
    end: float
    text: str


_HEARD = (
    *("Good evening, and welcome.", "We begin with the minutes of the last session.", "Are there any questions?"),
    *("Thank you. Then we move on.", "The second half follows after a short break.", "Could we have the next slide?"),
    *("This is an important point.", "I will come back to that later.", "Please speak into the microphone."),
    *("[applause]", "[music]", "Let us listen to it once more."),
)


def transcribe(seed: int, duration: float) -> list[Cue]:
    """The cues of a video of that many seconds; 60 at most."""
    cues: list[Cue] = []
    at = 1.0
    for place in range(60):
        drawn = number_of(seed, "cue", place)
        lasts = 1.5 + drawn % 30 / 10
        if at + lasts > duration:
            break
        cues.append({"start": round(at, 3), "end": round(at + lasts, 3), "text": _HEARD[drawn // 31 % len(_HEARD)]})
        at += lasts + drawn // 1000 % 20 / 10
    return cues


def webvtt(cues: list[Cue]) -> str:
    """The cues as a WebVTT file."""
    return "WEBVTT\n" + "".join(f"\n{_time(cue['start'])} --> {_time(cue['end'])}\n{cue['text']}\n" for cue in cues)


def _time(seconds: float) -> str:
    whole = round(seconds * 1000)
    return f"{whole // 3_600_000:02}:{whole // 60_000 % 60:02}:{whole // 1000 % 60:02}.{whole % 1000:03}"

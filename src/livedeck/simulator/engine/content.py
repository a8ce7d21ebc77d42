"""Simulated chat messages and speech recognition: pure functions of a seed."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import pairwise
from math import ceil, inf
from typing import NamedTuple, TypedDict

from livedeck.simulator.engine.clock import format_epoch
from livedeck.simulator.engine.identity import number_of, uuid_of
from livedeck.simulator.engine.reference import DATA

MESSAGES_PER_SECOND = 0.2
"""Messages a second in an active chat."""

RECOGNITION_SECONDS = 30.0
"""Seconds from the order to the finished track, by the simulator's clock."""

MAX_CUES = 60


class ChatRate(NamedTuple):
    """Messages a second (`rate`) from `at` (epoch seconds) on."""

    at: float
    rate: float


class Message(NamedTuple):
    """Chat message. Its fields are named as in the document, even a misspelt one (platform-api.md, "Chat message")."""

    id: str
    username: str
    external_id: str
    is_admin: str
    message: str
    created_at: str
    cteated_at_local: str


def change_rate(rates: Iterable[Iterable[float]], rate: ChatRate) -> tuple[ChatRate, ...]:
    """Return the rates after a change; rates before it stay."""
    return (*(earlier for earlier in (ChatRate(*row) for row in rates) if earlier.at < rate.at), rate)


def messages(seed: int, rates: Iterable[Iterable[float]], since: float, until: float) -> Iterator[Message]:
    """Yield the messages written from `since` to `until` (epoch seconds), ascending."""
    for rate, following in pairwise([*(ChatRate(*row) for row in rates), ChatRate(inf, 0)]):
        if rate.rate > 0:
            yield from _messages_at(seed, rate, max(since, rate.at), min(until, following.at))


def _messages_at(seed: int, rate: ChatRate, since: float, until: float) -> Iterator[Message]:
    first, end = (max(0, int((since - rate.at) * rate.rate)), max(0, ceil((until - rate.at) * rate.rate)))
    for index in range(first, end):
        number = number_of(seed, "chat", rate.at, index)
        at = rate.at + (index + number % 1000 / 1000) / rate.rate
        if since <= at < until:
            yield _message(seed, number, at)


def _message(seed: int, number: int, at: float) -> Message:
    viewer = number // 1000 % 211
    names, lines = _chatter()["names"], _chatter()["hostile" if number % 23 == 0 else "lines"]
    name, line = f"{names[viewer % len(names)]}{viewer or ''}", lines[number // 7 % len(lines)]
    time = format_epoch(at)
    return Message(uuid_of(seed, number), name, f"viewer-{viewer}", str(viewer == 0).lower(), line, time, time)


@cache
def _chatter() -> dict[str, list[str]]:
    table = tomllib.loads((DATA / "chatter.toml").read_text(encoding="utf-8"))
    return table | {"hostile": [*table["hostile"], "long " * 400]}


class Cue(TypedDict):
    """Line shown from `start` to `end`, in seconds."""

    start: float
    end: float
    text: str


_PHRASES = (
    *("Good evening, and welcome.", "We begin with the minutes of the last session.", "Are there any questions?"),
    *("Thank you. Then we move on.", "The second half follows after a short break.", "Could we have the next slide?"),
    *("This is an important point.", "I will come back to that later.", "Please speak into the microphone."),
    *("[applause]", "[music]", "Let us listen to it once more."),
)


def transcribe(seed: int, duration: float) -> list[Cue]:
    """Return the cues of a video of `duration` seconds, at most `MAX_CUES`."""
    cues: list[Cue] = []
    start = 1.0
    for index in range(MAX_CUES):
        number = number_of(seed, "cue", index)
        seconds = 1.5 + number % 30 / 10
        if start + seconds > duration:
            break
        text = _PHRASES[number // 31 % len(_PHRASES)]
        cues.append({"start": round(start, 3), "end": round(start + seconds, 3), "text": text})
        start += seconds + number // 1000 % 20 / 10
    return cues


def webvtt(cues: list[Cue]) -> str:
    """Return the cues as a WebVTT file."""
    return "WEBVTT\n" + "".join(f"\n{_time(cue['start'])} --> {_time(cue['end'])}\n{cue['text']}\n" for cue in cues)


def _time(seconds: float) -> str:
    millis = round(seconds * 1000)
    return f"{millis // 3_600_000:02}:{millis // 60_000 % 60:02}:{millis // 1000 % 60:02}.{millis % 1000:03}"

"""Speech recognition, simulated: what it hears is a pure function of a seed and of the length of the video."""

from __future__ import annotations

from typing import TypedDict

from livedeck.service.identity import number_of

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


def heard(seed: int, duration: float) -> list[Cue]:
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

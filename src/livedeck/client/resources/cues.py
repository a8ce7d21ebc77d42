"""Subtitle files, WebVTT and SRT, checked line by line before an upload (platform-api.md, "Limits"). Pure.

A line that players would silently drop is an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from livedeck.record import Record

_VTT_TIME = r"(?:\d{2,}:)?[0-5]\d:[0-5]\d\.\d{3}"
_SRT_TIME = r"\d{2,}:[0-5]\d:[0-5]\d[,.]\d{3}"
_VTT = re.compile(rf"({_VTT_TIME})[ \t]+-->[ \t]+({_VTT_TIME})((?:[ \t]+[a-z]+:[^\s:]\S*)*)[ \t]*")
_SRT = re.compile(rf"({_SRT_TIME})[ \t]+-->[ \t]+({_SRT_TIME})((?:[ \t]+[XY][12]:\d+)*)[ \t]*")
_COMMENTS = ("NOTE", "STYLE", "REGION")


class CueSyntaxError(ValueError):
    """Line that breaks the format. `line` counts from 1."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: {reason}")
        self.line = line


@dataclass(frozen=True, slots=True)
class Cue:
    """Text from `start` to `end`, in seconds; `text` may have several lines.

    `line`: number of the line with its times, from 1.
    """

    start: float
    end: float
    text: str
    line: int = field(default=0, compare=False)


class _Block(Record):
    """Lines in a row without a blank line. `first`: number of the first line."""

    first: int
    lines: tuple[str, ...]


def parse(content: bytes) -> tuple[Cue, ...]:
    """Return the cues of a WebVTT or SRT file; the first line shows the format. Raises CueSyntaxError."""
    lines = _text(content).split("\n")
    if lines[0].startswith("WEBVTT"):
        return _vtt(lines)
    cues = tuple(_srt_cue(block) for block in _blocks(lines, 0))
    return _require_cues(cues)


def cues_out_of_order(cues: Sequence[Cue], duration: float | None = None) -> tuple[str, ...]:
    """Return a warning for each kind of odd times: out of order, overlapping, or after the end of the video.

    A warning names the line of the first such cue. Players show such cues late, stacked or not at all. `duration`:
    length of the video in seconds; None if unknown.
    """
    late = [after for before, after in pairwise(cues) if after.start < before.start]
    over = [after for before, after in pairwise(cues) if before.start <= after.start < before.end]
    past = [cue for cue in cues if duration is not None and cue.start >= duration]
    faults = (
        (late, "before the previous cue"),
        (over, "before the previous cue ends"),
        (past, "after the end of the video"),
    )
    return tuple(_describe_begin(odd, when) for odd, when in faults if odd)


def _describe_begin(cues: Sequence[Cue], when: str) -> str:
    if len(cues) == 1:
        return f"the cue in line {cues[0].line} begins {when}"
    return f"{len(cues)} cues begin {when}, the first in line {cues[0].line}"


def _text(content: bytes) -> str:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CueSyntaxError(content.count(b"\n", 0, error.start) + 1, "is not UTF-8") from None
    if "\0" in text:
        raise CueSyntaxError(text.count("\n", 0, text.index("\0")) + 1, "contains a zero byte")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _blocks(lines: Sequence[str], start: int) -> Iterator[_Block]:
    block: list[str] = []
    for number, line in enumerate([*lines[start:], ""], start + 1):
        if line.strip():
            block.append(line)
        elif block:
            yield _Block(number - len(block), tuple(block))
            block = []


def _vtt(lines: Sequence[str]) -> tuple[Cue, ...]:
    if not re.fullmatch(r"WEBVTT(?:[ \t].*)?", lines[0]):
        raise CueSyntaxError(1, "should be WEBVTT, followed by a space or nothing")
    header_end = next((number for number, line in enumerate(lines) if not line.strip()), len(lines))
    for number, line in enumerate(lines[:header_end], 1):
        if "-->" in line:
            raise CueSyntaxError(number, "a blank line should precede the first cue")
    blocks = (block for block in _blocks(lines, header_end) if not _is_comment(block))
    return _require_cues(tuple(_vtt_cue(block) for block in blocks))


def _is_comment(block: _Block) -> bool:
    words = block.lines[0].split()
    if words[0] not in _COMMENTS or any("-->" in line for line in block.lines[:2]):
        return False
    for number, line in enumerate(block.lines, block.first):
        if "-->" in line:
            raise CueSyntaxError(number, "a blank line should precede a cue")
    return True


def _vtt_cue(block: _Block) -> Cue:
    skip = 0 if "-->" in block.lines[0] else 1  # the name of the cue
    return _cue(block, skip, _VTT, "00:01.000 --> 00:02.500")


def _srt_cue(block: _Block) -> Cue:
    numbered = re.fullmatch(r"\s*\d+\s*", block.lines[0])
    if not numbered and "-->" not in block.lines[0]:
        raise CueSyntaxError(block.first, "is not part of a cue: expected a number or times")
    return _cue(block, 1 if numbered else 0, _SRT, "00:00:01,000 --> 00:00:02,500")


def _cue(block: _Block, skip: int, times: re.Pattern[str], example: str) -> Cue:
    number = block.first + skip
    if len(block.lines) <= skip:
        raise CueSyntaxError(block.first, "is not part of a cue: times should follow")
    match = times.fullmatch(block.lines[skip])
    if match is None:
        raise CueSyntaxError(number, f"times should look like {example}")
    start, end = _seconds(match[1]), _seconds(match[2])
    if end <= start:
        raise CueSyntaxError(number, "the cue ends before it begins")
    _check_text(block, skip + 1)
    return Cue(start, end, "\n".join(block.lines[skip + 1 :]), number)


def _check_text(block: _Block, skip: int) -> None:
    for number, line in enumerate(block.lines[skip:], block.first + skip):
        if "-->" in line:
            raise CueSyntaxError(number, "a blank line should precede a cue")


def _seconds(text: str) -> float:
    seconds = 0.0
    for part in text.replace(",", ".").split(":"):
        seconds = seconds * 60 + float(part)
    return seconds


def _require_cues(cues: tuple[Cue, ...]) -> tuple[Cue, ...]:
    if not cues:
        raise CueSyntaxError(1, "the file has no cues")
    return cues

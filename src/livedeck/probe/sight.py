"""Findings in one segment, and the rules for black, still and silent (`probe.md`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from operator import sub

from livedeck.monitor import Picture, Sound
from livedeck.record import Record

COLUMNS, ROWS = 64, 36
"""Size of a picture for the rules, in cells. A cell is one byte: its mean luma, 0 black, 255 white."""

WIDTH, HEIGHT = 160, 90
"""Size of a picture for people, in pixels."""

QUIETEST = -120.0
"""Level of digital silence, in dBFS and LUFS."""

UNDECODABLE = "the segment cannot be decoded"
"""Error of a broken segment. Any other error says that this machine cannot judge it."""

BRIGHT = 32
"""Luma above which a cell is bright."""

BLACK = 0.02
"""Share of bright cells below which a picture is black."""

MOVED = 6
"""Difference in luma above which a cell has changed. Camera noise is below it."""

MOVED_CELLS = 2
"""Minimum number of changed cells that show that a picture moves: a small clock changes two."""

MOVED_MEAN = 0.25
"""Minimum mean difference in luma that shows that a picture moves, if no cell has changed."""

SILENT = -60.0
"""Peak in dBFS below which a channel is silent."""

_IS_BRIGHT, _IS_CHANGED = (bytes(value > limit for value in range(256)) for limit in (BRIGHT, MOVED))


class Sight(Record):
    """Findings in one segment of an event.

    `luma`: mean luma of the last key frame (0 to 255), `change`: largest mean difference in luma of two key frames in a
    row; None if unknown. `cells`: luma of the last key frame, row by row, empty if unknown. `loudness`: loudest
    momentary loudness (LUFS). `peaks`: peak of each channel (dBFS). `jpeg`: the last key frame, 160 x 90 pixels.
    `error`: reason why the segment could not be judged, in words.
    """

    picture: Picture = Picture.UNKNOWN
    sound: Sound = Sound.UNKNOWN
    luma: float | None = None
    change: float | None = None
    cells: bytes = b""
    loudness: float | None = None
    peaks: tuple[float, ...] = ()
    jpeg: bytes = b""
    error: str = ""


def judge_picture(frames: Sequence[bytes]) -> tuple[Picture, float | None]:
    """Return the state of a picture and its largest mean change, from the cells of its key frames in order.

    A single key frame that is not black tells nothing about movement: UNKNOWN.
    """
    changes = [_difference(*pair) for pair in pairwise(frames)]
    change = max((mean for _, mean in changes), default=None)
    if not frames:
        return Picture.UNKNOWN, None
    if all(is_black(cells) for cells in frames):
        return Picture.BLACK, change
    if not changes:
        return Picture.UNKNOWN, None
    moves = any(moved >= MOVED_CELLS or mean >= MOVED_MEAN for moved, mean in changes)
    return Picture.MOVES if moves else Picture.STILL, change


def is_black(cells: bytes) -> bool:
    """Return whether too few cells are bright for a picture."""
    return cells.translate(_IS_BRIGHT).count(1) < BLACK * len(cells)


def judge_sound(peaks: Sequence[float]) -> Sound:
    """Return the state of a sound from the peaks of its channels. It is silent if all channels are."""
    if not peaks:
        return Sound.UNKNOWN
    return Sound.SILENT if max(peaks) < SILENT else Sound.HEARD


def compared(sight: Sight, earlier: bytes) -> Sight:
    """Return `sight` with its picture judged against an earlier segment too.

    `earlier`: `cells` of that segment; empty without one. BLACK and MOVES of the own segment take precedence.
    """
    if not (sight.cells and earlier):
        return sight
    picture, change = judge_picture((earlier, sight.cells))
    if sight.picture in {Picture.BLACK, Picture.MOVES}:
        picture = sight.picture
    return replace(sight, picture=picture, change=max(change or 0.0, sight.change or 0.0))


def _difference(earlier: bytes, later: bytes) -> tuple[int, float]:
    """Return the number of changed cells, and the mean difference of all cells."""
    differences = bytes(map(abs, map(sub, later, earlier)))
    return differences.translate(_IS_CHANGED).count(1), sum(differences) / len(differences)

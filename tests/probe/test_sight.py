"""Rules for black, still and silent, on cells and peaks."""

from __future__ import annotations

import pytest

from livedeck.monitor import Picture, Sound
from livedeck.probe.sight import COLUMNS, ROWS, Sight, compared, judge_picture, judge_sound

CELLS = COLUMNS * ROWS


def picture(*bright: int, luma: int = 20, over: int = 33) -> bytes:
    cells = bytearray([luma]) * CELLS
    for cell in bright:
        cells[cell] = over
    return bytes(cells)


GRAY = bytes([90]) * CELLS


@pytest.mark.parametrize(
    ("frames", "state"),
    [
        ([], Picture.UNKNOWN),
        ([GRAY], Picture.UNKNOWN),
        ([picture()], Picture.BLACK),
        ([picture(luma=32)], Picture.BLACK),
        ([picture(luma=33)], Picture.UNKNOWN),
        ([picture(*range(46))], Picture.BLACK),
        ([picture(*range(47))], Picture.UNKNOWN),
        ([picture(), GRAY], Picture.MOVES),
        ([GRAY, GRAY], Picture.STILL),
        ([GRAY, picture(0, luma=90, over=250)], Picture.STILL),
        ([GRAY, picture(0, 1, luma=90, over=97)], Picture.MOVES),
        ([GRAY, picture(0, 1, luma=90, over=96)], Picture.STILL),
        ([GRAY, picture(*range(0, CELLS, 4), luma=90, over=91)], Picture.MOVES),
        ([GRAY, picture(*range(4, CELLS, 4), luma=90, over=91)], Picture.STILL),
        ([GRAY, GRAY, bytes([120]) * CELLS], Picture.MOVES),
    ],
)
def test_a_picture_is_black_by_each_key_frame_and_still_by_each_pair(frames: list[bytes], state: Picture) -> None:
    assert judge_picture(frames)[0] is state


@pytest.mark.parametrize(
    ("peaks", "state"),
    [
        ((), Sound.UNKNOWN),
        ((-60.0, -60.0), Sound.HEARD),
        ((-60.1, -120.0), Sound.SILENT),
        ((-120.0, -20.0), Sound.HEARD),
    ],
)
def test_a_sound_is_silent_if_all_its_channels_are(peaks: tuple[float, ...], state: Sound) -> None:
    assert judge_sound(peaks) is state


@pytest.mark.parametrize(
    ("inside", "earlier", "state", "change"),
    [
        (Picture.UNKNOWN, b"", Picture.UNKNOWN, None),
        (Picture.UNKNOWN, GRAY, Picture.STILL, 0.0),
        (Picture.UNKNOWN, picture(luma=89), Picture.MOVES, 1.0),
        (Picture.STILL, picture(luma=89), Picture.MOVES, 1.0),
        (Picture.MOVES, GRAY, Picture.MOVES, 0.0),
        (Picture.BLACK, GRAY, Picture.BLACK, 0.0),
    ],
)
def test_a_single_key_frame_is_judged_against_the_segment_before(
    inside: Picture, earlier: bytes, state: Picture, change: float | None
) -> None:
    sight = compared(Sight(picture=inside, cells=GRAY), earlier)
    assert (sight.picture, sight.change) == (state, change)
    assert compared(Sight(error="gone"), earlier) == Sight(error="gone")

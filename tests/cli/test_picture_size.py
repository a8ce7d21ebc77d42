"""Size of pictures that another program has written (Pillow 12), 7 pixels wide and 5 high."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livedeck.cli.wall.posters import PictureSize, picture_size

JPEG = (
    "ffd8ffe000104a46494600010100000100010000ffdb00430050373c463c32504641465a55505f78c882786e6e78f5afb991c8"
    + "ff" * 38
    + "ffdb004301555a5a786978eb8282eb"
    + "ff" * 54
)
"""Beginning of a JPEG: its tables."""

PICTURES = {
    name: bytes.fromhex(digits)
    for name, digits in {
        "png": (
            "89504e470d0a1a0a0000000d494844520000000700000005080200000006f8618f0000001249444154789c63fccf8005306113a48228"
            "006f270109fd966d1c0000000049454e44ae426082"
        ),
        "gif": (
            "47494638376107000500810000ff00000000000000000000002c000000000700050000080c0001081c48b0a0c183070302003b"
        ),
        "webp": (
            "52494646340000005745425056503820280000009001009d012a0700050007409625a00274ba00039800fee50af827a9728ffe378f02"
            "bc9763a00000"
        ),
        "webp without loss": "524946461c000000574542505650384c0f0000002f060001000710fd8ffe0722a2ff0100",
        "webp with an alpha channel": (
            "524946465800000057454250565038580a00000010000000060000040000414c50480a000000010750c088084444ff03565038202800"
            "00009001009d012a0700050007409625a00274ba00039800fee50af827a9728ffe378f02bc9763a00000"
        ),
        "jpeg": JPEG + "ffc00011080005000703012200021101031101ff",
        "progressive jpeg": JPEG + "ffc20011080005000703012200021101031101ff",
    }.items()
}
"""Name of a format -> bytes of a picture; of a JPEG all up to its frame header."""


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_says_what_it_is_and_how_large(name: str) -> None:
    media_type = f"image/{next(kind for kind in ('png', 'gif', 'webp', 'jpeg') if kind in name)}"
    assert picture_size(PICTURES[name]) == PictureSize(media_type, 7, 5)


@pytest.mark.parametrize("name", PICTURES)
def test_half_a_picture_is_none_or_as_large_as_the_whole(name: str) -> None:
    for end in range(len(PICTURES[name])):
        assert picture_size(PICTURES[name][:end]) in {None, picture_size(PICTURES[name])}


@given(st.sampled_from([b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF89a", b"RIFF0000WEBPVP8X", b""]), st.binary())
def test_any_bytes_are_a_size_or_none(start: bytes, rest: bytes) -> None:
    size = picture_size(start + rest)
    assert size is None or min(size.width, size.height) > 0

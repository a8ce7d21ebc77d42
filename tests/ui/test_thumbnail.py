"""A poster as half blocks: what is broken is no picture, and a large one holds nothing up."""

from __future__ import annotations

import asyncio
import struct
import zlib
from types import SimpleNamespace
from typing import Any, cast

import pytest
from textual.app import App, ComposeResult

from livedeck.client import Api, Poster
from livedeck.ui.kit import themes
from livedeck.ui.videos.thumbnail import CELLS, ROWS, Thumbnail, decode_png, to_strips


def png(width: int, height: int) -> bytes:
    """A picture of one colour."""
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    lines = zlib.compress((b"\0" + b"\x30\x60\x90" * width) * height)
    return b"\x89PNG\r\n\x1a\n" + b"".join(map(_chunk, (b"IHDR", b"IDAT", b"IEND"), (head, lines, b"")))


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I4s", len(data), name) + data + struct.pack(">I", zlib.crc32(name + data))


@pytest.mark.parametrize("size", [(1, 1), (1, 90), (160, 1), (160, 90)])
def test_a_picture_of_any_size_takes_the_same_cells(size: tuple[int, int]) -> None:
    picture = decode_png(png(*size))
    assert picture is not None
    assert [strip.cell_length for strip in to_strips(picture)] == [CELLS] * ROWS


BROKEN = {
    "empty": b"",
    "html": b"<html>",
    "gif": b"GIF8" * 20,
    "cut": png(9, 9)[:50],
    "no width": png(0, 1),
    "no height": png(1, 0),
    "neither": png(0, 0),
}


@pytest.mark.parametrize("content", BROKEN.values(), ids=BROKEN)
def test_a_broken_or_empty_file_is_no_picture(content: bytes) -> None:
    assert decode_png(content) is None


async def test_unpacking_a_picture_does_not_block_the_loop() -> None:
    turns = [0]

    async def content(*_: Any) -> bytes:
        turns[0] = 0
        return png(160, 90)

    class Gallery(App[None]):
        def compose(self) -> ComposeResult:
            yield Thumbnail()

    app = Gallery()
    for theme in themes.textual_themes():
        app.register_theme(theme)
    app.theme = "dark"
    async with app.run_test(size=(100, 30)) as pilot:
        thumbnail = app.query_one(Thumbnail)
        api = cast("Api", SimpleNamespace(cdn=SimpleNamespace(content=content)))
        poster = Poster.model_validate({"id": "one", "xs": "https://cdn.example/one.png"})
        thumbnail.show(api, poster)
        while not thumbnail.display:
            turns[0] += 1
            await asyncio.sleep(0)
        await pilot.pause()
        assert turns[0] > 2

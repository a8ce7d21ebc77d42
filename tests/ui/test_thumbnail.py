"""Poster as a picture: a broken file is no picture, a large one delays nothing, and pixels stay in their frame."""

from __future__ import annotations

import asyncio
import re
import struct
import zlib
from base64 import b64decode
from io import BytesIO
from types import SimpleNamespace
from typing import Any, cast

import pytest
from PIL import Image
from textual.app import ComposeResult
from textual.screen import Screen
from textual.widgets import Static

from livedeck.client import Api, Poster
from livedeck.environment import graphics
from livedeck.ui.kit import themes
from livedeck.ui.kit.decoding import decode
from livedeck.ui.kit.graphics import ERASE_KITTY, Frame, Graphics, Picture, draw, pixel_size
from livedeck.ui.kit.output_filter import OutputFilter
from livedeck.ui.kit.terminal import ExactApp
from livedeck.ui.videos.thumbnail import Thumbnail

FRAME = Frame(24, 7)


def png(width: int, height: int) -> bytes:
    """Return a picture of one colour."""
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    lines = zlib.compress((b"\0" + b"\x30\x60\x90" * width) * height)
    return b"\x89PNG\r\n\x1a\n" + b"".join(map(_chunk, (b"IHDR", b"IDAT", b"IEND"), (head, lines, b"")))


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I4s", len(data), name) + data + struct.pack(">I", zlib.crc32(name + data))


def written_as(kind: str, mode: str = "RGB") -> bytes:
    """Return a picture whose left half is red and whose right half is blue."""
    image = Image.new("RGB", (160, 90), (200, 30, 30))
    image.paste((30, 30, 200), (80, 0, 160, 90))
    file = BytesIO()
    image.convert(mode).save(file, kind)
    return file.getvalue()


def decoded(content: bytes, how: Graphics = Graphics.BLOCKS) -> Picture:
    pixels = asyncio.run(decode(content, *pixel_size(how, FRAME), {}))
    assert pixels is not None
    return draw(pixels, how, FRAME)


@pytest.mark.parametrize("size", [(1, 1), (1, 90), (160, 1), (160, 90)])
@pytest.mark.parametrize("how", Graphics)
def test_a_picture_of_any_size_takes_the_same_cells(size: tuple[int, int], how: Graphics) -> None:
    assert [strip.cell_length for strip in decoded(png(*size), how).strips] == [FRAME.columns] * FRAME.rows


@pytest.mark.parametrize(
    ("kind", "mode"), [("PNG", "RGBA"), ("PNG", "P"), ("JPEG", "RGB"), ("JPEG", "L"), ("WEBP", "RGB")]
)
def test_what_platforms_serve_is_drawn_in_its_colours(kind: str, mode: str) -> None:
    for strip in decoded(written_as(kind, mode)).strips:
        left, right = (segment.style for segment in [*strip][:: len([*strip]) - 1])
        assert left
        assert right
        (red, _, blue), (other_red, _, other_blue) = (
            style.color.get_truecolor() for style in (left, right) if style.color
        )
        assert mode == "L" or (red > blue + 100 and other_blue > other_red + 100)


BROKEN = {
    "empty": b"",
    "html": b"<html>",
    "gif": written_as("GIF", "P"),
    "bitmap": written_as("BMP"),
    "cut": png(90, 90)[:60],
    "cut jpeg": written_as("JPEG")[:300],
    "no width": png(0, 1),
    "no height": png(1, 0),
    "neither": png(0, 0),
    "bomb": b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", struct.pack(">IIBBBBB", 50_000, 50_000, 8, 2, 0, 0, 0)),
    "larger than we decode": b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", struct.pack(">IIBBBBB", 5001, 5000, 8, 2, 0, 0, 0)),
}


@pytest.mark.parametrize("content", BROKEN.values(), ids=BROKEN)
def test_a_broken_or_foreign_or_far_too_large_file_is_no_picture(content: bytes) -> None:
    assert asyncio.run(decode(content, 24, 14, {})) is None


def _png_of(data: str) -> Image.Image:
    return Image.open(BytesIO(b64decode(data, validate=True)))


def test_kitty_is_sent_a_whole_png_in_parts_of_its_size_and_answers_nothing() -> None:
    parts = re.findall("\x1b_G([^;]*);([^\x1b]*)\x1b\\\\", decoded(written_as("JPEG"), Graphics.KITTY).sequence)
    keys = [dict(pair.split("=") for pair in head.split(",")) for head, _ in parts]
    assert {name: keys[0][name] for name in "afcrCq"} == {"a": "T", "f": "100", "c": "24", "r": "7", "C": "1", "q": "2"}
    assert [key["m"] for key in keys] == ["1"] * (len(keys) - 1) + ["0"]
    assert all(len(data) <= 4096 for _, data in parts)
    assert _png_of("".join(data for _, data in parts)).size == (240, 140)


def test_iterm2_is_sent_a_whole_png_for_its_cells() -> None:
    sequence = decoded(written_as("PNG"), Graphics.ITERM2).sequence
    found = re.fullmatch("\x1b]1337;File=inline=1;width=24;height=7;([^:]*):([^\x07]*)\x07", sequence)
    assert found
    assert "doNotMoveCursor=1" in found[1]
    assert _png_of(found[2]).size == (240, 140)


def drawn(sequence: str) -> Image.Image:
    """Return the picture that a terminal makes of sixel data (DEC STD 070, chapter 9), by no code of livedeck."""
    found = re.fullmatch(r'\x1bP0;1q"1;1;(\d+);(\d+)(.*)\x1b\\', sequence, re.DOTALL)
    assert found
    width, height = int(found[1]), int(found[2])
    image, palette, colour, x, y = Image.new("RGB", (width, height), (0, 255, 0)), dict[int, tuple[int, ...]](), 0, 0, 0
    tokens = r"#(\d+);2;(\d+);(\d+);(\d+)|#(\d+)|!(\d+)([?-~])|([?-~])|([$-])"
    rest = re.sub(tokens, "", found[3])
    assert not rest, "nothing else is in it"
    for token in re.finditer(tokens, found[3]):
        if token[1]:
            palette[int(token[1])] = tuple(round(int(part) * 2.55) for part in token.group(2, 3, 4))
        elif token[5]:
            colour = int(token[5])
        elif token[9]:
            x, y = 0, y + (6 if token[9] == "-" else 0)
        else:
            count, bits = int(token[6] or 1), ord(token[7] or token[8]) - 63
            for step in range(count):
                for row in range(6):
                    if bits >> row & 1:
                        image.putpixel((x + step, y + row), palette[colour])
            x += count
    return image


def test_a_sixel_picture_has_every_pixel_of_the_frame_and_its_colours() -> None:
    image = drawn(decoded(written_as("WEBP"), Graphics.SIXEL).sequence)
    assert image.size == (240, 140)
    colours = {image.getpixel((x, y)) for x in (5, 100, 140, 235) for y in range(0, 140, 7)}
    assert (0, 255, 0) not in colours, "a pixel that nobody drew"
    for x, strong, weak in ((5, 0, 2), (235, 2, 0)):
        pixel = image.getpixel((x, 70))
        assert isinstance(pixel, tuple)
        assert pixel[strong] > pixel[weak] + 100


@pytest.mark.parametrize("how", [Graphics.KITTY, Graphics.ITERM2, Graphics.SIXEL])
def test_the_last_filter_passes_a_picture_from_the_painter_and_none_from_a_text(how: Graphics) -> None:
    sequence, output = decoded(png(9, 9), how).sequence, OutputFilter()
    assert "\x1b" not in output.apply(sequence)
    output.allow(sequence)
    assert output.apply(sequence) == sequence
    assert "\x1b" not in output.apply(sequence)


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ({"TERM": "xterm-256color"}, ""),
        ({"TERM": "xterm-kitty"}, "kitty"),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "WezTerm"}, "kitty"),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "iTerm.app"}, "iterm2"),
        ({"TERM": "foot"}, "sixel"),
        ({"TERM": "linux"}, ""),
        ({"TERM": "tmux-256color", "TMUX": "/tmp/tmux", "KITTY_WINDOW_ID": "1"}, ""),
    ],
)
def test_a_terminal_that_says_nothing_gets_half_blocks(
    env: dict[str, str], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("TERM", "TERM_PROGRAM", "LC_TERMINAL", "KITTY_WINDOW_ID", "TMUX", "STY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    assert graphics() == expected


class Gallery(ExactApp):
    """App of one thumbnail. `drawn`: bytes drawn over the cells."""

    CSS = "Thumbnail { width: 24; height: 7; }"

    def __init__(self) -> None:
        super().__init__()
        self.over: list[tuple[int, int, str]] = []
        for theme in themes.textual_themes():
            self.register_theme(theme)
        self.theme = "dark"

    def compose(self) -> ComposeResult:
        yield Thumbnail()
        yield Static("a word", markup=False)

    def draw_over(self, x: int, y: int, sequence: str) -> None:
        self.over.append((x, y, sequence))


POSTER = Poster.model_validate({"id": "one", "xs": "https://cdn.example/one.png"})


def serving(content: Any) -> Api:
    return cast("Api", SimpleNamespace(cdn=SimpleNamespace(content=content)))


async def test_unpacking_a_picture_does_not_block_the_loop() -> None:
    turns, large = [0], png(2000, 1500)

    async def content(*_: Any) -> bytes:
        turns[0] = 0
        return large

    app = Gallery()
    async with app.run_test(size=(100, 30)) as pilot:
        thumbnail = app.query_one(Thumbnail)
        thumbnail.show(serving(content), POSTER)
        while thumbnail.picture is None:
            turns[0] += 1
            await asyncio.sleep(0)
        await pilot.pause()
        assert turns[0] > 2
        assert not app.over, "half blocks are cells"


async def test_pixels_follow_what_writes_their_cells_and_nothing_else_and_are_gone_under_another_screen() -> None:
    async def content(*_: Any) -> bytes:
        return png(160, 90)

    app = Gallery()
    async with app.run_test(size=(100, 30)) as pilot:
        thumbnail, other = app.query_one(Thumbnail), app.query_one(Static)
        thumbnail.draw_by(Graphics.KITTY, (10, 20), {})
        thumbnail.show(serving(content), POSTER)
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert app.over
        assert {(x, y) for x, y, _ in app.over} == {(0, 0)}
        count = len(app.over)
        other.update("a word that changed")
        await pilot.pause()
        assert len(app.over) == count, "its cells were not written"
        thumbnail.refresh()
        await pilot.pause()
        assert len(app.over) > count
        app.push_screen(Screen[None]())
        await pilot.pause()
        assert app.over[-1][2] == ERASE_KITTY
        app.pop_screen()
        await pilot.pause()
        assert app.over[-1][2].startswith("\x1b_Ga=T")
        thumbnail.show(serving(content), None)
        await pilot.pause()
        assert app.over[-1][2] == ERASE_KITTY


async def test_the_place_of_a_picture_has_its_size_before_the_picture_is_there_and_says_if_it_is_unreadable() -> None:
    """A new size lays the screen out again, which costs more than the key that moves the cursor."""
    answer = asyncio.Event()

    async def content(*_: Any) -> bytes:
        await answer.wait()
        return b"no picture"

    app = Gallery()
    async with app.run_test(size=(100, 30)) as pilot:
        thumbnail, api = app.query_one(Thumbnail), serving(content)
        thumbnail.show(api, None, is_known=False)
        assert thumbnail.styles.display == "none", "no poster is known yet"
        thumbnail.show(api, POSTER)
        await pilot.pause()
        assert (thumbnail.display, thumbnail.picture, thumbnail.size.width) == (True, None, 24)
        thumbnail.show(api, None, is_known=False)
        assert thumbnail.display, "the next poster is not known yet"
        thumbnail.show(api, POSTER)
        answer.set()
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert "Picture not readable" in "".join(thumbnail.render_line(y).text for y in range(7))
        thumbnail.show(api, None)
        assert not thumbnail.display

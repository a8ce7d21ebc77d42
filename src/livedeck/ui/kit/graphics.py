"""Pictures in a terminal: pixels in one of three protocols, or half blocks.

The protocols are kitty's graphics (also WezTerm, Ghostty), inline images of iTerm2, and sixel (foot, xterm, mlterm).
Environment variables or a setting choose one; the terminal is never probed.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from enum import StrEnum
from io import BytesIO
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from rich.segment import Segment
from textual.strip import Strip

from livedeck.record import Record
from livedeck.text.segments import Pixels, ShadedLine, merge_neighbours
from livedeck.ui.kit import themes

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_COLOURS = 64
"""Number of colours in a sixel picture. Every terminal supports that many."""

LEVELS = 32
"""Number of levels of each colour in half blocks. With fewer levels, fewer cells change from picture to picture."""

KITTY_CHUNK = 4096
"""Maximum number of characters in one part of a picture in kitty's protocol."""

PICTURE_ID = 7
"""Id of the poster in kitty. A new poster replaces the previous one."""

FIRST_VIEWER_ID = 100
"""Id in kitty of the first picture on the Viewers screen. The second picture has the next id, and so on."""


def erase_kitty(number: int) -> str:
    """Return the control string that erases the picture `number` in kitty."""
    return f"\x1b_Ga=d,d=I,i={number},q=2\x1b\\"


ERASE_KITTY = erase_kitty(PICTURE_ID)


class Graphics(StrEnum):
    """Protocol for drawing a picture."""

    BLOCKS = "blocks"
    KITTY = "kitty"
    ITERM2 = "iterm2"
    SIXEL = "sixel"


class Frame(NamedTuple):
    """Size of a picture: columns and rows of cells, and width and height of one cell in pixels."""

    columns: int
    rows: int
    cell_width: int = 10
    cell_height: int = 20


class Picture(Record):
    """Picture that is ready to be drawn in a frame.

    `strips`: cells of the frame. `sequence`: control string that draws the picture over the cells, from the first cell
    on. It is empty for half blocks, because then the cells are the picture.
    """

    strips: tuple[Strip, ...]
    sequence: str = ""


def pixel_size(graphics: Graphics, frame: Frame) -> tuple[int, int]:
    """Return the width and height in pixels of a picture that fills the frame."""
    if graphics is Graphics.BLOCKS:
        return frame.columns, frame.rows * 2
    return frame.columns * frame.cell_width, frame.rows * frame.cell_height


def draw(pixels: bytes, graphics: Graphics, frame: Frame) -> Picture:
    """Return a picture of RGB `pixels` in the size of `pixel_size`. Slow, so call this in a thread."""
    if graphics is Graphics.BLOCKS:
        return Picture(tuple(_half_blocks(pixels, frame)))
    from PIL import Image  # 40 ms, and most decks show no poster

    image = Image.frombytes("RGB", pixel_size(graphics, frame), pixels)
    blank = Strip.blank(frame.columns)
    encode = {Graphics.KITTY: _kitty, Graphics.ITERM2: _iterm2, Graphics.SIXEL: _sixel}[graphics]
    return Picture((blank,) * frame.rows, encode(image, frame))


def pixel_rows(data: bytes, columns: int, rows: int) -> list[ShadedLine]:
    """Return the rows of a picture of RGB `data` in half blocks, two pixels to a cell."""
    step = 256 // LEVELS
    cut = data.translate(bytes(min(255, value // step * step + step // 2) for value in range(256)))
    values = [cut[at] << 16 | cut[at + 1] << 8 | cut[at + 2] for at in range(0, len(cut), 3)]
    pairs = [
        zip(values[top : top + columns], values[top + columns : top + 2 * columns], strict=True)
        for top in range(0, 2 * columns * rows, 2 * columns)
    ]
    return [merge_neighbours(("▀", Pixels(upper, lower)) for upper, lower in row) for row in pairs]


def scaled(data: bytes, size: tuple[int, int], to: tuple[int, int]) -> bytes:
    """Return RGB pixels scaled from one size to another. `size`, `to`: width and height in pixels."""
    from PIL import Image

    return Image.frombytes("RGB", size, data).resize(to).tobytes()


def faded(data: bytes, ground: int) -> bytes:
    """Return RGB pixels half way to the colour `ground` (`0xRRGGBB`)."""
    tables = [bytes((value + (ground >> shift & 255)) // 2 for value in range(256)) for shift in (16, 8, 0)]
    mixed = bytearray(data)
    for channel, table in enumerate(tables):
        mixed[channel::3] = data[channel::3].translate(table)
    return bytes(mixed)


def kitty_small(data: bytes, size: tuple[int, int], frame: Frame, number: int) -> str:
    """Return the control string of a small picture for kitty, which scales it to the frame itself.

    A PNG of few colours takes an eighth of the bytes of a picture in the size of the frame.
    """
    from PIL import Image

    return _kitty(Image.frombytes("RGB", size, data).quantize(MAX_COLOURS), frame, number)


def iterm2_small(jpeg: bytes, frame: Frame) -> str:
    """Return the control string that shows a JPEG in a frame in iTerm2, which scales it itself."""
    return _iterm2_file(b64encode(jpeg).decode(), frame)


def _half_blocks(data: bytes, frame: Frame) -> Iterator[Strip]:
    """Yield strips with two pixels in each cell. The upper pixel is the letter, the lower one the background."""
    for row in pixel_rows(data, frame.columns, frame.rows):
        yield Strip([Segment(text, themes.style("", pixels)) for text, pixels in row], frame.columns)


def _png(image: Image) -> str:
    file = BytesIO()
    image.save(file, "PNG")
    return b64encode(file.getvalue()).decode()


def _kitty(image: Image, frame: Frame, number: int = PICTURE_ID) -> str:
    """Return the control strings for kitty: the picture in parts. They cause no move of the cursor and no reply."""
    data = _png(image)
    parts = [data[start : start + KITTY_CHUNK] for start in range(0, len(data), KITTY_CHUNK)]
    keys = [f"a=T,f=100,i={number},p=1,c={frame.columns},r={frame.rows},C=1,q=2,", *[""] * (len(parts) - 1)]
    ends = [*[1] * (len(parts) - 1), 0]
    return "".join(f"\x1b_G{key}m={more};{part}\x1b\\" for key, more, part in zip(keys, ends, parts, strict=True))


def _iterm2(image: Image, frame: Frame) -> str:
    return _iterm2_file(_png(image), frame)


def _iterm2_file(data: str, frame: Frame) -> str:
    size = f"width={frame.columns};height={frame.rows};preserveAspectRatio=0"
    return f"\x1b]1337;File=inline=1;{size};doNotMoveCursor=1:{data}\x07"


def _sixel(image: Image, frame: Frame) -> str:  # noqa: ARG001  signature of all three
    """Return the sixel control string: bands of six rows, each colour by colour."""
    indexed = image.quantize(MAX_COLOURS)
    width, height, pixels = indexed.width, indexed.height, indexed.tobytes()
    palette = indexed.getpalette() or []
    shares = [round(part * 100 / 255) for part in palette]
    triples = zip(shares[::3], shares[1::3], shares[2::3], strict=True)
    colours = [f"#{index};2;{red};{green};{blue}" for index, (red, green, blue) in enumerate(triples)]
    bands = "-".join(_band(pixels[top * width : (top + 6) * width], width) for top in range(0, height, 6))
    return f'\x1bP0;1q"1;1;{width};{height}{"".join(colours)}{bands}\x1b\\'


def _band(pixels: bytes, width: int) -> str:
    rows = [pixels[start : start + width] for start in range(0, len(pixels), width)]
    lines = []
    for colour in sorted(set(pixels)):
        bits = [sum((row[x] == colour) << number for number, row in enumerate(rows)) for x in range(width)]
        lines.append(f"#{colour}" + "".join(_run(chr(63 + value), len([*run])) for value, run in groupby(bits)))
    return "$".join(lines)


def _run(sixel: str, count: int) -> str:
    return f"!{count}{sixel}" if count > 3 else sixel * count

"""Hostile and odd files that claim to be pictures, each made here byte by byte."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterable
from io import BytesIO
from typing import Any

from PIL import Image

PNG = b"\x89PNG\r\n\x1a\n"
MANY = 2**31 - 1
_MIB = 2**20


def chunk(name: bytes, data: bytes = b"") -> bytes:
    """Return a chunk of PNG."""
    return struct.pack(">I4s", len(data), name) + data + struct.pack(">I", zlib.crc32(name + data))


def head(width: int, height: int, depth: int = 8, colour: int = 2, interlace: int = 0) -> bytes:
    """Return the first chunk of a PNG."""
    return chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlace))


def zeros(count: int) -> bytes:
    """Return `count` zero bytes, deflated a MiB at a time: a thousandth of their size."""
    deflate, block = zlib.compressobj(9), bytes(_MIB)
    parts = [deflate.compress(block) for _ in range(count // _MIB)]
    return b"".join((*parts, deflate.compress(bytes(count % _MIB)), deflate.flush()))


def png(width: int, height: int, *before: bytes, depth: int = 8, colour: int = 2, interlace: int = 0) -> bytes:
    """Return a whole black PNG with these chunks before its pixels."""
    samples = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}.get(colour, 1)
    line = 1 + (width * samples * depth + 7) // 8
    lines = height * 2 if interlace else height  # seven passes have lines of their own
    pixels = chunk(b"IDAT", zeros(min(line * lines, 512 * _MIB)))
    return PNG + head(width, height, depth, colour, interlace) + b"".join((*before, pixels, chunk(b"IEND")))


def written(kind: str, mode: str = "RGB", size: tuple[int, int] = (64, 36), **options: Any) -> bytes:
    """Return a small picture written by Pillow."""
    file = BytesIO()
    Image.linear_gradient("L").resize(size).convert(mode).save(file, kind, **options)
    return file.getvalue()


def riff(*chunks: tuple[bytes, bytes]) -> bytes:
    """Return a WebP of these chunks."""
    body = b"".join(name + struct.pack("<I", len(data)) + data + bytes(len(data) % 2) for name, data in chunks)
    return b"RIFF" + struct.pack("<I", len(body) + 4) + b"WEBP" + body


def canvas(width: int, height: int, flags: int) -> tuple[bytes, bytes]:
    """Return the chunk with the size of a WebP."""
    return b"VP8X", bytes([flags, 0, 0, 0]) + (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")


def with_frame_size(jpeg: bytes, width: int, height: int) -> bytes:
    """Return the JPEG with another width and height in its frame header."""
    at = next(at for marker in (b"\xff\xc0", b"\xff\xc2") if (at := jpeg.find(marker)) >= 0)
    return jpeg[: at + 5] + struct.pack(">HH", height, width) + jpeg[at + 9 :]


def with_segments(jpeg: bytes, *segments: tuple[int, bytes]) -> bytes:
    """Return the JPEG with these segments after its first marker."""
    parts = (bytes((0xFF, marker)) + struct.pack(">H", len(data) + 2) + data for marker, data in segments)
    return jpeg[:2] + b"".join(parts) + jpeg[2:]


def many_scans(width: int, height: int, count: int) -> bytes:
    """Return a progressive JPEG that repeats its last scan `count` times. Each scan goes through every block."""
    file = BytesIO()
    Image.new("L", (width, height), 77).save(file, "JPEG", progressive=True)
    whole = file.getvalue()
    last = whole.rindex(b"\xff\xda")
    return whole[:-2] + whole[last:-2] * count + whole[-2:]


def exif(orientation: int, *, next_at: int = 0) -> bytes:
    """Return a block of EXIF with one entry.

    `next_at`: offset of the next block; the block's own offset makes a circle.
    """
    return b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01" + struct.pack(">HHI", orientation, 0, next_at)


def tiff_tags(count: int) -> bytes:
    """Return EXIF that claims `count` entries, each with many values."""
    entry = struct.pack(">HHII", 0x9286, 7, MANY, 8)
    return b"Exif\0\0MM\0*\0\0\0\x08" + struct.pack(">H", count) + entry * min(count, 5000)


def animated(kind: str, count: int, size: tuple[int, int] = (64, 36), **options: Any) -> bytes:
    """Return a moving picture of `count` frames."""
    frames = [Image.new("RGB", size, (number % 256, number // 256, 99)) for number in range(count)]
    file = BytesIO()
    frames[0].save(file, kind, save_all=True, append_images=frames[1:], **options)
    return file.getvalue()


def _frame_control(number: int, width: int, height: int) -> bytes:
    return chunk(b"fcTL", struct.pack(">IIIIIHHBB", number, width, height, 0, 0, 1, 25, 0, 0))


def _in_png(content: bytes) -> bytes:
    """Return another file behind the signature of a PNG."""
    return PNG + content


def _text_bombs(name: bytes, count: int, size: int) -> bytes:
    lead = {b"zTXt": b"Comment\0\0", b"iTXt": b"Comment\0\x01\0\0\0", b"tEXt": b"Comment\0"}[name]
    text = bytes(size) if name == b"tEXt" else zeros(size)
    return chunk(name, lead + text) * count


_SMALL_WEBP: dict[str, Any] = {"quality": 10, "method": 0}

BOMBS: dict[str, Callable[[], bytes]] = {
    "a tower one pixel wide": lambda: png(1, 25_000_000),
    "a line one pixel high": lambda: png(25_000_000, 1),
    "more pixels than are allowed, each side within": lambda: png(4096, 4096),
    "one column over the side": lambda: png(4097, 8),
    "50,000 x 50,000": lambda: PNG + head(50_000, 50_000) + chunk(b"IDAT", zeros(_MIB)),
    "2^31-1 x 2^31-1": lambda: PNG + head(MANY, MANY) + chunk(b"IDAT", b"x"),
    "sides whose product is one again in 32 bits": lambda: PNG + head(65_537, 65_535) + chunk(b"IDAT", b"x"),
    "no width": lambda: PNG + head(0, 9) + chunk(b"IDAT", zeros(99)) + chunk(b"IEND"),
    "no height": lambda: PNG + head(9, 0) + chunk(b"IDAT", zeros(99)) + chunk(b"IEND"),
    "a profile that inflates to 64 MiB": lambda: png(64, 36, chunk(b"iCCP", b"icc\0\0" + zeros(64 * _MIB))),
    "200 texts of a MiB each, deflated": lambda: png(64, 36, _text_bombs(b"zTXt", 200, _MIB - 1)),
    "200 translated texts of a MiB each": lambda: png(64, 36, _text_bombs(b"iTXt", 200, _MIB - 1)),
    "a text of 64 MiB": lambda: png(64, 36, _text_bombs(b"zTXt", 1, 64 * _MIB)),
    "a chunk longer than all files": lambda: PNG + head(64, 36) + struct.pack(">I4s", MANY, b"tEXt") + b"x" * 99,
    "a profile that Pillow has to refuse": lambda: png(64, 36, chunk(b"iCCP", b"icc\0\x07" + b"x" * 999)),
    "cut in the middle": lambda: written("PNG")[:-60],
    "a false sum": lambda: written("PNG")[:-20] + b"????" + written("PNG")[-16:],
    "a bit depth that is none": lambda: png(64, 36, depth=3),
    "a kind of colour that is none": lambda: png(64, 36, colour=5),
    "a palette that is missing": lambda: PNG + head(64, 36, 8, 3) + chunk(b"IDAT", b"\x78\x9c") + chunk(b"IEND"),
    "a kind of interlacing that is none": lambda: PNG + head(64, 36, interlace=9) + chunk(b"IDAT", b"x"),
    "a TIFF in its clothes": lambda: _in_png(written("TIFF")),
    "a TIFF": lambda: written("TIFF"),
    "a GIF in its clothes": lambda: _in_png(animated("GIF", 9)),
    "a moving GIF": lambda: animated("GIF", 40),
    "a bitmap": lambda: written("BMP"),
    "an icon": lambda: written("ICO"),
    "PostScript": lambda: written("EPS"),
    "PostScript in its clothes": lambda: _in_png(written("EPS")),
    "a document of Photoshop": lambda: b"8BPS\0\x01" + bytes(6) + struct.pack(">HIIHH", 3, 30_000, 30_000, 8, 3),
    "a PDF": lambda: written("PDF"),
    "a drawing that loads another": lambda: b'<svg xmlns="http://www.w3.org/2000/svg"><image href="file:///"/></svg>',
    "JPEG 2000": lambda: b"\0\0\0\x0cjP  \r\n\x87\n" + bytes(200),
    "a JPEG of 65,500 x 65,500": lambda: with_frame_size(written("JPEG"), 65_500, 65_500),
    "a JPEG of 65,500 x 1": lambda: with_frame_size(written("JPEG"), 65_500, 1),
    "a JPEG without lines": lambda: with_frame_size(written("JPEG"), 64, 0),
    "a progressive JPEG of 65,500 x 9,000": lambda: with_frame_size(written("JPEG", progressive=True), 65_500, 9000),
    "a JPEG cut after its head": lambda: written("JPEG", size=(640, 360))[:700],
    "a JPEG whose segment has no length": lambda: with_segments(written("JPEG"))[:2] + b"\xff\xe1\0\0" + bytes(99),
    "a WebP canvas of 16384 x 16384": lambda: riff(canvas(16384, 16384, 2), (b"ANIM", bytes(6))),
    "a WebP canvas that lies, with a small frame": lambda: riff(
        canvas(16000, 16000, 0), (b"VP8 ", written("WEBP", **_SMALL_WEBP)[20:])
    ),
    "a WebP canvas of 2^24 x 2^24": lambda: riff(canvas(2**24, 2**24, 0), (b"VP8 ", bytes(40))),
    "a WebP of 16383 x 16383 without loss": lambda: riff((b"VP8L", b"\x2f" + b"\xff" * 4 + bytes(30))),
    "a WebP that is cut": lambda: written("WEBP")[:-40],
    "a WebP that says it is longer than all files": lambda: (
        b"RIFF\xff\xff\xff\xffWEBPVP8 " + b"\xff\xff\xff\x7f" + bytes(50)
    ),
    "sound": lambda: b"RIFF" + struct.pack("<I", 40) + b"WAVEfmt " + bytes(32),
    "noise behind the signature": lambda: PNG + bytes(range(256)) * 40,
    "nothing": lambda: b"",
    "markup": lambda: b"<html><body>no such poster</body></html>",
}
"""Name -> file that must not be shown."""

SLOW: dict[str, Callable[[], bytes]] = {"a JPEG of thousands of scans": lambda: many_scans(4096, 2304, 7000)}
"""Name -> file that must not be shown, and that takes all the time it is given."""

ODD: dict[str, Callable[[], bytes]] = {
    "260,000 empty chunks": lambda: png(64, 36, chunk(b"tEXt", b"a\0") * 260_000),
    "pixels that inflate to 512 MiB behind a small head": lambda: (
        PNG + head(64, 36) + chunk(b"IDAT", zeros(512 * _MIB)) + chunk(b"IEND")
    ),
    "sixteen bits": lambda: png(64, 36, depth=16),
    "sixteen bits and transparency": lambda: png(64, 36, depth=16, colour=6),
    "interlaced": lambda: png(4096, 2304, interlace=1),
    "the largest PNG": lambda: png(4096, 2304, depth=16, colour=6),
    "the largest WebP": lambda: written("WEBP", "RGBA", (4096, 2304), **_SMALL_WEBP),
    "the largest JPEG": lambda: written("JPEG", "CMYK", (4096, 2304), progressive=True),
    "one bit": lambda: written("PNG", "1"),
    "a palette of one colour": lambda: png(64, 36, chunk(b"PLTE", b"\x30\x60\x90"), colour=3),
    "a palette of 300 colours": lambda: png(64, 36, chunk(b"PLTE", bytes(900)), colour=3),
    "a moving PNG that claims 2^31-1 frames": lambda: png(
        64, 36, chunk(b"acTL", struct.pack(">II", MANY, 0)), _frame_control(0, 64, 36)
    ),
    "a moving PNG of 20,000 frames": lambda: png(
        64, 36, chunk(b"acTL", struct.pack(">II", 20_000, 0)), *(_frame_control(n, 1, 1) for n in range(20_000))
    ),
    "a moving WebP": lambda: animated("WEBP", 200, **_SMALL_WEBP),
    "a picture that is a ZIP, too": lambda: written("PNG") + b"PK\x05\x06" + bytes(18),
    "a picture with markup behind it": lambda: written("JPEG") + b"<script>alert(1)</script>",
    "a JPEG on its side": lambda: written("JPEG", exif=exif(6)),
    "a JPEG with a circle in its EXIF": lambda: with_segments(written("JPEG"), (0xE1, exif(1, next_at=8))),
    "a JPEG with 5,000 tags of 2 GiB each": lambda: with_segments(written("JPEG"), (0xE1, tiff_tags(5000))),
    "a JPEG with a profile of 255 parts": lambda: with_segments(
        written("JPEG"), *((0xE2, b"ICC_PROFILE\0" + bytes((n, 255)) + bytes(9999)) for n in range(1, 256))
    ),
    "a JPEG of many pictures": lambda: animated("MPO", 20),
    "a JPEG of four inks": lambda: written("JPEG", "CMYK"),
    "a WebP with a false profile": lambda: written("WEBP", icc_profile=bytes(100_000)),
    "a grey picture of sixteen bits": lambda: png(64, 36, depth=16, colour=0),
}
"""Name -> file that Pillow may read as a picture or refuse, at a bounded cost."""


def made(kinds: Iterable[dict[str, Callable[[], bytes]]]) -> dict[str, bytes]:
    """Return the files of these tables, by name."""
    return {name: make() for kind in kinds for name, make in kind.items()}

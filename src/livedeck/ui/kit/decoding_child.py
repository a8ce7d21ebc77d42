"""Decode and scale pictures: the program that `decoding.decode` runs for each picture.

`python -I -S decoding_child.py FOLDER WIDTH HEIGHT` reads a PNG, JPEG or WebP from standard input and writes WIDTH x
HEIGHT pixels of three bytes (RGB). FOLDER is the install folder of Pillow. The program imports no module of livedeck,
and of the site packages only Pillow. Any fault ends the program without output.

With FOLDER alone it decodes one small picture after the other, as `decoding.Decoder` sends them: length, width and
height (four bytes each, big endian), then the picture.
"""

from __future__ import annotations

import resource
import sys
from io import BytesIO
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.ImageFile import ImageFile

MAX_SIDE = 4096
"""Maximum length of a picture's longer side, in pixels. A 4K picture has 3840."""

MAX_PIXELS = 4096 * 2304
"""Maximum number of pixels of a picture: 38 MB at four bytes each. Pillow has up to six copies in memory."""

MAX_MEMORY = 256 * 2**20
"""Maximum number of bytes that the process may allocate."""

MAX_SECONDS = 5
"""Maximum processor time of the process, in seconds."""


def main() -> None:
    """Limit this process, then decode standard input to standard output."""
    for limit, most in (
        (resource.RLIMIT_AS, MAX_MEMORY),
        (resource.RLIMIT_CPU, MAX_SECONDS),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        try:
            resource.setrlimit(limit, (most, most))
        except (OSError, ValueError):  # the system has a lower limit, or no limit of this kind (macOS: memory)
            continue
    folder, *size = sys.argv[1:]
    sys.path.append(folder)
    if size:
        sys.stdout.buffer.write(decoded(sys.stdin.buffer.read(), (int(size[0]), int(size[1]))))
        return
    while head := sys.stdin.buffer.read(12):
        length, width, height = (int.from_bytes(head[start : start + 4]) for start in (0, 4, 8))
        sys.stdout.buffer.write(decoded(sys.stdin.buffer.read(length), (width, height)))
        sys.stdout.buffer.flush()


def decoded(content: bytes, size: tuple[int, int]) -> bytes:
    """Return the pixels of the picture, scaled to `size`. Raises ValueError or any error of Pillow.

    The three decoders are named explicitly, so that no other decoder runs on bytes from outside.
    """
    from PIL import JpegImagePlugin, PngImagePlugin, WebPImagePlugin

    kinds: tuple[tuple[bytes, type[ImageFile]], ...] = (
        (b"\x89PNG\r\n\x1a\n", PngImagePlugin.PngImageFile),
        (b"\xff\xd8\xff", JpegImagePlugin.JpegImageFile),
        (b"RIFF", WebPImagePlugin.WebPImageFile),
    )
    for signature, kind in kinds:
        if content.startswith(signature):
            with kind(BytesIO(content)) as image:
                if max(image.size) > MAX_SIDE or not 0 < image.width * image.height <= MAX_PIXELS:
                    raise ValueError("too many pixels, or none")
                return image.convert("RGB").resize(size).tobytes()
    raise ValueError("not a PNG, JPEG or WebP")


if __name__ == "__main__":
    main()

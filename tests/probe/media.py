"""Segments for tests, made by the encoders of PyAV."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from fractions import Fraction
from io import BytesIO
from math import pi, sin

import av

RATE, FPS = 48_000, 10
TONE = [sin(2 * pi * 997 * moment / RATE) for moment in range(RATE)]
WIDTH, HEIGHT = 128, 72

Paint = Callable[[int], bytes]
"""Luma of a frame, by its number: WIDTH x HEIGHT bytes."""


def flat(luma: int) -> Paint:
    return lambda _: bytes([luma]) * (WIDTH * HEIGHT)


def ramp(_: int = 0) -> bytes:
    """Return a still picture."""
    return bytes(40 + (3 * x + 2 * y) % 180 for y in range(HEIGHT) for x in range(WIDTH))


def moving(number: int) -> bytes:
    return bytes(40 + (3 * x + 2 * y + 9 * number) % 180 for y in range(HEIGHT) for x in range(WIDTH))


def clock(number: int) -> bytes:
    """Return a gray picture with two small squares, one of which is lit at a time."""
    lit = 100 if number // FPS % 2 else 104
    rows = [bytearray([90]) * WIDTH for _ in range(HEIGHT)]
    for row in rows[40:48]:
        row[lit : lit + 4] = bytes([235]) * 4
    return b"".join(rows)


def segment(
    kind: str,
    paint: Paint | None = moving,
    levels: Sequence[float] | None = (-20.0, -20.0),
    *,
    seconds: float = 2.0,
    fragments: str = "frag_keyframe",
    aspect: int = 1,
) -> bytes:
    """Return a segment with a key frame each second; one of kind `mp4` begins with its head.

    `levels`: peak of a tone of 997 Hz in each channel (dBFS; -200: none). None: no sound. `paint`: None: no picture.
    `fragments`: where mp4 begins one. `aspect`: width of a pixel by its height.
    """
    output = BytesIO()
    container = {"aac": "adts"}.get(kind, kind)
    options = {"movflags": f"{fragments}+empty_moov+default_base_moof"} if kind == "mp4" else {}
    with av.open(output, "w", format=container, options=options) as media:
        video = media.add_stream("libx264", rate=FPS) if paint else None
        audio = media.add_stream("aac", rate=RATE, layout="stereo") if levels else None
        if video and paint:
            video.width, video.height, video.pix_fmt = WIDTH, HEIGHT, "yuv420p"
            video.codec_context.options = {"g": str(FPS), "preset": "ultrafast", "sc_threshold": "0", "qp": "10"}
            video.codec_context.thread_count = 1
            video.codec_context.sample_aspect_ratio = Fraction(aspect)
            for number in range(round(seconds * FPS)):
                frame = av.VideoFrame(WIDTH, HEIGHT, "yuv420p")
                gray = bytes([128]) * (WIDTH * HEIGHT // 4)
                for plane, content in zip(frame.planes, (paint(number), gray, gray), strict=True):
                    width, stride = plane.width, plane.line_size
                    rows = [content[at : at + width].ljust(stride) for at in range(0, len(content), width)]
                    plane.update(b"".join(rows))
                frame.pts, frame.time_base = number, Fraction(1, FPS)
                media.mux(video.encode(frame))
            media.mux(video.encode(None))
        if audio and levels:
            factors = [10 ** (level / 20) for level in levels]
            for start in range(0, round(seconds * RATE), 1024):
                wave = [TONE[moment % RATE] for moment in range(start, start + 1024)]
                sound = av.AudioFrame("fltp", "stereo", 1024)
                for channel, factor in zip(sound.planes, factors, strict=True):
                    channel.update(array("f", [factor * value for value in wave]).tobytes())
                sound.sample_rate, sound.pts, sound.time_base = RATE, start, Fraction(1, RATE)
                media.mux(audio.encode(sound))
            media.mux(audio.encode(None))
    return output.getvalue()

"""Picture and sound of one segment, as the decoding child sees them. Pure."""

from __future__ import annotations

from livedeck.monitor import Picture, Sound
from livedeck.record import Record


class Sight(Record):
    """Picture and sound of one segment.

    `luma`: mean brightness (0 to 255). `change`: mean change between its key frames (0 to 255); None with one of them.
    `cells`: brightness of the last key frame in 64 x 36 cells, to compare the next segment with. `loudness`: loudest
    momentary loudness (LUFS). `peaks`: peak of each channel (dBFS). `jpeg`: the last key frame, 160 x 90 pixels.
    `error`: reason why nothing is known.
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

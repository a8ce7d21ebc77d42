"""Texts of playlists (RFC 8216)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from livedeck.simulator.engine.clock import format_epoch
from livedeck.simulator.media.loops import SECONDS, Track
from livedeck.simulator.media.playout import Playout

LISTED = 10
"""Number of segments in a playlist."""

LISTED_SHIFT = 7200
"""Number of segments in the playlist of an event with time shift: four hours."""

ENCRYPTED = '#EXT-X-KEY:METHOD=AES-128,URI="key"'


class Rung(NamedTuple):
    """Rendition: its height in pixels, its peak bit rate with the sound, and its codecs."""

    height: int
    bandwidth: int
    codecs: str

    @property
    def resolution(self) -> str:
        """Width and height of a 16:9 picture, such as `128x72`. The width is even."""
        return f"{round(self.height * 8 / 9) * 2}x{self.height}"


def master(rungs: Iterable[Rung]) -> str:
    """Return a master playlist. The sound is a separate rendition."""
    sound = 'GROUP-ID="sound",NAME="Sound",DEFAULT=YES,AUTOSELECT=YES,CHANNELS="2",URI="sound/index.m3u8"'
    lines = ["#EXTM3U", "#EXT-X-VERSION:7", "#EXT-X-INDEPENDENT-SEGMENTS", f"#EXT-X-MEDIA:TYPE=AUDIO,{sound}"]
    for rung in rungs:
        picture = f'CODECS="{rung.codecs}",RESOLUTION={rung.resolution},FRAME-RATE=25.000,AUDIO="sound"'
        lines += [f"#EXT-X-STREAM-INF:BANDWIDTH={rung.bandwidth},{picture}", f"{rung.height}/index.m3u8"]
    return "\n".join([*lines, ""])


def media(
    numbers: Sequence[int],
    playout: Playout,
    track: Track,
    date: Callable[[float], float],
    *,
    is_ended: bool,
    is_encrypted: bool,
) -> str:
    """Return the playlist of a rung or of the sound. `date`: returns the date to show for a time (epoch seconds)."""
    lines = [
        "#EXTM3U",
        "#EXT-X-VERSION:7",
        f"#EXT-X-TARGETDURATION:{SECONDS}",
        f"#EXT-X-MEDIA-SEQUENCE:{numbers[0]}",
        f"#EXT-X-DISCONTINUITY-SEQUENCE:{playout.run(numbers[0])}",
        "#EXT-X-INDEPENDENT-SEGMENTS",
        '#EXT-X-MAP:URI="init.mp4"',
        *([ENCRYPTED] if is_encrypted else []),
    ]
    for number in numbers:
        if number > numbers[0] and playout.run(number) != playout.run(number - 1):
            lines.append("#EXT-X-DISCONTINUITY")
        offset = track.start(number) / track.timescale - number * SECONDS
        lines += [
            f"#EXT-X-PROGRAM-DATE-TIME:{format_epoch(date(playout.time(number)) + offset)}",
            f"#EXTINF:{track.seconds(number):.5f},",
            f"{number}.m4s",
        ]
    return "\n".join([*lines, *(["#EXT-X-ENDLIST"] if is_ended else []), ""])

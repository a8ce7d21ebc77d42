"""State of an event for its viewers, as frozen values: findings of a probe of the playback address (probe.md).

The probe reads the playlist from one machine, so each value holds for that machine ("from here"). The state is no part
of the health score.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from livedeck.record import Record

STALE_INTERVALS = 3
"""Number of intervals after which an event's last round of the probe is out of date."""


class Source(StrEnum):
    """Kind of the playback address of an event. NONE: no address. Only playlists are judged."""

    NONE = "none"
    PLAYLIST = "playlist"
    PLAYER_PAGE = "player page"
    ENCRYPTED = "encrypted"
    DASH = "DASH"

    @property
    def is_probed(self) -> bool:
        """True if the address is judged. Picture and sound of an encrypted playlist are not judged."""
        return self in {Source.PLAYLIST, Source.ENCRYPTED}


class Delivery(StrEnum):
    """State of the playlist. STALLED: no new segment. ENDED: it says that no segment follows."""

    UNKNOWN = "unknown"
    PLAYS = "plays"
    SLOW = "slow"
    STALLED = "stalled"
    GONE = "gone"
    ENDED = "ended"

    @property
    def is_playing(self) -> bool:
        """True if the playlist gets new segments, at any speed."""
        return self in {Delivery.PLAYS, Delivery.SLOW}

    @property
    def is_failing(self) -> bool:
        """True without a playlist, or with a stalled one."""
        return self in {Delivery.GONE, Delivery.STALLED}


class Picture(StrEnum):
    """State of the picture in the newest segment."""

    UNKNOWN = "unknown"
    MOVES = "moves"
    STILL = "still"
    BLACK = "black"


class Sound(StrEnum):
    """State of the sound in the newest segment. NONE: the segment has no sound track."""

    UNKNOWN = "unknown"
    HEARD = "heard"
    SILENT = "silent"
    NONE = "none"


class ViewerState(Record):
    """State of an event for its viewers, seen from this machine.

    Times are by this machine's clock, except `head_time`: end of the newest segment by the packager's clock
    (EXT-X-PROGRAM-DATE-TIME); None without the tag.

    `as_of`: end of the last round. `since`: start of `delivery`. `picture_since`, `sound_since`: start of these states.
    `rounds`: number of rounds so far. `advances`: number of rounds in a row in which the head moved. `is_stale`: the
    last round is over 3 intervals old, so all else may be outdated. `interval`: seconds between two rounds.

    `target`: target duration of a segment (s). `latency`: estimated seconds from the encoder's picture to the head of
    the playlist; None without the tag, and for a head dated in the future. `ratio`: seconds to fetch a second of media.
    `loudness`: loudest momentary loudness (LUFS). `peaks`: peak of each channel (dBFS). `luma`: mean brightness (0 to
    255). `change`: mean change between key frames (0 to 255). These are None or empty if unknown.

    `track`: name of the judged sound, if the playlist offers several: `English, 1 of 3 tracks`. The others are not
    judged.

    `rungs`: heights of the renditions in pixels, lowest first. `missing`: segments that the playlist lists and the host
    does not serve, in words. `listed`: number of segments asked for so far. `missed`: number of the missing ones.
    `apart`: renditions that were missing or over 2 segments away from the lowest when last compared, in words. `host`:
    host of the playlist; no other part of an address leaves the probe. `is_reached`: the host replied in the last
    round, with a playlist or an error. A page proves nothing, because a network may send its own. `image`: SHA-256 of
    the newest picture as JPEG; empty without one. `image_at`: time of this picture. `error`: reason of the last
    failure, in words.
    """

    source: Source = Source.NONE
    delivery: Delivery = Delivery.UNKNOWN
    picture: Picture = Picture.UNKNOWN
    sound: Sound = Sound.UNKNOWN
    since: datetime | None = None
    picture_since: datetime | None = None
    sound_since: datetime | None = None
    as_of: datetime | None = None
    rounds: int = 0
    advances: int = 0
    is_stale: bool = False
    interval: float = 10.0
    head_time: datetime | None = None
    target: float | None = None
    latency: float | None = None
    ratio: float | None = None
    loudness: float | None = None
    peaks: tuple[float, ...] = ()
    luma: float | None = None
    change: float | None = None
    track: str = ""
    rungs: tuple[int, ...] = ()
    missing: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()
    listed: int = 0
    missed: int = 0
    host: str = ""
    is_reached: bool = False
    image: str = ""
    image_at: datetime | None = None
    error: str = ""

    @property
    def is_known(self) -> bool:
        """True if the last rounds show whether the playlist plays."""
        return self.source.is_probed and not self.is_stale and self.delivery is not Delivery.UNKNOWN

    @property
    def is_playing(self) -> bool:
        """True if the last round found a playlist that plays, at any speed."""
        return self.is_known and self.delivery.is_playing

    @property
    def is_failing(self) -> bool:
        """True if the last round found no playlist, or a stalled one."""
        return self.is_known and self.delivery.is_failing

    def moved(self, seconds: float) -> ViewerState:
        """Return the same state with the times of this machine by a clock that is `seconds` ahead."""
        if not seconds:
            return self
        ahead = timedelta(seconds=seconds)
        times = {name: at + ahead for name in _LOCAL if (at := getattr(self, name)) is not None}
        return replace(self, **times)


class ViewerRound(Record):
    """Round of the probe of an event, as the history keeps it. `at`: this machine's clock.

    `listed`, `missed`: number of segments that the round asked for, and of the missing ones. `peak`: peak of the
    loudest channel (dBFS). The rest is as in ViewerState.
    """

    at: datetime
    event_id: str
    delivery: Delivery
    picture: Picture = Picture.UNKNOWN
    sound: Sound = Sound.UNKNOWN
    latency: float | None = None
    ratio: float | None = None
    luma: float | None = None
    change: float | None = None
    loudness: float | None = None
    peak: float | None = None
    listed: int = 0
    missed: int = 0

    @classmethod
    def of(cls, event_id: str, state: ViewerState, before: ViewerState | None) -> ViewerRound | None:
        """Return the newest round of a probe; None without a new one. `before`: earlier state."""
        if state.as_of is None or not state.is_known or (before and before.as_of and before.as_of >= state.as_of):
            return None
        is_counted = before is not None and before.listed <= state.listed and before.missed <= state.missed
        return cls(
            state.as_of,
            event_id,
            state.delivery,
            state.picture,
            state.sound,
            state.latency,
            state.ratio,
            state.luma,
            state.change,
            state.loudness,
            max(state.peaks, default=None),
            state.listed - (before.listed if before and is_counted else 0),
            state.missed - (before.missed if before and is_counted else 0),
        )


def round_columns(rounds: Iterable[ViewerRound]) -> dict[str, list[Any]]:
    """Return rounds in columns, with times in epoch ms."""
    rows = tuple(rounds)
    names = [name for name in ViewerRound.__struct_fields__ if name not in {"at", "event_id"}]
    times = [round(row.at.timestamp() * 1000) for row in rows]
    return {"time": times, **{name: [getattr(row, name) for row in rows] for name in names}}


_LOCAL = ("since", "picture_since", "sound_since", "as_of", "image_at")
"""Names of the times by this machine's clock."""

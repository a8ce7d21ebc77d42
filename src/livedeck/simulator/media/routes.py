"""Addresses of HLS: playlists and segments of an event, and the faults that change them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

from starlette.responses import Response

from livedeck.simulator.api.events import current_stream, find_event
from livedeck.simulator.engine.encoder import MEASURED, Shape, current_state, encoder_states
from livedeck.simulator.engine.faults import HLS_HITS, Fault
from livedeck.simulator.engine.hls import PATH, PICTURES
from livedeck.simulator.engine.store import Document
from livedeck.simulator.errors import forbidden, not_found
from livedeck.simulator.http import ApiRequest, Endpoint
from livedeck.simulator.media import playlists
from livedeck.simulator.media.loops import HEIGHTS, PICTURE, SOUND, Loop, loop
from livedeck.simulator.media.playlists import LISTED, LISTED_SHIFT, Rung
from livedeck.simulator.media.playout import DELAYS, Playout, playout

SERVED_LONGER = 20
"""Number of segments that can be fetched after they left the playlist."""

SLIDES_NOISE, STILL_RATE = 0.1, 300_000
"""Noise of the video rate above which an encoder sends slides, and bit/s below which its picture is still."""

LATE_SECONDS = 40.0
"""Default delay of the fault hls-late."""

_PLAYLIST = "application/vnd.apple.mpegurl"
_PAGE = "<!doctype html><title>Player</title><h1>The show plays here</h1>"

Request: TypeAlias = ApiRequest[Any]


@dataclass(frozen=True, slots=True)
class Broadcast:
    """Event as viewers get it now: segments, rungs, and the faults that hit this request."""

    event: Document
    shapes: Mapping[str, Shape]
    playout: Playout
    is_ended: bool
    faults: Sequence[Fault]

    def fault(self, kind: str) -> Fault | None:
        """Return the fault of that kind, or None."""
        return next((fault for fault in self.faults if fault.kind == kind), None)

    @property
    def rungs(self) -> list[int]:
        """Heights of the renditions, ascending: the presets of the event, or those of the committed pictures."""
        presets = self.event["video"]["presets"]
        heights = sorted(int(preset.removesuffix("p")) for preset in presets) if presets else [*HEIGHTS]
        return (heights[:-1] or heights) if self.fault("hls-rung") else heights

    @property
    def listed(self) -> range:
        """Numbers of the segments in the playlist."""
        total = self.playout.total
        return range(max(0, total - (LISTED_SHIFT if self.event["time_shift"] else LISTED)), total)

    def serves(self, number: int) -> bool:
        """Return whether a segment can be fetched."""
        return max(0, self.listed.start - SERVED_LONGER) <= number < self.playout.total

    def date(self, time: float) -> float:
        """Return the date that the playlist shows for a time (epoch seconds)."""
        late = self.fault("hls-late")
        return time - (late.seconds or LATE_SECONDS) if late and time >= late.since else time

    def picture(self, height: int, number: int) -> Loop:
        """Return the picture loop of a segment. `height`: height of its rung."""
        own, time = self.event.get("picture") or PICTURES[int(self.event["id"][:6], 16) % 4], self.playout.time(number)
        shape = self._shape(time)
        name = "slides" if shape.noise > SLIDES_NOISE and not self.event.get("picture") else own
        if shape.video < STILL_RATE or self._is_hit("hls-frozen", time):
            name = name if name == "black" else f"{name}-still"
        if shape.fps == 0 or self._is_hit("hls-black", time):
            name = "black"
        return loop(name, self._committed(height))

    def rung(self, height: int) -> Rung:
        """Return a rendition as the master playlist shows it. Its bit rate fits any picture."""
        sound, pictures = loop("speech"), [loop(name, self._committed(height)) for name in PICTURES]
        return Rung(height, max(each.peak for each in pictures) + sound.peak, f"{pictures[0].codec},{sound.codec}")

    def sound(self, number: int) -> Loop:
        """Return the sound loop of a segment."""
        time = self.playout.time(number)
        is_silent = self._shape(time).audio == 0 or self._is_hit("hls-silent", time)
        return loop("silence" if is_silent else self.event.get("sound") or "speech")

    def _committed(self, height: int) -> int:
        return HEIGHTS[0] if height == self.rungs[0] else HEIGHTS[-1]

    def _is_hit(self, kind: str, time: float) -> bool:
        fault = self.fault(kind)
        return fault is not None and time >= fault.since

    def _shape(self, time: float) -> Shape:
        state = current_state(encoder_states(self.event["encoder"]), time)
        return Shape() if state is None or state.shape == MEASURED else self.shapes[state.shape]


def _broadcast(request: Request) -> Broadcast:
    """Return the event of a request. Raises the documented error if it has no segments."""
    event, now = find_event(request), request.world.now()
    faults = request.http.scope.get(HLS_HITS, ())
    stream, ends = current_stream(event, now), now
    if stream is None or any(fault.kind == "hls-gone" for fault in faults):
        raise not_found()
    if stream["finished_at"]:
        ends = datetime.fromisoformat(stream["finished_at"]).timestamp()
    stopped = [fault.since for fault in faults if fault.kind == "hls-stalled"]
    ready = min([now, *stopped]) - DELAYS[event["latency_mode"]]
    shapes = request.world.encoders.shapes
    segments = playout(encoder_states(event["encoder"]), shapes, min(ready, ends))
    if not segments.total:
        raise not_found()
    return Broadcast(event, shapes, segments, stream["status"] == "finished" and ready >= ends, faults)


def _rung(request: Request, broadcast: Broadcast) -> int:
    """Return the height of the rung in the path, 0 for the sound. Raises the documented error if there is none."""
    name = request.http.path_params["rung"]
    if name == "sound":
        return 0
    if name not in map(str, broadcast.rungs):
        raise not_found()
    return int(name)


async def read_master_playlist(request: Request) -> Response:
    """Return the master playlist of an event."""
    broadcast = _broadcast(request)
    return _playlist(broadcast, playlists.master(map(broadcast.rung, broadcast.rungs)))


async def read_media_playlist(request: Request) -> Response:
    """Return the playlist of a rung, or of the sound."""
    broadcast = _broadcast(request)
    track = PICTURE if _rung(request, broadcast) else SOUND
    is_encrypted = broadcast.fault("hls-encrypted") is not None
    text = playlists.media(
        broadcast.listed,
        broadcast.playout,
        track,
        broadcast.date,
        is_ended=broadcast.is_ended,
        is_encrypted=is_encrypted,
    )
    return _playlist(broadcast, text)


def _playlist(broadcast: Broadcast, text: str) -> Response:
    if broadcast.fault("hls-page"):
        return Response(_PAGE, media_type="text/html")
    return Response(text, headers={"Cache-Control": "no-cache"}, media_type=_PLAYLIST)


async def read_init_segment(request: Request) -> Response:
    """Return the init segment of a rung, or of the sound."""
    broadcast = _broadcast(request)
    height = _rung(request, broadcast)
    return _file(request, (broadcast.picture(height, 0) if height else broadcast.sound(0)).init)


async def read_segment(request: Request) -> Response:
    """Return a segment of a rung, or of the sound."""
    broadcast, digits = _broadcast(request), request.http.path_params["number"]
    height, missing = _rung(request, broadcast), broadcast.fault("hls-missing")
    number = int(digits) if re.fullmatch("[0-9]{1,12}", digits) else -1
    if not broadcast.serves(number) or (height and missing and number % missing.every == 0):
        raise not_found()
    medium = broadcast.picture(height, number) if height else broadcast.sound(number)
    return _file(request, medium.segment(number))


async def read_key(_: Request) -> Response:
    """Refuse the key of an encrypted event."""
    raise forbidden()


def _file(request: Request, content: bytes) -> Response:
    """Return a file, or the requested range of it."""
    headers = {"Cache-Control": "max-age=60", "Accept-Ranges": "bytes"}
    asked = re.fullmatch(r"bytes=([0-9]{1,12})-([0-9]{0,12})", request.http.headers.get("range", ""))
    if asked is None:
        return Response(content, headers=headers, media_type="video/mp4")
    first, last = int(asked[1]), min(int(asked[2] or len(content)), len(content) - 1)
    if first > last:
        return Response(status_code=416, headers={"Content-Range": f"bytes */{len(content)}"})
    headers["Content-Range"] = f"bytes {first}-{last}/{len(content)}"
    return Response(content[first : last + 1], 206, headers, "video/mp4")


_EVENT = f"{PATH}/{{event_id}}"
_RUNG = f"{_EVENT}/{{rung}}"

ENDPOINTS = (
    Endpoint("GET", f"{_EVENT}/master.m3u8", read_master_playlist),
    Endpoint("GET", f"{_RUNG}/index.m3u8", read_media_playlist),
    Endpoint("GET", f"{_RUNG}/init.mp4", read_init_segment),
    Endpoint("GET", f"{_RUNG}/key", read_key),
    Endpoint("GET", f"{_RUNG}/{{number}}.m4s", read_segment),
)
"""Endpoints that need no token."""

"""State of HLS for the routes of the API: on or off, and the addresses of playlists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

PATH = "/cdn/hls"
"""Path of the playlists and segments; the id of the event follows."""

PICTURES = ("pitch", "stage", "harbour", "studio", "slides", "black")
SOUNDS = ("speech", "left", "silence")
"""Names of the pictures and of the sounds that an event may play."""

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
"""Names of this machine. They stand for the hosts of several CDNs."""


@dataclass(slots=True)
class Hls:
    """State of HLS. `is_on`: events on air have playlists. `hosts`: names of this machine for the server."""

    is_on: bool = False
    hosts: Sequence[str] = ()

    def address(self, event_id: str, origin: str) -> str:
        """Return the address of an event's master playlist. `origin`: scheme and host that the caller used.

        The events are spread over `hosts` by their id, unless the caller used another host name.
        """
        parts = urlsplit(origin)
        host, port = parts.netloc.removesuffix(f":{parts.port}"), "" if parts.port is None else f":{parts.port}"
        if host in LOOPBACK and self.hosts:
            host = self.hosts[int(event_id[4:8], 16) % len(self.hosts)]
        return f"{parts.scheme}://{host}{port}{PATH}/{event_id}/master.m3u8"

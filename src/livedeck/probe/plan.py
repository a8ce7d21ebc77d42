"""Addresses of playlists, and the traffic of their rounds. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import StrEnum
from hashlib import sha256
from math import ceil
from urllib.parse import quote

from msgspec import field

from livedeck.client import Misconfigured, check_outgoing, check_public
from livedeck.monitor import Viewed
from livedeck.probe.fetch import REQUEST_WEIGHT
from livedeck.record import Record

OFF = "off"
"""Word in place of an address in the settings: do not probe the event."""

DOUBT_INTERVAL, DOUBT_SECONDS = 4.0, 60.0
"""Seconds between two rounds of a doubted event, and seconds after which its usual interval returns."""

MASTER_INTERVAL = 60.0
"""Seconds between two reads of a master playlist."""

NIGHT = 8.0
"""Hours of a night, for traffic in words."""

_PLAYLIST_SIZE = 2500
"""Usual bytes of a media playlist: a dozen segments with their times."""


class Origin(StrEnum):
    """Source of an address, strongest first."""

    EVENT = "events.ID"
    FILE = "playlists_file"
    TEMPLATE = "playlist"
    LINK = "play_link"
    GIVEN = "given"
    NONE = "none"


class Address(Record):
    """Address of an event's playlist. `reason`: why there is no address.

    `home`: configured address; requests of this event may reach the private network of its host.
    """

    text: str = ""
    origin: Origin = Origin.NONE
    home: str = ""
    reason: str = ""


class Plan(Record):
    """Settings of the probe.

    `own`, `secret`: event id -> address from the settings, and from `playlists_file`. `template`: address of all other
    events, with `{event_id}` or `{stream_id}`. `platform`: address of the platform's API.

    `interval`: seconds between two rounds of an event. `budget`: maximum traffic of all events together, in bit/s.
    """

    template: str = ""
    use_play_link: bool = False
    platform: str = ""
    own: Mapping[str, str] = field(default_factory=dict)
    secret: Mapping[str, str] = field(default_factory=dict)
    interval: float = 10.0
    budget: float = 2e6

    def address(self, event: Viewed) -> Address:
        """Return the address of an event's playlist, by the order of `Origin`."""
        own = self.own.get(event.event_id, "") or self.secret.get(event.event_id, "")
        if own == OFF:
            return Address(reason="off in the settings")
        if own:
            return _checked(own, Origin.EVENT if event.event_id in self.own else Origin.FILE, own)
        if self.template and ("{stream_id}" not in self.template or event.stream_id):
            text = self.template.replace("{event_id}", quote(event.event_id, safe=""))
            text = text.replace("{stream_id}", quote(event.stream_id, safe=""))
            return _checked(text, Origin.TEMPLATE, text)
        if self.use_play_link and event.link:
            return _checked(event.link, Origin.LINK, self.platform or event.link)
        if self.template:
            return Address(reason="it has no stream yet")
        return Address(reason="no address: set playlist in [probe] or in its [events] table")


def typed_address(text: str) -> Address:
    """Return an address that a person typed."""
    return _checked(text, Origin.GIVEN, text)


def _checked(text: str, origin: Origin, home: str) -> Address:
    try:
        check_outgoing(text)
        check_public(text, home)
    except Misconfigured as error:
        return Address(origin=origin, reason=str(error))
    return Address(text, origin, home)


class Cost(Record):
    """Facts about a playlist that decide the traffic of its rounds.

    `bandwidth`: bit rate of the lowest rung with its sound (bit/s). `target`: seconds of a segment. `rungs`: number of
    rungs. `playlist_size`: bytes of a media playlist; 0 if unknown. `has_sound_apart`: sound has its own playlist.
    """

    bandwidth: float
    target: float = 6.0
    rungs: int = 1
    playlist_size: int = 0
    master_size: int = 0
    has_sound_apart: bool = False

    def requests(self, interval: float) -> float:
        """Return the requests of an event with rounds at this interval, per second."""
        others = max(0, ceil(interval / self.target) - 1) + (self.rungs > 1)  # segments that are not read whole
        a_round = self._playlists + (self._tracks + others) * self._share(interval)
        return a_round / interval + (1 / MASTER_INTERVAL if self.master_size else 0.0)

    def rate(self, interval: float) -> float:
        """Return the traffic of an event with rounds at this interval, in bit/s."""
        playlists = self._playlists * (self.playlist_size or _PLAYLIST_SIZE)
        segment = self._share(interval) * self.bandwidth / 8 * self.target
        masters = self.master_size / MASTER_INTERVAL
        return 8 * (self.requests(interval) * REQUEST_WEIGHT + (playlists + segment) / interval + masters)

    @property
    def _tracks(self) -> int:
        return 2 if self.has_sound_apart else 1

    @property
    def _playlists(self) -> int:
        return self._tracks + (self.rungs > 1)

    def _share(self, interval: float) -> float:
        """Return the share of the rounds that find a new segment."""
        return min(1.0, interval / self.target)


def stretched(interval: float, rate: float, budget: float) -> float:
    """Return the interval at which rounds fit the budget. `rate`: traffic at `interval`, in bit/s."""
    return interval * max(1.0, rate / budget)


def traffic_text(requests: float, rate: float, *, is_limit: bool = False) -> str:
    """Return traffic in words. `requests`: per second. `rate`: in bit/s. `is_limit`: the real rate is lower."""
    return f"{requests:.1f} requests/s, {'up to ' if is_limit else ''}{volume_text(rate)}"


def volume_text(rate: float) -> str:
    """Return a rate in bit/s, and its gigabytes in a night, in words."""
    return f"{rate / 1e6:.2f} Mbit/s, {gigabytes(rate, NIGHT):.2f} GB in a night of {NIGHT:.0f} h"


def gigabytes(rate: float, hours: float) -> float:
    """Return the gigabytes of some hours at a rate in bit/s."""
    return rate * hours * 3600 / 8e9


def phases(events: Collection[str]) -> dict[str, float]:
    """Return event id -> start of its rounds within the interval, as a share of the interval (0 to 1).

    The starts are evenly spaced, in the order of a hash of the ids, so that rounds do not pile up in one second.
    """
    ordered = sorted(events, key=lambda event: sha256(event.encode()).digest())
    return {event: place / len(ordered) for place, event in enumerate(ordered)}

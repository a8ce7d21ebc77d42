"""Rules for the cause of failing playlists, decided once for all events (monitoring.md, "Viewers"). Pure.

Playlists and the platform's API are two independent ways to reach the outside. So each shows where the other fails.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from livedeck.monitor.evidence.blame import with_playlists
from livedeck.monitor.model.blame import Blame, Culprit
from livedeck.monitor.model.state import ConnectionStatus, EventState
from livedeck.monitor.model.viewer import Delivery, ViewerState
from livedeck.monitor.model.viewing import VIEWER_GONE, VIEWER_STALLED
from livedeck.record import Record

_LOST = frozenset({VIEWER_GONE, VIEWER_STALLED})


class Way(StrEnum):
    """Place of the fault of failing playlists.

    EVENT: single events. HOST: the hosts of many events. LONE_HOST: the only host, or the way to it. OWN_WAY: this
    machine's way to all hosts. OWN_LINK: this machine's network, because neither a host nor the API replies. API: the
    platform's API, because hosts reply and the API does not.
    """

    NONE = ""
    EVENT = "event"
    HOST = "host"
    LONE_HOST = "lone host"
    OWN_WAY = "own way"
    OWN_LINK = "own link"
    API = "API"


class HostPlaylists(NamedTuple):
    """Numbers of a host's playlists.

    `asked`: all. `failing`: gone or stalled. `gone`: gone. `reached`: those for which the host sent any reply.
    """

    host: str
    asked: int
    failing: int
    gone: int
    reached: int


class Playlists(Record):
    """Playlists of the events on air, as last probed. `proven`: number of events with VIEWER_GONE or VIEWER_STALLED."""

    hosts: tuple[HostPlaylists, ...]
    proven: int = 0

    @property
    def asked(self) -> int:
        return sum(each.asked for each in self.hosts)

    @property
    def failing(self) -> int:
        return sum(each.failing for each in self.hosts)

    @property
    def gone(self) -> int:
        return sum(each.gone for each in self.hosts)

    @property
    def is_reached(self) -> bool:
        """True if a host replied: then this machine's network works."""
        return any(each.reached for each in self.hosts)


def playlists_of(events: Iterable[EventState], since: datetime | None = None) -> Playlists | None:
    """Return the playlists of the events on air; None without a probe.

    `since`: start of the platform's silence (this machine's clock); only events with a later round count. If `since` is
    None, only events whose encoder sends count (`is_fed`), because a playlist stops when its encoder stops.
    """
    hosts: dict[str, list[ViewerState]] = {}
    proven = 0
    for event in events:
        state = event.viewer
        if state is None or not state.is_known or not event.phase.tally.expects_signal or state.as_of is None:
            continue
        if event.is_fed if since is None else state.as_of > since:
            hosts.setdefault(state.host, []).append(state)
            proven += any(finding.kind in _LOST for finding in event.assessment.findings)
    if not hosts:
        return None
    counts = (
        HostPlaylists(
            host,
            len(states),
            sum(state.delivery.is_failing for state in states),
            sum(state.delivery is Delivery.GONE for state in states),
            sum(state.is_reached for state in states),
        )
        for host, states in sorted(hosts.items())
    )
    return Playlists(tuple(counts), proven)


def way_of(playlists: Playlists | None, *, is_answering: bool, least: int, part: float) -> Way:
    """Return the place of the fault.

    Args:
        playlists: Playlists as last probed; None without a probe.
        is_answering: The platform's API answers.
        least: Number of playlists that must fail together before their host is to blame.
        part: Share of a host's playlists that must fail as well.
    """
    if playlists is None:
        return Way.NONE
    if not is_answering:
        return Way.API if playlists.is_reached or playlists.gone < playlists.asked else Way.OWN_LINK
    if not playlists.failing:
        return Way.NONE
    if playlists.failing == playlists.asked >= least and not playlists.is_reached:
        return Way.OWN_WAY if len(playlists.hosts) > 1 else Way.LONE_HOST
    is_host = any(each.failing >= max(least, part * each.asked) for each in playlists.hosts)
    return Way.HOST if is_host else Way.EVENT


def with_witness(connection: ConnectionStatus, events: Iterable[EventState]) -> ConnectionStatus:
    """Return the connection, with a more exact blame from the playlists if the API is silent."""
    if connection.state.is_answering or connection.is_checking:
        return connection
    return replace(connection, blame=blind_blame(connection.blame, playlists_of(events, connection.as_of)))


def blind_blame(found: Blame, playlists: Playlists | None) -> Blame:
    """Return the blame of a silent API, made more exact by the playlists. `playlists`: rounds since its last reply."""
    way = way_of(playlists, is_answering=False, least=1, part=1.0)
    if playlists is None or way is Way.NONE or found.is_own or found.cause is Culprit.COLLECTOR:
        return found
    if way is Way.OWN_LINK:
        return with_playlists(found, Culprit.OWN_LINK, "this machine's network", "no host of a playlist replies either")
    playing = playlists.asked - playlists.failing
    words = f"{playing} of {playlists.asked} playlists play, from here" if playing else "the hosts of playlists reply"
    return with_playlists(found, Culprit.PLATFORM, "the platform's API", words)

"""Fold of the rounds of an event into its state for viewers. Pure: `step` takes the findings of a round, and no clock.

A state needs proof: a reply or its failure, a head that moved, a complete segment. Without proof the state is unknown.
The first round cannot prove that an event plays, because only two rounds show whether the head moves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from hashlib import sha256

from msgspec import field

from livedeck.monitor import Delivery, Sound, Source, Thresholds, ViewerState
from livedeck.probe.playlist import Media, Part, Rung, Segment
from livedeck.probe.sight import Sight, compared
from livedeck.record import Record

STANDS_FOR = 1.5
"""Target durations after which a head that has not moved is stalled."""

SLOW_RATIO = Thresholds().viewer_slow
"""Seconds to fetch a second of media above which delivery is slow."""


class Found(Record):
    """Findings of a round.

    `fault`: why the playlist cannot be read; empty if it was read. `is_reached`: a reply came. `is_held`, `is_refused`:
    as in its `Answer`.
    `rungs`: renditions of the master, if this round read it. `media`: playlist of the lowest rung. `ratio`: seconds to
    fetch a second of media. `missing`: listed segments that did not arrive complete, in words. `listed`: number of
    segments asked for. `apart`: rendition -> its distance from the lowest; empty if they are together. `sight`,
    `sound_sight`: findings in the newest segment, and in that of a separate sound track. `error`: why a segment could
    not be decoded.
    """

    at: datetime
    source: Source = Source.PLAYLIST
    fault: str = ""
    is_reached: bool = True
    is_held: bool = False
    is_refused: bool = False
    rungs: tuple[Rung, ...] = ()
    has_read_master: bool = False
    media: Media | None = None
    ratio: float | None = None
    missing: tuple[str, ...] = ()
    listed: int = 0
    apart: Mapping[str, str] = field(default_factory=dict)
    sight: Sight | None = None
    sound_sight: Sight | None = None
    inits: Mapping[Part, bytes] = field(default_factory=dict)
    sound_head: int | None = None
    error: str = ""


class Memory(Record):
    """Knowledge of an event's playlist between two rounds.

    `moved_at`: time of the last round in which the head moved. `cells`: cells of the last picture. `inits`:
    initializations of segments. `sound_head`: number of the newest segment of a separate sound track. `image`: newest
    picture as JPEG. `is_sure`: the address is set as a playlist; a viewing URL may be a page.
    """

    viewer: ViewerState
    is_sure: bool = True
    rungs: tuple[Rung, ...] = ()
    master_at: datetime | None = None
    head: Segment | None = None
    moved_at: datetime | None = None
    sound_head: int | None = None
    cells: bytes = b""
    inits: Mapping[Part, bytes] = field(default_factory=dict)
    apart: Mapping[str, str] = field(default_factory=dict)
    image: bytes = b""


def step(memory: Memory, found: Found) -> Memory:
    """Return the memory after a round. A round that proves nothing (`Found.is_held`) changes nothing."""
    if found.is_held:
        return memory
    at, before = found.at, memory.viewer
    viewer = replace(before, as_of=at, rounds=before.rounds + 1, is_reached=found.is_reached)
    memory = replace(memory, viewer=replace(viewer, error=found.error, missing=()))
    if found.media is None:
        return _without_playlist(memory, found)
    rungs = found.rungs if found.has_read_master else memory.rungs
    memory = replace(
        memory,
        rungs=rungs,
        master_at=at if found.has_read_master else memory.master_at,
        inits=found.inits,
        sound_head=found.sound_head,
        apart={rung.name: words for rung in rungs if (words := {**memory.apart, **found.apart}.get(rung.name))},
    )
    return _seen(_delivered(memory, found, found.media), found)


def _without_playlist(memory: Memory, found: Found) -> Memory:
    """Return the memory after a round without a playlist.

    If the address gave a playlist before, viewers get nothing now. If not, the address itself is wrong.
    """
    before = memory.viewer
    is_wrong_address = memory.head is None and (found.source is not Source.NONE or not memory.is_sure)
    delivery = Delivery.UNKNOWN if is_wrong_address or found.is_refused else Delivery.GONE
    source = before.source if before.source.is_probed or found.is_refused else Source.PLAYLIST
    if is_wrong_address:
        source = found.source
    is_new_page = memory.head is not None and found.source is Source.PLAYER_PAGE
    error = "a page in place of the playlist" if is_new_page else found.fault
    viewer = replace(before, source=source, error=error, advances=0, latency=None, ratio=None)
    return replace(memory, viewer=_since(viewer, found.at, delivery), master_at=None)


def _delivered(memory: Memory, found: Found, media: Media) -> Memory:
    at, before, head = found.at, memory.viewer, media.head
    is_first = memory.head is None
    has_moved = head is not None and (memory.head is None or head.number > memory.head.number)
    moved_at = at if has_moved or memory.moved_at is None else memory.moved_at
    delivery = before.delivery
    if media.is_ended:
        delivery = Delivery.ENDED
    elif has_moved and not is_first:
        delivery = Delivery.SLOW if found.ratio is not None and found.ratio > SLOW_RATIO else Delivery.PLAYS
    elif (at - moved_at).total_seconds() > STANDS_FOR * media.target:
        delivery = Delivery.STALLED
    elif not delivery.is_playing:
        delivery = Delivery.UNKNOWN
    end = head.end if head else None
    error = before.error or ("" if head else "the playlist lists no segment")
    viewer = replace(
        _since(before, at, delivery),
        error=error,
        source=Source.ENCRYPTED if media.is_encrypted else Source.PLAYLIST,
        advances=before.advances + 1 if has_moved and not is_first else 0,
        head_time=end,
        target=media.target,
        latency=(at - end).total_seconds() if end and at >= end and not media.is_ended else None,
        ratio=found.ratio if has_moved else before.ratio,
        track=memory.rungs[0].track if memory.rungs else "",
        rungs=tuple(rung.height for rung in memory.rungs if rung.height),
        missing=found.missing,
        apart=tuple(memory.apart.values()),
        listed=before.listed + found.listed,
        missed=before.missed + len(found.missing),
    )
    return replace(memory, viewer=viewer, head=head, moved_at=moved_at)


def _since(viewer: ViewerState, at: datetime, delivery: Delivery) -> ViewerState:
    if delivery is viewer.delivery and viewer.since is not None:
        return viewer
    return replace(viewer, delivery=delivery, since=at)


def _seen(memory: Memory, found: Found) -> Memory:
    """Return the memory with picture and sound of the round; each stays if its segment was not decoded."""
    at, viewer, sight = found.at, memory.viewer, found.sight
    heard = found.sound_sight if memory.rungs and memory.rungs[0].sound else sight
    if sight is not None:
        sight = compared(sight, memory.cells)
        if sight.picture is not viewer.picture or viewer.picture_since is None:
            viewer = replace(viewer, picture=sight.picture, picture_since=at)
        viewer = replace(viewer, luma=sight.luma, change=sight.change, error=viewer.error or sight.error)
        if sight.jpeg:
            viewer = replace(viewer, image=sha256(sight.jpeg).hexdigest(), image_at=at)
        memory = replace(memory, cells=sight.cells or memory.cells, image=sight.jpeg or memory.image)
    if heard is not None:
        if heard.sound is not viewer.sound or viewer.sound_since is None:
            viewer = replace(viewer, sound=heard.sound, sound_since=at)
        error = heard.error if heard.sound is Sound.UNKNOWN else ""  # otherwise about the picture
        viewer = replace(viewer, loudness=heard.loudness, peaks=heard.peaks, error=viewer.error or error)
    return replace(memory, viewer=viewer)


def begin(host: str, *, interval: float = 10.0, is_sure: bool = True, reason: str = "") -> Memory:
    """Return the memory before the first round. `reason`: why the event is not probed; empty if it is."""
    return Memory(ViewerState(host=host, interval=interval, error=reason), is_sure)

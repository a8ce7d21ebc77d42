"""Requests of one round of an event: playlists, the newest segment, and checks that further segments exist."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Protocol

from livedeck.monitor import Source
from livedeck.probe.container import container_of, cut_off
from livedeck.probe.fetch import Answer, Round, Want
from livedeck.probe.plan import MASTER_INTERVAL
from livedeck.probe.playlist import Master, Media, Part, Rung, Segment, Unusable, read_playlist
from livedeck.probe.rounds import Found, Memory
from livedeck.probe.sight import UNDECODABLE, Sight
from livedeck.text.values import safe

_LONG = 64 * 2**10
"""Size of a playlist in bytes from which it is parsed in a thread."""

_NOT_OF_HOST = frozenset({0, 407, 511})
"""HTTP statuses that the host did not send: 0 (no reply), and demands of a proxy or network for a login."""

_MAX_PRESENCES = 12
"""Maximum number of segments in a round whose presence is checked without reading them."""

_APART_SEGMENTS = 2
"""Maximum distance of two renditions in segments. A player that changes the rendition continues at the same number."""


class Looks(Protocol):
    """Decoder of segments."""

    @property
    def blindness(self) -> str:
        """Reason why no segment is judged now; empty if segments are judged."""

    @property
    def deaths(self) -> int:
        """Number of processes that died or timed out so far."""

    async def look(self, kind: str, segment: bytes, init: bytes = b"") -> Sight:
        """Return picture and sound of a segment. `kind`: mpegts, mp4 or aac. `init`: its initialization."""

    async def close(self) -> None:
        """End the decoder."""


class _Round:
    """Findings of a round while it runs."""

    def __init__(self, memory: Memory, requests: Round, looks: Looks | None) -> None:
        self._memory, self._requests, self._looks = memory, requests, looks
        self.missing: list[str] = []
        self.suspects: list[tuple[str, Segment, str]] = []  # playlist, segment that did not arrive, reason
        self.listed = 0
        self.error = ""
        self.inits: dict[Part, bytes] = {}

    async def playlist(self, address: str) -> tuple[Answer, Master | Media | Unusable | None]:
        """Return the reply of an address, and its playlist: Unusable if it cannot be judged, None without a reply."""
        answer = await self._requests.get(Part(address), Want.PLAYLIST)
        if answer.error:
            return answer, None
        try:
            if len(answer.body) > _LONG:
                return answer, await asyncio.to_thread(read_playlist, answer.body, answer.address)
            return answer, read_playlist(answer.body, answer.address)
        except Unusable as reason:
            return answer, reason

    async def segment(self, name: str, playlist: str, segments: Sequence[Segment]) -> tuple[Segment, Answer] | None:
        """Return the newest complete segment of `segments`, with its reply. Tries at most two segments."""
        for segment in reversed(segments[-2:]):
            answer = await self._requests.get(segment.part, Want.SEGMENT)
            if self.is_unasked(f"segment of {name}", answer):
                return None
            self.listed += 1
            if answer.is_late and answer.body:  # slow, but perhaps not missing
                return segment, answer
            reason = answer.error or cut_off(answer.body)
            if not reason:
                return segment, answer
            self.suspects.append((playlist, segment, f"segment {segment.number} of {name}: {reason}"))
        return None

    async def presence(self, name: str, playlist: str, segments: Sequence[Segment]) -> None:
        """Check that these segments are there, without reading them."""
        for segment in segments[-_MAX_PRESENCES:]:
            answer = await self._requests.get(segment.part, Want.PRESENCE)
            if self.is_unasked(f"segment of {name}", answer):
                return
            self.listed += 1
            if answer.error:
                self.suspects.append((playlist, segment, f"segment {segment.number} of {name}: {answer.error}"))

    async def settle(self) -> None:
        """Read the playlists again whose segments did not arrive, and note which of these segments are missing.

        A segment is missing if its playlist still lists it: players do not ask for a segment that has left its
        playlist. A segment is not missing if its address was cut off, because the playlist was read while it was
        written. If this round may not read a playlist again, all its segments that did not arrive are missing.
        """
        for playlist in dict.fromkeys(playlist for playlist, *_ in self.suspects):
            answer, found = await self.playlist(playlist)
            segments = found.segments if isinstance(found, Media) else ()
            listed = {segment.number: segment.part.address for segment in segments}
            for of, segment, words in self.suspects:
                asked, again = segment.part.address, listed.get(segment.number, "")
                is_listed = bool(again) and (asked == again or not again.startswith(asked))
                if of == playlist and (answer.is_held or is_listed):
                    self.missing.append(words)

    def is_unasked(self, subject: str, answer: Answer) -> bool:
        """Return whether a reply proves nothing, and store why. `subject`: requested object in words."""
        if answer.is_refused:
            self.error = f"{subject}: {answer.error}"
        return answer.is_held or answer.is_refused

    async def sight(self, name: str, segment: Segment, body: bytes) -> Sight | None:
        """Return picture and sound of a segment; None without a decoder, or if it cannot be decoded."""
        kind = container_of(body)
        if self._looks is None:
            return None
        if not kind:
            self.error = "picture unknown: the segment is neither MPEG-TS, MP4 nor AAC"
            return None
        init = b""
        if segment.init is not None:
            init = self._memory.inits.get(segment.init, b"")
            if not init:
                answer = await self._requests.get(segment.init, Want.INIT)
                if answer.error:
                    self.error = f"initialization: {answer.error}"
                    return None
                init = answer.body
            self.inits[segment.init] = init
        sight = await self._looks.look(kind, body, init)
        if sight.error == UNDECODABLE:
            self.missing.append(f"segment {segment.number} of {name}: {UNDECODABLE}")
            return None
        return sight


async def ask(memory: Memory, address: str, requests: Round, looks: Looks | None, now: Callable[[], datetime]) -> Found:
    """Make the requests of a round, and return its findings. `address`: address of the master or media playlist."""
    work = _Round(memory, requests, looks)
    rungs, has_read_master = memory.rungs, False
    is_due = memory.master_at is None or now() - memory.master_at >= timedelta(seconds=MASTER_INTERVAL)
    answer, found = await work.playlist(address if is_due or not rungs else rungs[0].address)
    if isinstance(found, Master):
        rungs, has_read_master = found.rungs, True
        answer, found = await work.playlist(rungs[0].address)
    elif is_due:
        rungs, has_read_master = (), isinstance(found, Media)
    at = now()
    if not isinstance(found, Media):
        source = found.source if isinstance(found, Unusable) else Source.NONE
        return Found(
            at,
            source=source,
            fault=_fault(answer, found),
            is_reached=has_read_master or (answer.status not in _NOT_OF_HOST and not isinstance(found, Unusable)),
            is_held=answer.is_held,
            is_refused=answer.is_refused,
        )
    head_before = -1 if memory.head is None else memory.head.number
    apart = await _compare(work, memory, rungs, found, head_before)
    name, lowest = (rungs[0].name, rungs[0].address) if rungs else ("the playlist", address)
    new = [segment for segment in found.segments if segment.number > head_before]
    ratio, sight = None, None
    if new and not found.is_ended:
        got = await work.segment(name, lowest, new)
        if memory.head is not None:
            await work.presence(name, lowest, [segment for segment in new[:-1] if got is None or segment is not got[0]])
        if got is not None:
            segment, reply = got
            ratio = _ratio(reply, segment)
            if not found.is_encrypted and not reply.is_late:
                sight = await work.sight(name, segment, reply.body)
    sound_head, sound_sight = await _hear(work, memory, rungs, found, is_judged=sight is not None)
    await work.settle()
    return Found(
        at,
        rungs=rungs,
        has_read_master=has_read_master,
        media=found,
        ratio=ratio,
        missing=tuple(work.missing),
        listed=work.listed,
        apart=apart,
        sight=sight,
        sound_sight=sound_sight,
        inits=work.inits or memory.inits,
        sound_head=sound_head,
        error=work.error,
    )


async def _compare(
    work: _Round, memory: Memory, rungs: Sequence[Rung], lowest: Media, head_before: int
) -> dict[str, str]:
    """Compare one rendition with the lowest; each round takes the next rendition.

    Returns the rendition's name -> its distance from the lowest in words, or its fault. Empty without a second
    rendition, or if the reply proves nothing.
    """
    if len(rungs) < 2:
        return {}
    rung = rungs[1 + memory.viewer.rounds % (len(rungs) - 1)]
    answer, found = await work.playlist(rung.address)
    if work.is_unasked(rung.name, answer):
        return {}
    if not isinstance(found, Media):
        return {rung.name: f"{rung.name}: {_fault(answer, found)}"}
    if rung is rungs[-1] and found.head is not None and found.head.number > head_before:
        await work.presence(rung.name, rung.address, [found.head])
    return {rung.name: _distance(rung, found, lowest)}


def _fault(answer: Answer, found: Master | Media | Unusable | None) -> str:
    """Return the reason why a reply is no playlist with segments, in words."""
    reason = str(found) if isinstance(found, Unusable) else "a playlist without segments"
    return str(safe(answer.error or reason, 200))


def _distance(rung: Rung, media: Media, lowest: Media) -> str:
    head, own = lowest.head, media.head
    if head is None or own is None:
        return "" if head is None else f"{rung.name}: no segments"
    if head.end and own.end:
        segments = (own.end - head.end).total_seconds() / lowest.target
    else:
        segments = float(own.number - head.number)
    if abs(segments) <= _APART_SEGMENTS:
        return ""
    return (
        f"{rung.name} is {abs(segments):.0f} segments {'ahead of' if segments > 0 else 'behind'} the lowest rendition"
    )


async def _hear(
    work: _Round, memory: Memory, rungs: Sequence[Rung], lowest: Media, *, is_judged: bool
) -> tuple[int | None, Sight | None]:
    """Return the number of the newest segment of a separate sound track, and the findings in it.

    If the playlist of the sound does not arrive, but that of the picture does, the sound counts as missing. Findings:
    None if no new segment was decoded.
    """
    if not rungs or not rungs[0].sound:
        return None, None
    answer, found = await work.playlist(rungs[0].sound)
    if work.is_unasked("the playlist of the sound", answer):
        return memory.sound_head, None
    if not isinstance(found, Media) or found.head is None:
        if lowest.head is not None:
            work.suspects.append((rungs[0].address, lowest.head, f"the sound playlist: {_fault(answer, found)}"))
        work.listed += 1
        return memory.sound_head, Sight()
    if memory.sound_head is not None and found.head.number <= memory.sound_head:
        return found.head.number, None
    got = await work.segment("the sound", rungs[0].sound, found.segments)
    if got is None or got[1].is_late or not is_judged:
        return found.head.number, None
    return found.head.number, await work.sight("the sound", got[0], got[1].body)


def _ratio(answer: Answer, segment: Segment) -> float | None:
    """Return the seconds to fetch a second of media. After a timeout, extrapolate from the bytes that came."""
    if not segment.seconds:
        return None
    whole = answer.size / len(answer.body) if answer.is_late and answer.size else 1.0
    return answer.seconds * whole / segment.seconds

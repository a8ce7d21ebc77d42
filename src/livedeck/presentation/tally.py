"""Tally of events as TSL UMD messages, for multiviewers and switchers (tally.md). Pure.

TSL UMD 3.1 and 5.0 are the public protocol of under-monitor displays: a display has a number, lamps and a text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import IntEnum
from struct import pack
from typing import Literal, NamedTuple
from unicodedata import combining, normalize

from livedeck.monitor import BroadcastState, EventState, IngestState, Snapshot
from livedeck.presentation import events
from livedeck.presentation.render_time import RenderTime
from livedeck.text.secrets import masked_line

Version = Literal["3.1", "5.0"]

GREEN_SECONDS = 600.0
"""Seconds before the planned start at which the lamp turns green."""

MAX_LETTERS = 32
"""Maximum number of characters of a display's text in TSL UMD 5.0. In 3.1, the maximum is 16."""

UNKNOWN_MARK = "? "
"""Beginning of the text of a display whose event is not known now. Its lamp is off."""


class Lamp(IntEnum):
    """Colour of a lamp, with its number in 5.0."""

    OFF = 0
    RED = 1
    GREEN = 2
    AMBER = 3


class Display(NamedTuple):
    """State of a display."""

    number: int
    lamp: Lamp
    text: str


def displays(
    numbers: Mapping[str, int], snapshot: Snapshot | None, render_time: RenderTime | None
) -> Iterator[Display]:
    """Yield the state of each display.

    Args:
        numbers: Event id -> number of its display.
        snapshot: The newest snapshot; None if nothing is known.
        render_time: Its render time; None to show every event as unknown.
    """
    for event_id, number in numbers.items():
        state = snapshot.find(event_id) if snapshot else None
        name = masked_line((state.event.name if state else "") or event_id)[:MAX_LETTERS]
        if state is None or render_time is None or not _is_known(state, render_time):
            yield Display(number, Lamp.OFF, f"{UNKNOWN_MARK}{name}")
        else:
            yield Display(number, lamp_of(state, render_time), name)


def lamp_of(state: EventState, render_time: RenderTime) -> Lamp:
    """Return the lamp of an event that is known. It is red only on air while the signal arrives."""
    tally, start = state.phase.tally, state.phase.reference_time
    if tally.expects_signal:
        arrives = state.phase.ingest.state in {IngestState.RECEIVING, IngestState.WARMING_UP}
        return Lamp.RED if tally is BroadcastState.ON_AIR and arrives and not state.is_undecided else Lamp.AMBER
    is_near = start is not None and render_time.server_seconds_since(start) >= -GREEN_SECONDS
    return Lamp.GREEN if tally in {BroadcastState.SCHEDULED, BroadcastState.LATE} and is_near else Lamp.OFF


def _is_known(state: EventState, render_time: RenderTime) -> bool:
    return state.phase.tally is not BroadcastState.UNKNOWN and not events.is_doubtful(state, render_time)


def message(display: Display, version: Version, screen: int) -> bytes:
    """Return a TSL UMD message with a display's text and lamps. `screen`: number of its screen (TSL UMD 5.0 only)."""
    return _message_31(display) if version == "3.1" else _message_50(display, screen)


def _message_31(display: Display) -> bytes:
    """Return 18 bytes: number, control (tally 1 is red, tally 2 green, both amber; full brightness), 16 characters."""
    red, green = display.lamp in {Lamp.RED, Lamp.AMBER}, display.lamp in {Lamp.GREEN, Lamp.AMBER}
    letters = "".join(letter for letter in normalize("NFKD", display.text) if not combining(letter))
    text = letters.encode("ascii", "replace")  # é becomes e, and a letter without an ASCII form `?`
    return bytes([0x80 + display.number, red | green << 1 | _BRIGHT << 4]) + text[:16].ljust(16)


def _message_50(display: Display, screen: int) -> bytes:
    """Return a packet with one display. The text is ASCII, or UTF-16LE if it has other characters."""
    is_wide = not display.text.isascii()
    text = display.text.encode("utf-16-le" if is_wide else "ascii", "replace")
    lamps = display.lamp | display.lamp << 2 | display.lamp << 4  # right, text, left
    body = pack("<BBH", 0, int(is_wide), screen) + pack("<HHH", display.number, lamps | _BRIGHT << 6, len(text)) + text
    return pack("<H", len(body)) + body


_BRIGHT = 3

_DLE, _STX = b"\xfe", b"\x02"


def framed(packet: bytes) -> bytes:
    """Return a packet of TSL UMD 5.0 as a TCP stream carries it: after DLE STX, with each DLE doubled."""
    return _DLE + _STX + packet.replace(_DLE, _DLE * 2)

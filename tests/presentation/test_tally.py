"""The bytes of tally messages are those of the standard, and a lamp is red only for a signal that arrives."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tslumd.messages import Message

from livedeck.client import Event
from livedeck.monitor import (
    BroadcastState,
    ClaimEvidence,
    ConnectionState,
    ConnectionStatus,
    EventState,
    HealthAssessment,
    Ingest,
    IngestState,
    Phase,
    Proof,
    QosState,
    Snapshot,
)
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.tally import GREEN_SECONDS, Display, Lamp, displays, framed, message
from monitor.stage import NOW

ARRIVES = Ingest(IngestState.RECEIVING)
LINK = ConnectionStatus(ConnectionState.OK, since=NOW, as_of=NOW)


def shown(tally: BroadcastState, ingest: Ingest = ARRIVES, start: float | None = None, **fields: Any) -> Display:
    """Return the display of an event that starts `start` seconds from now."""
    stale, link = fields.pop("stale", False), fields.pop("link", LINK)
    reference = None if start is None else NOW + timedelta(seconds=start)
    event = Event(id="one", name="Studio A")
    state = EventState(event, NOW, Phase(tally, reference, ingest), QosState(), HealthAssessment(), **fields)
    snapshot = Snapshot(1, NOW, link, (state,))
    (found,) = displays({"one": 7}, snapshot, RenderTime(NOW, NOW, stale))
    return found


@pytest.mark.parametrize(
    ("tally", "ingest", "start", "lamp"),
    [
        (BroadcastState.ON_AIR, IngestState.RECEIVING, -60, Lamp.RED),
        (BroadcastState.ON_AIR, IngestState.WARMING_UP, -60, Lamp.RED),
        (BroadcastState.ON_AIR, IngestState.NONE, -60, Lamp.AMBER),
        (BroadcastState.ON_AIR, IngestState.UNKNOWN, -60, Lamp.AMBER),
        (BroadcastState.RECONNECTING, IngestState.INTERRUPTED, -60, Lamp.AMBER),
        (BroadcastState.LOST, IngestState.INTERRUPTED, -60, Lamp.AMBER),
        (BroadcastState.SCHEDULED, IngestState.NONE, GREEN_SECONDS, Lamp.GREEN),
        (BroadcastState.SCHEDULED, IngestState.NONE, GREEN_SECONDS + 1, Lamp.OFF),
        (BroadcastState.LATE, IngestState.NONE, -60, Lamp.GREEN),
        (BroadcastState.DRAFT, IngestState.NONE, None, Lamp.OFF),
        (BroadcastState.COMPLETED, IngestState.ENDED, -60, Lamp.OFF),
    ],
)
def test_a_lamp_follows_the_rule(tally: BroadcastState, ingest: IngestState, start: float | None, lamp: Lamp) -> None:
    assert shown(tally, Ingest(ingest), start) == Display(7, lamp, "Studio A")


@pytest.mark.parametrize("tally", BroadcastState)
def test_a_lamp_of_an_event_that_is_not_known_is_off(tally: BroadcastState) -> None:
    unknown = Display(7, Lamp.OFF, "? Studio A")
    assert shown(tally, stale=True) == unknown
    assert shown(tally, is_stale=True) == unknown
    assert shown(BroadcastState.UNKNOWN) == unknown
    assert [*displays({"gone": 1}, Snapshot(1, NOW, LINK), RenderTime(NOW, NOW, stale=False))] == [
        Display(1, Lamp.OFF, "? gone")
    ]
    assert [*displays({"one": 1}, None, None)] == [Display(1, Lamp.OFF, "? one")]


def test_an_encoder_that_may_have_left_is_not_red() -> None:
    doubt = ClaimEvidence("encoder lost", Proof.NOT_YET, "", "")
    assert shown(BroadcastState.ON_AIR, evidence=doubt).lamp is Lamp.AMBER


@pytest.mark.parametrize(
    ("display", "table"),
    [
        (Display(0, Lamp.OFF, ""), "80 30" + " 20" * 16),
        (Display(126, Lamp.RED, "Studio A"), "fe 31 53 74 75 64 69 6f 20 41" + " 20" * 8),
        (Display(1, Lamp.GREEN, "Übung 12345678901"), "81 32 55 62 75 6e 67 20 31 32 33 34 35 36 37 38 39 30"),
        (Display(2, Lamp.AMBER, "日本 \u2028 A"), "82 33 3f 3f 20 3f 20 41" + " 20" * 10),
    ],
)
def test_3_1_has_the_bytes_of_the_standard(display: Display, table: str) -> None:
    assert message(display, "3.1", 0) == bytes.fromhex(table)


@pytest.mark.parametrize(
    ("display", "table"),
    [
        (Display(1, Lamp.RED, "AB"), "0c 00 00 00 02 00 01 00 d5 00 02 00 41 42"),
        (Display(0xFFFE, Lamp.OFF, "é"), "0c 00 00 01 02 00 fe ff c0 00 02 00 e9 00"),
    ],
)
def test_5_0_has_the_bytes_of_the_standard(display: Display, table: str) -> None:
    assert message(display, "5.0", 2) == bytes.fromhex(table)


def test_a_stream_doubles_the_byte_that_begins_a_packet() -> None:
    assert framed(bytes.fromhex("0600fefe02")) == bytes.fromhex("fe02 0600 fefe fefe 02")


@given(
    st.integers(0, 0xFFFE),
    st.sampled_from(Lamp),
    st.text(st.characters(codec="utf-8"), max_size=32),
    st.integers(0, 0xFFFE),
)
def test_a_receiver_of_others_reads_5_0(number: int, lamp: Lamp, text: str, screen: int) -> None:
    packet, rest = Message.parse(message(Display(number, lamp, text), "5.0", screen))
    (found,) = packet.displays
    assert (rest, packet.screen, found.index, found.brightness) == (b"", screen, number, 3)
    assert {int(found.rh_tally), int(found.txt_tally), int(found.lh_tally)} == {int(lamp)}
    assert found.text == (text.partition("\0")[0] if text.isascii() else text)

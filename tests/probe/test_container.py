"""A segment shows whether it is whole without decoding."""

from __future__ import annotations

import pytest

from livedeck.probe.container import container_of, cut_off
from probe.stage import SEGMENT


def box(name: bytes, body: bytes = b"") -> bytes:
    return (8 + len(body)).to_bytes(4) + name + body


FRAGMENT = box(b"styp", b"msdh") + box(b"moof", bytes(40)) + box(b"mdat", bytes(500))
LONG = box(b"styp") + (1).to_bytes(4) + b"mdat" + (16 + 100).to_bytes(8) + bytes(100)
OPEN = box(b"styp") + bytes(4) + b"mdat" + bytes(77)
WHOLE = {"ts": SEGMENT, "one packet": SEGMENT[:188], "fmp4": FRAGMENT, "a long box": LONG, "an open box": OPEN}


@pytest.mark.parametrize("body", WHOLE.values(), ids=WHOLE)
def test_a_whole_segment_is_whole(body: bytes) -> None:
    assert (bool(container_of(body)), cut_off(body)) == (True, "")


@pytest.mark.parametrize("body", [SEGMENT, FRAGMENT, LONG], ids=["ts", "fmp4", "a long box"])
def test_a_segment_without_its_last_byte_is_cut_off(body: bytes) -> None:
    assert cut_off(body[:-1]).startswith("cut off")


@pytest.mark.parametrize("body", [bytes(7) + b"x", b"WEBVTT\n", b"\xff\xf1\x50\x80", b"ID3\x04"])
def test_of_other_bytes_nothing_is_claimed(body: bytes) -> None:
    assert cut_off(body) == ""


def test_no_byte_at_all_is_a_fault() -> None:
    assert cut_off(b"") == "empty"


def test_boxes_of_impossible_sizes_are_a_fault_and_end() -> None:
    assert cut_off(box(b"styp") + (5).to_bytes(4) + b"mdat") == "cut off in mid-box"

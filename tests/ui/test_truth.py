"""Sentences of seven screens and the help against the records of the simulated platform, at random moments.

`pytest -n 0 -s -m "slow or not slow" tests/ui/test_truth.py` reads the screens of 128 moments, and prints how many
sentences were checked, and the forms of those that were not.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from random import Random
from typing import NamedTuple

import pytest

import ui.truth_sentences  # noqa: F401  its rules read the sentences
from breadth import slow_rows
from ui.truth import Document, Reader, Sheet
from ui.truth_stage import watching

SIZES = ((80, 24), (120, 40), (200, 60))
SCREENS = (["2"], ["3"], ["4"], ["5"], ["6"], ["7", "right_square_bracket"], ["question_mark"])
LEAST_SHARE = 0.85
"""Share of the sentences with a number or a state that are checked."""


class Show(NamedTuple):
    """A scenario, or the demo's workspace without one, and the seconds that it is watched."""

    scenario: str | None
    seconds: float


NIGHT, OUTAGE, CALM = Show("bad-night", 765), Show("platform-outage", 220), Show("clean-show", 540)
EVENING = Show(None, 600)


async def read(show: Show, seed: int, moments: int) -> Sheet:
    """Return what was read on every screen at so many random moments of a show, each at a random size."""
    sheet, chance = Sheet(), Random(f"{show.scenario} {seed}")
    async with watching(show.scenario, seed) as watch:
        for time in sorted(chance.uniform(5, show.seconds) for _ in range(moments)):
            await watch.advance_to(time)
            await watch.resize(chance.choice(SIZES))
            rows, board, newest = ["home", *["down"] * chance.randrange(4)], None, watch.deck.snapshot
            for keys in (["7", *rows], ["1", *rows], *SCREENS):
                await watch.pilot.press(*keys)
                await watch.settle()
                columns, lines = watch.deck.size
                place = f"{show.scenario} at {time:.0f} s, keys {' '.join(keys)}, {columns}x{lines}"
                if watch.deck.snapshot is not newest:  # a key may poll, and the board has changed since it was read
                    board, newest = None, watch.deck.snapshot
                reader = Reader(watch.text(), watch.records, sheet, place, board)
                reader.read()
                board = reader.chips if board is None else board
            await watch.pilot.press("escape", "left_square_bracket")
    return sheet


@pytest.mark.parametrize(
    ("show", "seed", "moments"),
    [
        (OUTAGE, 1, 1),
        (NIGHT._replace(seconds=200), 1, 1),
        (CALM._replace(seconds=100), 1, 1),
        *slow_rows((NIGHT, 7, 34), (OUTAGE, 7, 33), (CALM, 7, 33), (EVENING, 7, 25)),
    ],
    ids=lambda value: value.scenario or "evening" if isinstance(value, Show) else str(value),
)
async def test_every_sentence_that_a_rule_reads_is_true(show: Show, seed: int, moments: int) -> None:
    sheet = await read(show, seed, moments)
    print(sheet.summary())  # noqa: T201  what a person who runs the thorough run wants to know
    assert sheet.untrue == []
    assert sheet.share >= LEAST_SHARE


LIES = [
    ("1", r"● 3 on air", "● 4 on air"),
    ("1", r"○ 1 planned", "○ 0 planned"),
    ("1", r"✓ 2 good", "✓ 3 good"),
    ("1", r"↑ 14\.\d Mbit/s in", "↑ 24.0 Mbit/s in"),
    ("1", r"(ON AIR  Small hall +)00:09:", r"\g<1>00:04:"),
    ("1", r"(ON AIR  Small hall .*)receiving", r"\1lost     "),
    ("1", r"(ON AIR  Small hall .*) 4\.\d\dM", r"\1 2.75M"),
    ("1", r"(ON AIR  Main stage .*)  2/2", r"\1  1/2"),
    ("1", r"✓ link ok", "▲ link FAILING"),
    ("2", r"✖ 2   ▲ 1", "clear"),
    ("2", r"3 of 3 arrive", "2 of 3 arrive"),
    ("2", r"✓ Video share", "✖ Video share"),
    ("3", r"video 4\.\d\d Mbit/s", "video 3.01 Mbit/s"),
    ("3", r"LOSS (\d+)  ▁ normal \d+ of (\d+)", r"LOSS 0  ▁ normal \2 of \2"),
    ("3", r"as of 21:17", "as of 21:14"),
    ("7", r"(Video share disconnected +cleared) 21:17", r"\1 21:11"),
    ("7", r"(INFO +\d\d:\d\d) Second stage(      +PACKET_LOSS)", r"\1 Small hall  \2"),
    ("7", r"NEW  2", "NEW  5"),
    ("1", r"rtt 0 ms", "rtt 900 ms"),
]
"""Key of the screen, a true sentence of `bad-night` at 200 s, and an untrue one in its place."""


async def test_each_lie_is_found() -> None:
    unfound = []
    async with watching("bad-night", 1) as watch:
        await watch.advance_to(200)
        screens, board = {}, None
        for key in ("7", "1", "2", "3"):
            await watch.pilot.press(key)
            await watch.settle()
            screens[key], sheet = watch.text(), Sheet()
            reader = Reader(screens[key], watch.records, sheet, key, board)
            reader.read()
            board = reader.chips if board is None else board
            assert sheet.untrue == []
        for key, truth, lie in LIES:
            text, sheet = re.sub(truth, lie, screens[key], count=1), Sheet()
            assert text != screens[key], f"the screen of key {key} has no {truth!r}"
            Reader(text, watch.records, sheet, key, board).read()
            unfound += [] if sheet.untrue else [(key, lie)]
    assert unfound == []


def _day(row: Document) -> str:
    return f"{datetime.fromisoformat(row['created_at']).astimezone(UTC):%d %b %Y %H:%M}"


async def test_a_fact_of_another_event_or_room_is_found() -> None:
    unfound = []
    async with watching(None, 1) as watch:
        await watch.advance_to(60)
        await watch.resize((200, 60))
        events = sorted(watch.records.all("event"), key=lambda row: row["name"] != "Cup final, pitch 2")
        rooms = sorted(watch.records.all("room"), key=lambda row: row["name"] != "Council, hybrid session")
        event, other = (row for row in events if row["name"] in {"Cup final, pitch 2", "City council"})
        room, other_room = rooms[:2]
        lies = [
            ("1", event["rtmp_link"][-4:], other["rtmp_link"][-4:]),
            ("1", event["play_link"][-4:], other["play_link"][-4:]),
            ("2", event["stream"]["id"], other["stream"]["id"]),
            ("5 down", f"{'code':<9}{room['code']}", f"{'code':<9}{other_room['code']}"),
            ("5", f"{'id':<9}{room['id']}", f"{'id':<9}{other_room['id']}"),
            ("5", f"✓ {len(room['restreams'])} of 15", f"✓ {len(other_room['restreams'])} of 15"),
            ("5", f"{'created':<9}{_day(room)}Z", f"{'created':<9}{_day(other_room)}Z"),
            ("5", "••••1f83         changed 09 Nov", "••••1f83         changed 17 Nov"),
            ("5", "Council channel                  ••••1f83", "Council channel                  ••••550c"),
            ("5", "✓ Video share connected ", "▲ Video share disconnected "),
            ("5", "2 relay profiles, 6 destinations", "2 relay profiles, 5 destinations"),
            ("6", "recorded    19 Nov 2026 19:29Z", "recorded    16 Nov 2026 20:47Z"),
            ("6", "19:29Z, 01:16:22", "19:29Z, 01:31:09"),
            ("6", "● 00:48:31.04 shown", "● 00:12:13 shown"),
            ("6", "● 00:48:31.04 shown", "● 00:48:31.04"),
            ("6", "日本語 ✓ done", "日本語 ○ pending"),
            ("6", "subtitles   ja", "subtitles   de"),
            ("6", "1500 to 1980 Intermezzo", "1500 to 1990 Intermezzo"),
            ("2", "as of 0 s ago", "as of 45 s ago"),
        ]
        for key, truth, lie in lies:
            await watch.pilot.press(*key.split())
            await watch.settle()
            screen, sheets = watch.text(), (Sheet(), Sheet())
            assert truth in screen, f"the screen of key {key} has no {truth!r}"
            for sheet, text in zip(sheets, (screen, screen.replace(truth, lie, 1)), strict=True):
                Reader(text, watch.records, sheet, key).read()
            assert sheets[0].untrue == []
            unfound += [] if sheets[1].untrue else [(key, lie)]
    assert unfound == []


def test_a_sentence_that_no_rule_reads_is_counted_and_not_taken_for_true() -> None:
    sheet = Sheet()
    sheet.unread["99 of 99 pigeons"] += 1
    assert sheet.share == 0.0

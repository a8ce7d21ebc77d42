"""Silences over HTTP, and one state of them at all decks, walls and collectors, in any order and over restarts."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any
from uuid import UUID

import pytest

from collector.attached import Attached
from collector.test_acts import Room, opened
from livedeck.collector.engine.packets import decode_row, encode_row
from livedeck.collector.protocol.silences import DraftBody, body_of, draft_of
from livedeck.monitor import (
    AlarmRefused,
    History,
    HistoryReader,
    Matcher,
    Severity,
    Silence,
    SilenceDraft,
    Silences,
    silence_of_draft,
)
from livedeck.monitor.alarms import silencing
from livedeck.monitor.published.codec import decode_silence
from monitor.stage import NOW

DRAFT: dict[str, Any] = {
    "matchers": [{"field": "kind", "op": "~", "value": "LATE_*"}],
    "seconds": 600,
    "comment": "encoder swap",
}


async def ask(deck: Attached, body: dict[str, Any], uid: str = "") -> tuple[int, dict[str, Any]]:
    """Add a silence, and return the status and the body of the reply."""
    headers = {"idempotency_key": uid} if uid else {}
    return await deck.post("/v1/silences", body, **headers)


async def test_a_silence_of_one_deck_is_in_force_for_all_by_the_name_of_its_token() -> None:
    async with opened() as room:
        status, body = await ask(room.anna, DRAFT)
        assert (status, body["covers"]) == (200, {"events": 1, "on_air": 0, "alarms": 1})
        added = decode_silence(body["silence"])
        assert (added.by, added.actor, added.comment) == ("anna", "anna", "encoder swap")
        snapshot = await room.until(lambda snapshot: snapshot.silences and snapshot.alarms[0].silenced)
        assert snapshot.alarms[0].silenced.id == added.id  # type: ignore[union-attr]
        assert [decode_silence(row) for row in (await room.wall.get("/v1/silences"))["silences"]] == [added]
        assert await room.history.silence_log(NOW) == (added,)
        await extends_and_ends(room, added)


async def extends_and_ends(room: Room, added: Silence) -> None:
    """Extend a silence as another person, and end it."""
    extended = (await room.bert.post(f"/v1/silences/{added.id}", {"seconds": 60})).body
    assert decode_silence(extended["silence"]).ends_at == added.ends_at + timedelta(seconds=60)
    ended = await room.bert.ask("DELETE", f"/v1/silences/{added.id}")
    assert (ended.status, decode_silence(ended.body["silence"]).actor) == (200, "bert")
    snapshot = await room.until(lambda snapshot: not snapshot.silences)
    assert snapshot.alarms[0].silenced is None
    assert (await room.bert.ask("DELETE", f"/v1/silences/{added.id}")).status == 404


async def test_the_same_request_again_adds_no_second_silence_and_a_preview_adds_none() -> None:
    async with opened() as room:
        assert (await ask(room.anna, {**DRAFT, "preview": True}))[0] == 200
        first, again = await ask(room.anna, DRAFT, "command-1"), await ask(room.anna, DRAFT, "command-1")
        assert first[1]["silence"] == again[1]["silence"]
        assert len(await room.history.silence_log(NOW)) == 1
        for _ in range(2):
            uid = {"idempotency_key": "command-2"}
            name = first[1]["silence"]["id"]
            extended = (await room.anna.post(f"/v1/silences/{name}", {"seconds": 60}, **uid)).body["silence"]
        assert decode_silence(extended).ends_at == decode_silence(first[1]["silence"]).ends_at + timedelta(seconds=60)
        other = await ask(room.anna, {**DRAFT, "comment": "another"}, "command-1")
        assert (other[0], other[1]["error"]) == (409, "refused")


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"comment": " "}, 409),
        ({"seconds": -1}, 409),
        ({"matchers": []}, 409),
        ({"matchers": [{"field": "colour", "value": "x"}]}, 422),
        ({"matchers": [{"field": "severity", "value": "grave"}]}, 422),
        ({"surprise": 1}, 422),
        ({"starts_at": "2026-03-01T12:00:00"}, 422),
    ],
)
async def test_what_a_limit_forbids_or_nobody_understands_is_refused(change: dict[str, Any], status: int) -> None:
    async with opened() as room:
        assert (await ask(room.anna, {**DRAFT, **change}))[0] == status
        assert await room.history.silence_log(NOW) == ()


async def test_a_silence_needs_the_right_of_a_shelf() -> None:
    async with opened() as room:
        assert (await ask(room.wall, DRAFT))[0] == 403
        assert (await room.wall.ask("DELETE", "/v1/silences/s-1")).status == 403
        assert (await room.wall.post("/v1/silences/s-1", {"seconds": 60})).status == 403


def test_a_draft_comes_back_as_it_was_sent() -> None:
    matchers = (Matcher.parse("name !~ Test *"), Matcher.parse("kind = NO_INGEST"))
    draft = SilenceDraft(matchers, 90.0, "swap", NOW, Severity.CRITICAL, "one", True, "anna", "u1")
    assert draft_of(DraftBody.model_validate_json(_json(body_of(draft))), "anna", "u1") == draft


def _json(body: dict[str, Any]) -> str:
    import json

    return json.dumps(body)


# One state everywhere


@dataclass
class Site:
    """A machine with a history, which two decks write and a wall and a command read."""

    path: Path
    decks: list[History] = field(default_factory=list)
    held: list[Silences] = field(default_factory=lambda: [Silences()] * 4)
    readers: list[HistoryReader] = field(default_factory=list)
    carried: set[str] = field(default_factory=set)

    async def open(self, now: datetime) -> None:
        """Start all of them."""
        self.decks = [await History.open(self.path, now) for _ in range(2)]
        self.readers = [HistoryReader(self.path) for _ in range(3)]

    async def restart(self, place: int, now: datetime) -> None:
        """Stop a process and start it again, without what it knew."""
        self.held[place] = Silences()
        if place < 2:
            await self.decks[place].close()
            self.decks[place] = await History.open(self.path, now)
        else:
            self.readers[place - 2] = HistoryReader(self.path)

    async def hear(self) -> None:
        """Let every process read what the others wrote."""
        sources = (*self.decks, *self.readers[:2])
        self.held = [
            held.including(await source.new_silences()) for held, source in zip(self.held, sources, strict=True)
        ]

    async def carry(self, other: Site) -> None:
        """Send the rows of this history to another collector, in the form that crosses Redis."""
        for row in await self.readers[2].new_silences():
            uid, text = encode_row(row)
            if uid not in other.carried:
                other.carried.add(uid)
                received = decode_row(text)
                assert isinstance(received, Silence)
                other.decks[0].record_silence(received)
            self.carried.add(uid)


@pytest.mark.parametrize("seed", range(2))
async def test_random_actions_over_restarts_end_in_one_state_everywhere(seed: int, tmp_path: Path) -> None:
    random, now = Random(seed), NOW
    sites = [Site(tmp_path / f"{name}.sqlite") for name in "ab"]
    for site in sites:
        await site.open(now)
    for turn in range(300):
        now += timedelta(seconds=random.random() * 20)
        site, deck = random.choice(sites), random.randrange(2)
        row = act(random, site.held[deck], now + timedelta(seconds=random.uniform(-1, 1)))
        if row is not None:
            site.held[deck] = site.held[deck].including([row])
            site.decks[deck].record_silence(row)
        if random.random() < 0.3:
            await site.decks[deck].flush()
            await random.choice(sites).hear()
        if random.random() < 0.2:
            await sites[turn % 2].carry(sites[1 - turn % 2])
        if random.random() < 0.1:
            await site.restart(random.randrange(4), now)
    for _ in range(2):
        for site, other in (sites, sites[::-1]):
            for history in (*site.decks, *other.decks):
                await history.flush()
            await site.carry(other)
            await other.decks[0].flush()
    states = set()
    for site in sites:
        await site.hear()
        states |= {tuple(sorted(held.latest.items())) for held in site.held}
        assert not any(history.fault for history in site.decks)
        for history in site.decks:
            await history.close()
    assert len(states) == 1
    assert len(next(iter(states))) > 50


def act(random: Random, known: Silences, now: datetime) -> Silence | None:
    """Add, extend or end a silence at random, as this process knows them; None if that is refused."""
    uid, actor = UUID(int=random.getrandbits(128)).hex, random.choice(("anna@a:1", "ola@b:2"))
    current = known.current(now)
    if current and random.random() < 0.6:
        chosen = random.choice(current).id
        with suppress(AlarmRefused):
            if random.random() < 0.5:
                return silencing.end(known, chosen, now, actor, uid)
            return silencing.extend(known, chosen, random.uniform(1, 600), silencing.Extender(now, actor, uid))
        return None
    draft = SilenceDraft((Matcher.parse("kind = NO_INGEST"),), random.uniform(1, 3600), "swap", actor=actor, uid=uid)
    return silence_of_draft(draft, (), now)


async def test_a_running_silence_outlives_the_retention_and_an_old_one_does_not(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    history = await History.open(path, NOW, retention_days=7)
    for uid, days in (("long", 30.0), ("short", 1.0)):
        draft = SilenceDraft((Matcher.parse("kind = NO_INGEST"),), days * 86_400, "swap", uid=uid)
        history.record_silence(silence_of_draft(draft, (), NOW))
    await history.close()
    later = NOW + timedelta(days=10)
    history = await History.open(path, later, retention_days=7)
    for _ in range(20):
        history.record_silence(silence_of_draft(SilenceDraft((), 60.0, "x", is_everything=True), (), later))
        await history.flush()
    kept = {silence.id for silence in await history.silence_log(NOW)}
    assert silencing.id_of("long") in kept
    assert silencing.id_of("short") not in kept
    await history.close()

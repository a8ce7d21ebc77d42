"""A collector probes for all of its decks, which get pictures and rounds from it."""

from __future__ import annotations

import asyncio
from hashlib import sha256
from pathlib import Path

from collector.service import service
from collector.stand_in import Asked, plain, stand_in
from livedeck.client import Outgoing, Secret
from livedeck.collector.attached.link import Link
from livedeck.collector.attached.remote import Remote
from livedeck.monitor import History
from monitor.probing import Probe, seen
from monitor.stage import NOW
from virtual_clock import VirtualClock


def probe(clock: VirtualClock) -> Probe:
    return Probe(clock, lambda event_id, at: seen(at) if event_id == "one" else None)


async def test_a_picture_is_sent_once_and_then_304() -> None:
    async with service(make_probe=probe) as made:
        first = await made.ask("/v1/events/one/picture", "wall")
        tag = first.headers["etag"]
        again = await made.ask("/v1/events/one/picture", "wall", if_none_match=tag)
        other = await made.ask("/v1/events/one/picture", "wall", if_none_match='"other"')
    assert (first.status_code, first.content) == (200, b"JPEG of one")
    assert first.headers["content-type"] == "image/jpeg"
    assert first.headers["cache-control"] == "private, no-cache"
    assert tag == f'"{sha256(first.content).hexdigest()}"'
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    assert other.status_code == 200


async def test_nobody_without_the_right_to_read_sees_a_picture() -> None:
    async with service(make_probe=probe) as made:
        paths = ("/v1/events/one/picture", "/v1/events/one/viewer")
        assert [(await made.ask(path, "prometheus")).status_code for path in paths] == [403, 403]
        assert [(await made.ask(path, "")).status_code for path in paths] == [401, 401]


async def test_without_a_probe_or_an_event_there_is_no_picture() -> None:
    async with service() as made:
        answers = [await made.ask(f"/v1/events/{name}/picture") for name in ("one", "nobody")]
    assert [(answer.status_code, answer.json()["error"]) for answer in answers] == [(404, "gone"), (404, "gone")]
    assert [answer.json()["say"] for answer in answers] == [
        "no picture of this event",
        "the collector shows no such event",
    ]


async def test_rounds_are_read_in_columns(tmp_path: Path) -> None:
    history = await History.open(tmp_path / "history.sqlite", NOW)
    async with service(make_probe=probe, history=history) as made:
        for _ in range(6):
            await history.append(await made.watch())
        await history.flush()
        whole = (await made.ask("/v1/events/one/viewer", "wall")).json()
        part = (await made.ask(f"/v1/events/one/viewer?from={whole['time'][1]}", "wall")).json()
        refused = await made.ask("/v1/events/one/viewer?from=yesterday")
        kept = await made.ask(f"/v1/events/one/viewer?to={2**53}")
        shown = made.hub.snapshot
    await history.close()
    assert len(whole["time"]) >= 2
    assert whole["time"][0] == round(NOW.timestamp() * 1000)
    assert {len(column) for column in whole.values()} == {len(whole["time"])}
    assert (whole["delivery"][0], whole["picture"][0], whole["latency"][0]) == ("plays", "moves", 8.0)
    assert part["time"] == whole["time"][1:]
    assert (refused.status_code, kept.status_code) == (422, 200)
    assert shown
    assert [state.viewer is not None for state in sorted(shown.events, key=lambda state: state.id)] == [True, False]


async def test_without_a_history_there_are_no_rounds() -> None:
    async with service(make_probe=probe) as made:
        answer = await made.ask("/v1/events/one/viewer")
    assert (answer.status_code, answer.json()["error"]) == (503, "no history")


async def test_a_deck_fetches_each_picture_once_and_keeps_it_while_the_collector_is_away() -> None:
    def jpeg(content: bytes, tag: str) -> bytes:
        return plain("200 OK", content, "Content-Type: image/jpeg", f'ETag: "{tag}"')

    gone = plain("404 Not Found", b'{"error":"gone","say":"no picture"}', "Content-Type: application/json")
    answers = [
        jpeg(b"first", "a"),
        plain("304 Not Modified", b"", 'ETag: "a"'),
        jpeg(b"second", "b"),
        plain("502 Bad Gateway", b"", "Content-Type: text/html"),
        gone,
        plain("200 OK", b"<html>", "Content-Type: text/html"),
    ]

    async def answer(_: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(answers.pop(0))

    async with stand_in(answer) as server, Outgoing() as outgoing:
        remote = Remote(Link(outgoing, [server.address], Secret("of-a-deck")), VirtualClock())
        seen_by_deck = [await remote.viewer_picture("a/b") for _ in range(6)]
    assert seen_by_deck == [b"first", b"first", b"second", b"second", b"", b""]
    assert {asked.target for asked in server.asked} == {"/v1/events/a%2Fb/picture"}
    tags = [asked.headers.get("if-none-match") for asked in server.asked]
    assert tags == [None, '"a"', '"a"', '"b"', '"b"', None]

"""Replies of a collector: to a listing, to a follower of changes, and to a health check."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from msgspec import json

from collector.service import MAY, Service, secret, service
from livedeck.cli.exposure import Exposure
from livedeck.collector.protocol.wire import LISTED_SAMPLES, Held
from livedeck.collector.serving import app as apps
from livedeck.collector.serving import hub as hubs
from livedeck.collector.serving.endpoints import Caller
from livedeck.http_server import serve_app
from livedeck.presentation.metrics import Counted
from monitor.stage import NOW, event


async def test_a_listing_is_packed_where_that_is_understood_and_sent_once() -> None:
    async with service() as made:
        plain = await made.ask("/v1/snapshot", accept_encoding="identity")
        packed = await made.ask("/v1/snapshot", accept_encoding="gzip, br")
        assert "content-encoding" not in plain.headers
        assert packed.headers["content-encoding"] == "gzip"
        assert packed.json()["values"] == plain.json()["values"]
        assert packed.headers["vary"] == "Accept-Encoding"
        assert plain.headers["etag"] == f'W/"{plain.json()["id"]}"'
        again = await made.ask("/v1/snapshot", if_none_match=plain.headers["etag"])
        assert (again.status_code, again.content) == (304, b"")
        await made.watch()
        assert (await made.ask("/v1/snapshot", if_none_match=plain.headers["etag"])).status_code == 200


async def test_a_listing_has_as_many_samples_as_are_asked_for() -> None:
    async with service() as made:
        for query, count in (("", LISTED_SAMPLES), ("?samples=0", 0), ("?samples=7", 7), ("?samples=3600", 301)):
            held = Held.listed((await made.ask(f"/v1/snapshot{query}")).json())
            assert [len(state.qos.readings) for state in held.snapshot.events] == [count, count]


@pytest.mark.parametrize("query", ["samples=-1", "samples=3601", "samples=many", "samples=²", f"samples={'9' * 5000}"])
async def test_a_number_that_is_none_is_refused(query: str) -> None:
    async with service() as made:
        answered = await made.ask(f"/v1/snapshot?{query}")
        assert (answered.status_code, answered.json()["error"]) == (422, "not understood")


async def test_the_samples_of_an_event_are_cut_by_time() -> None:
    async with service() as made:
        newest = round(NOW.timestamp() * 1000)
        answered = await made.ask(f"/v1/events/one/samples?from={newest - 4000}&to={newest - 2000}")
        assert (answered.json()["t0"], answered.json()["dt"], answered.json()["stream"]) == (
            newest - 4000,
            [2000],
            "stream-one",
        )
        assert len((await made.ask("/v1/events/one/samples")).json()["v"]) == 301
        assert (await made.ask("/v1/events/nobody/samples")).status_code == 404


async def test_an_event_may_be_called_anything() -> None:
    """Ids are the platform's words, and a slash in one is no other path."""
    async with service(event("a/b"), event("a")) as made:
        answered = await made.ask("/v1/events/a%2Fb/samples")
        assert answered.json()["stream"] == "stream-a/b"


async def test_nothing_is_served_before_anything_is_known() -> None:
    async with service(rounds=0) as made:
        for path in ("/v1/snapshot", "/metrics", "/v1/events/one/samples"):
            answered = await made.ask(path)
            assert (answered.status_code, answered.json()["error"]) == (503, "starting")
        assert (await made.ask("/v1/changes", last_event_id="b00t-0")).status_code == 410
        assert (await made.ask("/readyz")).text == "starting\n"


async def test_before_the_first_list_nobody_says_that_an_event_does_not_exist() -> None:
    async with service(event("one"), rounds=1) as made:
        assert made.hub.snapshot
        assert made.hub.snapshot.link.as_of is None
        for path in ("samples", "picture", "explain"):
            answered = await made.ask(f"/v1/events/one/{path}")
            assert (answered.status_code, answered.json()["error"]) == (503, "starting"), path
        asked = await made.ask("/v1/events/one/content", method="POST", body={"content": None})
        assert (asked.status_code, asked.json()["error"]) == (503, "starting")


async def test_it_is_ready_once_it_has_judged_and_as_long_as_it_sees() -> None:
    async with service(event("one"), rounds=1) as made:
        assert (await made.ask("/readyz", "")).status_code == 503, "the first snapshot knows nothing"
        while not (await made.watch()).events[0].qos.as_of:
            pass
        assert (await made.ask("/readyz", "")).text == "ready\n"
        made.stage.fails = 503, {}
        while (await made.watch()).link.state.value != "blind":
            pass
        answered = await made.ask("/readyz", "")
        assert (answered.status_code, answered.text) == (503, "blind\n")
        made.stage.fails = None
        while not (await made.watch()).link.state.is_answering:
            pass
        assert (await made.ask("/readyz", "")).status_code == 200


async def test_a_monitor_that_does_not_turn_is_no_health() -> None:
    async with service() as made:
        assert (await made.ask("/healthz", "")).text == "well\n"
        await made.deck.clock.run(made.deck.clock.sleep(apps.TURN_SECONDS))
        answered = await made.ask("/healthz", "")
        assert (answered.status_code, answered.text) == (503, "stuck\n")


async def test_metrics_are_made_once_a_second_and_count_the_readers() -> None:
    counts: list[int] = []
    async with service() as made:

        def counted() -> Counted:
            counts.append(len(counts))
            return Counted(readers=len(counts))

        made.app = apps.collector_app(made.hub, made.deck.monitor, None, made.access, counted)
        for _ in range(3):
            assert "livedeck_sse_readers 1\n" in (await made.ask("/metrics", "prometheus")).text
        await made.deck.clock.run(made.deck.clock.sleep(apps.METRICS_SECONDS))
        answered = await made.ask("/metrics", "prometheus")
        assert "livedeck_sse_readers 2\n" in answered.text
        assert answered.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"


@asynccontextmanager
async def following(made: Service, after: str) -> AsyncIterator[tuple[bytes, asyncio.StreamReader]]:
    """Yield the head of the reply to a follower over a socket, and its reader; the server runs meanwhile."""
    with Exposure(0).listen() as listener:
        async with serve_app(listener, made.app, max_connections=9) as address, asyncio.timeout(30):
            port = int(address.rstrip("/").rpartition(":")[2])
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            lines = ["GET /v1/changes HTTP/1.1", "Host: localhost", f"Authorization: Bearer {secret('anna')}"]
            writer.write("\r\n".join([*lines, f"Last-Event-ID: {after}", "", ""]).encode())
            try:
                yield await reader.readuntil(b"\r\n\r\n"), reader
            finally:
                writer.close()
                made.hub.close()


async def chunk(reader: asyncio.StreamReader) -> bytes:
    """Return one chunk of a body without a length."""
    size = int(await reader.readuntil(b"\r\n"), 16)
    part = await reader.readexactly(size)
    await reader.readexactly(2)
    return part


@pytest.mark.parametrize("end", ["removed", "made anew", "expired"])
async def test_changes_come_as_they_happen_and_a_token_that_ends_ends_them(end: str) -> None:
    async with service() as made:
        listing = (await made.ask("/v1/snapshot")).json()
        held = Held.listed(listing)
        await made.watch()
        async with following(made, listing["id"]) as (head, reader):
            assert head.startswith(b"HTTP/1.1 200 ")
            assert b"content-type: text/event-stream" in head
            assert b"cache-control: no-store\r\nvary: Accept-Encoding\r\nx-accel-buffering: no\r\n" in head
            first = await chunk(reader)
            found = re.fullmatch(rb"id: b00t-4\ndata: (.+)\n\n", first)
            assert found
            fresh = await made.hub.listing()
            assert fresh
            assert held.changed(json.decode(found[1])).last.values == json.decode(fresh.body)["values"]
            assert (await chunk(reader)).startswith(b": b00t-4 ")
            assert made.hub.readers == 1
            anna = made.tokens.pop("anna")
            if end == "made anew":
                made.tokens["anna"] = anna.model_copy(update={"sha256": "0" * 64})
            elif end == "expired":
                made.tokens["anna"] = anna.model_copy(update={"expires": made.deck.clock.now()})
            await made.watch()
            assert await chunk(reader) == b""
        assert made.hub.readers == 0


async def test_a_stream_without_changes_ends_with_its_token_at_the_next_comment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert hubs.BEAT_SECONDS == 5.0
    monkeypatch.setattr(hubs, "BEAT_SECONDS", 0.05)
    async with service() as made:
        listing = (await made.ask("/v1/snapshot")).json()
        async with following(made, listing["id"]) as (_, reader):
            assert (await chunk(reader)).startswith(b": b00t-3 ")
            del made.tokens["anna"]
            async with asyncio.timeout(10):
                while comment := await chunk(reader):  # one may be under way
                    assert comment.startswith(b": b00t-3 ")
        assert made.hub.readers == 0


async def test_whoever_asks_for_the_head_of_what_never_ends_has_it_and_takes_no_place() -> None:
    async with service() as made:
        answered = await made.ask("/v1/changes", method="HEAD")
        assert (answered.status_code, answered.content) == (200, b"")
        assert answered.headers["content-type"].startswith("text/event-stream")
        assert made.hub.readers == 0


async def test_a_listing_says_whose_token_asks_and_what_it_may() -> None:
    async with service() as made:
        for name in ("anna", "wall"):
            listing = (await made.ask("/v1/snapshot", name)).json()
            assert (listing["by"], listing["may"]) == (name, MAY[name])


async def test_one_reader_more_than_a_token_may_have_is_refused() -> None:
    async with service() as made:
        readings = [made.access.reading(Caller("anna", "act")) for _ in range(8)]
        for reading in readings:
            reading.__enter__()
        answered = await made.ask("/v1/changes", last_event_id=made.hub.id)
        assert (answered.status_code, answered.json()["error"]) == (429, "too many readers")


@pytest.mark.parametrize("after", ["", "b00t-99", "other-3", "b00t-x"])
async def test_an_id_from_which_there_is_no_going_on_is_gone(after: str) -> None:
    async with service() as made:
        for answered in (
            await made.ask("/v1/changes", last_event_id=after),
            await made.ask(f"/v1/changes?from={after}"),
        ):
            assert (answered.status_code, answered.json()["error"]) == (410, "gone")

"""The address of a calendar opens the calendar and nothing else, as long as its token is valid."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
import vobject

from collector.service import Service, secret, service
from livedeck.collector.links import Links
from livedeck.http_server import serve_app
from livedeck.monitor import History
from monitor.stage import NOW, at, event

ADDRESS = "https://watch.example"
LINKS = Links(b"k" * 32, ADDRESS, lambda: NOW)


def digest(name: str) -> str:
    return sha256(secret(name).encode()).hexdigest()


def path(name: str, digest: str) -> str:
    link = LINKS.calendar_link(name, digest)
    assert link.startswith(f"{ADDRESS}/v1/calendar/")
    return urlsplit(link).path


@asynccontextmanager
async def planned(history: History | None = None) -> AsyncIterator[Service]:
    soon = event(stream=None, scheduled={"time": at(3600)}, name="Town; hall")
    async with service(soon, event("two"), links=LINKS, history=history) as made:
        yield made


async def test_a_subscriber_without_a_header_reads_the_plan_over_http() -> None:
    async with planned() as made:
        listener = socket.create_server(("127.0.0.1", 0))
        async with serve_app(listener, made.app, max_connections=8) as url, httpx.AsyncClient(base_url=url) as client:
            answer = await client.get(path("wall", digest("wall")))
            same = await client.get(path("wall", digest("wall")), headers={"If-None-Match": answer.headers["etag"]})
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/calendar; charset=utf-8")
    names = {entry.uid.value: entry.summary.value for entry in vobject.readOne(answer.text).vevent_list}
    assert names == {"one@livedeck": "Town; hall", "two@livedeck": "two"}
    assert (same.status_code, same.content) == (304, b"")


async def test_the_address_ends_with_its_token() -> None:
    async with planned() as made:
        mine = path("wall", digest("wall"))
        assert (await made.ask(mine, "")).status_code == 200
        expired = made.tokens["wall"].model_copy(update={"expires": NOW - timedelta(days=1)})
        made.tokens["wall"] = expired
        assert (await made.ask(mine, "")).json()["error"] == "expired token"
        rotated = {"sha256": "0" * 64, "previous_sha256": digest("wall"), "previous_until": NOW + timedelta(days=1)}
        made.tokens["wall"] = expired.model_copy(update={**rotated, "expires": None})
        assert (await made.ask(mine, "")).status_code == 200  # as long as the token of before
        made.tokens["wall"] = expired.model_copy(update={"sha256": "0" * 64, "expires": None})
        assert (await made.ask(mine, "")).status_code == 404
        del made.tokens["wall"]
        assert (await made.ask(mine, "")).status_code == 404


async def test_no_other_address_opens_it() -> None:
    async with planned() as made:
        right = path("prometheus", digest("prometheus"))
        assert (await made.ask(right, "")).status_code == 403  # the right is metrics
        other = path("anna", digest("wall"))
        refusals = [await made.ask(other, "") for _ in range(11)]
        assert [answer.status_code for answer in refusals] == [404] * 10 + [429]
        assert (await made.ask(path("anna", digest("anna")), "")).status_code == 200  # a guesser locks nobody out


@pytest.mark.parametrize("name", ["é", "nobody", "%2e%2e", "anna%0a"])
async def test_a_name_of_nobody_is_refused(name: str) -> None:
    async with planned() as made:
        assert (await made.ask(f"/v1/calendar/{name}/{'é' * 3}.ics", "")).status_code == 404


async def test_the_address_opens_nothing_else() -> None:
    async with planned() as made:
        for suffix in ("", "/../../snapshot", "?x=1"):
            answer = await made.ask(f"/v1/calendar/wall/x{suffix}", "", "POST")
            assert answer.status_code in {401, 404, 405}
        assert (await made.ask(path("wall", digest("wall")), "", "POST")).status_code == 405


async def test_a_deleted_event_is_cancelled(tmp_path: Path) -> None:
    history = await History.open(tmp_path / "history.sqlite", NOW)
    async with planned(history) as made:
        snapshot = await made.watch()
        made.stage.events = made.stage.events[1:]
        while snapshot.find("one"):
            await history.append(snapshot)
            snapshot = await made.watch()
        await history.append(snapshot)
        await history.flush()
        answer = await made.ask(path("wall", digest("wall")), "")
    await history.close()
    states = {entry.uid.value: entry.status.value for entry in vobject.readOne(answer.text).vevent_list}
    assert states == {"one@livedeck": "CANCELLED", "two@livedeck": "CONFIRMED"}


async def test_a_calendar_whose_history_cannot_be_read_is_refused(tmp_path: Path) -> None:
    """Without its deleted events a subscriber would go on to show them as planned."""
    history = await History.open(tmp_path, NOW)
    async with planned(history) as made:
        answer = await made.ask(path("wall", digest("wall")), "")
    await history.close()
    assert answer.status_code == 503
    assert "The history could not be read" in answer.text
    assert "BEGIN:VCALENDAR" not in answer.text

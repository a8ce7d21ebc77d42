"""The chat log: three formats of one log, growing while on air, hostile at times (platform-api.md, "Chat log")."""

from __future__ import annotations

import csv
import io
import re

import httpx
import pytest

from livedeck.simulator import Simulator
from simulator.http_client import UNKNOWN_ID, FindEvent, data, error_of

LINE_BREAK = re.compile("\r\n|[\n\v\f\r\x1c-\x1e\x85\u2028\u2029]")
FIELDS = ["id", "username", "external_id", "is_admin", "message", "created_at", "cteated_at_local"]


@pytest.fixture
async def log(find_event: FindEvent) -> str:
    event = await find_event("Choir, hall B")
    return f"/v2/live/events/{event['id']}/stream/{event['stream']['id']}/chat"


async def test_every_message_has_the_documented_fields_in_their_order(api: httpx.AsyncClient, log: str) -> None:
    written = data(await api.get(f"{log}.json"))
    assert len(written) > 500
    for message in written:
        assert list(message) == FIELDS
        assert message["is_admin"] in {"true", "false"}
    assert len({message["id"] for message in written}) == len(written)
    times = [message["created_at"] for message in written]
    assert times == sorted(times)


async def test_the_three_formats_hold_the_same_messages(api: httpx.AsyncClient, log: str) -> None:
    written = data(await api.get(f"{log}.json"))
    table = await api.get(f"{log}.csv")
    assert table.headers["content-type"] == "text/csv; charset=utf-8"
    assert [*csv.DictReader(io.StringIO(table.text, newline=""))] == written
    text = await api.get(f"{log}.txt")
    assert text.headers["content-type"] == "text/plain; charset=utf-8"
    lines = (f"[{row['created_at']}] {row['username']}: {row['message']}" for row in written)
    assert text.text == "".join(LINE_BREAK.sub(" ", line) + "\n" for line in lines)


async def test_some_of_it_is_hostile(api: httpx.AsyncClient, log: str) -> None:
    texts = [message["message"] for message in data(await api.get(f"{log}.json"))]
    for snippet in ("\x1b", "\u202e", "[red]", "\n", "東京"):
        assert any(snippet in text for text in texts), snippet
    assert any(text.startswith(("=", "+", "-", "@")) for text in texts)
    assert max(len(text) for text in texts) >= 2000


async def test_it_grows_while_on_air_and_earlier_messages_stay(
    api: httpx.AsyncClient, simulator: Simulator, log: str
) -> None:
    before = data(await api.get(f"{log}.json"))
    simulator.clock.step(300)
    after = data(await api.get(f"{log}.json"))
    assert after[: len(before)] == before
    assert 55 <= len(after) - len(before) <= 65


async def test_it_ends_with_the_event(api: httpx.AsyncClient, simulator: Simulator, log: str) -> None:
    data(await api.put(f"{log.partition('/stream')[0]}/complete"))
    before = data(await api.get(f"{log}.json"))
    simulator.clock.step(300)
    assert data(await api.get(f"{log}.json")) == before != []


async def test_a_chat_that_is_off_stays_as_it_is(api: httpx.AsyncClient, simulator: Simulator, log: str) -> None:
    event = log.partition("/stream")[0]
    data(await api.put(event, json={"chat_active": False}))
    before = data(await api.get(f"{log}.json"))
    simulator.clock.step(300)
    assert data(await api.get(f"{log}.json")) == before
    data(await api.put(event, json={"chat_active": True}))
    simulator.clock.step(300)
    assert len(data(await api.get(f"{log}.json"))) > len(before)


async def test_a_change_of_another_field_leaves_the_rate_of_the_chat(
    api: httpx.AsyncClient, admin: httpx.AsyncClient, simulator: Simulator, log: str
) -> None:
    event = log.partition("/stream")[0]
    data(await admin.post(event.replace("/v2/live/events", "/_control/chats"), json={"rate": 10}))
    data(await api.put(event, json={"name": "Other", "chat_active": True}))
    before = data(await api.get(f"{log}.json"))
    simulator.clock.step(60)
    assert len(data(await api.get(f"{log}.json"))) - len(before) == 600


@pytest.mark.parametrize("name", ["Lecture 7", "City council"])
async def test_there_is_no_message_before_the_start_nor_where_there_is_no_chat(
    api: httpx.AsyncClient, find_event: FindEvent, name: str
) -> None:
    event = await find_event(name)
    log = f"/v2/live/events/{event['id']}/stream/{event['stream']['id']}/chat"
    assert data(await api.get(f"{log}.json")) == []
    assert (await api.get(f"{log}.csv")).text == ",".join(FIELDS) + "\r\n"
    assert (await api.get(f"{log}.txt")).text == ""


async def test_the_log_of_an_earlier_stream_is_still_there(
    api: httpx.AsyncClient, admin: httpx.AsyncClient, simulator: Simulator
) -> None:
    draft = {"name": "Vespers", "type": "recurring", "chat_active": True}
    event = f"/v2/live/events/{data(await api.post('/v2/live/events', json=draft))['id']}"
    logs = []
    for _ in range(3):
        stream = data(await api.post(f"{event}/stream", json={"started_at": "2026-11-21T10:00:00.000Z"}))
        data(await api.put(f"{event}/enable"))
        data(await admin.post(event.replace("/v2/live/events", "/_control/encoders"), json={"sending": True}))
        simulator.clock.step(300)
        data(await api.put(f"{event}/complete"))
        logs.append(f"{event}/stream/{stream['id']}/chat.json")
        simulator.clock.step(60)
    first, second, third = [data(await api.get(log)) for log in logs]
    assert min(len(first), len(second), len(third)) > 50
    assert first[-1]["created_at"] < second[0]["created_at"]
    assert second[-1]["created_at"] < third[0]["created_at"]


async def test_an_unknown_stream_or_format_has_no_log(api: httpx.AsyncClient, log: str) -> None:
    event = log.partition("/stream")[0]
    for suffix in ("json", "csv", "txt"):
        assert error_of(await api.get(f"{event}/stream/{UNKNOWN_ID}/chat.{suffix}")) == (404, 404404)
        assert error_of(await api.get(f"{event}/stream/7/chat.{suffix}")) == (400, 400301)
    assert error_of(await api.get(f"{log}.xml")) == error_of(await api.get(log)) == (404, 404404)

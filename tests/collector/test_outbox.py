"""Unsent messages of a collector are listed and retried over HTTP, by the rules of its spool, without an address."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest

from collector.attached import Attached
from livedeck.collector.attached.link import CollectorError
from livedeck.collector.attached.unsent import parse_unsent
from livedeck.collector.serving.endpoints import routes_of
from livedeck.collector.serving.outbox import UNSENT
from livedeck.notify import Delivery, Notifier, SpoolError
from livedeck.text.secrets import register_address
from notify.test_notifier import YES, Receiver, play, tell

HOOK = "https://hooks.example/services/h00k-of-the-night-shift-77aa"


def test_what_was_given_up_is_listed_and_tried_again_by_who_may_act(tmp_path: Path) -> None:
    register_address(HOOK, has_key=True)
    receiver = Receiver([Delivery(is_taken=False, answer=f"404 no {HOOK}", is_refused=True)])

    async def work(notifier: Notifier) -> None:
        wall, anna = Attached(routes_of(UNSENT, notifier), "wall"), Attached(routes_of(UNSENT, notifier), "anna")
        assert (await wall.get("/v1/notifications")) == {"messages": []}
        await tell(notifier, "one")
        await asyncio.sleep(6)
        listed = await wall.get("/v1/notifications")
        (unsent,) = parse_unsent(listed)
        assert (unsent.target, unsent.title, unsent.state, unsent.tries) == ("ops", "CRIT NO_INGEST ONE", "dead", 1)
        assert unsent.answer.startswith("404 no ")
        assert "night-shift" not in str(listed)
        assert set(listed["messages"][0]) == {"id", "at", "route", "target", "title", "state", "tries", "answer"}
        assert (await wall.post("/v1/notifications/retry")).status == 403
        assert (await anna.post("/v1/notifications/retry", {"every": True})).status == 422
        assert "1 dead letter" in notifier.failure.reason
        receiver.answers = [YES]
        assert (await anna.post("/v1/notifications/retry")).body == {"revived": 1}
        await asyncio.sleep(1)  # not at the next look into the file: at once
        assert (await wall.get("/v1/notifications"), notifier.failure.reason) == ({"messages": []}, "")
        assert (await anna.post("/v1/notifications/retry")).body == {"revived": 0}
        await wall.close()
        await anna.close()

    play(tmp_path / "spool", receiver, work)
    assert len({message.key for _, message in receiver.asked if message.payload}) == 1


def test_a_dead_letter_is_shown_and_dropped_by_its_id(tmp_path: Path) -> None:
    register_address(HOOK, has_key=True)
    receiver = Receiver([Delivery(is_taken=False, answer=f"400 no {HOOK}", is_refused=True)])

    async def work(notifier: Notifier) -> None:
        wall, anna = Attached(routes_of(UNSENT, notifier), "wall"), Attached(routes_of(UNSENT, notifier), "anna")
        await tell(notifier, "one")
        await asyncio.sleep(1)
        await tell(notifier, "two")
        await asyncio.sleep(1)
        first, second = parse_unsent(await wall.get("/v1/notifications"))
        letter = await wall.get(f"/v1/notifications/{first.id}/contents")
        assert letter["text"].startswith("ONE: no samples, since ")
        assert json.loads(letter["payload"])["id"] == first.id
        assert "night-shift" not in str(letter)
        assert (await wall.ask("GET", "/v1/notifications/other/contents")).status == 404
        assert (await wall.post("/v1/notifications/drop", {"ids": [first.id]})).status == 403
        assert (await anna.post("/v1/notifications/drop", {"ids": [first.id, "other"]})).body == {"dropped": 1}
        assert (await anna.post("/v1/notifications/drop", {"ids": []})).body == {"dropped": 0}
        assert [unsent.id for unsent in parse_unsent(await wall.get("/v1/notifications"))] == [second.id]
        assert notifier.failure.reason.startswith("1 dead letter: ")
        receiver.answers = [YES]
        assert (await anna.post("/v1/notifications/retry", {"ids": ["other"]})).body == {"revived": 0}
        assert (await anna.post("/v1/notifications/retry", {"ids": [second.id]})).body == {"revived": 1}
        await asyncio.sleep(1)
        assert (await wall.get("/v1/notifications"), notifier.failure.reason) == ({"messages": []}, "")
        await wall.close()
        await anna.close()

    play(tmp_path / "spool", receiver, work)


class Away:
    """Spool that cannot be read."""

    async def unsent(self) -> Any:
        """Raise SpoolError."""
        raise SpoolError("Redis is away")

    async def revive(self, keys: Collection[str] = ()) -> Any:
        """Raise SpoolError."""
        del keys
        raise SpoolError("Redis is away")

    drop = revive


@pytest.mark.parametrize(("outbox", "words"), [(None, "sends no notifications"), (Away(), "Redis is away")])
async def test_where_nothing_can_be_said_that_is_said(outbox: Away | None, words: str) -> None:
    anna = Attached(routes_of(UNSENT, outbox))
    page = "/v1/notifications"
    for method, path in (
        ("GET", page),
        ("GET", f"{page}/1/contents"),
        ("POST", f"{page}/retry"),
        ("POST", f"{page}/drop"),
    ):
        answered = await anna.ask(method, path)
        assert (answered.status, words in answered.body["say"]) == (503, True)
    await anna.close()


@pytest.mark.parametrize("values", [{}, {"messages": None}, {"messages": [{"at": "soon"}]}, {"messages": [7]}])
def test_what_no_collector_answers_is_told_in_words(values: dict[str, Any]) -> None:
    with pytest.raises(CollectorError, match="this deck cannot read"):
        parse_unsent(values)

"""A pager or chat acknowledges and annotates the alarms that it was notified of, and can do nothing else."""

from __future__ import annotations

import hmac
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

import httpx
import pytest

from collector.service import Service, service
from livedeck.collector.serving.hooks import MAX_AGE, MAX_PAYLOAD, FindLife
from livedeck.monitor import Alarm, AlarmKey, AlarmState, Severity
from livedeck.notify import Delivery, Message, Notifier, Plan, Route, Spool
from livedeck.notify.groups import SETTLED, Life, Notified
from monitor.stage import at, event
from notify.stage import NOW, alarm

KEY, SECRET = AlarmKey("one", "LATE_START"), "the-secret-of-the-webhook"


class Receiver:
    """Receiver that takes every message."""

    async def send(self, _: Message) -> Delivery:
        return Delivery(is_taken=True, answer="")


@dataclass
class Told:
    """Collector whose alarm was notified. `dedup_key`: key that its receiver got.

    `lives`: lives that the notifier asked about.
    """

    service: Service
    notifier: Notifier
    dedup_key: str
    lives: list[Notifier]

    @property
    def alarm(self) -> Alarm:
        found = self.service.deck.monitor.find_alarm(KEY)
        assert found is not None
        return found

    async def answer(self, token: str = "chat", **body: Any) -> httpx.Response:
        body = {"dedup_key": self.dedup_key, "action": "acknowledge"} | body
        return await self.service.ask("/v1/hooks/alarm", token, "POST", body=body)

    async def pagerduty(self, kind: str, data: dict[str, Any], *, key: str = SECRET, **fields: Any) -> httpx.Response:
        """A webhook of PagerDuty about something that a person did now."""
        now = self.service.deck.monitor.clock.now().isoformat()
        agent = {
            "id": "PLH1HKV",
            "type": "user_reference",
            "summary": "Tex Rosa",
            "html_url": "https://acme.pagerduty.com",
        }
        made = {"id": "01DDJ7", "event_type": kind, "resource_type": "incident", "occurred_at": now, "agent": agent}
        body = json.dumps({"event": made | {"client": None, "data": data} | fields}).encode()
        return await self.signed(body, f"v1={'0' * 64},v1={hmac.new(key.encode(), body, sha256).hexdigest()}")

    async def signed(self, body: bytes, signature: str) -> httpx.Response:
        transport = httpx.ASGITransport(self.service.app, client=("192.0.2.8", 4711))
        async with httpx.AsyncClient(transport=transport, base_url="http://collector") as client:
            headers = {b"X-PagerDuty-Signature": signature.encode("latin-1")}
            return await client.post("/v1/hooks/pagerduty", content=body, headers=headers)

    def incident(self, **fields: Any) -> dict[str, Any]:
        return {"id": "PGR0VU2", "type": "incident", "status": "acknowledged", "incident_key": self.dedup_key, **fields}


@asynccontextmanager
async def told(folder: Path, pagerduty_secret: str = SECRET) -> AsyncIterator[Told]:
    """A collector whose late start was notified."""
    notifiers = list[Notifier]()
    late = event(stream=None, scheduled={"time": at(100.0)})

    find: FindLife = lambda key: notifiers[0].find_life(key)  # noqa: PLW0108, E731  the notifier is made later
    async with service(late, find_life=find, pagerduty_secret=pagerduty_secret) as made:
        plan = Plan((Route("ops", "ops"),))
        notifier = Notifier(plan, {"ops": Receiver()}, Spool(folder / "spool"), made.deck.monitor.clock, Random(1))
        await notifier.open()
        notifiers.append(notifier)
        while not (messages := await notifier.take(await made.watch())):
            pass
        (entry,) = json.loads(messages[0].payload)["alarms"]
        try:
            yield Told(made, notifier, entry["dedup_key"], notifiers)
        finally:
            await notifier.close()


async def test_a_chat_acknowledges_and_annotates_what_it_was_notified_of(tmp_path: Path) -> None:
    async with told(tmp_path) as made:
        done = await made.answer(by="U024BE7LH anna")
        assert (done.status_code, done.json()["changed"]) == (200, True), done.text
        assert (made.alarm.state, made.alarm.answered_by) == (AlarmState.ACKNOWLEDGED, "chat (U024BE7LH anna)")
        again = await made.answer()
        assert (again.status_code, again.json()["changed"]) == (200, False)
        noted = await made.answer(action="note", text="calling\nthe venue")
        assert noted.status_code == 200
        await made.service.watch()
        assert made.alarm.note == "calling the venue"


async def test_the_right_respond_opens_nothing_else_and_others_do_not_open_it(tmp_path: Path) -> None:
    async with told(tmp_path) as made:
        for path in ("/v1/snapshot", "/v1/changes", "/metrics", "/v1/silences", "/v1/notifications"):
            assert (await made.service.ask(path, "chat")).status_code == 403, path
        posted = await made.service.ask("/v1/poke", "chat", "POST", body={})
        assert posted.status_code == 403
        for token, status in (("wall", 403), ("prometheus", 403), ("", 401), ("anna", 200)):
            assert (await made.answer(token)).status_code == status, token


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"dedup_key": "livedeck//one/LATE_START//1"}, 404),
        ({"dedup_key": ""}, 422),
        ({"action": "close"}, 422),
        ({"action": "note"}, 422),
        ({"action": "note", "text": " "}, 422),
        ({"severity": "info"}, 422),
    ],
)
async def test_nothing_else_is_understood(tmp_path: Path, body: dict[str, Any], status: int) -> None:
    async with told(tmp_path) as made:
        assert (await made.answer(**body)).status_code == status
        assert made.alarm.state is AlarmState.UNACKNOWLEDGED


async def test_an_alarm_that_got_worse_since_its_notification_is_not_acknowledged(tmp_path: Path) -> None:
    async with told(tmp_path) as made:
        while made.alarm.severity is Severity.WARNING:
            await made.service.watch()  # nobody has been notified of it yet
        late = await made.answer()
        assert (late.status_code, late.json()["error"]) == (409, "got worse")
        while not await made.notifier.take(await made.service.watch()):
            pass
        assert (await made.answer()).status_code == 200


async def test_an_acknowledgement_in_pagerduty_is_one_here(tmp_path: Path) -> None:
    async with told(tmp_path) as made:
        done = await made.pagerduty("incident.acknowledged", made.incident())
        assert (done.status_code, done.json()["changed"]) == (200, True), done.text
        assert (made.alarm.state, made.alarm.answered_by) == (AlarmState.ACKNOWLEDGED, "Tex Rosa (PagerDuty)")


async def test_a_note_in_pagerduty_is_one_here_once_its_incident_was_seen(tmp_path: Path) -> None:
    note = {"id": "PT1", "type": "incident_note", "content": "on my way", "incident": {"id": "PGR0VU2"}}
    async with told(tmp_path) as made:
        early = await made.pagerduty("incident.annotated", note)
        assert (early.status_code, early.json()["changed"], made.alarm.note) == (200, False, "")
        await made.pagerduty("incident.triggered", made.incident(), agent={"type": "service_reference"})
        assert made.alarm.state is AlarmState.UNACKNOWLEDGED
        assert (await made.pagerduty("incident.annotated", note, id="02")).json()["changed"]
        assert made.alarm.note == "on my way"


async def test_the_echo_of_an_acknowledgement_and_an_old_one_change_nothing(tmp_path: Path) -> None:
    async with told(tmp_path) as made:
        now = made.service.deck.monitor.clock.now()
        for fields in (
            {"agent": {"type": "integration_reference", "summary": "livedeck"}},
            {"agent": None},
            {"occurred_at": (now - MAX_AGE - timedelta(seconds=1)).isoformat()},
            {"event_type": "incident.resolved"},
        ):
            ignored = await made.pagerduty("incident.acknowledged", made.incident(), **fields)
            assert (ignored.status_code, ignored.json()["changed"]) == (200, False)
            assert made.alarm.state is AlarmState.UNACKNOWLEDGED


async def test_a_repeated_webhook_acts_once(tmp_path: Path) -> None:
    async with told(tmp_path) as made:
        moment = made.service.deck.monitor.clock.now().isoformat()
        await made.pagerduty("incident.acknowledged", made.incident(), occurred_at=moment)
        until = made.alarm.acknowledged_until
        await made.service.watch()
        await made.pagerduty("incident.acknowledged", made.incident(), occurred_at=moment)
        assert made.alarm.acknowledged_until == until


async def test_what_pagerduty_did_not_sign_is_refused(tmp_path: Path) -> None:
    async with told(tmp_path) as made:
        for number in range(11):
            refused = await made.pagerduty("incident.acknowledged", made.incident(), key="guess")
            assert refused.status_code == (401 if number < 10 else 429)
        assert made.alarm.state is AlarmState.UNACKNOWLEDGED
        assert SECRET not in refused.text
        assert (await made.pagerduty("incident.acknowledged", made.incident())).json()["changed"]


@pytest.mark.parametrize(
    "body", [b"", b"{}", b"[]", b"\xff", b'{"event": {"id": 1}}', b'{"event": {"event_type": "pagey.ping"}}']
)
async def test_a_signed_body_without_an_incident_is_ignored(tmp_path: Path, body: bytes) -> None:
    async with told(tmp_path) as made:
        signature = hmac.new(SECRET.encode(), body, sha256).hexdigest()
        ignored = await made.signed(body, f"v1={signature}")
        assert (ignored.status_code, ignored.json()["changed"]) == (200, False)
        assert (await made.signed(body, signature)).status_code == 401
        assert (await made.signed(b" " * (MAX_PAYLOAD + 1), "é")).status_code == 413


async def test_a_collector_that_does_not_notify_asks_for_a_retry(tmp_path: Path) -> None:
    async with told(tmp_path) as made:
        made.notifier = Notifier(
            Plan((Route("ops", "ops"),)), {}, Spool(tmp_path / "other"), made.service.deck.monitor.clock, Random(1)
        )
        made.lives[0] = made.notifier
        assert (await made.answer()).status_code == 503
        assert (await made.pagerduty("incident.acknowledged", made.incident())).status_code == 503
        await made.notifier.close()
        assert made.alarm.state is AlarmState.UNACKNOWLEDGED


async def test_without_a_secret_nothing_is_signed(tmp_path: Path) -> None:
    async with told(tmp_path, pagerduty_secret="") as made:
        assert (await made.pagerduty("incident.acknowledged", made.incident(), key="")).status_code == 503
        assert made.alarm.state is AlarmState.UNACKNOWLEDGED


def test_a_later_life_is_not_what_was_notified() -> None:
    life = Life("x", KEY, NOW, NOW, notified={"ops": Notified(0, NOW)})
    standing = alarm("one", "LATE_START", since=NOW + SETTLED)
    assert life.shown(standing) is not None
    assert life.shown(alarm("one", "LATE_START", since=NOW + SETTLED + timedelta(seconds=1))) is None
    assert Life("x", KEY, NOW, NOW).shown(standing) is None

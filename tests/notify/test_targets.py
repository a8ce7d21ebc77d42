"""Messages at a receiver of other makers, and the evaluation of its replies."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path
from urllib.parse import quote

import pytest

import livedeck
from livedeck.client import Outgoing, Reply
from livedeck.monitor import Severity
from livedeck.notify import (
    TARGETS,
    AppriseTarget,
    Delivery,
    Given,
    Heartbeat,
    Means,
    Message,
    TargetError,
    Vitals,
    Webhook,
    failure,
)
from notify.sinks import LOOPBACK, Sink, http_sink
from notify.stage import NOW, Desk, alarm, over
from virtual_clock import VirtualClock

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of what apprise imports

REDIRECT = "{} a redirect, which is not followed: use the final address"


def message() -> Message:
    """Return a message about one alarm."""
    desk = Desk()
    desk.put(alarm(severity=Severity.CRITICAL))
    return desk.watch(6)[0]


@pytest.fixture
def sink() -> Iterator[Sink]:
    """Receiver over HTTP."""
    with http_sink() as made:
        yield made


@pytest.fixture
async def outgoing() -> AsyncIterator[Outgoing]:
    """Client for requests to targets."""
    async with Outgoing() as made:
        yield made


PAGE = (Path(livedeck.__file__).parent / "docs" / "notifications.md").read_text(encoding="utf-8")


def page_code(first: str) -> str:
    """Return the Python block of the page with that beginning."""
    (found,) = (block for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL) if block.startswith(first))
    return str(found)


def hmac_by_hand(secret: bytes, body: bytes) -> str:
    """Return an HMAC by RFC 2104, in two lines of its own."""
    block = secret.ljust(64, b"\0")
    inner = sha256(bytes(byte ^ 0x36 for byte in block) + body).digest()
    return sha256(bytes(byte ^ 0x5C for byte in block) + inner).hexdigest()


async def test_a_webhook_gets_the_json_signed_under_its_key_and_no_token(sink: Sink, outgoing: Outgoing) -> None:
    sent = message()
    delivery = await Webhook(outgoing.send, f"{sink.address}/hook?key=1", ("of the hook",), lambda: 1795810445.9).send(
        sent
    )
    (received,) = sink.received
    assert (delivery.is_taken, delivery.answer) == (True, "200 thanks")
    assert (received.method, received.path) == ("POST", "/hook?key=1")
    assert received.body == sent.payload.encode()
    assert json.loads(received.body)["id"] == received.headers["idempotency-key"] == sent.key
    digest = hmac_by_hand(b"of the hook", b"1795810445." + received.body)
    assert received.headers["x-livedeck-signature"] == f"t=1795810445,v1={digest}"
    assert received.headers["content-type"] == "application/json"
    assert "authorization" not in received.headers


async def test_both_keys_sign_while_a_receiver_changes_from_one_to_the_other(sink: Sink, outgoing: Outgoing) -> None:
    means = Means(outgoing.send, lambda _: None, {}, LOOPBACK)
    target = TARGETS["webhook"].make(means, Given(sink.address, "the new one\n\n  the old one\n"))
    await target.send(message())
    (received,) = sink.received
    header = received.headers["x-livedeck-signature"]
    code = page_code("import hmac, time")
    for secret, is_ours in (("the new one", True), ("the old one", True), ("another", False)):
        given: dict[str, object] = {"header": header, "body": received.body, "secret": secret}
        exec(code, given)
        assert given["is_ours"] is is_ours
    old = re.sub("t=([0-9]+)", "t=1795810445", header)
    late: dict[str, object] = {"header": old, "body": received.body, "secret": "the new one"}
    exec(code, late)
    assert late["is_ours"] is False
    with pytest.raises(TargetError, match="more than two lines"):
        TARGETS["webhook"].make(means, Given(sink.address, "a\nb\nc"))


@pytest.mark.skipif(not shutil.which("openssl"), reason="no openssl on this machine")
def test_openssl_checks_a_signature_as_the_documentation_says(tmp_path: Path, sink: Sink) -> None:
    async def send() -> None:
        async with Outgoing() as way:
            await Webhook(way.send, sink.address, ("of the hook",), lambda: 1795810445.0).send(message())

    asyncio.run(send())
    (received,) = sink.received
    (tmp_path / "body").write_bytes(received.body)
    (command,) = re.findall(r"`(\(printf .*?)`", PAGE)
    variables = {**os.environ, "AT": "1795810445", "SECRET": "of the hook"}
    done = subprocess.run(["sh", "-c", command], cwd=tmp_path, env=variables, capture_output=True, check=True)
    digest = done.stdout.decode().split()[-1]
    assert received.headers["x-livedeck-signature"] == f"t=1795810445,v1={digest}"


@pytest.mark.parametrize(
    ("status", "headers", "expected"),
    [
        (204, {}, Delivery(is_taken=True, answer="204")),
        (302, {"Location": "/elsewhere"}, Delivery(is_taken=False, answer=REDIRECT.format(302))),
        (301, {"Location": "https://example.org/"}, Delivery(is_taken=False, answer=REDIRECT.format(301))),
        (308, {"Location": "/elsewhere"}, Delivery(is_taken=False, answer=REDIRECT.format(308))),
        (400, {}, Delivery(is_taken=False, answer="400", is_refused=True)),
        (410, {}, Delivery(is_taken=False, answer="410", is_refused=True)),
        (404, {}, Delivery(is_taken=False, answer="404")),
        (429, {"Retry-After": "17"}, Delivery(is_taken=False, answer="429", retry_after=17.0)),
        (503, {}, Delivery(is_taken=False, answer="503")),
    ],
)
async def test_only_a_2xx_is_yes_and_what_is_refused_for_good_is_known(
    sink: Sink, outgoing: Outgoing, status: int, headers: dict[str, str], expected: Delivery
) -> None:
    sink.status, sink.headers, sink.answer = status, headers, b""
    assert await Webhook(outgoing.send, sink.address).send(message()) == expected
    assert len(sink.received) == 1  # a redirect is not followed


async def test_no_failure_of_the_network_is_raised(outgoing: Outgoing) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    for address in (
        f"http://127.0.0.1:{port}/",
        "http://example.com/hook",
        "https://no-such-host.invalid/",
        "http://[",
    ):
        delivery = await Webhook(outgoing.send, address).send(message())
        assert (delivery.is_taken, delivery.is_refused) == (False, False)
        assert delivery.answer


async def test_of_an_endless_answer_only_the_beginning_is_read(sink: Sink, outgoing: Outgoing) -> None:
    sink.answer = b"\x1b[31mno\n" * 100_000
    delivery = await Webhook(outgoing.send, sink.address).send(message())
    assert len(delivery.answer) < 400
    assert "\x1b" not in delivery.answer


async def test_apprise_posts_to_an_http_server_and_says_no_where_that_fails(sink: Sink) -> None:
    target = AppriseTarget(sink.address.replace("http://", "json://") + f"/?+X-Note={quote('a b')}", egress=LOOPBACK)
    assert (await target.send(message())).is_taken
    (received,) = sink.received
    assert json.loads(received.body)["title"] == "CRIT NO_INGEST ONE"
    assert (received.headers["x-note"], received.headers["idempotency-key"]) == ("a b", message().key)
    sink.status = 500
    assert not (await target.send(message())).is_taken


async def test_a_service_of_apprise_knows_an_alarm_from_its_beginning_to_its_end(sink: Sink) -> None:
    address = sink.address.replace("http://", "goalert://") + "/ab12cd34-ab12-4c5d-8e9f-0123456789ab"
    target, desk = AppriseTarget(address, egress=LOOPBACK), Desk()
    desk.put(alarm("a/b&c"))
    desk.watch(6)
    desk.put(over(alarm("a/b&c"), desk.now))
    desk.watch(150)
    desk.put(alarm("two"), alarm("three"))
    desk.watch(10)
    for message in desk.told:
        await target.send(message)
    posts = [json.loads(request.body) for request in sink.received]
    keys = [json.loads(message.payload)["alarms"][0]["dedup_key"] for message in desk.told]
    assert [post.get("dedup") for post in posts] == [keys[0], keys[0], None]
    assert [post.get("action") for post in posts] == [None, "close", None]
    own = AppriseTarget(f"{address}?dedup=mine", egress=LOOPBACK)
    await own.send(desk.told[0])
    assert json.loads(sink.received[-1].body)["dedup"] == "mine"


def test_without_apprise_or_with_an_address_that_it_does_not_know_it_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(TargetError, match="does not support this address"):
        AppriseTarget("no-such-service://x")
    monkeypatch.setitem(sys.modules, "apprise", None)
    with pytest.raises(TargetError, match=r"pip install '\.\[notify\]'"):
        AppriseTarget("json://127.0.0.1")


@pytest.mark.parametrize(
    ("vitals", "said"),
    [
        (Vitals(NOW, NOW), ""),
        (Vitals(NOW - timedelta(seconds=31), NOW), "the collector has not looked at the alarms since 20:13:34Z"),
        (Vitals(NOW, None), "no usable reply from the platform"),
        (Vitals(NOW, NOW - timedelta(seconds=91)), "no usable reply from the platform since 20:12:34Z"),
        (Vitals(NOW, NOW - timedelta(minutes=10), interval=300.0), ""),
        (Vitals(NOW, NOW - timedelta(minutes=11), interval=300.0), "no usable reply from the platform since 20:03:05Z"),
        (Vitals(NOW, NOW, NOW - timedelta(seconds=301)), "a message has been waiting since 20:09:04Z"),
        (Vitals(NOW, NOW, None, "history x: the disk is full"), "history x: the disk is full"),
    ],
)
def test_the_heartbeat_stands_for_the_loop_the_platform_the_spool_and_the_history(vitals: Vitals, said: str) -> None:
    assert failure(vitals, NOW) == said


async def test_the_heart_beats_each_minute_and_says_why_not(sink: Sink, outgoing: Outgoing) -> None:
    beats = iter([Vitals(NOW + timedelta(seconds=60), NOW + timedelta(seconds=60)), Vitals(NOW, None)])

    class Enough(Exception):  # noqa: N818
        pass

    async def send(*request: object) -> object:
        reply = await outgoing.send(*request)  # type: ignore[arg-type]
        if len(sink.received) == 2:
            raise Enough
        return reply

    class Steps(VirtualClock):
        async def sleep(self, seconds: float) -> None:
            self._tick += seconds

    clock = Steps(NOW)
    heartbeat = Heartbeat(send, f"{sink.address}/ping", lambda: next(beats), clock)  # type: ignore[arg-type]
    with pytest.raises(Enough):
        await heartbeat.run()
    first, second = sink.received
    assert (first.method, first.path) == ("GET", "/ping")
    assert (second.method, second.path) == ("POST", "/ping/fail")
    assert second.body == b"the collector has not looked at the alarms since 20:14:05Z"
    assert clock.now() == NOW + timedelta(minutes=2)
    assert heartbeat.taken_at == NOW + timedelta(minutes=1)


async def test_only_a_beat_that_was_taken_counts_and_after_a_failure_there_is_none() -> None:
    asked, answers, moments = [], iter([500, 200, 204, 200]), iter([60.0, 120.0, 180.0, 240.0])

    class Ended(Exception):  # noqa: N818
        pass

    class Steps(VirtualClock):
        async def sleep(self, seconds: float) -> None:
            taken.append(heartbeat.taken_at)
            if next(moments, None) is None:
                raise Ended
            self._tick += seconds

    async def post(method: str, address: str, _headers: object, _body: bytes) -> Reply:
        asked.append((method, address.rpartition("/")[2]))
        return Reply(next(answers))

    def vitals() -> Vitals:
        is_ill = len(asked) == 2
        return Vitals(clock.now(), None if is_ill else clock.now())

    clock, taken = Steps(NOW), list[datetime | None]()
    heartbeat = Heartbeat(post, "https://beats.example/ping", vitals, clock)
    with pytest.raises(Ended):
        await heartbeat.run()
    assert asked == [("GET", "ping"), ("GET", "ping"), ("POST", "fail"), ("GET", "ping")]
    minutes = [at and (at - NOW) / timedelta(minutes=1) for at in taken]
    assert minutes == [None, None, 2, 2, 4]

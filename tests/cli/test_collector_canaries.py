"""A collector shows no secret to anybody: in no reply, change, metric, message or file.

Its platform has a canary in every place for a secret. Canaries are also the address and the secret of its webhook, its
token for the platform, and the password of the shared Redis.
"""

from __future__ import annotations

import json
import re
import signal
import subprocess
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from time import monotonic, time
from typing import Any
from urllib.parse import urlencode

import pytest
from redis import Redis

from cli.commands import TIMEOUT, called, environment
from cli.secretive import CANARY, spellings
from cli.starts import LIVEDECK, Start
from cli.test_canaries import histories, secretive, unpacked
from collector.engine.servers import RedisServer, skip_without_redis
from livedeck.collector.protocol.questions import QUESTIONS
from notify.sinks import Sink, http_sink

SECRETS = ("token", "hook", "hook-secret", "apprise", "redis")
"""Files that hold a secret."""

HOOK = f"/hooks/{CANARY}-of-the-hook-31"
WATCHED = 12.0
"""Seconds of the change stream to read."""


PASSWORD = f"{CANARY}-of-redis-58"


def settings(address: str, home: Path, sink: Sink) -> str:
    """Return the settings of a collector that notifies by every kind of target."""
    for name, text in (("hook", sink.address + HOOK), ("hook-secret", f"{CANARY}-that-signs-64")):
        (home / name).write_text(text)
        (home / name).chmod(0o600)
    targets = '[notify]\nallow_private = ["127.0.0.1"]\n'
    targets += f'[notify.targets.ops]\nwebhook_file = "{home}/hook"\nsecret_file = "{home}/hook-secret"\n'
    routes = '[[notify.routes]]\nto = "ops"\nseverity = "info"\n'
    service = sink.address.replace("http://", f"json://user:{CANARY}-of-apprise-77@")
    (home / "apprise").write_text(f"{service}/{CANARY}-in-the-path-12")
    (home / "apprise").chmod(0o600)
    targets += f'[notify.targets.other]\napprise_file = "{home}/apprise"\n'
    routes += '[[notify.routes]]\nto = "other"\nseverity = "info"\n'
    collect = '[collector]\nlisten = "127.0.0.1:0"\n'
    return f'base_url = "{address}"\ntoken_file = "{home}/token"\n{collect}{targets}{routes}'


@contextmanager
def collecting(home: Path, sink: Sink, engine: str = "") -> Iterator[tuple[int, str, list[str]]]:
    """Yield a collector: its port, a token with the right `act`, and a list that gets its output.

    `engine`: settings of one of several collectors.
    """
    said: list[str] = []
    with secretive(home) as address:
        config = home / "config.toml"
        config.write_text(settings(address, home, sink) + engine)
        config.chmod(0o600)
        env = {"LIVEDECK_CONFIG": str(config), "LIVEDECK_HISTORY": str(home / "history.sqlite")}
        token = called(home, "collector", "token", "create", "anna", "--may", "act", env=env).stdout.strip()
        with (home / "printed").open("w") as printed, (home / "errors").open("w") as errors:
            command = [*LIVEDECK, "collector", "run", "--debug"]
            process = Start[bytes](command, env=environment(home, **env), stdout=printed, stderr=errors)
        try:
            yield port_of(home / "errors", process), token, said
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(TIMEOUT)
            said += [(home / "printed").read_text(), (home / "errors").read_text()]


@contextmanager
def beside(home: Path) -> Iterator[None]:
    """Run another collector of the same settings, with a name and a history of its own."""
    place = home / "second"
    place.mkdir()
    config = place / "config.toml"
    config.write_text((home / "config.toml").read_text().replace('"north"', '"south"'))
    config.chmod(0o600)
    env = {"LIVEDECK_CONFIG": str(config), "LIVEDECK_HISTORY": str(place / "history.sqlite")}
    with (place / "printed").open("w") as printed:
        command = [*LIVEDECK, "collector", "run", "--debug"]
        process = Start[bytes](command, env=environment(place, **env), stdout=printed, stderr=printed)
    try:
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(TIMEOUT)


@contextmanager
def shared_redis(home: Path) -> Iterator[tuple[Redis, RedisServer, str]]:
    """Yield a client of a Redis with a password, its server, and the settings of collectors that share it."""
    server = RedisServer()
    try:
        with Redis.from_url(server.address) as client:
            client.config_set("requirepass", PASSWORD)
        (home / "redis").write_text(f"unix://:{PASSWORD}@{server.socket}")
        (home / "redis").chmod(0o600)
        with Redis.from_url(f"unix://:{PASSWORD}@{server.socket}") as client:
            yield client, server, f'[engine]\nredis_url_file = "{home}/redis"\nname = "north"\nttl = 5\n'
    finally:
        server.close()


def stored(client: Redis) -> dict[str, bytes]:
    """Return all data in Redis by key: as read by type, and as DUMP exports it."""
    readers: dict[object, Callable[[bytes], object]] = {
        b"string": client.get,
        b"hash": client.hgetall,
        b"zset": lambda key: client.zrange(key, 0, -1, withscores=True),
        b"stream": client.xrange,
    }
    found = {}
    for key in client.scan_iter():
        name = key.decode()
        # a list of all parts as they are: no escape of ours is between the letters of a secret
        parts = [key, *_parts(readers[client.type(key)](key))]
        found[name], found[f"dump of {name}"] = b"\n".join(parts), client.dump(key) or b""
    return found


def _parts(value: object) -> Iterator[bytes]:
    if isinstance(value, bytes):
        yield value
    elif isinstance(value, dict):
        for pair in value.items():
            yield from _parts(pair)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _parts(part)


def port_of(errors: Path, process: subprocess.Popen[bytes]) -> int:
    """Return the port at which the collector says that it listens."""
    while process.poll() is None:
        if found := re.search(r"http://127\.0\.0\.1:(\d+)/", errors.read_text()):
            return int(found[1])
    raise AssertionError(errors.read_text())


def request(port: int, method: str, path: str, token: str, body: Any = None, **headers: str) -> tuple[int, bytes]:
    """Return status and all other bytes of a reply, with its headers, by a client without code of livedeck."""
    connection = HTTPConnection("127.0.0.1", port, timeout=TIMEOUT)
    sent = {"Authorization": f"Bearer {token}", "Content-Type": "application/json", **headers}
    connection.request(method, path, None if body is None else json.dumps(body), sent)
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, str(answer.headers).encode() + content


def listing(port: int, token: str) -> dict[str, Any]:
    """Return the listing once it has an alarm that somebody could acknowledge."""
    until = monotonic() + TIMEOUT
    while monotonic() < until:
        status, text = request(port, "GET", "/v1/snapshot", token)
        found: dict[str, Any] = json.loads(text[text.index(b"{") :]) if status == 200 else {}
        if found and found["values"]["alarms"]:
            return found
    raise AssertionError(f"no alarm after {TIMEOUT} s")


def changes(port: int, token: str, after: str) -> bytes:
    """Read some seconds of the change stream."""
    connection = HTTPConnection("127.0.0.1", port, timeout=TIMEOUT)
    connection.request("GET", "/v1/changes", headers={"Authorization": f"Bearer {token}", "Last-Event-ID": after})
    answer: HTTPResponse = connection.getresponse()
    assert answer.status == 200
    text, until = b"", monotonic() + WATCHED
    while monotonic() < until:
        text += answer.readline()
    connection.close()
    return text


def questions(event: str, stream: str) -> Iterator[str]:
    """Yield the path of each question about the past."""
    values = {"since": "2020-01-01T00:00:00Z", "until": "2031-01-01T00:00:00Z", "event_id": event, "stream_id": stream}
    values |= {
        "video_id": event,
        "columns": "10",
        "now": "2026-01-01T00:00:00Z",
        "streams": json.dumps({event: stream}),
    }
    seconds = {"since": "0", "until": "99999999999"}
    numbers = {"series": seconds, "readings": seconds, "recorded": {**seconds, "newest": "-1"}}
    for name, question in QUESTIONS.items():
        given = values | numbers.get(name, {})
        query = urlencode({key: given[key] for key in question.parameters if key in given})
        yield f"/v1/history/{name}?{query}"


def leaks(found: dict[str, bytes]) -> list[str]:
    """Return the places with a canary."""
    return [place for place, content in found.items() if any(spelling in content for spelling in spellings())]


@pytest.mark.slow
def test_a_collector_tells_no_secret(tmp_path: Path) -> None:
    found: dict[str, bytes] = {}
    statuses: dict[str, int] = {}
    with http_sink() as sink, collecting(tmp_path, sink) as (port, token, said):

        def ask(method: str, path: str, body: Any = None, **headers: str) -> None:
            statuses[f"{method} {path}"], found[f"{method} {path}"] = request(
                port, method, path, token, body, **headers
            )

        known = listing(port, token)
        event, columns = next((key, found) for key, found in known["samples"].items() if found["t0"])
        alarm = next(iter(known["values"]["alarms"].values()))
        key = json.dumps([alarm["event_id"], alarm["kind"], alarm.get("target", "")]).encode()
        path = f"/v1/alarms/{urlsafe_b64encode(key).decode().rstrip('=')}"
        seen = {"since": alarm["since"], "severity": alarm["severity"], "stage": alarm.get("stage", 0)}
        ask("POST", f"{path}/note", {**seen, "text": f"see {sink.address}{HOOK} and {CANARY}-that-signs-64"})
        ask("POST", f"{path}/acknowledge", seen)
        ask("POST", f"{path}/acknowledge", {**seen, "surprise": 1})
        ask("POST", f"/v1/events/{event}/usual", {"surprise": 1})
        ask("POST", "/v1/poke", {})
        ask("GET", "/v1/snapshot?samples=300")
        ask("GET", f"/v1/events/{event}/samples")
        for question in questions(event, columns["stream"]):
            ask("GET", question)
        for page in ("/metrics", "/healthz", "/readyz", "/nowhere"):
            ask("GET", page)
        ask("GET", "/v1/snapshot", Host=f"{CANARY}.example")
        found["changes"] = changes(port, token, known["id"])
        listing(port, token)
    found |= {f"message {number}": request.body for number, request in enumerate(sink.received)}
    found |= {f"printed {number}": text.encode() for number, text in enumerate(said)}
    files = {
        str(file): file.read_bytes() for file in tmp_path.rglob("*") if file.is_file() and file.name not in SECRETS
    }
    found |= files | {f"shown in {file}": unpacked(file) for file, _ in histories(files) if "notify" not in file.name}
    assert leaks(found) == []
    answered = [path for path, status in statuses.items() if status == 200]
    refused = {place: found[place] for place, status in statuses.items() if "/v1/history/" in place and status != 200}
    assert refused == {}
    assert len([place for place in answered if "/v1/history/" in place]) == len(QUESTIONS)
    assert f"POST {path}/note" in answered
    assert b"livedeck_platform_requests_total" in found["GET /metrics"]
    assert found["changes"].count(b"\ndata: ") > 1
    assert sink.received
    assert any(file.endswith(".notify") for file in files)


@pytest.mark.slow
def test_several_collectors_leave_no_secret_in_redis(tmp_path: Path) -> None:
    skip_without_redis()
    kinds = {"workers", "leases", "generation", "answers", "said", "said:ids", "told", "messages", "lost"}
    with (
        http_sink() as sink,
        shared_redis(tmp_path) as (client, server, engine),
        collecting(tmp_path, sink, engine) as (port, token, _),
        beside(tmp_path),
    ):
        known = listing(port, token)
        event = next(key for key, found in known["samples"].items() if found["t0"])
        alarm = next(iter(known["values"]["alarms"].values()))
        key = json.dumps([alarm["event_id"], alarm["kind"], alarm.get("target", "")]).encode()
        path = f"/v1/alarms/{urlsafe_b64encode(key).decode().rstrip('=')}"
        seen = {"since": alarm["since"], "severity": alarm["severity"], "stage": alarm.get("stage", 0)}
        text = f"see {sink.address}{HOOK}, {CANARY}-that-signs-64 and {PASSWORD}"
        (workers,) = (bytes(key).decode() for key in client.scan_iter("*:workers"))
        client.hset(workers.replace(":workers", ":lost"), "east", round(time() * 1000))  # it went without leaving
        intent = {"id": "i", "action": "event.complete", "target_id": event, "name": f"{CANARY[:3]}"}
        requests = [
            request(port, "POST", f"{path}/note", token, {**seen, "text": text}),
            request(port, "POST", f"{path}/acknowledge", token, seen),
            request(port, "POST", f"/v1/events/{event}/usual", token, {}),
            request(port, "POST", "/v1/audit", token, {"intent": intent}),
        ]
        assert [status for status, _ in requests[:3]] == [200, 200, 200]
        until, found = monotonic() + TIMEOUT, stored(client)
        while {name.rpartition("}:")[2] for name in found if "dump" not in name} < kinds or client.zcard(workers) < 2:
            assert monotonic() < until, sorted(found)
            found = stored(client)
        folder = server.socket.parent
        found |= {str(file): file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    assert any(file.endswith(".aof") and content for file, content in found.items())  # all that was ever written
    assert leaks(found) == []
    assert any(b"see " in content for content in found.values())

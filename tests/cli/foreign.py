"""Platform without code of livedeck: the documented API on the standard library's server, in real time, with faults."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import Random
from typing import Any
from urllib.parse import parse_qs, urlsplit

TOKEN = "token-of-another-house"
PORTAL = b"<!doctype html><html><title>Hotel Wi-Fi</title><form action=/accept>Please accept our terms</form></html>"

CADENCE = 2
"""Seconds between two samples."""

KEPT = 300
"""Number of samples in a reply: ten minutes."""


def timestamp(epoch: float) -> str:
    return datetime.fromtimestamp(epoch, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


class ForeignPlatform(ThreadingHTTPServer):
    """Platform with a steady encoder for each event. A test sets its faults while it serves.

    `lost`: share of requests with the reply 503, the same ones of each path for a seed. `delay`: seconds before each
    reply. `portal`: every request is redirected to a login page ("redirect"), or gets one ("page"). `unlisted`: id of
    an event -> number of lists that will omit it. `lag`: id of an event -> seconds by which its samples come late.
    `change`: changes each sample of an event before it is sent. `token`: the accepted token. `away`: every request gets
    502. `silent`: ids of events whose samples never come. `ahead`: seconds that the platform's clock is ahead of this
    machine's, as after a sleep of this machine. `cut_at`: time from which no encoder sends (epoch s); None for never.
    `unheard`: ends of the paths that get 503.
    """

    daemon_threads = True

    def __init__(self, count: int = 4, seed: int = 1) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.seed, self.lock, self.asked = seed, threading.Lock(), Counter[str]()
        self.heard = threading.Condition(self.lock)
        self.ahead, self.started_at = 0.0, time.time() - 1800
        self.events = [self._event(number) for number in range(count)]
        self.rooms: list[dict[str, Any]] = []
        self.lost, self.delay, self.lag = 0.0, 0.0, dict[str, float]()
        self.portal, self.token, self.away = "", TOKEN, False
        self.unlisted: dict[str, int] = {}
        self.silent: set[str] = set()
        self.unheard: set[str] = set()
        self.cut_at: float | None = None
        self.change: Callable[[str, dict[str, Any]], dict[str, Any]] = lambda _, sample: sample
        self.requests: list[tuple[float, str, int]] = []  # when (monotonic s), path, status

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def now(self) -> float:
        """Return the time of the platform (epoch s)."""
        return time.time() + self.ahead

    def _event(self, number: int) -> dict[str, Any]:
        event_id = f"7f1c9a30-0000-4000-8000-{number:012d}"
        stream_id = f"7f1c9a30-1111-4000-8000-{number:012d}"
        return {
            "id": event_id,
            "workspace_id": "7f1c9a30-2222-4000-8000-000000000000",
            "parent_id": None,
            "name": f"Hall {number + 1}",
            "subtitle": "",
            "type": "one-time",
            "streamkey": f"key-of-hall-{number}",
            "auto_start": False,
            "protected": False,
            "time_shift": False,
            "reconnect_window": 600,
            "record": {"parent_id": None},
            "video": {"presets": ["1080p", "720p"]},
            "audio": {"channel_mapping": None},
            "restreams": [],
            "play_link": f"https://play.example.com/{event_id}",
            "rtmp_link": "rtmp://ingest.example.com/live",
            "scheduled": {"time": timestamp(self.started_at)},
            "stream": {
                "id": stream_id,
                "event_id": event_id,
                "status": "live",
                "started_at": timestamp(self.started_at),
                "finished_at": None,
            },
            "latency_mode": "standard",
            "moderators": None,
            "poster": {},
            "created_at": timestamp(self.started_at - 86_400),
            "updated_at": None,
        }

    def samples(self, event_id: str) -> list[dict[str, Any]]:
        """Return the newest samples of the event's stream, oldest first."""
        if event_id in self.silent:
            return []
        until = min(self.now() - self.lag.get(event_id, 0.0), self.cut_at or self.now())
        newest = int(until) // CADENCE * CADENCE
        return [self._sample(event_id, at) for at in range(newest - CADENCE * (KEPT - 1), newest + 1, CADENCE)]

    def _sample(self, event_id: str, at: int) -> dict[str, Any]:
        noise = Random(f"{event_id} {at}").uniform(-1, 1)
        return self.change(
            event_id,
            {
                "bitrate_video": round(4_500_000 + 90_000 * noise),
                "bitrate_audio": round(128_000 + 900 * noise),
                "frame_rate": 30,
                "status": 0,
                "time": timestamp(at + 0.25),
            },
        )

    def number(self, event_id: str) -> int:
        """Return the number of the event's hall, from 0 on."""
        return [event["id"] for event in self.events].index(event_id)

    def loses(self, path: str) -> bool:
        """Return whether this request gets 503."""
        with self.lock:
            self.asked[path] += 1
            self.heard.notify_all()
            is_lost = Random(f"{self.seed} {path} {self.asked[path]}").random() < self.lost
            return is_lost or path.endswith(tuple(self.unheard))

    def wait_for_polls(self, count: int, seconds: float) -> None:
        """Wait until the samples of each event were polled `count` times more."""

        def polls() -> list[int]:
            asked = {path.split("/")[-2]: times for path, times in self.asked.items() if path.endswith("/qos")}
            return [asked.get(event["id"], 0) for event in self.events]

        with self.heard:
            before = polls()
            missing = [*before]

            def are_made() -> bool:
                missing[:] = [before + count - now for before, now in zip(before, polls(), strict=True)]
                return max(missing) <= 0

            assert self.heard.wait_for(are_made, seconds), f"polls that were not made: {missing}"

    def listed(self) -> list[dict[str, Any]]:
        """Return the events of one list."""
        with self.lock:
            missing = {event_id for event_id, count in self.unlisted.items() if count > 0}
            self.unlisted = {event_id: count - 1 for event_id, count in self.unlisted.items()}
        return [event for event in self.events if event["id"] not in missing]


class Handler(BaseHTTPRequestHandler):
    """Connection, kept alive."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: ForeignPlatform

    def do_GET(self) -> None:
        platform, url = self.server, urlsplit(self.path)
        time.sleep(platform.delay)
        if platform.portal == "redirect" and url.path != "/login":
            self._send(302, b"", "text/html", Location=f"{platform.address}/login?to={url.path}")
        elif platform.portal:
            self._send(200, PORTAL, "text/html; charset=utf-8")
        elif platform.away:
            self._send(502, b"<html><h1>502 Bad Gateway</h1></html>", "text/html")
        elif platform.loses(url.path):
            self._send(503, b'{"error": {"code": 503503, "message": "overloaded"}}')
        elif self.headers.get("Authorization") != f"Bearer {platform.token}":
            self._send(401, b'{"error": {"code": 401401, "message": "unauthorized"}}')
        else:
            self._answer(url.path, parse_qs(url.query))

    def _answer(self, path: str, query: dict[str, list[str]]) -> None:
        parts = path.strip("/").split("/")
        if path == "/v2/live/events":
            page, per_page = (
                int(query.get(name, [default])[0]) for name, default in (("page", "1"), ("per_page", "20"))
            )
            events = self.server.listed()
            pagination = {"page": page, "per_page": per_page, "total": len(events)}
            meta = {"pagination": pagination, "order": {"created_at": "desc", "name": "asc"}}
            return self._json({"meta": meta, "data": events[(page - 1) * per_page : page * per_page]})
        if path == "/v1/meet/rooms":
            pagination = {"page": 1, "per_page": 20, "total": len(self.server.rooms)}
            return self._json({"meta": {"pagination": pagination, "order": {}}, "data": self.server.rooms})
        event = next((event for event in self.server.events if event["id"] in parts), None)
        if event is None:
            return self._send(400, b'{"error": {"code": 400404, "message": "not found"}}')
        if parts[-1] == "qos":
            return self._json({"data": self.server.samples(event["id"])})
        if parts[-1] == event["id"]:
            return self._json({"data": event})
        meta = {"pagination": {"page": 1, "per_page": 20, "total": 0}, "order": {"created_at": "asc"}}
        return self._json({"meta": meta, "data": []})

    def _json(self, value: object) -> None:
        self._send(200, json.dumps(value).encode())

    def _send(self, status: int, body: bytes, media_type: str = "application/json", **headers: str) -> None:
        self.server.requests.append((time.monotonic(), self.path, status))
        self.send_response(status)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def date_time_string(self, timestamp: float | None = None) -> str:
        """Return the `Date` of a reply."""
        return super().date_time_string(self.server.now() if timestamp is None else timestamp)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  the base's own name
        """Log nothing."""


@contextmanager
def foreign_platform(count: int = 4, seed: int = 1) -> Iterator[ForeignPlatform]:
    """Yield a platform that serves in a thread of its own."""
    with ForeignPlatform(count, seed) as platform:
        thread = threading.Thread(target=platform.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield platform
        finally:
            platform.shutdown()
            thread.join()

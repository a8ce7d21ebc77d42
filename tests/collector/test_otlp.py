"""A receiver of OTLP gets the metrics over HTTP with its token, and what it does not take is reported once."""

from __future__ import annotations

import asyncio
import gzip
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Queue
from typing import Any

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)

from livedeck.cli.collect.outputs import make_push
from livedeck.cli.collect.receivers import make_notification_way
from livedeck.cli.demo import demo_settings
from livedeck.presentation.metrics import scrape_of
from livedeck.presentation.otlp import encode_request
from livedeck.presentation.render_time import RenderTime
from livedeck.settings import Settings, SettingsError
from livedeck.simulator import Simulator
from monitor.stage import NOW
from presentation.test_metrics import evening

SECRET = "a-token-of-the-receiver"


class Sink(ThreadingHTTPServer):
    """Receiver. `replies`: status and body of the next replies; afterwards 200 and an empty body."""

    def __init__(self) -> None:
        self.taken, self.replies = Queue[tuple[str, dict[str, str], bytes]](), list[tuple[int, bytes]]()
        super().__init__(("127.0.0.1", 0), _Handler)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: Sink

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.taken.put((self.path, dict(self.headers), body))
        status, reply = self.server.replies.pop(0) if self.server.replies else (200, b"")
        self.send_response(status)
        self.send_header("Content-Length", str(len(reply)))
        self.send_header("Retry-After", "77")
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, *_: Any) -> None: ...


@contextmanager
def receiving() -> Iterator[Sink]:
    with Sink() as sink:
        threading.Thread(target=sink.serve_forever, daemon=True).start()
        yield sink
        sink.shutdown()


class Steps:
    """Clock that stands still. Its sleeper reports the time to sleep and waits for the test."""

    def __init__(self) -> None:
        self.slept, self._wakes = asyncio.Queue[float](), asyncio.Semaphore(0)

    def now(self) -> Any:
        return NOW

    def monotonic(self) -> float:
        return 0.0

    async def sleep(self, seconds: float) -> None:
        self.slept.put_nowait(seconds)
        await self._wakes.acquire()

    def wake(self) -> None:
        self._wakes.release()


def encode() -> bytes:
    snapshot = evening()
    scrape = scrape_of(snapshot, RenderTime.from_snapshot(snapshot, snapshot.at), "1.2.3")
    return encode_request(scrape, {"service.name": "livedeck"}, snapshot.at, snapshot.at)


@asynccontextmanager
async def pushing(clock: Steps, **fields: Any) -> AsyncIterator[list[str]]:
    """Run a push with these settings; yields the list of its reports."""
    notify = {"allow_private": fields.pop("allow_private", ["127.0.0.1"])}
    base = demo_settings(Simulator(seed=1))
    settings = Settings.model_validate({"base_url": base.base_url, "notify": notify, "otlp": fields})
    said = list[str]()
    async with make_notification_way(settings) as outgoing:
        push = await make_push(settings, outgoing.send, lambda: encode, clock, said.append)
        assert push is not None
        task = asyncio.create_task(push.run())
        try:
            yield said
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


async def test_a_receiver_reads_the_metrics_and_its_token(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(f"{SECRET}\n", encoding="utf-8")
    file.chmod(0o600)
    clock = Steps()
    with receiving() as sink:
        async with pushing(clock, endpoint=sink.address, token_file=str(file), interval=10) as said:
            assert await clock.slept.get() == 77.0  # the receiver asked for it
    path, headers, body = sink.taken.get_nowait()
    assert (path, headers["Content-Type"], said) == ("/v1/metrics", "application/x-protobuf", [])
    assert headers["Authorization"] == f"Bearer {SECRET}"
    (found,) = ExportMetricsServiceRequest.FromString(gzip.decompress(body)).resource_metrics
    assert {attribute.key for attribute in found.resource.attributes} == {"service.name"}
    names = {metric.name for metric in found.scope_metrics[0].metrics}
    assert {"livedeck_platform_link_up", "livedeck_event_video_bytes_per_second", "livedeck_alarms"} <= names


async def test_the_token_goes_in_the_header_of_the_settings() -> None:
    clock = Steps()
    with receiving() as sink:
        for header, token, sent in (("api-key", SECRET, SECRET), ("Authorization", "Basic abc", "Basic abc")):
            printed = ["printf", "%s", token]
            async with pushing(clock, endpoint=f"{sink.address}/in", token_command=printed, header=header):
                await clock.slept.get()
            path, headers, _ = sink.taken.get_nowait()
            assert (path, headers[header]) == ("/in", sent)


async def test_a_failure_is_reported_once_and_its_end_too() -> None:
    clock = Steps()
    partial = ExportMetricsServiceResponse()
    partial.partial_success.rejected_data_points = 3
    partial.partial_success.error_message = "too\nold"
    with receiving() as sink:
        sink.replies = [
            (503, b"busy"),
            (503, b"busy"),
            (200, b""),
            (200, partial.SerializeToString()),
            (200, b"no OTLP"),
        ]
        async with pushing(clock, endpoint=sink.address) as said:
            for _ in range(5):
                await clock.slept.get()
                clock.wake()
            await clock.slept.get()
    again = "OTLP: metrics are pushed again"
    assert said == ["OTLP: 503 busy", again, "OTLP: 3 values rejected: too old", again]


async def test_a_private_receiver_needs_an_entry() -> None:
    clock = Steps()
    with receiving() as sink:
        async with pushing(clock, endpoint=sink.address, allow_private=[]) as said:
            await clock.slept.get()
        assert sink.taken.empty()
    (line,) = said
    assert "allow_private" in line


@pytest.mark.parametrize(
    "fields",
    [
        {"endpoint": "http://otel.example/v1/metrics"},
        {"endpoint": "https://user:word@otel.example"},
        {"endpoint": "https://otel.example?key=1"},
        {"header": "a\nb"},
        {"interval": 1},
        {"token_file": "/a", "token_command": ["b"]},
    ],
)
def test_what_would_leak_or_flood_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="otlp"):
        Settings.model_validate({"otlp": fields})


async def test_without_the_packages_the_settings_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("livedeck.cli.collect.outputs.find_spec", lambda _: None)
    with pytest.raises(SettingsError, match=r"pip install '\.\[otlp\]'"):
        async with pushing(Steps(), endpoint="https://otel.example"):
            pass

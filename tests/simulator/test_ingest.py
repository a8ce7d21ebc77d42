"""Ingest over loopback sockets: admission, ends, and what the API and the control API show."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import httpx
import pytest

from livedeck.simulator import Addresses, IngestError, Simulator, SimulatorClock, serve
from livedeck.simulator.engine.measured import MeasuredSamples, Sample
from livedeck.simulator.engine.store import Store
from livedeck.simulator.ingest import listener, publishers
from simulator import rtmp
from simulator.http_client import Row, data

CADENCE = 0.2


class Stage:
    """Simulator with ingest, and clients of it."""

    def __init__(self, simulator: Simulator, addresses: Addresses, http: httpx.AsyncClient) -> None:
        self.simulator, self.addresses, self._http = simulator, addresses, http
        self.writers: list[asyncio.StreamWriter] = []

    async def samples(self, event: Row) -> list[Row]:
        headers = {"Authorization": f"Bearer {self.simulator.token}"}
        rows: list[Row] = data(await self._http.get(f"/v2/live/events/{event['id']}/qos", headers=headers))
        return rows

    async def api(self, path: str, method: str = "GET", **body: object) -> Row:
        answer = await self._http.request(
            method, path, json=body or None, headers={"Authorization": f"Bearer {self.simulator.token}"}
        )
        row: Row = data(answer)
        return row

    async def control(self, path: str, **body: object) -> Row:
        method = "POST" if body else "GET"
        headers = {"Authorization": f"Bearer {self.simulator.control_token}"}
        row: Row = data(await self._http.request(method, f"/_control/{path}", json=body or None, headers=headers))
        return row

    async def event(self, **fields: object) -> Row:
        """Return an enabled event with a scheduled stream."""
        event = await self.api("/v2/live/events", "POST", **{"name": "Real", "type": "one-time"} | fields)
        path = f"/v2/live/events/{event['id']}"
        await self.api(f"{path}/enable", "PUT")
        await self.api(f"{path}/stream", "POST", started_at="2030-01-01T00:00:00Z")
        return await self.api(path)

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        port = int(self.addresses.ingest_url.rpartition(":")[2].partition("/")[0])
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        self.writers.append(writer)
        return reader, writer

    async def publish(self, key: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter, bytes]:
        """Ask to publish. Returns the connection, and the reply up to the status of the publication."""
        reader, writer = await self.connect()
        writer.write(rtmp.connect() + rtmp.publish(key))
        return reader, writer, await read_until(reader, b"NetStream.Publish.", b"description")


async def read_until(reader: asyncio.StreamReader, *words: bytes) -> bytes:
    """Read until the words have come in order, and a little more, or until the connection ends."""
    held = b""
    for word in words:
        while word not in held:
            more = await reader.read(65536)
            if not more:
                return held
            held += more
    return held


async def until(holds: Callable[[], Awaitable[bool]], seconds: float = 60) -> None:
    async with asyncio.timeout(seconds):
        while True:
            if await holds():
                return


@asynccontextmanager
async def running(simulator: Simulator) -> AsyncIterator[Stage]:
    async with serve(simulator, ingest=("127.0.0.1", 0)) as addresses, httpx.AsyncClient() as http:
        http.base_url = httpx.URL(addresses.base_url)
        stage = Stage(simulator, addresses, http)
        try:
            yield stage
        finally:
            for writer in stage.writers:
                writer.close()


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    async with running(Simulator(seed=7, cadence=CADENCE)) as stage:
        yield stage


async def test_an_event_shows_the_address_of_the_ingest_only_while_there_is_one() -> None:
    simulator = Simulator(seed=7)
    async with running(simulator) as stage:
        event = await stage.event()
        assert event["rtmp_link"] == f"{stage.addresses.ingest_url}/{event['streamkey']}"
        assert event["rtmp_link"].startswith("rtmp://127.0.0.1:")
    async with serve(simulator) as addresses, httpx.AsyncClient() as http:
        headers = {"Authorization": f"Bearer {simulator.token}"}
        shown = data(await http.get(f"{addresses.base_url}/v2/live/events/{event['id']}", headers=headers))
        assert shown["rtmp_link"].startswith("rtmp://ingest.livedeck.example/")
        assert addresses.ingest_url == ""


async def test_a_publisher_makes_the_stream_live_and_its_samples_are_measured(stage: Stage) -> None:
    event = await stage.event()
    path = f"/v2/live/events/{event['id']}"
    _, writer, answer = await stage.publish(event["streamkey"])
    assert b"NetStream.Publish.Start" in answer
    assert (await stage.api(path))["stream"]["status"] == "live"
    loop = asyncio.get_running_loop()
    began, number = loop.time(), 0

    async def measured() -> bool:
        nonlocal number
        while began + number * 0.02 < loop.time():
            writer.write(rtmp.frame(number * 20, 1000, is_key=number % 50 == 0) + rtmp.sound(number * 20))
            number += 1
        await asyncio.sleep(0.01)
        return len(await stage.samples(event)) >= 3

    await until(measured)
    [shown] = (await stage.control("ingest"))["publishers"]
    assert shown["event"] == {"id": event["id"], "name": "Real"}
    assert shown["peer"].startswith("127.0.0.1:")
    assert shown.keys() >= {"since", "verdict", "status", "bitrate_video", "bitrate_audio", "frame_rate", "speed"}
    writer.close()
    await until(lambda: has_no_publisher(stage))
    rows = await stage.samples(event)
    assert min(row["bitrate_video"] for row in rows) > 0
    assert (await stage.api(path))["stream"]["status"] == "live"  # the reconnect window goes on


async def has_no_publisher(stage: Stage) -> bool:
    return not (await stage.control("ingest"))["publishers"]


async def refusal(stage: Stage, key: str) -> bytes:
    reader, _, answer = await stage.publish(key)
    return answer + await reader.read()


async def test_unknown_draft_and_completed_events_refuse_with_a_reason(stage: Stage) -> None:
    assert b"unknown stream key" in await refusal(stage, "no-such-key")
    draft = await stage.api("/v2/live/events", "POST", name="Draft", type="one-time")
    assert b"is not enabled" in await refusal(stage, draft["streamkey"])
    event = await stage.event()
    await stage.api(f"/v2/live/events/{event['id']}/complete", "PUT")
    assert b"has ended" in await refusal(stage, event["streamkey"])


async def test_no_key_is_logged(stage: Stage, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "livedeck.simulator")
    event = await stage.event()
    await refusal(stage, "canary-refused")
    await stage.publish(event["streamkey"])
    await refusal(stage, event["streamkey"])
    assert "was refused: this stream key is already publishing" in caplog.text
    assert "canary" not in caplog.text
    assert event["streamkey"] not in caplog.text


async def test_a_second_publisher_replaces_a_silent_one(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    event = await stage.event()
    first, _, _ = await stage.publish(event["streamkey"])
    assert b"already publishing" in await refusal(stage, event["streamkey"])
    monkeypatch.setattr(publishers, "TAKEOVER_SECONDS", 0)
    _, _, answer = await stage.publish(event["streamkey"])
    assert b"NetStream.Publish.Start" in answer
    assert b"another publisher took over" in await first.read()
    assert len((await stage.control("ingest"))["publishers"]) == 1


@pytest.mark.parametrize("change", [{"step": 60}, {"step": -60}, {"speed": 2}, {"paused": True}])
async def test_a_moved_clock_cuts_publishers_and_admits_none(stage: Stage, change: dict[str, object]) -> None:
    event = await stage.event()
    reader, _, _ = await stage.publish(event["streamkey"])
    await stage.control("clock", **change)
    assert b"the rehearsal clock is moved" in await reader.read()
    answer = await stage.publish(event["streamkey"])
    assert (b"the rehearsal clock is moved" in answer[2]) == ("step" not in change)


@pytest.mark.parametrize("how", ["complete", "delete", "encoder", "reset"])
async def test_an_event_that_takes_its_stream_no_more_cuts_the_publisher(stage: Stage, how: str) -> None:
    event = await stage.event()
    reader, _, _ = await stage.publish(event["streamkey"])
    match how:
        case "complete":
            await stage.api(f"/v2/live/events/{event['id']}/complete", "PUT")
        case "delete":
            await stage.api(f"/v2/live/events/{event['id']}", "DELETE")
        case "encoder":
            await stage.control(f"encoders/{event['id']}", shape="clean")
        case _:
            await stage.control("reset", force=True)
    reason = b"the rehearsal clock is moved" if how == "reset" else b"the event does not take this stream any more"
    assert reason in await reader.read()
    await until(lambda: has_no_publisher(stage))


async def test_the_control_api_starts_a_simulated_encoder_after_a_real_one(stage: Stage) -> None:
    event = await stage.event()
    _, writer, _ = await stage.publish(event["streamkey"])
    writer.close()
    await until(lambda: has_no_publisher(stage))
    assert (await stage.control(f"encoders/{event['id']}", sending=True))["shape"] == "clean"


@pytest.mark.parametrize("garbage", [b"GET / HTTP/1.1\r\n\r\n", rtmp.HANDSHAKE + rtmp.set_chunk_size(0), b"\x16\3\1\2"])
async def test_garbage_is_cut_at_once_and_disturbs_nobody(stage: Stage, garbage: bytes) -> None:
    event = await stage.event()
    await stage.publish(event["streamkey"])
    for _ in range(20):
        reader, writer = await stage.connect()
        writer.write(garbage)
        await reader.read()
    assert len((await stage.control("ingest"))["publishers"]) == 1


async def test_connections_that_do_not_greet_or_publish_end(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listener, "HANDSHAKE_SECONDS", 0.01)
    reader, _ = await stage.connect()
    assert await ended(reader)
    monkeypatch.setattr(listener, "HANDSHAKE_SECONDS", 60)
    monkeypatch.setattr(listener, "PUBLISH_SECONDS", 0.01)
    reader, writer = await stage.connect()
    writer.write(rtmp.connect())
    assert await ended(reader)


async def ended(reader: asyncio.StreamReader) -> bool:
    with suppress(ConnectionResetError):
        await reader.read()
    return True


async def test_a_silent_publisher_is_cut(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publishers, "SILENT_SECONDS", 0.1)
    reader, _, _ = await stage.publish((await stage.event())["streamkey"])
    assert b"silent for" in await reader.read()
    await until(lambda: has_no_publisher(stage))
    [ended] = (await stage.control("ingest"))["ended"]
    assert (ended["event"]["name"], ended["reason"]) == ("Real", "silent for 0 s")
    assert ended["since"] <= ended["until"]


async def test_media_ahead_of_the_clock_is_not_read(stage: Stage) -> None:
    event = await stage.event()
    _, writer, _ = await stage.publish(event["streamkey"])
    minute = b"".join(rtmp.frame(number * 40, 20_000, is_key=number % 50 == 0) for number in range(1500))
    writer.write(minute)

    async def is_fast() -> bool:
        return [row["verdict"] for row in (await stage.control("ingest"))["publishers"]] == ["faster than real time"]

    await until(is_fast)
    assert writer.transport.get_write_buffer_size() > 0


async def test_the_listener_holds_64_connections(stage: Stage) -> None:
    held = [await stage.connect() for _ in range(64)]
    reader, _ = await stage.connect()
    assert await ended(reader)
    held[0][1].close()


async def test_after_twenty_refusals_a_peer_gets_silence(stage: Stage) -> None:
    for _ in range(20):
        assert b"unknown stream key" in await refusal(stage, "wrong")
    assert b"unknown" not in await refusal(stage, "wrong")
    _, _, answer = await stage.publish((await stage.event())["streamkey"])
    assert b"NetStream.Publish.Start" in answer


async def test_a_port_in_use_is_one_error(stage: Stage) -> None:
    port = int(stage.addresses.ingest_url.rpartition(":")[2].partition("/")[0])
    with pytest.raises(IngestError, match=f"cannot take RTMP at 127.0.0.1 port {port}"):
        async with serve(Simulator(), ingest=("127.0.0.1", port)):
            pass


def test_measured_samples_survive_a_restart_and_an_open_turn_ends(tmp_path: Path) -> None:
    store = Store(tmp_path / "samples")
    samples = MeasuredSamples(store)
    for tick in range(1, 4001):
        samples.add("stream", tick, Sample(tick, 1, 25, 0))
    samples.add("stream", 3999, Sample(0, 0, 0, 0))
    samples.save()
    store.close()
    again = MeasuredSamples(Store(tmp_path / "samples"))
    ticks = [tick for tick, _ in again.newest_first("stream", range(5000))]
    assert ticks == [*range(4000, 400, -1)]
    again.forget_after("stream", 500)
    assert again.last_tick("stream") == 500


async def test_a_killed_simulator_ends_the_open_turn_at_the_next_start(tmp_path: Path) -> None:
    file = tmp_path / "world"
    simulator = Simulator(seed=7, data=file, cadence=CADENCE)
    async with running(simulator) as stage:
        event = await stage.event()
        await stage.publish(event["streamkey"])
        copy = tmp_path / "copy"
        for suffix in ("", "-wal"):
            (tmp_path / f"copy{suffix}").write_bytes((tmp_path / f"world{suffix}").read_bytes())
    simulator.close()
    later = Simulator(data=copy, cadence=CADENCE)
    async with running(later) as stage:
        assert (await stage.control(f"encoders/{event['id']}", sending=False))["shape"] == "clean"
        assert (await stage.api(f"/v2/live/events/{event['id']}"))["stream"]["status"] == "live"
    later.close()


async def test_publishing_needs_a_clock_that_runs_at_speed_1() -> None:
    simulator = Simulator(seed=7, clock=SimulatorClock(speed=20))
    async with running(simulator) as stage:
        assert b"the rehearsal clock is moved" in await refusal(stage, (await stage.event())["streamkey"])


async def test_what_is_not_measured_is_null_and_a_moved_clock_shows_before_the_next_beat() -> None:
    async with running(Simulator(seed=7, cadence=60)) as stage:
        await stage.publish((await stage.event())["streamkey"])
        [shown] = (await stage.control("ingest"))["publishers"]
        assert (shown["verdict"], shown["status"], shown["speed"], shown["idle"]) == ("starting", None, None, None)
        await stage.control("clock", paused=True)
        ingest = await stage.control("ingest")
        assert ingest["publishers"] == []
        assert [row["reason"] for row in ingest["ended"]] == ["the rehearsal clock is moved"]

"""The wall as a page, over real connections: its content, its readers, its updates, and its limits."""

from __future__ import annotations

import asyncio
import contextlib
import re
import socket
import struct
from dataclasses import replace

import pytest
import pytest_asyncio
from pydantic import SecretStr

from cli.test_picture_size import PICTURES
from cli.wall_stage import data_of, model_of, served, with_poster
from livedeck import http_server
from livedeck.cli.exposure import Exposure
from livedeck.cli.wall import page as wall_page
from livedeck.cli.wall.page import MAX_VIEWERS
from livedeck.cli.wall.posters import MAX_BYTES
from livedeck.cli.wiring import make_api
from livedeck.client import Secret
from livedeck.http_server import Timeouts
from livedeck.monitor import Snapshot
from livedeck.settings import Settings
from ui.wall_stage import evening, many

PNG = PICTURES["png"]
FILES = ("/", "/wall.js", "/wall.css", "/colours.css", "/icon.svg")


@pytest_asyncio.fixture(scope="module", loop_scope="module", name="known")
async def _known() -> Snapshot:
    return await evening()


@pytest.mark.parametrize("path", [*FILES, "/updates"])
async def test_every_answer_has_the_policy_and_may_stand_in_no_frame(path: str) -> None:
    async with served() as outlet:
        answer, _ = await outlet.ask("HEAD", path)
    assert answer.status == 200
    directives = dict(part.strip().split(" ", 1) for part in answer.headers["Content-Security-Policy"].split(";"))
    assert directives == {
        "default-src": "'none'", "script-src": "'self'", "style-src": "'self'", "img-src": "'self'",
        "connect-src": "'self'", "base-uri": "'none'", "form-action": "'none'", "frame-ancestors": "'none'",
    }  # fmt: skip
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert "server" not in {name.lower() for name in answer.headers}


async def test_the_sites_that_were_named_may_hold_it_in_a_frame() -> None:
    exposure = Exposure(0, frame_ancestors=("https://desk.example", "'self'"))
    async with served(exposure=exposure) as outlet:
        answer, _ = await outlet.ask("GET", "/")
    assert answer.headers["Content-Security-Policy"].endswith("frame-ancestors https://desk.example 'self'")


async def test_all_that_the_page_names_is_served_beside_it_under_any_prefix() -> None:
    """A reverse proxy may put it anywhere: no address begins with a slash or a name."""
    async with served() as outlet:
        _, page = await outlet.ask("GET", "/")
        named = re.findall(r'(?:href|src)="([^"]+)"', page.decode())
        assert sorted(named) == sorted(path.lstrip("/") for path in FILES[1:])
        for path in named:
            answer, content = await outlet.ask("GET", f"/{path}")
            assert (answer.status, bool(content)) == (200, True)


async def test_who_has_a_file_already_is_not_sent_it_again() -> None:
    async with served() as outlet:
        first, _ = await outlet.ask("GET", "/wall.js")
        again, nothing = await outlet.ask("GET", "/wall.js", If_None_Match=first.headers["ETag"])
    assert (first.status, again.status, nothing) == (200, 304, b"")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
async def test_the_page_can_be_read_and_nothing_else(method: str) -> None:
    async with served() as outlet:
        for path in (*FILES, "/updates", "/posters/x"):
            refused, _ = await outlet.ask(method, path)
            assert refused.status == 405


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("evil.example", 400), ("127.0.0.1.evil.example", 400), ("localhost.evil.example:1", 400), ("", 400),
        ("localhost", 200), ("LOCALHOST:8080", 200), ("127.0.0.1:1", 200), ("[::1]:80", 200), ("wall.example:80", 200),
    ],
)  # fmt: skip
async def test_a_foreign_name_for_this_machine_is_refused(host: str, status: int) -> None:
    """A page of elsewhere whose name is made to point here must not read the wall."""
    with Exposure(0).listen() as free:
        port = free.getsockname()[1]
    exposure = Exposure(port, "127.0.0.1")
    named = replace(exposure, host="wall.example")
    assert named.allows(host) == (status == 200)
    async with served(exposure=exposure) as outlet:
        answer, _ = await outlet.ask("GET", "/", Host=host)
    assert answer.status == (400 if "wall.example" in host else status)


async def test_a_browser_is_sent_everything_once_then_what_changes(known: Snapshot) -> None:
    async with served(model_of(known)) as outlet, outlet.updates() as blocks:
        head = (await anext(blocks)).decode().lower()
        assert head.startswith("http/1.1 200")
        assert "content-type: text/event-stream" in head
        assert "cache-control: no-store" in head
        assert "x-accel-buffering: no" in head
        assert await anext(blocks) == b"retry: 2000\n\n"
        first = data_of(await anext(blocks))
        outlet.publisher.publish(model_of(known, 1))
        second = data_of(await anext(blocks))
    assert first["head"]["clock"] == "21:14:07"
    assert len(first["entries"]) == len(first["order"]) == len(first["times"])
    assert second["head"]["clock"] == "21:14:08"
    assert "order" not in second
    assert len(second["entries"]) == 1


async def test_a_slow_browser_gets_the_newest_and_the_numbers_tell_an_old_picture(known: Snapshot) -> None:
    async with served(model_of(known)) as outlet, outlet.updates() as blocks:
        await anext(blocks), await anext(blocks)
        first = await anext(blocks)
        for seconds in range(1, 6):
            outlet.publisher.publish(model_of(known, seconds))
        last = await anext(blocks)
        async with outlet.updates() as others:
            await anext(others), await anext(others)
            again = await anext(others)
    assert data_of(last)["head"]["clock"] == "21:14:12"
    ids = [block.split(b"\n")[0].rpartition(b"-") for block in (first, last, again)]
    assert [int(number) for *_, number in ids] == [1, 6, 6]
    assert len({version for version, *_ in ids}) == 1


async def test_while_nothing_comes_a_comment_is_sent_that_is_no_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wall_page, "SILENT_SECONDS", 0.01)
    async with served() as outlet, outlet.updates() as blocks:
        await anext(blocks), await anext(blocks)
        assert await anext(blocks) == b": nothing new\n\n"


async def test_a_stopped_monitor_is_told_to_every_browser(known: Snapshot) -> None:
    async with served(model_of(known)) as outlet, outlet.updates() as blocks:
        await anext(blocks), await anext(blocks), await anext(blocks)
        outlet.publisher.publish(model_of(known, 1, "the wallboard was closed"))
        told = data_of(await anext(blocks))
    assert "MONITOR STOPPED" in told["head"]["banners"][0][0]
    assert {entry["tone"] for entry in told["entries"].values()} == {"stale"}


async def test_one_browser_too_many_is_refused_and_let_in_once_another_has_left(known: Snapshot) -> None:
    async with served(model_of(known)) as outlet:
        async with asyncio.TaskGroup() as group:
            leave = asyncio.Event()
            inside = [asyncio.Event() for _ in range(MAX_VIEWERS)]

            async def look(entered: asyncio.Event) -> None:
                async with outlet.updates() as blocks:
                    await anext(blocks), await anext(blocks)
                    entered.set()
                    await leave.wait()

            for entered in inside:
                group.create_task(look(entered))
            for entered in inside:
                await entered.wait()
            refused, _ = await outlet.ask("GET", "/updates")
            page, _ = await outlet.ask("GET", "/")
            leave.set()
        outlet.publisher.publish(model_of(known, 1))
        async with outlet.updates() as blocks:
            while b" 200 " not in (await anext(blocks)):
                break
    assert (refused.status, refused.headers["Retry-After"], page.status) == (503, "10", 200)


@pytest.mark.parametrize("beginning", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: localhost\r\n"])
async def test_a_peer_that_never_ends_its_request_is_cut(beginning: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_server, "TIMEOUTS", Timeouts(head=0))
    async with served() as outlet, asyncio.timeout(30):
        reader, writer = await asyncio.open_connection("127.0.0.1", outlet.port)
        writer.write(beginning)
        with contextlib.suppress(ConnectionResetError):
            await reader.read()
        writer.close()


async def test_where_half_of_all_connections_are_in_use_nobody_waits_long_for_what_is_not_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(http_server, "TIMEOUTS", Timeouts(head=1000))
    monkeypatch.setattr(http_server, "CROWDED_SECONDS", 0)
    monkeypatch.setattr(wall_page, "MAX_VIEWERS", 1)
    async with served() as outlet, asyncio.timeout(30):
        idle = [await asyncio.open_connection("127.0.0.1", outlet.port) for _ in range(2)]
        for reader, writer in idle:
            with contextlib.suppress(ConnectionResetError):
                assert await reader.read() == b""
            writer.close()


async def test_a_peer_that_never_ends_its_body_is_cut_though_it_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_server, "TIMEOUTS", Timeouts(head=0))
    async with served() as outlet, asyncio.timeout(30):
        reader, writer = await asyncio.open_connection("127.0.0.1", outlet.port)
        writer.write(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n")
        with contextlib.suppress(ConnectionResetError, asyncio.IncompleteReadError):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"x")
            await reader.read()
        writer.close()


async def test_a_peer_that_never_reads_gives_its_place_back(known: Snapshot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_server, "TIMEOUTS", Timeouts(body=0))
    monkeypatch.setattr(http_server, "SEND_BUFFER", 4096)
    monkeypatch.setattr(wall_page, "MAX_VIEWERS", 1)
    models = [model_of(many(known, count)) for count in (60, 0)]
    async with served(models[0]) as outlet, asyncio.timeout(60):
        loop, refusals = asyncio.get_running_loop(), 0
        with socket.socket() as deaf:
            deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            deaf.setblocking(False)
            await loop.sock_connect(deaf, ("127.0.0.1", outlet.port))
            await loop.sock_sendall(deaf, b"GET /updates HTTP/1.1\r\nHost: localhost\r\n\r\n")
            while refusals < 2000:
                outlet.publisher.publish(models[refusals % 2])
                async with outlet.updates() as blocks:
                    if b" 200 " in await anext(blocks) and refusals:
                        break
                    refusals += 1
        assert 0 < refusals < 2000


@pytest.mark.parametrize(
    ("content", "media_type"),
    [
        (PNG, "image/png"), (PICTURES["jpeg"], "image/jpeg"), (PICTURES["gif"], "image/gif"),
        (PICTURES["webp"], "image/webp"), (b"<svg onload=alert(1)>", None), (b"<html>", None), (b"", None),
        (PNG[:16] + struct.pack(">II", 60_000, 60_000) + PNG[24:], None),
        (PNG[:16] + struct.pack(">II", 1, 5000) + PNG[24:], None),
    ],
)  # fmt: skip
async def test_a_poster_is_what_its_bytes_say_and_nothing_but_a_picture(
    known: Snapshot, content: bytes, media_type: str | None
) -> None:
    asked = list[str]()

    async def fetch(link: Secret | str, most: int, _summary: str) -> bytes:
        assert isinstance(link, Secret)
        assert most == MAX_BYTES
        asked.append(link.reveal())
        return content

    address = "https://cdn.example/poster.svg?sign=0123456789abcdef"
    shown = replace(known, events=(with_poster(known.events[1], address),))
    async with served(model_of(shown), fetch=fetch) as outlet, outlet.updates() as blocks:
        await anext(blocks), await anext(blocks)
        (entry,) = data_of(await anext(blocks))["entries"].values()
        answers = [await outlet.ask("GET", f"/{entry['poster']}") for _ in range(3)]
        unknown, _ = await outlet.ask("GET", "/posters/0123456789abcdef")
    status = 404 if media_type is None else 200
    assert {answer.status for answer, _ in answers} == {status}
    assert all(answer.headers["Content-Type"] == media_type for answer, _ in answers if media_type)
    assert all("default-src 'none'" in answer.headers["Content-Security-Policy"] for answer, _ in answers)
    assert asked == [address]
    assert unknown.status == 404


@pytest.mark.parametrize(("platform", "is_asked"), [("https://192.0.2.1", False), ("http://127.0.0.1:1", True)])
async def test_a_poster_on_this_machine_is_asked_for_where_the_platform_is_there_too(
    known: Snapshot, platform: str, is_asked: bool
) -> None:
    """By the client's own rule: what the platform answers leads to where the platform is, or to the world."""
    asked = list[bytes]()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(f"HTTP/1.0 200 OK\r\nContent-Length: {len(PNG)}\r\n\r\n".encode() + PNG)
        writer.close()

    settings = Settings(base_url=platform, token=SecretStr("t" * 20), read_only=True)
    async with await asyncio.start_server(answer, "127.0.0.1", 0) as site, make_api(settings) as api:
        port = site.sockets[0].getsockname()[1]
        event = with_poster(known.events[1], f"http://127.0.0.1:{port}/p.png")
        async with served(model_of(replace(known, events=(event,))), fetch=api.cdn.content) as outlet:
            _, page = await outlet.publisher.page()
            assert page
            (poster,) = page.posters
            response, body = await outlet.ask("GET", f"/{poster}")
    assert (response.status, body) == ((200, PNG) if is_asked else (404, b"no picture\n"))
    assert len(asked) == is_asked
    assert not any(b"authorization" in request.lower() for request in asked)

"""Every running program takes a replaced token from its file, over real HTTP; no other source is read again."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from pydantic import SecretStr

from cli.foreign import foreign_platform
from cli.programs import programs, words
from cli.starts import LIVEDECK
from cli.terminals import terminal
from livedeck.cli.wiring import make_api, make_monitor
from livedeck.client import Api, Unauthorized
from livedeck.monitor import ConnectionState
from livedeck.settings import Settings

OLD, NEW, OTHER = "the-token-of-monday", "the-token-of-tuesday", "the-token-of-another-platform"


class Gate:
    """Platform that accepts one token. `seen`: method and token of every request."""

    def __init__(self) -> None:
        self.token, self.seen = OLD, list[tuple[str, str]]()

    @asynccontextmanager
    async def serve(self) -> AsyncIterator[str]:
        """Yield the platform's address."""
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        try:
            yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        finally:
            server.close()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            method, target, _ = head.split(" ", 2)
            token = head.lower().partition("authorization: bearer ")[2].partition("\r\n")[0]
            self.seen.append((method, token))
            status = 200 if token == self.token else 401
            empty = {"meta": {"pagination": {"page": 1, "per_page": 100, "total": 0}}, "data": []}
            refusal = {"error": {"code": 401401, "message": "Unauthorized"}}
            found: Mapping[str, object] = {"data": []} if target.endswith("qos") else empty
            body = json.dumps(refusal if status == 401 else found).encode()
            writer.write(b"HTTP/1.1 %d X\r\nContent-Length: %d\r\n" % (status, len(body)))
            writer.write(b"Connection: close\r\n\r\n" + body)
            await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


def replace_token(file: Path, token: str) -> None:
    """Replace the file with a new one, as a rotation does."""
    fresh = file.with_suffix(".new")
    fresh.touch(mode=0o600)
    fresh.write_text(f"{token}\n")
    fresh.replace(file)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    replace_token(tmp_path / "token", OLD)
    return tmp_path / "token"


async def _list(api: Api) -> None:
    await api.events.list()


async def _poll(api: Api) -> None:
    await api.without_retry().qos.get("event")


@pytest.mark.parametrize("read", [_list, _poll])
async def test_a_read_that_meets_the_new_token_is_answered(file: Path, read: Callable[[Api], Awaitable[None]]) -> None:
    gate = Gate()
    async with gate.serve() as address, make_api(Settings(base_url=address, token_file=file)) as api:
        await read(api)
        gate.token = NEW
        replace_token(file, NEW)
        await read(api)
        await read(api)
    assert [token for _, token in gate.seen] == [OLD, OLD, NEW, NEW]


async def test_a_monitor_goes_on_with_the_new_token_and_never_says_that_it_was_refused(file: Path) -> None:
    """The deck, the wall and `alarms --follow` show what it says."""
    gate = Gate()
    async with gate.serve() as address, make_api(Settings(base_url=address, token_file=file)) as api:
        monitor = make_monitor(api)
        await monitor.wait_ready()
        gate.token = NEW
        replace_token(file, NEW)
        snapshot = await make_monitor(api).wait_ready()
    assert snapshot.link.state is ConnectionState.OK
    assert {token for _, token in gate.seen} == {OLD, NEW}


async def test_a_change_that_meets_the_new_token_is_sent_once_and_the_next_one_goes_through(file: Path) -> None:
    gate = Gate()
    async with gate.serve() as address, make_api(Settings(base_url=address, token_file=file)) as api:
        gate.token = NEW
        replace_token(file, NEW)
        with pytest.raises(Unauthorized):
            await api.events.delete("event")
        assert gate.seen == [("DELETE", OLD)]
        await api.events.list()
    assert gate.seen[1:] == [("GET", NEW)]


async def test_a_token_that_stays_refused_says_which_file_and_what_to_do(file: Path) -> None:
    gate = Gate()
    gate.token = NEW
    async with gate.serve() as address, make_api(Settings(base_url=address, token_file=file)) as api:
        with pytest.raises(Unauthorized) as refusal:
            await api.events.list()
        assert str(refusal.value).startswith(
            f"token_file {file}: write another token there; livedeck rereads it without a restart"
        )
    assert OLD not in str(refusal.value)


async def test_the_token_of_the_environment_is_not_exchanged_for_that_of_a_file(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate()
    gate.token = NEW
    replace_token(file, OTHER)
    monkeypatch.setenv("LIVEDECK_TOKEN_FILE", str(file))
    async with gate.serve() as address, make_api(Settings(base_url=address, token=SecretStr(OLD))) as api:
        with pytest.raises(Unauthorized, match="Set another LIVEDECK_TOKEN and restart livedeck"):
            await api.events.list()
    assert {token for _, token in gate.seen} == {OLD}


def test_a_deck_goes_on_with_the_new_token_shows_nothing_of_that_and_names_the_file_of_one_that_stays_refused(
    file: Path,
) -> None:
    with foreign_platform() as platform:
        platform.token = OLD
        env = {"LIVEDECK_BASE_URL": platform.address, "LIVEDECK_TOKEN_FILE": str(file)}
        with terminal(file.parent, size=(200, 40), program=LIVEDECK, **env) as deck:
            deck.until("100 GOOD")
            platform.token = NEW
            replace_token(file, NEW)
            platform.requests.clear()
            while [status for _, _, status in platform.requests].count(200) < 5:
                deck.pause(0.2)
            assert not re.search("REFUSED|AUTH_FAILED|FAILING|STALE", words(deck.written))
            platform.token = OTHER
            deck.until(f"TOKEN REFUSED since .*token_file {file}: write another token there")
            replace_token(file, OTHER)
            deck.until("link ok")


@pytest.mark.slow
def test_every_program_that_runs_on_goes_on_with_the_new_token(file: Path) -> None:
    with foreign_platform() as platform:
        platform.token = OLD
        with programs(file.parent, platform, (120, 40), LIVEDECK_TOKEN_FILE=str(file)) as running:
            running.live(5)
            platform.token = NEW
            replace_token(file, NEW)
            running.live(20)
            assert running.event_criticals() == []
            assert running.kinds_shown() == set()
            assert not re.search("REFUSED|FAILING", words(running.deck.written) + words(running.wall.written))
        assert {status for _, _, status in platform.requests[-20:]} == {200}

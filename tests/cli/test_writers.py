"""Several commands change one object at the same time, as processes of their own, over HTTP (trust.md, "Writers")."""

from __future__ import annotations

import asyncio
import fcntl
import json
import signal
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest
from starlette.applications import Starlette

from breadth import slow
from cli.commands import environment
from cli.starts import LIVEDECK, Start
from livedeck.client import Api, EventDraft, EventRestreamDraft, Secret
from livedeck.simulator import Simulator, serve

NAME = "Main stage"

PATIENCE = 300
"""Maximum seconds of the whole test: twenty interpreters start on a shared machine."""


@dataclass
class Ended:
    """End of a command. `result`: its JSON."""

    code: int
    result: dict[str, Any]
    errors: str

    @property
    def is_done(self) -> bool:
        """True if it reported done, and nothing less."""
        return (self.code, self.result["verdict"]) == (0, "done")


async def read(process: Start[bytes]) -> tuple[bytes, bytes]:
    """Return output and errors of a command after its end."""
    return await asyncio.to_thread(process.communicate, None, PATIENCE)


@dataclass
class Platform:
    """Simulator with one event, over HTTP. `other`: a client that does not use our locks.

    `writes`: names that were sent. `reads`: names that were read since a command began. `gate`: first reads are
    answered only after all of them have come. `before_write`, `after_write`: functions for these moments, called once
    each; `before_read`: called before a command reads the event again. `on_read`: called at each read.
    """

    home: Path
    env: dict[str, str]
    other: Api
    event: str = ""
    writes: list[str] = field(default_factory=list)
    reads: list[str] = field(default_factory=list)
    gate: asyncio.Barrier | None = None
    on_read: Callable[[], None] = lambda: None
    after_write: list[Callable[[], Awaitable[object]]] = field(default_factory=list)
    before_read: list[Callable[[], Awaitable[object]]] = field(default_factory=list)
    before_write: list[Callable[[], Awaitable[object]]] = field(default_factory=list)

    async def name(self) -> str:
        """Return the name of the event on the platform."""
        return (await self.other.events.get(self.event)).name or ""

    async def rename(self, name: str) -> None:
        """Rename the event as somebody else on another machine."""
        await self.other.events.update(self.event, EventDraft(name=name))

    def start(self, *words: str, **env: str) -> Start[bytes]:
        """Start a command."""
        return Start(
            [*LIVEDECK, *words],
            env=environment(self.home, **self.env, **env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    async def edit(self, name: str, *flags: str) -> Ended:
        """Rename the event by the command."""
        self.reads.clear()
        process = self.start("event", "edit", self.event, "--name", name, "--yes", "--json", *flags)
        output, errors = await read(process)
        return Ended(process.returncode or 0, json.loads(output or b"{}"), errors.decode())

    async def race(self, count: int) -> list[Ended]:
        """Start `count` commands, all of which read the event before any of them continues."""
        self.gate = asyncio.Barrier(count)
        return await asyncio.gather(*(self.edit(f"writer {number}") for number in range(count)))

    async def pass_gate(self) -> None:
        """Wait until all first reads have come. Later reads pass at once."""
        if self.gate is not None:
            async with asyncio.timeout(PATIENCE):
                await self.gate.wait()
            self.gate = None


@asynccontextmanager
async def platform(home: Path) -> AsyncIterator[Platform]:
    """Yield a platform that records the reads and writes of its one event."""
    simulator = Simulator(seed=1)
    app = simulator.app

    async def noting(scope: Any, receive: Any, send: Any) -> None:
        path, method = scope["path"], scope["method"]
        is_ours = bool(made.event) and path.endswith(made.event)
        body = bytearray()

        async def noting_send(message: Any) -> None:
            body.extend(message.get("body", b""))
            if is_ours and message["type"] == "http.response.body" and not message.get("more_body"):
                name = json.loads(body)["data"]["name"]
                if method == "GET":
                    made.reads.append(name)
                    made.on_read()
                else:
                    made.writes.append(name)
                    if made.after_write:
                        await made.after_write.pop(0)()
            await send(message)

        if is_ours and method == "GET":
            await made.pass_gate()
            if made.before_read and made.reads:
                await made.before_read.pop(0)()
        if is_ours and method == "PUT" and made.before_write:
            await made.before_write.pop(0)()
        await app(scope, receive, noting_send)

    outside = Api(base_url="http://127.0.0.1", upload_url="http://127.0.0.1/upload", token=simulator.token, mount=app)
    simulator.app = cast("Starlette", noting)  # any ASGI app is served
    async with serve(simulator) as addresses, outside:
        env = {
            "LIVEDECK_BASE_URL": addresses.base_url,
            "LIVEDECK_UPLOAD_URL": addresses.upload_url,
            "LIVEDECK_TOKEN": simulator.token,
            "LIVEDECK_TIMEOUT": "60",
        }
        made = Platform(home, env, outside)
        events = (await outside.events.list(per_page=100)).items
        made.event = next(event.id for event in events if event.name == "Untitled event")
        await made.rename(NAME)
        yield made
    simulator.close()


@pytest.mark.parametrize("count", [2, 5, *slow(20)])
async def test_of_writers_that_read_the_same_one_is_told_done_and_the_platform_has_what_it_sent(
    tmp_path: Path, count: int
) -> None:
    async with platform(tmp_path) as stage:
        ended = await stage.race(count)
        (winner,) = [number for number, end in enumerate(ended) if end.is_done]
        assert await stage.name() == f"writer {winner}"
        assert stage.writes == [f"writer {winner}"]
        for end in ended[:winner] + ended[winner + 1 :]:
            assert (end.code, end.result["verdict"]) == (3, "refused"), end
            assert f'its name was "{NAME}" and is "writer {winner}" now' in end.result["text"]


async def test_what_is_told_done_was_so_when_it_was_read_back_though_others_write_elsewhere(tmp_path: Path) -> None:
    """No lock of ours holds them. Every second change that is taken is overwritten before its answer has arrived."""
    async with platform(tmp_path) as stage:
        told = list[bool]()
        for number in range(4):
            if number % 2:
                stage.after_write.append(partial(stage.rename, f"outside {number}"))
            end = await stage.edit(f"writer {number}")
            assert stage.writes[-1] == f"writer {number}"
            assert end.is_done == (stage.reads[-1] == f"writer {number}")
            told.append(end.is_done)
        assert told == [True, False] * 2


async def test_a_change_that_somebody_overwrites_at_once_is_told_with_what_the_platform_has(tmp_path: Path) -> None:
    async with platform(tmp_path) as stage:
        stage.after_write.append(partial(stage.rename, "Their name"))
        end = await stage.edit("Our name")
        assert (end.code, end.result["verdict"]) == (6, "accepted")
        assert end.result["text"] == f'accepted, but {NAME} now has name "Their name", set by somebody else'
        stage.after_write.append(partial(stage.rename, "Their name"))
        words = ("event", "edit", stage.event, "--name", "Our name", "--yes")
        plain = stage.start(*words)
        output, errors = await read(plain)
        assert (plain.returncode, output) == (6, b"")
        assert b'livedeck: event edit: accepted, but Their name has name "Their name", as before\n' in errors


async def test_what_changed_before_it_was_sent_is_overwritten_by_the_flag_alone(tmp_path: Path) -> None:
    async with platform(tmp_path) as stage:
        for flags, code, verdict in (((), 3, "refused"), (("--overwrite",), 0, "done")):
            stage.before_read.append(partial(stage.rename, f"Their name {code}"))
            end = await stage.edit("Our name", *flags)
            assert (end.code, end.result["verdict"]) == (code, verdict), end
        assert await stage.name() == "Our name"
        refused = await stage.edit("Our name", "--overwrite", "--if-unchanged", "token")
        assert (refused.code, "exclude each other" in refused.errors) == (2, True)


async def test_fields_that_differ_are_named_with_both_values_and_no_secret(tmp_path: Path) -> None:
    async with platform(tmp_path) as stage:
        restream = EventRestreamDraft(name="CDN", url="rtmp://live.example/app", key=Secret("the-cdn-key-4711"))
        await stage.other.events.update(stage.event, EventDraft(restreams=(restream,)))
        another = EventRestreamDraft(
            name="CDN", url="rtmp://live.example/app/inner-key-1", key=Secret("a-new-key-9f21")
        )
        draft = EventDraft(reconnect_window=120, chat_active=True, restreams=(another,))
        stage.before_read.append(partial(stage.other.events.update, stage.event, draft))
        end = await stage.edit("Our name")
        assert end.code == 3
        assert "its reconnect window was 600 and is 120 now; " in end.result["text"]
        assert "its chat was no and is yes now; " in end.result["text"]
        assert "rtmp://live.example/app" in end.result["text"]
        said = json.dumps(end.result) + end.errors
        assert not [key for key in ("the-cdn-key", "a-new-key", "inner-key") if key in said]


async def test_a_writer_that_is_killed_with_the_lock_holds_nobody_up(tmp_path: Path) -> None:
    async with platform(tmp_path) as stage:
        arrived, never = asyncio.Event(), asyncio.Event()

        async def hang() -> None:
            arrived.set()
            await never.wait()

        stage.before_write.append(hang)
        process = stage.start("event", "edit", stage.event, "--name", "Killed", "--yes")
        await asyncio.wait_for(arrived.wait(), PATIENCE)
        (lock,) = (tmp_path / ".local/state/livedeck/locks").iterdir()
        assert not is_free(lock)
        process.send_signal(signal.SIGKILL)
        await read(process)
        assert is_free(lock)
        asked = await stage.edit("Next")  # what became of the one that was killed is not known
        assert (asked.code, "has no verdict yet" in asked.errors) == (2, True)
        assert (await stage.edit("Next", "--confirm", NAME)).is_done
        assert not lock.exists()
        never.set()


def is_free(path: Path) -> bool:
    """Return whether no process holds that lock."""
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


async def test_a_writer_waits_for_the_one_that_is_under_way_and_is_told_its_end(tmp_path: Path) -> None:
    """Not that it has no verdict: it has one soon."""
    async with platform(tmp_path) as stage:
        first = asyncio.Event()
        goes_on = asyncio.Event()

        async def hang() -> None:
            first.set()
            await goes_on.wait()

        stage.before_write.append(hang)
        winner = asyncio.ensure_future(stage.edit("First"))
        await asyncio.wait_for(first.wait(), PATIENCE)
        seen = asyncio.Event()
        stage.on_read = seen.set
        loser = asyncio.ensure_future(stage.edit("Second"))
        await asyncio.wait_for(seen.wait(), PATIENCE)  # it has read, and waits
        goes_on.set()
        assert (await winner).is_done
        end = await loser
        assert (end.code, end.result["verdict"]) == (3, "refused")
        assert f'its name was "{NAME}" and is "First" now' in end.result["text"]


async def test_a_state_folder_that_cannot_be_written_is_told_and_keeps_no_change_from_being_sent(
    tmp_path: Path,
) -> None:
    async with platform(tmp_path) as stage:
        (tmp_path / "state").write_text("a file where a folder should be")
        words = ("event", "edit", stage.event, "--name", "Unlocked", "--yes")
        process = stage.start(*words, XDG_STATE_HOME=str(tmp_path / "state"))
        _, errors = await read(process)
        assert process.returncode == 0, errors
        assert b"locks cannot be written" in errors
        assert b"may change Main stage at the same time" in errors
        assert await stage.name() == "Unlocked"


async def test_two_objects_are_changed_side_by_side(tmp_path: Path) -> None:
    """Each object has a lock of its own: one that hangs keeps no other waiting."""
    async with platform(tmp_path) as stage:
        arrived, goes_on = asyncio.Event(), asyncio.Event()

        async def hang() -> None:
            arrived.set()
            await goes_on.wait()

        stage.before_write.append(hang)
        slow_one = asyncio.ensure_future(stage.edit("Slow"))
        await asyncio.wait_for(arrived.wait(), PATIENCE)
        process = stage.start("event", "edit", "Rehearsal Tuesday", "--chat-active", "--yes")
        await read(process)
        assert process.returncode == 0
        goes_on.set()
        assert (await slow_one).is_done

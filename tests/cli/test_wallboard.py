"""`livedeck wall` from outside: its file, its token, and its behaviour during an outage."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Awaitable, Callable, MutableMapping
from datetime import datetime, timedelta
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from pydantic import SecretStr
from structlog.testing import capture_logs

from cli.commands import called
from livedeck.atomic_file import replace_file
from livedeck.cli.exposure import Exposure
from livedeck.cli.screenshots import EVENING
from livedeck.cli.wall.command import parse_terms
from livedeck.cli.wall.picture import SvgPublisher
from livedeck.cli.wiring import make_api, make_monitor
from livedeck.monitor import ConnectionState, Snapshot
from livedeck.presentation.filtering import Term
from livedeck.presentation.render_time import RenderTime
from livedeck.settings import Settings
from livedeck.simulator import Simulator, SimulatorClock
from livedeck.text.segments import StyleRole
from livedeck.ui.kit import themes
from livedeck.ui.wallboard.app import Picture
from livedeck.ui.wallboard.model import wall_model
from ui.wall_stage import evening, lines, text
from virtual_clock import VirtualClock

Message = MutableMapping[str, Any]


def _picture(said: str) -> Picture:
    return Picture(([(said, StyleRole.TEXT)],), (40, 1), themes.PALETTES["dark"], dim=False)


async def test_the_file_is_whole_at_any_moment_and_follows_the_wall(tmp_path: Path) -> None:
    publisher, target = SvgPublisher(), tmp_path / "wall.svg"
    async with publisher.write_to(target):
        for number in range(20):
            publisher.publish(_picture(f"picture-{number}"))
            while f"picture-{number}<" not in _read(target):  # noqa: ASYNC110  a file tells nobody
                await asyncio.sleep(0)
            assert _read(target).endswith("</svg>\n")
    assert _names(tmp_path) == ["wall.svg"]


async def test_the_last_picture_is_in_the_file_when_the_wall_has_ended(tmp_path: Path) -> None:
    publisher, target = SvgPublisher(), tmp_path / "wall.svg"
    async with publisher.write_to(target):
        publisher.publish(_picture("last"))
    assert "last<" in _read(target)


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


def _names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


async def test_a_folder_that_vanishes_stops_nothing(tmp_path: Path) -> None:
    publisher, target = SvgPublisher(), tmp_path / "gone" / "wall.svg"
    async with asyncio.timeout(30), publisher.write_to(target):
        with capture_logs() as logs:
            publisher.publish(_picture("one"))
            while not logs:  # noqa: ASYNC110  a thread tells nobody
                await asyncio.sleep(0)
            target.parent.mkdir()
            publisher.publish(_picture("two"))
            while not target.exists():  # noqa: ASYNC110  a file tells nobody
                await asyncio.sleep(0)
    assert logs[0]["path"] == str(target)
    assert logs[0]["reason"] == "No such file or directory"


async def test_a_picture_that_cannot_be_drawn_is_not_the_last_one(tmp_path: Path) -> None:
    publisher, target, tried = SvgPublisher(), tmp_path / "wall.svg", Event()

    class Broken(Picture):
        def svg(self) -> str:
            tried.set()
            raise KeyError

    async with asyncio.timeout(30), publisher.write_to(target):
        publisher.publish(Broken((), (40, 1), themes.PALETTES["dark"], dim=False))
        while not tried.is_set():  # noqa: ASYNC110  a thread tells nobody
            await asyncio.sleep(0)
        publisher.publish(_picture("sound"))
        while "sound" not in _read(target):  # noqa: ASYNC110  a file tells nobody
            await asyncio.sleep(0)


async def test_a_link_to_the_file_stays_a_link(tmp_path: Path) -> None:
    publisher, link, target = SvgPublisher(), tmp_path / "wall.svg", tmp_path / "elsewhere.svg"
    link.symlink_to(target)
    async with asyncio.timeout(30), publisher.write_to(link):
        publisher.publish(_picture("one"))
        while "one" not in _read(target):
            assert link.is_symlink()
            await asyncio.sleep(0)


def test_a_folder_that_is_not_there_is_said_before_anything_is_shown(tmp_path: Path) -> None:
    env = {"LIVEDECK_BASE_URL": "http://127.0.0.1:1", "LIVEDECK_TOKEN": "t" * 20}
    target = tmp_path / "none" / "wall.svg"
    done = called(tmp_path, "wall", "--svg", str(target), env=env)
    assert done.returncode == 1
    assert f"{target}: No such file or directory" in done.stderr


@pytest.mark.parametrize("kind", ["folder", "device", "pipe", "socket", "link to a device", "link of another user"])
def test_what_is_no_file_is_refused_at_the_start_and_stays(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "wall.svg"
    master, slave = os.openpty()  # a device in whose folder nothing can be made, whatever a fault of ours tries
    device = Path(os.ttyname(slave))
    match kind:
        case "folder":
            target.mkdir()
        case "device":
            target = device
        case "pipe":
            os.mkfifo(target)
        case "socket":
            monkeypatch.chdir(tmp_path)
            with socket.socket(socket.AF_UNIX) as bound:
                bound.bind("wall.svg")
        case "link to a device":
            target.symlink_to(device)
        case _:
            target.symlink_to(tmp_path / "elsewhere.svg")
            somebody = 12_345
            if os.geteuid():
                monkeypatch.setattr(os, "geteuid", lambda: somebody)
            else:
                os.lchown(target, somebody, -1)
    before = target.lstat()
    env = {"LIVEDECK_BASE_URL": "http://127.0.0.1:1", "LIVEDECK_TOKEN": "t" * 20}
    done = called(tmp_path, "wall", "--svg", str(target), env=env)
    with pytest.raises(OSError, match=r"not a regular file|another user|Is a directory"):
        replace_file(target, b"picture")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert f"--svg {target}: " in done.stderr
    after = target.lstat()
    os.close(master)
    os.close(slave)
    assert (after.st_ino, after.st_mode) == (before.st_ino, before.st_mode)
    assert not (tmp_path / "elsewhere.svg").exists()


def test_a_picture_is_not_written_through_a_link_beside_it(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("theirs")
    (tmp_path / f".wall.svg.{os.getpid()}").symlink_to(victim)
    replace_file(tmp_path / "wall.svg", b"picture")
    assert (tmp_path / "wall.svg").stat().st_mode & 0o777 == 0o644
    assert (victim.read_text(), (tmp_path / "wall.svg").read_bytes()) == ("theirs", b"picture")


def test_a_filter_that_is_none_is_refused_by_its_name(tmp_path: Path) -> None:
    done = called(tmp_path, "wall", "--filter", "helth<70")
    assert done.returncode == 2
    assert "--filter: no field 'helth'" in done.stderr
    assert "health" in done.stderr


async def test_a_project_is_told_by_its_whole_id_beside_a_filter() -> None:
    known = await evening()
    project = next(str(state.event.parent_id) for state in known.events if state.event.parent_id)
    wanted = {state.id for state in known.events if state.event.parent_id == project}
    assert 0 < len(wanted) < len(known.events)

    def passing(conditions: tuple[Term, ...]) -> int:
        return wall_model(known, RenderTime.from_snapshot(known, EVENING), conditions).matching

    assert passing(parse_terms("", project.upper())) == len(wanted)
    assert passing(parse_terms("nowhere", project)) == passing(parse_terms("", project[:-1])) == 0
    assert passing(parse_terms("", None)) == len(known.events)


def test_a_port_that_is_taken_is_said(tmp_path: Path) -> None:
    with Exposure(0).listen() as listener:
        port = str(listener.getsockname()[1])
        env = {"LIVEDECK_BASE_URL": "http://127.0.0.1:1", "LIVEDECK_TOKEN": "t" * 20}
        done = called(tmp_path, "wall", "--http", port, env=env)
    assert done.returncode == 1
    assert f"port {port} of this machine: Address already in use" in done.stderr


@pytest.mark.parametrize("origin", ["*", "https:", "https://desk.example/page", "'none'; script-src *", "a b"])
def test_what_is_no_origin_is_refused_as_an_ancestor(tmp_path: Path, origin: str) -> None:
    done = called(tmp_path, "wall", "--http", "0", "--frame-ancestors", origin)
    assert done.returncode == 2
    assert f"{origin!r} is not an origin" in done.stderr


def test_without_a_terminal_it_prints_the_status_and_says_so(tmp_path: Path) -> None:
    env = {"LIVEDECK_BASE_URL": "http://127.0.0.1:1", "LIVEDECK_TOKEN": "t" * 20}
    done = called(tmp_path, "wall", env=env)
    assert done.returncode == 4
    assert "printing the status instead" in done.stderr


class Platform:
    """Simulated platform on a clock of the test. It can be dead, or want another token."""

    def __init__(self, clock: VirtualClock) -> None:
        self._clock, self.simulator_clock = clock, SimulatorClock(start=EVENING, paused=True)
        self.simulator = Simulator(clock=self.simulator_clock)
        self.dead, self.methods = False, set[str]()

    async def app(
        self, scope: Message, receive: Callable[[], Awaitable[Message]], send: Callable[[Message], Awaitable[None]]
    ) -> None:
        """The ASGI app."""
        self.methods.add(scope["method"])
        if self.dead:
            raise ConnectionResetError
        self.simulator_clock.change(jump=self._clock.now())
        await self.simulator.app(scope, receive, send)


async def test_a_token_that_was_renewed_in_its_file_is_taken_without_a_restart(tmp_path: Path) -> None:
    clock = VirtualClock(EVENING)
    platform, file, refused = Platform(clock), tmp_path / "token", list[bool]()
    file.write_text("one-that-ran-out\n")
    file.chmod(0o600)
    settings = Settings(base_url="http://127.0.0.1:8787", token_file=file, read_only=True)

    async def watch() -> Snapshot:
        async with make_api(settings, clock=clock, mount=platform.app) as api:
            monitor = make_monitor(api, clock)
            async for snapshot in monitor.snapshots():
                refused.append(snapshot.link.is_unauthorized)
                if len(refused) == 20:
                    file.write_text(f"{platform.simulator.token}\n")
                if snapshot.link.state is ConnectionState.OK and snapshot.events:
                    return snapshot
        raise AssertionError

    snapshot = await clock.run(watch())
    assert any(refused[:20])
    assert len(snapshot.events) == 12


async def test_a_new_token_that_cannot_be_read_is_told_on_the_wall(tmp_path: Path) -> None:
    """Whoever put it there looks at the wall, not into a log: which file it is, and what to do."""
    clock = VirtualClock(EVENING)
    platform, file = Platform(clock), tmp_path / "token"
    file.write_text("one-that-ran-out\n")
    file.chmod(0o600)
    settings = Settings(base_url="http://127.0.0.1:8787", token_file=file, read_only=True)

    async def watch() -> tuple[Snapshot, Snapshot]:
        told: Snapshot | None = None
        async with make_api(settings, clock=clock, mount=platform.app) as api:
            monitor = make_monitor(api, clock)
            async for snapshot in monitor.snapshots():
                if snapshot.link.is_unauthorized and told is None:
                    file.write_text(f"{platform.simulator.token}\n")
                    file.chmod(0o644)
                if "others can read it" in snapshot.link.reason and told is None:
                    told = snapshot
                    file.chmod(0o600)
                if told and snapshot.link.state is ConnectionState.OK and snapshot.events:
                    return told, snapshot
                if snapshot.seq == 200:
                    break
        raise AssertionError

    told, mended = await clock.run(watch())
    assert f"chmod 600 {file}" in told.link.reason
    assert told.link.is_unauthorized
    assert platform.simulator.token not in text(lines(told, (400, 100), now=told.at))
    assert not mended.link.reason


async def test_a_wall_that_ends_leaves_no_call_behind() -> None:
    """What was asked is cancelled before the client is closed, not whenever its garbage is collected."""
    clock = VirtualClock(EVENING)
    settings = Settings(base_url="http://127.0.0.1:8787", token=SecretStr("t" * 20), read_only=True)

    async def silent(*_: object) -> None:
        await asyncio.Event().wait()

    async def watch() -> set[asyncio.Task[Any]]:
        before = asyncio.all_tasks()
        async with make_api(settings, clock=clock, mount=silent) as api:
            monitor = make_monitor(api, clock)
            snapshots = monitor.snapshots()
            while (await anext(snapshots)).seq < 2 or asyncio.all_tasks() == before:
                pass
            await snapshots.aclose()
            return asyncio.all_tasks() - before

    assert not await clock.run(watch())


async def test_an_hour_without_the_platform_is_shown_as_that_and_is_over_when_it_is_over() -> None:
    """Acceptance: the wall shows the truth throughout, and needs no hand."""
    clock = VirtualClock(EVENING)
    platform = Platform(clock)
    settings = Settings(base_url="http://127.0.0.1:8787", token=SecretStr(platform.simulator.token), read_only=True)
    dies, returns = EVENING + timedelta(minutes=1), EVENING + timedelta(minutes=61)
    died: list[datetime] = []

    async def watch() -> Snapshot:
        async with make_api(settings, clock=clock, mount=platform.app) as api:
            monitor = make_monitor(api, clock)
            async for snapshot in monitor.snapshots():
                platform.dead = dies <= clock.now() < returns
                if platform.dead:
                    died.append(clock.now())  # a snapshot may come some time after the minute
                if platform.dead and (clock.now() - died[0]).total_seconds() > 40 and snapshot.seq % 10 == 0:
                    drawn = text(lines(snapshot, (80, 24), now=clock.now()))
                    assert "MONITORING BLIND" in drawn
                    assert "GOOD" not in drawn
                if clock.now() > returns and snapshot.link.state is ConnectionState.OK:
                    return snapshot
        raise AssertionError

    snapshot = await clock.run(watch())
    assert (snapshot.at - returns).total_seconds() < 60
    assert "MONITORING BLIND" not in text(lines(snapshot, (80, 24), now=clock.now()))
    assert platform.methods <= {"GET", "HEAD"}


@pytest.mark.parametrize("arguments", [("wall", "--at", "-15m"), ("--at", "-15m", "wall")])
def test_the_wall_is_never_in_the_past(arguments: tuple[str, ...], tmp_path: Path) -> None:
    """Who looks up takes it for now: refused, wherever the moment stands."""
    done = called(tmp_path, *arguments)
    assert done.returncode == 2
    assert "--at" in done.stderr
    assert "the deck" in done.stderr
    assert "No such option" not in done.stderr

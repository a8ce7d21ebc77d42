"""The script that commands.md, "Client library", shows to a newcomer: typed, and run as it stands."""

from __future__ import annotations

import asyncio
import csv
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import NamedTuple

import pytest

from livedeck.client import Api, Event
from livedeck.simulator import Simulator, serve

SOURCE = Path(__file__).parents[2] / "src"
PAGE = (SOURCE / "livedeck" / "docs" / "commands.md").read_text(encoding="utf-8")
(SCRIPT,) = re.findall(r"^## Client library\n.*?^```python\n(.+?)^```$", PAGE, re.MULTILINE | re.DOTALL)


class Run(NamedTuple):
    """What the script left behind."""

    status: int | None
    output: str
    errors: str


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """The script in a file of its own."""
    path = tmp_path / "newcomer.py"
    path.write_text(SCRIPT, encoding="utf-8")
    return path


class Platform(NamedTuple):
    """A simulated platform over HTTP, and a client of the test's own."""

    base_url: str
    token: str
    api: Api


@pytest.fixture
async def platform() -> AsyncIterator[Platform]:
    service = Simulator(seed=7)
    async with serve(service) as addresses, Api(base_url=addresses.base_url, token=service.token) as api:
        yield Platform(addresses.base_url, service.token, api)
    service.close()


async def run(script: Path, token: str, *arguments: str) -> Run:
    """Run it in its own folder, as a person would."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        script,
        *arguments,
        cwd=script.parent,
        env=os.environ | {"LIVEDECK_TOKEN": token, "PYTHONPATH": str(SOURCE)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    output, errors = await process.communicate()
    return Run(process.returncode, output.decode(), errors.decode())


def messages_in(path: Path) -> int:
    """How many rows the file has below its head."""
    with path.open(newline="", encoding="utf-8") as file:
        return len([*csv.DictReader(file)])


async def test_the_script_lists_enables_and_exports_over_http(script: Path, platform: Platform) -> None:
    events = [event async for event in platform.api.events.iterate()]
    live = next(event for event in events if _is_live(event) and event.chat_active)
    done = await run(script, platform.token, platform.base_url, live.name or "")
    assert (done.status, done.errors) == (0, "")
    *listed, last = done.output.splitlines()
    assert {line.split()[0] for line in listed} == {event.id for event in events}
    assert last == f"{messages_in(script.parent / 'chat.csv')} messages in chat.csv"
    assert platform.token not in done.output


async def test_the_script_says_what_the_platform_does_not_allow(script: Path, platform: Platform) -> None:
    events = [event async for event in platform.api.events.iterate()]
    live = next(event for event in events if _is_live(event) and event.type == "one-time")
    await platform.api.events.complete(live.id)
    done = await run(script, platform.token, platform.base_url, live.name or "")
    assert done.status == 0
    assert f"enable event {live.id}: " in done.output


async def test_a_failure_is_one_line_without_a_traceback(script: Path, platform: Platform) -> None:
    done = await run(script, "another-token-5a1e", platform.base_url, "any")
    assert done.status == 1
    assert re.fullmatch(r"list events: .*401.*\n", done.errors)
    assert "another-token" not in done.errors


def _is_live(event: Event) -> bool:
    return event.stream is not None and event.stream.status == "live"


def test_the_script_is_typed_throughout(script: Path) -> None:
    """As strictly as the client itself."""
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(script.parent / "cache"), str(script)]
    done = subprocess.run(
        command,
        cwd=script.parent,
        env=os.environ | {"MYPYPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "Success: no issues found in 1 source file\n")

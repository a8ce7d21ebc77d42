"""Code of library.md and scripts that follow the page pass a type checker and run unchanged.

The scripts are in the folder `newcomer`, as they were written from the page alone.
"""

from __future__ import annotations

import asyncio
import csv
import os
import re
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from livedeck.client import Api, Event
from livedeck.simulator import Simulator, serve

FOLDER = Path(__file__).parent / "newcomer"
SOURCE = Path(__file__).parents[2] / "src"
PAGE = (SOURCE / "livedeck" / "docs" / "library.md").read_text(encoding="utf-8")
(SCRIPT,) = re.findall(r"^## First script\n.*?^```python\n(.+?)^```$", PAGE, re.MULTILINE | re.DOTALL)
BLOCKS = re.findall(r"^```python\n(.+?)^```$", PAGE, re.MULTILINE | re.DOTALL)
SCRIPTS: Mapping[str, str] = {
    "blocking": r"4 12\n(?s:.+\n)400\n",
    "diagnose": r"not there \(400, .+\nrefused with 400 400400: .+\nenable event .+ not sent, .+\nno answer: refused\n",
    "evening_show": r"refused: 409 .+\nCDN rtmp://live.example/app ••••.*\ndone: Evening show, live\n",
    "export_chat": r"(?s:.*)\d+ messages, \d+ bytes\n(?s:.*)",
    "from_settings": r"12 True True\n",
    "list_events": r"(?s:.*)not planned(?s:.*)\{'one-time': 11, 'recurring': 1\}\n",
    "now_live": r"(?:.+: \d\.\d Mbit/s at .+\n){6}6 on air\n",
    "slides": r"(?s:.*)300009 300009\n(?s:.*)received 300009 of 300009\nAll slides True http.+••••\n",
    "studio": r"refused: 400 400400 True True\nTrue custom\n(?:Backup ••••.+\n|it is running: 409298\n)+",
    "subtitles": r"\['en', 'de'\]\n\['fr', 'en', 'de'\] As spoken\nfile line 1.+\n",
    "tail_samples": r"(?:2.+ (?:\d+ kbit/s|-) \d\n){3}",
    "trace": r"404 \w+\nget QoS of event 200: 3, True\nget room 404: 1, True\nlist events 200: 1, True\n5 .+••••.+\n",
    "without_platform": r"Show gone\n",
}
"""Name of a script in the folder `newcomer` -> pattern of its whole output."""


class Run(NamedTuple):
    """Output, errors and files of a script."""

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
    """Simulated platform over HTTP, with a client for the test."""

    base_url: str
    token: str
    api: Api
    upload_url: str


@pytest.fixture
async def platform() -> AsyncIterator[Platform]:
    service = Simulator(seed=7)
    async with serve(service) as addresses, Api(base_url=addresses.base_url, token=service.token) as api:
        yield Platform(addresses.base_url, service.token, api, addresses.upload_url)
    service.close()


async def run(script: Path, token: str, *arguments: str) -> Run:
    """Run the script in its own folder, as a person would."""
    settings = {"LIVEDECK_TOKEN": token, "LIVEDECK_BASE_URL": arguments[0], "XDG_CONFIG_HOME": str(script.parent)}
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        script,
        *arguments,
        cwd=script.parent,
        env=os.environ | settings | {"PYTHONPATH": str(SOURCE)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    output, errors = await process.communicate()
    return Run(process.returncode, output.decode(), errors.decode())


def messages_in(path: Path) -> int:
    """Return the number of rows after the head of the file."""
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


@pytest.mark.parametrize("name", SCRIPTS)
async def test_a_script_that_follows_the_page_runs_unchanged(name: str, platform: Platform, tmp_path: Path) -> None:
    script = tmp_path / f"{name}.py"
    script.write_bytes((FOLDER / script.name).read_bytes())
    done = await run(script, platform.token, platform.base_url, platform.upload_url)
    assert (done.status, platform.token in done.output) == (0, False), done.errors
    assert re.fullmatch(SCRIPTS[name], done.output), done.output


def test_every_script_of_the_folder_is_run() -> None:
    assert {path.stem for path in FOLDER.glob("*.py")} == {*SCRIPTS}


def whole(block: str) -> str:
    """Return a block of the page as a module: as it is, or as a part of a function with the names that it uses."""
    if block.startswith("import "):
        return block
    head = "from datetime import UTC, datetime\nfrom livedeck.client import *\n\n\n"
    names = "api: Api, event_id: str, video_id: str, base_url: str, token: str"
    return f"{head}async def part({names}) -> None:\n" + "".join(f"    {line}" for line in block.splitlines(True))


@pytest.fixture
def typed(tmp_path: Path) -> list[str]:
    """Blocks of the page and the scripts, as files."""
    for number, block in enumerate(BLOCKS):
        (tmp_path / f"block_{number}.py").write_text(whole(block), encoding="utf-8")
    assert len(BLOCKS) >= 8
    return [*map(str, sorted(tmp_path.glob("*.py"))), *map(str, sorted(FOLDER.glob("*.py")))]


def check(*command: str) -> None:
    """Run a type checker, and check that it finds nothing."""
    environment = os.environ | {"MYPYPATH": str(SOURCE), "PYTHONPATH": str(SOURCE)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_page_and_scripts_pass_mypy_as_strictly_as_the_client(typed: list[str], tmp_path: Path) -> None:
    check(sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), *typed)


@pytest.mark.skipif(shutil.which("pyright") is None, reason="pyright is not installed")
def test_page_and_scripts_pass_pyright(typed: list[str]) -> None:
    check("pyright", "--pythonpath", sys.executable, *typed)

"""The client works in a Python that has only httpx, msgspec, pydantic and their dependencies."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from livedeck.simulator import Simulator, serve

SOURCE = Path(__file__).parents[2] / "src" / "livedeck"
PAGE = (SOURCE / "docs" / "library.md").read_text(encoding="utf-8")

SCRIPT = """
import asyncio, sys
from livedeck.client import Api, ChatExport

async def main(base_url, token):
    async with Api(base_url=base_url, token=token) as api:
        events = [event async for event in api.events.iterate()]
        live = next(event for event in events if event.stream and event.stream.status == "live" and event.chat_active)
        samples = await api.qos.get(live.id)
        export = ChatExport(live.id, live.stream.id, "csv", safe_csv=True)
        result = await api.chat.export(export, sys.argv[3])
        made = await api.events.create(name="Evening show", type="one-time")
        await api.subtitles.list("no-video") if "wrong" in sys.argv else None
        print(len(events) > 0, samples.newest is not None, result.messages > 0, made.name)

asyncio.run(main(*sys.argv[1:3]))
"""


def required(names: list[str]) -> set[str]:
    """Return the distributions that these need, with themselves, at their default extras."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop().lower().replace("_", "-")
        if name in found:
            continue
        found.add(name)
        needs = [Requirement(text) for text in distribution(name).requires or ()]
        waiting += [need.name for need in needs if need.marker is None or need.marker.evaluate({"extra": ""})]
    return found


@pytest.fixture
def only_client(tmp_path: Path) -> Path:
    """A folder of packages with livedeck and the packages that library.md, "Install", names."""
    (command,) = re.findall(r"^pip install ([a-z ]+) && pip install --no-deps \.$", PAGE, re.MULTILINE)
    folder = tmp_path / "packages"
    folder.mkdir()
    (folder / "livedeck").symlink_to(SOURCE)
    for name in required(command.split()):
        files = distribution(name).files or ()
        for top in {Path(file).parts[0] for file in files} - {"..", "__pycache__"}:
            (folder / top).symlink_to(Path(str(distribution(name).locate_file(top))))
    return folder


async def run(packages: Path, *arguments: str) -> tuple[int | None, str, str]:
    """Run Python without any other installed package (`-S`)."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-S",
        *arguments,
        env={"PYTHONPATH": str(packages), "PYTHONDONTWRITEBYTECODE": "1"},
        cwd=packages.parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    output, errors = await process.communicate()
    return process.returncode, output.decode(), errors.decode()


async def test_the_client_reads_exports_and_changes_without_the_packages_of_the_deck(only_client: Path) -> None:
    service = Simulator(seed=7)
    async with serve(service) as addresses:
        status, output, errors = await run(only_client, "-c", SCRIPT, addresses.base_url, service.token, "chat.csv")
    service.close()
    assert (status, output, errors) == (0, "True True True Evening show\n", "")


@pytest.mark.parametrize("package", ["textual", "rich", "click", "structlog", "starlette", "platformdirs", "tomlkit"])
async def test_the_packages_of_the_deck_are_not_there(only_client: Path, package: str) -> None:
    status, _, errors = await run(only_client, "-c", f"import {package}")
    assert (status, f"No module named '{package}'" in errors) == (1, True)


async def test_the_rest_of_livedeck_says_what_is_missing(only_client: Path) -> None:
    status, _, errors = await run(only_client, "-m", "livedeck", "--version")
    assert status == 1
    assert "No module named" in errors

"""The pytest plugin in another project, which runs once, in a process of its own, for all the tests here."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

import pytest

import livedeck.docs

ROOT = Path(__file__).parents[2]
PLUGIN = "livedeck.simulator.pytest_plugin"

CONFTEST = """
    import pytest

    @pytest.fixture(scope="session")
    def livedeck_options():
        return {"token": "ours", "meet_segment": "talk"}
"""

TESTS = """
    import httpx, pytest

    @pytest.mark.parametrize("_", range(2))
    def test_reset(livedeck_platform, _):
        assert livedeck_platform.clock.now.isoformat() == "2026-03-01T12:00:00+00:00"
        assert livedeck_platform.clock.paused
        assert not livedeck_platform.faults.active()
        livedeck_platform.clock.step(60)
        livedeck_platform.faults.add("status", status=503)

    @pytest.mark.livedeck(scenario="bad-night", seed=7, faults=[{"kind": "latency", "seconds": 0}])
    class TestMarked:
        def test_class(self, livedeck_platform):
            assert livedeck_platform.scenario.progress()["scenario"] == "bad-night"
            assert [fault["kind"] for fault in livedeck_platform.faults.active()] == ["latency"]

        @pytest.mark.livedeck(faults=[], start="2026-05-01T10:00:00+02:00")
        def test_the_nearest_marker_wins(self, livedeck_platform):
            assert livedeck_platform.scenario.progress()["scenario"] == "bad-night"
            assert livedeck_platform.clock.now.isoformat() == "2026-05-01T08:00:00+00:00"
            assert not livedeck_platform.faults.active()

    async def test_async(livedeck_platform):
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(app=livedeck_platform.app), headers={"Authorization": "Bearer ours"}
        ) as client:
            assert (await client.get("http://platform.test/v2/live/events")).status_code == 200

    def test_options(livedeck_platform):
        assert livedeck_platform.token == "ours"
        assert httpx.get(f"{livedeck_platform.base_url}/v1/talk/rooms").status_code == 401

    @pytest.mark.livedeck(scenario="good-night", fault=[], faults=[{"kind": "status", "status": 7, "chance": 2}])
    def test_wrong_marker(livedeck_platform): ...

    def test_wrong_client(livedeck_platform):
        httpx.get(f"{livedeck_platform.base_url}/v2/live/events")
        assert False, "on purpose"
"""


@dataclass(frozen=True)
class Run:
    """Run of pytest: its output, and the outcome of each test by its name."""

    text: str
    outcomes: dict[str, str]

    def of(self, test: str) -> str:
        """Return the output for a failed test."""
        return self.text.partition(f" {test} ___")[2].partition("\n_____")[0]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("project")
    (folder / "conftest.py").write_text(dedent(CONFTEST))
    (folder / "test_it.py").write_text(dedent(TESTS))
    section = livedeck.docs.page("simulator").partition("## Test your own client")[2].partition("\n## ")[0]
    (folder / "test_page.py").write_text("\n".join(re.findall(r"```python\n(.*?)```", section, re.DOTALL)))
    (folder / "pytest.ini").write_text("[pytest]\nasyncio_mode = auto\nasyncio_default_fixture_loop_scope = function\n")
    plugins = ["-p", PLUGIN, "-p", "pytest_asyncio.plugin", "-p", "no:cacheprovider"]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(ROOT / "src")}
    environment.pop("PYTEST_ADDOPTS", None)
    command = [sys.executable, "-m", "pytest", *plugins, "--strict-markers", "-W", "error", "-rA"]
    ended = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    rows = re.findall(r"^(PASSED|FAILED|ERROR) \S+?::(\S+)", ended.stdout, re.MULTILINE)
    return Run(ended.stdout + ended.stderr, {test: word for word, test in rows})


def test_every_test_begins_at_the_start_of_its_marker(project: Run) -> None:
    passed = {test for test, word in project.outcomes.items() if word == "PASSED"}
    marked = {"TestMarked::test_class", "TestMarked::test_the_nearest_marker_wins"}
    assert passed >= {"test_reset[0]", "test_reset[1]", "test_async", "test_options", *marked}, project.text


def test_a_wrong_marker_fails_at_setup_with_every_problem(project: Run) -> None:
    assert project.outcomes["test_wrong_marker"] == "ERROR", project.text
    shown = project.of("ERROR at setup of test_wrong_marker")
    assert "the marker livedeck is invalid:\n" in shown
    assert "fault: there are scenario, workspace, seed, start, faults\n" in shown
    assert "scenario: name: " in shown
    assert "faults[0]: chance: must be a number from 0 to 1\n" in shown
    assert "faults[0]: status: must be an integer from 200 to 599\n" in shown


def test_a_failed_test_shows_the_last_requests(project: Run) -> None:
    assert project.outcomes["test_wrong_client"] == "FAILED", project.text
    shown = project.of("test_wrong_client").partition("livedeck requests")[2]
    assert re.findall(r"^\d+ (.*)", shown.partition("==")[0], re.MULTILINE) == ["GET '/v2/live/events' -> 401"]


def test_the_examples_of_the_page_run(project: Run) -> None:
    examples = {*re.findall(r"^def (test_\w+)", livedeck.docs.page("simulator"), re.MULTILINE)}
    assert examples
    assert {project.outcomes[test] for test in examples} == {"PASSED"}, project.text


def test_the_plugin_imports_nothing_of_the_simulator() -> None:
    """It loads in every pytest run where livedeck is installed."""
    code = f"import sys, pytest; before = {{*sys.modules}}; import {PLUGIN}; print(*sorted({{*sys.modules}} - before))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert loaded == ["livedeck", "livedeck.simulator", PLUGIN]


def test_the_package_declares_the_plugin() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["entry-points"]["pytest11"] == {"livedeck": PLUGIN}

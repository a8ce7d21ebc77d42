"""`--plot`: the commands draw their samples as wide as the terminal, and in a pipe without a colour."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from math import ceil
from pathlib import Path
from typing import Any

import pytest

from cli.commands import TIMEOUT, called, environment, served
from cli.terminals import terminal
from cli.test_qos import platform, sample
from livedeck.cli.event.qos import print_samples
from livedeck.cli.status_plot import status_plot
from livedeck.monitor import ConnectionState, ConnectionStatus, Snapshot
from livedeck.presentation.plot import GAP, GUTTER
from livedeck.text.segments import plain
from presentation.test_events import FRESH, NOW
from virtual_clock import VirtualClock

LINES = {"event qos": ("event", "qos", "choir", "--plot"), "status": ("status", "--plot")}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    with served(tmp_path_factory.mktemp("served")) as (_, found):
        yield {"LIVEDECK_BASE_URL": found["base_url"], "LIVEDECK_TOKEN": found["token"]}


def row(printed: str, label: str) -> str:
    """Return the cells of the row with that label."""
    return next(line[GUTTER:] for line in printed.splitlines() if line[: GUTTER - 1].strip() == label)


async def test_a_gap_and_each_status_stand_in_their_columns(capsys: pytest.CaptureFixture[str]) -> None:
    """The samples end now, and begin 398 s before; from 200 s to 300 s none came."""
    clock, columns = VirtualClock(), 80 - GUTTER
    seconds = [second for second in range(-398, 1, 2) if not -200 < second < -100]
    marks = {-350: 3, -300: 4, -50: 5}
    answer = [sample(second, status=marks.get(second, 0)) for second in seconds]
    async with platform(clock, [answer]) as follower:
        assert await clock.run(print_samples(follower, "plot", None)) == 0
    printed = capsys.readouterr().out

    def column(second: float) -> float:
        return (second + 398) / 400 * columns

    status = row(printed, "status")
    assert {second: status[int(column(second))] for second in marks} == {-350: "▲", -300: "◆", -50: "✖"}
    assert [cell for cell, sign in enumerate(status) if sign == GAP] == [*range(int(column(-198)), ceil(column(-100)))]
    assert "░ no samples: 01:40" in printed
    assert "5 packet loss: 1 sample\n" in printed
    assert "Town [31mhall, as of 2026-03-01 12:00:00Z, the newest sample 0 s old (fresh)" in printed
    assert "\x1b" not in printed


async def test_stale_samples_end_in_a_gap_and_late_ones_do_not(capsys: pytest.CaptureFixture[str]) -> None:
    async def ending(age: int) -> str:
        clock = VirtualClock()
        async with platform(clock, [[sample(second) for second in range(-400, 1 - age, 2)]]) as follower:
            await clock.run(print_samples(follower, "plot", None))
        return row(capsys.readouterr().out, "status")[-8:]

    assert await ending(100) == GAP * 8
    assert await ending(6) == "▁" * 8


async def test_without_samples_a_sentence_says_what_is_unknown(capsys: pytest.CaptureFixture[str]) -> None:
    clock = VirtualClock()
    async with platform(clock, [[]]) as follower:
        assert await clock.run(print_samples(follower, "plot", None)) == 0
    said = "no samples of Town [31mhall: no stream is scheduled; whether a signal arrives is unknown\n"
    assert capsys.readouterr().out == said


async def test_last_limits_the_time(capsys: pytest.CaptureFixture[str]) -> None:
    clock = VirtualClock()
    async with platform(clock, [[sample(second) for second in range(-400, 1, 2)]]) as follower:
        await clock.run(print_samples(follower, "plot", 120.0))
        assert "0 normal: 60 samples" in capsys.readouterr().out
        await clock.run(print_samples(follower, "plot", None))
        assert "0 normal: 201 samples" in capsys.readouterr().out


@pytest.mark.parametrize("columns", ["40", "60", "80", "133", "240"])
@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
def test_in_a_pipe_a_plot_has_no_colour_and_the_width_that_was_asked_for(
    service: dict[str, Any], tmp_path: Path, line: tuple[str, ...], columns: str
) -> None:
    done = called(tmp_path, *line, env={**service, "COLUMNS": columns})
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout
    plot = done.stdout[done.stdout.index("┤") - GUTTER :].splitlines()
    assert max(map(len, plot)) == int(columns)


def test_a_pipe_without_a_width_has_eighty_columns(service: dict[str, Any], tmp_path: Path) -> None:
    done = called(tmp_path, *LINES["event qos"], env=service)
    assert max(map(len, done.stdout.splitlines())) == 80


@pytest.mark.parametrize("variables", [{}, {"NO_COLOR": "1"}], ids=["colours", "NO_COLOR"])
def test_a_terminal_has_colours_unless_it_wants_none(
    service: dict[str, Any], tmp_path: Path, variables: dict[str, str]
) -> None:
    with terminal(tmp_path, *LINES["event qos"], size=(100, 30), **service, **variables) as command:
        assert command.ended() == 0
    text = command.written.decode()
    assert ("\x1b[36m video" in text) == ("\x1b[" in text) == (not variables)


def test_every_event_on_air_has_a_curve_in_the_status(service: dict[str, Any], tmp_path: Path) -> None:
    done = called(tmp_path, "status", "--plot", env=service)
    table, _, plots = done.stdout.partition(" as of ")
    name = slice(table.index("EVENT"), table.index("WRONG"))
    on_air = [line[name].strip() for line in table.splitlines() if line.startswith("● ON AIR")]
    assert len(on_air) > 1
    assert all(f"\n{event}  video Mbit/s, " in plots for event in on_air)
    assert plots.count("   UTC ") == 1
    assert "not watched" not in plots


CONFLICTS = [
    ("event qos X --plot --json", "--plot draws for people: leave out --format and --json"),
    ("event qos X --format csv --plot", "--plot draws for people: leave out --format and --json"),
    ("status --plot --format prometheus", "--plot draws for people: leave out --format and --json"),
    ("past show X --json --plot", "--plot draws for people: leave out --format and --json"),
    ("past report X --plot --format html", "--plot draws for people: leave out --format and --json"),
    ("event qos X --plot --schema", "--schema describes the JSON: leave out --plot"),
    ("status --schema --plot", "--schema describes the JSON: leave out --plot"),
    ("event qos X --plot --follow", "--plot draws once: leave out --follow"),
    ("past report X --plot -o report", "leave out --plot: with -o, the HTML page has the curves"),
]


@pytest.mark.parametrize(("line", "words"), CONFLICTS)
def test_plot_excludes_what_machines_read(tmp_path: Path, line: str, words: str) -> None:
    done = called(tmp_path, *line.split())
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr


def test_no_command_imports_plotext_before_it_draws(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom livedeck.cli import TREE\n"
        "for path in TREE.places:\n    TREE.get(path)\n"
        "import livedeck.cli.status_report\nassert 'plotext' not in sys.modules\n"
    )
    line = [sys.executable, "-c", code]
    done = subprocess.run(line, env=environment(tmp_path), capture_output=True, text=True, timeout=TIMEOUT, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_status_without_an_event_on_air_says_so() -> None:
    (line,) = status_plot(Snapshot(1, NOW, ConnectionStatus(ConnectionState.OK, NOW)), FRESH, 80)
    assert plain(line) == "nothing is on air, so there is no curve"

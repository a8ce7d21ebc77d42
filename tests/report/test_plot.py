"""`past show --plot` and `past report --plot`: the curves of the recorded night."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cli.commands import called
from livedeck.presentation.plot import GAP, GUTTER
from report.readers import markdown_tables
from report.test_commands import STRETCH, _record_deletion, run


def row(printed: str, label: str) -> str:
    """Return the cells of the row with that label."""
    return next(line[GUTTER:] for line in printed.splitlines() if line[: GUTTER - 1].strip() == label)


@pytest.mark.parametrize("command", ["show", "report"])
@pytest.mark.parametrize("columns", [60, 80, 240])
def test_the_outage_and_the_losses_of_the_night_stand_at_their_times(
    night: Path, tmp_path: Path, command: str, columns: int
) -> None:
    """The scenario cuts the second stage off from 09:05:44 to 09:07:16; losses come before and after it."""
    env = {"LIVEDECK_HISTORY": str(night), "LIVEDECK_BASE_URL": "http://127.0.0.1:9", "COLUMNS": str(columns)}
    done = called(tmp_path, "past", command, "Second stage", *STRETCH, "--plot", env=env)
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout
    lines = done.stdout.splitlines()
    first, last = (next(index for index, line in enumerate(lines) if sign in line) for sign in ("┤", "└"))
    assert max(map(len, lines[first - 1 : last + 1])) == columns
    status, step = row(done.stdout, "status"), 770 / (columns - GUTTER)  # 09:00:00 to the end of the last sample
    gap = [cell for cell, sign in enumerate(status) if sign == GAP]
    assert gap == [*range(gap[0], gap[-1] + 1)]
    assert abs(gap[0] * step - 346) <= 2 * step
    assert abs((gap[-1] + 1) * step - 436) <= 2 * step
    assert "✖" in status[: gap[0]]
    assert "░ no samples: 01:32" in done.stdout
    assert "5 packet loss: 14 samples" in done.stdout


def test_a_report_with_curves_is_the_markdown_with_a_code_block(night: Path, tmp_path: Path) -> None:
    """Without the block it has the tables of the report."""
    line = ("past", "report", "Second stage", *STRETCH)
    with_curves, without = run(night, tmp_path, *line, "--plot"), run(night, tmp_path, *line)
    head, block, rest = with_curves.split("```")
    assert block.startswith("text\n video Mbit/s, ")
    assert markdown_tables(head + rest.removeprefix("\n\n")) == markdown_tables(without)


def test_a_show_with_curves_keeps_its_entries(night: Path, tmp_path: Path) -> None:
    line = ("past", "show", "Main stage", *STRETCH)
    with_curves, without = run(night, tmp_path, *line, "--plot"), run(night, tmp_path, *line)
    entries = without[without.index("09:00:00Z    event") :]
    assert with_curves.endswith(entries)
    assert "TIME" not in with_curves


@pytest.mark.parametrize("command", ["show", "report"])
def test_without_samples_a_sentence_says_what_is_unknown(tmp_path: Path, command: str) -> None:
    path = tmp_path / "deck.sqlite"
    asyncio.run(_record_deletion(path, datetime.now(UTC)))
    said = run(path, tmp_path, "past", command, "choir, hall a", "--from", "-3m", "--plot")
    assert "UTC: whether a signal arrived is unknown\n" in said
    assert "┤" not in said

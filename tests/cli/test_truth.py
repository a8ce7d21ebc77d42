"""A report with the truth of a scenario has a row for each fault, from any deck that watched the simulator."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from cli.commands import called
from golden.player import START, record
from livedeck.simulator import Simulator, SimulatorClock
from simulator.http_client import client_for

SPAN = ("--from", "2026-11-21T09:00:00Z", "--to", "2026-11-21T09:10:00Z")


async def played() -> bytes:
    """Truth of a whole play, with one change that no answer wants."""
    simulator = Simulator(scenario="restream-down", clock=SimulatorClock(START, paused=True))
    async with client_for(simulator, simulator.control_token) as admin, client_for(simulator, simulator.token) as api:
        assert (await admin.get("/_control/scenario/truth")).status_code == 200
        (event,) = (row for row in (await api.get("/v2/live/events")).json()["data"] if row["name"] == "Main stage")
        simulator.clock.step(100)
        await api.put(f"/v2/live/events/{event['id']}", json={"reconnect_window": 60})
        simulator.clock.step(120)
        return (await admin.get("/_control/scenario/truth")).content


def test_a_report_has_a_row_for_each_fault_with_its_credit(tmp_path: Path) -> None:
    history, truth = tmp_path / "deck.sqlite", tmp_path / "truth.json"
    truth.write_bytes(asyncio.run(played()))
    record("restream-down", 1, history)
    line = ("past", "report", "Main stage", *SPAN, "--history", str(history), "--truth", str(truth))
    done = called(tmp_path, *line)
    assert (done.returncode, done.stderr) == (0, "")
    page = done.stdout.partition("# Drill: ")[2]
    assert "Score: 0.0 of 100" in page
    (row,) = (line for line in page.splitlines() if line.startswith("| RESTREAM"))
    assert [cell.strip() for cell in row.split("|")][2:-1] == ["00:30", "00:46", "54 s", "no", "no", "1", "0 %"], row
    assert "update_event" in page.replace("\\", "")
    found = json.loads(called(tmp_path, *line, "--format", "json").stdout)["drill"]
    (incident,) = (incident for incident in found["incidents"] if incident["alarm"].startswith("RESTREAM"))
    assert (found["score"], incident["credit"], incident["wrong"], incident["acted"]) == (0.0, 0.0, 1, None)
    assert round(incident["seen"]) == 54
    assert "number" not in found
    html = called(tmp_path, *line, "--format", "html").stdout
    cells = html.partition("<td>RESTREAM")[2].partition("</tr>")[0].split("</td>")[1:-1]
    assert [cell.removeprefix("<td>") for cell in cells] == ["00:30", "00:46", "54 s", "no", "no", "1", "0 %"]
    assert html.count("Score: 0.0 of 100") == 1
    written = called(tmp_path, *line, "-o", str(tmp_path / "report"))
    assert (written.returncode, (tmp_path / "report/drill.md").read_text(encoding="utf-8")) == (0, "# Drill: " + page)


@pytest.mark.parametrize(
    "content", ["", "{}", '{"data": {}}', '{"data": {"scenario": 1}}', '{"error": {}}', "[" * 100_000]
)
def test_a_file_that_is_no_truth_is_refused(content: str, tmp_path: Path) -> None:
    truth = tmp_path / "truth.json"
    truth.write_text(content, encoding="utf-8")
    done = called(tmp_path, "past", "report", "--day", "today", "--truth", str(truth))
    assert done.returncode == 2
    assert "is not a reply of /_control/scenario/truth" in " ".join(done.stderr.split())

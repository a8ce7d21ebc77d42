"""The report of the bad night matches the scenario's file, in each of its formats."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import subprocess
import tomllib
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from cli.commands import called
from golden.player import START
from report.night import SCRIPT
from report.readers import Page, markdown_tables

SAMPLE = 2.0
"""Seconds between samples."""

EVENTS = ("Main stage", "Second stage", "Small hall")


def second(text: str) -> float:
    """Return the seconds from the beginning of a play: `+00:05:45`."""
    hours, minutes, seconds = map(int, text.strip("+").split(":"))
    return float(3600 * hours + 60 * minutes + seconds)


def step(**wanted: Any) -> float:
    """Return the second at which the scenario's file takes that step."""
    steps = tomllib.loads(SCRIPT.read_text(encoding="utf-8"))["steps"]
    (found,) = (step for step in steps if all(step.get(name) == value for name, value in wanted.items()))
    return second(found["at"])


def since_start(text: str) -> float:
    """Return the seconds from the beginning of the play to a time."""
    return (datetime.fromisoformat(text) - START).total_seconds()


@pytest.fixture(scope="module")
def folder(night: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Reports of each event, and of the day, in a folder of their own."""
    home = tmp_path_factory.mktemp("reports")
    env = {"LIVEDECK_HISTORY": str(night), "LIVEDECK_BASE_URL": "http://127.0.0.1:9", "TZ": "UTC"}
    for name in EVENTS:
        done = called(home, "past", "report", name, "-o", str(home / name), env=env)
        assert done.returncode == 0, done.stderr
    done = called(home, "past", "report", "--day", "2026-11-21", "-o", str(home / "day"), env=env)
    assert done.returncode == 0, done.stderr
    (home / "schema.json").write_text(called(home, "past", "report", "--schema", env=env).stdout)
    return home


def text_of(folder: Path, name: str, form: str) -> str:
    """Return the report of an event in a format."""
    return (folder / name / f"report.{form}").read_text(encoding="utf-8")


def event(folder: Path, name: str) -> dict[str, Any]:
    """Return the JSON of that event, checked against its schema."""
    report = json.loads(text_of(folder, name, "json"))
    jsonschema_rs.validator_for(json.loads((folder / "schema.json").read_text())).validate(report)
    (found,) = report["events"]
    assert found["name"] == name
    return dict(found)


def test_the_outage_is_that_of_the_file(folder: Path) -> None:
    """The outage matches to a sample at both ends; bad seconds and budget follow from it."""
    gone, back = (step(event="Second stage", do="encoder", sending=sending) for sending in (False, True))
    found = event(folder, "Second stage")
    (outage,) = found["outages"]
    begun, ended = since_start(outage["since"]), since_start(outage["until"])
    assert 0 < gone - begun <= SAMPLE
    assert 0 < ended - back <= SAMPLE
    (on_air,) = found["on_air"]
    assert found["unknown"] == []
    assert found["uptime"] == pytest.approx(100 * (1 - (ended - begun) / on_air["seconds"]), abs=0.001)
    assert found["bad_seconds"] == ended - begun
    assert found["budget_seconds"] == pytest.approx(on_air["seconds"] / 1000, abs=0.001)


def test_restreams_are_right_to_the_second(folder: Path) -> None:
    """Every restream that the file disconnects is listed by its name."""
    down, up = (step(do="restream", connected=connected) for connected in (False, True))
    found = {restream["name"]: restream["down"] for restream in event(folder, "Main stage")["restreams"]}
    assert {*found} == {"Video share", "Social network"}
    for spans in found.values():
        assert [(since_start(span["since"]), since_start(span["until"])) for span in spans] == [(down, up)]


def test_what_was_completed_ended_to_the_second(folder: Path) -> None:
    """The completed event has no fault but its end, which nobody of this history asked for."""
    found = event(folder, "Small hall")
    assert [since_start(span["until"]) for span in found["on_air"]] == [step(do="complete")]
    assert (found["uptime"], found["outages"], found["worst"]) == (100, [], None)
    assert [(fault["kind"], fault["severity"]) for fault in found["faults"]] == [("ENDED_ON_AIR", "warning")]


def test_a_fault_begins_with_its_first_bad_sample(folder: Path) -> None:
    """It ends once the window of 10 s has the frames again: a lower rate does not become usual (monitoring.md)."""
    found = event(folder, "Main stage")
    begun, repaired = step(event="Main stage", shape="fps-halving"), step(event="Main stage", shape="clean")
    (low,) = (fault for fault in found["faults"] if fault["kind"] == "FPS_LOW")
    assert 0 <= since_start(low["since"]) - begun <= SAMPLE
    ended = since_start(low["until"])
    assert 0 <= ended - repaired <= 10
    assert found["uptime"] == 100
    worst = found["worst"]
    assert since_start(worst["since"]) <= begun + 6
    assert ended <= since_start(worst["until"])


def test_nobody_watched_while_the_platform_failed(folder: Path) -> None:
    """The gap lasts from the last answer before the fault to the first one after it; its samples came later."""
    begun = step(do="fault", kind="status")
    report = json.loads(text_of(folder, "day", "json"))
    gaps = [(since_start(span["since"]), since_start(span["until"])) for span in report["unwatched"]]
    (gap,) = ((since, until) for since, until in gaps if 0 < since < 700)
    assert begun - 5 <= gap[0] <= begun
    assert begun + 60 <= gap[1] <= begun + 65


def test_who_answered_and_how_soon(folder: Path) -> None:
    """Half a minute after the fault began; nobody answered for the restreams."""
    found = event(folder, "Main stage")
    answers = {(answer["kind"], answer["by"]) for answer in found["acknowledgements"]}
    assert answers == {("FPS_COLLAPSE", "anna@regie"), ("RESTREAM_DOWN", None)}
    assert 10 < found["seconds_to_acknowledge"] < 30
    assert [action["by"] for action in found["actions"]] == ["anna@regie"]
    assert [marker["text"] for marker in found["markers"]] == ["change over to camera 1"]


def clock(at: float) -> str:
    """Return that second of the play in the form of a report."""
    return f"{START + timedelta(seconds=at):%H:%M:%S}Z"


@pytest.mark.parametrize("name", EVENTS)
def test_markdown_csv_and_page_say_what_the_json_says(folder: Path, name: str) -> None:
    """Read back by readers that are not ours."""
    found = event(folder, name)
    outages = [(since_start(span["since"]), since_start(span["until"])) for span in found["outages"]]
    tables = markdown_tables(text_of(folder, name, "md"))
    figures = {row["Figure"]: row["Value"] for row in tables.get(name, next(iter(tables.values())))}
    assert [(row["From"][11:], row["To"]) for row in tables.get("Outages", [])] == [
        (clock(since), clock(until)) for since, until in outages
    ]
    uptime = "100 %" if found["uptime"] == 100 else f"{found['uptime']:.3f} %"
    assert figures["Uptime"] == uptime
    rows = list(csv.DictReader(io.StringIO(text_of(folder, name, "csv"))))
    assert [row["since"] for row in rows if row["type"] == "outage"] == [span["since"] for span in found["outages"]]
    assert len([row for row in rows if row["type"] == "fault"]) == len(found["faults"])
    page = Page(text_of(folder, name, "html"))
    assert uptime in page.text
    for since, until in outages:
        assert [f"{START:%Y-%m-%d} {clock(since)}", clock(until)] in [row[:2] for row in page.rows]


def test_the_page_stands_alone(folder: Path) -> None:
    """No script, nothing that is fetched, nothing that is followed."""
    text = text_of(folder, "day", "html")
    page = Page(text)
    assert not {"script", "iframe", "object", "embed", "link", "img", "form", "a", "base"} & {*page.tags}
    assert page.addresses == []
    assert not re.search(r"@import|url\((?!#)|https?:", text)
    assert page.tags.count("svg") > 15
    assert "prefers-color-scheme:dark" in text
    assert "@media print" in text


def test_a_report_that_is_there_is_not_replaced(folder: Path, night: Path) -> None:
    """Unless that is wanted."""
    env = {"LIVEDECK_HISTORY": str(night)}
    line = ("past", "report", "Small hall", "-o", str(folder / "Small hall"))
    done = called(folder, *line, env=env)
    assert (done.returncode, "add --force to replace it" in done.stderr) == (1, True)
    assert called(folder, *line, "--force", env=env).returncode == 0


CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def browser_of(folder: Path) -> list[str]:
    """The command of a browser without a window, with its profile in that folder."""
    flags = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking")
    return [str(CHROMIUM), *flags, f"--user-data-dir={folder / 'profile'}"]


def printed_pages(page: Path, folder: Path) -> int:
    """Print the page into the folder, and return the number of sheets."""
    target = folder / "report.pdf"
    line = [*browser_of(folder), f"--print-to-pdf={target}", page.as_uri()]
    subprocess.run(line, check=True, timeout=60, capture_output=True)
    return target.read_bytes().count(b"/Type /Page\n")


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no chromium here")
def test_a_quiet_show_is_printed_on_one_sheet(tmp_path: Path, night: Path) -> None:
    """The last two lines took a second one."""
    span = ("--from", "2026-11-21T08:54", "--to", "2026-11-21T09:07")
    line = ("past", "report", "Small hall", *span, "--format", "html")
    done = called(tmp_path, *line, env={"LIVEDECK_HISTORY": str(night)})
    (tmp_path / "quiet.html").write_text(done.stdout)
    assert printed_pages(tmp_path / "quiet.html", tmp_path) == 1


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no chromium here")
def test_a_browser_lays_it_out_at_any_width_and_prints_it(folder: Path, tmp_path: Path) -> None:
    """Nothing is wider than the page at 400 and 1200 pixels; the print has several pages."""
    browser, page = browser_of(tmp_path), folder / "day" / "report.html"
    assert printed_pages(page, tmp_path) >= 2
    for width in (400, 1200):
        frame = tmp_path / "frame.html"
        frame.write_text(
            f'<iframe id="page" style="width:{width}px;height:900px" src="{page.as_uri()}"></iframe><p id="size"></p>'
            "<script>onload=()=>{const root=document.getElementById('page').contentDocument.documentElement;"
            "document.getElementById('size').textContent=root.scrollWidth+' '+root.clientWidth}</script>"
        )
        done = subprocess.run(
            [*browser, "--allow-file-access-from-files", "--dump-dom", frame.as_uri()],
            check=True, timeout=60, capture_output=True, text=True,
        )  # fmt: skip
        sizes = re.search(r'id="size">(\d+) (\d+)<', done.stdout)
        assert sizes, done.stdout
        assert int(sizes[1]) <= int(sizes[2])

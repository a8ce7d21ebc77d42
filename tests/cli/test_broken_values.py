"""An invalid value in a reply hides only itself: the list is shown, the value is named, and none is guessed."""

from __future__ import annotations

import json
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from cli.commands import called
from client.broken import BROKEN, CUT, MEANT, list_with
from client.raw_lists import raw_platform


def run(home: Path, body: bytes, *words: str) -> CompletedProcess[str]:
    with raw_platform(lambda _page, _count: body) as platform:
        return called(home, *words, env={"LIVEDECK_BASE_URL": platform.address, "LIVEDECK_TOKEN": "t"})


@pytest.mark.parametrize("name", BROKEN)
def test_a_value_that_cannot_be_read_is_named_and_its_row_is_listed(tmp_path: Path, name: str) -> None:
    text, shape = BROKEN[name]
    done = run(tmp_path, list_with(text), "event", "list", "--json")
    printed = json.loads(done.stdout)
    assert (done.returncode, [item["name"] for item in printed["items"]]) == (0, ["Hall 1", None, "Hall 3"])
    assert shape in {fault["actual"] for fault in printed["items"][1]["faults"] if fault["field"] == "name"}
    assert done.stderr.startswith("livedeck: e2: could not be read: name")


@pytest.mark.parametrize("name", MEANT)
def test_a_value_with_one_meaning_is_read_as_that(tmp_path: Path, name: str) -> None:
    text, meaning = MEANT[name]
    done = run(tmp_path, list_with(text), "event", "list", "--json")
    assert [item["name"] for item in json.loads(done.stdout)["items"]] == ["Hall 1", meaning, "Hall 3"]
    assert (done.returncode, done.stderr) == (0, "")
    table = run(tmp_path, list_with(text), "event", "list").stdout
    assert sum(name in table for name in ("e1", "e2", "e3")) == 3
    assert len(table.splitlines()) == 4, "a line break in a name makes no line"


@pytest.mark.parametrize("name", BROKEN)
def test_a_row_without_a_readable_id_is_counted(tmp_path: Path, name: str) -> None:
    body = list_with("1").replace(b'"id":"e2"', b'"id":' + BROKEN[name][0].encode())
    done = run(tmp_path, body, "event", "list", "--quiet")
    assert (done.returncode, done.stdout.split()) == (4, ["e1", "e3"])
    assert "1 event could not be read and is left out: data[1]" in done.stderr


@pytest.mark.parametrize("name", CUT)
def test_a_list_whose_end_is_missing_is_not_shown(tmp_path: Path, name: str) -> None:
    done = run(tmp_path, CUT[name].encode(), "event", "list")
    assert (done.returncode, done.stdout) == (4, "")
    assert "is not JSON" in done.stderr


def test_the_status_shows_the_other_events(tmp_path: Path) -> None:
    body = list_with("NaN").replace(b'"id":"e3"', b'"id":"\\x"')
    done = run(tmp_path, body, "status")
    assert "e2" in done.stdout
    assert "1 event could not be read and cannot be shown" in done.stdout
    assert done.returncode == 4, "the missing event may be on air"
    assert "1 event could not be read and cannot be shown" in done.stderr

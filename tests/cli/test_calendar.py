"""`event list --format ics` and the address that `collector calendar` prints."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import vobject

from cli.commands import livedeck
from client.raw_lists import raw_platform
from livedeck.cli.collect.links import make_links
from livedeck.settings import Settings

ROWS = [
    {"id": "one", "name": "Town; hall", "scheduled": {"time": "2036-03-01T12:00:00+01:00"}, "stream": None},
    {"id": "two", "name": "draft", "stream": None},
]


def page(rows: list[object], total: int) -> bytes:
    return json.dumps({"meta": {"pagination": {"page": 1, "per_page": 100, "total": total}}, "data": rows}).encode()


@pytest.mark.parametrize(("total", "code"), [(2, 0), (3, 4)])
def test_a_list_of_events_is_a_calendar_for_a_file(tmp_path: Path, total: int, code: int) -> None:
    with raw_platform(lambda number, _: page(ROWS if number == 1 else [], total)) as platform:
        env = {"LIVEDECK_BASE_URL": platform.address, "LIVEDECK_TOKEN": "t"}
        done = livedeck(tmp_path, "event", "list", "--format", "ics", env=env)
    assert (done.returncode, "not received" in done.stderr) == (code, code == 4), done.stderr
    (entry,) = vobject.readOne(done.stdout).vevent_list
    assert (entry.uid.value, entry.summary.value) == ("one@livedeck", "Town; hall")
    assert f"{entry.dtstart.value:%Y-%m-%d %H:%M %Z}" == "2036-03-01 11:00 UTC"


def test_other_lists_are_no_calendars_and_a_calendar_has_no_columns(tmp_path: Path) -> None:
    for words in (("room", "list", "--format", "ics"), ("event", "list", "--format", "ics", "--columns", "id")):
        assert livedeck(tmp_path, *words, env={"LIVEDECK_BASE_URL": "http://127.0.0.1:9"}).returncode == 2


def test_the_address_of_a_calendar_is_printed_for_a_token_that_may_read(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    tokens = {"office": "read", "prometheus": "metrics"}
    tables = [f'[collector.tokens.{name}]\nsha256 = "{"a" * 64}"\nmay = "{may}"\n' for name, may in tokens.items()]
    head, link_url = f'history = "{tmp_path}/history.sqlite"\n[collector]\n', 'link_url = "https://watch.example"\n'
    env = {"LIVEDECK_CONFIG": str(file)}
    file.write_text("".join([head, *tables]), encoding="utf-8")
    refused = livedeck(tmp_path, "collector", "calendar", "office", env=env)
    assert (refused.returncode, "set link_url of [collector]" in refused.stderr) == (2, True)
    file.write_text("".join([head, link_url, *tables]), encoding="utf-8")
    done = livedeck(tmp_path, "collector", "calendar", "office", env=env)
    settings = Settings.model_validate(
        {"history": f"{tmp_path}/history.sqlite", "collector": {"link_url": "https://watch.example"}}
    )
    links = make_links(settings)
    assert links is not None
    assert done.stdout == f"{links.calendar_link('office', 'a' * 64)}\n"
    for name, words in (("prometheus", "the calendar needs read"), ("nobody", "has no token")):
        refused = livedeck(tmp_path, "collector", "calendar", name, env=env)
        assert (refused.returncode, words in refused.stderr, refused.stdout) == (2, True, "")

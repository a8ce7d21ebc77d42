"""The user's own words in messages, links to each event, and one clock in a text."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from pydantic import ValidationError

from livedeck.monitor import Severity
from livedeck.notify import FIELDS, Message, Plan, Route, Sender, Template, compose
from livedeck.settings import NotifySettings
from livedeck.text.secrets import register_secret
from notify.stage import NOW, Desk, alarm, over
from notify.test_targets import PAGE
from notify.test_texts import entry_of

ROUTE = Route("ops", "ops")
SENDER = Sender("watch-1", "arena", ZoneInfo("Europe/Berlin"), "https://wiki.example/{event_id}")


def told(count: int = 1, seconds: int = 6, sender: Sender = SENDER, **fields: Any) -> Message:
    """Return the message about `count` alarms, with a template or fields of the alarms."""
    template = Template(fields.pop("title", ""), fields.pop("text", ""))
    desk = Desk(ROUTE)
    desk.plan = Plan((ROUTE,), sender, templates={"ops": template})
    desk.put(*(alarm(f"event-{number}", **fields) for number in range(count)))
    (message,) = desk.watch(seconds)
    return message


def test_a_template_gives_title_and_text() -> None:
    message = told(title="${kind}: ${event}", text="${actual} (expected ${expected})\nsince ${since}\n${link} $$5")
    assert message.title == "NO_INGEST: EVENT-0"
    assert message.text == "no samples (expected samples)\nsince 21:14:05 CET\nhttps://wiki.example/event-0 $5"
    assert json.loads(message.payload)["title"] == message.title


def test_a_template_cannot_hide_the_end_of_an_alarm() -> None:
    desk = Desk(ROUTE)
    desk.plan = Plan((ROUTE,), SENDER, templates={"ops": Template("${event}", "${since}, ${length}")})
    desk.put(alarm("one"))
    desk.watch(60)
    desk.put(over(alarm("one"), desk.now))
    (end,) = desk.watch(150)
    assert (end.title, end.text) == ("RESOLVED ONE", "21:14:05 to 21:15:06 CET, 61 s")


def test_several_alarms_are_counted_in_the_title_and_filled_one_by_one() -> None:
    message = told(40, title="${event}", text="${event}")
    assert message.title == "CRIT 40 x NO_INGEST"
    *named, rest, flood = message.text.splitlines()
    assert named == [f"EVENT-{number}" for number in (0, 1, 10, 11, 12)]
    assert (rest, flood) == ("and 35 more", "Flood: 40 alarms in the last 10 min")


def test_masks_apply_after_filling_and_a_value_is_not_filled_again() -> None:
    register_secret("k3y-of-the-stage-9c1d")
    message = told(text="${actual}${expected}", actual="k3y-of-the", expected="-stage-9c1d")
    assert "k3y-of-the-stage" not in message.text
    assert told(text="${actual}", actual="${advice} $link").text == "${advice} $link"
    assert told(text="${actual}", actual="a\nb\x1b[31m").text.count("\n") == 0


def test_a_long_template_is_cut_and_keeps_the_count() -> None:
    message = told(12, text="${event} ${actual}" * 9, actual="x" * 200)
    assert len(message.text) <= 1000
    assert len(told(title="${event}" * 100).title) <= 120


@pytest.mark.parametrize("template", ["${nothing}", "$", "${event", "${event.name}", "${event!r}", "100 $"])
@pytest.mark.parametrize("name", ["title", "text"])
def test_a_template_with_an_unknown_field_is_refused_when_the_settings_load(name: str, template: str) -> None:
    target = {"webhook_file": "/x", name: template}
    with pytest.raises(ValidationError, match=rf"targets.ops.{name}"):
        NotifySettings.model_validate({"targets": {"ops": target}})


@pytest.mark.parametrize("field", FIELDS)
def test_every_field_can_be_filled_and_is_documented(field: str) -> None:
    values: dict[str, Any] = {"actual": "no samples", "target_name": "Video share"}
    assert "$" not in told(text=f"<${{{field}}}>", **values).text
    assert f"`{field}`" in PAGE


# Links and times


def test_each_named_event_has_its_own_link_and_no_other() -> None:
    message = told(12)
    heads = [line for line in message.text.splitlines() if line.startswith("CRIT NO_INGEST")]
    links = re.findall(r"https://\S+", message.text)
    named = [re.findall(r"EVENT-\d+", head)[0].lower() for head in heads]
    assert [link.rpartition("/")[2] for link in links] == named
    assert message.text.splitlines()[-1] == "watch-1 profile arena: livedeck alarm list --profile arena"
    assert all(each["link"].endswith(f"/{each['event_id']}") for each in json.loads(message.payload)["alarms"])
    assert told().text.endswith("watch-1 profile arena: https://wiki.example/event-0")


def test_long_links_are_whole_and_fewer_alarms_are_named() -> None:
    link = f"https://wiki.example/{'x' * 150}/{{event_id}}"
    message = told(12, sender=replace(SENDER, link=link))
    links = re.findall(r"https://\S+", message.text)
    assert len(message.text) <= 1000
    assert links
    assert all(re.fullmatch(r"https://wiki.example/x{150}/event-\d+", found) for found in links)
    assert f"and {12 - len(links)} more" in message.text


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ("no samples since 20:13:23Z", "no samples since 21:13:23 CET"),
        ("silent from 23:59:30Z", "silent from 2026-11-22 00:59:30 CET"),
        ("made on 2026-11-20 10:00:00Z", "made on 2026-11-20 11:00:00 CET"),
        ("at 20:10Z", "at 21:10:00 CET"),
        ("frame 99:99:99Z, take 12:00Zulu", "frame 99:99:99Z, take 12:00Zulu"),
    ],
)
def test_all_times_of_a_text_are_of_one_zone(said: str, read: str) -> None:
    entry = replace(entry_of("one"), cause=said, actual="", severity=Severity.WARNING)
    message = compose("ops", "ops", [entry], NOW, SENDER)
    assert f"Cause: {read}" in message.text.splitlines()
    assert "Z\n" not in message.text.replace(said, "") or said in read

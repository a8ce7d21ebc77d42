"""Messages carry links that acknowledge their alarms: made for each try, and never in a spool, log or listing."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from golden.player import START, Clock
from golden.warp import Warp
from livedeck.cli.collect.links import link_of_route
from livedeck.collector.links import Links
from livedeck.collector.protocol.unsent import Letter
from livedeck.monitor import Alarm, AlarmKey, Severity
from livedeck.notify import DEAD, WAITING, Plan, Post, Route, Sender, SlackHook, Spool, Target, Teams, Template, Webhook
from livedeck.text.secrets import masked
from notify.stage import acknowledged, alarm, over
from notify.test_services import alertmanager, pagerduty, slack
from notify.vendors import AlertmanagerSink, PagerDutySink, SlackSink, TeamsSink
from notify.warped import Sink, notifying, watch

ADDRESS = "https://watch.example"
PLAN = Plan(sender=Sender(has_links=True))


def links() -> Links:
    return Links(b"k" * 32, ADDRESS, lambda: START)


def by_route(standing: Alarm, route: str) -> str:
    """Return the link of an alarm for a route, as the collector makes it."""
    return link_of_route(links(), standing, route)


class Board:
    """Receiver, and the alarms that a notifier watches."""

    def __init__(self, sink: Sink, path: Path, make: Callable[[Post, str], Target] = Webhook) -> None:
        self.sink, self.path, self.make = sink, path, make
        self.alarms: dict[AlarmKey, Alarm] = {}

    def put(self, *alarms: Alarm) -> None:
        self.alarms |= {each.key: each for each in alarms}

    def play(self, *spans: Callable[[], int], plan: Plan = PLAN) -> None:
        """Change the alarms and watch them for the returned seconds, span by span."""

        async def work() -> None:
            async with notifying(
                self.path, {"ops": self.sink}, Route("ops", "ops"), make=self.make, plan=plan, link=by_route
            ) as notifier:
                for span in spans:
                    await watch(notifier, self.alarms, span())

        with asyncio.Runner(loop_factory=Warp) as runner:
            runner.run(work())

    def begin(self, *names: str, seconds: int = 10) -> Callable[[], int]:
        def change() -> int:
            self.put(*(alarm(name, since=Clock().now(), changed=Clock().now()) for name in names))
            return seconds

        return change


def found(text: str) -> list[str]:
    """The links in a text, in their order."""
    return [word.strip('",') for word in text.split() if word.strip('",').startswith(f"{ADDRESS}/v1/link/")]


def key_of(link: str) -> AlarmKey:
    """Return the key of the alarm that a link acknowledges."""
    return links().read(link.rpartition("/")[2]).key


def test_text_and_json_link_each_alarm_under_the_name_of_the_route(tmp_path: Path) -> None:
    board = Board(Sink(), tmp_path / "spool")
    board.play(board.begin("one", "two"))
    (post,) = board.sink.posts
    in_text, in_json = found(post.json["text"]), [each["acknowledge"] for each in post.json["alarms"]]
    assert [key_of(link).event_id for link in in_text] == ["one", "two"]
    assert in_text == in_json
    assert links().read(in_text[0].rpartition("/")[2]).actor == "link from route ops"
    assert len({*in_text}) == 2


def test_an_alarm_that_needs_no_acknowledgement_has_no_link(tmp_path: Path) -> None:
    board = Board(Sink(), tmp_path / "spool")

    def handle() -> int:
        board.put(acknowledged(board.alarms[alarm("one").key], Clock().now()))
        return 60

    def clear() -> int:
        board.put(*(over(each, Clock().now()) for each in board.alarms.values()))
        return 200

    down = [True]
    board.sink.answer = lambda _: (503, "") if down else (200, "")

    def mend() -> int:
        down.clear()
        return 400

    board.play(board.begin("one", "two"), handle, mend, clear)
    begin, end = [post for post in board.sink.posts if post.status == 200]
    assert [key_of(link).event_id for link in found(begin.json["text"])] == ["two"]
    assert begin.json["text"].count("Acknowledge") == 1
    assert [bool(each["acknowledge"]) for each in begin.json["alarms"]] == [False, True]
    assert (end.json["status"], found(end.body)) == ("resolved", [])


def test_without_links_a_message_has_no_place_for_one(tmp_path: Path) -> None:
    board = Board(Sink(), tmp_path / "spool")
    board.play(board.begin("one"), plan=Plan())
    (post,) = board.sink.posts
    assert "cknowledge" not in post.json["text"]


@pytest.mark.parametrize("count", [1, 3])
def test_a_template_places_the_link_itself(tmp_path: Path, count: int) -> None:
    board = Board(Sink(), tmp_path / "spool")
    words = Template("${kind} ${acknowledge}", "${event}: ${acknowledge}")
    names = [f"event-{number}" for number in range(count)]
    board.play(board.begin(*names), plan=replace(PLAN, templates={"ops": words}))
    (post,) = board.sink.posts
    lines = post.json["text"].splitlines()
    assert [key_of(line.partition(": ")[2]).event_id for line in lines] == names
    assert "watch.example" not in post.title
    assert "••••" not in post.body


def test_each_service_gets_the_link_where_its_format_has_a_place(tmp_path: Path) -> None:
    pager, chat, card, alerts = PagerDutySink(), SlackSink(), TeamsSink(), AlertmanagerSink()
    made: dict[str, tuple[Sink, Callable[[Post, str], Target]]] = {
        "pager": (pager, pagerduty),
        "chat": (chat, slack),
        "card": (card, Teams),
        "alerts": (alerts, alertmanager),
    }
    for name, (sink, make) in made.items():
        board = Board(sink, tmp_path / name, make)
        board.play(board.begin("one"))
    (event,) = pager.events
    assert [link["text"] for link in event["links"]] == ["Acknowledge in livedeck"]
    assert key_of(event["links"][0]["href"]).event_id == "one"
    (text,) = chat.messages.values()
    assert [key_of(link).event_id for link in found(text)] == ["one"]
    ((*_, line, _),) = card.cards
    assert line == "Acknowledge"
    assert [key_of(link).event_id for link in card.acknowledging] == ["one"]
    known = [each["acknowledge"] for each in alerts.annotations if "acknowledge" in each]
    assert {key_of(link).event_id for link in known} == {"one"}


def test_a_stranger_cannot_name_the_place_of_a_link(tmp_path: Path) -> None:
    board = Board(Sink(), tmp_path / "spool")
    board.play(board.begin("••••00000000"))
    (post,) = board.sink.posts
    assert len(found(post.json["text"])) == 1
    assert post.json["text"].startswith("••••00000000: ")


class EchoSink(Sink):
    """A receiver that refuses each message and answers with it, escaped as some libraries do."""

    def respond(self, path: str, headers: Any, body: str) -> tuple[int, str, str]:
        del path, headers
        return 500, "", body.replace("/", "\\/").replace(" ", "")[-1500:]


def test_no_link_reaches_the_spool_the_log_or_a_listing(tmp_path: Path) -> None:
    board = Board(EchoSink(), tmp_path / "spool")
    with capture_logs() as log:
        board.play(board.begin("one", seconds=40))
    assert found(board.sink.posts[0].json["text"])
    ticket = found(board.sink.posts[0].json["text"])[0].rpartition("/")[2]
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    spool = Spool(tmp_path / "spool", reads=True)
    unsent = [*spool.messages(WAITING), *spool.messages(DEAD)]
    spool.close()
    listed = "".join(Letter.of(spooled).model_dump_json() for spooled in unsent)
    assert unsent
    for text in (stored.decode(errors="replace"), listed, repr(log)):
        assert ticket[:60] not in text
        assert f"{ADDRESS}/v1/link/" not in text
    assert log


@pytest.mark.parametrize("form", [str, lambda link: link.replace("/", "\\/"), lambda link: link.rpartition("/")[2]])
def test_a_link_in_any_text_is_masked(form: Callable[[str], str]) -> None:
    link = by_route(alarm("one", severity=Severity.WARNING), "ops")
    text = masked(f"got {form(link)} as text")
    ticket = link.rpartition("/")[2]
    assert ticket[:12] not in text
    assert ticket[-12:] not in text


def test_a_plain_text_of_300_characters_has_no_part_of_a_link(tmp_path: Path) -> None:
    board = Board(Sink(lambda body: (400, "") if body.startswith("{") else (200, "")), tmp_path / "spool")
    board.play(board.begin("one"))
    (plain,) = [post for post in board.sink.posts if not post.json]
    assert "cknowledge" not in plain.body
    assert json.dumps(plain.body, ensure_ascii=False).count("•") == 0


def test_a_hook_of_slack_gets_the_link_in_its_text(tmp_path: Path) -> None:
    board = Board(Sink(), tmp_path / "spool", SlackHook)
    board.play(board.begin("one"))
    (post,) = board.sink.posts
    assert len(found(json.loads(post.body)["text"])) == 1

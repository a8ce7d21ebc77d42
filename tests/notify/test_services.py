"""Targets with their own formats, against receivers that check the published formats, in virtual time."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from golden.player import Clock
from golden.warp import Warp
from livedeck.client import Outgoing
from livedeck.monitor import Alarm, AlarmKey, Severity
from livedeck.notify import (
    DEAD,
    Alertmanager,
    Message,
    PagerDuty,
    Plan,
    Post,
    Route,
    Sender,
    Slack,
    SlackHook,
    Spool,
    Status,
    Target,
    Teams,
    compose,
)
from notify.stage import NOW, Desk, acknowledged, alarm
from notify.test_egress import EVERYWHERE
from notify.test_texts import entry_of
from notify.vendors import CHANNEL, PAGER_KEY, SLACK_TOKEN, AlertmanagerSink, PagerDutySink, SlackSink, TeamsSink
from notify.warped import Sink, notifying, watch

PLAN = Plan(sender=Sender(origin="0a1b2c3d", link="https://wiki.example/{event_id}"), acknowledging=frozenset({"ops"}))
Make = Callable[[Post, str], Target]


def pagerduty(post: Post, address: str) -> Target:
    """Return a PagerDuty target at an address."""
    return PagerDuty(post, PAGER_KEY, address)


def slack(post: Post, address: str) -> Target:
    """Return a Slack target at an address."""
    return Slack(post, SLACK_TOKEN, CHANNEL, address)


def alertmanager(post: Post, address: str) -> Target:
    """Return an Alertmanager target at an address, with the virtual clock."""
    return Alertmanager(post, address, "0a1b2c3d", Clock().now)


MAKES: dict[str, Make] = {
    "alertmanager": alertmanager,
    "pagerduty": pagerduty,
    "slack": slack,
    "slack hook": SlackHook,
    "teams": Teams,
}


def run(work: Coroutine[Any, Any, None]) -> None:
    """Do the work in virtual time."""
    with asyncio.Runner(loop_factory=Warp) as runner:
        runner.run(work)


def begun(*names: str, severity: Severity = Severity.CRITICAL, **fields: Any) -> dict[AlarmKey, Alarm]:
    """Return alarms that begin now."""
    now = Clock().now()
    found = [alarm(name, severity=severity, since=now, changed=now, **fields) for name in names]
    return {each.key: each for each in found}


def in_file(path: Path, state: str) -> list[str]:
    """Return the replies to the messages of the file in that state."""
    spool = Spool(path, reads=True)
    found = [each.answer for each in spool.messages(state)]
    spool.close()
    return found


# All of them


@pytest.mark.parametrize("make", MAKES.values(), ids=MAKES)
def test_a_service_that_hangs_is_given_up_and_tried_again(tmp_path: Path, make: Make) -> None:
    sink = Sink(is_hanging=True)

    async def work() -> None:
        async with notifying(tmp_path / "spool", {"ops": sink}, make=make) as notifier:
            await watch(notifier, begun("one"), 40)
            assert notifier.waiting == 1

    run(work())
    assert len(sink.posts) >= 2
    assert sink.posts[1].at - sink.posts[0].at <= 12


@pytest.mark.parametrize("make", MAKES.values(), ids=MAKES)
def test_a_wait_that_a_service_asks_for_is_kept(tmp_path: Path, make: Make) -> None:
    sink = Sink(lambda _: (429, "40"))

    async def work() -> None:
        async with notifying(tmp_path / "spool", {"ops": sink}, make=make) as notifier:
            await watch(notifier, begun("one"), 80)

    run(work())
    tries = [post for post in sink.posts if "NO_INGEST" in post.body]
    later = [post.at - tries[0].at for post in tries if post.at - tries[0].at > 1]
    assert make is alertmanager or min(later) >= 40


@pytest.mark.parametrize("make", MAKES.values(), ids=MAKES)
def test_a_private_address_needs_an_entry(make: Make) -> None:
    async def work() -> None:
        async with Outgoing(egress=replace(EVERYWHERE, networks=(), hosts=frozenset())) as way:
            delivery = await make(way.send, "http://127.0.0.1:9/x").send(message())
            assert not delivery.is_taken
            assert "allow_private" in delivery.answer

    run(work())


def message() -> Message:
    """Return a message about one alarm."""
    desk = Desk()
    desk.plan = replace(PLAN, routes=desk.plan.routes)
    desk.put(alarm())
    return desk.watch(6)[0]


# PagerDuty


def test_each_alarm_is_an_incident_of_pagerduty_until_it_clears(tmp_path: Path) -> None:
    sink = PagerDutySink()
    names = [f"event-{number}" for number in range(120)]

    async def work() -> None:
        async with notifying(tmp_path / "spool", {"ops": sink}, make=pagerduty, plan=PLAN) as notifier:
            alarms = begun(*names)
            await watch(notifier, alarms, 20)
            assert sink.states == ["triggered"] * 120
            first = next(iter(alarms))
            alarms[first] = acknowledged(alarms[first], Clock().now())
            await watch(notifier, alarms, 20)
            assert sink.states == ["acknowledged", *["triggered"] * 119]
            await watch(notifier, {}, 200)
            assert sink.states == ["resolved"] * 120

    run(work())
    assert {post.status for post in sink.posts} == {202}
    triggers = [event for event in sink.events if event["event_action"] == "trigger"]
    assert len(triggers) == len(sink.incidents) == 120
    assert [event["event_action"] for event in sink.events].count("acknowledge") == 1
    payload = triggers[0]["payload"]
    assert payload["summary"] == f"CRIT NO_INGEST {payload['source']}: no samples"
    assert (payload["severity"], payload["class"]) == ("critical", "NO_INGEST")
    assert payload["custom_details"]["advice"] == "call the venue"
    assert triggers[0]["links"][0]["href"] == f"https://wiki.example/{payload['source'].lower()}"


def test_a_refusal_of_the_pace_makes_the_rest_wait_and_repeats_no_event(tmp_path: Path) -> None:
    sink, taken = PagerDutySink(), list[str]()

    def answer(body: str) -> tuple[int, str]:
        taken.append(body)
        return (429, "20") if len(taken) == 30 else (200, "")

    sink.answer = answer

    async def work() -> None:
        async with notifying(tmp_path / "spool", {"ops": sink}, make=pagerduty, plan=PLAN) as notifier:
            await watch(notifier, begun(*(f"event-{number}" for number in range(60))), 60)

    run(work())
    assert (len(sink.events), len(sink.incidents)) == (60, 60)
    (refused_at,) = (post.at for post in sink.posts if post.status == 429)
    assert min(post.at for post in sink.posts if post.at > refused_at + 1) >= refused_at + 20


@pytest.mark.parametrize("make", [pagerduty, slack])
def test_a_message_that_a_slow_pace_takes_part_by_part_is_no_dead_letter(tmp_path: Path, make: Make) -> None:
    sink, calls = (PagerDutySink() if make is pagerduty else SlackSink()), list[str]()

    def answer(body: str) -> tuple[int, str]:
        calls.append(body)
        return (429, "5") if len(calls) % 4 == 0 else (200, "")

    sink.answer = answer

    async def work() -> None:
        each = (Route("ops", "ops", group_by="event"),)
        async with notifying(tmp_path / "spool", {"ops": sink}, *each, make=make, plan=PLAN) as notifier:
            alarms = begun(*(f"event-{number}" for number in range(24)))
            await watch(notifier, alarms, 300)
            await watch(notifier, begun("later"), 400)
            assert notifier.waiting == 0

    run(work())
    assert in_file(tmp_path / "spool", DEAD) == []
    if isinstance(sink, PagerDutySink):
        assert sink.states == ["resolved"] * 24 + ["triggered"]
    else:
        assert [text.split()[0] for text in sink.messages.values()] == ["RESOLVED"] * 24 + ["CRIT"]


def test_an_event_that_pagerduty_refuses_stands_in_no_other_events_way(tmp_path: Path) -> None:
    sink = PagerDutySink(refused="POISON: no samples")

    async def work() -> None:
        async with notifying(tmp_path / "spool", {"ops": sink}, make=pagerduty, plan=PLAN) as notifier:
            await watch(notifier, begun("poison", "one", "two"), 60)
            assert notifier.waiting == 0

    run(work())
    assert sink.states == ["triggered"] * 2
    assert len(in_file(tmp_path / "spool", DEAD)) == 1


def test_an_end_after_a_restart_has_the_key_of_its_beginning(tmp_path: Path) -> None:
    sink = PagerDutySink()

    async def work() -> None:
        async with notifying(tmp_path / "spool", {"ops": sink}, make=pagerduty, plan=PLAN) as notifier:
            alarms = begun("one", "two")
            await watch(notifier, alarms, 20)
        async with notifying(tmp_path / "spool", {"ops": sink}, make=pagerduty, plan=PLAN) as notifier:
            await watch(notifier, alarms, 20)
            await watch(notifier, {}, 200)

    run(work())
    assert sink.states == ["resolved"] * 2


# Slack


def test_the_end_edits_the_message_of_slack_and_joins_its_thread(tmp_path: Path) -> None:
    sink = SlackSink()

    async def work() -> None:
        async with notifying(tmp_path / "spool", {"ops": sink}, make=slack, plan=PLAN) as notifier:
            alarms = begun("one", "two")
            await watch(notifier, alarms, 20)
            (text,) = sink.messages.values()
            assert text.startswith("CRIT 2 alarms: NO_INGEST ONE, NO_INGEST TWO\nCRIT NO_INGEST ONE: no samples, ")
        async with notifying(tmp_path / "spool", {"ops": sink}, make=slack, plan=PLAN) as notifier:
            del alarms[alarm("one").key]
            await watch(notifier, alarms, 200)
            (text,) = sink.messages.values()
            assert text.startswith("RESOLVED NO_INGEST ONE after ")
            assert text.endswith("\nStill open: NO_INGEST TWO")
            await watch(notifier, {}, 200)

    run(work())
    ((at, text),) = sink.messages.items()
    assert text.startswith("RESOLVED NO_INGEST TWO after ")
    assert [line.partition(" after")[0] for line in sink.threads[at]] == [
        "RESOLVED NO_INGEST ONE",
        "RESOLVED NO_INGEST TWO",
    ]


def test_an_alarm_that_has_become_worse_joins_the_thread_of_its_message(tmp_path: Path) -> None:
    sink = SlackSink()

    async def work() -> None:
        async with notifying(tmp_path / "spool", {"ops": sink}, make=slack, plan=PLAN) as notifier:
            await watch(notifier, alarms := begun("one", severity=Severity.WARNING), 20)
            worse = {key: replace(each, severity=Severity.CRITICAL) for key, each in alarms.items()}
            await watch(notifier, worse, 20)
            await watch(notifier, {}, 200)

    run(work())
    ((at, text),) = sink.messages.items()
    assert text.startswith("RESOLVED NO_INGEST ONE")
    assert [line.split()[0] for line in sink.threads[at]] == ["CRIT", "RESOLVED"]
    assert [json.loads(post.body).get("reply_broadcast") for post in sink.posts] == [None, True, None, None]


def test_a_message_that_slack_has_lost_is_followed_by_a_plain_end(tmp_path: Path) -> None:
    sink = SlackSink()

    async def work() -> None:
        async with notifying(tmp_path / "spool", {"ops": sink}, make=slack, plan=PLAN) as notifier:
            await watch(notifier, begun("one"), 20)
            sink.messages.clear()
            await watch(notifier, {}, 200)
            assert notifier.waiting == 0

    run(work())
    (text,) = sink.messages.values()
    assert text.startswith("RESOLVED NO_INGEST ONE after ")


def test_an_error_of_slack_is_a_failure_although_its_status_is_200(tmp_path: Path) -> None:
    sink = SlackSink(error="not_in_channel")

    async def work() -> None:
        async with notifying(tmp_path / "spool", {"ops": sink}, make=slack, plan=PLAN) as notifier:
            alarms = begun("one")
            await watch(notifier, alarms, 20)
            assert notifier.waiting == 1
            assert [each.answer for each in await notifier.unsent()] == ["200 not_in_channel"]
            sink.error = ""
            await watch(notifier, alarms, 60)
            assert notifier.waiting == 0

    run(work())
    assert len(sink.messages) == 1


def test_a_step_of_an_end_that_failed_repeats_no_finished_step(tmp_path: Path) -> None:
    sink = SlackSink()

    async def work() -> None:
        async with notifying(tmp_path / "spool", {"ops": sink}, make=slack, plan=PLAN) as notifier:
            await watch(notifier, begun("one"), 20)
            sink.errors = {"chat.postMessage": "internal_error"}
            await watch(notifier, {}, 150)
            sink.errors = {}
            await watch(notifier, {}, 60)

    run(work())
    assert [post.path for post in sink.posts].count("/api/chat.update") == 1
    assert [len(lines) for lines in sink.threads.values()] == [1]


def test_no_name_mentions_a_channel_of_slack(tmp_path: Path) -> None:
    sink = SlackSink()

    async def work() -> None:
        async with notifying(tmp_path / "spool", {"ops": sink}, make=slack, plan=PLAN) as notifier:
            alarms = {key: replace(each, subject="<!channel> & <http://x|y>") for key, each in begun("one").items()}
            await watch(notifier, alarms, 20)

    run(work())
    (text,) = sink.messages.values()
    assert "&lt;!channel&gt; &amp; &lt;" in text
    assert "<" not in text


def test_a_hook_of_slack_reads_no_markdown_and_previews_no_link(tmp_path: Path) -> None:
    sink = Sink()

    async def work() -> None:
        async with notifying(tmp_path / "spool", {"ops": sink}, make=SlackHook, plan=PLAN) as notifier:
            await watch(notifier, begun("one"), 20)

    run(work())
    (post,) = sink.posts
    plain = {name: value for name, value in json.loads(post.body).items() if name != "text"}
    assert plain == {"mrkdwn": False, "unfurl_links": False, "unfurl_media": False}


@pytest.mark.parametrize(
    ("make", "sink"),
    [(pagerduty, PagerDutySink()), (Teams, TeamsSink()), (alertmanager, AlertmanagerSink())],
    ids=["pagerduty", "teams", "alertmanager"],
)
def test_a_hidden_name_leaves_no_field_empty(tmp_path: Path, make: Make, sink: Sink) -> None:
    async def work() -> None:
        async with notifying(tmp_path / "spool", {"ops": sink}, make=make, plan=PLAN) as notifier:
            alarms = {key: replace(each, subject="\u200b\u00ad") for key, each in begun("one").items()}
            await watch(notifier, alarms, 20)

    run(work())
    assert {post.status for post in sink.posts} <= {200, 202}
    assert [post.body for post in sink.posts if '""' in post.body] == []


# Teams


def test_a_card_of_teams_is_small_and_its_texts_are_no_markdown(tmp_path: Path) -> None:
    sink = TeamsSink()
    name = "[evil](https://evil.example) \U0001f525" * 4

    async def work() -> None:
        async with notifying(tmp_path / "spool", {"ops": sink}, make=Teams, plan=PLAN) as notifier:
            alarms = begun(*(f"event-{number}" for number in range(300)))
            await watch(notifier, {key: replace(each, subject=name) for key, each in alarms.items()}, 20)
            await watch(notifier, {}, 200)

    run(work())
    assert {post.status for post in sink.posts} == {202}
    assert [card[0] for card in sink.cards] == ["CRIT 300 x NO_INGEST", "RESOLVED 300 x NO_INGEST"]
    assert len(sink.links[0]) == 5


def test_a_name_is_no_time_in_a_card_of_teams(tmp_path: Path) -> None:
    sink = TeamsSink()

    async def work() -> None:
        async with notifying(tmp_path / "spool", {"ops": sink}, make=Teams, plan=PLAN) as notifier:
            name = "{{{TIME(2017-02-14T06:08:39Z)}}}"
            await watch(notifier, {key: replace(each, subject=name) for key, each in begun("one").items()}, 20)

    run(work())
    (card,) = sink.cards
    assert "{ { {TIME(2017-02-14T06:08:39Z)}}}" in card[0]
    assert not any("{{" in text for text in card)


# Alertmanager


def test_alertmanager_has_what_the_board_has_also_after_it_was_killed(tmp_path: Path) -> None:
    sink, watchdog = AlertmanagerSink(), ["LivedeckWatch"]

    async def work() -> None:
        async with notifying(tmp_path / "spool", {"ops": sink}, make=alertmanager, plan=PLAN) as notifier:
            alarms = begun(*(f"event-{number}" for number in range(200)))
            await watch(notifier, alarms, 15)
            all_firing = sink.firing()
            assert len(all_firing) == 201
            sink.kill()
            await watch(notifier, alarms, 15)
            assert sink.firing() == all_firing
        assert sink.firing(after=7200) == [name for name in all_firing if name not in watchdog]
        assert (len(sink.firing(after=86_380)), len(sink.firing(after=86_400))) == (200, 0)
        sink.kill()
        async with notifying(tmp_path / "spool", {"ops": sink}, make=alertmanager, plan=PLAN) as notifier:
            await asyncio.sleep(1)
            assert sink.firing() == all_firing
            await watch(notifier, {}, 200)
            assert sink.firing() == watchdog
            assert len(sink.alerts) == 201

    run(work())
    assert {post.status for post in sink.posts} == {200}
    assert max(after.at - before.at for before, after in zip(sink.posts, sink.posts[1:], strict=False)) <= 15.1


def test_a_worse_alarm_of_alertmanager_takes_the_place_of_the_milder_one(tmp_path: Path) -> None:
    sink = AlertmanagerSink()

    async def work() -> None:
        async with notifying(tmp_path / "spool", {"ops": sink}, make=alertmanager, plan=PLAN) as notifier:
            await watch(notifier, alarms := begun("one", severity=Severity.WARNING), 20)
            worse = {key: replace(each, severity=Severity.CRITICAL) for key, each in alarms.items()}
            await watch(notifier, worse, 20)
            firing = [dict(labels) for labels, (_, end) in sink.alerts.items() if end > Clock().now()]
            assert sorted(each["severity"] for each in firing) == ["critical", "none"]
            await watch(notifier, {}, 200)
            assert sink.firing() == ["LivedeckWatch"]

    run(work())


def test_an_end_that_alertmanager_did_not_take_is_not_opened_anew(tmp_path: Path) -> None:
    sink = AlertmanagerSink()

    async def work() -> None:
        async with notifying(tmp_path / "spool", {"ops": sink}, make=alertmanager, plan=PLAN) as notifier:
            await watch(notifier, begun("one"), 20)
            sink.answer = lambda _: (503, "")
            await watch(notifier, {}, 600)
            assert "has taken nothing since" in notifier.failure.reason
            sink.kill()
            sink.answer = lambda _: (200, "")
            await watch(notifier, {}, 20)
            assert sink.firing() == ["LivedeckWatch"]
            assert notifier.waiting == 0

    run(work())


def test_the_heartbeat_of_alertmanager_ends_soon_after_livedeck(tmp_path: Path) -> None:
    sink = AlertmanagerSink()

    async def work() -> None:
        async with notifying(tmp_path / "spool", {"ops": sink}, make=alertmanager, plan=PLAN):
            await asyncio.sleep(100)
        assert sink.firing() == ["LivedeckWatch"]
        assert sink.firing(after=121) == []

    run(work())
    assert len(sink.posts) == 7


def test_a_test_of_alertmanager_ends_by_itself() -> None:
    sink = AlertmanagerSink()

    async def work() -> None:
        server = await asyncio.start_server(sink.serve, "127.0.0.1", 0)
        host, port = server.sockets[0].getsockname()
        tried = replace(entry_of("one"), status=Status.TEST, since=Clock().now())
        async with Outgoing(egress=EVERYWHERE) as way:
            sent = compose("ops", "ops", [tried], Clock().now(), PLAN.sender)
            assert (await alertmanager(way.send, f"http://{host}:{port}").send(sent)).is_taken
        assert (len(sink.firing(after=290)), len(sink.firing(after=310))) == (1, 0)
        server.close()

    run(work())


def test_an_annotation_of_alertmanager_has_the_evidence() -> None:
    desk = Desk(Route("ops", "ops"))
    desk.plan = replace(PLAN, routes=desk.plan.routes)
    desk.put(alarm(target="7", target_name="Video share"))
    (found,) = desk.watch(6)
    sink = AlertmanagerSink()

    async def work() -> None:
        server = await asyncio.start_server(sink.serve, "127.0.0.1", 0)
        host, port = server.sockets[0].getsockname()
        async with Outgoing(egress=EVERYWHERE) as way:
            address = f"http://{host}:{port}"
            target = Alertmanager(way.send, address, "0a1b2c3d", lambda: NOW + timedelta(seconds=6))
            assert (await target.send(found)).is_taken
        server.close()

    asyncio.run(work())
    ((labels, _),) = sink.alerts.items()
    assert dict(labels) == {
        "alertname": "NO_INGEST",
        "event": "ONE",
        "event_id": "one",
        "kind": "NO_INGEST",
        "severity": "critical",
        "target": "7",
        "origin": "0a1b2c3d",
    }
    (annotations,) = sink.annotations
    assert annotations["summary"] == "CRIT NO_INGEST ONE / Video share"
    assert (annotations["actual"], annotations["cause"]) == ("no samples", "the encoder is off")

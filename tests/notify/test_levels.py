"""Who is notified again and further up, and which alarms share a message (notifications.md, "Levels", "Groups")."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from livedeck.monitor import DECK, Severity
from livedeck.notify import (
    GROUPINGS,
    Board,
    EventInfo,
    Level,
    Message,
    Outcome,
    Plan,
    Route,
    Spool,
    State,
    Status,
    step,
)
from livedeck.settings import NotifySettings
from notify.stage import NOW, Desk, acknowledged, alarm, over, titles

LEVELS = Route("ops", "ops", levels=(Level(5, "boss"), Level(15, "cto", 10)))


def minutes(messages: list[Message], target: str, *statuses: Status) -> list[int]:
    """Whole minutes after the onset at which these messages went to a target."""
    wanted = [message for message in messages if message.target == target and message.status in statuses]
    return [(message.at - NOW) // timedelta(minutes=1) for message in wanted]


def test_a_critical_alarm_that_nobody_handles_is_sent_again_and_again() -> None:
    desk = Desk(Route("ops", "ops", repeat=30))
    desk.put(alarm("one"), alarm("two", severity=Severity.WARNING))
    desk.watch(7200, each=5)
    assert minutes(desk.told, "ops", Status.REPEATED) == [30, 60, 90]
    assert {message.title for message in desk.told[1:]} == {"STILL NOT ACKNOWLEDGED CRIT NO_INGEST ONE"}
    desk.put(acknowledged(alarm("one"), desk.now))
    assert desk.watch(7200, each=5) == []
    desk.put(over(alarm("one"), desk.now), over(alarm("two", severity=Severity.WARNING), desk.now))
    assert [message.status for message in desk.watch(300, each=5)] == [Status.RESOLVED]


def test_a_route_without_repeat_sends_a_critical_alarm_once() -> None:
    desk = Desk(Route("ops", "ops", repeat=0))
    desk.put(alarm("one"))
    assert len(desk.watch(86_400, each=60)) == 1


def test_a_repeat_that_waited_for_the_allowance_counts_from_its_message() -> None:
    desk = Desk(Route("ops", "ops", repeat=2))
    desk.put(alarm())
    desk.watch(6)
    for number in range(6):  # the whole allowance, so that the repeat waits
        desk.put(alarm(f"w{number}", "FPS_LOW", Severity.WARNING, since=desk.now, changed=desk.now))
        desk.watch(12)
    sent = [message.at for message in desk.watch(1500) if message.status is Status.REPEATED]
    gaps = [(after - before).total_seconds() for before, after in pairwise(sent)]
    assert (sent[0] - NOW).total_seconds() > 300
    assert min(gaps) >= 120


def test_repeats_of_many_alarms_share_a_message_and_the_allowance() -> None:
    desk = Desk(Route("ops", "ops", repeat=1, group_by="event"))
    desk.put(*(alarm(f"event-{number}") for number in range(40)))
    desk.watch(30)
    told = desk.watch(1200, each=1)
    assert {message.status for message in told} == {Status.REPEATED}
    for message in told:
        near = [other for other in told if abs(other.at - message.at) < timedelta(minutes=5)]
        assert len(near) <= 6
    assert not any(message.is_urgent for message in told)


def test_each_level_is_notified_at_its_time_and_learns_of_the_end() -> None:
    desk = Desk(LEVELS)
    desk.put(alarm("one"))
    desk.watch(2400, each=5)
    assert minutes(desk.told, "ops", Status.FIRING) == [0]
    assert minutes(desk.told, "boss", Status.ESCALATED) == [5]
    assert minutes(desk.told, "cto", Status.ESCALATED, Status.REPEATED) == [15, 25, 35]
    desk.put(over(alarm("one"), desk.now))
    ends = desk.watch(300, each=5)
    assert sorted((message.target, message.status) for message in ends) == [
        ("boss", Status.RESOLVED),
        ("cto", Status.RESOLVED),
        ("ops", Status.RESOLVED),
    ]


def test_an_acknowledgement_stops_every_level() -> None:
    desk = Desk(LEVELS)
    desk.put(alarm("one"))
    desk.watch(400, each=5)
    desk.put(acknowledged(alarm("one"), desk.now))
    assert desk.watch(7200, each=5) == []
    desk.put(over(alarm("one"), desk.now))
    assert sorted(message.target for message in desk.watch(300, each=5)) == ["boss", "ops"]


def test_escalate_is_short_for_one_level() -> None:
    assert Route("ops", "ops", escalate=5, escalate_to="boss").escalations == (Level(5, "boss"),)


def test_levels_and_repeats_go_on_after_a_restart(tmp_path: Path) -> None:
    plan, events = Plan((replace(LEVELS, repeat=30),)), {"one": EventInfo("ONE", is_on_air=True)}
    state, now, told = State(), NOW, list[Message]()
    for number in range(60):
        spool = Spool(tmp_path / "spool")
        state = spool.state(now)
        for _ in range(12):
            now += timedelta(seconds=5)
            state, messages, _ = step(plan, state, Board((alarm("one"),), events), now)
            told += messages
            spool.keep(Outcome(state, messages), now)
        spool.close()
        assert number < 60
    assert minutes(told, "boss", Status.ESCALATED) == [5]
    assert minutes(told, "cto", Status.ESCALATED, Status.REPEATED) == [15, 25, 35, 45, 55]
    assert minutes(told, "ops", Status.REPEATED) == [30]


# Groups

PROJECTS = {"one": "p", "two": "p", "three": "q"}


def grouped(by: str, **fields: Any) -> list[list[str]]:
    """The alarms of each message about six alarms of three events."""
    route = Route("ops", "ops", group_by=by, **fields)
    events = {name: EventInfo(name.upper(), project=project) for name, project in PROJECTS.items()}
    alarms = [alarm(name, kind) for name in PROJECTS for kind in ("NO_INGEST", "BLACKOUT")]
    state, told = State(), list[Message]()
    for seconds in range(12):
        now = NOW + timedelta(seconds=seconds)
        state, messages, _ = step(Plan((route,)), state, Board(alarms, events), now)
        told += messages
    return sorted(
        sorted("/".join(beginning.life.split("/")[:2]) for beginning in message.beginnings) for message in told
    )


def test_alarms_share_a_message_as_the_route_groups_them() -> None:
    found = {by: grouped(by) for by in GROUPINGS}
    assert {by: sorted(map(len, groups)) for by, groups in found.items()} == {
        "incident": [6],
        "event": [2, 2, 2],
        "project": [2, 4],
        "kind": [3, 3],
        "none": [1] * 6,
    }
    assert ["one/BLACKOUT", "one/NO_INGEST"] in found["event"]
    assert ["three/BLACKOUT", "three/NO_INGEST"] in found["project"]
    assert ["one/NO_INGEST", "three/NO_INGEST", "two/NO_INGEST"] in found["kind"]


@pytest.mark.parametrize("wait", [0, 5, 20])
def test_a_group_waits_as_long_as_its_route_says(wait: int) -> None:
    desk = Desk(Route("ops", "ops", group_wait=timedelta(seconds=wait)))
    desk.put(alarm("one"))
    desk.watch(30)
    assert [(message.at - NOW).total_seconds() for message in desk.told] == [max(1, wait)]


def test_warnings_that_join_a_group_wait_for_its_interval_and_criticals_do_not() -> None:
    desk = Desk(Route("ops", "ops", group_by="event", group_interval=timedelta(seconds=60)))
    for seconds, kind, severity in [
        (0, "FPS_LOW", Severity.WARNING),
        (20, "AUDIO_LOW", Severity.WARNING),
        (30, "BLACKOUT", Severity.CRITICAL),
        (40, "VIDEO_LOW", Severity.WARNING),
    ]:
        desk.watch(seconds - (desk.now - NOW).total_seconds())
        desk.put(alarm("one", kind, severity, since=desk.now, changed=desk.now))
    desk.watch(120)
    at = {message.title: round((message.at - NOW).total_seconds()) for message in desk.told}
    assert at == {"WARN FPS_LOW ONE": 5, "CRIT BLACKOUT ONE": 35, "WARN 2 alarms: AUDIO_LOW ONE, VIDEO_LOW ONE": 95}


def test_a_failing_target_is_told_by_the_others_at_once() -> None:
    desk = Desk(Route("ops", "ops", group_wait=timedelta(seconds=20), group_interval=timedelta(seconds=300)))
    for number in range(8):  # the allowance is used up, and the group has just had its message
        desk.put(alarm(f"event-{number}", severity=Severity.WARNING, since=desk.now, changed=desk.now))
        desk.watch(40)
    desk.put(alarm(DECK, "NOTIFY_FAILING", Severity.WARNING, since=desk.now, changed=desk.now))
    at = desk.now
    (first, *_) = [message for message in desk.watch(30) if "NOTIFY_FAILING" in message.title]
    assert (first.at - at).total_seconds() <= 1


def test_groups_beyond_the_allowance_share_a_message() -> None:
    desk = Desk(Route("ops", "ops", group_by="none"))
    desk.put(*(alarm(f"event-{number}", severity=Severity.WARNING) for number in range(30)))
    told = desk.watch(10)
    assert titles(told) == ["WARN 30 x NO_INGEST"]


def test_a_flood_of_criticals_waits_for_no_group() -> None:
    for by in GROUPINGS:
        desk = Desk(Route("ops", "ops", group_by=by))
        desk.put(*(alarm(f"event-{number}") for number in range(100)))
        desk.watch(6)
        assert sum(len(message.beginnings) for message in desk.told) == 100


# Settings

TARGETS: dict[str, Any] = {name: {"webhook_file": "/x"} for name in ("ops", "boss", "cto")}


def route_of(**fields: Any) -> Route:
    """The route of settings with these fields."""
    made = NotifySettings.model_validate({"targets": TARGETS, "routes": [{"to": "ops", **fields}]})
    return made.routes[0].route()


def test_the_settings_of_a_route_reach_it() -> None:
    levels = [{"after": 5, "to": "boss"}, {"after": 15, "to": "cto", "repeat": 10}]
    made = route_of(levels=levels, repeat=30, group_by="event", group_wait=1, group_interval=90)
    assert made.escalations == LEVELS.levels
    assert (made.repeat, made.group_by) == (30, "event")
    assert (made.group_wait, made.group_interval) == (timedelta(seconds=1), timedelta(seconds=90))
    assert route_of().repeat == 240


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"levels": [{"after": 5, "to": "nobody"}]}, "routes.0.levels.0.to: no such target"),
        ({"levels": [{"after": 5, "to": "boss"}, {"after": 5, "to": "cto"}]}, "routes.0.levels: each level"),
        ({"levels": [{"after": 5, "to": "boss"}, {"after": 6, "to": "boss"}]}, "routes.0.levels: each level"),
        (
            {"levels": [{"after": 5, "to": "boss"}], "escalate": 5, "escalate_to": "cto"},
            "routes.0.levels: set either levels or escalate",
        ),
        ({"group_by": "colour"}, "group_by"),
        ({"repeat": -1}, "repeat"),
    ],
)
def test_a_route_that_cannot_work_is_refused(fields: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        route_of(**fields)

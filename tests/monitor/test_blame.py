"""The nearest cause of missing data is named, and no event is blamed for it (monitoring.md, "Who is to blame")."""

from __future__ import annotations

import asyncio
import pickle
import ssl
from collections.abc import Callable, Coroutine
from contextlib import aclosing
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest

from breadth import slow, slow_rows
from client.certificates import needs_openssl
from livedeck.client import (
    STAND_IN,
    Api,
    ApiError,
    Conflict,
    NotFound,
    RateLimited,
    Rejected,
    ServerFault,
    Unauthorized,
    Unreachable,
    Unreadable,
)
from livedeck.monitor import Alarm, Cadence, ConnectionState, Limits, Monitor, Severity, Snapshot, Thresholds
from livedeck.monitor.evidence.blame import Facts, blame, seen, with_playlists
from livedeck.monitor.evidence.claims import CLAIMS
from livedeck.monitor.kinds import ALARM_KINDS
from livedeck.monitor.model.attachment import Silence
from livedeck.monitor.model.blame import Culprit, Failure, Sight
from livedeck.monitor.model.own import NotWatched, OwnState, Slowness, Why
from livedeck.monitor.model.state import ListDoubt
from livedeck.monitor.polling.poller import EventList, PollResult
from livedeck.monitor.polling.schedule import LIST
from livedeck.monitor.tracker import ClockReading, WorldTracker
from livedeck.presentation.connection import banner_line, is_seen
from livedeck.presentation.event_detail import unanswered_text
from livedeck.presentation.render_time import RenderTime
from livedeck.text.segments import plain
from monitor.stage import NOW, event, model
from monitor.troubles import TLS_TROUBLES, Names, Trouble, TroubledPlatform, contexts
from monitor.wire import WallClock

BEGIN, END = 30.0, 110.0
"""Seconds at which the trouble begins and ends."""

PLACE = "something answers in the platform's place (portal, login page, gateway)"
NONE = "no connection: "
SILENT = "the platform accepts connections but does not reply"

BLAME = {
    Trouble.NAME: (Culprit.OWN_LINK, f"{NONE}the platform's host name does not resolve"),
    Trouble.REFUSED: (
        Culprit.UNKNOWN,
        "connections are refused: nothing listens at the platform's address, or a firewall refuses",
    ),
    Trouble.DROPPED: (Culprit.UNKNOWN, "no connection to the platform in time: the network, or the platform"),
    Trouble.CERTIFICATE: (
        Culprit.OWN_LINK,
        f"{NONE}no trusted connection: the certificate at the platform's address, or this machine's ca_file or clock",
    ),
    Trouble.HANDSHAKE: (Culprit.PLATFORM, SILENT),
    Trouble.STATUS: (Culprit.PLATFORM, "the network works: the platform answers 503"),
    Trouble.GATEWAY: (Culprit.STRANGER, f"{STAND_IN} answers 503, not in the platform's error format"),
    Trouble.PAGE: (Culprit.STRANGER, PLACE),
    Trouble.SHAPE: (
        Culprit.UNKNOWN,
        "replies arrive, but not as documented: from the platform, or from something that answers for it",
    ),
    Trouble.REDIRECT: (Culprit.STRANGER, PLACE),
    Trouble.PACE: (Culprit.REFUSAL, "our pace is refused (429): each event is polled every 20 s"),
    Trouble.PACE_AFTER: (Culprit.REFUSAL, "our pace is refused (429): each event is polled every 20 s"),
    Trouble.SILENCE: (Culprit.PLATFORM, SILENT),
}


class Seen(NamedTuple):
    """Snapshots of a deck, and each alarm as it was raised."""

    snapshots: list[Snapshot]
    raised: list[Alarm]

    @property
    def of_events(self) -> list[tuple[str, str]]:
        """Return event and kind of the alarms of events."""
        return [(alarm.event_id, alarm.kind) for alarm in self.raised if alarm.event_id]

    def between(self, since: float, until: float) -> list[Snapshot]:
        """Return the snapshots of a time span."""
        return [snapshot for snapshot in self.snapshots if since <= (snapshot.at - NOW).total_seconds() < until]


def run(work: Coroutine[Any, Any, Seen]) -> Seen:
    with asyncio.Runner(loop_factory=Names) as runner:
        return runner.run(work)


Change = Callable[[TroubledPlatform], Any]


async def watch(
    platform: TroubledPlatform, seconds: float, *changes: tuple[float, Change], authority: Path | None = None
) -> Seen:
    """Return what a deck shows for `seconds`. `changes`: times and changes of the platform."""
    clock, seen = WallClock(), Seen([], [])

    async def script() -> None:
        for when, change in changes:
            await asyncio.sleep(when - clock.monotonic())
            outcome = change(platform)
            if asyncio.iscoroutine(outcome):
                await outcome

    trust: dict[str, Any] = {"ca_file": authority} if authority else {}
    async with platform.serve() as address:
        script_task = asyncio.create_task(script())
        api = Api(base_url=address, token="token-of-tests", timeout=4.0, now=clock.now, timer=clock.monotonic, **trust)
        async with api:
            monitor = Monitor(api, clock, random=Random(1))
            async with aclosing(monitor.snapshots()) as coming:
                async for snapshot in coming:
                    seen.snapshots.append(snapshot)
                    seen.raised.extend(change.alarm for change in snapshot.changes if change.transition == "raised")
                    if clock.monotonic() >= seconds:
                        break
        await script_task
    return seen


def banner(snapshot: Snapshot) -> str:
    return plain(banner_line(snapshot, RenderTime.from_snapshot(snapshot, snapshot.at))).strip()


def six_events(**tls: ssl.SSLContext) -> TroubledPlatform:
    return TroubledPlatform(*(event(f"event-{number}") for number in range(6)), **tls)


@pytest.mark.parametrize(
    "trouble",
    [
        pytest.param(each, id=each.name.lower(), marks=[needs_openssl] if each in TLS_TROUBLES else [])
        for each in Trouble
    ],
)
def test_the_cause_of_blindness_is_named_and_no_event_is_blamed(trouble: Trouble, tmp_path: Path) -> None:
    tls: dict[str, ssl.SSLContext] = {}
    authority = None
    if trouble in TLS_TROUBLES:
        authority, well, wrong = contexts(tmp_path)
        tls = {"well": well, "wrong": wrong}
    changes = (BEGIN, lambda platform: platform.begin(trouble)), (END, lambda platform: platform.end())
    seen = run(watch(six_events(**tls), END + 60, *changes, authority=authority))
    cause, text = BLAME[trouble]
    blind = [snapshot for snapshot in seen.between(70, END) if snapshot.link.state is ConnectionState.BLIND]
    assert blind
    assert {(each.link.blame.cause, each.link.blame.text) for each in blind} == {(cause, text)}
    assert all(f"MONITORING BLIND since {each.link.since:%H:%M:%S}Z" in banner(each) for each in blind)
    assert all(each.link.blame.short in banner(each) for each in blind)
    kind = "RATE_LIMITED" if cause is Culprit.REFUSAL and "pace" in text else "API_BLIND"
    (alarm,) = [alarm for alarm in seen.raised if alarm.kind == kind]
    assert alarm.actual.partition(": each event")[0] == text.partition(": each event")[0]
    assert alarm.diagnosis.advice == blind[0].link.blame.advice
    assert {alarm.kind for alarm in seen.raised} <= {"API_BLIND", "RATE_LIMITED"}
    assert seen.of_events == []
    assert seen.snapshots[-1].link.state.is_answering


@pytest.mark.parametrize("retry_after", ["", "5", *slow("20")])
@pytest.mark.parametrize("share", [0.1, 0.3, 0.6, 0.9])
def test_refusals_of_our_pace_never_accuse_an_event(share: float, retry_after: str) -> None:
    def refuse(platform: TroubledPlatform) -> None:
        platform.refused, platform.retry_after = share, retry_after

    seen = run(watch(six_events(), 330, (BEGIN, refuse)))
    assert seen.of_events == []
    assert {alarm.kind for alarm in seen.raised} <= {"API_BLIND", "RATE_LIMITED"}
    assert {alarm.actual[:25] for alarm in seen.raised} <= {"our pace is refused (429)"}
    late = seen.between(120, 330)
    assert {snapshot.link.blame.cause for snapshot in late if snapshot.link.blame.text} == {Culprit.REFUSAL}
    assert any(snapshot.link.slowed_to for snapshot in late)


def test_a_platform_that_takes_half_our_pace_slows_the_deck_and_nothing_is_missed() -> None:
    """Sixty events want twelve calls a second; it takes six."""
    platform = TroubledPlatform(*(event(f"event-{number}") for number in range(60)))

    def limit(platform: TroubledPlatform) -> None:
        platform.most = 6.0

    seen = run(watch(platform, 240, (BEGIN, limit)))
    assert seen.of_events == []
    assert platform.refusals < 0.05 * len(platform.asked) + 60
    slowed = [snapshot for snapshot in seen.between(90, 240) if snapshot.link.slowed_to]
    assert slowed
    last = slowed[-1]
    words = f"slowed by the platform: each event is polled every {last.link.slowed_to:.0f} s"
    assert banner(last) == f"▲ LINK POOR since {last.link.since:%H:%M:%S}Z  {words}"
    assert not any(state.is_stale for state in last.events)
    assert is_seen(last, RenderTime.from_snapshot(last, last.at))


def test_the_usual_pace_comes_back_step_by_step() -> None:
    def refuse(platform: TroubledPlatform) -> None:
        platform.refused = 1.0

    def accept(platform: TroubledPlatform) -> None:
        platform.refused = 0.0

    seen = run(watch(six_events(), 330, (BEGIN, refuse), (BEGIN + 24, accept)))
    intervals = [snapshot.link.slowed_to for snapshot in seen.between(BEGIN + 20, 330) if snapshot.link.slowed_to]
    assert intervals == sorted(intervals, reverse=True)
    assert max(intervals) == pytest.approx(20.0)
    assert seen.snapshots[-1].link.slowed_to == 0.0
    assert [alarm.kind for alarm in seen.raised] == ["RATE_LIMITED"]


def test_a_retry_after_is_kept_to_the_second() -> None:
    def refuse(platform: TroubledPlatform) -> None:
        platform.refused, platform.retry_after = 1.0, "40"

    platform = six_events()
    run(watch(platform, 200, (BEGIN, refuse)))
    times = sorted({round(when) for when in platform.refused_at})
    assert all(later - earlier >= 39 for earlier, later in pairwise(times) if later - earlier > 1)
    assert len(times) >= 3


@pytest.mark.parametrize(("share", "status"), [(0.6, "503"), *slow_rows((0.3, "503"), (0.6, "html"))])
def test_an_answer_now_and_then_leaves_every_event_blameless(share: float, status: str) -> None:
    def fail(platform: TroubledPlatform) -> None:
        platform.failed, platform.failing = share, Trouble.STATUS if status == "503" else Trouble.PAGE

    seen = run(watch(six_events(), 330, (BEGIN, fail)))
    assert seen.of_events == []
    assert {alarm.kind for alarm in seen.raised} <= {"API_BLIND"}


def test_a_deck_that_was_blind_checks_a_list_and_samples_before_it_judges() -> None:
    def block(platform: TroubledPlatform) -> Coroutine[Any, Any, None]:
        return platform.begin(Trouble.STATUS)

    def list_only(platform: TroubledPlatform) -> Coroutine[Any, Any, None]:
        platform.fails_qos = 503, {}
        return platform.end()

    def mend(platform: TroubledPlatform) -> None:
        platform.fails_qos = None

    seen = run(watch(six_events(), 160, (BEGIN, block), (END, list_only), (END + 12, mend)))
    checking = [snapshot for snapshot in seen.between(END + 6, END + 12) if snapshot.link.is_checking]
    assert checking
    assert {snapshot.link.state for snapshot in checking} == {ConnectionState.FAILING}
    assert {snapshot.link.blame.text for snapshot in checking} == {"answers again, checking"}
    assert banner(checking[-1]).startswith("▲ ANSWERS AGAIN since")
    assert "answers again, checking" in banner(checking[-1])
    outage = "the network works: the platform answers 503"
    rows = {alarm.actual for each in seen.snapshots for alarm in each.alarms if alarm.kind == "API_BLIND"}
    assert rows == {outage}, "the words stay those of the outage, open and cleared"
    assert seen.of_events == []
    back = seen.between(END + 20, 160)
    assert {snapshot.link.state for snapshot in back} <= {ConnectionState.OK, ConnectionState.POOR}, "answers were lost"
    assert not any(snapshot.link.is_checking for snapshot in back)


def test_one_event_whose_calls_fail_is_told_after_20_s_and_three_are_the_platforms_fault_for_a_minute() -> None:
    def seconds_until_told(*broken: str) -> float:
        def break_(platform: TroubledPlatform) -> None:
            platform.broken = set(broken)

        seen = run(watch(six_events(), 130, (BEGIN, break_)))
        told = (
            (snapshot.at - NOW).total_seconds() - BEGIN
            for snapshot in seen.snapshots
            for finding in [each for state in snapshot.events for each in state.assessment.findings]
            if finding.kind == "QOS_STALE"
        )
        assert {alarm.kind for alarm in seen.raised} == {"PLATFORM" if len(broken) == 3 else "QOS_STALE"}
        return next(told)

    assert 15 <= seconds_until_told("event-0") <= 32
    assert 55 <= seconds_until_told("event-0", "event-1", "event-2") <= 75


def test_before_a_blame_the_row_says_how_long_an_event_was_not_answered() -> None:
    def break_(platform: TroubledPlatform) -> None:
        platform.broken = {"event-0"}

    seen = run(watch(six_events(), 46, (BEGIN, break_)))
    last = seen.snapshots[-1]
    state = last.find("event-0")
    assert state
    assert not state.assessment.findings
    render_time = RenderTime.from_snapshot(last, last.at)
    assert unanswered_text(state, render_time).startswith("no reply for 1")
    other = last.find("event-1")
    assert other
    assert unanswered_text(other, render_time) == ""


def test_a_refusal_that_lasts_is_critical() -> None:
    """Nobody can see the events, although the list is answered."""

    def refuse(platform: TroubledPlatform) -> None:
        platform.fails_qos = 429, {}

    seen = run(watch(six_events(), 240, (BEGIN, refuse)))
    alarms = [alarm for alarm in seen.snapshots[-1].alarms if alarm.kind == "RATE_LIMITED"]
    assert [alarm.severity for alarm in alarms] == [Severity.CRITICAL]
    assert "6 on air without a reply" in alarms[0].actual
    assert seen.of_events == []


SLOW = OwnState(slowness=Slowness(NOW, 14.0, 162))
SLEPT = OwnState((NotWatched(NOW, NOW + timedelta(seconds=600), Why.SLEPT),))
BY_SLEEP = {Sight.NONE, Sight.SILENCE, Sight.UNDECIDED, Sight.BREAK, Sight.NO_CONNECTION, Sight.NO_TIME}
BY_SLOWNESS = {Sight.SILENCE, Sight.UNDECIDED, Sight.BREAK, Sight.NO_TIME}


@pytest.mark.parametrize("is_of_event", [False, True])
@pytest.mark.parametrize("sight", Sight)
def test_an_own_cause_is_nearest_unless_the_platform_spoke(sight: Sight, is_of_event: bool) -> None:
    failure = Failure(sight, 503 if sight in {Sight.FAULT, Sight.GATEWAY} else None)
    behind = "why this event gets no reply" if is_of_event else "if the platform answers"
    slow = blame(Facts(own=SLOW, failure=failure, is_of_event=is_of_event))
    assert slow.is_own == (sight in BY_SLOWNESS or (is_of_event and sight is Sight.NONE))
    if slow.is_own:
        assert slow.text == f"this machine is 14 s behind: not known {behind}"
    slept = blame(Facts(own=SLEPT, failure=failure, is_of_event=is_of_event))
    assert slept.is_own == (sight in BY_SLEEP)
    if slept.is_own:
        assert slept.text == f"this machine slept until 12:10:00Z: not known yet {behind}"


def test_a_sleep_explains_nothing_once_the_platform_answered_or_was_asked_for_long() -> None:
    answered = Facts(own=SLEPT, answered=NOW + timedelta(seconds=601), failure=Failure(Sight.SILENCE))
    asked = Facts(own=SLEPT, is_asked_since=True, failure=Failure(Sight.SILENCE))
    assert {blame(facts).cause for facts in (answered, asked)} == {Culprit.PLATFORM}


FARTHER: list[tuple[Culprit, dict[str, Any]]] = [
    (Culprit.OWN_STOP, {"own": SLEPT}),
    (Culprit.OWN_SLOWNESS, {"own": SLOW}),
    (Culprit.COLLECTOR, {"silence": Silence(NOW, "the collector does not answer")}),
    (Culprit.PLATFORM, {"failure": Failure(Sight.SILENCE)}),
    (Culprit.LIST, {"list_doubt": ListDoubt(NOW, 6, 11, 11)}),
]
"""Causes, nearest first, and the facts that show each."""


@pytest.mark.parametrize("nearest", range(len(FARTHER)))
def test_whatever_lies_behind_the_nearest_cause_is_not_told(nearest: int) -> None:
    """All of it is true at once, and what is nearer explains the rest."""
    for farthest in range(nearest, len(FARTHER)):
        shown = [facts for _, facts in FARTHER[nearest : farthest + 1]]
        known = {name: value for facts in reversed(shown) for name, value in facts.items()}
        if Culprit.OWN_SLOWNESS in {cause for cause, _ in FARTHER[nearest : farthest + 1]}:
            known["own"] = replace(SLOW, stops=known["own"].stops)
            known.setdefault("failure", Failure(Sight.SILENCE))  # slowness explains calls that failed, and no others
        assert blame(Facts(**known)).cause is FARTHER[nearest][0]


@pytest.mark.parametrize(
    ("error", "cause", "text", "short"),
    [
        (ServerFault("", status=200, code=500500), Culprit.PLATFORM, "answers 200 with an error inside", ""),
        (Conflict("", status=200, code=409000), Culprit.REFUSAL, "answers 200 with an error inside", ""),
        (
            Unauthorized("", status=200, code=401401),
            Culprit.REFUSAL,
            "refuses the token (200 with an error inside)",
            "refuses the token",
        ),
        (ServerFault("", status=503, code=503503), Culprit.PLATFORM, "answers 503", ""),
    ],
)
def test_an_error_inside_a_200_is_called_an_error(error: Rejected, cause: Culprit, text: str, short: str) -> None:
    """A bare `answers 200` would say that all is well."""
    found = blame(Facts(failure=seen(error)))
    assert (found.cause, found.text) == (cause, f"the network works: the platform {text}")
    assert found.short == f"the platform {short or text}"


def test_a_reply_of_another_shape_accuses_nobody() -> None:
    """Any program can send JSON that is not as documented."""
    found = blame(Facts(failure=seen(Unreadable("list events: data should be a list, not an object"))))
    assert found.cause is Culprit.UNKNOWN
    assert found.text.startswith("replies arrive, but not as documented")
    assert "network works" not in found.text
    for cause in (Culprit.OWN_LINK, Culprit.PLATFORM):
        said = with_playlists(found, cause, "the platform's API", "2 of 3 playlists play, from here")
        assert (said.cause, said.text) == (Culprit.UNKNOWN, f"{found.text}; 2 of 3 playlists play, from here")


def test_two_clocks_that_differ_do_not_show_which_one_is_wrong() -> None:
    assert "or the platform's is wrong" in ALARM_KINDS["CLOCK_SKEW"].diagnosis.cause


def test_the_nearest_cause_is_told_alone() -> None:
    fault = seen(ServerFault("", status=503, code=503503))
    assert blame(Facts(failure=fault, slowed_to=20.0)).cause is Culprit.PLATFORM
    assert blame(Facts()).cause is Culprit.NONE


@pytest.mark.parametrize(
    ("error", "sight"),
    [
        (Unreachable("", "timeout", is_connected=True), Sight.SILENCE),
        (Unreachable("", "timeout", is_connected=False), Sight.NO_TIME),
        (Unreachable("", "timeout"), Sight.UNDECIDED),
        (Unreachable("", "reset", is_connected=True), Sight.BREAK),
        (Unreachable("", "tls"), Sight.NO_CONNECTION),
        (Unreadable("", is_foreign=True), Sight.FOREIGN),
        (Unreadable(""), Sight.UNREADABLE),
        (NotFound("", status=404, code=404404), Sight.REQUEST),
        (NotFound("", status=404), Sight.GATEWAY),
    ],
)
def test_a_failure_keeps_what_decides_after_it_was_pickled(error: Any, sight: Sight) -> None:
    assert seen(pickle.loads(pickle.dumps(error))).sight is sight


def test_each_alarm_kind_names_its_evidence_and_its_end() -> None:
    assert set(ALARM_KINDS) == set(CLAIMS)
    assert all(claim.needs and claim.ends for claim in CLAIMS.values())


@pytest.mark.parametrize(
    ("events", "share", "is_alike"), [(1, 0.0, False), (2, 0.1, False), (1, 0.3, True), (3, 0.0, True)]
)
@pytest.mark.parametrize(
    "error",
    [
        ServerFault("503", status=503),
        ServerFault("503 in a 200", status=200, code=503503),
        RateLimited("429", status=429),
    ],
)
async def test_events_that_fail_with_the_platform_are_not_the_cause(
    error: ApiError, events: int, share: float, *, is_alike: bool
) -> None:
    """A refusal of our pace is no failure."""
    world = WorldTracker((), ClockReading(NOW, 0.0), Limits(Thresholds()), Cadence())
    names = [f"e{number}" for number in range(4)]
    results = [PollResult(LIST, NOW, 0.0, EventList(tuple(model(id=name) for name in names)))]
    results += [PollResult(name, NOW, 0.0, error) for name in names[:events]]
    for result in results:
        await world.ingest(result)
    expected = frozenset(names[:events]) if is_alike and isinstance(error, ServerFault) else frozenset()
    assert world.failing_alike(lambda _: share) == expected

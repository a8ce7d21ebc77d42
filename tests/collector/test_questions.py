"""A deck gets the same answers from a collector as from its history file, to every question, without secrets."""

from __future__ import annotations

import asyncio
import inspect
import re
from collections.abc import Coroutine, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from shutil import copyfile
from typing import Any, TypeVar, get_type_hints
from urllib.parse import urlencode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collector.attached import Attached
from golden.player import START
from livedeck.collector.attached.link import CollectorError
from livedeck.collector.attached.reads import RemoteHistory
from livedeck.collector.protocol.questions import QUESTIONS, Question
from livedeck.collector.serving import acts
from livedeck.collector.serving.past import MAX_QUESTIONS, routes
from livedeck.monitor import (
    ActionRecord,
    AlarmChange,
    AlarmTransition,
    AuditOutcome,
    BitrateUnit,
    CollectedStream,
    Content,
    FieldChange,
    History,
    HistoryReader,
    HistoryReads,
    IntentRecord,
    Matcher,
    MaterialRecord,
    NotificationRecord,
    OpenChange,
    ProfileChoice,
    Readings,
    Severity,
    Silence,
    StreamSpan,
    UnitChoice,
    UsualMark,
)
from livedeck.monitor.model.own import NotWatched, Why
from livedeck.monitor.model.span import Span
from monitor.probing import seen
from monitor.recordings import snapshot
from monitor.stage import NOW as NOW_OF_STAGE
from monitor.stage import Deck, Stage
from monitor.test_history import alarm
from virtual_clock import VirtualClock

T = TypeVar("T")

NOW = VirtualClock(START).now

NEWS = {"new_alarm_actions", "new_rulings", "new_silences"}
"""Questions about news: an attached deck has the news in its snapshots."""

OWN = {"on_air_since", "whole"}
"""Questions that only a polling monitor asks of its own history, and the check that a read succeeded."""


def methods(owner: type) -> set[str]:
    """Return the questions of a class."""
    return {name for name, _ in inspect.getmembers(owner, inspect.iscoroutinefunction) if not name.startswith("_")}


def test_every_question_of_a_history_can_be_asked_of_a_collector() -> None:
    assert methods(HistoryReads) - NEWS - OWN == set(QUESTIONS)
    for name in QUESTIONS:
        assert getattr(RemoteHistory, name) is not getattr(HistoryReads, name), "it would read a file"


@pytest.fixture(scope="module")
def recorded(night: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """History of a night, with rows that the night itself did not produce."""
    path = tmp_path_factory.mktemp("night") / "night.sqlite"
    copyfile(night, path)

    async def add() -> None:
        history = await History.open(path, START)
        await history.record_ruling(UsualMark(START, "e", "s", START.timestamp(), "anna"))
        await history.record_ruling(ProfileChoice(START, "e", Content.RADIO, "anna"))
        await history.record_ruling(ProfileChoice(START + timedelta(seconds=1), "e", None, "anna"))
        await history.record_ruling(UnitChoice(START, BitrateUnit.KBIT, "livedeck"))
        await history.remember_material(MaterialRecord("m1", "v1", "Handout", "handout.pdf", START))
        await history.notified(NotificationRecord(START, Severity.WARNING, "Stage", "no answer", "e"))
        edits = (FieldChange("name", "a", "b"),)
        intent = IntentRecord("i2", START, "event.edit", "edit", "event", "e", "Stage", "anna", "regie", 7, edits)
        await history.record_intent(intent)
        doubt = ActionRecord(
            START, "event.edit", "event", "e", "Stage", AuditOutcome.UNKNOWN, "no answer", edits, "i2", START
        )
        await history.record_action(doubt)
        history.record_collected(CollectedStream(START, "e", "s", 3))
        matchers, later = (Matcher.parse("event = e"),), START + timedelta(hours=9)
        history.record_silence(Silence("u1", "s-1", matchers, START, later, "anna", "swap", START, "anna"))
        shown = snapshot({"e": Readings()})
        gap = Span(START.timestamp() - 3600, START.timestamp() + 3600)
        viewer = seen((START - NOW_OF_STAGE).total_seconds(), listed=5, missed=1)
        states = [replace(state, qos=replace(state.qos, not_watched=(gap,)), viewer=viewer) for state in shown.events]
        stop = NotWatched(START - timedelta(minutes=5), START, Why.SLEPT)
        link = replace(shown.link, own=replace(shown.link.own, stops=(stop,)))
        await history.append(replace(shown, events=tuple(states), link=link))
        await history.close()

    asyncio.run(add())
    return path


def run(work: Coroutine[Any, Any, T]) -> T:
    """Return the result of the coroutine."""
    return asyncio.run(work)


@pytest.fixture(scope="module")
def spans(recorded: Path) -> tuple[StreamSpan, ...]:
    """Streams of that night."""
    found = run(HistoryReader(recorded).spans())
    assert found
    return found


def arguments(question: Question, spans: tuple[StreamSpan, ...]) -> st.SearchStrategy[dict[str, Any]]:
    """Generate arguments of the question by their types."""
    events = st.sampled_from([*(span.event_id for span in spans), "e", "nobody's", "ä/ö?&=%"])
    streams = st.sampled_from([*(span.stream_id for span in spans), "nobody's"])
    moments = st.datetimes(datetime(2000, 1, 1), datetime(2040, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001
    near = st.integers(-7200, 7200).map(lambda seconds: START + timedelta(seconds=seconds))
    times = st.one_of(near, moments)
    by_name: Mapping[str, st.SearchStrategy[Any]] = {
        "event_id": events,
        "stream_id": streams,
        "video_id": st.sampled_from(["v1", "nobody's"]),
        "streams": st.dictionaries(events, streams),
        "columns": st.integers(1, 60),
        "newest": st.integers(-1, 100),
    }
    by_type = {datetime: times, datetime | None: times, float: times.map(datetime.timestamp)}
    hints = get_type_hints(question.ask)
    drawn, optional = dict[str, st.SearchStrategy[Any]](), dict[str, st.SearchStrategy[Any]]()
    for name, parameter in list(inspect.signature(question.ask).parameters.items())[1:]:
        strategy = by_name[name] if name in by_name else by_type[hints[name]]
        (drawn if parameter.default is inspect.Parameter.empty else optional)[name] = strategy
    return st.fixed_dictionaries(drawn, optional=optional)


def whole(question: Question, event_id: str, stream_id: str) -> dict[str, Any]:
    """Return arguments that cover all data of a stream, so that every question has an answer."""
    first, last = START - timedelta(days=1), START + timedelta(days=1)
    values: dict[str, Any] = {
        "event_id": event_id, "stream_id": stream_id, "video_id": "v1", "streams": {event_id: stream_id}, "columns": 9,
        "since": first, "until": last, "now": START,
    }  # fmt: skip
    hints = get_type_hints(question.ask)
    found = {name: values[name] for name in question.required}
    return {name: value.timestamp() if hints[name] is float else value for name, value in found.items()}


def text(answer: object) -> str:
    """Return the whole answer as text, with its columns and missing values.

    Two libraries name the zone UTC differently.
    """
    return re.sub(r"TzInfo\((0|UTC)\)", repr(UTC), repr(answer))


@pytest.mark.parametrize("name", QUESTIONS)
def test_each_question_has_the_answer_of_the_file(name: str, recorded: Path, spans: tuple[StreamSpan, ...]) -> None:
    question, file, answered = QUESTIONS[name], HistoryReader(recorded), list[bool]()
    deck = Attached(routes(HistoryReader(recorded), NOW), "wall")
    remote = RemoteHistory(deck)
    with asyncio.Runner() as runner:

        def compare(said: Mapping[str, Any]) -> None:
            expected = runner.run(getattr(file, name)(**said))
            found = runner.run(getattr(remote, name)(**said))
            assert not file.fault
            assert not remote.fault
            assert text(found) == text(expected)
            answered.append(bool(expected))

        for event_id, stream_id in (("e", "s"), (spans[0].event_id, spans[0].stream_id)):
            compare(whole(question, event_id, stream_id))
        settings(max_examples=20, deadline=None)(given(arguments(question, spans))(compare))()
        runner.run(deck.close())
    assert any(answered[:2]), "nothing was compared"


class Away:
    """Link whose collector does not reply, or replies with something else."""

    def __init__(self, values: dict[str, Any] | None) -> None:
        self._values = values

    async def get(self, path: str, query: str = "") -> dict[str, Any]:
        """Return the reply. Raises CollectorError if there is none."""
        if self._values is None:
            raise CollectorError(f"nobody answers {path}?{query}")
        return self._values


@pytest.mark.parametrize("values", [None, {}, {"answer": [{"of": "another version"}], "fault": ""}])
async def test_where_no_collector_answers_nothing_is_known_and_it_says_why(values: dict[str, Any] | None) -> None:
    """As of a file that cannot be read: no screen need know which of the two it has."""
    remote, since = RemoteHistory(Away(values)), START.timestamp()
    assert await remote.audit(START) == ()
    assert remote.fault
    assert await remote.recorded({"e": "s"}, since) == {}
    assert len(await remote.readings("e", "s", since, since + 60)) == 0
    buckets = await remote.series("e", "s", since, since + 60, 3)
    assert (list(buckets.count), buckets.step) == ([0, 0, 0], 20.0)
    assert ("nobody answers" if values is None else "cannot read") in remote.fault


async def test_a_question_names_a_fault_only_if_its_own_answer_may_lack_rows(recorded: Path, tmp_path: Path) -> None:
    """A history that cannot be written can still be read whole."""

    class Full(HistoryReader):
        """Its last query was fine, its last write was not."""

        @property
        def fault(self) -> str:
            return "no space left"

        @fault.setter
        def fault(self, _: str) -> None:
            pass

    remote = RemoteHistory(Attached(routes(Full(recorded), NOW), "wall"))
    await remote.audit(START)
    assert (remote.fault, remote.failures) == ("", 0)
    remote = RemoteHistory(Attached(routes(Full(tmp_path / "none"), NOW), "wall"))
    await remote.audit(START)
    assert (remote.fault, remote.failures) == ("at the collector: no space left", 1)


async def test_what_is_not_understood_is_refused_with_what_can_be_asked(recorded: Path) -> None:
    deck = Attached(routes(HistoryReader(recorded), NOW), "wall")
    series = "event_id=e&stream_id=s&since=0&until=60"
    for path, status in {
        "/v1/history/secrets": 404,
        "/v1/history/_read": 404,
        "/v1/history/audit": 422,
        "/v1/history/audit?since=yesterday": 422,
        "/v1/history/audit?since=2026-11-21T09:00:00": 422,
        "/v1/history/audit?since=2026-11-21T09:00:00Z&since=2026-11-21T09:00:00Z": 422,
        "/v1/history/open_changes?file=/etc/passwd": 422,
        "/v1/history/watched?since=0001-01-01T00:00:00Z&until=2026-11-21T09:00:00Z": 422,
        f"/v1/history/series?{series}&columns=0": 422,
        f"/v1/history/series?{series}&columns=1000000000": 422,
        f"/v1/history/series?{series.replace('60', 'nan')}&columns=3": 422,
        f"/v1/history/series?{series.replace('60', '1e300')}&columns=3": 422,
        "/v1/history/recorded?streams=[1]&until=0": 422,
        f"/v1/history/series?{series}&columns=3": 200,
    }.items():
        answered = await deck.ask("GET", path)
        assert (path, answered.status) == (path, status)
        assert status == 200 or answered.body["say"]
    await deck.close()


async def test_without_a_history_and_without_a_token_nothing_is_told(recorded: Path) -> None:
    for deck, status in (
        (Attached(routes(None, NOW), "wall"), 503),
        (Attached(routes(HistoryReader(recorded), NOW), ""), 401),
        (Attached(routes(HistoryReader(recorded), NOW), "prometheus"), 403),
    ):
        assert (await deck.ask("GET", "/v1/history/open_changes")).status == status
        await deck.close()


async def test_few_questions_are_answered_at_a_time_and_all_in_the_end() -> None:
    running, most = 0, 0

    class Slow(HistoryReader):
        """Whose answers take a while."""

        async def open_changes(self) -> tuple[OpenChange, ...]:
            nonlocal running, most
            running += 1
            most = max(most, running)
            for _ in range(20):
                await asyncio.sleep(0)
            running -= 1
            return ()

    deck = Attached(routes(Slow(Path("none.sqlite")), NOW), "wall")
    answers = await asyncio.gather(*(deck.ask("GET", "/v1/history/open_changes") for _ in range(8)))
    assert [answered.status for answered in answers] == [200] * 8
    assert most == MAX_QUESTIONS
    await deck.close()


async def test_nothing_that_opens_a_door_crosses() -> None:
    """trust.md, "Secrets": a canary in every text that a deck sends, and that a history gives back."""
    canary = "canary-3f9a77c1d2"
    history = await History.open(None, START)
    collector = Deck(Stage(VirtualClock(START)))
    deck = Attached(acts.routes(collector.monitor, history))
    for secret in (
        f"see rtmp://ingest.example/live/{canary} now",
        f"https://cdn.example/a.png?expires=1&sign={canary}",
        f"Authorization: Bearer {canary}",
        f"stream_key={canary} is too short; access_token={canary}",
    ):
        edit = {"name": "stream_key", "before": secret, "after": secret}
        of_event = {"target_kind": "event", "target_id": "e", "target_name": secret, "edits": [edit]}
        sent = {"id": "i", "at": START.isoformat(), "action": "event.edit", "verb": secret, **of_event}
        intent = {**sent, "actor": secret, "host": secret, "pid": 1}
        action = {"at": START.isoformat(), "action": "event.edit", "outcome": "unknown", "detail": secret, **of_event}
        marker = {"at": START.isoformat(), "event_id": "e", "text": secret}
        body = {"intent": intent, "action": {**action, "intent": "i"}, "marker": marker}
        assert (await deck.post("/v1/audit", body)).status == 200
        refused = await deck.post("/v1/audit", {secret: secret})
        assert refused.status == 422
        assert canary not in str(refused)
        told = alarm(event_id="e", actual=secret, expected=secret, reason=secret, note=secret, subject=secret)
        change = AlarmChange(START, AlarmTransition.RAISED, told)
        await history.append(replace(snapshot({}, changes=(change,)), alarms=(told,)))
        await history.notified(NotificationRecord(START, Severity.INFO, secret, secret))
    await history.flush()
    said = {"since": "2020-01-01T00:00:00Z", "now": "2026-03-01T12:00:00Z", "event_id": "e"}
    asked = ("audit", "intents", "open_changes", "markers", "alarm_log", "standing_alarms", "notifications")
    for name in asked:
        query = urlencode({key: value for key, value in said.items() if key in QUESTIONS[name].parameters})
        answer = (await deck.get(f"/v1/history/{name}", query))["answer"]
        assert answer, f"{name}: nothing was looked through"
        assert canary not in str(answer)
    await deck.close()
    await collector.close()
    await history.close()

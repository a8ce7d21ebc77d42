"""Every scenario plays to its end, equally for equal seeds, and its samples have the shape of its name."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest

from livedeck.simulator import Scenario, Simulator, SimulatorClock, SimulatorError
from livedeck.simulator import load_scenario as load
from livedeck.simulator import scenario_names as names
from simulator.http_client import Row, client_for, data, error_of

EVENTS = "/v2/live/events"
START = datetime(2026, 11, 21, 9, tzinfo=UTC)
ALARMS = {
    *("NO_INGEST", "BLACKOUT", "VIDEO_LOW", "VIDEO_STARVED", "FPS_LOW", "FPS_COLLAPSE", "AUDIO_LOST", "AUDIO_LOW"),
    *("KEYFRAME_DRIFT", "KEYFRAME_SEVERE", "PACKET_LOSS", "BITRATE_UNSTABLE", "UNKNOWN_STATUS", "RECONNECTING"),
    *("LATE_START", "RESTREAM_DOWN", "QOS_STALE", "API_BLIND", "AUTH_FAILED", "RATE_LIMITED", "CLOCK_SKEW"),
    *("AUDIO_HIGH", "HISTORY_FAILED", "PLATFORM", "FLAPPING", "UNKNOWN_DATA", "FUTURE_SAMPLES", "DROPOUTS"),
    *("PROFILE_CHANGE", "VIDEO_BELOW_PRESET", "PICTURE_STILL", "ENDED_ON_AIR", "METRICS_LATE"),
}
"""Kinds in monitoring.md, "Golden scenarios"."""

SHIPPED = {
    *("clean-show", "warm-up", "encoder-drop-inside-window", "encoder-drop-outside-window", "flapping"),
    *("ghost-publisher", "frozen-qos", "starvation", "bitrate-cliff", "loss-bursts", "sustained-loss"),
    *("encoder-overload", "fps-halving", "keyframe-drift", "audio-lost", "camera-lost", "static-picture"),
    *(
        "restream-down",
        "late-start",
        "ended-remotely",
        "deleted-remotely",
        "platform-outage",
        "api-5xx",
        "api-dead",
        "rate-limited",
    ),
    *("rate-limited", "slow-api", "broken-json", "reordered-samples", "clock-skew", "token-revoked", "relay-locked"),
    *("ambiguous-write", "big-workspace", "chat-storm", "bad-night", "audio-low", "audio-high", "fps-low"),
    *("unstable-rate", "no-ingest", "unknown-status", "missing-values", "future-samples"),
    *("video-low", "frozen-picture", "late-metrics", "preflight", "nine", "viewer-faults"),
}
"""Scenarios in the list of simulator.md."""

QUIET = {"clean-show", "warm-up", "static-picture", "api-5xx", "reordered-samples"}
"""Scenarios that must raise no alarm (monitoring.md, "Golden scenarios")."""


def playing(name: str | Path, seed: int = 1) -> Simulator:
    return Simulator(seed=seed, clock=SimulatorClock(START, paused=True), scenario=name)


async def event_of(api: httpx.AsyncClient, name: str) -> Row:
    events: list[Row] = data(await api.get(EVENTS, params={"per_page": 100}))
    return next(event for event in events if event["name"] == name)


async def played(simulator: Simulator, until: timedelta, name: str = "Main stage") -> list[Row]:
    """Return the samples of an event at the end of a play, polled on the way like by a deck."""
    async with client_for(simulator, simulator.token) as api:
        while simulator.clock.now() < START + until:
            simulator.clock.step(20)
            event = await event_of(api, name)
            rows: list[Row] = data(await api.get(f"{EVENTS}/{event['id']}/qos"))
    return rows


def samples_between(rows: list[Row], start: int, end: int) -> list[Row]:
    """Return the samples between these seconds after the start."""
    return [row for row in rows if start < (datetime.fromisoformat(row["time"]) - START).total_seconds() <= end]


def test_every_scenario_of_the_document_is_there() -> None:
    assert {*names()} == SHIPPED, "SHIPPED here; simulator.md: livedeck docs --write src/livedeck/docs"


@pytest.mark.parametrize("name", sorted(SHIPPED))
def test_a_scenario_says_what_it_is_and_what_it_raises(name: str) -> None:
    scenario = load(name)
    assert scenario.title[0].isupper() or scenario.title[0].isdigit()
    assert all(0 <= step.at <= scenario.lasts for step in scenario.steps)
    assert {alarm.kind for alarm in scenario.alarms} <= ALARMS
    assert all(alarm.until is None or alarm.since < alarm.until <= scenario.lasts for alarm in scenario.alarms)
    assert not (name in QUIET and scenario.alarms)


@pytest.mark.parametrize("name", sorted(SHIPPED))
async def test_a_scenario_plays_to_its_end_without_a_refusal(name: str, caplog: pytest.LogCaptureFixture) -> None:
    simulator, scenario = playing(name), load(name)
    async with client_for(simulator, simulator.control_token) as admin:
        assert data(await admin.get("/_control/scenario"))["done"] == sum(step.at == 0 for step in scenario.steps)
        simulator.clock.step(scenario.lasts)
        progress = data(await admin.get("/_control/scenario"))
    assert (progress["scenario"], progress["over"], progress["elapsed"]) == (name, True, scenario.lasts)
    assert (progress["done"], progress["all"], progress["next"]) == (len(scenario.steps), len(scenario.steps), None)
    assert progress["ok"]
    assert {step["state"] for step in progress["steps"]} <= {"done"}
    assert "refused" not in caplog.text
    simulator.close()


async def test_asked_on_the_way_or_only_at_the_end_the_samples_are_the_same() -> None:
    often, once = playing("flapping"), playing("flapping")
    rows = await played(often, timedelta(minutes=8))
    once.clock.step(8 * 60 - 20)
    assert await played(once, timedelta(minutes=8)) == rows
    assert await played(playing("flapping", seed=2), timedelta(minutes=8)) != rows


def share(rows: list[Row], field: str, of: float) -> float:
    return float(sum(row[field] for row in rows) / len(rows) / of)


SHAPES: dict[str, Callable[[list[Row]], bool]] = {
    "ghost-publisher": lambda rows: (
        {(row["bitrate_video"], row["bitrate_audio"], row["frame_rate"]) for row in rows} == {(0, 0, 0)}
    ),
    "starvation": lambda rows: share(rows, "bitrate_video", 4.5e6) < 0.5 and share(rows, "frame_rate", 30) < 0.95,
    "bitrate-cliff": lambda rows: (
        0.5 < share(rows, "bitrate_video", 4.5e6) < 0.7 and 0.98 < share(rows, "frame_rate", 30) < 1.02
    ),
    "loss-bursts": lambda rows: 0 < sum(row["status"] == 5 for row in rows) < len(rows) / 5,
    "sustained-loss": lambda rows: {row["status"] for row in rows} == {5},
    "encoder-overload": lambda rows: share(rows, "frame_rate", 30) < 0.8,
    "fps-halving": lambda rows: (
        0.45 < share(rows, "frame_rate", 30) < 0.55 and share(rows, "bitrate_video", 4.5e6) > 0.9
    ),
    "keyframe-drift": lambda rows: {3, 4} <= {row["status"] for row in rows},
    "audio-lost": lambda rows: (
        {row["bitrate_audio"] for row in rows} == {0} and share(rows, "bitrate_video", 4.5e6) > 0.9
    ),
    "camera-lost": lambda rows: (
        max(row["bitrate_video"] for row in rows) < 50_000 and share(rows, "bitrate_audio", 128e3) > 0.9
    ),
}


@pytest.mark.parametrize("name", sorted(SHAPES))
async def test_the_samples_have_the_shape_while_the_cause_lasts_and_only_then(name: str) -> None:
    scenario = load(name)
    rows = await played(playing(name), timedelta(seconds=scenario.lasts))
    start, end = int(scenario.steps[0].at), int(scenario.steps[-1].at)
    assert SHAPES[name](samples_between(rows, start, end))
    for quiet in (samples_between(rows, 0, start), samples_between(rows, end, int(scenario.lasts))):
        assert {row["status"] for row in quiet} == {0}
        assert 0.97 < share(quiet, "bitrate_video", 4.5e6) < 1.03


@pytest.mark.parametrize(("name", "gap"), [("encoder-drop-inside-window", 120), ("encoder-drop-outside-window", 720)])
async def test_a_drop_is_a_gap_inside_or_outside_the_window(name: str, gap: int) -> None:
    simulator, scenario = playing(name), load(name)
    rows = await played(simulator, timedelta(seconds=scenario.lasts))
    assert samples_between(rows, 31, 30 + gap) == []
    assert samples_between(rows, 30 + gap, 30 + gap + 10) != []
    async with client_for(simulator, simulator.token) as api:
        assert ((await event_of(api, "Main stage"))["reconnect_window"] > gap) == (name == "encoder-drop-inside-window")


async def test_a_restream_goes_down_and_comes_back() -> None:
    simulator = playing("restream-down")
    async with client_for(simulator, simulator.token) as api:
        for seconds, connected in ((15, [True, True]), (60, [False, True]), (120, [True, True])):
            simulator.clock.step(seconds)
            rows = (await event_of(api, "Main stage"))["restreams"]
            assert [row["status"] == "connected" for row in rows] == connected


async def test_a_colleague_ends_the_event() -> None:
    simulator = playing("ended-remotely")
    async with client_for(simulator, simulator.token) as api:
        simulator.clock.step(200)
        stream = (await event_of(api, "Main stage"))["stream"]
    assert (stream["status"], stream["finished_at"]) == ("finished", "2026-11-21T09:01:00.000Z")


async def test_a_big_workspace_has_400_events_and_25_on_air() -> None:
    simulator = playing("big-workspace")
    async with client_for(simulator, simulator.token) as api:
        pages = [data(await api.get(EVENTS, params={"per_page": 100, "page": page})) for page in range(1, 5)]
    events = [event for page in pages for event in page]
    assert len(events) == 400
    assert sum(event["stream"] is not None and event["stream"]["status"] == "live" for event in events) == 25


async def test_a_chat_storm_is_a_storm() -> None:
    simulator = playing("chat-storm")
    simulator.clock.step(61)
    async with client_for(simulator, simulator.token) as api:
        event = await event_of(api, "Main stage")
        log = f"{EVENTS}/{event['id']}/stream/{event['stream']['id']}/chat.txt"
        before = len((await api.get(log)).text.splitlines())
        simulator.clock.step(10)
        assert len((await api.get(log)).text.splitlines()) - before == 2000


async def test_the_control_api_loads_a_scenario_and_a_reset_ends_it(
    simulator: Simulator, admin: httpx.AsyncClient
) -> None:
    before = simulator.token, simulator.workspace_id, simulator.other_workspace
    progress = data(await admin.post("/_control/scenario", json={"name": "api-dead"}))
    assert (progress["scenario"], progress["over"]) == ("api-dead", False)
    assert before == (simulator.token, simulator.workspace_id, simulator.other_workspace)
    simulator.clock.step(121)
    assert error_of(await admin.get(EVENTS)) == (503, 503503)
    data(await admin.post("/_control/reset", json={}))
    async with client_for(simulator, simulator.token) as api:
        assert len(data(await api.get(EVENTS))) == 12
    assert data(await admin.get("/_control/scenario"))["scenario"] is None


def test_a_file_of_ones_own_is_played_too(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('title = "Mine"\nlasts = "+00:01:00"\n[[steps]]\nat = "+00:00:30"\ndo = "calm"\n')
    assert load(path) == Scenario("mine", "Mine", "stage", 60, load(path).steps, (), load(path).table)
    playing(path).close()


async def test_a_step_answers_with_the_json_of_its_table(tmp_path: Path) -> None:
    path = tmp_path / "empty.toml"
    answer = 'kind = "answer"\njson = { data = [] }\nmatch = { path = "/nothing" }'
    path.write_text(f'title = "Empty"\nlasts = "+1d"\n[[steps]]\nat = "+00:00:00"\ndo = "fault"\n{answer}\n')
    with closing(playing(path)) as simulator:
        async with client_for(simulator, simulator.token) as api:
            assert (await api.get("/nothing")).json() == {"data": []}


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("not toml", "not TOML"),
        ('title = "x"', "lasts: must be given"),
        ('title = "x"\nlasts = "soon"', "must be an offset"),
        ('title = "x"\nlasts = "+1d"\nworkspace = "mars"', r"workspace \(line 3\): no workspace is called .mars."),
        ('title = "x"\nlasts = "+1d"\n[[steps]]\nat = "+1d"\ndo = "dance"', "do: must be one of"),
        ('title = "x"\nlasts = "+1d"\n[[steps]]\nat = "+1d"\ndo = "encoder"\nshape = "?"', "event: must be given"),
        ('title = "x"\nlasts = "+1d"\n[[steps]]\nat = "+1d"\ndo = "complete"', "event: must be given"),
        ('title = "x"\nlasts = "+1d"\n[[steps]]\nat = "+1d"\ndo = "complete"\nroom = "x"', "room: unknown parameter"),
        ('title = "x"\nlasts = "+1d"\n[[steps]]\nat = "+1d"\ndo = "calm"\nevent = "x"', "event: unknown parameter"),
        ('title = "x"\nlasts = "+9999999d"', "must be an offset"),
        ('title = "x"\nlasts = "+1d"\nsteps = 7', "steps.*: must be a list"),
        ('title = "x"\nlasts = "+1d"\nsteps = [7]', "must be a table"),
    ],
)
def test_an_unsound_scenario_is_refused_in_words(tmp_path: Path, content: str, says: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(content)
    with pytest.raises(SimulatorError, match=says):
        Simulator(scenario=path)
    with pytest.raises(SimulatorError, match="clean-show"):
        Simulator(scenario="good-night")
    with pytest.raises(SimulatorError, match="cannot read"):
        Simulator(scenario=tmp_path / "none.toml")


def test_a_scenario_leaves_a_kept_workspace_alone_unless_it_is_forced(tmp_path: Path) -> None:
    Simulator(data=tmp_path / "deck.db").close()
    with pytest.raises(SimulatorError, match=r"new data file.*--force"):
        Simulator(data=tmp_path / "deck.db", scenario="clean-show")
    forced = Simulator(data=tmp_path / "deck.db", scenario="clean-show", force=True)
    assert forced.seed == 1
    forced.close()

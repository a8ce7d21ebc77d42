"""Faults that no sample shows: starts, silences and restreams, and when each rings again. Seconds from NOW."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from livedeck.client import Event
from livedeck.monitor import BroadcastState, Finding, Ingest, IngestState, Phase, Readings, Severity, Thresholds
from livedeck.monitor.detection.detect import StreamRules, detect
from livedeck.monitor.detection.health import find
from livedeck.monitor.detection.restreams import restream_episodes, update
from livedeck.monitor.kinds import ALARM_KINDS
from livedeck.monitor.kinds.kind import EventCase
from livedeck.monitor.signal.analysis import DataQuality, RestreamHistory, SignalAnalysis
from livedeck.monitor.signal.series import merge
from monitor.stage import NOW, after, at, model, samples, signal

T = Thresholds()


def moment(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def findings(
    kind: str,
    phase: Phase,
    analysis: SignalAnalysis | None = None,
    quality: DataQuality | None = None,
    restreams: RestreamHistory | None = None,
) -> list[Finding]:
    """Return the findings of a kind for an event at NOW."""
    case = EventCase(analysis or SignalAnalysis(), phase, quality or DataQuality(), NOW, restreams or RestreamHistory())
    return list(find(ALARM_KINDS[kind], case, T))


@pytest.mark.parametrize(
    ("left", "severity", "stage"),
    [
        (301, None, 0),
        (300, Severity.WARNING, 0),
        (1, Severity.WARNING, 0),
        (0, Severity.CRITICAL, 1),
        (-59, Severity.CRITICAL, 1),
        (-60, Severity.CRITICAL, 2),
        (-21_601, None, 0),
    ],
)
def test_a_start_that_nobody_makes_is_said_thrice(left: float, severity: Severity | None, stage: int) -> None:
    tally = BroadcastState.LATE if left < 0 else BroadcastState.SCHEDULED
    phase = Phase(tally, moment(left), Ingest(IngestState.NONE))
    found = [(finding.severity, finding.stage, finding.since) for finding in findings("LATE_START", phase)]
    assert found == ([(severity, stage, moment(left))] if severity else [])


def test_before_its_start_nothing_is_missing_yet() -> None:
    def said(left: float) -> str:
        (finding,) = findings("LATE_START", Phase(BroadcastState.SCHEDULED, moment(left), Ingest(IngestState.NONE)))
        return finding.actual

    assert said(0) == "no ingest"
    assert said(60) == f"no ingest yet, starts {moment(60):%H:%M:%S}Z"


def test_an_event_that_was_not_asked_yet_is_not_called_late() -> None:
    unasked = Phase(BroadcastState.LATE, moment(-60))
    assert findings("LATE_START", unasked) == []
    refused = DataQuality(since=NOW)
    assert [finding.kind for finding in findings("LATE_START", unasked, quality=refused)] == ["LATE_START"]


def away(used: float, window: float = 600.0) -> Finding:
    """Return the finding of a stream whose encoder left `used` seconds ago."""
    ingest = Ingest(IngestState.INTERRUPTED, moment(-used), moment(window - used))
    (finding,) = findings("RECONNECTING", Phase(BroadcastState.RECONNECTING, moment(-900), ingest))
    return finding


@pytest.mark.parametrize(("used", "stage"), [(20, 0), (299, 0), (300, 1), (479, 1), (480, 2), (599, 2), (600, 3)])
def test_a_window_that_runs_out_is_said_at_half_at_four_fifths_and_at_its_end(used: float, stage: int) -> None:
    finding = away(used)
    assert (finding.kind, finding.stage, finding.since) == ("RECONNECTING", stage, moment(-used))


@pytest.mark.parametrize(
    ("left", "words"), [(-120, "no samples"), (-60, "no samples, at least since 11:59:00Z (not watched before)")]
)
def test_an_absence_that_begins_after_the_newest_sample_says_at_least(left: float, words: str) -> None:
    """Nobody watched between that sample and the time that replies cover."""
    analysis = detect(SignalAnalysis(), merge(Readings(), samples(signal(60, end=-120.0))), StreamRules(T))
    ingest = Ingest(IngestState.INTERRUPTED, moment(left), moment(600))
    (finding,) = findings("RECONNECTING", Phase(BroadcastState.RECONNECTING, moment(-900), ingest), analysis)
    assert finding.actual == words


def test_no_window_at_all_is_used_up_at_once() -> None:
    assert away(20, window=0.0).stage == 3


def has_no_ingest(analysis: SignalAnalysis, empty: float | None, began: float = -600.0) -> bool:
    """Return whether NO_INGEST holds. `empty`: time of the last reply without samples; `began`: start of the stream."""
    warming_up = Phase(BroadcastState.ON_AIR, moment(began), Ingest(IngestState.WARMING_UP))
    quality = DataQuality(empty_at=None if empty is None else moment(empty))
    return bool(findings("NO_INGEST", warming_up, analysis, quality))


def test_a_stream_that_never_sent_is_told_until_ten_seconds_of_samples_came() -> None:
    def begun(count: int) -> SignalAnalysis:
        return detect(SignalAnalysis(), merge(after(0, count=1), samples(signal(count))), StreamRules(T))

    nothing = Phase(BroadcastState.ON_AIR, moment(-600), Ingest(IngestState.NONE))
    assert findings("NO_INGEST", nothing, quality=DataQuality(empty_at=NOW))
    assert has_no_ingest(begun(5), empty=-10.0)
    assert not has_no_ingest(begun(6), empty=-10.0)
    assert not has_no_ingest(begun(5), empty=None)  # nobody saw that it was silent
    assert not has_no_ingest(begun(5), empty=-10.0, began=-30.0)  # nor for long


def restream(name: str, status: str | None = "connected", **fields: Any) -> dict[str, Any]:
    return {"id": name, "name": name.title(), "status": status, "enabled": True, **fields}


def listed(*restreams: dict[str, Any]) -> Event:
    return model(restreams=restreams)


def follow(*answers: tuple[float, Event], on_air: float | None = -600.0) -> RestreamHistory:
    """Return the history after these lists. `on_air`: time since which the main stream arrives."""
    history = RestreamHistory()
    on_air_since = None if on_air is None else moment(on_air).timestamp()
    for seconds, event in answers:
        history = update(history, event, moment(seconds).timestamp(), on_air_since, T)
    return history


def down(history: RestreamHistory) -> list[Finding]:
    """Return the findings of restreams that are down."""
    on_air = Phase(BroadcastState.ON_AIR, moment(-600), Ingest(IngestState.RECEIVING))
    return findings("RESTREAM_DOWN", on_air, restreams=history)


def test_a_restream_is_down_after_its_delay_since_the_platform_says_so() -> None:
    event = listed(restream("a", "disconnected", updated_at=at(0)), restream("b"))
    assert down(follow((14, event))) == []
    (finding,) = down(follow((15, event)))
    assert (finding.kind, finding.target, finding.target_name) == ("RESTREAM_DOWN", "a", "A")
    assert (finding.severity, finding.since, finding.actual) == (Severity.WARNING, NOW, "A disconnected")


def test_where_the_platform_does_not_say_since_when_it_is_when_we_first_saw_it() -> None:
    connected, disconnected = (
        listed(restream("a", updated_at=at(-900))),
        listed(restream("a", "disconnected", updated_at=at(-900))),
    )
    assert down(follow((0, connected), (15, disconnected), (29, disconnected))) == []
    assert down(follow((0, connected), (15, disconnected), (30, disconnected)))[0].since == moment(15)


def test_all_restreams_down_is_critical() -> None:
    both = [restream(name, "disconnected", updated_at=at(0)) for name in ("a", "b")]
    off = restream("c", "disconnected", enabled=False)
    assert [finding.severity for finding in down(follow((20, listed(*both, off))))] == [Severity.CRITICAL] * 2
    assert [finding.severity for finding in down(follow((20, listed(*both, restream("c")))))] == [Severity.WARNING] * 2


@pytest.mark.parametrize("status", ["error", "reconnecting", "", None])
def test_a_restream_status_that_nobody_knows_is_no_fault_and_ends_none(status: str | None) -> None:
    """The document shows one status; what another means is not known (platform-api.md, "Event restream status")."""
    odd = listed(restream("a", status, updated_at=at(0)))
    assert down(follow((0, odd), (60, odd))) == []
    bad = listed(restream("a", "disconnected", updated_at=at(0)))
    assert [finding.target for finding in down(follow((0, bad), (20, bad), (40, odd)))] == ["a"]


@pytest.mark.parametrize("enabled", [False, None])
def test_a_restream_that_is_not_enabled_owes_nothing(enabled: bool | None) -> None:
    assert down(follow((20, listed(restream("a", "disconnected", enabled=enabled))))) == []


def test_without_the_main_stream_nobody_can_say_that_a_restream_is_down() -> None:
    event = listed(restream("a", "disconnected", updated_at=at(-900)))
    assert down(follow((20, event), (60, event), on_air=None)) == []
    assert down(follow((20, event), on_air=10.0)) == []
    assert down(follow((25, event), on_air=10.0))[0].since == moment(10)


def test_a_status_that_is_missing_tells_nothing() -> None:
    disconnected, unknown = listed(restream("a", "disconnected", updated_at=at(0))), listed(restream("a", None))
    assert down(follow((60, unknown))) == []
    assert len(down(follow((20, disconnected), (60, unknown), (300, unknown)))) == 1


def test_a_restream_is_well_after_half_a_minute_or_when_it_is_switched_off() -> None:
    disconnected, connected = listed(restream("a", "disconnected", updated_at=at(0))), listed(restream("a"))
    assert len(down(follow((20, disconnected), (35, connected), (64, connected)))) == 1
    over = follow((20, disconnected), (35, connected), (65, connected))
    assert down(over) == []
    assert [(episode.target, episode.since, episode.until) for episode in restream_episodes(over)] == [
        ("a", NOW, moment(35))
    ]
    stamped = listed(restream("a", updated_at=at(22)))
    assert len(down(follow((20, disconnected), (35, stamped), (51, stamped)))) == 1
    assert down(follow((20, disconnected), (35, stamped), (52, stamped))) == []
    off = follow((20, disconnected), (35, listed(restream("a", "disconnected", enabled=False))))
    assert down(off) == []
    assert [episode.until for episode in restream_episodes(off)] == [moment(35)]

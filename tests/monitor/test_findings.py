"""What no sample tells: starts, silences and restreams; and when each deserves attention anew. Seconds from NOW."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from livedeck.client import Event
from livedeck.monitor import BroadcastState, Finding, Ingest, IngestState, Phase, Severity, Thresholds
from livedeck.monitor.detection.detect import SignalAnalysis
from livedeck.monitor.detection.restreams import RestreamHistory, of_restreams, told, update
from livedeck.monitor.kinds.ingest import late_start_finding, silence_finding
from livedeck.monitor.signal.series import merge
from monitor.stage import NOW, after, at, judged, model, samples, signal

T = Thresholds()


def moment(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


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
    phase = Phase(BroadcastState.LATE if left < 0 else BroadcastState.SCHEDULED, moment(left))
    found = [(one.severity, one.stage, one.since) for one in late_start_finding(phase, NOW, T)]
    assert found == ([(severity, stage, moment(left - 300))] if severity else [])


def away(used: float, window: float = 600.0) -> tuple[Finding, ...]:
    """A stream whose encoder left so many seconds ago."""
    ingest = Ingest(IngestState.INTERRUPTED, moment(-used), moment(window - used))
    return silence_finding(SignalAnalysis(), Phase(BroadcastState.RECONNECTING, moment(-900), ingest), NOW, None, T)


@pytest.mark.parametrize(("used", "stage"), [(20, 0), (299, 0), (300, 1), (479, 1), (480, 2), (599, 2), (600, 3)])
def test_a_window_that_runs_out_is_said_at_half_at_four_fifths_and_at_its_end(used: float, stage: int) -> None:
    (finding,) = away(used)
    assert (finding.kind, finding.stage, finding.since) == ("RECONNECTING", stage, moment(-used))


def test_no_window_at_all_is_used_up_at_once() -> None:
    assert away(20, window=0.0)[0].stage == 3


def live(known: SignalAnalysis, empty: float | None, began: float = -600.0) -> list[str]:
    warm = Phase(BroadcastState.ON_AIR, moment(began), Ingest(IngestState.WARMING_UP))
    found = silence_finding(known, warm, NOW, None if empty is None else moment(empty), T)
    return [finding.kind for finding in found]


def test_a_stream_that_never_sent_is_told_until_ten_seconds_of_samples_came() -> None:
    def begun(count: int) -> SignalAnalysis:
        return judged(SignalAnalysis(), merge(after(0, count=1), samples(signal(count))), T)

    none = Phase(BroadcastState.ON_AIR, moment(-600), Ingest(IngestState.NONE))
    assert [one.kind for one in silence_finding(SignalAnalysis(), none, NOW, NOW, T)] == ["NO_INGEST"]
    assert live(begun(5), empty=-10.0) == ["NO_INGEST"]
    assert live(begun(6), empty=-10.0) == []
    assert live(begun(5), empty=None) == []  # nobody saw that it was silent
    assert live(begun(5), empty=-10.0, began=-30.0) == []  # nor for long


def restream(name: str, status: str | None = "connected", **fields: Any) -> dict[str, Any]:
    return {"id": name, "name": name.title(), "status": status, "enabled": True, **fields}


def listed(*restreams: dict[str, Any]) -> Event:
    return model(restreams=restreams)


def follow(*answers: tuple[float, Event], on_air: float | None = -600.0) -> RestreamHistory:
    """What is known after those lists; `on_air`: since when the main stream arrives."""
    known = RestreamHistory()
    begun = None if on_air is None else moment(on_air).timestamp()
    for seconds, event in answers:
        known = update(known, event, moment(seconds).timestamp(), begun, T)
    return known


def test_a_restream_is_down_after_its_delay_since_the_platform_says_so() -> None:
    event = listed(restream("a", "disconnected", updated_at=at(0)), restream("b"))
    assert of_restreams(follow((14, event))) == ()
    (finding,) = of_restreams(follow((15, event)))
    assert (finding.kind, finding.target, finding.target_name) == ("RESTREAM_DOWN", "a", "A")
    assert (finding.severity, finding.since, finding.actual) == (Severity.WARNING, NOW, "A disconnected")


def test_where_the_platform_does_not_say_since_when_it_is_when_we_first_saw_it() -> None:
    well, down = listed(restream("a", updated_at=at(-900))), listed(restream("a", "disconnected", updated_at=at(-900)))
    assert of_restreams(follow((0, well), (15, down), (29, down))) == ()
    assert of_restreams(follow((0, well), (15, down), (30, down)))[0].since == moment(15)


def test_all_restreams_down_is_critical() -> None:
    down = [restream(name, "disconnected", updated_at=at(0)) for name in ("a", "b")]
    off = restream("c", "disconnected", enabled=False)
    assert [one.severity for one in of_restreams(follow((20, listed(*down, off))))] == [Severity.CRITICAL] * 2
    assert [one.severity for one in of_restreams(follow((20, listed(*down, restream("c")))))] == [Severity.WARNING] * 2


@pytest.mark.parametrize("enabled", [False, None])
def test_a_restream_that_is_not_enabled_owes_nothing(enabled: bool | None) -> None:
    assert of_restreams(follow((20, listed(restream("a", "disconnected", enabled=enabled))))) == ()


def test_without_the_main_stream_nobody_can_say_that_a_restream_is_down() -> None:
    event = listed(restream("a", "disconnected", updated_at=at(-900)))
    assert of_restreams(follow((20, event), (60, event), on_air=None)) == ()
    assert of_restreams(follow((20, event), on_air=10.0)) == ()
    assert of_restreams(follow((25, event), on_air=10.0))[0].since == moment(10)


def test_a_status_that_is_missing_tells_nothing() -> None:
    down, unknown = listed(restream("a", "disconnected", updated_at=at(0))), listed(restream("a", None))
    assert of_restreams(follow((60, unknown))) == ()
    assert len(of_restreams(follow((20, down), (60, unknown), (300, unknown)))) == 1


def test_a_restream_is_well_after_half_a_minute_or_when_it_is_switched_off() -> None:
    down, well = listed(restream("a", "disconnected", updated_at=at(0))), listed(restream("a"))
    assert len(of_restreams(follow((20, down), (35, well), (64, well)))) == 1
    over = follow((20, down), (35, well), (65, well))
    assert of_restreams(over) == ()
    assert [(one.target, one.since, one.until) for one in told(over)] == [("a", NOW, moment(35))]
    stamped = listed(restream("a", updated_at=at(22)))
    assert len(of_restreams(follow((20, down), (35, stamped), (51, stamped)))) == 1
    assert of_restreams(follow((20, down), (35, stamped), (52, stamped))) == ()
    off = follow((20, down), (35, listed(restream("a", "disconnected", enabled=False))))
    assert of_restreams(off) == ()
    assert [one.until for one in told(off)] == [moment(35)]

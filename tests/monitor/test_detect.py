"""Rows of the alarm table, one by one: when a fault is raised, what it survives, and when it clears."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import pytest

from livedeck.monitor import Episode, Reading, Readings, Severity, Thresholds, with_overrides
from livedeck.monitor.detection.detect import SAMPLE_KINDS, StreamRules, detect, episodes
from livedeck.monitor.signal.analysis import SignalAnalysis
from livedeck.monitor.signal.series import merge
from livedeck.simulator.engine.encoder import SHAPES, qos
from monitor.stage import NOW, samples

EVERY = 2.0
RULES = StreamRules(Thresholds())
CALM = 300
"""Number of samples before the fault: ten minutes."""

USUAL: dict[str, Any] = {"video": 4.5e6, "audio": 128e3, "fps": 30.0, "status": 0}


def stretch(count: int, **fault: Any) -> list[dict[str, Any]]:
    return [USUAL | fault] * count


def swinging(count: int, **fault: Any) -> list[dict[str, Any]]:
    """Return samples of a variable rate, 15 % above or below its middle."""
    return [USUAL | {"video": 4.5e6 * (0.85 if index % 2 else 1.15)} | fault for index in range(count)]


def rows(parts: Iterable[dict[str, Any]]) -> list[Reading]:
    return [Reading(NOW.timestamp() + EVERY * index, **part) for index, part in enumerate(parts)]


def analyze(*parts: list[dict[str, Any]]) -> SignalAnalysis:
    """Return the analysis of ten calm minutes and then these parts, one sample each two seconds."""
    return analyze_readings(rows([*stretch(CALM), *(row for part in parts for row in part)]))


def analyze_readings(readings: list[Reading], **limits: object) -> SignalAnalysis:
    rules = StreamRules(with_overrides(Thresholds(), limits))
    return detect(SignalAnalysis(), merge(Readings(), samples(readings)), rules)


def past_episodes(analysis: SignalAnalysis) -> list[Episode]:
    return [episode for episode in episodes(analysis) if episode.until]


def after(count: int) -> datetime:
    """Return the time of sample number `count` after the calm."""
    return datetime.fromtimestamp(NOW.timestamp() + EVERY * (CALM + count), UTC)


THIN = {"audio": 0.7 * 128e3}
"""Sound below its constant level, which proves that the bit rate is too low."""

ROWS = [
    ("BLACKOUT", {"video": 49_999.0}, 0, 6, 0, 10),
    ("BLACKOUT", {"fps": 0.9}, 0, 6, 0, 10),
    ("PICTURE_STILL", {"video": 0.09 * 4.5e6}, 0, 14, 4, 20),
    ("VIDEO_LOW", {"video": 0.69 * 4.5e6, **THIN}, 4, 16, 4, 20),
    ("VIDEO_STARVED", {"video": 0.49 * 4.5e6, **THIN}, 4, 10, 4, 20),
    ("FPS_LOW", {"fps": 28.0}, 6, 16, 4, 20),
    ("FPS_COLLAPSE", {"fps": 23.0}, 8, 10, 4, 20),
    ("AUDIO_LOST", {"audio": 0.0}, 0, 6, 0, 10),
    ("AUDIO_LOW", {"audio": 31_999.0}, 0, 16, 0, 30),
    ("AUDIO_HIGH", {"audio": 320_001.0}, 0, 16, 0, 30),
    ("KEYFRAME_DRIFT", {"status": 3}, 0, 34, 0, 60),  # the third hit is 4 s in
    ("KEYFRAME_SEVERE", {"status": 4}, 0, 12, 0, 60),  # the second is 2 s in
    ("PACKET_LOSS", {"status": 5}, 0, 0, 0, 60),
    ("UNKNOWN_STATUS", {"status": 7}, 0, 0, 0, 0),
    ("UNKNOWN_DATA", {"fps": None}, 0, 10, 0, 10),
    ("UNKNOWN_DATA", {"status": None}, 0, 10, 0, 10),
]
"""Kind, signal, seconds until the rate's window shows the fault, seconds from then to the alarm; the same for the end.

A rate is judged by the newest ten seconds, so one odd sample does not change it.
"""

IN_TIME = {"DROPOUTS", "BITRATE_UNSTABLE", "VIDEO_BELOW_PRESET", "VIDEO_DECAY", "PROFILE_CHANGE"}
"""Kinds that no run of bad samples raises (test_duty.py, test_levels.py)."""

COUNTED = {"KEYFRAME_DRIFT", "KEYFRAME_SEVERE", "PACKET_LOSS"}
"""Kinds that count a status clear some time after its last sample; the others clear after the first good sample."""


def test_every_kind_that_samples_raise_has_a_row() -> None:
    assert {kind for kind, *_ in ROWS} | IN_TIME == {kind.name for kind, _ in SAMPLE_KINDS}


@pytest.mark.parametrize(("kind", "fault", "shown", "on"), [row[:4] for row in ROWS])
def test_a_fault_is_raised_when_it_has_held_and_not_before(
    kind: str, fault: dict[str, Any], shown: float, on: float
) -> None:
    edge = round((shown + on) / EVERY) + 1
    assert kind not in analyze(stretch(edge - 1, **fault)).intervals
    interval = analyze(stretch(edge, **fault)).intervals[kind]
    assert interval.since == after(round(shown / EVERY)).timestamp()


@pytest.mark.parametrize(("kind", "fault", "shown", "on", "unshown", "off"), ROWS)
def test_a_fault_is_over_after_its_delay_and_not_before(  # noqa: PLR0917  a row of the table
    kind: str, fault: dict[str, Any], shown: float, on: float, unshown: float, off: float
) -> None:
    length = round((shown + on) / EVERY) + 5
    good = round((unshown + off) / EVERY) + (0 if kind in COUNTED else 1)
    if off:
        assert kind in analyze(stretch(length, **fault), stretch(good - 1)).intervals
    analysis = analyze(stretch(length, **fault), stretch(good))
    assert kind not in analysis.intervals
    (episode,) = [episode for episode in past_episodes(analysis) if episode.kind == kind]
    ended = length - 1 if kind in COUNTED else length + round(unshown / EVERY)
    assert (episode.since, episode.until) == (after(round(shown / EVERY)), after(ended))


@pytest.mark.parametrize(
    ("limits", "fault", "kind"),
    [
        ({"low_audio": 0}, {"audio": 0.0}, "AUDIO_LOST"),
        ({"low_fps": 0.5, "fps_duty": {"long_seconds": 1e6, "short_seconds": 1e6}}, {"fps": 20.0}, "FPS_COLLAPSE"),
        ({"low_video": 0.3}, {"video": 0.4 * 4.5e6, **THIN}, "VIDEO_STARVED"),
    ],
)
def test_a_warning_that_a_setting_silences_takes_no_critical_alarm_with_it(
    limits: dict[str, object], fault: dict[str, Any], kind: str
) -> None:
    assert set(analyze_readings(rows([*stretch(CALM), *stretch(20, **fault)]), **limits).intervals) == {kind}


@pytest.mark.parametrize("limits", [{"dark_video": 0}, {"dark_video": 0, "dark_fps": 0}])
@pytest.mark.parametrize("fault", [{"video": 0.0}, {"video": 0.0, "fps": 0.0}])
@pytest.mark.parametrize("calm", [0, CALM])
def test_no_picture_is_judged_where_a_setting_expects_none(
    limits: dict[str, object], fault: dict[str, Any], calm: int
) -> None:
    """Of a stream that is sound alone its BLACKOUT is silenced: a usual rate of 0 is one."""
    analysis = analyze_readings(
        rows([*stretch(calm), *stretch(600, **fault), *stretch(30, **fault, audio=0.0)]), **limits
    )
    assert "AUDIO_LOST" in analysis.intervals


@pytest.mark.parametrize(
    "almost",
    [
        {"video": 0.7 * 4.5e6},
        {"fps": 29.0},
        {"audio": 32_000.0},
        {"audio": 320_000.0},
        {"audio": None},
        {"video": 5.2e6},
    ],
)
def test_what_is_just_within_its_limit_raises_nothing(almost: dict[str, Any]) -> None:
    assert analyze(stretch(90, **almost)).intervals == {}


@pytest.mark.parametrize(
    ("fault", "kinds"),
    [
        ({"video": 50_000.0, **THIN}, {"PICTURE_STILL", "VIDEO_STARVED", "VIDEO_LOW"}),
        ({"video": 0.5 * 4.5e6, **THIN}, {"VIDEO_LOW"}),
        ({"fps": 26.0}, {"FPS_LOW"}),
        ({"audio": 1.0}, {"AUDIO_LOW"}),
        ({"video": 0.0, "fps": 0.0}, {"BLACKOUT"}),
        ({"video": 0.0, "audio": 0.0, "fps": 0.0}, {"BLACKOUT"}),
        ({"video": None, "audio": 0.0}, {"UNKNOWN_DATA"}),
    ],
)
def test_the_level_and_not_its_neighbour_is_raised(fault: dict[str, Any], kinds: set[str]) -> None:
    assert set(analyze(stretch(40, **fault)).intervals) == kinds


def test_a_fault_clears_at_a_higher_level_than_raised_it() -> None:
    low = stretch(14, video=0.69 * 4.5e6, **THIN)
    assert "VIDEO_LOW" in analyze(low, stretch(100, video=0.74 * 4.5e6, **THIN)).intervals
    assert "VIDEO_LOW" not in analyze(low, stretch(100, video=0.76 * 4.5e6, **THIN)).intervals
    starved = stretch(14, video=0.49 * 4.5e6, **THIN)
    assert "VIDEO_STARVED" in analyze(starved, stretch(100, video=0.59 * 4.5e6, **THIN)).intervals
    assert "VIDEO_STARVED" not in analyze(starved, stretch(100, video=0.61 * 4.5e6, **THIN)).intervals


def test_a_good_run_that_breaks_begins_anew() -> None:
    mute = stretch(8, audio=0.0)
    analysis = analyze(mute, stretch(4), stretch(1, audio=0.0), stretch(5))
    assert "AUDIO_LOST" in analysis.intervals
    assert past_episodes(analysis) == []


def test_what_is_missing_neither_raises_nor_clears() -> None:
    assert "AUDIO_LOST" not in analyze(stretch(2, audio=0.0), stretch(1, audio=None), stretch(2, audio=0.0)).intervals
    assert "AUDIO_LOST" in analyze(stretch(8, audio=0.0), stretch(60, audio=None)).intervals


@pytest.mark.parametrize("evidence", [{"status": 5}, {"fps": 28.0}, THIN])
def test_few_bits_of_a_variable_rate_are_a_fault_only_where_something_suffers(evidence: dict[str, Any]) -> None:
    history = rows([*swinging(CALM), *stretch(20, video=0.4 * 4.5e6)])
    assert analyze_readings(history).intervals == {}
    starved = analyze_readings(rows([*swinging(CALM), *stretch(20, video=0.4 * 4.5e6, **evidence)]))
    assert {"VIDEO_STARVED", "VIDEO_LOW"} <= set(starved.intervals)


@pytest.mark.parametrize(("counted", "kind"), [((3, 3), "KEYFRAME_DRIFT"), ((4, 2), "KEYFRAME_SEVERE")])
def test_a_key_frame_now_and_then_is_no_pattern(counted: tuple[int, int], kind: str) -> None:
    """One hit fewer than counts, in every window of its length; so seldom that they are no habit either."""
    status, hits = counted
    window = 10 if status == 3 else 6
    sparse = [*stretch(hits - 1, status=status), *stretch(window * 10)] * 6
    dense = [*stretch(hits, status=status), *stretch(window - hits)] * 20
    assert kind not in analyze(sparse).intervals
    assert kind in analyze(dense).intervals


def test_severe_key_frames_are_critical_after_a_minute() -> None:
    assert analyze(stretch(31, status=4)).intervals["KEYFRAME_SEVERE"].severity is Severity.WARNING
    assert analyze(stretch(32, status=4)).intervals["KEYFRAME_SEVERE"].severity is Severity.CRITICAL
    spells = [*stretch(7, status=4), *stretch(18)] * 10
    assert analyze(spells).intervals["KEYFRAME_SEVERE"].severity is Severity.WARNING, "each of them is short"


def test_a_sample_with_loss_is_information_a_share_of_them_a_warning_and_critical_where_it_lasts() -> None:
    def severity(*parts: list[dict[str, Any]]) -> Severity:
        return analyze(*parts).intervals["PACKET_LOSS"].severity

    assert severity(stretch(2, status=5)) is Severity.INFO
    assert severity(stretch(2, status=5), stretch(10), stretch(2, status=5)) is Severity.WARNING  # four of fifteen
    assert severity(stretch(3, status=5)) is Severity.WARNING
    assert severity(stretch(10, status=5)) is Severity.WARNING
    assert severity(stretch(11, status=5)) is Severity.CRITICAL  # the third, and 16 s


def test_a_fault_stays_as_loud_as_it_was() -> None:
    analysis = analyze(stretch(20, status=5), stretch(15), stretch(1, status=5))
    assert analysis.intervals["PACKET_LOSS"].severity is Severity.CRITICAL


@pytest.mark.parametrize("share", [0.6, 0.3])
def test_a_fault_does_not_become_the_usual(share: float) -> None:
    """Half an hour of it, and it is still held against what was usual before; so is the good that follows."""
    fault = {"video": share * 4.5e6, **THIN}
    analysis = analyze(stretch(900, **fault))
    assert analysis.usual.video == 4.5e6
    assert "VIDEO_LOW" in analysis.intervals
    assert analyze(stretch(900, **fault), stretch(10)).usual.video == 4.5e6


@pytest.mark.parametrize("fault", [row[1] for row in ROWS])
def test_a_run_that_warms_up_raises_nothing(fault: dict[str, Any]) -> None:
    grace = rows(stretch(15, **fault))
    assert analyze_readings(grace).intervals == {}
    gap = 40.0
    again = [row._replace(time=row.time + EVERY * CALM + gap) for row in grace]
    assert set(analyze_readings([*rows(stretch(CALM)), *again]).intervals) <= {"RECONNECTING"}


def test_a_silence_between_samples_is_told_though_nobody_asked_meanwhile() -> None:
    away = 60.0
    before = rows(stretch(CALM))
    back = [row._replace(time=row.time + EVERY * CALM + away) for row in rows(stretch(6))]
    left, returned = (datetime.fromtimestamp(row.time, UTC) for row in (before[-1], back[0]))
    assert analyze_readings([*before, *back[:5]]).intervals["RECONNECTING"].is_raised
    analysis = analyze_readings([*before, *back])
    assert analysis.intervals == {}
    (episode,) = past_episodes(analysis)
    assert (episode.kind, episode.since, episode.until) == ("RECONNECTING", left, returned)


def test_a_fault_outlasts_a_silence_for_nothing_proves_that_it_is_over() -> None:
    mute = rows([*stretch(CALM), *stretch(10, audio=0.0)])
    back = [row._replace(time=row.time + EVERY * (CALM + 10) + 60.0) for row in rows(stretch(6))]
    assert "AUDIO_LOST" in analyze_readings([*mute, *back[:5]]).intervals
    assert "AUDIO_LOST" not in analyze_readings([*mute, *back]).intervals


def test_a_run_of_bad_samples_does_not_reach_over_a_silence() -> None:
    mute = rows([*stretch(CALM), *stretch(2, audio=0.0)])
    back = [
        row._replace(time=mute[-1].time + 60.0 + EVERY * index) for index, row in enumerate(rows(stretch(3, audio=0.0)))
    ]
    assert "AUDIO_LOST" not in analyze_readings([*mute, *back]).intervals


@pytest.mark.parametrize("fault", [row[1] for row in ROWS])
def test_a_late_sample_is_folded_in_where_it_belongs(fault: dict[str, Any]) -> None:
    """Some minutes late, with a fault that comes and goes around it: the counts before it are those of that time."""
    every = rows([*stretch(CALM), *[*stretch(7, **fault), *stretch(5)] * 15])
    for late in (CALM + 9, CALM + 70, CALM + 133):
        readings = merge(Readings(), samples([*every[:late], *every[late + 1 :]]))
        analysis = detect(detect(SignalAnalysis(), readings, RULES), merge(readings, samples([every[late]])), RULES)
        whole = analyze_readings(every)
        assert (analysis.intervals, analysis.past, analysis.features) == (whole.intervals, whole.past, whole.features)


def test_a_slow_cadence_is_no_silence() -> None:
    slow = [row._replace(time=NOW.timestamp() + 30.0 * index) for index, row in enumerate(rows(stretch(60)))]
    assert episodes(analyze_readings(slow)) == ()


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("after", [("clean", "clean"), ("variable", "static-picture"), ("static-picture", "variable")])
def test_a_show_in_which_nothing_goes_wrong_raises_nothing(after: tuple[str, str], seed: int) -> None:
    """Clean, and from camera to slides and back at a variable rate: twenty minutes of the service's encoder."""
    first, second = after
    shapes = [*[SHAPES[first]] * 300, *[SHAPES[second]] * 300]
    sent = [qos(seed, EVERY * index, shape) for index, shape in enumerate(shapes)]
    analysis = analyze_readings(
        [Reading(NOW.timestamp() + EVERY * index, *row) for index, row in enumerate(sent) if row]
    )
    assert episodes(analysis) == ()


def test_a_stream_keeps_its_last_two_hundred_episodes() -> None:
    odd = [*stretch(1, status=7), *stretch(1)] * 300
    kept = episodes(analyze(odd))
    assert len(kept) == 200
    assert kept[-1].until is not None
    assert [episode.since for episode in kept] == sorted(episode.since for episode in kept)


@pytest.mark.parametrize(
    ("parts", "kind", "severity", "actual"),
    [
        ([stretch(60, audio=0.0)], "AUDIO_LOST", Severity.WARNING, "no sound since its first sample"),
        ([stretch(60), stretch(60, audio=0.0)], "AUDIO_LOST", Severity.CRITICAL, "video without audio"),
        (
            [stretch(60, audio=0.0), stretch(5), stretch(60, audio=0.0)],
            "AUDIO_LOST",
            Severity.CRITICAL,
            "video without audio",
        ),
        ([stretch(60, video=0.0, fps=0.0)], "BLACKOUT", Severity.WARNING, "no picture since its first sample"),
        ([stretch(60), stretch(60, video=0.0, fps=0.0)], "BLACKOUT", Severity.CRITICAL, "video 0, fps 0.0"),
        (
            [stretch(60, video=0.0, fps=0.0, audio=0.0)],
            "BLACKOUT",
            Severity.CRITICAL,
            "no picture since its first sample",
        ),
    ],
    ids=["never-heard", "heard", "heard-briefly", "never-seen", "seen", "nothing-at-all"],
)
def test_what_never_was_there_is_a_warning_that_says_so(
    parts: list[list[dict[str, Any]]], kind: str, severity: Severity, actual: str
) -> None:
    """It may be meant so. A stream with neither picture nor sound is not."""
    readings = rows(row for part in parts for row in part)
    interval = detect(SignalAnalysis(), merge(Readings(), samples(readings)), RULES).intervals[kind]
    assert (interval.severity, interval.evidence.actual) == (severity, actual)
    assert ("content" in interval.evidence.expected) == ("since its first" in actual)

"""Table of alarm kinds: every possible finding has its entry, and an entry names only existing things."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, replace
from importlib import resources
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livedeck.monitor import Hold, Share, Thresholds, kinds, with_overrides
from livedeck.monitor.detection.patterns import PATTERN_DIAGNOSES, diagnose
from livedeck.monitor.kinds import ALARM_KINDS, audio, delivery, is_normal, video
from livedeck.monitor.kinds.kind import THE_PLATFORM, AlarmKind, DeckDetector, Observation, SampleDetector
from livedeck.monitor.kinds.viewer import VIEWER_RULES
from livedeck.monitor.model.alarm import Severity
from livedeck.monitor.model.state import Component, Pattern
from livedeck.monitor.model.thresholds import Duty
from livedeck.monitor.signal.features import ProfileChange, SampleFeatures
from livedeck.monitor.signal.hysteresis import Level
from livedeck.monitor.signal.order import Step
from livedeck.monitor.signal.usual import Rates, Usual
from trials import trials

T = Thresholds()
BY_FOLDS = {"restream_hold", "ragged_hold"}
"""Holds that no SampleDetector names."""

NAN = float("nan")


def sample_detectors() -> Iterator[tuple[AlarmKind, SampleDetector]]:
    for kind in ALARM_KINDS.values():
        if isinstance(kind.detector, SampleDetector):
            yield kind, kind.detector


def test_a_kind_is_found_by_its_name() -> None:
    assert [kind.name for kind in ALARM_KINDS.values()] == list(ALARM_KINDS)


@pytest.mark.parametrize("kind", ALARM_KINDS.values(), ids=lambda kind: kind.name)
def test_whatever_a_kind_names_exists(kind: AlarmKind) -> None:
    assert set(kind.parents) <= set(ALARM_KINDS)
    assert kind.name not in kind.parents
    assert len(set(kind.parents)) == len(kind.parents)
    assert Pattern.NONE not in kind.explained_by


def test_every_hold_is_a_setting_and_every_such_setting_is_a_hold() -> None:
    holds = {field.name for field in fields(T) if isinstance(getattr(T, field.name), Hold)}
    named = {detector.hold for _, detector in sample_detectors() if detector.hold}
    assert named | BY_FOLDS == holds


def test_every_duty_is_a_setting_and_every_such_setting_is_a_duty() -> None:
    duties = {field.name for field in fields(T) if isinstance(getattr(T, field.name), Duty)}
    named = {detector.duty.limits for _, detector in sample_detectors() if detector.duty}
    assert named | {"above_duty"} == duties, "that one proves a variable rate, and raises nothing"


def test_a_fault_spoils_no_other_rate_than_its_own() -> None:
    for kind, detector in sample_detectors():
        assert detector.spoils in {"", kind.component.value}, kind.name


def test_a_hidden_kind_is_hidden_by_none_that_it_hides() -> None:
    """Nothing is hidden for good by two kinds that hide each other."""

    def ancestors(kind: str) -> set[str]:
        parents = ALARM_KINDS[kind].parents
        return {*parents, *(ancestor for parent in parents for ancestor in ancestors(parent))}

    assert all(kind not in ancestors(kind) for kind in ALARM_KINDS)


@pytest.mark.parametrize("kind", ALARM_KINDS.values(), ids=lambda kind: kind.name)
def test_without_a_platform_or_a_stream_nothing_is_said_of_an_event_s_samples(kind: AlarmKind) -> None:
    if not kind.is_of_deck:
        assert kind.parents[0] == "API_BLIND"
    if isinstance(kind.detector, SampleDetector):
        assert "NO_INGEST" in kind.parents
        assert ("RECONNECTING" in kind.parents) is (kind.name != "DROPOUTS"), "which stands for silences"


@pytest.mark.parametrize("kind", ALARM_KINDS.values(), ids=lambda kind: kind.name)
def test_a_finding_has_the_severity_of_its_kind(kind: AlarmKind) -> None:
    observation = Observation("bad", "good")
    assert (kind.finding(observation).kind, kind.finding(observation).severity) == (kind.name, kind.severity)
    escalated = kind.finding(observation._replace(is_escalated=True))
    assert escalated.severity is kind.escalated_severity
    assert kind.escalated_severity.rank <= kind.severity.rank


def test_every_fault_that_is_no_mere_information_lowers_a_component_of_the_score() -> None:
    for kind, _ in sample_detectors():
        assert (kind.component is Component.NONE) <= (kind.severity is Severity.INFO), kind.name


@pytest.mark.parametrize("kind", ALARM_KINDS)
def test_every_kind_is_told_in_three_short_sentences(kind: str) -> None:
    diagnosis = diagnose(kind)
    for sentence in (diagnosis.cause, diagnosis.viewers, diagnosis.advice):
        assert sentence.endswith(".")
        assert 0 < len(sentence) <= 100
    assert diagnosis != diagnose("A_KIND_THAT_NOBODY_KNOWS")


def test_every_pattern_has_a_diagnosis_and_explains_a_kind() -> None:
    patterns = set(Pattern) - {Pattern.NONE}
    assert set(PATTERN_DIAGNOSES) == patterns
    assert {pattern for kind in ALARM_KINDS.values() for pattern in kind.explained_by} == patterns


# The page that explains the kinds


def section(heading: str) -> str:
    """Return the text below a heading of monitoring.md."""
    page = resources.files("livedeck").joinpath("docs/monitoring.md").read_text(encoding="utf-8")
    return re.split(r"^#+ ", page.split(f"# {heading}\n", 1)[1], maxsplit=1, flags=re.MULTILINE)[0]


def tables(heading: str) -> list[list[list[str]]]:
    """Return the cells of each table below a heading, without its head."""
    found = re.findall(r"(?:^\|.*\n)+", section(heading), flags=re.MULTILINE)
    return [
        [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]] for table in found
    ]


def rows(heading: str) -> list[list[str]]:
    """Return the cells of the first table below a heading."""
    return tables(heading)[0]


def test_the_documents_list_every_kind_with_its_hold_severity_and_component() -> None:
    by_samples, others = tables("Alarm kinds")
    listed, plain = {name: cells for name, _, *cells in by_samples}, {name: cells for name, *cells in others}
    assert {*listed} == {kind.name for kind, _ in sample_detectors()}
    assert {*plain} == {*ALARM_KINDS} - {*listed}
    for name, (hold, off, severity, component) in listed.items():
        kind = ALARM_KINDS[name]
        assert severity.startswith(kind.severity.value), name
        assert component == (kind.component.value or "-"), name
        assert isinstance(kind.detector, SampleDetector)
        time = kind.detector.hold_time(T)
        if kind.detector.duty and not kind.detector.hold:  # only the duty cycle raises and clears it
            assert (hold, off) == ("-", "[duty cycle](#duty-cycles)"), name
            continue
        assert hold == f"{time.samples} / {time.seconds:g} s", name
        assert off == (f"{time.off:g} s" if time.off else "at once"), name
    for name, (_, severity) in plain.items():
        assert severity.startswith(ALARM_KINDS[name].severity.value), name
        assert ALARM_KINDS[name].component is Component.NONE, name
    assert f"is disconnected for {T.restream_hold.seconds:g} s" in plain["RESTREAM_DOWN"][0]


def test_the_documents_list_every_parent_with_its_children() -> None:
    by_samples = {kind.name for kind, _ in sample_detectors()}
    shared = section("PLATFORM incident").split("The shared kinds are", 1)[1].partition("Those of an incident CDN")[0]
    words = {
        "every kind that samples raise, and RESTREAM_DOWN": by_samples | {"RESTREAM_DOWN"},
        "the same but DROPOUTS": by_samples - {"DROPOUTS"} | {"RESTREAM_DOWN"},
        "every alarm of every event; PLATFORM; LIST_WRONG; CDN; PROBE_BLIND": {
            kind.name for kind in ALARM_KINDS.values() if not kind.is_of_deck
        }
        | {"PLATFORM", "LIST_WRONG", "CDN", "PROBE_BLIND"},
        "every kind of viewers": {*VIEWER_RULES},
        "every kind of viewers of the events that it lists": {*VIEWER_RULES},
        "the shared kinds of the events that it lists": set(
            re.findall(r"[A-Z]+_[A-Z]+|BLACKOUT|RECONNECTING|DROPOUTS", shared)
        ),
    }
    listed: dict[str, set[str]] = {}
    for parents, children in rows("Suppression"):
        for parent in parents.split(", "):
            listed[parent] = listed.get(parent, set()) | words.get(children, set(children.split(", ")))
    hidden = {parent: {kind.name for kind in ALARM_KINDS.values() if parent in kind.parents} for parent in ALARM_KINDS}
    assert listed == {parent: children for parent, children in hidden.items() if children}


def test_the_documents_list_every_pattern_with_the_kinds_that_it_explains() -> None:
    listed = {Pattern(name): set(kinds.split(", ")) for name, _, _, kinds in rows("Fault patterns")}
    explained = {
        pattern: {kind.name for kind in ALARM_KINDS.values() if pattern in kind.explained_by}
        for pattern in PATTERN_DIAGNOSES
    }
    assert listed == explained


# The fast path


HEALTHY = SampleFeatures(
    time=0.0,
    video=4.5e6,
    audio=128e3,
    fps=30.0,
    status=0,
    usual=Usual(4.5e6, 128e3, 30.0, 127e3, is_constant=True, is_witness=True),
    cadence=2.0,
    window=Rates(4.5e6, 128e3, 30.0),
)


def rates(usual: float, *limits: float) -> st.SearchStrategy[float]:
    """Generate rates from nothing to thrice the usual one, close to these limits, or missing."""
    beside = [limit * factor for limit in limits for factor in (0.999, 1.0, 1.001)]
    return st.floats(0, 3).map(lambda share: share * usual) | st.sampled_from([*beside, 0.0, NAN])


CHANGES: dict[str, st.SearchStrategy[Any]] = {
    "video": rates(4.5e6, 0.7 * 4.5e6, 0.5 * 4.5e6, T.still_video * 4.5e6, T.dark_video),
    "audio": rates(128e3, T.low_audio * 128e3, T.low_audio_rate, T.high_audio),
    "fps": rates(30.0, 28.5, 0.85 * 30.0, 0.8 * 30.0, T.dark_fps),
    "status": st.sampled_from([-1, 1, 3, 4, 5]),
    "usual": st.sampled_from(
        [
            Usual(),
            Usual(4.5e6, None, 25.0),
            HEALTHY.usual._replace(is_variable_fps=True),
            HEALTHY.usual._replace(sunk_from=4.5e6, sunk_to=8e5),
        ]
    ),
    "window": st.builds(Rates, rates(4.5e6), rates(128e3), rates(30.0)),
    "step": st.sampled_from([Step(4.0), Step(60.0, is_silence=True)]),
    "is_warm": st.booleans(),
    "is_fps_low": st.booleans(),
    "is_fps_pending": st.booleans(),
    "witnesses": st.integers(0, 3),
    "is_ragged": st.booleans(),
    "fps_charge": st.sampled_from([0.0, 20.0]),
    "dip": st.sampled_from([0.0, 12.0]),
    "change": st.just(ProfileChange("video", 4.5e6, 2e6, 0.0)),
    "drift_hits": st.integers(0, 10),
    "severe_hits": st.integers(0, 6),
    "loss_hits": st.integers(0, 6),
    "loss_hits_long": st.integers(0, 15),
    "is_heavy_loss": st.booleans(),
    "is_lossy": st.booleans(),
    "is_sound_short": st.booleans(),
    "quiet_since": st.sampled_from([None, -60.0]),
}
FEATURES = st.lists(st.one_of([st.tuples(st.just(name), values) for name, values in CHANGES.items()]), max_size=4).map(
    lambda changes: HEALTHY._replace(**dict(changes))
)
"""Sample that is healthy except for a few values."""


def scaled(value: float) -> st.SearchStrategy[float]:
    """Generate a value of a setting: off, or not the usual one."""
    return st.sampled_from([min(factor * value, 1e9) for factor in (0.0, 0.3, 0.9, 1.1, 3.0)])


OVERRIDES: dict[str, st.SearchStrategy[Any]] = {
    name: scaled(value)
    for name, value in ((field.name, getattr(T, field.name)) for field in fields(T))
    if isinstance(value, float)
} | {
    field.name: st.fixed_dictionaries({"hits": st.integers(1, 4)})
    for field in fields(T)
    if isinstance(getattr(T, field.name), Share)
}
THRESHOLDS = st.lists(
    st.one_of([st.tuples(st.just(name), values) for name, values in OVERRIDES.items()]), max_size=5
).map(lambda overrides: with_overrides(T, dict(overrides)))


@pytest.mark.parametrize(
    ("is_normal", "kinds"),
    [
        (kinds.is_normal, kinds.ALARM_KINDS.values()),
        (video.is_normal, video.VIDEO_KINDS),
        (audio.is_normal, audio.AUDIO_KINDS),
        (lambda features, _: delivery.is_normal(features), delivery.DELIVERY_KINDS),
    ],
    ids=["all", "video", "audio", "delivery"],
)
@trials(600)
@given(features=FEATURES, thresholds=THRESHOLDS)
def test_a_normal_sample_is_bad_for_no_kind(
    is_normal: Callable[[SampleFeatures, Thresholds], bool],
    kinds: Iterable[AlarmKind],
    features: SampleFeatures,
    thresholds: Thresholds,
) -> None:
    """Whatever the settings are: the fold judges no normal sample."""
    is_dark = features.video < thresholds.dark_video or features.fps < thresholds.dark_fps
    features = features._replace(is_dark=is_dark)
    if is_normal(features, thresholds):
        detectors = [kind.detector for kind in kinds if isinstance(kind.detector, SampleDetector)]
        assert all(detector.classify(features, thresholds) is not Level.BAD for detector in detectors)
        duties = [detector.duty for detector in detectors if detector.duty]
        assert not any(duty.bad_seconds(features, thresholds) > 0 for duty in duties)


def test_a_healthy_sample_is_normal() -> None:
    """The property holds for a fast path that is never taken, too."""
    assert is_normal(HEALTHY, T)
    assert not is_normal(HEALTHY._replace(audio=0.0), replace(T, low_audio=0.0, low_audio_rate=0.0))
    assert is_normal(HEALTHY, replace(T, drift_share=Share(1, 1)))


def test_only_an_alarm_about_the_platform_names_it() -> None:
    subjects = {
        kind.name: kind.detector.subject for kind in ALARM_KINDS.values() if isinstance(kind.detector, DeckDetector)
    }
    others = {name: subject for name, subject in subjects.items() if subject != THE_PLATFORM}
    assert others == {
        "MACHINE_CLOCK": "this machine",
        "OWN_SLOW": "this machine",
        "HISTORY_FAILED": "history",
        "NOTIFY_FAILING": "notifier",
        "COLLECTOR_SILENT": "collector",
        "ENGINE_APART": "collector",
        "COLLECTOR_LOST": "collector",
        "PROBE_BLIND": "probe",
    }

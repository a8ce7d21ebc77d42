"""Limits in time for an alarm to begin and end (monitoring.md, "Golden scenarios"), and violations in a log."""

from __future__ import annotations

from collections.abc import Iterator

from golden.log import AlarmSpan, Log
from livedeck.monitor import AlarmLimits, Cadence
from livedeck.monitor.kinds import ALARM_KINDS
from livedeck.simulator import Expected

SAMPLE = 2.0
"""Seconds between samples. A fault begins between two of them."""

_KEYS_AND_LOSS = {"KEYFRAME_DRIFT", "KEYFRAME_SEVERE", "PACKET_LOSS"}
_SLOW = {
    "API_BLIND": 30.0,  # monitoring.md, "Freshness"
    "QOS_STALE": 30.0,
    "VIDEO_BELOW_PRESET": 200.0,  # three minutes (monitoring.md, "Floors")
    "PICTURE_STILL": 20.0,
    "VIDEO_LOW": 20.0,
    "VIDEO_STARVED": 20.0,  # ten seconds of samples are bad for ten seconds (monitoring.md, "Alarm kinds")
    "FPS_COLLAPSE": 20.0,
    "FPS_LOW": 25.0,
    "PROFILE_CHANGE": 45.0,  # steady for so long (monitoring.md, "Change points")
    "DROPOUTS": 80.0,  # the second time (monitoring.md, "Duty cycles")
    "BITRATE_UNSTABLE": 150.0,  # the third or fourth
}
_LISTED = {"RESTREAM_DOWN", "ENDED_ON_AIR"}  # seen in one event list, and still so in another


def detection(kind: str) -> float:
    """Return the maximum seconds of stream time from the fault to its alarm."""
    return 60.0 if kind in _KEYS_AND_LOSS else _SLOW.get(kind, 15.0)


def clearing(kind: str) -> float:
    """Return the maximum seconds of stream time from the end of the fault to the end of its alarm."""
    if kind in {"PACKET_LOSS", "BITRATE_UNSTABLE"}:  # over after some of its periods (monitoring.md, "Duty cycles")
        return 300.0
    return 60.0 if kind in _KEYS_AND_LOSS | {"PROFILE_CHANGE"} else 30.0


def announcing(kind: str) -> float:
    """Return the maximum seconds that an alarm waits for the incident that may explain it.

    See monitoring.md, "Announcements".
    """
    return AlarmLimits().shared_hold + SAMPLE if ALARM_KINDS[kind].shared else 0.0


def asking(kind: str) -> float:
    """Return the maximum further seconds until the monitor polls the data."""
    cadence = Cadence()
    interval = 2 * cadence.events if kind in _LISTED else cadence.qos
    return interval * (1 + cadence.jitter) + SAMPLE


def complaints(log: Log) -> Iterator[str]:
    """Yield everything in which the log differs from its scenario."""
    left = [span for span in log.spans if span.read]
    for expected in log.scenario.alarms:
        mine = [span for span in log.spans if _is(span, expected)]
        left = [span for span in left if span not in mine]
        yield from (f"{expected.kind} of {expected.event}: {wrong}" for wrong in _wrong(mine, expected))
    yield from (f"nobody expects {span}" for span in left)


def _is(span: AlarmSpan, expected: Expected) -> bool:
    named = (span.kind, span.event, span.target) == (expected.kind, expected.event, expected.target)
    return named and expected.since <= span.since and (expected.until is None or span.since <= expected.until)


def _wrong(spans: list[AlarmSpan], expected: Expected) -> Iterator[str]:
    if not 1 <= len(spans) <= expected.most:
        yield f"came {len(spans)} times, not 1 to {expected.most}"
    if not spans:
        return
    soon = expected.since + detection(expected.kind) + asking(expected.kind) + announcing(expected.kind)
    if spans[0].since > soon:
        yield f"came at {spans[0].since:.1f} s, after {soon:.1f} s"
    yield from _wrong_end(spans[-1].until, expected)
    loudest = min((span.severity for span in spans), key=lambda severity: severity.rank)
    if expected.severity and loudest != expected.severity:
        yield f"was {loudest}, not {expected.severity}"
    if expected.flapping != any(span.flapping for span in spans):
        yield f"flapping was not {expected.flapping}"
    read = sum(span.read for span in spans)
    if not (read > 0 if expected.shown else read <= detection(expected.kind) + asking(expected.kind)):
        yield f"was read for {read:.0f} s"


def _wrong_end(until: float | None, expected: Expected) -> Iterator[str]:
    if until is None or expected.until is None:
        if until != expected.until:
            yield f"ended at {until}, not at {expected.until}"
        return
    late = expected.until + clearing(expected.kind) + asking(expected.kind)
    if until > late:
        yield f"went at {until:.1f} s, after {late:.1f} s"
    if until < expected.until and expected.most == 1:
        yield f"went at {until:.1f} s, before {expected.until:.1f} s"

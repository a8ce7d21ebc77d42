"""Forecast of the next alarms of an event: the monitor's own rules, applied to invented future samples and replies.

Pure.

This module has no limits of its own, so a forecast cannot differ from the monitor's later judgement of such data.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise
from math import ceil

from livedeck.monitor.detection.detect import SAMPLE_KINDS, raised_by
from livedeck.monitor.detection.judged import DeliveryJudge, Judged
from livedeck.monitor.evidence.presence import EncoderStanding
from livedeck.monitor.kinds import ALARM_KINDS
from livedeck.monitor.kinds.ingest import LATE_START
from livedeck.monitor.kinds.kind import RECONNECTING, EventDetector
from livedeck.monitor.model.explanation import Condition, Forecast
from livedeck.monitor.model.readings import MISSING, NO_STATUS, Reading, Readings
from livedeck.monitor.signal.features import AUDIO, FPS, KEY_DRIFT, KEY_SEVERE, LOSS, VIDEO

_AHEAD, _AHEAD_CADENCES, _MOST_SAMPLES = 60.0, 12, 60
"""Seconds, cadences and maximum number of samples that a forecast looks ahead."""

_MOST_ANSWERS = 400
"""Maximum number of replies without a new sample that a forecast looks ahead."""

_SHARES = (0.85, 0.7, 0.55, 0.4, 0.25, 0.1, 0.03)
"""Shares of the newest rate that a forecast tries, in this order; the last try is a rate of 0."""

_EXCESSES = (2.0, 4.0, 8.0)
"""Multiples of the newest rate that a forecast tries."""

_EXACT = 0.01
"""Precision of a search: seconds of a time, or share of a limit."""


def forecasts(judged: Judged, now: datetime, wanted: str = "") -> tuple[Forecast, ...]:
    """Return the next onset of each kind that is not raised at `now` (server clock), one for each condition.

    A tried rate applies to every future sample; the other values are those of the newest sample. `wanted`: kind to look
    for; empty for all kinds, which takes a third of a second.
    """
    case = judged.case
    if case is None:
        return ()
    found = [*_of_time(judged, now)]
    if case.is_judged and judged.delivery and not case.phase.is_silent:
        found += _of_silence(judged.delivery, now)
        found += _of_samples(judged, wanted) if not wanted or wanted in _OF_SAMPLES else ()
    return tuple(forecast for forecast in found if wanted in {"", forecast.kind})


_OF_SAMPLES = frozenset(kind.name for kind, _ in SAMPLE_KINDS)


def _of_time(judged: Judged, now: datetime) -> Iterator[Forecast]:
    """Yield the forecast of a late start. Its detector judges the time until the planned start."""
    case, detector = judged.case, ALARM_KINDS[LATE_START].detector
    start = case.phase.reference_time if case else None
    if case is None or start is None or start <= now or not isinstance(detector, EventDetector):
        return

    def is_raised(seconds: float) -> bool:
        moment = now + timedelta(seconds=seconds)
        return any(True for _ in detector.observe(replace(case, now=moment), judged.thresholds))

    before, after = 0.0, (start - now).total_seconds()
    if is_raised(before) or not is_raised(after):
        return
    while after - before > _EXACT:
        middle = (before + after) / 2
        before, after = (before, middle) if is_raised(middle) else (middle, after)
    yield Forecast(LATE_START, Condition.TIME, after)


def _of_silence(delivery: DeliveryJudge, now: datetime) -> Iterator[Forecast]:
    """Yield the forecast of a lost encoder, if each planned poll brings a good reply without a new sample."""
    before, sent = delivery.before, delivery.asks.asked
    if before is None or sent is None or before.standing is EncoderStanding.GONE:
        return
    gap = delivery.asks.gap  # shorter than planned while the event is on a screen
    for answers in range(1, _MOST_ANSWERS):
        sent += min(delivery.interval, gap or delivery.interval)
        delivery = delivery.after_empty(max(sent, now.timestamp()) if answers == 1 else sent)
        if delivery.before and delivery.before.standing is EncoderStanding.GONE:
            yield Forecast(RECONNECTING, Condition.SILENT, max(0.0, sent - now.timestamp()), answers=answers)
            return


def _of_samples(judged: Judged, wanted: str) -> Iterator[Forecast]:
    newest, cadence = judged.analysis.readings.last, judged.analysis.cadence
    if newest is None or not cadence or judged.rules is None:
        return
    trial = _Trial(judged, newest, cadence, wanted)
    same = trial.onsets()
    for kind, samples in same.items():
        yield Forecast(kind, Condition.UNCHANGED, samples * cadence, samples)
    for rate in (VIDEO, FPS, AUDIO):
        value = getattr(newest, rate)
        if value:
            yield from _of_rate(trial, rate, [value, *(value * share for share in _SHARES), 0.0], Condition.BELOW)
    if newest.audio:
        yield from _of_rate(trial, AUDIO, [newest.audio, *(newest.audio * more for more in _EXCESSES)], Condition.ABOVE)
    for status in (LOSS, KEY_SEVERE, KEY_DRIFT):
        for kind, samples in trial.onsets(status=float(status)).items():
            if status != newest.status and kind not in same:
                yield Forecast(kind, Condition.STATUS, samples * cadence, samples, limit=float(status))


def _of_rate(trial: _Trial, rate: str, values: list[float], condition: Condition) -> Iterator[Forecast]:
    """Yield a forecast for each kind that another value of a rate would raise.

    `values`: the newest value, then those to try.
    """
    seen = {*trial.onsets()}
    for before, after in pairwise(values):
        if trial.wanted in seen:
            return
        for kind in trial.onsets(**{rate: after}):
            if kind in seen:
                continue
            seen.add(kind)
            limit = _limit(trial, kind, rate, (before, after), values[0])
            samples = trial.onsets(**{rate: limit})[kind]
            seconds = samples * trial.cadence
            yield Forecast(kind, condition, seconds, samples, rate=rate, limit=limit, now=values[0])


def _limit(trial: _Trial, kind: str, rate: str, between: tuple[float, float], newest: float) -> float:
    """Return the first rate that raises the kind, on the way from `between[0]` to `between[1]`.

    `between[0]` does not raise the kind, `between[1]` does. `newest`: newest value of the rate. The result is exact to
    `_EXACT`, as a share.
    """
    without, raising = between
    while abs(without - raising) > _EXACT * max(without, raising, _EXACT * newest):
        middle = (without + raising) / 2
        if kind in trial.onsets(**{rate: middle}):
            raising = middle
        else:
            without = middle
    return raising


class _Trial:
    """Samples to come, and the kinds that they raise. `cadence`: seconds between samples. `wanted`: only this kind."""

    def __init__(self, judged: Judged, newest: Reading, cadence: float, wanted: str) -> None:
        self.cadence, self.wanted = cadence, wanted
        self._judged, self._newest = judged, newest
        self._known: dict[tuple[tuple[str, float], ...], Mapping[str, int]] = {}

    def onsets(self, **values: float) -> Mapping[str, int]:
        """Return kind -> number of samples until its onset. `values`: values of the samples to come; others stay."""
        key = tuple(sorted(values.items()))
        if key not in self._known:
            self._known[key] = self._onsets(values)
        return self._known[key]

    def _onsets(self, values: Mapping[str, float]) -> Mapping[str, int]:
        judged, newest = self._judged, self._newest
        assert judged.rules is not None
        ahead = max(_AHEAD, _AHEAD_CADENCES * self.cadence)
        count = min(_MOST_SAMPLES, ceil(ahead / self.cadence))
        rates = {name: MISSING if getattr(newest, name) is None else getattr(newest, name) for name in _RATES} | {
            name: value for name, value in values.items() if name in _RATES
        }
        status = int(values.get("status", NO_STATUS if newest.status is None else newest.status))
        times = array("d", [newest.time + self.cadence * step for step in range(1, count + 1)])
        video, audio, fps = (array("d", [rates[name]] * count) for name in _RATES)
        coming = Readings(times, video, audio, fps, array("q", [status] * count))
        coverage = judged.coverage.reaching(times[-1])
        return raised_by(judged.analysis, coming, judged.rules, coverage, self.wanted)


_RATES = (VIDEO, AUDIO, FPS)

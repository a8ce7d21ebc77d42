"""Explanation of the alarms of an event, as frozen values.

An explanation has the judged facts, forecasts of alarms, open alarms, the alarms that notify nobody, and the deciding
limits.

Times are by the server clock. A part that is None was not recorded; this happens only in the past.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from livedeck.monitor.model.alarm import AlarmKey, AlarmState, Severity
from livedeck.monitor.model.blame import NO_BLAME, Blame
from livedeck.monitor.model.state import BroadcastState
from livedeck.record import Record


class Condition(StrEnum):
    """Condition under which an alarm is raised.

    UNCHANGED: each sample is like the newest one. SILENT: no new sample comes. BELOW, ABOVE: a rate stays below, or
    above, a limit. STATUS: each sample has a QoS status. TIME: the time comes, and the event has not begun.
    """

    UNCHANGED = "unchanged"
    SILENT = "silent"
    BELOW = "below"
    ABOVE = "above"
    STATUS = "status"
    TIME = "time"


class Forecast(Record):
    """Next onset of an alarm kind, if a condition is true from now on.

    `seconds`: time until the onset; from now for SILENT and TIME, otherwise from the newest sample. `samples`: number
    of further samples that it needs. `answers`: number of further good replies. `rate`: rate of the condition (video,
    audio, fps). `limit`, `now`: limit and newest value of the rate (bit/s, frames/s), or status of each sample.
    """

    kind: str
    condition: Condition
    seconds: float
    samples: int = 0
    answers: int = 0
    rate: str = ""
    limit: float | None = None
    now: float | None = None


class SignalFacts(Record):
    """Newest and usual values of a stream: video and audio in bit/s, fps in frames/s; None if unknown.

    `noise`: variation of the video rate within ten seconds, as a share of the usual rate. `slots`: number of slots of
    ten seconds that the video rate was learnt from. `is_constant`: the video rate is normally constant. `is_witness`:
    the audio rate is normally constant, so its fall shows a shortage. `is_variable_fps`: the frame rate varies with the
    picture. `is_warm`: the run of samples is long enough to be judged. Each is None if it was not recorded.
    """

    video: float | None = None
    audio: float | None = None
    fps: float | None = None
    usual_video: float | None = None
    usual_audio: float | None = None
    usual_fps: float | None = None
    noise: float | None = None
    slots: int | None = None
    is_constant: bool | None = None
    is_witness: bool | None = None
    is_variable_fps: bool | None = None
    is_warm: bool | None = None


class DeliveryFacts(Record):
    """Delivery of a stream's samples, in seconds; None if unknown or not recorded.

    `age`: age of the newest sample. `lag`: learnt delay. `deliveries`: number of deliveries that it was learnt from.
    `lost`: age of the newest sample above which the encoder is gone. `wait`: time without a new sample after which it
    is gone as well, until the delay is learnt. `answers`: minimum number of replies without a new sample.
    """

    age: float | None = None
    lag: float | None = None
    deliveries: int | None = None
    lost: float | None = None
    wait: float | None = None
    answers: int | None = None


class Gap(Record):
    """Time that was not watched."""

    since: datetime
    until: datetime


class OpenAlarm(Record):
    """Alarm that a person sees now. `ends`: evidence that clears it, in words."""

    key: AlarmKey
    severity: Severity
    state: AlarmState
    since: datetime
    actual: str
    expected: str
    ends: str


class SilentKind(Record):
    """Alarm, or kind of alarm, that notifies nobody. `key.kind`: empty for all kinds. `why`: reason in words."""

    key: AlarmKey
    why: str
    until: datetime | None = None
    by: str = ""


class DecidingLimit(Record):
    """Limit that decides about an alarm. `setting`: keys of the setting that gives its value; empty for the default.

    `by`: person who chose the value, if it is a ruling. `kinds`: alarm kinds that read the limit.
    """

    name: str
    value: str
    setting: tuple[str, ...] = ()
    by: str = ""
    kinds: tuple[str, ...] = ()


class KindFacts(Record):
    """Evidence of an alarm kind in words (monitoring.md, "Evidence")."""

    kind: str
    needs: str
    ends: str


class Explanation(Record):
    """Explanation of the alarms of an event at the time `at`.

    `since`: start of the event's clock. `watched_since`, `watched_until`: latest time without an unwatched part.
    `gaps`: recent times that were not watched. `kind`: facts of the requested kind; None for all kinds. `template`:
    description of the template of limits that fits the event; empty without one. `known_until`: time of the last good
    reply about an event that is not known now; None for any other. `blame`: nearest cause why the event is not known.
    """

    event_id: str
    name: str
    at: datetime
    tally: BroadcastState
    since: datetime | None
    content: str
    template: str | None
    signal: SignalFacts
    delivery: DeliveryFacts
    watched_since: datetime | None
    watched_until: datetime | None
    gaps: tuple[Gap, ...]
    forecasts: tuple[Forecast, ...] | None
    open: tuple[OpenAlarm, ...]
    silent: tuple[SilentKind, ...]
    decides: tuple[DecidingLimit, ...] | None
    kind: KindFacts | None = None
    known_until: datetime | None = None
    blame: Blame = NO_BLAME

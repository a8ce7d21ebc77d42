"""Explanation of an event's alarms as labelled lines and as a JSON object. Pure."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from datetime import datetime

from livedeck.monitor import (
    AlarmState,
    BroadcastState,
    Condition,
    Content,
    DecidingLimit,
    Explanation,
    Forecast,
    KindFacts,
    OpenAlarm,
    SilentKind,
)
from livedeck.monitor.kinds import ALARM_KINDS
from livedeck.monitor.kinds.kind import SampleDetector
from livedeck.presentation import documents
from livedeck.presentation.connection import not_known_text
from livedeck.text.times import isoformat_utc
from livedeck.text.values import age, bits, counted, evidence_text, frames, safe, short_duration

NOT_RECORDED = "not recorded"
"""Words for a part of the past that was not stored."""

Place = Callable[[tuple[str, ...]], str]
"""Function that takes the keys of a setting, and returns the place of the setting in words."""

_MOST_LISTED = 12
"""Maximum number of forecasts and of unjudged kinds that the lines list; the JSON has all."""


def setting_text(keys: tuple[str, ...]) -> str:
    """Return the keys of a setting as one name: `limits.0.thresholds.low_video`."""
    return ".".join(keys)


def explanation_title(explanation: Explanation) -> str:
    """Return the event with its state: `Studio A  on air for 51:31, content show (limits of events Studio *)`.

    An event that is not known has its last state: `not known since 21:14:07Z, on air before: the platform answers 503`.
    """
    lasted, since = "", explanation.since
    if since and since <= explanation.at and explanation.tally in _SINCE:
        lasted = _SINCE[explanation.tally].format(short_duration((explanation.at - since).total_seconds()))
    template = f" (limits of {safe(explanation.template, 80)})" if explanation.template else ""
    tally = explanation.tally.value.lower()
    if explanation.known_until:
        state = not_known_text(explanation.known_until, explanation.blame, tally)
    else:
        state = f"{tally}{lasted}, content {explanation.content}{template}"
    return f"{safe(explanation.name, 80)}  {state}"


_SINCE = {
    BroadcastState.ON_AIR: " for {}",
    BroadcastState.RECONNECTING: ", started {} ago",
    BroadcastState.LOST: ", started {} ago",
    BroadcastState.LATE: ", planned {} ago",
}
"""State -> words for the time since the event's clock started. The state itself may have begun later."""


def explanation_lines(
    explanation: Explanation, place: Place = setting_text, *, of_collector: bool = False
) -> list[tuple[str, list[str]]]:
    """Return each label with its lines, the most important first.

    `place`: returns the place of a setting in words. `of_collector`: a collector judges the event.
    """
    parts = (
        ("alarms", _opened(explanation)),
        ("if meant", _meant(explanation, of_collector=of_collector)),
        ("would alarm", _would_alarm(explanation)),
        ("silent", _silent(explanation)),
        ("class", [_class_text(explanation)]),
        ("usual", [_usual_text(explanation)]),
        ("delivery", [_delivery_text(explanation)]),
        ("watched", [_watched_text(explanation)]),
        ("evidence", _evidence(explanation)),
        ("decides", _deciding(explanation, place)),
    )
    return [(label, lines) for label, lines in parts if lines]


_NOT_JUDGED = "samples are not judged"


def _opened(explanation: Explanation) -> list[str]:
    found = [_open_text(alarm) for alarm in explanation.open]
    return found or [f"No open alarms, but {_NOT_JUDGED}" if _is_unjudged(explanation) else "No open alarms"]


def _is_unjudged(explanation: Explanation) -> bool:
    """Return whether no samples of the event are judged. Then no onset can be forecast."""
    return any(not item.key.kind for item in explanation.silent)


def _open_text(alarm: OpenAlarm) -> str:
    is_present = alarm.state is not AlarmState.RETURNED
    ends = f"; clears with {alarm.ends}" if alarm.ends and is_present else ""
    began = f"began {alarm.since:%H:%M:%S}Z"
    return f"{alarm.key.kind} {alarm.severity}, {alarm.state.words}, {began}: {evidence_text(alarm)}{ends}"


def _meant(explanation: Explanation, *, of_collector: bool) -> list[str]:
    """Return the ways to declare the event a still camera, if that would end an alarm of the event.

    Empty if no present alarm would end, and for an explanation of the past. Omits the lines for the settings if a
    person has chosen the content, because the person's choice overrides the settings.
    """
    present = {alarm.key.kind for alarm in explanation.open if alarm.state is not AlarmState.RETURNED}
    if explanation.decides is None or explanation.content == Content.CAMERA or present.isdisjoint(_NOT_OF_CAMERA):
        return []
    command = f"livedeck event content {shlex.quote(safe(explanation.event_id))} {Content.CAMERA}"
    file = "the collector's settings" if of_collector else "the settings"
    is_chosen = any(limit.name == "content" and limit.by for limit in explanation.decides)
    return [
        f"If the picture of this event is still on purpose, such as a harbour at night: {command}",
        *([] if is_chosen else _camera_settings(explanation, file)),
        f"A frozen picture then raises no alarm; not judged: {', '.join(_NOT_OF_CAMERA)}",
    ]


def _camera_settings(explanation: Explanation, file: str) -> list[str]:
    """Return the lines that declare the event a still camera in a settings file.

    The lines begin with the head of the event's table. If the file has the table already, or if that is unknown because
    the explanation is about a single kind, a sentence names the table. A second head would make the file unreadable.
    """
    table, own = f"[events.{json.dumps(safe(explanation.event_id))}]", ("events", explanation.event_id)
    owned = [limit.name for limit in explanation.decides or () if limit.setting[:2] == own]
    line = f'content = "{Content.CAMERA}"'
    if not (owned or explanation.kind):
        return [f"Or in {file}:", table, line]
    return [f"Or in {file}, in {table}{', in place of its line `content`' if 'content' in owned else ''}:", line]


_NOT_OF_CAMERA = (
    *(
        kind.name
        for kind in ALARM_KINDS.values()
        if isinstance(kind.detector, SampleDetector)
        and kind.detector.expects
        and kind.detector.expects not in Content.CAMERA.expectations
    ),
    "VIEWER_FROZEN",
)
"""Kinds that are not judged for the content `camera`."""


def _would_alarm(explanation: Explanation) -> list[str]:
    if explanation.forecasts is None:
        return [NOT_RECORDED]
    nothing = f"Unknown: {_NOT_JUDGED}" if _is_unjudged(explanation) else "No alarm forecast within a minute"
    lines = [forecast_text(forecast) for forecast in explanation.forecasts] or [nothing]
    more = len(lines) - _MOST_LISTED
    return [
        *lines[:_MOST_LISTED],
        *([f"and {more} more: livedeck alarm explain --json prints all"] if more > 0 else []),
    ]


def forecast_text(forecast: Forecast) -> str:
    """Return a forecast in words: `RECONNECTING in 7.9 s, after 2 more replies, if no sample comes`."""
    when = f"{forecast.kind} in {_seconds(forecast.seconds)}"
    samples = f" ({counted(forecast.samples, 'sample')})" if forecast.samples else ""
    match forecast.condition:
        case Condition.UNCHANGED:
            return f"{when}{samples} if nothing changes"
        case Condition.SILENT:
            replies = f"{forecast.answers} more {'reply' if forecast.answers == 1 else 'replies'}"
            return f"{when}, after {replies}, if no sample comes"
        case Condition.TIME:
            return f"{when} if no sample comes"
        case Condition.STATUS:
            return f"{when}{samples} if every new sample has status {forecast.limit:.0f}"
    word = "under" if forecast.condition is Condition.BELOW else "over"
    shown = frames if forecast.rate == "fps" else bits
    limit = f"stays {word} {shown(forecast.limit)}" if forecast.limit else "is 0"
    return f"{when}{samples} if {forecast.rate} {limit} (now {shown(forecast.now)})"


def _seconds(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 60 else age(seconds)


def _silent(explanation: Explanation) -> list[str]:
    """Return the kinds of alarms that notify nobody, with the reason. Kinds with the same reason share a line."""
    by_reason: dict[tuple[str, datetime | None, str], list[str]] = {}
    for item in explanation.silent:
        by_reason.setdefault((item.why, item.until, item.by), []).append(_silent_name(item))
    return [
        f"{', '.join(names)}: {safe(why, 200)}{f' by {safe(by, 60)}' if by else ''}"
        f"{f' until {until:%H:%M:%S}Z' if until else ''}"
        for (why, until, by), names in by_reason.items()
    ]


def _silent_name(item: SilentKind) -> str:
    return item.key.kind or "every kind that samples raise"


def _class_text(explanation: Explanation) -> str:
    signal = explanation.signal
    if signal.is_constant is None and signal.is_witness is None and signal.is_variable_fps is None:
        return NOT_RECORDED if signal.is_warm is None and signal.video is not None else "not learnt yet"
    parts = (
        ("video", signal.is_constant, "constant rate", "variable rate"),
        ("sound", signal.is_witness, "constant, so a fall shows that the encoder lacks bits", "variable"),
        ("fps", None if signal.is_variable_fps is None else not signal.is_variable_fps, "constant", "variable"),
    )
    return "; ".join(
        f"{name} {'not learnt yet' if is_so is None else yes if is_so else no}" for name, is_so, yes, no in parts
    )


def _usual_text(explanation: Explanation) -> str:
    signal = explanation.signal
    if signal.usual_video is None and signal.usual_audio is None and signal.usual_fps is None:
        return "not learnt yet"
    slots = f" (learnt from {counted(signal.slots, 'slot')} of 10 s)" if signal.slots is not None else ""
    noise = f", noise {100 * signal.noise:.0f} %" if signal.noise is not None else ""
    audio = NOT_RECORDED if signal.is_warm is None else bits(signal.usual_audio)
    return (
        f"video {bits(signal.usual_video)}{noise}{slots}; audio {audio}; fps {frames(signal.usual_fps)} "
        f"(newest sample: {bits(signal.video)}, {bits(signal.audio)}, {frames(signal.fps)})"
    )


def _delivery_text(explanation: Explanation) -> str:
    facts = explanation.delivery
    if facts.age is None:
        return "no samples"
    parts = [f"newest sample {_seconds(facts.age)} old"]
    if facts.lag is not None:
        learnt = f" ({counted(facts.deliveries, 'delivery', 'deliveries')})" if facts.deliveries is not None else ""
        parts.append(f"delay {_seconds(facts.lag)} learnt{learnt}")
    else:
        parts.append("delay not learnt yet")
    if facts.lost is None:
        return "; ".join([*parts, f"limit {NOT_RECORDED}"])
    wait = f" or after {_seconds(facts.wait)} without a new one" if facts.wait is not None else ""
    return "; ".join(
        [*parts, f"encoder lost if it is {_seconds(facts.lost)} old{wait}, in at least {facts.answers} replies"]
    )


def _watched_text(explanation: Explanation) -> str:
    since, until, gaps = explanation.watched_since, explanation.watched_until, explanation.gaps
    begin = f"{since:%H:%M:%S}Z to {until:%H:%M:%S}Z" if since and until else NOT_RECORDED
    missing = ", ".join(f"{gap.since:%H:%M:%S}Z to {gap.until:%H:%M:%S}Z" for gap in gaps[-3:])
    return f"{begin}{f'; not watched {missing}' if missing else ''}"


def _evidence(explanation: Explanation) -> list[str]:
    found = explanation.kind
    return [f"{found.kind} needs {found.needs}", f"it clears with {found.ends}"] if found else []


def _deciding(explanation: Explanation, place: Place) -> list[str]:
    if explanation.decides is None:
        return [NOT_RECORDED]
    lines = [f"{limit.name} = {limit.value} ({_origin(limit, place)})" for limit in explanation.decides]
    return lines or ["the default limits"]


def _origin(limit: DecidingLimit, place: Place) -> str:
    if limit.by:
        return f"chosen by {safe(limit.by, 60)}"
    return place(limit.setting) if limit.setting else "default"


def explanation_object(explanation: Explanation) -> documents.Explanation:
    """Return an explanation as a JSON object."""
    signal, delivery = explanation.signal, explanation.delivery
    return documents.Explanation(
        event_id=explanation.event_id,
        name=explanation.name,
        at=isoformat_utc(explanation.at),
        tally=str(explanation.tally),
        since=_time(explanation.since),
        content=explanation.content,
        template=explanation.template,
        open=[
            documents.ExplainedAlarm(
                kind=alarm.key.kind,
                target=alarm.key.target or None,
                severity=alarm.severity,
                state=alarm.state.value,
                since=isoformat_utc(alarm.since),
                actual=alarm.actual,
                expected=alarm.expected,
                clears_with=alarm.ends,
            )
            for alarm in explanation.open
        ],
        would_alarm=None if explanation.forecasts is None else [*map(_forecast_object, explanation.forecasts)],
        silent=[
            documents.SilentAlarm(
                kind=item.key.kind or None,
                target=item.key.target or None,
                why=item.why,
                until=_time(item.until),
                by=item.by or None,
            )
            for item in explanation.silent
        ],
        signal=documents.ExplainedSignal(
            bitrate_video=signal.video,
            bitrate_audio=signal.audio,
            frame_rate=signal.fps,
            usual_video=signal.usual_video,
            usual_audio=signal.usual_audio,
            usual_fps=signal.usual_fps,
            noise=signal.noise,
            slots=signal.slots,
            is_constant=signal.is_constant,
            is_witness=signal.is_witness,
            is_variable_fps=signal.is_variable_fps,
            is_warm=signal.is_warm,
        ),
        delivery=documents.ExplainedDelivery(
            age=delivery.age,
            lag=delivery.lag,
            deliveries=delivery.deliveries,
            lost_after=delivery.lost,
            wait=delivery.wait,
            replies=delivery.answers,
        ),
        watched_since=_time(explanation.watched_since),
        watched_until=_time(explanation.watched_until),
        not_watched=[
            documents.NotWatchedSpan(since=isoformat_utc(gap.since), until=isoformat_utc(gap.until))
            for gap in explanation.gaps
        ],
        decides=None
        if explanation.decides is None
        else [
            documents.DecidingLimit(
                name=limit.name,
                value=limit.value,
                setting=setting_text(limit.setting) or None,
                by=limit.by or None,
                kinds=[*limit.kinds],
            )
            for limit in explanation.decides
        ],
        evidence=_evidence_object(explanation.kind),
        not_known=_not_known_object(explanation),
    )


def _not_known_object(explanation: Explanation) -> documents.NotKnown | None:
    if explanation.known_until is None:
        return None
    cause = explanation.blame
    return {"since": isoformat_utc(explanation.known_until), "cause": cause.cause.value, "text": cause.short}


def _evidence_object(found: KindFacts | None) -> documents.KindEvidence | None:
    if found is None:
        return None
    return documents.KindEvidence(kind=found.kind, needs=found.needs, clears_with=found.ends)


def _forecast_object(forecast: Forecast) -> documents.Forecast:
    return documents.Forecast(
        kind=forecast.kind,
        condition=forecast.condition.value,
        seconds=forecast.seconds,
        samples=forecast.samples,
        replies=forecast.answers,
        rate=forecast.rate or None,
        limit=forecast.limit,
        now=forecast.now,
        text=forecast_text(forecast),
    )


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else isoformat_utc(moment)

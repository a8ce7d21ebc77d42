"""Encodes a snapshot as JSON values and decodes it (past.md, "Stored data"). Pure.

Only the fields in `_FIELDS` leave the process: no key, no address, and no undocumented field of the platform. Texts are
masked. Readers ignore unknown names. If a field changes its meaning, raise `VERSION`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, fields, is_dataclass, replace
from datetime import datetime
from enum import Enum
from functools import cache
from itertools import compress
from math import inf
from operator import attrgetter, is_, is_not
from types import NoneType, UnionType
from typing import Any, NamedTuple, Union, get_args, get_origin, get_type_hints

from livedeck.client import (
    Annotation,
    Event,
    EventRestream,
    FieldFault,
    Model,
    Poster,
    Record,
    Recording,
    RelayProfile,
    Room,
    Scheduled,
    Shortfall,
    Stream,
    Subtitle,
    VideoSettings,
)
from livedeck.monitor.model import alarm, alarm_action, explanation, limits, matching, own, ruling, silence, state
from livedeck.monitor.model.blame import Blame, Failure
from livedeck.monitor.model.readings import Readings
from livedeck.monitor.model.resources import CachedList, KnownMaterial, ResourceKey, ResourceKind
from livedeck.monitor.model.snapshot import OFTEN_UNLISTED, Snapshot
from livedeck.monitor.model.state import EventState, QosState
from livedeck.monitor.model.viewer import ViewerState
from livedeck.monitor.model.withheld import Withheld, withheld
from livedeck.monitor.published.difference import Values
from livedeck.text.secrets import masked
from livedeck.text.times import format_timestamp, parse_timestamp

VERSION = 1

_FIELDS: Mapping[type, str] = {
    Event: "id workspace_id parent_id name subtitle type auto_start protected time_shift reconnect_window record video "
    "restreams scheduled stream latency_mode show_members chat_active chat_after_stream chat_preview allow_chat_links "
    "poster created_at updated_at",
    Stream: "id event_id status started_at finished_at",
    EventRestream: "id event_id name status enabled description created_at updated_at",
    Record: "parent_id",
    VideoSettings: "presets",
    Scheduled: "time",
    Poster: "id media_id type from_time to_time status active",
    Recording: "id title status duration created_at",
    Subtitle: "id video_id language description file_name status position active updated_at",
    Annotation: "id media_id video_id annotation_type title start_time end_time annotation_poster_id created_at "
    "updated_at",
    Room: "id name type status restreams created_at",
    RelayProfile: "id room_id name service created_at updated_at",
    KnownMaterial: "id video_id title file_name media_type size at source",
    FieldFault: "field expected actual",
    Shortfall: "missing announced",
    EventState: "event as_of phase qos assessment is_stale episodes pattern is_listed content rulings evidence blame "
    "viewer",
    ViewerState: "source delivery picture sound since picture_since sound_since as_of rounds advances is_stale "
    "interval head_time target latency ratio loudness peaks luma change track rungs missing apart listed missed host "
    "is_reached image image_at error",
    state.ClaimEvidence: "claim state have need since decided_at asked_for",
    state.Phase: "tally reference_time ingest elapsed",
    state.Ingest: "state since window_ends",
    QosState: "as_of freshness cadence error future_samples failing_since unreadable lag is_overdue is_frozen "
    "not_watched failure",
    Failure: "sight status reason",
    state.HealthAssessment: "health findings nominal_fps baseline_video limit_video",
    state.Health: "score grade component detail",
    state.Finding: "kind severity actual expected since target target_name stage",
    state.Episode: "kind severity target since until actual expected",
    state.ListDoubt: "since listed missing served expected",
    Withheld: "incomplete shared public_keys has_poster",
    state.EndedEvent: "id name how at is_gone by way",
    state.ClockChange: "at seconds is_sleep why",
    own.NotWatched: "since until why",
    own.Slowness: "since behind events is_grave",
    own.OwnState: "stops behind slowness reading_delay",
    state.ConnectionStatus: "state since reason as_of round_trip skew interval failures problem recovered_at next_try "
    "lost_share clock_offset clock_change is_clock_doubtful own blame slowed_to is_checking",
    Blame: "cause text advice short",
    alarm.Alarm: "event_id kind severity since subject actual expected target target_name changed state present "
    "needs_ack acknowledged_until acknowledged_at answered_by answered_at shelved_until reason note parent activations "
    "flapping escalated stage affects timeline diagnosis found cleared_at hides silenced "
    "verdict",
    alarm.Silenced: "id until comment by",
    silence.Silence: "uid id matchers starts_at ends_at by comment at actor passes until_end_of",
    matching.Matcher: "field op value",
    alarm.Diagnosis: "cause viewers advice",
    alarm.AlarmChange: "at transition alarm",
    alarm_action.AlarmAction: "uid key since kind at actor severity stage until reason",
    limits.RuleChange: "at text event_id actor is_fault",
    explanation.Explanation: "event_id name at tally since content template signal delivery watched_since "
    "watched_until gaps forecasts open silent decides kind known_until blame",
    explanation.Forecast: "kind condition seconds samples answers rate limit now",
    explanation.SignalFacts: "video audio fps usual_video usual_audio usual_fps noise slots is_constant is_witness "
    "is_variable_fps is_warm",
    explanation.DeliveryFacts: "age lag deliveries lost wait answers",
    explanation.Gap: "since until",
    explanation.OpenAlarm: "key severity state since actual expected ends",
    explanation.SilentKind: "key why until by",
    explanation.DecidingLimit: "name value setting by kinds",
    explanation.KindFacts: "kind needs ends",
    ruling.UsualMark: "at event_id stream_id time actor",
    ruling.ProfileChoice: "at event_id profile actor",
    ruling.UnitChoice: "at unit actor",
}
"""Type -> names of the fields that are encoded."""

_NULLS: Mapping[type, tuple[str, ...]] = {Event: OFTEN_UNLISTED}
"""Type -> names of the fields whose null is encoded, because a preflight distinguishes null from a missing field."""

_ITEMS: Mapping[ResourceKind, type] = {
    ResourceKind.ROOMS: Room,
    ResourceKind.RECORDINGS: Recording,
    ResourceKind.POSTERS: Poster,
    ResourceKind.SUBTITLES: Subtitle,
    ResourceKind.ANNOTATIONS: Annotation,
    ResourceKind.MATERIALS: KnownMaterial,
    ResourceKind.EVENT: Event,
}
"""Kind of an encoded list -> type of its items. Cues are not encoded, because a subtitle track is a file."""

SHARED_LISTS = frozenset(_ITEMS) - {ResourceKind.EVENT}
"""Kinds of the lists that a collector polls for its decks."""

_RULINGS: Mapping[str, Any] = {"usual": ruling.UsualMark, "profile": ruling.ProfileChoice, "unit": ruling.UnitChoice}

_STORED = {"content": "profile", "alarm_actions": "answers"}
"""Name of a field -> older name in JSON, which recordings have."""

_SHORTFALL = "shortfall"
"""Field of a snapshot and of a list; it is written only if rows are missing."""

_LIST_DOUBT = "list_doubt"
"""Field of a snapshot; it is written only while the event list is in doubt."""

_WITHHELD = "withheld"
"""Member of a snapshot with the facts about keys and addresses; older programs do not write it."""

_SILENCES = "silences"
"""Field of a snapshot; it is written only if a silence runs or is planned."""

_PROBE = "probe"
"""Field of a snapshot; it is written only if a probe runs."""

_LOG = "log"
"""Field of a snapshot; it is written only if it differs from `changes`."""

_HEAD = ("seq", "at", "link", "flood", "unreadable", "ended", "changes", "alarm_actions", "rule_changes", "bells")


_UNREADABLE = (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError)
"""Exceptions of decoding values that have an unexpected form."""


class UnreadableSnapshotError(ValueError):
    """The values are not a snapshot, or are of an unknown version."""


class KnownSamples(NamedTuple):
    """Samples of an event that the monitor had: `size` samples, the last at `newest` (epoch s, server clock)."""

    stream_id: str
    newest: float
    size: int


class Encoded(NamedTuple):
    """Snapshot with its JSON values."""

    snapshot: Snapshot
    values: Values


def encode(snapshot: Snapshot, before: Encoded | None = None) -> Encoded:
    """Encode a snapshot. `before`: previous snapshot; the values of unchanged objects are reused."""
    last, encoded = before or Encoded(snapshot, {})
    events: Values = encoded.get("events", {})
    states = {state.id: state for state in last.events}
    values: Values = {
        "version": VERSION,
        "head": {
            **{_STORED.get(name, name): _of_field(Snapshot, name).encode(getattr(snapshot, name)) for name in _HEAD},
            **_encode_shortfall(snapshot.shortfall),
            **({_LIST_DOUBT: encode_record(snapshot.list_doubt)} if snapshot.list_doubt else {}),
            **({_SILENCES: _of_field(Snapshot, _SILENCES).encode(snapshot.silences)} if snapshot.silences else {}),
            **({_PROBE: snapshot.probe} if snapshot.probe else {}),
            **({} if snapshot.log is None else {_LOG: _of_field(Snapshot, _LOG).encode(snapshot.log)}),
        },
        "lists": _encode_lists(snapshot, last, encoded.get("lists", {})),
        _WITHHELD: _encode_withheld(snapshot, last, encoded.get(_WITHHELD)),
        "alarms": _encode_alarms(snapshot, last, encoded.get("alarms", {})),
        "events": {
            state.id: _encode_state(state, states.get(state.id), events.get(state.id)) for state in snapshot.events
        },
        "order": {
            "events": [state.id for state in snapshot.events],
            "alarms": [_text_of(alarm.key) for alarm in snapshot.alarms],
            "quiet": [_text_of(alarm.key) for alarm in snapshot.quiet],
        },
    }
    return Encoded(snapshot, values)


def decode(values: Values, readings: Mapping[str, Readings] | None = None, before: Encoded | None = None) -> Snapshot:
    """Decode a snapshot.

    Args:
        values: JSON values of the snapshot.
        readings: Event id -> samples, which are not part of the values.
        before: Previous snapshot; objects with the identical values are reused.

    Raises:
        UnreadableSnapshotError: The values are not a snapshot, or are of an unknown version.
    """
    decoded: Values = before.values if before else {"events": {}, "alarms": {}, "lists": {}}
    states = {state.id: state for state in before.snapshot.events} if before else {}
    try:
        if values["version"] != VERSION:
            raise UnreadableSnapshotError(f"version {values['version']} is unknown; this program reads {VERSION}")
        head, order = values["head"], values["order"]
        alarms = _decode_alarms(values["alarms"], decoded["alarms"], before.snapshot if before else None)
        return Snapshot(
            **{name: _of_field(Snapshot, name).decode(head[_STORED.get(name, name)]) for name in _HEAD},
            shortfall=_decode_shortfall(head),
            list_doubt=_record(state.ListDoubt).decode(head[_LIST_DOUBT]) if _LIST_DOUBT in head else None,
            log=_of_field(Snapshot, _LOG).decode(head.get(_LOG)),
            silences=_of_field(Snapshot, _SILENCES).decode(head.get(_SILENCES, [])),
            probe=_of_field(Snapshot, _PROBE).decode(head.get(_PROBE, "")),
            events=tuple(
                _decode_state(
                    values["events"][event_id],
                    (readings or {}).get(event_id, _NO_READINGS),
                    states.get(event_id),
                    decoded["events"].get(event_id, {}),
                )
                for event_id in order["events"]
            ),
            alarms=tuple(alarms[key] for key in order["alarms"]),
            quiet=tuple(alarms[key] for key in order["quiet"]),
            lists=_decode_lists(values["lists"], decoded["lists"], before.snapshot.lists if before else {}),
            withheld=_decode_withheld(values, before),
        )
    except _UNREADABLE as error:
        raise UnreadableSnapshotError(f"{type(error).__name__}: {error}") from error


def encode_record(record: Any) -> Values:
    """Encode an object of a type in `_FIELDS`."""
    kind: Any = type(record)
    values: Values = _record(kind).encode(record)
    return values


def decode_silence(values: Values) -> silence.Silence:
    """Decode a silence. Raises UnreadableSnapshotError."""
    try:
        found: silence.Silence = _record(silence.Silence).decode(values)
    except _UNREADABLE as error:
        raise UnreadableSnapshotError(f"{type(error).__name__}: {error}") from error
    return found


def decode_alarm(values: Values) -> alarm.Alarm:
    """Decode an alarm. Raises UnreadableSnapshotError."""
    try:
        found: alarm.Alarm = _record(alarm.Alarm).decode(values)
    except _UNREADABLE as error:
        raise UnreadableSnapshotError(f"{type(error).__name__}: {error}") from error
    return found


def decode_explanation(values: Values) -> explanation.Explanation:
    """Decode an explanation. Raises UnreadableSnapshotError."""
    try:
        found: explanation.Explanation = _record(explanation.Explanation).decode(values)
    except _UNREADABLE as error:
        raise UnreadableSnapshotError(f"{type(error).__name__}: {error}") from error
    return found


def known_samples(values: Values) -> dict[str, KnownSamples]:
    """Return event id -> samples that the monitor had at the snapshot, for events with samples.

    Raises UnreadableSnapshotError.
    """
    try:
        rows = {event: state["samples"] for event, state in values["events"].items() if "samples" in state}
        coder = _of_row(KnownSamples)
        return {event: coder.decode(row) for event, row in rows.items()}
    except _UNREADABLE as error:
        raise UnreadableSnapshotError(f"{type(error).__name__}: {error}") from error


def listed_events(values: Values) -> dict[str, Values] | None:
    """Return event id -> stored fields of the event; None if the platform has not replied yet.

    Raises UnreadableSnapshotError.
    """
    try:
        if values["version"] != VERSION:
            raise UnreadableSnapshotError(f"version {values['version']} is unknown; this program reads {VERSION}")
        if values["head"]["link"].get("as_of") is None:
            return None
        return {event_id: _of(dict, state["event"]) for event_id, state in values["events"].items()}
    except _UNREADABLE as error:
        raise UnreadableSnapshotError(f"{type(error).__name__}: {error}") from error


def _encode_state(state: EventState, before: EventState | None, encoded: Values | None) -> Values:
    if encoded is not None and state is before:
        return encoded
    values: Values = _record(EventState).encode_after(state, before, encoded)
    values.pop("samples", None)
    stream, readings = state.event.stream, state.qos.readings
    if stream and stream.id and len(readings):
        values["samples"] = [stream.id, readings.time[-1], len(readings)]
    return values


def _encode_alarms(snapshot: Snapshot, before: Snapshot, encoded: Values) -> Values:
    last = {alarm.key: alarm for alarm in (*before.alarms, *before.quiet)}
    coder, values = _record(alarm.Alarm), {}
    for found in (*snapshot.alarms, *snapshot.quiet):
        key = _text_of(found.key)
        values[key] = encoded[key] if key in encoded and last.get(found.key) is found else coder.encode(found)
    return values


def _encode_lists(snapshot: Snapshot, before: Snapshot, encoded: Values) -> Values:
    values: Values = {}
    for key, cached in snapshot.lists.items():
        if key.kind not in _ITEMS:
            continue
        name, item = _text_of(key), _of_type(_ITEMS[key.kind])
        if name in encoded and before.lists.get(key) is cached:
            values[name] = encoded[name]
            continue
        facts = {member.name: member.coder.encode(getattr(cached, member.name)) for member in _list_members()}
        values[name] = {"key": list(key), "items": [item.encode(row) for row in cached.items], **facts}
        values[name] |= _encode_shortfall(cached.shortfall)
    return values


def _encode_withheld(snapshot: Snapshot, before: Snapshot, encoded: Values | None) -> Values:
    """Encode the facts about keys and addresses, from the snapshot of a collector, else from the snapshot's events.

    `before`, `encoded`: earlier snapshot and its encoded facts, which are reused if the events are unchanged.
    """
    if snapshot.withheld is not None:
        found = snapshot.withheld
    else:
        parts, last = (
            [
                *(state.event for state in source.events),
                *(cached for key, cached in source.lists.items() if key.kind is ResourceKind.EVENT),
            ]
            for source in (snapshot, before)
        )
        if encoded is not None and len(parts) == len(last) and all(map(is_, parts, last)):
            return encoded
        found = withheld([snapshot.completed(state.event) for state in snapshot.events])
    return {event_id: encode_record(facts) for event_id, facts in found.items()}


def _decode_withheld(values: Values, before: Encoded | None) -> Mapping[str, Withheld] | None:
    if before and before.snapshot.withheld is not None and values.get(_WITHHELD) is before.values.get(_WITHHELD):
        return before.snapshot.withheld
    coder = _record(Withheld)
    found = values.get(_WITHHELD)
    return None if found is None else {event_id: coder.decode(facts) for event_id, facts in _of(dict, found).items()}


def _encode_shortfall(shortfall: Shortfall | None) -> Values:
    return {_SHORTFALL: encode_record(shortfall)} if shortfall else {}


def _decode_shortfall(values: Values) -> Shortfall | None:
    return _record(Shortfall).decode(values[_SHORTFALL]) if _SHORTFALL in values else None


def _decode_state(values: Values, readings: Readings, before: EventState | None, decoded: Values) -> EventState:
    if before is not None and values is decoded and readings is before.qos.readings:
        return before
    found: dict[str, Any] = {}
    for member in _members(EventState):
        if member.stored not in values:
            continue
        value = values[member.stored]
        is_same = before is not None and value is decoded.get(member.stored, _REQUIRED)
        found[member.name] = getattr(before, member.name) if is_same else member.coder.decode(value)
    if found["qos"].readings is not readings:
        found["qos"] = replace(found["qos"], readings=readings)
    return EventState(**found)


def _decode_alarms(values: Values, decoded: Values, before: Snapshot | None) -> dict[str, alarm.Alarm]:
    last = {_text_of(alarm.key): alarm for alarm in (*before.alarms, *before.quiet)} if before else {}
    coder = _record(alarm.Alarm)
    return {
        key: last[key] if key in last and value is decoded.get(key) else coder.decode(value)
        for key, value in values.items()
    }


def _decode_lists(
    values: Values, decoded: Values, before: Mapping[ResourceKey, CachedList[Any]]
) -> dict[ResourceKey, CachedList[Any]]:
    lists = {}
    for name, value in values.items():
        kind, *names = value["key"]
        key = ResourceKey(ResourceKind(kind), *names)
        if key in before and value is decoded.get(name):
            lists[key] = before[key]
            continue
        item = _of_type(_ITEMS[key.kind])
        facts = {member.name: member.coder.decode(value[member.name]) for member in _list_members()}
        items = tuple(item.decode(row) for row in value["items"])
        lists[key] = CachedList(items, **facts, shortfall=_decode_shortfall(value))
    return lists


def _text_of(key: Iterable[str]) -> str:
    """Join the parts of a key. The result is unique, because no id has the separator in it."""
    return "\x1f".join(key)


class _Coder(NamedTuple):
    encode: Callable[[Any], Any]
    decode: Callable[[Any], Any]
    after: Callable[[Any, Any, Values], Values] | None = None
    """Function that encodes a record, given an earlier record and its values, which are reused for equal members."""

    def encode_after(self, value: Any, before: Any, encoded: Any) -> Any:
        """Encode a value. `before`, `encoded`: earlier value and its encoding, whose equal parts are reused."""
        if self.after is None or before is None or encoded is None or value is None:
            return self.encode(value)
        return self.after(value, before, encoded)


class _Member(NamedTuple):
    name: str
    stored: str
    coder: _Coder
    default: Any


_REQUIRED = object()
_NO_READINGS = Readings()


def _unchanged(value: Any) -> Any:
    return value


_LONGEST_TIME = 1e10
"""Largest number of seconds, as a duration or since the epoch: about 300 years."""

_RATES = frozenset({"nominal_fps", "baseline_video", "limit_video"})
"""Names of the fields that hold a bit rate or frame rate. Every other `float` field holds seconds."""


def _text(value: Any) -> Any:
    if type(value) is not str:
        raise TypeError("expected a text")
    return value


def _truth(value: Any) -> Any:
    if type(value) is not bool:
        raise TypeError("expected true or false")
    return value


def _whole(value: Any) -> Any:
    if type(value) is not int or not -(2**63) <= value < 2**63:
        raise TypeError("expected a whole number")
    return value


def _seconds(value: Any) -> Any:
    if type(value) not in {int, float} or not -_LONGEST_TIME < value < _LONGEST_TIME:
        raise TypeError("expected a number of seconds")
    return value


def _rate(value: Any) -> Any:
    if type(value) not in {int, float} or not -inf < value < inf:
        raise TypeError("expected a number")
    return value


def _moment(value: Any) -> datetime:
    moment = parse_timestamp(_text(value))
    if not 1 < moment.year < 9999:  # so that a conversion to any time zone stays in the calendar
        raise ValueError("expected a year from 2 to 9998")
    return moment


_NAME = _Coder(_unchanged, _text)
_RATE = _Coder(_unchanged, _rate)

_LEAVES: Mapping[Any, _Coder] = {
    str: _Coder(lambda text: masked(text) if text else text, _text),
    datetime: _Coder(format_timestamp, _moment),
    bool: _Coder(_unchanged, _truth),
    int: _Coder(_unchanged, _whole),
    float: _Coder(_unchanged, _seconds),
}

_IDENTITIES = frozenset({"id", "kind", "target", "uid", "parent", "shared"})
"""Fields with ids; their values are not masked."""


@cache
def _of_type(hint: Any) -> _Coder:
    """Return the coder for values of a type."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in {Union, UnionType}:
        return _of_union(arguments)
    if origin is tuple:
        return _of_items(_of_type(arguments[0]))
    if origin:
        value = _of_type(arguments[1])
        return _Coder(dict, lambda found: {_text(name): value.decode(found[name]) for name in _of(dict, found)})
    return _of_class(hint)


def _of(kind: type, value: Any) -> Any:
    if type(value) is not kind:
        raise TypeError("expected a list" if kind is list else "expected an object")
    return value


def _of_items(item: _Coder) -> _Coder:
    return _Coder(
        lambda row: [item.encode(value) for value in row], lambda row: tuple(map(item.decode, _of(list, row)))
    )


def _of_class(hint: Any) -> _Coder:
    if hint in _LEAVES:
        return _LEAVES[hint]
    if issubclass(hint, Enum):
        return _Coder(lambda value: value.value, hint)
    return _of_row(hint) if issubclass(hint, tuple) else _record(hint)


def _of_union(arguments: tuple[Any, ...]) -> _Coder:
    others = [argument for argument in arguments if argument is not NoneType]
    if set(others) == set(_RULINGS.values()):
        return _Coder(_encode_ruling, _decode_ruling)
    (hint,) = others
    return _or_none(_of_type(hint))


def _or_none(inner: _Coder) -> _Coder:
    return _Coder(
        lambda value: None if value is None else inner.encode(value),
        lambda value: None if value is None else inner.decode(value),
    )


def _encode_ruling(value: ruling.Ruling) -> Values:
    kind, record = next(item for item in _RULINGS.items() if item[1] is type(value))
    return {"kind": kind, **_record(record).encode(value)}


def _decode_ruling(values: Values) -> Any:
    return _record(_RULINGS[values["kind"]]).decode(values)


def _of_row(row_type: Any) -> _Coder:
    """Return the coder that writes a named tuple as a list. Decoding ignores additional items."""
    coders = [_of_member(name, hint) for name, hint in _hints(row_type).items()]

    def encode_row(row: Any) -> list[Any]:
        return [coder.encode(value) for coder, value in zip(coders, row, strict=True)]

    def decode_row(row: Any) -> Any:
        return row_type(*(coder.decode(value) for coder, value in zip(coders, _of(list, row), strict=False)))

    return _Coder(encode_row, decode_row)


def _of_member(name: str, hint: Any) -> _Coder:
    if name in _RATES:
        return _RATE if hint is float else _or_none(_RATE)
    is_name = name in _IDENTITIES or name.endswith("_id") or name == "affects"
    names = {str: _NAME, str | None: _or_none(_NAME), tuple[str, ...]: _of_items(_NAME)}
    return names[hint] if is_name and hint in names else _of_type(hint)


@cache
def _of_field(owner: type, name: str) -> _Coder:
    return _of_member(name, _hints(owner)[name])


@cache
def _members(owner: Any) -> tuple[_Member, ...]:
    return tuple(
        _Member(name, _STORED.get(name, name), _of_field(owner, name), _default(owner, name))
        for name in (_FIELDS[owner].split() if owner in _FIELDS else ())
    )


@cache
def _list_members() -> tuple[_Member, ...]:
    names = (field.name for field in fields(CachedList) if field.name not in {"items", _SHORTFALL})
    return tuple(_Member(name, name, _of_field(CachedList, name), None) for name in names)


def _default(owner: Any, name: str) -> Any:
    """Return the value of a field that JSON lacks; `_REQUIRED` if the field must be present."""
    if not is_dataclass(owner):
        return None
    (field,) = (field for field in fields(owner) if field.name == name)
    if field.default_factory is not MISSING:
        return field.default_factory()
    return _REQUIRED if field.default is MISSING else field.default


def _hints(owner: Any) -> dict[str, Any]:
    return get_type_hints(owner, localns={"Ruling": ruling.Ruling})


@cache
def _record(owner: Any) -> _Coder:
    """Return the coder that writes a value of a class as a JSON object, without members that equal their defaults."""
    members, is_model = _members(owner), issubclass(owner, Model)
    names = [member.name for member in members]
    # a getter of a single name returns no tuple
    found_in: Callable[[Any], tuple[Any, ...]] = (
        attrgetter(*names) if len(names) > 1 else lambda value: tuple(getattr(value, name) for name in names)
    )

    may_be_null = _NULLS.get(owner, ())

    def with_faults(value: Any, written: Values) -> Values:
        if value.faults:
            written["faults"] = [_record(FieldFault).encode(fault) for fault in value.faults]
        if nulls := [name for name in may_be_null if getattr(value, name) is None and name in value.model_fields_set]:
            written["nulls"] = nulls
        return written

    def encode_record(value: Any) -> Values:
        found = zip(members, found_in(value), strict=True)
        written = {m.stored: m.coder.encode(value) for m, value in found if value != m.default}
        return with_faults(value, written) if is_model else written

    def encode_after(record: Any, before: Any, encoded: Values) -> Values:
        written, new, old = dict(encoded), found_in(record), found_in(before)
        pairs = zip(members, new, old, strict=True)
        for (_, stored, coder, default), value, last in compress(pairs, map(is_not, new, old)):
            if value == last:
                continue
            if value == default:
                del written[stored]
            else:
                written[stored] = coder.encode_after(value, last, encoded.get(stored))
        return written

    def decode_record(values: Values) -> Any:
        _of(dict, values)
        kept = {
            member.name: member.coder.decode(values[member.stored]) for member in members if member.stored in values
        }
        if not is_model:
            return owner(**kept)
        kept |= dict.fromkeys(name for name in values.get("nulls", ()) if name in may_be_null)
        read = owner.model_validate(kept)
        faults = tuple(map(_record(FieldFault).decode, values.get("faults", ())))
        return read.with_faults(faults) if faults else read

    return _Coder(encode_record, decode_record, None if is_model else encode_after)

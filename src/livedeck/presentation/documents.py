"""Types of the JSON objects that commands print. `json_schema.py` makes JSON Schemas from them. Data.

Times are ISO 8601 in UTC. Durations are in seconds, bit rates in bit/s. None means unknown or not applicable.
Within a version of a schema, keys are only added.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from livedeck.monitor import Severity
from livedeck.presentation.preflight import Mark


class Fault(TypedDict):
    """Field that could not be read. `actual`: description of the received value, without the value."""

    field: str
    expected: str
    actual: str


class Sample(TypedDict):
    """QoS sample under the platform's field names."""

    time: str
    bitrate_video: float | None
    bitrate_audio: float | None
    frame_rate: float | None
    status: int | None


class LastSample(Sample):
    """Newest sample of an event, and its age."""

    age: float


class StreamSample(Sample):
    """Sample of the history."""

    stream_id: str


class Link(TypedDict):
    """Connection to the platform. `lost_share`: share of lost responses, from 0 to 1.

    `skew`: difference of the clocks. `cause`: nearest cause of missing data, such as `own link` or `platform`. `text`:
    the cause in words. Both are empty if no data are missing. `slowed_to`: seconds between two polls of an event after
    the platform has refused livedeck's pace; 0 at the usual pace.
    """

    state: str
    since: str | None
    reason: str
    cause: str
    text: str
    lost_share: float
    slowed_to: float
    next_retry: str | None
    round_trip: float | None
    skew: float | None


class TimelineEntry(TypedDict):
    """Change in the life of an alarm."""

    at: str
    text: str
    actor: str | None


class Silenced(TypedDict):
    """Silence that covers an alarm: its id, the time until which it silences this alarm, its comment and its author."""

    id: str
    until: str
    comment: str
    by: str


class Alarm(TypedDict):
    """Alarm. `event_id`: None for the deck's own alarms. `target`: part of the event, such as a restream.

    `found`: the fault began before the first look at its event. `silenced`: None if no silence covers the alarm.
    """

    event_id: str | None
    kind: str
    target: str | None
    target_name: str | None
    state: str
    severity: Severity
    present: bool
    since: str | None
    changed: str | None
    subject: str
    actual: str
    expected: str
    cause: str | None
    viewers: str | None
    advice: str | None
    acknowledged_until: str | None
    shelved_until: str | None
    handled_by: str | None
    handled_at: str | None
    reason: str | None
    note: str | None
    verdict: str | None
    suppressed_by: str | None
    episodes: int
    flapping: bool
    escalated: bool
    found: bool
    silenced: Silenced | None
    affects: list[str]
    timeline: list[TimelineEntry]


class AlarmChangeLine(Alarm):
    """Line of `--follow`: a transition of an alarm, and the alarm after the transition."""

    at: str
    change: str


class AlarmActionLine(TypedDict):
    """Line of `--follow`: an operator's action on an alarm. `since`: start of the fault."""

    at: str
    action: str
    event_id: str | None
    kind: str
    target: str | None
    since: str | None
    by: str
    until: str | None
    reason: str | None


class RuleChangeLine(TypedDict):
    """Line of `--follow`: a change of the rules that judge events.

    `error`: the settings are invalid and not in use.
    """

    at: str
    rule: str
    event_id: str | None
    by: str | None
    error: bool


class NotWatchedLine(TypedDict):
    """Line of `--follow`: a time that livedeck did not watch.

    `not_watched`: the cause: slept, stopped, slow, or outrun (by the followed clock of a rehearsal).
    """

    since: str
    until: str
    not_watched: str


class OpenAlarms(TypedDict):
    """Alarms that need attention, the most urgent first.

    `link`: connection, which shows whether they are current.
    """

    as_of: str | None
    link: Link
    flood: bool
    alarms: list[Alarm]


class Alarms(OpenAlarms):
    """Alarms. `quiet`: suppressed, shelved, out-of-service and just cleared alarms, if they were requested."""

    quiet: NotRequired[list[Alarm]]


class ExplainedAlarm(TypedDict):
    """Open alarm of an explanation. `clears_with`: evidence that clears it, in words."""

    kind: str
    target: str | None
    severity: Severity
    state: str
    since: str
    actual: str
    expected: str
    clears_with: str


class Forecast(TypedDict):
    """Next onset of a kind of alarm under a condition.

    `condition`: `unchanged`, `silent` (no new sample comes), `below` or `above` (`rate` stays below or above `limit`),
    `status` (every sample has the status `limit`) or `time`. `seconds`: time until the onset; from now for `silent` and
    `time`, otherwise from the newest sample. `samples`, `replies`: number of further samples and good replies until the
    onset.
    """

    kind: str
    condition: str
    seconds: float
    samples: int
    replies: int
    rate: str | None
    limit: float | None
    now: float | None
    text: str


class SilentAlarm(TypedDict):
    """Alarm, or kind of alarm, that notifies nobody. `kind`: None for every kind that samples raise."""

    kind: str | None
    target: str | None
    why: str
    until: str | None
    by: str | None


class ExplainedSignal(TypedDict):
    """Newest and usual rates of an event, and the class of its signal. None: unknown, or not recorded."""

    bitrate_video: float | None
    bitrate_audio: float | None
    frame_rate: float | None
    usual_video: float | None
    usual_audio: float | None
    usual_fps: float | None
    noise: float | None
    slots: int | None
    is_constant: bool | None
    is_witness: bool | None
    is_variable_fps: bool | None
    is_warm: bool | None


class ExplainedDelivery(TypedDict):
    """Delivery of the samples, in seconds. `lost_after`: age of the newest sample above which the encoder is gone."""

    age: float | None
    lag: float | None
    deliveries: int | None
    lost_after: float | None
    wait: float | None
    replies: int | None


class NotWatchedSpan(TypedDict):
    """Time that was not watched."""

    since: str
    until: str


class DecidingLimit(TypedDict):
    """Limit that a detector reads. `setting`: name of its setting; None for the default.

    `by`: person who chose the value.
    """

    name: str
    value: str
    setting: str | None
    by: str | None
    kinds: list[str]


class KindEvidence(TypedDict):
    """Evidence that raises and clears a kind of alarm, in words."""

    kind: str
    needs: str
    clears_with: str


class Explanation(TypedDict):
    """Explanation of an event's alarms at `at` (server clock). Parts that are None were not recorded.

    `not_known`: reason to doubt the event's state, and the time of its last good reply; None if there is no doubt.
    """

    schema: NotRequired[str]
    event_id: str
    name: str
    at: str
    tally: str
    since: str | None
    content: str
    template: str | None
    open: list[ExplainedAlarm]
    would_alarm: list[Forecast] | None
    silent: list[SilentAlarm]
    signal: ExplainedSignal
    delivery: ExplainedDelivery
    watched_since: str | None
    watched_until: str | None
    not_watched: list[NotWatchedSpan]
    decides: list[DecidingLimit] | None
    evidence: KindEvidence | None
    not_known: NotKnown | None


class AlarmDone(TypedDict):
    """Result of an action on an alarm. `changed`: false if the alarm was in that state before."""

    schema: NotRequired[str]
    event_id: str | None
    kind: str
    target: str | None
    action: str
    changed: bool


class AlarmLink(TypedDict):
    """Link that acknowledges an alarm, and the time until which it works."""

    schema: str
    link: str
    until: str


class AlarmFigure(TypedDict):
    """Key figure of alarms. `unit`: share (0 to 1), s, h, or None for a number. `missing`: why there is no value."""

    key: str
    title: str
    value: float | None
    unit: str | None
    goal: float | None
    goal_is_least: bool
    is_met: bool | None
    missing: str | None


class BadActor(TypedDict):
    """Alarm that was announced often, and its share of all announcements."""

    event_id: str | None
    subject: str
    kind: str
    count: int
    share: float


class AlarmFigures(TypedDict):
    """Key figures of alarms in a range of time."""

    schema: NotRequired[str]
    since: str
    until: str
    figures: list[AlarmFigure]
    bad_actors: list[BadActor]


class Ingest(TypedDict):
    """State of the encoder. `window_ends`: end of the reconnect window. In the state `unknown` both times are null."""

    state: str
    since: str | None
    window_ends: str | None


class Health(TypedDict):
    """Health score, from 0 to 100, with the component that lowers the score most."""

    score: int | None
    grade: str
    component: str
    detail: str


class Finding(TypedDict):
    """Current fault of an event."""

    kind: str
    target: str | None
    severity: Severity
    actual: str
    expected: str
    since: str | None


class UnwatchedTime(TypedDict):
    """Time of a stream that was not watched (the platform's clock)."""

    since: str
    until: str


class Quality(TypedDict):
    """Quality of the QoS data. `cadence`: seconds between samples. `lag`: usual delay of samples in seconds.

    `not_watched`: times between samples that no response covers.
    """

    freshness: str
    as_of: str | None
    cadence: float | None
    error: str
    lag: float | None
    not_watched: list[UnwatchedTime]


class Evidence(TypedDict):
    """Evidence for a claim about an event. `have`: evidence so far. `need`: evidence that proves the claim.

    `state`: "proven"; "not yet" while further replies decide; "not known" if no further request is sent. `since`: start
    of the claimed state.
    """

    claim: str
    state: str
    have: str
    need: str
    since: str | None


class NotKnown(TypedDict):
    """Doubt about an event, and its start.

    `cause`: nearest cause, such as `own stop` or `platform`. `text`: the cause in words.
    """

    since: str | None
    cause: str
    text: str


class Viewer(TypedDict):
    """State of an event for its viewers, by a probe at one place. Times are by the clock of the probe's machine.

    `since`: start of `delivery`. `stale`: the last round says nothing about now. `latency`: estimated seconds from
    the encoder to the playlist. `ratio`: seconds to fetch a second of media. `loudness`: LUFS. `track`: the judged
    sound; empty if there is only one. `rungs`: heights in pixels.
    `missing_segments`, `listed_segments`: number of missing segments so far, and of all segments asked for.
    """

    source: str
    delivery: str
    picture: str
    sound: str
    since: str | None
    as_of: str | None
    stale: bool
    latency: float | None
    ratio: float | None
    loudness: float | None
    track: str
    rungs: list[int]
    missing_segments: int
    listed_segments: int
    host: str
    error: str


class Event(TypedDict):
    """Event. `reference_time`: start of its clock. `faults`: fields that could not be read.

    `evidence`: evidence that the encoder is lost or never sent; None while samples come as usual. `not_known`: why the
    state may be outdated, and since when; None while it is current. `viewer`: what viewers get; None while no probe
    asks.
    """

    id: str
    name: str | None
    as_of: str | None
    listed: bool
    tally: str
    reference_time: str | None
    ingest: Ingest
    health: Health
    findings: list[Finding]
    qos: Quality
    content: str
    last_sample: LastSample | None
    faults: list[Fault]
    evidence: Evidence | None
    not_known: NotKnown | None
    viewer: Viewer | None


class Target(TypedDict):
    """Object that a change was sent to."""

    kind: str
    id: str | None
    name: str


class Actor(TypedDict):
    """Process that sent a change."""

    user: str
    host: str
    pid: int


class OpenChange(TypedDict):
    """Change without a verdict. `detail`: None if the process that sent the change has exited."""

    id: str
    sent: str
    action: str
    target: Target
    by: Actor
    detail: str | None
    watched_until: str | None


class Shortfall(TypedDict):
    """Rows of a list that the platform announced and did not send. None means an unknown number."""

    missing: int | None
    announced: int | None


class ListDoubt(TypedDict):
    """Known events that the event list lacks, although the list claims to be whole.

    `since`: time of the first such list. `listed`: number of events in the list. `missing`: number of known events that
    the list lacks. `served`: number of these events that the platform still serves. `expected`: number of these events
    that are only in the history.
    """

    since: str | None
    listed: int
    missing: int
    served: int
    expected: int


class Workspace(OpenAlarms):
    """Whole state of the monitor. `unreadable`: number of events that could not be read.

    `shortfall`: events in the platform's total that were not received; None if the list is complete. `list_doubt`:
    known events that the list lacks although it claims to be complete; None if there are none.
    """

    events: list[Event]
    unreadable: int
    shortfall: Shortfall | None
    list_doubt: ListDoubt | None


class Status(Workspace):
    """Output of `livedeck status`.

    `open_changes`: changes with an unknown outcome; None if they cannot be read, or if no history is kept. `unread`:
    why acknowledgements, shelves, notes and silences of this machine are unknown; None if they are known.
    """

    open_changes: list[OpenChange] | None
    unread: str | None


class EventReference(TypedDict):
    """Event by id and name."""

    id: str
    name: str | None


class StreamReference(TypedDict):
    """Stream with the platform's status."""

    id: str | None
    status: str | None


class Qos(TypedDict):
    """Samples of an event. `age`: age of the newest sample. `left_out`: number of samples without a usable time."""

    event: EventReference
    stream: StreamReference | None
    as_of: str
    freshness: str
    age: float | None
    left_out: int
    samples: list[Sample]


class Entry(TypedDict):
    """Line of the timeline."""

    at: str
    type: str
    event_id: str | None
    event: str | None
    severity: Severity | None
    by: str | None
    text: str


class Span(TypedDict):
    """Period of time."""

    since: str
    until: str
    seconds: float


class Watch(TypedDict):
    """Period when a process watched the platform."""

    since: str
    until: str


class PastEvent(EventReference):
    """Event of the history."""

    deleted: bool


class History(Span):
    """History of an event in a period."""

    schema: str
    event: PastEvent
    watched: list[Watch]
    entries: list[Entry]
    samples: list[StreamSample]


class Episode(Span):
    """Past fault."""

    event_id: str
    event: str | None
    kind: str
    severity: Severity
    target: str | None
    target_name: str | None
    actual: str
    expected: str


class Episodes(TypedDict):
    """Past faults of a period."""

    schema: str
    episodes: list[Episode]


class Search(TypedDict):
    """Entries that contain all words of `text`."""

    schema: str
    text: str
    entries: list[Entry]


class HandoverRestream(TypedDict):
    """Restream of an event."""

    name: str
    status: str
    enabled: bool


class HandoverEvent(TypedDict):
    """Event on the handover sheet."""

    id: str
    name: str | None
    tally: str
    planned: str | None
    started: str | None
    restreams: list[HandoverRestream]


class HandoverAlarm(TypedDict):
    """Alarm on the handover sheet. `until`: end of its acknowledgement or shelf."""

    event_id: str | None
    subject: str
    kind: str
    target_name: str | None
    severity: Severity
    state: str
    since: str
    cleared_at: str | None
    actual: str
    expected: str
    handled_by: str | None
    handled_at: str | None
    until: str | None
    reason: str | None
    note: str | None


class HandoverSilence(TypedDict):
    """Running silence on the handover sheet. `on_air`: names of the events on air that it covers."""

    id: str
    ends_at: str
    what: str
    comment: str
    by: str
    on_air: list[str]


class HandoverChange(TypedDict):
    """Change without a verdict."""

    id: str
    sent: str
    action: str
    target: str
    by: str
    detail: str | None


class Handover(TypedDict):
    """Handover sheet. `watched`: end of the last watched period. `fresh`: a process watches now."""

    schema: str
    written: str
    watched: str | None
    fresh: bool
    on_air: list[HandoverEvent]
    open_alarms: list[HandoverAlarm]
    cleared_alarms: list[HandoverAlarm]
    quiet_alarms: list[HandoverAlarm]
    silences: list[HandoverSilence]
    next: list[HandoverEvent]
    open_changes: list[HandoverChange]


class ReportFault(TypedDict):
    """Fault of an event.

    `exact`: True if samples show the end; if False, `until` is the time at which livedeck noticed the end.
    """

    kind: str
    severity: Severity
    target_name: str | None
    since: str
    until: str | None
    exact: bool
    text: str


class ReportRestream(TypedDict):
    """Times when a restream was down."""

    name: str
    down: list[Span]


class ReportViewers(TypedDict):
    """Parts of a show by the state for its viewers, as a probe at one place saw it.

    `played`: percent of the seen time. `latency`: median seconds from the encoder to the playlist.
    """

    rounds: int
    seen_seconds: float
    played: float | None
    gone: list[Span]
    stalled: list[Span]
    black: list[Span]
    still: list[Span]
    silent: list[Span]
    latency: float | None
    worst_latency: float | None
    missing_segments: int
    listed_segments: int


class ReportMarker(TypedDict):
    """Note that an operator set at a time of the show."""

    at: str
    text: str


class Acknowledgement(TypedDict):
    """Alarm and the seconds until somebody acknowledged it."""

    kind: str
    target_name: str | None
    severity: Severity
    raised: str
    seconds: float | None
    by: str | None


class ReportEvent(TypedDict):
    """Facts of an event. `uptime`, `objective`: percent. `limits`: gaps of the data, in words."""

    id: str
    name: str
    tally: str
    deleted: bool
    planned: str | None
    on_air: list[Span]
    up_seconds: float
    uptime: float | None
    outages: list[Span]
    unknown: list[Span]
    sample_seconds: float | None
    objective: float
    budget_seconds: float
    bad_seconds: float
    bad: list[Span]
    faults: list[ReportFault]
    seconds_by_kind: dict[str, float]
    worst: Span | None
    viewers: ReportViewers | None
    restreams: list[ReportRestream]
    markers: list[ReportMarker]
    actions: list[Entry]
    acknowledgements: list[Acknowledgement]
    seconds_to_acknowledge: float | None
    alarm_figures: list[AlarmFigure]
    chat: dict[str, int] | None
    limits: list[str]
    entries: list[Entry]


class Report(Span):
    """Report on a show or a day. `drill`: grade of the reactions to a scenario, with --truth."""

    schema: str
    title: str
    written: str
    unwatched: list[Span]
    events: list[ReportEvent]
    drill: NotRequired[DrillReport]


class PreflightItem(TypedDict):
    """Check before a show. `advice`: None if nothing needs to be done."""

    name: str
    mark: Mark
    finding: str
    advice: str | None


class Preflight(TypedDict):
    """Checks of an event before a show. `go`: no item is NO-GO."""

    schema: str
    event: EventReference
    go: bool
    items: list[PreflightItem]


class ChangedField(TypedDict):
    """Changed field before and after the change, with secrets masked."""

    field: str
    before: str
    after: str


class ChangeResult(TypedDict):
    """Result of a change. `object`: the platform's response. `ids`: ids of created or changed objects."""

    schema: str
    operation: str
    verdict: str
    text: str
    target: Target
    ids: list[str]
    changes: list[ChangedField]
    object: dict[str, Any] | None


class ShowStep(TypedDict):
    """Difference between a show file and the platform. `verdict`: outcome of its change; None if none was tried."""

    action: Literal["create", "change", "delete", "blocked"]
    object: str
    id: str | None
    verdict: str | None
    text: str
    changes: list[ChangedField]


class ShowSteps(TypedDict):
    """Differences between a show file and the platform.

    `same`: number of objects without a difference. `doubt`: why objects to create may already exist; None without a
    reason.
    """

    schema: str
    same: int
    doubt: str | None
    steps: list[ShowStep]


class DoctorCheck(TypedDict):
    """Check of the installation."""

    name: str
    verdict: Literal["ok", "warn", "fail"]
    found: str
    advice: str


class Doctor(TypedDict):
    """Output of `livedeck doctor`."""

    checks: list[DoctorCheck]


class UnsentNotification(TypedDict):
    """Message that waits, or a dead letter. `state`: `waiting` or `dead`. `answer`: last reply of the receiver.

    `id` is empty if the collector runs an earlier version.
    """

    id: str
    at: str
    route: str
    target: str
    title: str
    state: str
    tries: int
    answer: str


class Notifications(TypedDict):
    """Unsent messages."""

    schema: str
    items: list[UnsentNotification]
    unreadable: list[Fault]


class DeadLetter(UnsentNotification):
    """Dead letter with its contents. `payload`: the JSON of the webhook."""

    schema: str
    text: str
    payload: str


class DeadLettersChanged(TypedDict):
    """Number of dead letters that are retried, or were dropped."""

    schema: str
    count: int


class CollectorToken(TypedDict):
    """Facts about a token of the collector, without the token. `is_old`: the token was replaced and expires soon.

    `last_use`: None if the token was never used or the use is unknown; see `uses_known` of the document.
    """

    name: str
    may: str
    is_old: bool
    expires: str | None
    last_use: str | None
    last_address: str | None


class CollectorTokens(TypedDict):
    """Tokens of the settings. `uses_known`: the last uses could be read."""

    schema: str
    uses_known: bool
    items: list[CollectorToken]
    unreadable: list[Fault]


class StoredStream(TypedDict):
    """Samples of a stream in the history: time of the first and the last, and number."""

    id: str
    first: str
    last: str
    samples: int


class StoredEvent(TypedDict):
    """Event with samples in the history."""

    id: str
    name: str
    streams: list[StoredStream]


class HistoryFile(TypedDict):
    """Condition of a history file. `size`, `free`: bytes. `rows`, `unreadable_rows`: number of rows by table."""

    schema: str
    path: str
    size: int
    free: int
    version: int
    rows: dict[str, int]
    unreadable_rows: dict[str, int]
    faults: list[str]
    sound: bool
    events: list[StoredEvent]


class SettingsInForce(TypedDict):
    """Settings without secrets, and the origin of each by name."""

    schema: str
    settings: dict[str, Any]
    origins: dict[str, str]


class SilenceMatcher(TypedDict):
    """Condition on a property of an alarm. `op`: `=`, `!=`, `~` or `!~`; `~` takes a shell pattern."""

    field: str
    op: str
    value: str


class Silence(TypedDict):
    """Silence. `running`: it runs now; otherwise it is planned. `passes`: lowest severity that is not silenced.

    `until_end_of`: id of an event; the silence ends with its broadcast. `changed_by`, `changed_at`: the last change.
    """

    id: str
    running: bool
    matchers: list[SilenceMatcher]
    starts_at: str
    ends_at: str
    until_end_of: str | None
    passes: Severity | None
    comment: str
    by: str
    changed_by: str
    changed_at: str


class Silences(TypedDict):
    """Silences that run or are planned."""

    schema: str
    silences: list[Silence]


class SilenceCover(TypedDict):
    """Events and open alarms that a silence covers now. `on_air`: names of the events on air."""

    events: list[str]
    on_air: list[str]
    alarms: list[Alarm]


class SilenceChanged(TypedDict):
    """Silence after a change. `saved`: False for a preview. `covers`: covered alarms; None if not looked up."""

    schema: str
    saved: bool
    silence: Silence
    covers: SilenceCover | None


class DrillScore(TypedDict):
    """Score of a drill. Scores are comparable if they have the same `hash` (scenario) and `rules` (version).

    `score`: from 0 to 100; None if `void` has a reason. `number`: place among the drills on this machine; left out in a
    report.
    """

    schema: NotRequired[str]
    number: NotRequired[int]
    time: str
    scenario: str
    hash: str
    seed: int
    rules: int
    score: float | None
    void: str | None
    person: str | None


class Drills(TypedDict):
    """Drills so far, oldest first."""

    schema: NotRequired[str]
    drills: list[DrillScore]


class DrillIncident(TypedDict):
    """Answer of a drill. `injected`, `raised`, `shown`: by the simulator's clock.

    `shown`: first time at which the deck could show the alarm; None if unknown. `seen`, `acknowledged`, `acted`:
    seconds after `shown`, or else after `raised`. `event`: None for the platform. `parts`: names of the parts of the
    event with the alarm. `is_mistaken`: a wrong change was made in place of the right reaction, so there is no credit.
    `credit`: from 0 to 1; None if `void` has a reason.
    """

    alarm: str
    event: str | None
    target: str | None
    parts: list[str]
    weight: int
    injected: str
    raised: str | None
    shown: str | None
    seen: float | None
    acknowledged: float | None
    acknowledged_by: str | None
    acted: float | None
    action: str | None
    wrong: int
    is_mistaken: bool
    credit: float | None
    void: str | None


class DrillChange(TypedDict):
    """Wrong change, and its cost in points."""

    at: str
    does: str
    event: str | None
    cost: float


class DrillAlarm(TypedDict):
    """Alarm that the deck missed (`at`: time of its cause), or raised without a cause (`at`: time of the raise)."""

    alarm: str
    event: str | None
    at: str


class DrillReport(DrillScore):
    """Report of a drill."""

    incidents: list[DrillIncident]
    wrong: list[DrillChange]
    missed: list[DrillAlarm]
    false: list[DrillAlarm]


class ViewerDocument(TypedDict):
    """Check of a playlist, seen from this machine. `latency`: s. `ratio`: seconds to fetch a second of media.

    `loudness`: LUFS. `peaks`: dBFS. `luma`, `change`: 0 to 255. `rungs`: heights in pixels. `image`: SHA-256 of the
    picture.
    """

    source: str
    delivery: str
    picture: str
    sound: str
    rounds: int
    latency: float | None
    ratio: float | None
    target: float | None
    head_time: str | None
    track: str
    rungs: list[int]
    missing: list[str]
    apart: list[str]
    listed: int
    missed: int
    loudness: float | None
    peaks: list[float]
    luma: float | None
    change: float | None
    host: str
    image: str
    error: str


class ProbePlan(TypedDict):
    """Traffic of the probe for an event: `rate` in bit/s, `daily` in GB a day on air. None if unknown.

    `is_limit`: the real traffic is lower. `requests`: per second. `origin`: source of the address. `lowest`: lowest
    rendition. `reason`: why the event is not probed.
    """

    event_id: str
    event: str
    origin: str
    lowest: str
    rate: float | None
    is_limit: bool
    daily: float | None
    requests: float | None
    reason: str


class Probe(TypedDict):
    """Result of `probe`. `state`: OK, WARNING, CRITICAL or UNKNOWN. `plan`: with --plan, which judges nothing."""

    state: str | None
    viewer: ViewerDocument | None
    plan: list[ProbePlan] | None


DOCUMENTS: Mapping[str, type] = {
    "status": Status,
    "alarm list": Alarms,
    "alarm explain": Explanation,
    "alarm kpi": AlarmFigures,
    "alarm link": AlarmLink,
    **dict.fromkeys(("alarm ack", "alarm unack", "alarm close", "alarm shelve", "alarm unshelve"), AlarmDone),
    "alarm note": AlarmDone,
    "silence list": Silences,
    "silence add": SilenceChanged,
    "silence extend": SilenceChanged,
    "silence end": SilenceChanged,
    "event qos": Qos,
    "past show": History,
    "past episodes": Episodes,
    "past handover": Handover,
    "past report": Report,
    "past search": Search,
    "event preflight": Preflight,
    "doctor": Doctor,
    "probe": Probe,
    "show apply": ShowSteps,
    "show diff": ShowSteps,
    "notify list": Notifications,
    "notify dead list": Notifications,
    "notify dead show": DeadLetter,
    "notify dead retry": DeadLettersChanged,
    "notify dead drop": DeadLettersChanged,
    "collector token list": CollectorTokens,
    "past check": HistoryFile,
    "config show": SettingsInForce,
    "drill list": Drills,
    "drill show": DrillReport,
}
"""Command, as the words after `livedeck` -> JSON object that it prints."""

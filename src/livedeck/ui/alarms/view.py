"""Details of the selected alarm, and the logs of alarms, actions, notices and connection, newest first. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from functools import partial
from itertools import zip_longest
from typing import NamedTuple

from livedeck.monitor import (
    NEVER_HEARD,
    ActionRecord,
    Alarm,
    AlarmState,
    BadActor,
    Figure,
    LinkRecord,
    NotificationRecord,
    Silence,
    Snapshot,
    person,
)
from livedeck.presentation import events
from livedeck.presentation.alarms import NOT_SHARED, affected_names, answered_by, subject
from livedeck.presentation.badges import (
    ALARM_STATE_BADGES,
    CONNECTION_BADGES,
    OUTCOME_BADGES,
    SEVERITY_BADGES,
    SILENCE_GLYPH,
    severity_chip,
)
from livedeck.presentation.kpi import goal_text, mark, value_text
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.silences import silenced_text, time_text, what_text
from livedeck.presentation.table import Column, TableSchema
from livedeck.presentation.time_series import recent_series
from livedeck.text.segments import Line, ShadedLine, StyleRole, fit, labelled, plain, wrap
from livedeck.text.values import age, evidence_text, safe, short_duration
from livedeck.ui.kit.signal_chart import FIXED_CHART_LINES, chart_columns, signal_backdrop, signal_lines
from livedeck.ui.shell.preferences import Notice

SILENCES = "silences"

TABS = ("board", "incidents", SILENCES, "actions", "notices", "kpi", "connection")
"""Names of the tabs: the board, then the logs."""

ASK_TOGETHER = 3
"""Minimum number of events that never had sound, to ask about all of them in one question."""

LABEL_CELLS = 11

MIN_WORDS_CELLS = 48
"""Minimum width in cells of the alarm's text beside a chart. In a wide panel, the text gets a third of the width."""

CHART_FROM = 96
"""Minimum width in cells, inside the frame, of a panel with a chart."""

CHART_SECONDS = 900.0

_CURVES = {"AUDIO": "audio", "FPS": "fps", "SILENT": "audio"}
"""Beginning of an alarm kind's name -> curve that shows such alarms. The default is video."""


def panel_title(alarm: Alarm) -> str:
    """Return the alarm's sign, kind and subject."""
    return f"{SEVERITY_BADGES[alarm.severity].glyph} {alarm.kind}  {subject(alarm)}"


def panel_state(alarm: Alarm, render_time: RenderTime) -> str:
    """Return the alarm's state with its duration and its planned end, and the person who set the state."""
    _, state, _ = ALARM_STATE_BADGES[alarm.state]
    lasted = age(render_time.seconds_since(alarm.changed))
    unshared = f"  {NOT_SHARED}" if alarm.key in render_time.unshared else ""
    silenced = f"  {silenced_text(alarm, render_time.now)}" if alarm.silenced else ""
    return f"{state} for {lasted}{_until(alarm, render_time)}{_by(alarm)}{silenced}{unshared}"


def panel_lines(
    alarm: Alarm, snapshot: Snapshot, render_time: RenderTime, width: int, height: int, *, has_grid: bool = True
) -> list[ShadedLine]:
    """Return all lines about the alarm. A wide panel also has the chart of the alarm's fault."""
    affected = affected_names(alarm, snapshot)
    words = partial(detail, alarm, render_time, affected=affected)
    return _beside_chart(words, alarm, snapshot, render_time, width=width, height=height, has_grid=has_grid)


def advice_lines(
    alarm: Alarm, snapshot: Snapshot, render_time: RenderTime, width: int, height: int, *, has_grid: bool = True
) -> list[ShadedLine]:
    """Return advice and effect on viewers of an incident's alarm; in a wide panel, with the chart beside them.

    The lines of the incident already show the other facts.
    """
    facts = {"do": alarm.diagnosis.advice, "viewers": alarm.diagnosis.viewers}

    def words(cells: int) -> list[Line]:
        return [line for label, text in facts.items() if text for line in _fact(label, text, cells)]

    return _beside_chart(words, alarm, snapshot, render_time, width=width, height=height, has_grid=has_grid)


def _beside_chart(
    words: Callable[[int], list[Line]],
    alarm: Alarm,
    snapshot: Snapshot,
    render_time: RenderTime,
    *,
    width: int,
    height: int,
    has_grid: bool,
) -> list[ShadedLine]:
    """Return the words with the chart of the alarm's fault beside them, or only the words if no chart is possible.

    A chart needs samples and a panel of `CHART_FROM` cells. `words`: returns the lines for a width in cells.
    """
    state = snapshot.find(alarm.event_id)
    has_room = width >= CHART_FROM and height >= MIN_CHART_LINES
    word_cells = max(MIN_WORDS_CELLS, width // 3)
    chart_cells = width - word_cells
    series = recent_series(state, render_time, CHART_SECONDS, chart_columns(chart_cells)) if state else None
    if state is None or series is None or series.is_empty or not has_room:
        return [*words(width)]
    backdrop = signal_backdrop(series, has_grid=has_grid, is_stale=events.is_doubtful(state, render_time))
    curve = next((name for start, name in _CURVES.items() if alarm.kind.startswith(start)), "video")
    rows = height - FIXED_CHART_LINES
    chart = signal_lines(
        state, render_time, series, backdrop, rows=(rows - (not rows % 2),), width=chart_cells, first=curve
    )
    beside = zip_longest(words(word_cells)[:height], chart, fillvalue=())
    return [[*fit(line, word_cells), *part] for line, part in beside]


MIN_CHART_LINES = 8


def detail(alarm: Alarm, render_time: RenderTime, cells: int, affected: str = "") -> list[Line]:
    """Return all facts about an alarm in lines of `cells` cells, the most important first.

    A short panel still has people's notes and the advice. `affected`: names of the events of an incident.
    """
    diagnosis = alarm.diagnosis
    facts = {
        "reason": alarm.reason,
        "note": alarm.note,
        "closed": alarm.verdict,
        "hidden by": alarm.parent,
        "actual": evidence_text(alarm),
        "affects": affected,
        "do": diagnosis.advice,
        "cause": diagnosis.cause,
        "viewers": diagnosis.viewers,
    }
    since = f"{render_time.to_server(alarm.since):%H:%M:%S}Z"
    if alarm.episodes > 1:
        since += f", {alarm.episodes} times in the last 10 min"
    return [
        *(line for label, text in facts.items() if text for line in _fact(label, text, cells)),
        *_fact("since", since, cells),
        *_timeline(alarm, cells),
    ]


def _timeline(alarm: Alarm, cells: int) -> list[Line]:
    """Return the alarm's changes after it was raised, newest first; empty without changes."""
    if len(alarm.timeline) < 2:
        return []
    entries = (
        f"{entry.at:%H:%M:%S}Z {safe(entry.text, 200)}{f' by {safe(person(entry.actor), 60)}' if entry.actor else ''}"
        for entry in reversed(alarm.timeline)
    )
    lines = wrap(" · ".join(entries), StyleRole.DIM, cells - LABEL_CELLS)
    return [labelled("" if row else "timeline", line, LABEL_CELLS) for row, line in enumerate(lines)]


def _by(alarm: Alarm) -> str:
    """Return author and time of the last action on the alarm; empty without one."""
    by = answered_by(alarm)
    return f"  by {by}" if by else ""


def _until(alarm: Alarm, render_time: RenderTime) -> str:
    until = alarm.shelved_until if alarm.state is AlarmState.SHELVED else alarm.acknowledged_until
    if alarm.state is AlarmState.SHELVED and until is None:
        return "  until it clears"
    if until is None or alarm.state not in {AlarmState.SHELVED, AlarmState.ACKNOWLEDGED}:
        return ""
    return f"  {short_duration(-render_time.seconds_since(until))} left"


def _fact(label: str, text: str, cells: int) -> list[Line]:
    """Return a labelled text in as many lines as it needs."""
    lines = wrap(safe(text), StyleRole.TEXT, cells - LABEL_CELLS)
    return [labelled("" if row else label, line, LABEL_CELLS) for row, line in enumerate(lines)]


class LoggedAction(NamedTuple):
    """Recorded action of a person. `by`: the person, empty if unknown."""

    record: ActionRecord
    by: str = ""

    @property
    def at(self) -> datetime:
        return self.record.at


LogRecord = Silence | LoggedAction | LinkRecord | NotificationRecord | Notice


def newest_first(records: Iterable[LogRecord]) -> list[LogRecord]:
    """Return the records sorted by time, the newest first."""
    return sorted(records, key=lambda record: record.at, reverse=True)


def log_line(record: LogRecord, now: datetime) -> Line:
    """Return a record as a line: time, severity, action and subject."""
    if isinstance(record, Silence):
        return _silence(record, now)
    if isinstance(record, LoggedAction):
        return _logged_action(record)
    if isinstance(record, LinkRecord):
        return _connection(record)
    return _notice(record)


def _time(at: datetime) -> Line:
    return [(f" {at:%d %b} ", StyleRole.DIM), (f"{at:%H:%M:%S}Z  ", StyleRole.TEXT)]


def _silence(silence: Silence, now: datetime) -> Line:
    """Return a silence with its time, the alarms that it covers, its comment and its author."""
    is_running = silence.covers(now)
    word, role = ("running", StyleRole.STRONG) if is_running else ("planned", StyleRole.DIM)
    return [
        *fit([(f" {SILENCE_GLYPH} {word}", role)], 12),
        *fit([(time_text(silence, now), StyleRole.TEXT)], 28),
        (f" {what_text(silence)}", StyleRole.STRONG),
        (f"   {safe(silence.comment, 200)}, {safe(person(silence.by), 60)}", StyleRole.DIM),
    ]


def _logged_action(action: LoggedAction) -> Line:
    record = action.record
    glyph, word, role = OUTCOME_BADGES[record.outcome]
    edits = "  ".join(f"{edit.name}: {edit.before} -> {edit.after}" for edit in record.edits)
    rest = "   ".join(safe(text) for text in (f"by {action.by}" if action.by else "", edits) if text)
    return [
        *_time(record.at),
        *fit([(f"{glyph} {word}", role)], 14),
        *fit([(record.action, StyleRole.STRONG)], 20),
        *fit([(safe(record.target_name or record.target_id, 60), StyleRole.TEXT)], 26, ellipsis=True),
        (f" {safe(record.detail)}", StyleRole.TEXT),
        (f"   {rest}" if rest else "", StyleRole.DIM),
    ]


def _connection(record: LinkRecord) -> Line:
    glyph, _, role = CONNECTION_BADGES[record.state]
    return [
        *_time(record.at),
        *fit([(f"{glyph} {record.state.value}", role)], 14),
        *fit([(record.trouble.banner, role)], 20),
        (safe(record.why), StyleRole.TEXT),
    ]


def _notice(record: NotificationRecord | Notice) -> Line:
    title = f"{safe(record.title)}  " if isinstance(record, NotificationRecord) else ""
    return [
        *_time(record.at),
        *fit([severity_chip(record.severity)], 9),
        (title, StyleRole.STRONG),
        (safe(record.text), StyleRole.TEXT),
    ]


FigureRow = Figure | BadActor


def figure_line(row: FigureRow) -> Line:
    """Return a key figure with its goal, or an alarm that was announced often, as a line."""
    if isinstance(row, BadActor):
        count = f"{row.count} ({100 * row.share:.0f} %)"
        return [
            *fit([("   announced most", StyleRole.DIM)], TITLE_CELLS),
            *fit([(count, StyleRole.TEXT)], VALUE_CELLS),
            (f"{row.kind}  {safe(row.subject, 60)}", StyleRole.TEXT),
        ]
    role = {True: StyleRole.OK, False: StyleRole.WARNING, None: StyleRole.TEXT}[row.is_met]
    return [
        *fit([(f" {mark(row)} ", role), (row.title, StyleRole.TEXT)], TITLE_CELLS, ellipsis=True),
        *fit([(value_text(row), StyleRole.DIM if row.value is None else StyleRole.STRONG)], VALUE_CELLS, ellipsis=True),
        (goal_text(row), StyleRole.DIM),
    ]


TITLE_CELLS, VALUE_CELLS = 44, 20


def _figure_name(row: FigureRow) -> str:
    return row.key if isinstance(row, Figure) else f"{row.event_id} {row.kind}"


FIGURES: TableSchema[FigureRow] = TableSchema(
    columns=(
        Column(
            "figure",
            f"{'   FIGURE':<{TITLE_CELLS}}{'VALUE':<{VALUE_CELLS}}GOAL",
            40,
            0,
            lambda row, _: figure_line(row),
            grows=True,
        ),
    ),
    key=_figure_name,
    text=lambda row: plain(figure_line(row)).casefold(),
)

LOG: TableSchema[LogRecord] = TableSchema(
    columns=(
        Column(
            "entry",
            "WHEN (UTC)",
            40,
            0,
            lambda record, at: log_line(record, at.now),
            lambda record, _: record.at.timestamp(),
            grows=True,
        ),
    ),
    key=lambda record: record.id if isinstance(record, Silence) else f"{record.at.timestamp()} {hash(record)}",
    text=lambda record: plain(log_line(record, record.at)).casefold(),
)


def silent_together(alarm: Alarm, alarms: Iterable[Alarm]) -> tuple[Alarm, ...]:
    """Return the alarms of all events that have had no sound since livedeck first saw them, `alarm` among them.

    Returns () if they are fewer than `ASK_TOGETHER`, or if the event of `alarm` had sound before.
    """
    silent = tuple(other for other in alarms if other.active and other.found and other.expected == NEVER_HEARD)
    return silent if alarm.key in {other.key for other in silent} and len(silent) >= ASK_TOGETHER else ()

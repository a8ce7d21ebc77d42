"""Panes beside the chart on a wide screen: faults, cause, comparison with a second event, fault share. Pure."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from itertools import islice
from math import isfinite
from statistics import fmean
from typing import NamedTuple

from livedeck.monitor import Episode, EventState, Readings, diagnose
from livedeck.presentation import events
from livedeck.presentation.badges import SEVERITY_BADGES
from livedeck.presentation.connection import MEASURING
from livedeck.presentation.event_detail import doubt_text
from livedeck.presentation.qos import BARS, HIGHLIGHTED, Axis, status_style
from livedeck.presentation.render_time import RenderTime
from livedeck.text.segments import Role, Shade, ShadedLine, StyleRole, cell_len, clip, fit, wrap, wrap_groups
from livedeck.text.values import NO_DATA, compact_duration, safe
from livedeck.ui.qos import view

MAX_EPISODES = 10

LABEL_CELLS = 10

SHARE_ROWS = 8
"""Maximum height in rows of the bars that show the share of faults."""


def side_lines(shown: view.Shown, width: int, height: int) -> list[ShadedLine]:
    """Return the panes, one above the other, in at most `height` lines. Panes that do not fit are omitted."""
    state, axis, inner = shown.state, shown.chart.series.axis, width - 4
    panes: list[tuple[str, str, Sequence[ShadedLine]]] = [("Episodes", "", _episodes(shown, inner))]
    if shown.episodes:
        episode = shown.episodes[view.index_of(shown.episodes, shown.episode) or 0]
        panes.append(("Why", "", _why(episode, state, shown.render_time, inner)))
    if shown.second is not None:
        panes.append(("Compared with", "", _comparison(state, shown.second, axis, inner)))
    panes.append(("Fault share per minute", "of samples", _shares(state, axis, inner)))
    lines: list[ShadedLine] = []
    for name, right, content in panes:
        if len(lines) + len(content) + 2 <= height:
            lines += _framed(name, right, content, width)
    return lines


def _framed(name: str, right: str, lines: Iterable[ShadedLine], width: int) -> list[ShadedLine]:
    """Return a pane in a frame with its name at the left and a note at the right."""
    note = f" {right} " if right else ""
    rule = "─" * (width - 6 - cell_len(name) - cell_len(note))
    head: ShadedLine = [
        ("╭─ ", StyleRole.RULE),
        (name, StyleRole.STRONG),
        (f" {rule}", StyleRole.RULE),
        (note, StyleRole.DIM),
        ("─╮", StyleRole.RULE),
    ]
    body: list[ShadedLine] = [
        [("│ ", StyleRole.RULE), *fit(line, width - 4, ellipsis=True), (" │", StyleRole.RULE)] for line in lines
    ]
    return [head, *body, [(f"╰{'─' * (width - 2)}╯", StyleRole.RULE)]]


def _episodes(shown: view.Shown, width: int) -> list[ShadedLine]:
    faults = view.fault_lines(shown, MAX_EPISODES, cells=width)
    judged = ("✓ no faults known", StyleRole.OK) if shown.state.is_measured else (MEASURING, StyleRole.DIM)
    calm = (doubt_text(shown.state, shown.render_time), StyleRole.STALE) if shown.is_doubtful else judged
    listed: list[ShadedLine] = [*(clip(line, width) for line in faults)] or [[calm]]
    signs = view.legend(shown.chart.series.counts, is_stale=shown.is_doubtful)
    lines: list[ShadedLine] = [*listed, []]
    for start in range(0, len(signs), 2):
        pair = wrap_groups(signs[start : start + 2], width)
        lines.append(pair)
    return lines


def _why(episode: Episode, state: EventState, render_time: RenderTime, width: int) -> list[ShadedLine]:
    glyph, _, role = SEVERITY_BADGES[episode.severity]
    role = role if episode.until is None else StyleRole.DIM  # only a present fault is filled
    when = "since" if episode.until is None else "from"
    diagnosis = diagnose(episode.kind, state if episode.until is None else None)
    length = compact_duration(((episode.until or render_time.server) - episode.since).total_seconds())
    texts = {
        "actual": safe(episode.actual),
        "expected": safe(episode.expected),
        "cause": diagnosis.cause,
        "viewers": diagnosis.viewers,
        "do": diagnosis.advice,
    }
    lines: list[ShadedLine] = [
        [(f" {glyph} {episode.kind} ", role), (f"  {when} {episode.since:%H:%M:%S}  {length}", StyleRole.TEXT)]
    ]
    for label, text in texts.items():
        for row, part in enumerate(wrap(text, StyleRole.TEXT, width - LABEL_CELLS)):
            lines.append(fit([(f"{'' if row else label:<{LABEL_CELLS}}", StyleRole.DIM), *part], width))
    return lines


class Summary(NamedTuple):
    """Values over a range of time. None means no samples.

    `video`, `audio`: mean rates in bit/s. `low_video`: 5th percentile of the video rate. `fps`: mean frames/s. `bad`:
    share of samples with a fault, from 0 to 1.
    """

    video: float | None
    low_video: float | None
    audio: float | None
    fps: float | None
    bad: float | None


def summary(readings: Readings, axis: Axis) -> Summary:
    """Return the summary of the samples on the axis."""
    window = slice(bisect_left(readings.time, axis.start), bisect_left(readings.time, axis.end))
    video, audio, fps = (
        sorted(filter(isfinite, values[window])) for values in (readings.video, readings.audio, readings.fps)
    )
    statuses = readings.status[window]
    bad = sum(status_style(status) in HIGHLIGHTED for status in statuses)
    return Summary(
        fmean(video) if video else None,
        video[len(video) // 20] if video else None,
        fmean(audio) if audio else None,
        fmean(fps) if fps else None,
        bad / len(statuses) if len(statuses) else None,
    )


def _comparison(state: EventState, second: EventState, axis: Axis, width: int) -> list[ShadedLine]:
    own, other = summary(state.qos.readings, axis), summary(second.qos.readings, axis)
    rows = [
        ("video mean", _number(own.video, 1e6, 2), _number(other.video, 1e6, 2)),
        ("video p05", _number(own.low_video, 1e6, 2), _number(other.low_video, 1e6, 2)),
        ("audio mean", _number(own.audio, 1e3, 0), _number(other.audio, 1e3, 0)),
        ("fps mean", _number(own.fps, 1, 1), _number(other.fps, 1, 1)),
        ("bad samples", _number(own.bad, 0.01, 1, " %"), _number(other.bad, 0.01, 1, " %")),
    ]
    lines: list[ShadedLine] = [
        clip([("── ", StyleRole.VIDEO), (events.name(state), StyleRole.STRONG)], width),
        clip([(f"{view.SECOND_SIGN} {events.name(second)}", StyleRole.OVERLAY)], width),
        [(f"{'':14}{'this':>10}{'other':>14}", StyleRole.DIM)],
    ]
    return lines + [
        [(f"{name:<14}", StyleRole.DIM), (f"{first:>10}", StyleRole.TEXT), (f"{other:>14}", StyleRole.OVERLAY)]
        for name, first, other in rows
    ]


def _number(value: float | None, unit: float, decimals: int, sign: str = "") -> str:
    return NO_DATA if value is None else f"{value / unit:.{decimals}f}{sign}"


MINUTE = 60


def fault_shares(readings: Readings, axis: Axis, count: int) -> list[tuple[int, float | None]]:
    """Return the share of samples with a fault, from 0 to 1, for each of the last `count` minutes of the axis.

    An entry has the start of the minute (epoch s) and the share, which is None for a minute without samples.
    """
    newest = readings.time[-1] if len(readings) else axis.end
    last = int(min(axis.end, newest) // MINUTE) * MINUTE
    shares: list[tuple[int, float | None]] = []
    for start in range(last - (count - 1) * MINUTE, last + 1, MINUTE):
        window = slice(bisect_left(readings.time, start), bisect_left(readings.time, start + MINUTE))
        statuses = readings.status[window]
        bad = sum(status_style(status) in HIGHLIGHTED for status in statuses)
        shares.append((start, bad / len(statuses) if len(statuses) else None))
    return shares


def _shares(state: EventState, axis: Axis, width: int) -> list[ShadedLine]:
    gutter, bar_cells = 6, 2
    shares = fault_shares(state.qos.readings, axis, (width - gutter) // bar_cells)
    top = max(0.2, *(share or 0.0 for _, share in shares))
    lines: list[ShadedLine] = []
    for row in range(SHARE_ROWS):
        label = f"{100 * top:.0f}%" if not row else "0%" if row == SHARE_ROWS - 1 else ""
        line: list[tuple[str, Role]] = [(f"{label:>{gutter - 1}} ", StyleRole.DIM)]
        for _, share in shares:
            eighths = round((share or 0.0) / top * SHARE_ROWS * 8) - (SHARE_ROWS - 1 - row) * 8
            role = StyleRole.LOSS if (share or 0.0) >= 0.5 else StyleRole.KEY_20 if share else StyleRole.OK
            glyph = "█" if eighths >= 8 else BARS[eighths - 1] if eighths > 0 else " "
            line.append((f"{glyph} ", Shade(role)))
        lines.append(line)
    times = "".join(
        f"{datetime.fromtimestamp(at, UTC):%H:%M}".ljust(5 * bar_cells) for at, _ in islice(shares, 0, None, 5)
    )
    return [*lines, [(" " * gutter + times, StyleRole.DIM)]]

"""Timelines, episodes and samples as lines for a terminal or a pipe. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from textwrap import wrap

from livedeck.monitor import EpisodeRecord, Severity
from livedeck.presentation.badges import SEVERITY_BADGES
from livedeck.presentation.qos import longest_step
from livedeck.report.recorded import Recorded
from livedeck.report.samples import Step, cadence_of, step_seconds, steps
from livedeck.report.spans import Span, joined, seconds_of
from livedeck.report.timeline import Entry, unwatched
from livedeck.text.values import NO_DATA, bits, evidence_text, frames, safe, short_duration

_LINES = 15
"""Maximum number of rows of samples, which fit on a screen."""

_WIDEST = 160
"""Width of a line in cells if no width is given."""


def head_lines(recorded: Recorded, name: str) -> list[str]:
    """Return the heading, and a line with the time that was not watched."""
    span, holes = recorded.span, unwatched(recorded)
    head = f"{name}, {stretch_text(span)} UTC ({short_duration(span.seconds)})"
    if not holes:
        return [head]
    times = f"{holes[0].since:%H:%M:%S}Z to {holes[-1].until:%H:%M:%S}Z"
    where = times if len(holes) == 1 else f"{len(holes)} gaps from {times}"
    return [head, f"nobody watched for {short_duration(seconds_of(holes))} of this time: {where}"]


def stretch_text(span: Span) -> str:
    """Return a period as `2026-11-21 21:00:00 to 21:15:00`. The end has a date, too, if the days differ."""
    day = "" if span.since.date() == span.until.date() else "%Y-%m-%d "
    return f"{span.since:%Y-%m-%d %H:%M:%S} to {span.until.strftime(f'{day}%H:%M:%S')}"


def entry_lines(entries: Sequence[Entry], cells: int | None, *, has_names: bool) -> Iterator[str]:
    """Yield the entries, wrapped to `cells`, with a line for each new day.

    `has_names`: add the event's name to each entry, and write the day even if there is only one day.
    """
    days = {entry.at.date() for entry in entries}
    day = None
    for entry in entries:
        if entry.at.date() != day and (has_names or len(days) > 1):
            day = entry.at.date()
            yield f"{day}"
        sign = SEVERITY_BADGES[entry.severity].glyph if entry.severity else " "
        head = f"{entry.at:%H:%M:%S}Z  {sign} {entry.kind.value:<12}  "
        name = f"{entry.event}: " if has_names and entry.event else ""
        by = f" (by {entry.by})" if entry.by else ""
        yield from hanging(head, f"{name}{entry.text}{by}", cells)


def hanging(head: str, text: str, cells: int | None) -> Iterator[str]:
    """Yield the lines of `head` followed by `text`, wrapped with a hanging indent."""
    width = max(20, (cells or _WIDEST) - len(head))
    for index, line in enumerate(wrap(text, width) or [""]):
        yield f"{head if not index else ' ' * len(head)}{line}"


_SAMPLE_HEAD = f"{'TIME':<9}  {'SAMPLES':>7}  {'VIDEO':>14}  {'AUDIO':>7}  {'FPS':>10}  STATUS"


def sample_lines(recorded: Recorded) -> list[str]:
    """Return lines about the samples, about `_LINES` steps at most for each stream; empty without samples."""
    lines: list[str] = []
    for (_, stream), readings in recorded.samples.items():
        cadence = cadence_of(readings)
        seconds = step_seconds(
            recorded.span, _LINES, longest_step(cadence) if cadence else 0.0
        )  # an empty one is a gap
        first, last = (Span(step.span.since, step.span.until) for step in _ends(recorded, stream, seconds))
        span = Span(max(recorded.span.since, first.since), min(recorded.span.until, last.until))
        lines += ["", f"Samples of stream {safe(stream, 40)}, one line per {short_duration(seconds)}", _SAMPLE_HEAD]
        lines += [_sample_line(step) for step in steps(readings, span, seconds)]
    return lines


def _ends(recorded: Recorded, stream: str, seconds: float) -> tuple[Step, Step]:
    readings = next(found for (_, name), found in recorded.samples.items() if name == stream)
    filled = [step for step in steps(readings, recorded.span, seconds) if step.count]
    return filled[0], filled[-1]


def _sample_line(step: Step) -> str:
    video = f"{bits(step.video[0])}-{bits(step.video[2])}" if step.video else NO_DATA
    audio = bits(step.audio[1]) if step.audio else NO_DATA
    fps = f"{frames(step.fps[0])}-{frames(step.fps[2])}" if step.fps else NO_DATA
    status = f"{step.status.glyph} {step.status.word}" if step.status else "no sample" if not step.count else NO_DATA
    return f"{step.span.since:%H:%M:%S}Z  {step.count:>7}  {video:>14}  {audio:>7}  {fps:>10}  {status}"


def episode_lines(episodes: Sequence[EpisodeRecord], names: Mapping[str, str], cells: int | None) -> Iterator[str]:
    """Yield a line for each episode: time, length, event, kind."""
    for episode in episodes:
        badge = SEVERITY_BADGES[episode.severity]
        target = f" {safe(episode.target_name, 40)}" if episode.target_name else ""
        lasted = short_duration((episode.until - episode.since).total_seconds())
        head = f"{episode.since:%Y-%m-%d %H:%M:%S}Z to {episode.until:%H:%M:%S}Z  {lasted:>8}  {badge.glyph} "
        name = names.get(episode.event_id, episode.event_id)
        yield from hanging(head, f"{name}: {episode.kind}{target}, {evidence_text(episode, 200)}", cells)


def episode_sums(episodes: Iterable[EpisodeRecord]) -> Iterator[str]:
    """Yield a line for each kind with its total time, most severe kind first."""
    kinds: dict[str, list[EpisodeRecord]] = {}
    for episode in episodes:
        kinds.setdefault(episode.kind, []).append(episode)

    def rank(kind: str) -> tuple[int, str]:
        return min(episode.severity.rank for episode in kinds[kind]), kind

    order = [*Severity]
    for kind in sorted(kinds, key=rank):
        spans = joined(Span(episode.since, episode.until) for episode in kinds[kind])
        glyph = SEVERITY_BADGES[order[rank(kind)[0]]].glyph
        yield f"{glyph} {kind:<19}  {len(kinds[kind]):>4} x  {short_duration(seconds_of(spans)):>8}"

"""Curves and bars of a report as SVG: stretched to whatever width the page has, so no words are in them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from math import isfinite

from livedeck.monitor import Readings
from livedeck.presentation.qos import Axis, Bucket, bucket_columns, bucket_statuses
from livedeck.report.spans import Span

WIDTH, HEIGHT = 1000, 100
"""The size of a picture in units of its own."""

COLUMNS = 400
"""Of a curve: finer than a page has pixels for a column."""

_HEADROOM = 1.12
"""The top of a chart over its highest value."""

_LEAST = 1.5
"""Units that a bar is wide at least: what lasted a second of a day can be seen."""


def picture(title: str, parts: Iterable[str], *, height: int = HEIGHT) -> str:
    """An SVG of these parts, with a title for those who do not see it."""
    return (
        f'<svg viewBox="0 0 {WIDTH} {height}" preserveAspectRatio="none" role="img">'
        f"<title>{escape(title)}</title>{''.join(parts)}</svg>"
    )


def axis_of(span: Span) -> Axis:
    """The columns of that time."""
    return Axis(span.since.timestamp(), span.until.timestamp(), COLUMNS)


def top_of(buckets: Sequence[Bucket | None]) -> float:
    """The value at the top of a chart of these."""
    return _HEADROOM * max((bucket.high for bucket in buckets if bucket), default=1.0) or 1.0


def curve(buckets: Sequence[Bucket | None], top: float, name: str) -> str:
    """The middle of each column as a line, and its least and greatest as an area; a gap is a gap."""
    step = WIDTH / max(1, len(buckets))
    band, line = list[str](), list[str]()
    for start, run in _runs(buckets):
        places = [(start + index + 0.5) * step for index in range(len(run))]
        upper = [f"{x:.1f} {_y(bucket.high, top):.1f}" for x, bucket in zip(places, run, strict=True)]
        lower = [f"{x:.1f} {_y(bucket.low, top):.1f}" for x, bucket in zip(places, run, strict=True)]
        middle = [f"{x:.1f} {_y(bucket.median, top):.1f}" for x, bucket in zip(places, run, strict=True)]
        if len(run) == 1:  # a point has no length: it is drawn as wide as its column
            x = places[0]
            middle = [
                f"{x - step / 2:.1f} {_y(run[0].median, top):.1f}",
                f"{x + step / 2:.1f} {_y(run[0].median, top):.1f}",
            ]
        band.append(f"M{' L'.join([*upper, *reversed(lower)])}z")
        line.append(f"M{' L'.join(middle)}")
    return f'<path class="band {name}" d="{"".join(band)}"/><path class="line {name}" d="{"".join(line)}"/>'


def _runs(buckets: Sequence[Bucket | None]) -> Iterator[tuple[int, list[Bucket]]]:
    """Where each stretch without a gap begins, and its columns."""
    run: list[Bucket] = []
    for index, bucket in enumerate([*buckets, None]):
        if bucket:
            run.append(bucket)
        elif run:
            yield index - len(run), run
            run = []


def _y(value: float, top: float) -> float:
    return HEIGHT - HEIGHT * min(value, top) / top if isfinite(value) else HEIGHT


def bars(spans: Iterable[Span], within: Span, name: str, *, height: int = HEIGHT, y: float = 0.0) -> str:
    """A bar for each stretch, from top to bottom."""
    parts = []
    for span in spans:
        left, right = place(span.since.timestamp(), within), place(span.until.timestamp(), within)
        wide = max(_LEAST, right - left)
        parts.append(f'<rect class="{name}" x="{left:.2f}" y="{y:g}" width="{wide:.2f}" height="{height:g}"/>')
    return "".join(parts)


def lines(times: Iterable[float], within: Span, name: str, *, height: int = HEIGHT) -> str:
    """An upright line at each of these times (epoch s)."""
    places = (place(time, within) for time in times)
    return "".join(f'<path class="{name}" d="M{x:.2f} 0V{height}"/>' for x in places)


def place(time: float, within: Span) -> float:
    """Where that time (epoch s) stands from side to side, in units, within the picture."""
    return min(max(WIDTH * (time - within.since.timestamp()) / within.seconds, 0.0), float(WIDTH))


def status_bars(samples: Readings, within: Span) -> str:
    """The worst status of each column, where it was not normal."""
    step = WIDTH / COLUMNS
    parts = []
    for index, style in enumerate(bucket_statuses(axis_of(within), samples)):
        if style and style.weight:
            word = style.word.strip("><%").replace(">", "").replace("%", "").lower()
            parts.append(
                f'<rect class="status-{word}" x="{index * step:.2f}" y="0" width="{step:.2f}" height="{HEIGHT}"/>'
            )
    return "".join(parts)


def columns_of(samples: Readings, within: Span, name: str) -> list[Bucket | None]:
    """One measure of the samples by column: `video`, `audio` or `fps`."""
    return bucket_columns(axis_of(within), samples, getattr(samples, name))

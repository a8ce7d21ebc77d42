"""Curves and bars of a report as SVG. They contain no text, because the page stretches them to any width. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from math import isfinite

from livedeck.monitor import Readings
from livedeck.presentation.qos import Axis, Bucket, bucket_columns, bucket_statuses, held
from livedeck.report.spans import Span

WIDTH, HEIGHT = 1000, 100
"""Width and height of a picture in its own units."""

COLUMNS = 400
"""Number of columns of a curve."""

_HEADROOM = 1.12
"""Value at the top of a chart, as a multiple of the highest value in the chart."""

_LEAST = 1.5
"""Minimum width of a bar in units, so that one second of a day is visible."""


def picture(title: str, parts: Iterable[str], *, height: int = HEIGHT) -> str:
    """Return an SVG of the parts. Screen readers read the title aloud."""
    return (
        f'<svg viewBox="0 0 {WIDTH} {height}" preserveAspectRatio="none" role="img">'
        f"<title>{escape(title)}</title>{''.join(parts)}</svg>"
    )


def axis_of(span: Span) -> Axis:
    """Return the axis that divides the span into the columns of a curve."""
    return Axis(span.since.timestamp(), span.until.timestamp(), COLUMNS)


def top_of(buckets: Sequence[Bucket | None]) -> float:
    """Return the value at the top of a chart of these buckets."""
    return _HEADROOM * max((bucket.high for bucket in buckets if bucket), default=1.0) or 1.0


def curve(buckets: Sequence[Bucket | None], top: float, name: str) -> str:
    """Return the medians of the columns as a line, and their ranges as an area. Empty columns are gaps."""
    step = WIDTH / max(1, len(buckets))
    band, line = list[str](), list[str]()
    for start, run in _runs(buckets):
        places = [(start + index + 0.5) * step for index in range(len(run))]
        upper = [f"{x:.1f} {_y(bucket.high, top):.1f}" for x, bucket in zip(places, run, strict=True)]
        lower = [f"{x:.1f} {_y(bucket.low, top):.1f}" for x, bucket in zip(places, run, strict=True)]
        middle = [f"{x:.1f} {_y(bucket.median, top):.1f}" for x, bucket in zip(places, run, strict=True)]
        if len(run) == 1:  # a single point has no length, so it is drawn as wide as its column
            x = places[0]
            middle = [
                f"{x - step / 2:.1f} {_y(run[0].median, top):.1f}",
                f"{x + step / 2:.1f} {_y(run[0].median, top):.1f}",
            ]
        band.append(f"M{' L'.join([*upper, *reversed(lower)])}z")
        line.append(f"M{' L'.join(middle)}")
    return f'<path class="band {name}" d="{"".join(band)}"/><path class="line {name}" d="{"".join(line)}"/>'


def _runs(buckets: Sequence[Bucket | None]) -> Iterator[tuple[int, list[Bucket]]]:
    """Yield each run of columns without a gap, with the index of its first column."""
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
    """Return a bar of the full height for each period."""
    parts = []
    for span in spans:
        left, right = place(span.since.timestamp(), within), place(span.until.timestamp(), within)
        wide = max(_LEAST, right - left)
        parts.append(f'<rect class="{name}" x="{left:.2f}" y="{y:g}" width="{wide:.2f}" height="{height:g}"/>')
    return "".join(parts)


def lines(times: Iterable[float], within: Span, name: str, *, height: int = HEIGHT) -> str:
    """Return a vertical line at each of these times (epoch s)."""
    places = (place(time, within) for time in times)
    return "".join(f'<path class="{name}" d="M{x:.2f} 0V{height}"/>' for x in places)


def place(time: float, within: Span) -> float:
    """Return the horizontal position of a time (epoch s) in units, within the picture."""
    return min(max(WIDTH * (time - within.since.timestamp()) / within.seconds, 0.0), float(WIDTH))


def status_bars(samples: Readings, within: Span, spacing: float) -> str:
    """Return an SVG bar for each column whose worst status is not normal. `spacing`: as in `columns_of`."""
    step = WIDTH / COLUMNS
    parts = []
    axis = axis_of(within)
    for index, style in enumerate(held(bucket_statuses(axis, samples), axis, samples.time, spacing)):
        if style and style.weight:
            word = style.word.strip("><%").replace(">", "").replace("%", "").lower()
            parts.append(
                f'<rect class="status-{word}" x="{index * step:.2f}" y="0" width="{step:.2f}" height="{HEIGHT}"/>'
            )
    return "".join(parts)


def columns_of(samples: Readings, within: Span, name: str, spacing: float) -> list[Bucket | None]:
    """Return a measure of the samples by column.

    Args:
        samples: The samples.
        within: The time of the chart.
        name: `video`, `audio` or `fps`.
        spacing: Longest normal distance between two samples, in seconds. Empty columns between samples that are no
            further apart than this repeat the earlier value; they are not gaps.
    """
    axis = axis_of(within)
    return held(bucket_columns(axis, samples, getattr(samples, name)), axis, samples.time, spacing)

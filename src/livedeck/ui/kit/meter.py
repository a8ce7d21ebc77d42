"""Meters of sound: the peak of each channel in one segment, as columns or as a line. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from livedeck.text.segments import Role, Shade, ShadedLine, StyleRole

FLOOR = -60.0
"""Peak in dBFS at the bottom of a meter. A quieter sound counts as silence."""

METER_CELLS = 6
"""Width of a meter of columns: scale, blank, two channels."""

CHANNELS = 2

_EIGHTHS = " ▁▂▃▄▅▆▇█"
_TICKS = (0, -20, -40, FLOOR)

SOUND: Role = Shade(StyleRole.AUDIO, 70)
"""Role of a channel's level."""

_EMPTY: tuple[str, Role] = ("┊", StyleRole.BAND)


def meter_rows(peaks: Sequence[float], rows: int, *, has_blocks: bool = True, is_old: bool = False) -> list[ShadedLine]:
    """Return a meter `rows` high with its scale: a column for each channel, which is dotted if no peak is known.

    `has_blocks`: False for a terminal that can only show ASCII. `is_old`: the segment is too old to be trusted.
    """
    labels = {round(tick / FLOOR * (rows - 1)): f"{tick:.0f}" for tick in _TICKS[:: 1 if rows >= 7 else 3]}
    columns = [_column(peak, rows, has_blocks=has_blocks) for peak in peaks[:CHANNELS]] or [" " * rows] * CHANNELS
    role = StyleRole.STALE if is_old else SOUND
    lines: list[ShadedLine] = []
    for row in range(rows):
        cells = [(column[row], role) if column[row] != " " else _EMPTY for column in columns]
        rest = " " * (CHANNELS - len(cells))
        lines.append(
            [(f"{labels.get(row, ''):>3} ", StyleRole.DIM), *cells, *([(rest, StyleRole.TEXT)] if rest else [])]
        )
    return lines


def _column(peak: float, rows: int, *, has_blocks: bool) -> Sequence[str]:
    """Return the cells of a channel, from the top."""
    eighths = round(_share(peak) * rows * 8)
    filled = [max(0, min(8, eighths - 8 * (rows - row - 1))) for row in range(rows)]
    return [_EIGHTHS[level] if has_blocks else "#" if level >= 4 else " " for level in filled]


def meter_line(peaks: Sequence[float], cells: int, *, has_blocks: bool = True, is_old: bool = False) -> ShadedLine:
    """Return a bar of `cells` cells for each channel: `L ▆▆▆▆▆▁▁  R ▆▆▆▆▁▁▁`; empty without a known peak."""
    full, rest = ("▆", "▁") if has_blocks else ("#", "_")
    names = ("L", "R") if len(peaks) >= CHANNELS else ("",)
    line: list[tuple[str, Role]] = []
    for name, peak in zip(names, peaks, strict=False):
        count = round(_share(peak) * cells)
        line += [
            (f"{'  ' if line else ''}{name}{' ' if name else ''}", StyleRole.DIM),
            (full * count, StyleRole.STALE if is_old else SOUND),
            (rest * (cells - count), StyleRole.BAND),
        ]
    return line


def _share(peak: float) -> float:
    return max(0.0, min(1.0, 1 - peak / FLOOR))

"""Picture that viewers get, as rows of cells. Words over it name a fault or its age; without a picture, words say why.

Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from livedeck.monitor import EventState
from livedeck.presentation import viewer
from livedeck.presentation.render_time import RenderTime
from livedeck.text.segments import Role, ShadedLine, StyleRole, clip, width
from livedeck.text.values import age
from livedeck.ui.kit.graphics import Frame


class Shot(NamedTuple):
    """Picture that is ready to be drawn.

    `rows`, `faded`: rows of half blocks, in full colours and dimmed. `sequence`: control string that
    draws the picture in pixels over blank cells; empty if the terminal gets half blocks.
    """

    rows: tuple[ShadedLine, ...]
    faded: tuple[ShadedLine, ...]
    sequence: str = ""


class Look(NamedTuple):
    """Way to show a picture.

    `rows`: rows of half blocks; None to show words instead. `sequence`: control string that draws the picture in pixels
    over blank cells, or empty. `has_blocks`: the terminal can show more than ASCII.
    """

    rows: Sequence[ShadedLine] | None = None
    sequence: str = ""
    has_blocks: bool = True


def look_at(state: EventState, render_time: RenderTime, shot: Shot | None, *, has_blocks: bool) -> Look:
    """Return how to show the newest picture of an event.

    Pixels are drawn only for a fresh picture without words over it, because cells cannot cover pixels.
    """
    seconds = viewer.picture_age(state.viewer, render_time) if state.viewer else None
    if shot is None or seconds is None:
        return Look(has_blocks=has_blocks)
    if shot.sequence and seconds <= viewer.AGED_SECONDS and not viewer.over_picture(state, render_time):
        return Look(sequence=shot.sequence)
    is_dim = seconds >= viewer.DIM_SECONDS or viewer.is_past(state, render_time)
    return Look(shot.faded if is_dim else shot.rows)


def picture_rows(state: EventState, render_time: RenderTime, frame: Frame, look: Look) -> list[ShadedLine]:
    """Return the rows of the picture with the words over it, or words in its place."""
    if look.sequence:
        return [[(" " * frame.columns, StyleRole.TEXT)] for _ in range(frame.rows)]
    over = viewer.over_picture(state, render_time)
    rows = [*look.rows] if look.rows is not None else _empty(over, frame)
    over = over or ([(f" {viewer.picture_words(state)} ", StyleRole.TEXT)] if look.rows is None else [])
    for place, (text, role) in enumerate(over[: frame.rows], max(0, (frame.rows - len(over)) // 2)):
        rows[place] = _overlaid(rows[place], text, role, (frame.columns - len(text)) // 2, frame.columns)
    seconds = viewer.picture_age(state.viewer, render_time) if state.viewer else None
    if look.rows is not None and len(over) < 2 and seconds is not None and seconds > viewer.AGED_SECONDS:
        text = f" {age(seconds)} old "
        rows[-1] = _overlaid(rows[-1], text, StyleRole.OFF, frame.columns - len(text), frame.columns)
    return rows


def _empty(over: Sequence[tuple[str, StyleRole]], frame: Frame) -> list[ShadedLine]:
    """Return the rows in place of a picture: shaded if viewers get nothing, otherwise blank."""
    ground = "▒" if over and over[0][1] is StyleRole.CRITICAL else " "
    return [[(ground * frame.columns, StyleRole.BAND)] for _ in range(frame.rows)]


def _overlaid(row: ShadedLine, text: str, role: StyleRole, start: int, cells: int) -> ShadedLine:
    """Return the row with a text over it, from the cell `start` on."""
    words, start = clip([(text, role)], cells), max(0, start)
    return [*_part(row, 0, start), *words, *_part(row, start + width(words), cells)]


def _part(row: ShadedLine, start: int, end: int) -> ShadedLine:
    """Return the cells from `start` to `end` of a row of narrow letters."""
    part, cell = list[tuple[str, Role]](), 0
    for text, role in row:
        if kept := text[max(0, start - cell) : max(0, end - cell)]:
            part.append((kept, role))
        cell += len(text)
    return part

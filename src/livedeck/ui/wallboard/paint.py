"""The inks of a theme as a wall may show them for weeks: no pure white, and darker while nothing is on air. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from livedeck.text.segments import StyleRole
from livedeck.ui.kit.themes import Palette, StyleSpec

BRIGHTEST = 0xE6

"""Of a channel of a letter: white burns in first."""


DIMMED = 0.5

"""The part of its distance to the ground that a colour keeps while the wall is dim."""


def looks(palette: Palette, *, dim: bool) -> Mapping[StyleRole, StyleSpec]:
    """Each ink with a ground of its own, so that a cell needs nothing else."""
    return {ink: _look(look, palette, dim) for ink, look in palette.inks.items()}


def ground(palette: Palette) -> str:
    """The colour behind everything."""
    return _capped(palette.ground)


def _look(look: StyleSpec, palette: Palette, dim: bool) -> StyleSpec:
    if palette.ansi:
        style = f"{look.style} dim".removeprefix("none ") if dim else look.style
        return StyleSpec(look.colour, look.ground or palette.ground, style)
    behind = ground(palette)
    colours = (_capped(look.colour), _capped(look.ground or behind))
    if dim:
        colours = (_towards(behind, colours[0]), _towards(behind, colours[1]))
    return StyleSpec(*colours, look.style)


def _capped(colour: str) -> str:
    red, green, blue = _channels(colour)
    return _hex(*(min(BRIGHTEST, one) for one in (red, green, blue))) if min(red, green, blue) > BRIGHTEST else colour


def _towards(behind: str, colour: str) -> str:
    pairs = zip(_channels(behind), _channels(colour), strict=True)
    return _hex(*(round(far + (near - far) * DIMMED) for far, near in pairs))


def _channels(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def _hex(red: int, green: int, blue: int) -> str:
    return f"#{red:02x}{green:02x}{blue:02x}"

"""The styles of a theme as a wall may show them for weeks: no pure white, and dimmed while nothing is on air. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from livedeck.monitor import BroadcastState
from livedeck.text.segments import Link, Role, StyleRole
from livedeck.ui.kit.palette import channels, mix
from livedeck.ui.kit.themes import Palette, StyleSpec, style_spec

BAR_ROLES: Mapping[BroadcastState, StyleRole] = dict.fromkeys(BroadcastState, StyleRole.OFF) | {
    BroadcastState.ON_AIR: StyleRole.RAISED,
    BroadcastState.RECONNECTING: StyleRole.CRITICAL,
    BroadcastState.LOST: StyleRole.CRITICAL,
    BroadcastState.LATE: StyleRole.WARNING_CHIP,
    BroadcastState.SCHEDULED: StyleRole.RAISED,
}
"""How the bar with the tally is filled: what is well stays calm."""

WHITEST = "#e6e6e6"
"""In place of all that is whiter: white burns in first."""

DIM_SHARE = 0.5
"""The share of its distance to the background that a colour keeps while the wall is dimmed."""


def wall_style(palette: Palette, role: Role, *, dim: bool) -> StyleSpec:
    """The style of a role or a shade with a background of its own, so that a cell needs nothing else."""
    spec = style_spec(palette, role.role if isinstance(role, Link) else role)
    if palette.ansi:
        style = f"{spec.style} dim".removeprefix("none ") if dim and "dim" not in spec.style else spec.style
        colour = spec.colour or palette.styles[StyleRole.TEXT].colour
        return StyleSpec(colour, spec.background or palette.background, style)
    behind = wall_background(palette)
    colour, background = _limit(spec.colour), _limit(spec.background or behind)
    if dim:
        colour, background = mix(behind, colour, DIM_SHARE), mix(behind, background, DIM_SHARE)
    return StyleSpec(colour, background, spec.style)


def wall_background(palette: Palette) -> str:
    """The colour behind everything."""
    return _limit(palette.background)


def _limit(colour: str) -> str:
    return WHITEST if min(channels(colour)) > min(channels(WHITEST)) else colour

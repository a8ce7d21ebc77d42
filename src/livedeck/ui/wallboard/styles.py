"""Styles of a theme for a screen that runs for weeks: no pure white, and dimmed while no event is on air. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from livedeck.monitor import BroadcastState
from livedeck.text.segments import Link, Pixels, Role, StyleRole
from livedeck.ui.kit.palette import channels, mix
from livedeck.ui.kit.themes import Palette, StyleSpec, style_spec

BAR_ROLES: Mapping[BroadcastState, StyleRole] = dict.fromkeys(BroadcastState, StyleRole.OFF) | {
    BroadcastState.ON_AIR: StyleRole.RAISED,
    BroadcastState.RECONNECTING: StyleRole.CRITICAL,
    BroadcastState.LOST: StyleRole.CRITICAL,
    BroadcastState.LATE: StyleRole.WARNING_CHIP,
    BroadcastState.SCHEDULED: StyleRole.RAISED,
}
"""Tally -> fill of the bar that shows it. The bar of a healthy event stays calm."""

WHITEST = "#e6e6e6"
"""Brightest colour on the wall, because white burns in first."""

DIM_SHARE = 0.5
"""Fraction of the contrast to the background that a colour keeps on a dimmed wall."""


def wall_style(palette: Palette, role: Role, *, dim: bool) -> StyleSpec:
    """Return the style of a role or shade. It always has a background, so no style under it is needed."""
    if isinstance(role, Pixels):
        return StyleSpec(f"#{role.upper:06x}", f"#{role.lower:06x}")
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
    """Return the background colour of the wall."""
    return _limit(palette.background)


def _limit(colour: str) -> str:
    return WHITEST if min(channels(colour)) > min(channels(WHITEST)) else colour

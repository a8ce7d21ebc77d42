"""The styles of a theme as a wall may show them for weeks: no pure white, and dimmed while nothing is on air. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from livedeck.monitor import BroadcastState
from livedeck.text.segments import Link, Role, StyleRole
from livedeck.ui.kit.themes import Palette, StyleSpec, style_spec

BAR_ROLES: Mapping[BroadcastState, StyleRole] = dict.fromkeys(BroadcastState, StyleRole.OFF) | {
    BroadcastState.ON_AIR: StyleRole.RAISED,
    BroadcastState.RECONNECTING: StyleRole.CRITICAL,
    BroadcastState.LOST: StyleRole.CRITICAL,
    BroadcastState.LATE: StyleRole.WARNING_CHIP,
    BroadcastState.SCHEDULED: StyleRole.RAISED,
}
"""How the bar with the tally is filled: what is well stays calm."""

MAX_CHANNEL = 0xE6
"""The greatest least channel of a colour: white burns in first."""

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
        colour, background = _mix(behind, colour), _mix(behind, background)
    return StyleSpec(colour, background, spec.style)


def wall_background(palette: Palette) -> str:
    """The colour behind everything."""
    return _limit(palette.background)


def _limit(colour: str) -> str:
    channels = _channels(colour)
    return _hex(*(min(MAX_CHANNEL, channel) for channel in channels)) if min(channels) > MAX_CHANNEL else colour


def _mix(background: str, colour: str) -> str:
    pairs = zip(_channels(background), _channels(colour), strict=True)
    return _hex(*(round(behind + (before - behind) * DIM_SHARE) for behind, before in pairs))


def _channels(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def _hex(red: int, green: int, blue: int) -> str:
    return f"#{red:02x}{green:02x}{blue:02x}"

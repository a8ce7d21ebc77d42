"""Colours of each theme by their meaning, and a function to mix two colours. Pure.

The browser wall and the terminal's themes (`themes.py`) use these colours.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from livedeck.record import Record


class Colours(Record):
    """Colours of a theme. A severity also has a shape and a word, so that nobody depends on its colour.

    `raised`: background of headers and fields. `cursor`: background of the row under the cursor. `ink`: letters on a
    filled chip. `key`: key-frame differences and unknown states. `second`: curve of a second event.
    """

    ground: str
    panel: str
    raised: str
    cursor: str
    grid: str
    frame: str
    text: str
    strong: str
    ink: str
    dim: str
    critical: str
    warning: str
    key: str
    ok: str
    info: str
    tally: str
    video: str
    audio: str
    fps: str
    second: str


DARK = Colours(
    ground="#0d1117", panel="#141b23", raised="#1c2631", cursor="#1f2e3e", grid="#26313c", frame="#3a4856",
    text="#d6dee6", strong="#ffffff", ink="#0d1117", dim="#93a1af",
    critical="#ff6558", warning="#ffdd55", key="#e0a0ff", ok="#66dcc0", info="#6496f5", tally="#ee4540",
    video="#4fd1e0", audio="#b9a3ff", fps="#8fd460", second="#e8dcc0",
)  # fmt: skip

LIGHT = Colours(
    ground="#fbfaf6", panel="#f0f2f3", raised="#e3e8ec", cursor="#dbe6ef", grid="#d3dadf", frame="#a9b4bd",
    text="#22292e", strong="#000000", ink="#ffffff", dim="#4d5862",
    critical="#8c0812", warning="#826010", key="#8c2388", ok="#00503c", info="#0e58a8", tally="#c41420",
    video="#00687a", audio="#5743ad", fps="#3a6600", second="#7a4a1a",
)  # fmt: skip

CONTRAST = Colours(
    ground="#000000", panel="#000000", raised="#1c1c1c", cursor="#262626", grid="#404040", frame="#8a8a8a",
    text="#ffffff", strong="#ffffff", ink="#000000", dim="#d6dde3",
    critical="#ff7468", warning="#ffe55a", key="#e6a8ff", ok="#6cf2cc", info="#74a8ff", tally="#ff5a52",
    video="#8ff5e6", audio="#c0a8ff", fps="#d2f59a", second="#ffe9b8",
)  # fmt: skip

COLOURS: Mapping[str, Colours] = MappingProxyType({"dark": DARK, "light": LIGHT, "contrast": CONTRAST})
"""Name of a theme -> its colours."""


def is_light(colours: Colours) -> bool:
    """Return whether a theme is light: its letters are darker than their background."""
    return colours.ground > colours.text


def board_grounds(colours: Colours) -> Mapping[str, str]:
    """Return the background of a tile, by the state of the tile (critical, warning, all well, stale)."""
    critical, warning = (0.06, 0.04) if is_light(colours) else (0.16, 0.08)
    return {
        "critical": mix(colours.panel, colours.critical, critical),
        "warning": mix(colours.panel, colours.warning, warning),
        "ok": colours.panel if colours.panel != colours.ground else colours.raised,
        "stale": mix(colours.panel, colours.grid, 0.5),
    }


def mix(ground: str, colour: str, share: float) -> str:
    """Return a mix of the colours `ground` and `colour`. `share`: share of `colour`, from 0 to 1."""
    pairs = zip(channels(ground), channels(colour), strict=True)
    return "#" + "".join(f"{round(behind + (before - behind) * share):02x}" for behind, before in pairs)


def channels(colour: str) -> tuple[int, int, int]:
    """Return red, green and blue of a colour `#rrggbb`, each from 0 to 255."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)

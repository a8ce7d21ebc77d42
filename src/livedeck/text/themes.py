"""Names of the themes, for the settings, the flag `--theme` and the palettes of the deck."""

from __future__ import annotations

from typing import Literal, get_args

Theme = Literal["dark", "light", "contrast", "ansi-16", "mono"]

THEME_NAMES: tuple[Theme, ...] = get_args(Theme)

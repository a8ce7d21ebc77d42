"""Colours of the wall in the browser: custom properties for its stylesheet, from the palette. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields

from livedeck.ui.kit.palette import COLOURS, Colours, board_grounds, is_light, mix

TINTS = ("video", "audio", "fps", "critical", "warning", "info")
"""Colours that are mixed for the tones behind initials."""


def page_colours(colours: Colours) -> Mapping[str, str]:
    """Return all custom properties of a theme: its colours, and their mixtures for tiles and cells."""
    light = is_light(colours)
    named = {field.name: getattr(colours, field.name) for field in fields(colours)}
    return {
        **named,
        "edge": colours.frame if colours.panel == colours.ground else colours.panel,
        **{f"{board}-ground": ground for board, ground in board_grounds(colours).items()},
        "warning-bar": mix(colours.panel, colours.warning, 0.06 if light else 0.16),
        **{
            f"tint-{number}": mix(colours.panel, named[name], 0.12 if light else 0.28)
            for number, name in enumerate(TINTS)
        },
    }


def page_stylesheet(theme: str) -> str:
    """Return the stylesheet of colours. `theme`: initial theme; for any other name the browser chooses.

    The attribute `data-theme` of the root element selects another theme.
    """
    rules = {name: _declarations(colours) for name, colours in COLOURS.items()}
    chosen = [f':root[data-theme="{name}"] {{ {rule} }}' for name, rule in rules.items()]
    if theme in rules:
        return "\n".join([f":root {{ {rules[theme]} }}", *chosen, ""])
    by_browser = [
        f":root {{ {rules['dark']} }}",
        f"@media (prefers-color-scheme: light) {{ :root {{ {rules['light']} }} }}",
        f"@media (prefers-contrast: more) {{ :root {{ {rules['contrast']} }} }}",
    ]
    return "\n".join([*by_browser, *chosen, ""])


def _declarations(colours: Colours) -> str:
    properties = [f"--{name}: {value};" for name, value in page_colours(colours).items()]
    scheme, area, shade = ("light", 0.17, 0.14) if is_light(colours) else ("dark", 0.22, 0.24)
    return " ".join([f"color-scheme: {scheme}; --area: {area}; --shade: {shade};", *properties])

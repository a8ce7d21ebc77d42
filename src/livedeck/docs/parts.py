"""Order of the pages in the documentation site and in the README: four parts, each with its pages."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

PARTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "Tutorial": ("tutorial",),
        "How-to": (
            "connect", "wallboard", "collector", "engine", "notifications", "tally", "probe", "simulator", "shows",
            "agents", "scripting", "chat-export",
        ),
        "Reference": (
            "commands", "keys", "settings", "interface", "monitoring", "past", "library", "platform-api", "glossary",
        ),
        "Explanation": ("trust", "architecture", "decisions", "performance"),
        "Project": ("support", "security", "releases", "contributing", "recipes"),
    }
)  # fmt: skip
"""Part -> topics of its pages, in reading order."""

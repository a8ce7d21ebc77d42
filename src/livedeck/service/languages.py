"""The language codes of ISO 639-1 that are in force."""

from __future__ import annotations

from importlib import resources

CODES = frozenset((resources.files("livedeck.service") / "data" / "languages.txt").read_text(encoding="ascii").split())
"""Two lower case letters each."""

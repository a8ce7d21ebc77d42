"""Shell patterns for names, as in the settings of routes and limits."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase


def fits(patterns: Iterable[str], *names: str) -> bool:
    """Return whether one of the shell patterns fits one of the names. Ignores upper and lower case."""
    return any(fnmatchcase(name.casefold(), pattern.casefold()) for pattern in patterns for name in names)

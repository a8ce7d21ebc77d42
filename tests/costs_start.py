"""Most modules and classes that a start may make. A limit is raised with a reason only (performance.md, "Budgets")."""

from __future__ import annotations

MODULES = {
    "--help": 105,
    "--version": 98,
    "event --help": 112,
    "event list --help": 112,
    "help video poster create": 130,
    "config path": 130,
}
"""The words after `livedeck` -> most modules that it imports, beside those of the bare interpreter."""

HEAVY = ("httpx", "pydantic", "sqlite3", "starlette", "structlog", "textual")
"""Packages that neither the help of a command nor `livedeck config path` imports."""

FIRST_FRAME = {"modules": 820, "dataclasses": 155}
"""Most modules beside those of the bare interpreter, and most dataclasses, ours and of others, at the first frame.

A dataclass takes 0.7 ms, so a plain frozen value is a `Record`.
"""

NOT_AT_FIRST_FRAME = (
    "apprise",
    "keyring",
    "livedeck.monitor.history.salvage",
    "livedeck.notify.groups",
    "livedeck.notify.targets",
    "redis",
    "starlette",
    "structlog",
    "uvicorn",
    "xlsxwriter",
)
"""Packages and modules that the first frame does without."""

"""Generated description of every command, read by help, completion and the table of commands.md."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path


def description_file() -> Path:
    """Return the file with purpose, arguments and options of every command, written by `livedeck docs --write`."""
    from pathlib import Path  # the help of `livedeck` starts sooner without it

    return Path(_FILE)


_FILE = __file__.removesuffix("description.py") + "commands.json"


@cache
def purposes() -> Mapping[str, str]:
    """Return the purpose of every command and group by its path, without the root.

    Reads only the start of each line, because a JSON decoder would make the help of `livedeck` slower.
    """
    try:
        with open(_FILE, encoding="utf-8") as lines:  # noqa: PTH123
            starts = [line.split('"', 6) for line in lines if line.startswith('"')]
    except FileNotFoundError:  # before it is generated for the first time
        return {}
    return {path: purpose for _, path, _, _, _, purpose, _ in starts if path}


@cache
def load_description() -> Mapping[str, Mapping[str, Any]]:
    """Return the description of every command by its path, the words after `livedeck`; the root has an empty path."""
    import json

    try:
        described: dict[str, Any] = json.loads(description_file().read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    return described


def children(path: str) -> list[str]:
    """Return the names of the commands and groups directly below that path."""
    prefix = f"{path} " if path else ""
    inner = (name.removeprefix(prefix) for name in purposes() if name.startswith(prefix))
    return [name for name in inner if " " not in name]


def commands_table() -> str:
    """Return a Markdown table of every command with its arguments and its purpose."""
    described = load_description()
    groups = {path.rpartition(" ")[0] for path in described if path}
    rows = [
        f"| `{' '.join([path, *(argument['name'] for argument in facts['arguments'])])}` | {facts['purpose']} |"
        for path, facts in described.items()
        if path not in groups
    ]
    return "\n".join(["| Command | What it does |", "|---|---|", *rows])

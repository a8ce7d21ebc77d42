"""The TOML file: what it says, and on which line it says it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_KEY = re.compile(r"""\s*((?:"[^"]*"|'[^']*'|[^="'#\[])+)=""")


class SettingsError(Exception):
    """A setting that cannot be used: which one, from where, and what to do."""


@dataclass(frozen=True, slots=True)
class Document:
    """The settings file. `text` is empty where there is none."""

    path: Path
    text: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)

    def place(self, keys: Sequence[str | int]) -> str:
        """Where that setting stands, or the nearest thing around it: `config.toml:12`."""
        line = line_of(self.text, keys)
        return f"{self.path}:{line}" if line else str(self.path)


def read(path: Path) -> Document:
    """The file, or an empty document where there is none. Raises SettingsError for what is no TOML."""
    if not path.exists():
        return Document(path)
    try:
        text = path.read_text(encoding="utf-8")
        return Document(path, text, tomllib.loads(text))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(f"{path}: {error}") from None


def line_of(text: str, keys: Sequence[str | int]) -> int | None:
    """The line, from 1, of the longest beginning of `keys` that the TOML text names; None where it names none."""
    found, depth = None, 0
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("["):
            table = here = _path(line)
        elif key := _KEY.match(line):
            here = table + _path(f"{key[1]} = 0")
        else:
            continue
        if len(here) > depth and here == tuple(keys[: len(here)]):
            found, depth = number, len(here)
    return found


def anchored(values: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """A table in which a relative `token_file` is meant from that folder, wherever the command is run."""
    name = values.get("token_file")
    return {**values, **({"token_file": folder / Path(name).expanduser()} if isinstance(name, str) and name else {})}


def _path(line: str) -> tuple[str, ...]:
    """The keys that one line names: `[a."b c"]` and `a."b c" = 0` both give `a`, `b c`."""
    try:
        value: object = tomllib.loads(line)
    except tomllib.TOMLDecodeError:
        return ()
    keys: list[str] = []
    while isinstance(value, dict) and value:
        key, value = next(iter(value.items()))
        keys.append(key)
    return tuple(keys)

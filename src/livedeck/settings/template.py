"""The settings file as `livedeck config init` makes it: every setting with its default and reason, commented out."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, fields, is_dataclass
from pathlib import Path

from pydantic import BaseModel

from livedeck.monitor import Thresholds
from livedeck.settings.model import CadenceSettings, Settings

_NOTE = re.compile(r"^    (\w+): [^=]+ = .*?(?:  # (.*))?$", re.MULTILINE)


_INLINE = 3

"""Numbers that a table may hold to be written on one line."""


_HEAD = """\
# Settings of livedeck. A flag wins over the environment (LIVEDECK_<NAME>), and that over this file.
# What is commented out is the default. `livedeck config validate` checks this file, `livedeck doctor` what it leads to.
"""


_PROFILES = """
# More platforms, each chosen by `--profile NAME`: any of the settings from base_url to timeout.
# [profiles.staging]
# base_url = "https://staging.example"
# token_command = ["pass", "show", "livedeck/staging"]
# read_only = true
"""


_EVENTS = """
# The limits of one event, over those above. It is named by its id: names change.
# [events."4d2c2f2e-6f53-4f0e-9a53-0c4f1e3b7a10".thresholds]
# low_video = 0.5
"""


def template() -> str:
    """The whole file."""
    parts = [
        _HEAD,
        *_plain(),
        "\n# How often the platform is asked.\n[cadence]\n",
        *_described(CadenceSettings),
        "\n# Limits of the alarms. A hold begins after `samples` and `seconds`, and ends `off` s after the fault.\n",
        *_limits(Thresholds(), "thresholds"),
        _EVENTS,
        _PROFILES,
    ]
    return "".join(parts)


def toml(value: object) -> str:
    """A value as TOML writes it."""
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(str(key))} = {toml(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(toml, value)) + "]"
    if isinstance(value, Path):
        value = str(value)
    return json.dumps(value, ensure_ascii=False)


def _key(name: str) -> str:
    return name if re.fullmatch(r"[\w-]+", name, re.ASCII) else json.dumps(name, ensure_ascii=False)


def _plain() -> Iterator[str]:
    """The settings that stand before any table."""
    for name, field in Settings.model_fields.items():
        if name != "token" and not isinstance(field.default, dict | BaseModel):
            yield f"\n# {field.description}\n# {name} = {toml('' if field.default is None else field.default)}\n"


def _described(model: type[BaseModel]) -> Iterator[str]:
    for name, field in model.model_fields.items():
        yield f"# {name} = {toml(field.default)}  # {field.description}\n"


def _limits(table: object, path: str) -> Iterator[str]:
    """A table of limits as it stands in the code, with what is said of each there: unit and reason."""
    notes, own = dict(_NOTE.findall(inspect.getsource(type(table)))), []
    yield f"[{path}]\n"
    for field in fields(table):  # type: ignore[arg-type]
        value, note = getattr(table, field.name), notes.get(field.name, "")
        if is_dataclass(value) and len(fields(value)) > _INLINE:
            own.append((value, f"{path}.{field.name}"))
        else:
            yield f"# {field.name} = {toml(value)}{f'  # {note}' if note else ''}\n"
    for value, place in own:
        yield "\n"
        yield from _limits(value, place)

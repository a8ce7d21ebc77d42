"""What is derived from the settings model: the file that `livedeck config init` writes, and the table of the docs."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, fields, is_dataclass
from datetime import datetime
from pathlib import Path
from typing import get_args

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from livedeck.environment import PREFIX
from livedeck.monitor import Thresholds
from livedeck.settings.model import CadenceSettings, Settings, is_structured

_COMMENT = re.compile(r"^    (\w+): [^=]+ = .*?(?:  # (.*))?$", re.MULTILINE)

MAX_INLINE = 3
"""So many numbers a table may hold to be written on one line."""

_HEAD = """\
# Settings of livedeck. A flag wins over the environment (LIVEDECK_<NAME>), and that over this file.
# What is commented out is the default. `livedeck config check` checks this file, `livedeck doctor` what it leads to.
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

_NOTIFY = """
# Who is told of alarms by `livedeck collector run`; `livedeck docs notifications` says how. Addresses are secrets:
# a program prints them, or a file that nobody else can read holds them.
# [notify]
# timezone = "Europe/Berlin"
# heartbeat_command = ["pass", "show", "livedeck/heartbeat"]
# allow_private = ["localhost", "10.1.0.0/16", "ntfy.studio.lan"]  # receivers that are not public
# [notify.targets.ops]
# webhook_command = ["pass", "show", "livedeck/ops"]
# [[notify.routes]]
# to = "ops"
# severity = "warning"
"""

_COLLECT = """
# To whom `livedeck collector run` serves what it knows; `livedeck docs collector` says how.
# `livedeck collector token create NAME` makes a token and writes its digest here; `token rotate NAME` replaces it.
# [collect]
# listen = "127.0.0.1:8710"
# behind_proxy = false
# allowed_hosts = ["collector.example"]
"""

_ENGINE = """
# Several collectors of one workspace share what they ask through Redis; `livedeck docs engine` says how.
# [engine]
# redis_url_command = ["pass", "show", "livedeck/redis"]
# name = "north"
"""

_TABLES = {"profiles": "[profiles.NAME]", "events": '[events."ID".thresholds]'}
"""Settings whose TOML table has a name of the user's own in its heading."""


def settings_table(flags: Collection[str]) -> str:
    """Every setting as a row of a Markdown table. `flags`: names of those that a flag sets, too."""
    rows = ["| TOML | environment | flag | meaning |", "|---|---|---|---|"]
    for name, field in Settings.model_fields.items():
        key = _TABLES.get(name, f"[{name}]" if isinstance(field.default, dict | BaseModel) else name)
        in_toml = "-" if name == "token" else f"`{key}`"
        variable = f"`{PREFIX}{name.upper()}`{' (JSON)' if is_structured(field) else ''}"
        flag = f"`--{name.replace('_', '-')}`" if name in flags else "-"
        rows.append(f"| {in_toml} | {variable} | {flag} | {_meaning(field)} |")
    return "\n".join(rows)


def _meaning(field: FieldInfo) -> str:
    """The description, with the values that are allowed and the default where it is more than empty or off."""
    text = str(field.description).replace("|", "\\|")
    default = field.default
    if isinstance(default, BaseModel):
        return f"{text}: {', '.join(f'`{name}`' for name in type(default).model_fields)}"
    choices = [choice for choice in get_args(field.annotation) if isinstance(choice, str)]
    if choices:
        text += f"; one of {', '.join(f'`{choice}`' for choice in choices)}"
    if not default or not isinstance(default, str | int | float):
        return text
    return f"{text} (default `{default if isinstance(default, str) else format(default, 'g')}`)"


def template() -> str:
    """The whole settings file, every setting with its default and reason, commented out."""
    parts = [
        _HEAD,
        *_top_level(),
        "\n# How often the platform is asked.\n[cadence]\n",
        *_fields(CadenceSettings),
        "\n# Limits of the alarms. A hold begins after `samples` and `seconds`, and ends `off` s after the fault.\n",
        *_limits(Thresholds(), "thresholds"),
        _EVENTS,
        _NOTIFY,
        _COLLECT,
        _ENGINE,
        _PROFILES,
    ]
    return "".join(parts)


def toml(value: object) -> str:
    """A value as TOML writes it."""
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(str(key))} = {toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(toml, value)) + "]"
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Path):
        value = str(value)
    return json.dumps(value, ensure_ascii=False)


def _key(name: str) -> str:
    return name if re.fullmatch(r"[\w-]+", name, re.ASCII) else json.dumps(name, ensure_ascii=False)


def _top_level() -> Iterator[str]:
    """The settings that stand before any table."""
    for name, field in Settings.model_fields.items():
        if name != "token" and not isinstance(field.default, dict | BaseModel):
            default = "" if field.default is None else field.default
            yield f"\n# {field.description}\n# {name} = {toml(default)}\n"


def _fields(model: type[BaseModel]) -> Iterator[str]:
    for name, field in model.model_fields.items():
        yield f"# {name} = {toml(field.default)}  # {field.description}\n"


def _limits(table: object, path: str) -> Iterator[str]:
    """A table of limits as it stands in the code, with the comment of each there: unit and reason."""
    comments, tables = dict(_COMMENT.findall(inspect.getsource(type(table)))), []
    yield f"[{path}]\n"
    for field in fields(table):  # type: ignore[arg-type]
        value, comment = getattr(table, field.name), comments.get(field.name, "")
        if is_dataclass(value) and len(fields(value)) > MAX_INLINE:
            tables.append((value, f"{path}.{field.name}"))
        else:
            yield f"# {field.name} = {toml(value)}{f'  # {comment}' if comment else ''}\n"
    for value, inner_path in tables:
        yield "\n"
        yield from _limits(value, inner_path)

"""Settings file of `livedeck config init` and tables of the documentation, made from the settings model."""

from __future__ import annotations

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
from livedeck.monitor import AlarmLimits, Thresholds, limits_of
from livedeck.notify import OPTIONS, TARGETS
from livedeck.settings.model import ADDRESS_SOURCES, CadenceSettings, Settings, is_structured

_HEAD = """\
# Settings of livedeck. A flag wins over the environment (LIVEDECK_<NAME>), and the environment over this file.
# Commented lines show the defaults. `livedeck config check` checks this file; `livedeck doctor` checks the whole
# set-up.
"""

_PROFILES = """
# More platforms. Choose one with `--profile NAME`. A profile can hold any setting from base_url to collector_fallback.
# [profiles.staging]
# base_url = "https://staging.example"
# token_command = ["pass", "show", "livedeck/staging"]
# read_only = true
"""

_EVENTS = """
# Content and limits of the events whose name or project fits shell patterns. They win over the limits above.
# [[limits]]
# events = ["Radio *"]
# content = "radio"  # show, radio, silent, slides, share or camera
# thresholds = { low_audio = 0.5 }

# Content and limits of one event, by its id. They win over both.
# [events."4d2c2f2e-6f53-4f0e-9a53-0c4f1e3b7a10"]
# content = "slides"  # show, radio, silent, slides, share or camera
# playlist = "https://cdn.example/live/gala/master.m3u8"  # for the probe; or "off"
# [events."4d2c2f2e-6f53-4f0e-9a53-0c4f1e3b7a10".thresholds]
# low_video = 0.5
"""

_VIEWS = """
# Arrangements of the Events table, chosen by `:view NAME` or a key; see `livedeck docs interface`.
# [views.live]
# filter = "tally:air"
# sort = "health"  # "-health": descending
# columns = ["tally", "event", "health", "recent"]
# group = "project"
"""

_MAINTENANCE = """
# Hours of the week in which some alarms neither ring nor notify anybody; see `livedeck docs monitoring`.
# [[maintenance]]
# name = "encoder updates"
# hours = "Mo-Fr 03:00-04:00"
# timezone = "Europe/Berlin"
# match = ["name ~ Studio *"]
# comment = "encoders restart after updates"
"""

_NOTIFY = """
# Notifications of `livedeck collector run`; see `livedeck docs notifications`. An address is a secret: name a program
# that prints it, or a file that only you can read.
# [notify]
# timezone = "Europe/Berlin"
# heartbeat_command = ["pass", "show", "livedeck/heartbeat"]
# allow_private = ["localhost", "10.1.0.0/16", "ntfy.studio.lan"]  # private receivers
# [notify.targets.ops]  # one of {sources}
# webhook_command = ["pass", "show", "livedeck/ops"]
# [notify.targets.chat]  # options of some types: {options}
# type = "slack"  # one of {types}
# slack_command = ["pass", "show", "livedeck/slack"]
# channel = "C0123ABCD"
# [[notify.routes]]
# to = "ops"
# severity = "warning"
"""

_COLLECTOR = """
# Access to the collector; see `livedeck docs collector`. `livedeck collector token create NAME` makes a token and
# writes its digest here; `livedeck collector token rotate NAME` replaces it.
# [collector]
# listen = "127.0.0.1:8710"
# behind_proxy = false
# allowed_hosts = ["collector.example"]
"""

_PROBE = """
# Probe of the playlists that viewers get. `livedeck probe --enable` shows its traffic, asks, and switches it on.
# See `livedeck docs probe`.
# [probe]
# playlist = "https://cdn.example/live/{event_id}/master.m3u8"
# interval = 10
# budget_kbit = 2000
"""

_TALLY = """
# Tally for multiviewers and switchers, as TSL UMD 3.1 or 5.0; see `livedeck docs tally`.
# [tally.targets.multiviewer]
# address = "10.0.8.20:8900"      # a private address also needs allow_private of [notify]
# version = "5.0"
# displays = { "4d2c2f2e-0b5a-4f0e-9d53-0b8f6c1c1a11" = 1 }
"""

_OTLP = """
# The collector pushes its metrics by OTLP; needs `pip install '.[otlp]'`. See `livedeck docs scripting`.
# [otlp]
# endpoint = "http://127.0.0.1:4318"
# token_file = "/home/me/.config/livedeck/otlp.token"
"""

_ENGINE = """
# Several collectors of a workspace share their polls through Redis; see `livedeck docs engine`.
# [engine]
# redis_url_command = ["pass", "show", "livedeck/redis"]
# name = "north"
"""

_TABLES = {
    "profiles": "[profiles.NAME]",
    "events": '[events."ID"]',
    "limits": "[[limits]]",
    "views": "[views.NAME]",
    "maintenance": "[[maintenance]]",
}
"""Setting -> heading of its TOML tables. The user replaces the word in capitals."""


def settings_table(flags: Collection[str]) -> str:
    """Return a Markdown table with a row for every setting. `flags`: names of the settings that have a flag."""
    rows = ["| TOML | environment | flag | meaning |", "|---|---|---|---|"]
    for name, field in Settings.model_fields.items():
        key = _TABLES.get(name, f"[{name}]" if isinstance(field.default, dict | BaseModel) else name)
        in_toml = "-" if name == "token" else f"`{key}`"
        variable = f"`{PREFIX}{name.upper()}`{' (JSON)' if is_structured(field) else ''}"
        flag = f"`--{name.replace('_', '-')}`" if name in flags else "-"
        rows.append(f"| {in_toml} | {variable} | {flag} | {_meaning(field)} |")
        rows += _inner_rows(name, field)
    return "\n".join(rows)


def _inner_rows(name: str, field: FieldInfo) -> Iterator[str]:
    """Yield a row for each inner table that the user names, such as `[notify.targets.NAME]`."""
    inner = type(field.default).model_fields if isinstance(field.default, BaseModel) else {}
    for part, value in inner.items():
        models = [kind for kind in get_args(value.annotation) if isinstance(kind, type) and issubclass(kind, BaseModel)]
        for model in models:
            heading = f"[[{name}.{part}]]" if isinstance(value.default, tuple) else f"[{name}.{part}.NAME]"
            names = ", ".join(f"`{key}`" for key in model.model_fields)
            yield f"| `{heading}` | - | - | {value.description}: {names} |"


def _meaning(field: FieldInfo) -> str:
    """Return the description of a setting with its allowed values and its default.

    Omits a default that is empty or off.
    """
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
    """Return a whole settings file. Every setting is commented out, with its default and description."""
    parts = [
        _HEAD,
        *_top_level(),
        "\n# Seconds between polls of the platform.\n[cadence]\n",
        *_fields(CadenceSettings),
        "\n# Limits of the alarms. `samples` and `seconds` raise an alarm; `off` good seconds clear it.\n",
        *_limits(Thresholds(), "thresholds"),
        _EVENTS,
        _VIEWS,
        _MAINTENANCE,
        _NOTIFY.format(sources=", ".join(ADDRESS_SOURCES), types=", ".join(TARGETS), options=", ".join(OPTIONS)),
        _COLLECTOR,
        _PROBE,
        _TALLY,
        _OTLP,
        _ENGINE,
        _PROFILES,
    ]
    return "".join(parts)


def toml(value: object) -> str:
    """Return a value as TOML."""
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if isinstance(value, BaseModel):
        value = value.model_dump(mode="json", exclude_none=True)
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
    """Yield the lines of the settings outside tables, commented out."""
    for name, field in Settings.model_fields.items():
        if name != "token" and not isinstance(field.default, dict | BaseModel):
            default = "" if field.default is None else field.default
            yield f"\n# {field.description}\n# {name} = {toml(default)}\n"


def _fields(model: type[BaseModel]) -> Iterator[str]:
    for name, field in model.model_fields.items():
        yield f"# {name} = {toml(field.default)}  # {field.description}\n"


def _limits(table: object, path: str) -> Iterator[str]:
    """Yield a table of limits, each with its unit and its reason in a comment."""
    tables, limits = [], limits_of(type(table))
    yield f"[{path}]\n"
    for field in fields(table):  # type: ignore[arg-type]
        value = getattr(table, field.name)
        if isinstance(value, AlarmLimits):
            tables.append((value, f"{path}.{field.name}"))
        else:
            yield f"# {field.name} = {toml(value)}  # {limits[field.name].unit}; {limits[field.name].reason}\n"
    for value, inner_path in tables:
        yield "\n"
        yield from _limits(value, inner_path)


def limits_table() -> str:
    """Return a Markdown table with a row for every limit: name, default, unit and reason."""
    rows = ["| limit | default | unit | reason |", "|---|---|---|---|"]
    return "\n".join([*rows, *_limit_rows(Thresholds())])


def _limit_rows(table: object, prefix: str = "") -> Iterator[str]:
    limits = limits_of(type(table))
    for field in fields(table):  # type: ignore[arg-type]
        value = getattr(table, field.name)
        if isinstance(value, AlarmLimits):
            yield from _limit_rows(value, f"{prefix}{field.name}.")
        else:
            unit, reason = limits[field.name]
            yield f"| `{prefix}{field.name}` | `{toml(value)}` | {unit} | {reason} |"

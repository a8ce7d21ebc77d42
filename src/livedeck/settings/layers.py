"""Flags over environment over file: which origin says what, and who wins."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_settings import EnvSettingsSource
from pydantic_settings import SettingsError as UnreadableVariable

from livedeck.machine import PREFIX, config_path, variables
from livedeck.settings.document import Document, SettingsError, anchored, line_of, read
from livedeck.settings.model import TOKEN_SOURCES, DisplaySettings, PlatformSettings, Settings

S = TypeVar("S", bound=DisplaySettings)

DEFAULT = "default"
_NO_SETTINGS = frozenset({f"{PREFIX}CONFIG"})


@dataclass(frozen=True, slots=True)
class Layer:
    """One origin: what it says, and where it says it (`--read-only`, `LIVEDECK_READ_ONLY`, `config.toml:3`)."""

    values: Mapping[str, Any]
    place: Callable[[tuple[str | int, ...]], str]
    top_of_file: bool = False
    is_profile: bool = False


@dataclass(frozen=True, slots=True)
class Loaded:
    """The settings in force; `origins`: name -> where its value came from. What is not named there is the default."""

    settings: Settings
    origins: Mapping[str, str]
    document: Document


def load(**flags: Any) -> Settings:
    """The settings in force. A flag that is None was not given. Raises SettingsError."""
    return loaded(**flags).settings


def loaded(**flags: Any) -> Loaded:
    """The settings in force, and where each came from. A flag that is None was not given. Raises SettingsError."""
    document = _document()
    layers = _layers({name: value for name, value in flags.items() if value is not None}, document)
    values, said = _merged(layers)
    return Loaded(_made(Settings, values, said), {name: layer.place((name,)) for name, layer in said.items()}, document)


def displayed(**flags: Any) -> DisplaySettings:
    """The display settings in force, whatever the others say. Raises SettingsError."""
    document, names = read(config_path()), DisplaySettings.model_fields
    top = Layer({name: value for name, value in document.values.items() if name in names}, document.place)
    given = {name: value for name, value in flags.items() if name in names and value is not None}
    values, said = _merged((_by_flag(given), _by_environment(DisplaySettings), top))
    return _made(DisplaySettings, values, said)


def _made(kind: type[S], values: Mapping[str, Any], said: Mapping[str, Layer]) -> S:
    try:
        return kind(**values)
    except ValidationError as error:
        faults = [_fault(one, said) for one in error.errors(include_input=False, include_url=False)]
    raise SettingsError("\n".join(faults))


def key_place(name: str) -> str:
    """Where that action stands in `[keys]`, by its line: the name of an action may be quoted or dotted there."""
    document = _document()
    lines = [line_of(document.text, ("keys", *parts)) for parts in ((name,), name.split("."))]
    line = max((line for line in lines if line), default=None)
    return f"{document.path}:{line}" if line else f"{PREFIX}KEYS"


def strangers() -> tuple[str, ...]:
    """Variables that look like ours and are none of the settings."""
    known = {f"{PREFIX}{name}".upper() for name in Settings.model_fields} | _NO_SETTINGS
    return tuple(sorted(name for name in variables() if name.upper() not in known))


def _document() -> Document:
    path = config_path()
    if not path.exists() and f"{PREFIX}CONFIG" in variables():
        raise SettingsError(f"{PREFIX}CONFIG names {path}, and there is no such file; `livedeck config init` makes it")
    document = read(path)
    for keys in (("token",), *(("profiles", name, "token") for name in _tables(document))):
        if _has(document.values, keys):
            place = document.place(keys)
            raise SettingsError(
                f"{place}: a token in clear is not read from here; use token_file, token_command or {PREFIX}TOKEN"
            )
    return document


def _tables(document: Document) -> Mapping[str, Any]:
    """The profiles by name."""
    tables = document.values.get("profiles")
    return tables if isinstance(tables, dict) else {}


def _has(values: object, keys: Iterable[str]) -> bool:
    for key in keys:
        if not isinstance(values, dict) or key not in values:
            return False
        values = values[key]
    return True


def _layers(flags: dict[str, Any], document: Document) -> tuple[Layer, ...]:
    """Strongest first. A profile that a flag names goes before the environment: who says staging means staging."""
    by_flag, environment = _by_flag(flags), _by_environment(Settings)
    top = Layer(anchored(document.values, document.path.parent), document.place, top_of_file=True)
    chosen = next((layer for layer in (by_flag, environment, top) if "profile" in layer.values), None)
    if chosen is None or not (name := str(chosen.values["profile"])):
        return by_flag, environment, top
    profile = _profile(name, chosen, document)
    return (by_flag, profile, environment, top) if chosen is by_flag else (by_flag, environment, profile, top)


def _profile(name: str, chosen: Layer, document: Document) -> Layer:
    known = _tables(document)
    if name not in known and name != DEFAULT:
        names = ", ".join(sorted(known)) or "none is there yet"
        place = chosen.place(("profile",))
        raise SettingsError(f"profile ({place}): {document.path} has no [profiles.{name}]; known: {names}")
    table = known.get(name, {})
    values = anchored(table, document.path.parent) if isinstance(table, dict) else {}
    return Layer(values, lambda keys: document.place(("profiles", name, *keys)), is_profile=True)


def _by_flag(flags: Mapping[str, Any]) -> Layer:
    return Layer(flags, lambda keys: f"--{str(keys[0]).replace('_', '-')}")


def _by_environment(kind: type[DisplaySettings]) -> Layer:
    """What the variables say of the settings of that kind."""
    try:
        values = EnvSettingsSource(kind, env_ignore_empty=True)()
    except UnreadableVariable as error:
        name = next((name for name in Settings.model_fields if f'"{name}"' in str(error)), "")
        raise SettingsError(
            f"{PREFIX}{name.upper()}: should be JSON, as the table or list that it stands for"
        ) from None
    return Layer(values, lambda keys: f"{PREFIX}{keys[0]}".upper())


def _merged(layers: Iterable[Layer]) -> tuple[dict[str, Any], dict[str, Layer]]:
    """Every setting by its strongest origin; and the addresses and the token of one platform stay together."""
    values: dict[str, Any] = {}
    said: dict[str, Layer] = {}
    for layer in layers:
        closed = {*values, *_closed(layer, values, said)}
        taken = {name: value for name, value in layer.values.items() if name not in closed}
        values |= taken
        said |= dict.fromkeys(taken, layer)
    return values, said


def _closed(layer: Layer, values: Mapping[str, Any], said: Mapping[str, Layer]) -> Iterable[str]:
    """What this layer has no say in any more, though nobody set it: no token may reach another platform by accident."""
    if any(values.get(name) for name in TOKEN_SOURCES):
        yield from TOKEN_SOURCES
    if values.get("base_url"):
        yield "upload_url"
        if layer.top_of_file and said["base_url"].is_profile:
            yield from TOKEN_SOURCES


def _fault(error: Mapping[str, Any], said: Mapping[str, Layer]) -> str:
    keys = tuple(error["loc"])
    text = str(error["msg"]).removeprefix("Value error, ")
    if not keys:
        return text
    if error["type"] == "extra_forbidden":
        text = _unknown(keys)
    layer = said.get(str(keys[0]))
    place = layer.place(_narrowed(keys, text)) if layer else DEFAULT
    return f"{'.'.join(map(str, keys))} ({place}): {text}"


def _narrowed(keys: tuple[str | int, ...], text: str) -> tuple[str | int, ...]:
    """Limits are checked as a whole; the words of their fault begin with the path of the key."""
    if "thresholds" not in keys:
        return keys
    return (*keys, *text.partition(" ")[0].rstrip(":").split("."))


def _unknown(keys: tuple[str | int, ...]) -> str:
    """What is said of a name that is none: the nearest ones, or all."""
    allowed = sorted(_names(Settings, keys[:-1]))
    near = get_close_matches(str(keys[-1]), allowed, n=2)
    if near:
        return f"no such setting; did you mean {' or '.join(near)}?"
    return f"no such setting; allowed: {', '.join(allowed)}"


def _names(model: type[BaseModel], keys: tuple[str | int, ...]) -> set[str]:
    """The names that may stand in the table at `keys`."""
    inner: dict[str, type[BaseModel]] = {"profiles": PlatformSettings}
    if not keys:
        return set(model.model_fields) - {"token"}
    if str(keys[0]) in inner:
        return set(inner[str(keys[0])].model_fields)
    default = model.model_fields[str(keys[0])].default
    return set(type(default).model_fields) if isinstance(default, BaseModel) else {"thresholds"}

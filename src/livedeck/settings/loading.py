"""The TOML file: what it says, and on which line it says it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_settings import EnvSettingsSource
from pydantic_settings import SettingsError as UnreadableVariable

from livedeck.environment import PREFIX, config_path, variables
from livedeck.settings.model import TOKEN_SOURCES, DisplaySettings, PlatformSettings, Settings

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


def resolve_path(values: Mapping[str, Any], folder: Path) -> dict[str, Any]:
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


def key_location(name: str) -> str:
    """Where that action stands in `[keys]`, by its line: the name of an action may be quoted or dotted there."""
    document = _document()
    lines = [line_of(document.text, ("keys", *parts)) for parts in ((name,), name.split("."))]
    line = max((line for line in lines if line), default=None)
    return f"{document.path}:{line}" if line else f"{PREFIX}KEYS"


def unknown_keys() -> tuple[str, ...]:
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
    top = Layer(resolve_path(document.values, document.path.parent), document.place, top_of_file=True)
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
    values = resolve_path(table, document.path.parent) if isinstance(table, dict) else {}
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

"""Loading of settings: flags win over the environment, and the environment over TOML. Each value keeps its origin."""

from __future__ import annotations

import json
import re
import stat
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from errno import EINVAL, EISDIR, ENXIO
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from msgspec import field
from pydantic import BaseModel, ValidationError

from livedeck.atomic_file import owner_fault, read_regular
from livedeck.environment import PREFIX, SettingsError, config_path, expand_user, variables
from livedeck.record import Record
from livedeck.settings.model import (
    COLLECTOR_TOKEN_SOURCES,
    TOKEN_SOURCES,
    CollectorTokenSettings,
    DisplaySettings,
    EventSettings,
    LimitSettings,
    LimitTemplateSettings,
    MaintenanceSettings,
    PlatformSettings,
    RouteSettings,
    Settings,
    SharingSettings,
    TargetSettings,
    is_structured,
)

Model = TypeVar("Model", bound=BaseModel)


# The TOML file


_KEY = re.compile(r"""\s*((?:"[^"]*"|'[^']*'|[^="'#\[])+)=""")


_PATHS = ("token_file", "ca_file", "client_cert", "collector_token_file")


class Document(Record):
    """Settings file. `text` is empty if the file does not exist."""

    path: Path
    text: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)
    is_there: bool = True

    def location(self, keys: Sequence[str | int]) -> str:
        """Return file and line of a setting, or of the nearest table around it: `config.toml:12`."""
        line = line_of(self.text, keys)
        return f"{self.path}:{line}" if line else str(self.path)

    def profiles(self) -> Mapping[str, Any]:
        """Return the tables of `[profiles]` by name."""
        tables = self.values.get("profiles")
        return tables if isinstance(tables, dict) else {}

    def resolve_paths(self, table: object) -> dict[str, Any]:
        """Return a table of the file with relative paths resolved against the file's folder."""
        values = dict(table) if isinstance(table, dict) else {}
        for name in _PATHS:
            if values.get(name) and isinstance(values[name], str):
                values[name] = self.path.parent / expand_user(values[name])
        return values


def read_document(path: Path) -> Document:
    """Read the settings file; return an empty document if it does not exist. Raises SettingsError for invalid TOML."""
    text = _read_text(path)
    return Document(path, is_there=False) if text is None else parsed_document(path, text)


def parsed_document(path: Path, text: str) -> Document:
    """Parse the text of a settings file. Raises SettingsError for invalid TOML."""
    try:
        values = tomllib.loads(text)
    except RecursionError:
        raise SettingsError(f"{path}: {_TOO_DEEP}") from None
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(_describe_syntax(path, text, str(error))) from None
    for name, value in values.items():
        if _is_too_deep(value):
            raise SettingsError(f"{Document(path, text).location((name,))}: {name}: {_TOO_DEEP}")
    return Document(path, text, values)


MAX_BYTES = 2**20
"""Maximum size of a settings file in bytes. A file with every setting has 20,000."""


def _read_text(path: Path) -> str | None:
    """Return the text of the settings file; None if it does not exist.

    Raises SettingsError if another user may write the file, because the file decides where the token is sent and which
    programs run.
    """
    try:
        content, status = read_regular(path, MAX_BYTES)
    except FileNotFoundError:
        if path.is_symlink():
            raise SettingsError(f"{path}: broken link; repair or remove it") from None
        return None
    except OSError as error:
        is_other = error.errno in {EINVAL, EISDIR, ENXIO}
        reason = "not a regular file; name a regular file" if is_other else f"{error.strerror}; let this user read it"
        raise SettingsError(f"{path}: {reason}") from None
    if reason := owner_fault(path, status, forbidden=stat.S_IWGRP | stat.S_IWOTH):
        raise SettingsError(f"{path}: {reason}")
    if len(content) > MAX_BYTES:
        raise SettingsError(
            f"{path}: larger than {MAX_BYTES >> 20} MiB, which is too large for settings; name another file"
        )
    try:
        return content.decode("utf-8-sig")  # some editors begin a file with a byte order mark
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise SettingsError(f"{path}:{line}: not UTF-8; save the file as UTF-8") from None


_SYNTAX = re.compile(r"(?P<reason>.*?) \(at (?:line (?P<line>\d+), column \d+|end of document)\)")


def _describe_syntax(path: Path, text: str, fault: str) -> str:
    """Return the TOML parser's message with line and key. The value may be a token, so the message omits the value."""
    found = _SYNTAX.fullmatch(fault)
    lines = text.rstrip().split("\n")
    number = int(found["line"] or len(lines)) if found else len(lines)
    key = _KEY.match(lines[number - 1]) if number <= len(lines) else None
    reason = found["reason"] if found else fault
    if reason.startswith(("Cannot overwrite", "Cannot declare", "Cannot mutate", "Duplicate")):
        advice = "set twice; remove one of them"
    else:
        advice = f"invalid TOML ({reason}); correct the line, or put a # before it"
    return f"{path}:{number}: {f'{key[1].strip()}: ' if key else ''}{advice}"


MAX_DEPTH = 32
"""Maximum depth of nested tables and lists. No setting needs a depth of five."""

_TOO_DEEP = f"tables and lists are nested more than {MAX_DEPTH} deep; no setting needs that"


def _is_too_deep(value: object) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH):
        tables = [item for item in level if isinstance(item, dict | list)]
        level = [inner for item in tables for inner in (item.values() if isinstance(item, dict) else item)]
    return bool(level)


def line_of(text: str, keys: Sequence[str | int]) -> int | None:
    """Return the number (from 1) of the line that sets `keys` in the TOML text.

    Without such a line, returns the line of the nearest table around `keys`, or else None. The key of a table in an
    array (`[[notify.routes]]`) is its index.
    """
    nearest, depth = None, 0
    table: tuple[str | int, ...] = ()
    path: tuple[str | int, ...]
    lengths: Counter[tuple[str, ...]] = Counter()
    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith("[["):
            array = _keys_of_line(line)
            table = path = (*array, lengths[array])
            lengths[array] += 1
        elif line.lstrip().startswith("["):
            table = path = _keys_of_line(line)
        elif key := _KEY.match(line):
            path = table + _keys_of_line(f"{key[1]} = 0")
        else:
            continue
        if len(path) > depth and path == tuple(keys[: len(path)]):
            nearest, depth = number, len(path)
    return nearest


def _keys_of_line(line: str) -> tuple[str, ...]:
    """Return the keys in a line of TOML: `a` and `b c` for `[a."b c"]` and for `a."b c" = 0`."""
    try:
        value: object = tomllib.loads(line)
    except tomllib.TOMLDecodeError:
        return ()
    keys: list[str] = []
    while isinstance(value, dict) and value:
        key, value = next(iter(value.items()))
        keys.append(key)
    return tuple(keys)


def _configured_document() -> Document:
    """Return the settings file in force. Raises SettingsError if the named file is missing or holds a token."""
    path = config_path()
    document = read_document(path)
    if not document.is_there and f"{PREFIX}CONFIG" in variables():
        raise SettingsError(f"{PREFIX}CONFIG names {path}, which does not exist; create it with `livedeck config init`")
    tables = {(): document.values} | {("profiles", name): table for name, table in document.profiles().items()}
    for keys, table in tables.items():
        if isinstance(table, Mapping) and "token" in table:
            raise SettingsError(
                f"{document.location((*keys, 'token'))}: a token is never read from this file; "
                f"use token_file, token_command or {PREFIX}TOKEN"
            )
    return document


# Layers


DEFAULT = "default"


class Layer(Record):
    """Settings of one origin, with the location of each (`--read-only`, `LIVEDECK_READ_ONLY`, `config.toml:3`)."""

    values: Mapping[str, Any]
    location: Callable[[tuple[str | int, ...]], str]
    is_top_of_file: bool = False
    is_profile: bool = False


class LoadedSettings(Record):
    """Settings in force. `origins`: setting -> location of its value; a setting without one has its default."""

    settings: Settings
    origins: Mapping[str, str]
    document: Document


def load(**flags: Any) -> Settings:
    """Return the settings in force. A flag with the value None counts as not given. Raises SettingsError."""
    return load_with_origins(**flags).settings


def load_with_origins(**flags: Any) -> LoadedSettings:
    """Return the settings in force with their origins. A flag with the value None counts as not given.

    Raises SettingsError.
    """
    document = _configured_document()
    layers = _layers({name: value for name, value in flags.items() if value is not None}, document)
    values, origins = _merge(layers)
    withheld_reason = _merge_token(layers, values, origins)
    _merge_collector_token(layers, values, origins)
    settings = _validate(Settings, values, origins).withholding_token(withheld_reason)
    return LoadedSettings(settings, {name: layer.location((name,)) for name, layer in origins.items()}, document)


def check_document(document: Document) -> None:
    """Check the settings of a file without flags and environment variables. Raises SettingsError."""
    in_file = Layer(document.values, document.location)
    _validate(Settings, document.values, dict.fromkeys(document.values, in_file))


def load_display(**flags: Any) -> DisplaySettings:
    """Return the display settings in force. Ignores faults of other settings. Raises SettingsError."""
    document, names = read_document(config_path()), DisplaySettings.model_fields
    in_file = Layer({name: value for name, value in document.values.items() if name in names}, document.location)
    chosen = {name: value for name, value in flags.items() if name in names and value is not None}
    values, origins = _merge((_flag_layer(chosen), _environment_layer(DisplaySettings), in_file))
    return _validate(DisplaySettings, values, origins)


def load_limits() -> LimitSettings:
    """Return the limits in force. Ignores faults of other settings. Raises SettingsError."""
    return _load_part(LimitSettings)


def load_sharing() -> SharingSettings:
    """Return the settings of the collector in force. Ignores faults of other settings. Raises SettingsError."""
    return _load_part(SharingSettings)


def _load_part(model: type[Model]) -> Model:
    document, names = read_document(config_path()), model.model_fields
    in_file = Layer({name: value for name, value in document.values.items() if name in names}, document.location)
    values, origins = _merge((_environment_layer(model), in_file))
    return _validate(model, values, origins)


def key_location(name: str) -> str:
    """Return file and line of an action in `[keys]`. The file may quote the name of the action or write it dotted."""
    document = _configured_document()
    lines = [line_of(document.text, ("keys", *parts)) for parts in ((name,), name.split("."))]
    line = max((line for line in lines if line), default=None)
    return f"{document.path}:{line}" if line else f"{PREFIX}KEYS"


def setting_location(keys: Sequence[str]) -> str:
    """Return file and line of a setting by its keys: `("thresholds", "low_video")`, `("limits", "0", "content")`."""
    table, *rest = keys
    is_array = table == "limits" and rest
    return _configured_document().location((table, int(rest[0]), *rest[1:]) if is_array else keys)


def unknown_variables() -> tuple[str, ...]:
    """Return the names of environment variables that begin with `LIVEDECK_` and are not settings."""
    names = {f"{PREFIX}{name}".upper() for name in ("config", "control_token", *Settings.model_fields)}
    return tuple(sorted(name for name in variables() if name.upper() not in names))


def _layers(flags: dict[str, Any], document: Document) -> tuple[Layer, ...]:
    """Return the layers, strongest first. A profile wins over the environment if a flag names the profile."""
    by_flag, environment = _flag_layer(flags), _environment_layer(Settings)
    in_file = Layer(document.resolve_paths(document.values), document.location, is_top_of_file=True)
    naming = next((layer for layer in (by_flag, environment, in_file) if "profile" in layer.values), None)
    if naming is None or not (name := str(naming.values["profile"])):
        return by_flag, environment, in_file
    profile = _profile_layer(name, naming, document)
    return (by_flag, profile, environment, in_file) if naming is by_flag else (by_flag, environment, profile, in_file)


def _flag_layer(flags: Mapping[str, Any]) -> Layer:
    return Layer(flags, lambda keys: f"--{str(keys[0]).replace('_', '-')}")


def _environment_layer(model: type[BaseModel]) -> Layer:
    """Return the layer of the environment variables that set fields of the model. Ignores empty variables."""
    texts = {name.upper(): text for name, text in variables().items() if text}
    values: dict[str, Any] = {}
    for name, setting in model.model_fields.items():
        variable = f"{PREFIX}{name}".upper()
        if variable in texts and is_structured(setting):
            try:
                values[name] = json.loads(texts[variable])
            except RecursionError:
                raise SettingsError(f"{variable}: {_TOO_DEEP}") from None
            except ValueError:
                raise SettingsError(f"{variable}: should be a table or list, written as JSON") from None
            if _is_too_deep(values[name]):
                raise SettingsError(f"{variable}: {_TOO_DEEP}")
        elif variable in texts:
            values[name] = texts[variable]
    return Layer(values, lambda keys: f"{PREFIX}{keys[0]}".upper())


def _profile_layer(name: str, naming: Layer, document: Document) -> Layer:
    profiles = document.profiles()
    if name not in profiles and name != DEFAULT:
        names = ", ".join(sorted(profiles)) or "none yet"
        location = naming.location(("profile",))
        raise SettingsError(f"profile ({location}): {document.path} has no [profiles.{name}]; known: {names}")
    values = document.resolve_paths(profiles.get(name))
    return Layer(values, lambda keys: document.location(("profiles", name, *keys)), is_profile=True)


def _merge(layers: Iterable[Layer]) -> tuple[dict[str, Any], dict[str, Layer]]:
    """Return the values of settings and their layers, each from the strongest layer that sets it.

    Leaves out the sources of tokens. Ignores an upload address if a stronger layer has the API address.
    """
    values: dict[str, Any] = {}
    origins: dict[str, Layer] = {}
    for layer in layers:
        settled = {
            *values,
            *TOKEN_SOURCES,
            *COLLECTOR_TOKEN_SOURCES,
            *(("upload_url",) if values.get("base_url") else ()),
        }
        taken = {name: value for name, value in layer.values.items() if name not in settled}
        values |= taken
        origins |= dict.fromkeys(taken, layer)
    return values, origins


def _merge_token(layers: Sequence[Layer], values: dict[str, Any], origins: dict[str, Layer]) -> str:
    """Choose the strongest token source of the address in force, and add it to `values` and `origins`.

    Returns an empty text. If no source is of that address, adds nothing and returns why the strongest is not used.
    """
    withheld_reason = ""
    for index, layer in enumerate(layers):
        sources = {name: layer.values[name] for name in TOKEN_SOURCES if name in layer.values}
        if not any(sources.values()):
            continue
        reason = _withheld_reason(layers[index:], next(filter(sources.get, sources)), values, origins)
        if not reason:
            values |= sources
            origins |= dict.fromkeys(sources, layer)
            return ""
        withheld_reason = withheld_reason or reason
    return withheld_reason


def _merge_collector_token(layers: Sequence[Layer], values: dict[str, Any], origins: dict[str, Layer]) -> None:
    """Add the strongest source of the collector's token.

    The source must be in the layer of the collector's address or in a stronger one. If a flag or the environment gives
    the address, a source in the file is never used. Raises SettingsError if the strongest source does not fit.
    """
    home = origins.get("collector_url")
    if home is None:
        return
    for index, layer in enumerate(layers):
        sources = {name: layer.values[name] for name in COLLECTOR_TOKEN_SOURCES if layer.values.get(name)}
        if not sources:
            continue
        in_file, home_in_file = (of.is_profile or of.is_top_of_file for of in (layer, home))
        if index > layers.index(home) or (in_file and not home_in_file):
            name = next(iter(sources))
            raise SettingsError(
                f"{name} is set in {layer.location((name,))}, and collector_url in "
                f"{home.location(('collector_url',))}: the token may be "
                "for another collector, so it is not sent. Set both in the same place"
            )
        values |= sources
        origins |= dict.fromkeys(sources, layer)
        return


def _withheld_reason(
    layers: Sequence[Layer], source: str, values: Mapping[str, Any], origins: Mapping[str, Layer]
) -> str:
    """Return why the token source of the first layer does not fit the addresses in force; empty if the source fits.

    A source belongs to the addresses of its own layer, or else to those of the next weaker layer that has an address.
    For a source in the file, only layers of the file count. If no such layer has an address, a source outside the file
    fits every address.
    """
    token_layer, in_force = layers[0], values.get("base_url")
    if not in_force:
        return ""
    in_file = token_layer.is_profile or token_layer.is_top_of_file
    weaker = (layer for layer in layers if not in_file or layer.is_profile or layer.is_top_of_file)
    home = next((layer for layer in weaker if layer.values.get("base_url")), None)
    if home is None and not in_file:
        return ""
    belongs = "has no base_url beside it"
    if home is not None:
        belongs = f"belongs to {_origin(home.values['base_url'])} ({home.location(('base_url',))})"
    for name in ("base_url", "upload_url"):
        address, winner = values.get(name), origins.get(name)
        if address and winner is not None and not _is_at_home(name, address, winner, home):
            return (
                f"{source} ({token_layer.location((source,))}) {belongs}, and {name} ({winner.location((name,))}) is "
                f"{_origin(address)}: no token is sent to another platform. {_REMEDIES[name]}"
            )
    return ""


_REMEDIES: Mapping[str, str] = {
    "base_url": "Set a source of the token in the same place as base_url, or set both variables: "
    f"{PREFIX}BASE_URL and {PREFIX}TOKEN",
    "upload_url": "Set upload_url in the same place as the base_url of the token, or set all three variables: "
    f"{PREFIX}BASE_URL, {PREFIX}UPLOAD_URL and {PREFIX}TOKEN",
}


def _is_at_home(name: str, address: str, winner: Layer, home: Layer | None) -> bool:
    """Return whether the token may be sent to an address in force.

    `name`: setting of the address. `winner`: layer of the address. `home`: layer whose addresses the token belongs to,
    or None. The address must be set in `home` or have the same origin as the address in `home`. An upload address may
    also have the origin of the API address in `home`.
    """
    if home is None:
        return False
    names = {name, "base_url"}
    return home is winner or any(_is_same_origin(home.values.get(own), address) for own in names)


_NO_ADDRESS = "no address"

_DEFAULT_PORTS = {"https": 443, "http": 80}


def _is_same_origin(address: object, other: object) -> bool:
    return _origin(address) == _origin(other) != _NO_ADDRESS


def _origin(address: object) -> str:
    """Return scheme, host and port of an address, without its user. Returns `no address` if the text is none."""
    try:
        parts = urlsplit(str(address).strip())
        port = parts.port or _DEFAULT_PORTS.get(parts.scheme)
    except ValueError:
        return _NO_ADDRESS
    if not parts.hostname:
        return _NO_ADDRESS
    return f"{parts.scheme}://{parts.hostname}{'' if port == _DEFAULT_PORTS.get(parts.scheme) else f':{port}'}"


# Validation


def _validate(model: type[Model], values: Mapping[str, Any], origins: Mapping[str, Layer]) -> Model:
    """Make the model. Raises SettingsError with a line for each invalid setting: name, location and reason."""
    try:
        return model(**values)
    except ValidationError as error:
        lines = [_describe(fault, origins) for fault in error.errors(include_input=False, include_url=False)]
    raise SettingsError("\n".join(lines))


def _describe(fault: Mapping[str, Any], origins: Mapping[str, Layer]) -> str:
    keys = tuple(fault["loc"])
    text = str(fault["msg"]).removeprefix("Value error, ")
    if not keys:  # the fault concerns two settings together; its text begins with the name of one
        layer = origins.get(text.partition(" ")[0])
        return f"{text} ({layer.location((text.partition(' ')[0],))})" if layer else text
    if fault["type"] == "extra_forbidden":
        text = _describe_unknown(keys)
    layer = origins.get(str(keys[0]))
    place = _keys_of_fault(keys, text)
    location = layer.location(place) if layer else DEFAULT
    if len(place) > 1 and place[-1] in _names_at(()) and "no such" in text:
        keys, text = place, "not a setting of this section; move it above the first [section] of the file"
    return f"{'.'.join(map(_shown_key, keys))} ({location}): {text}"


def _shown_key(key: str | int) -> str:
    """Return a key as one line of text; a key with unprintable characters becomes a quoted text."""
    text = str(key)
    return text if text.isprintable() else json.dumps(text)


def _keys_of_fault(keys: tuple[str | int, ...], text: str) -> tuple[str | int, ...]:
    """Return the keys of the faulty setting. `keys`: keys that the model reports. `text`: message of the fault.

    Limits, routes and `listen` are checked as a whole, so the model reports only their table. Their message then begins
    with the remaining keys.
    """
    if "thresholds" not in keys and keys not in {("notify",), ("collector",)}:
        return keys
    path = text.partition(" ")[0].rstrip(":").split(".")
    return (*keys, *(int(part) if part.isdecimal() else part for part in path))


def _describe_unknown(keys: tuple[str | int, ...]) -> str:
    """Return the message for an unknown setting. The message lists similar names, or all names if none is similar."""
    allowed = sorted(_names_at(keys[:-1]))
    near = get_close_matches(str(keys[-1]), allowed, n=2)
    if near:
        return f"no such setting; did you mean {' or '.join(near)}?"
    return f"no such setting; allowed: {', '.join(allowed)}"


def _names_at(keys: tuple[str | int, ...]) -> set[str]:
    """Return the names of all settings that the table at `keys` may have."""
    if not keys:
        return set(Settings.model_fields) - {"token"}
    if keys[0] == "profiles":
        return set(PlatformSettings.model_fields)
    if keys[0] == "notify" and len(keys) > 1:
        return set((TargetSettings if keys[1] == "targets" else RouteSettings).model_fields)
    if keys[0] in {"limits", "maintenance"}:
        return set((LimitTemplateSettings if keys[0] == "limits" else MaintenanceSettings).model_fields)
    if keys[0] == "collector" and len(keys) > 1:
        return set(CollectorTokenSettings.model_fields)
    default = Settings.model_fields[str(keys[0])].default
    return set(type(default).model_fields) if isinstance(default, BaseModel) else set(EventSettings.model_fields)

"""What a first start learns, kept in the settings file: the rest of the file stays as somebody wrote it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tomlkit
from pydantic import ValidationError
from tomlkit.exceptions import TOMLKitError

from livedeck.cli.private import write_private
from livedeck.settings import TOKEN_SOURCES, Settings, SettingsError, config_path

TOKEN_FILE = "token"  # noqa: S105  the name of a file


def save(values: Mapping[str, Any], token: str = "") -> Path:
    """Set these settings in the file; None takes one out. Returns the path of the file.

    `token` in clear goes to a private file beside it, which becomes the source of the token: never into the settings.
    A new source replaces the old one. Raises SettingsError, and then nothing is changed but perhaps the token's file.
    """
    path = config_path()
    if token:
        values = {**values, "token_file": str(path.with_name(TOKEN_FILE))}
    if any(values.get(name) for name in TOKEN_SOURCES):
        values = {**dict.fromkeys(TOKEN_SOURCES[1:]), **values}
    try:
        text = _changed(path.read_text(encoding="utf-8") if path.exists() else "", values)
        Settings(**tomllib.loads(text))
        if token:
            write_private(path.with_name(TOKEN_FILE), f"{token}\n", replace=True)
        write_private(path, text, replace=True)
    except ValidationError as error:
        raise SettingsError(
            "\n".join(f"{_name(one)}: {one['msg']}" for one in error.errors(include_input=False))
        ) from None
    except TOMLKitError as error:
        raise SettingsError(f"{path}: {error}; mend it by hand first") from None
    except OSError as error:
        raise SettingsError(f"{path}: {error.strerror}; the settings are not saved") from None
    return path


def _changed(text: str, values: Mapping[str, Any]) -> str:
    document = tomlkit.parse(text)
    for name, value in values.items():
        if value is None:
            document.pop(name, None)
        else:
            document[name] = value
    return tomlkit.dumps(document)


def _name(error: Any) -> str:
    return ".".join(map(str, error["loc"])) or "settings"

"""What a first start learns, kept in the settings file: the rest of the file stays as somebody wrote it."""

from __future__ import annotations

import asyncio
import tomllib
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

import tomlkit
from pydantic import SecretStr, ValidationError
from tomlkit.exceptions import TOMLKitError

from livedeck import settings as configuration
from livedeck.atomic_file import write_private
from livedeck.cli.wiring import make_api
from livedeck.client import ApiError
from livedeck.settings import TOKEN_SOURCES, Settings, SettingsError, config_path

if TYPE_CHECKING:
    from livedeck.ui.general.welcome import Platform


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


async def welcome(flags: Mapping[str, Any]) -> str:
    """What the person chose: `demo`, `deck` once the settings are kept, or nothing."""
    from livedeck.cli.start_screen import taking_over
    from livedeck.ui.general.welcome import Welcome

    app = Welcome(partial(tried, flags), kept, monotonic, theme=configuration.displayed().theme)
    taking_over(app)
    return await app.run_async() or ""


async def tried(flags: Mapping[str, Any], platform: Platform) -> str:
    """Why that platform cannot be used, in words; nothing where it answers to that token."""
    token = {"token": SecretStr(platform.token)} if platform.token else {}
    try:
        settings = configuration.load(**{**flags, **platform.settings, **token})
        api = await asyncio.to_thread(make_api, settings)  # a token command takes its time
        async with api:
            await api.without_retry().events.list(per_page=1)
    except (ApiError, SettingsError) as error:
        return str(error)
    return ""


def kept(platform: Platform) -> str:
    """Write it into the settings; why that is not possible, in words, or nothing. Waits for the disk."""
    try:
        save(platform.settings, platform.token)
    except SettingsError as error:
        return str(error)
    return ""

"""Changes of the settings file by commands and the first start; everything else in it stays as written."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

import tomlkit
from pydantic import SecretStr
from tomlkit import TOMLDocument
from tomlkit.exceptions import TOMLKitError

from livedeck.atomic_file import write_private
from livedeck.environment import config_path, has_mouse
from livedeck.settings import (
    TOKEN_SOURCES,
    SettingsError,
    check_document,
    load,
    load_display,
    parsed_document,
    read_document,
)

if TYPE_CHECKING:
    from livedeck.ui.general.welcome import Choice, PlatformSettings


def edit_settings(change: Callable[[TOMLDocument], None], before_write: Callable[[], None] = lambda: None) -> Path:
    """Change or create the settings file. Returns its path. Raises SettingsError without changing the file.

    `before_write`: creates files that the settings will name; called once the changed settings are known to be valid.
    """
    path = config_path()
    try:
        document = tomlkit.parse(read_document(path).text)
        if path.exists() and path.stat().st_uid != os.geteuid():
            raise SettingsError(f"{path} belongs to {path.owner()}: change it as that user")
        change(document)
        text = tomlkit.dumps(document)
        check_document(parsed_document(path, text))
        before_write()
        write_private(path, text, replace=True)
    except TOMLKitError as error:
        raise SettingsError(f"{path}: {error}; correct the file by hand first") from None
    except OSError as error:
        raise SettingsError(f"{path}: {error.strerror}; the settings are not saved") from None
    return path


TOKEN_FILE = "token"  # noqa: S105  the name of a file


async def first_start(flags: Mapping[str, Any]) -> Choice | int:
    """Ask how to start. Returns the choice (demo, or deck with saved settings), or the exit code if the user quits."""
    from livedeck.cli.process import end_on_signals
    from livedeck.ui.general.welcome import Welcome
    from livedeck.ui.kit.driver import terminal_guard

    welcome = Welcome(partial(try_platform, flags), save_platform, monotonic, theme=load_display().theme)
    with end_on_signals(welcome.end, terminal_guard()):
        choice = await welcome.run_async(mouse=has_mouse())
    return choice or welcome.return_code or 0


async def try_platform(flags: Mapping[str, Any], platform: PlatformSettings) -> str:
    """Try the token and upload address of a platform. Returns why the platform cannot be used, or an empty text."""
    import asyncio

    from livedeck.cli.wiring import make_api
    from livedeck.client import ApiError, Unauthorized

    token = {"token": SecretStr(platform.token)} if platform.token else {}
    try:
        settings = load(**{**flags, **platform.values, **token})
        api = await asyncio.to_thread(make_api, settings)  # a token command may block
        async with api:
            await api.without_retry().events.list(per_page=1)
            await api.without_retry().check_uploads()
    except Unauthorized as error:
        return f"Token refused. Check what you typed. ({error.status})" if token else str(error)
    except (ApiError, SettingsError) as error:
        return str(error)
    return ""


def save_platform(platform: PlatformSettings) -> str:
    """Write the platform into the settings file; blocks. Returns why that failed, or an empty text."""
    try:
        save_settings(platform.values, platform.token)
    except SettingsError as error:
        return str(error)
    return ""


def save_settings(values: Mapping[str, Any], token: str = "") -> Path:
    """Set these settings in the file; the value None removes a setting. Returns the path of the file.

    `token`: the token in clear, or empty. It is written to a private file beside the settings, which becomes the only
    token source, and never into the settings. Raises SettingsError: the settings are then unchanged, but the private
    file may be new.
    """
    token_path = config_path().with_name(TOKEN_FILE)
    if token:
        values = {**values, "token_file": str(token_path)}
    if any(values.get(name) for name in TOKEN_SOURCES):
        values = {**dict.fromkeys(TOKEN_SOURCES[1:]), **values}

    def change(document: TOMLDocument) -> None:
        for name, value in values.items():
            if value is None:
                document.pop(name, None)
            else:
                document[name] = value

    def write_token() -> None:
        if token:
            write_private(token_path, f"{token}\n", replace=True)

    return edit_settings(change, write_token)

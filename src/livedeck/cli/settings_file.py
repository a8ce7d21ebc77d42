"""Changes of the settings file by commands and by the first start; its rest stays as somebody wrote it."""

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
from livedeck.environment import config_path
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
    """Have the file changed, or begun. Returns its path. Raises SettingsError, and then it is as it was.

    `before_write`: what is to be there once the file names it; done where the change is sound.
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
        raise SettingsError(f"{path}: {error}; mend it by hand first") from None
    except OSError as error:
        raise SettingsError(f"{path}: {error.strerror}; the settings are not saved") from None
    return path


TOKEN_FILE = "token"  # noqa: S105  the name of a file


async def first_start(flags: Mapping[str, Any]) -> Choice | int:
    """What the person chose: the demo, or the deck once the settings are saved. The exit code where it was left."""
    from livedeck.cli.process import end_on_signals
    from livedeck.ui.general.welcome import Welcome
    from livedeck.ui.kit.driver import terminal_guard

    welcome = Welcome(partial(try_platform, flags), save_platform, monotonic, theme=load_display().theme)
    with end_on_signals(welcome.end, terminal_guard()):
        choice = await welcome.run_async()
    return choice or welcome.return_code or 0


async def try_platform(flags: Mapping[str, Any], platform: PlatformSettings) -> str:
    """Why that platform cannot be used; nothing where it answers to that token, and its upload address at all."""
    import asyncio

    from livedeck.cli.wiring import make_api
    from livedeck.client import ApiError

    token = {"token": SecretStr(platform.token)} if platform.token else {}
    try:
        settings = load(**{**flags, **platform.values, **token})
        api = await asyncio.to_thread(make_api, settings)  # a token command takes its time
        async with api:
            await api.without_retry().events.list(per_page=1)
            await api.without_retry().check_uploads()
    except (ApiError, SettingsError) as error:
        return str(error)
    return ""


def save_platform(platform: PlatformSettings) -> str:
    """Write it into the settings file. Returns why that is not possible, or nothing. Waits for the disk."""
    try:
        save_settings(platform.values, platform.token)
    except SettingsError as error:
        return str(error)
    return ""


def save_settings(values: Mapping[str, Any], token: str = "") -> Path:
    """Set these settings in the file; None takes one out. Returns the path of the file.

    `token` in clear goes to a private file beside it, which becomes the source of the token: never into the settings.
    A new source replaces the old one. Raises SettingsError, and then nothing is changed but perhaps the token's file.
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

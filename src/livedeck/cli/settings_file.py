"""Changes of the settings file by commands; its rest stays as somebody wrote it."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import tomlkit
from pydantic import ValidationError
from tomlkit import TOMLDocument
from tomlkit.exceptions import TOMLKitError

from livedeck.atomic_file import write_private
from livedeck.environment import config_path
from livedeck.settings import Settings, SettingsError


def edit_settings(change: Callable[[TOMLDocument], None], before_write: Callable[[], None] = lambda: None) -> Path:
    """Have the file changed, or begun. Returns its path. Raises SettingsError, and then it is as it was.

    `before_write`: what is to be there once the file names it; done where the change is sound.
    """
    path = config_path()
    try:
        document = tomlkit.parse(path.read_text(encoding="utf-8") if path.exists() else "")
        if path.exists() and path.stat().st_uid != os.geteuid():
            raise SettingsError(f"{path} belongs to {path.owner()}: change it as that user")
        change(document)
        text = tomlkit.dumps(document)
        Settings(**tomllib.loads(text))
        before_write()
        write_private(path, text, replace=True)
    except ValidationError as error:
        raise SettingsError("\n".join(_describe(fault) for fault in error.errors(include_input=False))) from None
    except TOMLKitError as error:
        raise SettingsError(f"{path}: {error}; mend it by hand first") from None
    except OSError as error:
        raise SettingsError(f"{path}: {error.strerror}; the settings are not saved") from None
    return path


def _describe(fault: Mapping[str, Any]) -> str:
    return f"{'.'.join(map(str, fault['loc'])) or 'settings'}: {fault['msg']}"

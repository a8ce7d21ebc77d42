"""Changes of the settings file by commands; its rest stays as somebody wrote it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import tomlkit
from tomlkit import TOMLDocument
from tomlkit.exceptions import TOMLKitError

from livedeck.atomic_file import write_private
from livedeck.environment import config_path
from livedeck.settings import SettingsError, check_document, parsed_document, read_document


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

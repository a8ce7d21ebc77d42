"""The deck's arrangement in a file of its own, for the eyes of its owner."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from pathlib import Path
from typing import Any

import structlog

from livedeck.cli.private import write_private
from livedeck.ui.arrangement import Kept
from livedeck.ui.arranging import View

_log: Any = structlog.get_logger("livedeck.kept")


class StateFile:
    """One profile's arrangement: a JSON file in the folder of the user's state. It is a convenience: no trouble of the
    file's is more than a line in the log."""

    def __init__(self, folder: Path, profile: str) -> None:
        self._folder = folder
        self._path = folder / f"deck-{re.sub(r'[^A-Za-z0-9_-]', '_', profile)}.json"

    def load(self) -> Kept:
        """What was kept; nothing where there is none, or none that can be read."""
        try:
            return _kept(json.loads(self._path.read_text(encoding="utf-8")))
        except FileNotFoundError:
            return Kept()
        except (OSError, ValueError, TypeError, AttributeError) as error:
            _log.warning("the kept arrangement cannot be read", path=str(self._path), why=str(error))
            return Kept()

    def save(self, kept: Kept) -> None:
        """Keep that."""
        try:
            write_private(self._path, json.dumps(asdict(kept), indent=1), replace=True)
        except OSError as error:
            _log.warning("the arrangement cannot be kept", path=str(self._path), why=str(error))

    def spill(self, name: str, text: str) -> Path:
        """A text that is too long for the clipboard, in a file. Raises OSError."""
        write_private(self._folder / name, text, replace=True)
        return self._folder / name


def _kept(values: Any) -> Kept:
    views = {str(name): _view(view) for name, view in values.get("views", {}).items()}
    return Kept(str(values.get("theme", "")), views)


def _view(values: Any) -> View:
    hidden = tuple(map(str, values.get("hidden", ())))
    return View(str(values.get("filter", "")), str(values.get("sort", "")), bool(values.get("down")), hidden)

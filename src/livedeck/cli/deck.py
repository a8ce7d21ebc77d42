"""The deck's arrangement in a file of its own, for the eyes of its owner."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from contextlib import AsyncExitStack, closing
from dataclasses import asdict
from pathlib import Path
from subprocess import DEVNULL, Popen, TimeoutExpired
from typing import TYPE_CHECKING, Any

import click
import structlog

from livedeck import settings as configuration
from livedeck.atomic_file import BackgroundWriter, write_private
from livedeck.cli.exit_codes import run
from livedeck.cli.signals import end_on_signals
from livedeck.cli.start_screen import importing, responsive
from livedeck.cli.wiring import SystemClock, make_api, make_history, make_monitor
from livedeck.presentation.filtering import TableView
from livedeck.settings import DisplaySettings, Settings, SettingsError, file_opener
from livedeck.ui.shell.preferences import Preferences

if TYPE_CHECKING:
    from livedeck.ui.shell.action import Keymap


_log: Any = structlog.get_logger("livedeck.kept")


class StateFile:
    """One profile's arrangement: a JSON file in the folder of the user's state. It is a convenience: no trouble of the
    file's is more than a line in the log. Saved in a thread; `close` waits for what is not written yet."""

    def __init__(self, folder: Path, profile: str) -> None:
        self._folder = folder
        self._path = folder / f"deck-{re.sub(r'[^A-Za-z0-9_-]', '_', profile)}.json"
        self._writer = BackgroundWriter(self._path, self._log_failure)

    def load(self) -> Preferences:
        """What was kept; nothing where there is none, or none that can be read."""
        try:
            return _kept(json.loads(self._path.read_text(encoding="utf-8")))
        except FileNotFoundError:
            return Preferences()
        except (OSError, ValueError, TypeError, AttributeError) as error:
            _log.warning("the kept arrangement cannot be read", path=str(self._path), why=str(error))
            return Preferences()

    def save(self, preferences: Preferences) -> None:
        """Keep that. Returns at once; the last one wins."""
        self._writer.write(json.dumps(asdict(preferences), indent=1))

    def close(self) -> None:
        """Wait until the last one is written."""
        self._writer.close()

    def _log_failure(self, error: OSError) -> None:
        _log.warning("the arrangement cannot be kept", path=str(self._path), why=str(error))

    def spill(self, name: str, text: str) -> Path:
        """A text that is too long for the clipboard, in a file: to be called in a thread. Raises OSError."""
        write_private(self._folder / name, text, replace=True)
        return self._folder / name


def _kept(values: Any) -> Preferences:
    views = {str(name): _view(view) for name, view in values.get("views", {}).items()}
    return Preferences(str(values.get("theme", "")), views)


def _view(values: Any) -> TableView:
    hidden = tuple(map(str, values.get("hidden", ())))
    return TableView(str(values.get("filter", "")), str(values.get("sort", "")), bool(values.get("down")), hidden)


_PATIENCE = 3.0

"""Seconds in which a program says that it cannot; one that runs on is showing the file."""


async def open_file(path: Path) -> str:
    """Have it shown. Returns why it cannot be, or nothing."""
    program = file_opener()
    if not program:
        return "there is no desktop here to open it on; copy where it is instead"
    return await asyncio.to_thread(_opened, program, path)


def _opened(program: str, path: Path) -> str:
    command = [program, str(path)]
    try:
        started = Popen(command, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL, start_new_session=True)  # noqa: S603
        code = started.wait(_PATIENCE)
    except TimeoutExpired:
        return ""
    except OSError as error:
        return f"{program}: {error.strerror}"
    return f"{program} ended with code {code}" if code else ""


def run_deck(flags: Mapping[str, Any]) -> int:
    """The deck against the settings in force; the exit code."""

    async def work() -> int:
        settings = configuration.load(**flags)
        if settings.base_url or configuration.why_no_screen():
            return await show(settings)
        return await _first_start(flags)

    return run(work)


async def _first_start(flags: Mapping[str, Any]) -> int:
    """No platform is known, and somebody is there to ask."""
    from livedeck.cli.setup import welcome

    chosen = await welcome(flags)
    if chosen == "demo":
        from livedeck.cli.demo import play

        return await play(read_only=bool(flags.get("read_only")))
    return await show(configuration.load(**flags)) if chosen else 0


async def show(settings: Settings) -> int:
    """The deck, or the status where no screen can be shown. Returns the exit code."""
    reason = configuration.why_no_screen()
    if reason:
        from livedeck.cli.status import report

        click.echo(f"livedeck: {reason}; printing the status instead of the deck", err=True)
        return await report(settings, as_json=False)
    return await _screen(settings)


def keymap(settings: DisplaySettings) -> Keymap:
    """The keys that the settings change. Raises SettingsError with the line of each that cannot be."""
    from livedeck.ui.features import FEATURES
    from livedeck.ui.shell.action import ActionRegistry
    from livedeck.ui.shell.keymap import read_keymap

    changed, errors = read_keymap(ActionRegistry(FEATURES), settings.keys)
    if errors:
        raise SettingsError("\n".join(f"{configuration.key_location(error.name)}: {error.reason}" for error in errors))
    return changed


async def _screen(settings: Settings) -> int:
    with importing():
        from livedeck.cli.start_screen import taking_over
        from livedeck.ui.app import Deck

    async with AsyncExitStack() as stack:
        api = await stack.enter_async_context(make_api(settings))
        history = await stack.enter_async_context(make_history(settings))
        state_file = stack.enter_context(closing(StateFile(configuration.state_folder(), settings.profile)))
        deck = Deck(
            make_monitor(api, settings=settings, history=history),
            SystemClock(),
            profile=settings.profile,
            host=api.host,
            read_only=api.read_only,
            log_file=configuration.log_path(),
            api=api,
            history=history,
            keymap=keymap(settings),
            store=state_file,
            multiplexer=configuration.multiplexer(),
            downloads=Path.cwd(),
            opener=open_file,
            theme=settings.theme,
            ascii_only=settings.ascii,
        )
        taking_over(deck)
        end_on_signals(deck.exit)
        responsive()
        code = await deck.run_async()
        return deck.return_code or code or 0

"""`livedeck` without a command: the deck, its preferences file, and files that it opens."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from contextlib import closing
from dataclasses import asdict
from datetime import datetime
from functools import partial
from pathlib import Path
from subprocess import DEVNULL, Popen, TimeoutExpired
from typing import TYPE_CHECKING, Any

import click

from livedeck.atomic_file import BackgroundWriter, write_private
from livedeck.cli.exit_codes import FAULT
from livedeck.cli.options import notifies
from livedeck.cli.output import echo
from livedeck.cli.process import end_on_signals, keep_collections_short, lasting_imports
from livedeck.cli.wiring import SystemClock, make_keymap, make_views, open_watch
from livedeck.cli.write_locks import WriteLocks
from livedeck.environment import (
    cell_pixels,
    child_variables,
    file_opener,
    graphics,
    has_mouse,
    log_path,
    multiplexer,
    no_screen_reason,
    state_folder,
)
from livedeck.log import Log
from livedeck.monitor import Clock, Feed, LimitsSource, Playback
from livedeck.presentation.filtering import TableView
from livedeck.settings import Settings
from livedeck.ui.shell.preferences import Preferences

if TYPE_CHECKING:
    from livedeck.cli.followed_clock import FollowedClock
    from livedeck.ui.app import Deck

_log = Log("livedeck.preferences")


class StateFile:
    """Preferences of one profile in a JSON file, saved in a thread; `close` waits for pending writes.

    Preferences are a convenience: a fault of the file is only logged.
    """

    def __init__(self, folder: Path, profile: str) -> None:
        self._folder = folder
        self._path = folder / f"deck-{re.sub(r'[^A-Za-z0-9_-]', '_', profile)}.json"
        self._writer = BackgroundWriter(self._path, self._log_failure)

    def load(self) -> Preferences:
        """Return the saved preferences; the defaults if the file is missing or unreadable."""
        try:
            return _preferences_from(json.loads(self._path.read_text(encoding="utf-8")))
        except FileNotFoundError:
            return Preferences()
        except (OSError, ValueError, TypeError, AttributeError) as error:
            _log.warning("the preferences cannot be read", path=str(self._path), reason=str(error))
            return Preferences()

    def save(self, preferences: Preferences) -> None:
        """Save the preferences in the background. If several saves wait, only the last is written."""
        self._writer.write(json.dumps(asdict(preferences), indent=1))

    def close(self) -> None:
        """Wait until the last preferences are written."""
        self._writer.close()

    def _log_failure(self, error: OSError) -> None:
        _log.warning("the preferences cannot be saved", path=str(self._path), reason=str(error))

    def write_overflow(self, name: str, text: str) -> Path:
        """Write to a file a text that is too long for the clipboard. Call it in a thread. Raises OSError."""
        write_private(self._folder / name, text, replace=True)
        return self._folder / name


def _preferences_from(values: Any) -> Preferences:
    views = {str(screen): _view_from(view) for screen, view in values.get("views", {}).items()}
    recent = {str(kind): tuple(map(str, chosen)) for kind, chosen in values.get("recent", {}).items()}
    return Preferences(str(values.get("theme", "")), views, recent, tuple(map(str, values.get("pinned", ()))))


def _view_from(values: Any) -> TableView:
    hidden = tuple(map(str, values.get("hidden", ())))
    filter_, sort, name, group = (str(values.get(part, "")) for part in ("filter", "sort", "name", "group"))
    return TableView(filter_, sort, bool(values.get("down")), hidden, name, group)


OPENER_TIMEOUT = 3.0
"""Seconds to wait for a failure of the opener. If the opener still runs then, it is showing the file."""


async def open_file(path: Path) -> str:
    """Open the file with the program that the desktop has for it. Returns why that failed, or an empty text."""
    program = file_opener()
    if not program:
        return "there is no desktop to open the file on; copy its path instead"
    return await asyncio.to_thread(_run_opener, program, path)


def _run_opener(program: str, path: Path) -> str:
    command = [program, str(path)]
    try:
        process = Popen(  # noqa: S603  the desktop's own program
            command, env=child_variables(), stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL, start_new_session=True
        )
        code = process.wait(OPENER_TIMEOUT)
    except TimeoutExpired:
        return ""
    except OSError as error:
        return f"{program}: {error.strerror}"
    return f"{program} ended with code {code}" if code else ""


async def run_deck(
    settings: Settings,
    limits_source: LimitsSource | None = None,
    at: datetime | None = None,
    notice: str = "",
    beside: Callable[[Deck], Awaitable[None]] | None = None,
) -> int:
    """Run the deck, or print the status if no screen is possible. Returns the exit code.

    `limits_source`: source of limits that may change while the deck runs. `at`: the time to show first; None for now.
    `notice`: text above the keys at the start, also in the log. `beside`: work beside the deck.

    Raises SettingsError, and UsageError if a past time cannot be shown.
    """
    reason = no_screen_reason()
    if reason and at:
        raise click.UsageError(f"--at needs a screen: {reason}. Without one, `livedeck past show` prints past charts")
    if reason:
        from livedeck.cli.status_report import print_status

        echo(f"livedeck: {reason}; printing the status instead of the deck", err=True)
        return await print_status(settings, as_json=False)
    show = partial(_show_deck, settings, limits_source, at, notice, beside)
    if not settings.follow_clock:
        return await show()
    from livedeck.cli.rehearsal import repeat_after_jump_back

    return await repeat_after_jump_back(show, settings.history_file())


async def _show_deck(
    settings: Settings,
    limits_source: LimitsSource | None,
    at: datetime | None,
    notice: str,
    beside: Callable[[Deck], Awaitable[None]] | None,
) -> int:
    with lasting_imports():
        from livedeck.ui.kit.graphics import Graphics
        from livedeck.ui.shell.calls import Calls

    async with open_watch(settings, keeps_history=True, limits_source=limits_source, probes=True) as watch:
        api, is_attached = watch.api, bool(settings.collector_urls)
        read_only = api is None or api.read_only
        code = await _run(
            settings,
            watch.feed,
            profile=settings.profile,
            host=watch.host,
            read_only=read_only,
            api=api,
            make_locks=partial(WriteLocks, state_folder() / "locks", settings.base_url, SystemClock()),
            history=watch.history,
            records=watch.records,
            at=at,
            calls=Calls(
                settings.bell,
                settings.notification if notifies() or not settings.follow_clock else "off",
                settings.window_title,
                is_ascii=settings.ascii,
            ),
            checks_uploads=not (read_only or is_attached),
            graphics=Graphics(graphics() or "blocks" if settings.graphics == "auto" else settings.graphics),
            cell_pixels=cell_pixels(),
            notice=notice,
            followed=watch.clock,
            beside=beside,
        )
        if watch.clock and watch.clock.fault:
            raise watch.clock.fault
        return code


async def show_past(settings: Settings, path: Path, at: datetime | None = None) -> int:
    """Run the deck on a history file, without a platform, from the time `at` (None: the first time in the file).

    Returns the exit code. Raises PastError.
    """
    past = await Playback.open(path, SystemClock(), at)
    try:
        return await _run(settings, past, profile=path.name, host="", read_only=True, past=past)
    finally:
        await past.close()


async def _run(
    settings: Settings,
    feed: Feed,
    *,
    past: Playback | None = None,
    followed: FollowedClock | None = None,
    beside: Callable[[Deck], Awaitable[None]] | None = None,
    **rest: Any,
) -> int:
    """Show the feed until the user leaves, or the clock `followed` can be followed no longer. `beside`: further work.

    Returns the exit code.
    """
    with lasting_imports():
        from livedeck.ui.app import Deck
        from livedeck.ui.kit.driver import terminal_guard

    clock: Clock = feed.clock
    pace: Callable[[], str] = getattr(feed.clock, "pace", str)  # an attached deck has the collector's
    if followed:
        from livedeck.cli.followed_clock import ScreenClock

        clock, pace = ScreenClock(feed.clock, SystemClock()), followed.pace

    with closing(StateFile(state_folder(), settings.profile)) as state_file:
        deck = Deck(
            feed,
            clock,
            past=past,
            log_file=log_path(),
            keymap=make_keymap(settings),
            views=make_views(settings),
            names={"user": settings.users, "folder": settings.folders},
            store=state_file,
            multiplexer=multiplexer(),
            downloads=Path.cwd(),
            opener=open_file,
            child_variables=child_variables(),
            theme=settings.theme,
            ascii_only=settings.ascii,
            pace=pace,
            **rest,
        )
        with end_on_signals(deck.end, terminal_guard(has_title=past is None and settings.window_title)):
            tasks = [asyncio.ensure_future(keep_collections_short(SystemClock(), partial=2.0, full=300.0))]
            tasks += [asyncio.ensure_future(_end_with(followed.until_fault(), deck, FAULT))] if followed else []
            tasks += [asyncio.ensure_future(beside(deck))] if beside else []
            try:
                code = await deck.run_async(mouse=has_mouse())
            finally:
                for task in tasks:
                    task.cancel()
        return deck.return_code or code or 0


async def _end_with(end: Awaitable[object], deck: Deck, code: int) -> None:
    """Leave the deck with the exit code when `end` is done."""
    await end
    deck.end(code)

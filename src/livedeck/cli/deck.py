"""`livedeck`: the deck on the platform of the settings; where there is no terminal, its status."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Mapping
from typing import Any

import click

from livedeck import settings as configuration
from livedeck.cli.build import SystemClock, make_api, make_monitor
from livedeck.cli.exits import run
from livedeck.settings import Settings


def run_deck(flags: Mapping[str, Any]) -> int:
    """The deck against the settings in force; the exit code."""

    async def work() -> int:
        return await show(configuration.load(**flags))

    return run(work)


async def show(settings: Settings) -> int:
    """The deck, or the status where no screen can be shown. Returns the exit code."""
    reason = configuration.why_no_screen()
    if reason:
        from livedeck.cli.status import report

        click.echo(f"livedeck: {reason}; printing the status instead of the deck", err=True)
        return await report(settings, as_json=False)
    return await _screen(settings)


async def _screen(settings: Settings) -> int:
    from livedeck.ui.app import Deck

    async with make_api(settings) as api:
        deck = Deck(
            make_monitor(api),
            SystemClock(),
            profile=settings.profile,
            host=api.host,
            read_only=api.read_only,
            log_file=configuration.log_path(),
        )
        _end_on_signals(deck.exit)
        code = await deck.run_async()
        return deck.return_code or code or 0


def _end_on_signals(leave: Callable[[int], None]) -> None:
    """An end from outside leaves the terminal as a quit does; without this the alternate screen would stay on."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        loop.add_signal_handler(number, leave, 128 + number)

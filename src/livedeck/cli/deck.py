"""`livedeck`: the deck on the platform of the settings; where there is no terminal, its status."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from livedeck import settings as configuration
from livedeck.cli.build import SystemClock, make_api, make_history, make_monitor
from livedeck.cli.exits import run
from livedeck.cli.leaving import end_on_signals
from livedeck.cli.responsive import importing, responsive
from livedeck.settings import DisplaySettings, Settings, SettingsError

if TYPE_CHECKING:
    from livedeck.ui.actions.keymap import Keymap


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
    from livedeck.cli.welcome import welcome

    chosen = await welcome(flags)
    if chosen == "demo":
        from livedeck.cli.playing import play

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
    from livedeck.ui.actions.keymap import remapped

    changed, faults = remapped(settings.keys)
    if faults:
        raise SettingsError("\n".join(f"{configuration.key_place(one.name)}: {one.why}" for one in faults))
    return changed


async def _screen(settings: Settings) -> int:
    with importing():
        from livedeck.cli.kept import StateFile
        from livedeck.cli.opening import open_file
        from livedeck.cli.taking_over import taking_over
        from livedeck.ui.app import Deck

    async with make_api(settings) as api, make_history(settings) as history:
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
            keep=StateFile(configuration.state_folder(), settings.profile),
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

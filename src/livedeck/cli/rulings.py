"""Rulings on an event that a command writes into the history, where every deck, wall and --follow reads them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from livedeck.cli.wiring import SystemClock, make_history
from livedeck.environment import this_process
from livedeck.monitor import Ruling, Rulings
from livedeck.settings import Settings, SettingsError


async def rule(settings: Settings, make: Callable[[Rulings, datetime, str], Ruling]) -> Ruling:
    """What `make` makes of the rulings so far, the time and the actor, kept in the history. Raises SettingsError where
    none is kept, or it cannot be written."""
    if settings.history_file() is None:
        raise SettingsError("no history is kept, so no deck would hear of it: see `history` in the settings")
    async with make_history(settings) as history:
        assert history is not None
        known = Rulings().including(await history.new_rulings())
        ruling = make(known, SystemClock().now(), this_process())
        await history.record_ruling(ruling)
        if history.fault:
            raise SettingsError(history.fault)
        return ruling

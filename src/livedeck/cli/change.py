"""What `livedeck status --close` does: a change without a verdict is open no longer."""

from __future__ import annotations

import click

from livedeck.cli.exit_codes import DONE
from livedeck.cli.objects.consent import CommandPort, Consent
from livedeck.cli.output import echo
from livedeck.cli.wiring import SystemClock, make_api, make_audit
from livedeck.operations.executor import Executor
from livedeck.operations.open_changes import OpenChanges
from livedeck.operations.operation import Platform
from livedeck.presentation.open_changes import open_change_text
from livedeck.settings import Settings


async def close_change(settings: Settings, words: str) -> int:
    """Close the change whose id begins so. Returns the exit code. Raises UsageError for none or several."""
    async with make_api(settings) as api, make_audit(settings) as history:
        changes = await history.open_changes() if history else ()
        found = [change for change in changes if change.intent.id.startswith(words.strip().casefold() or "-")]
        if len(found) != 1:
            raise click.UsageError(f"{len(found) or 'no'} open changes have that id; `livedeck status` lists them")
        (change,) = found
        port = CommandPort(Consent(), OpenChanges())
        executor = Executor(Platform(api), SystemClock(), confirmations=port, progress=port, audit=history)
        await executor.close_change(change)
    echo(f"closed: {open_change_text(change, SystemClock().now())}")
    return DONE

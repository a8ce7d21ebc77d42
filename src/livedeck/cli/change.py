"""`livedeck change`: list and close changes with an unknown outcome."""

from __future__ import annotations

from typing import Any

import click

from livedeck.cli.exit_codes import DONE, run
from livedeck.cli.formats import schema_name
from livedeck.cli.objects.consent import CommandPort, Consent
from livedeck.cli.options import formats, merge_flags, platform
from livedeck.cli.output import echo, echo_json
from livedeck.cli.wiring import SystemClock, make_api, make_audit, written_history
from livedeck.monitor import NotReadError
from livedeck.operations.executor import Executor
from livedeck.operations.open_changes import OpenChanges
from livedeck.operations.operation import Platform
from livedeck.presentation.open_changes import ADVICE, open_change_object, open_change_text
from livedeck.settings import Settings, SettingsError, load
from livedeck.text.values import safe

NOT_RECORDED = "no history is kept, so the outcomes of changes are unknown: set `history` in the settings"
"""Error text for the list of open changes if no history is kept."""


@click.command
@formats("table", "json")
@platform
@click.pass_context
def list_command(ctx: click.Context, /, *, output_format: str, **flags: Any) -> None:
    """List changes with an unknown outcome, from the history of this machine.

    Sends no request. Look at the platform's own page before you repeat a change: it may have been applied.
    """

    async def work() -> int:
        settings = load(**merge_flags(ctx, flags))
        if settings.history_file() is None:
            raise SettingsError(NOT_RECORDED)
        recorded = written_history(settings)
        changes = await recorded.whole(recorded.open_changes()) if recorded else ()
        if output_format == "json":
            echo_json({"schema": schema_name("change list"), "changes": [*map(open_change_object, changes)]})
            return DONE
        now = SystemClock().now()
        for change in changes:
            echo(f"{change.intent.id[:8]}  {open_change_text(change, now)}")
        echo(ADVICE if changes else "no change with an unknown outcome in the history of this machine", err=True)
        return DONE

    ctx.exit(run(work))


@click.command
@click.argument("change_id", metavar="ID")
@platform
@click.pass_context
def close_command(ctx: click.Context, /, *, change_id: str, **flags: Any) -> None:
    """Close a change with an unknown outcome, once you have looked at the platform.

    ID: the id of the change, or its beginning. Nothing is sent to the platform; the audit keeps both records.
    """
    ctx.exit(run(lambda: close_change(load(**merge_flags(ctx, flags)), change_id)))


async def close_change(settings: Settings, words: str) -> int:
    """Close the open change whose id begins with `words`. Returns the exit code.

    Raises UsageError unless exactly one open change has such an id. Raises NotReadError if the history cannot be read.
    """
    async with make_api(settings) as api, make_audit(settings) as history:
        changes = await history.whole(history.open_changes()) if history else ()
        found = [change for change in changes if change.intent.id.startswith(words.strip().casefold() or "-")]
        if not found and history and history.was_set_aside:
            raise NotReadError(history.fault)
        if len(found) != 1:
            raise click.UsageError(
                f"{len(found) or 'no'} open changes have an id that begins with {safe(words, 40)}; "
                "`livedeck change list` lists them"
            )
        (change,) = found
        port = CommandPort(Consent(), OpenChanges())
        executor = Executor(Platform(api), SystemClock(), confirmations=port, progress=port, audit=history)
        await executor.close_change(change)
    echo(f"closed: {open_change_text(change, SystemClock().now())}")
    return DONE

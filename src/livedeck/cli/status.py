"""`livedeck status`: one look at the platform, printed."""

from __future__ import annotations

from typing import Any

import click

from livedeck.cli.exit_codes import run
from livedeck.cli.options import merge_flags, platform


@click.command
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
@click.option("--close", "closed", metavar="ID", help="Say that you have looked after a change without a verdict.")
@platform
@click.pass_context
def command(ctx: click.Context, /, *, as_json: bool, closed: str | None, **flags: Any) -> None:
    """Print what is on air and what is wrong, and leave.

    Waits until every event on air has a judged sample. Changes without a verdict are listed too; --close takes one off
    the list by its id or the beginning of that, asks nothing of the platform, and is kept in the audit.
    """

    async def close() -> int:
        from livedeck.cli.change import close_change
        from livedeck.settings import load

        return await close_change(load(**merge_flags(ctx, flags)), closed or "")

    async def work() -> int:
        from livedeck.cli.status_report import print_status
        from livedeck.settings import load

        return await print_status(load(**merge_flags(ctx, flags)), as_json=as_json)

    ctx.exit(run(work if closed is None else close))

"""`livedeck handover`: what the next person at the deck must know."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from livedeck.cli.exit_codes import DONE, run
from livedeck.cli.options import merge_flags, platform
from livedeck.cli.output import echo, echo_json
from livedeck.cli.recorded import FILE, Past, print_lines, width, with_past
from livedeck.report.handover import handover_lines, handover_markdown, handover_object, read_handover
from livedeck.settings import load


@click.command
@click.option("--json", "output_format", flag_value="json", help="One JSON object; `livedeck schema handover`.")
@click.option("--markdown", "output_format", flag_value="markdown", help="A sheet for a chat or a ticket.")
@FILE
@platform
@click.pass_context
def command(ctx: click.Context, /, *, output_format: str | None, path: Path | None, **flags: Any) -> None:
    """Print what runs, what is wrong, who promised what until when, what is put away, and what comes next.

    Read from the history of this machine or the collector, as it was seen last; how long ago that was is said. The
    platform is not asked.
    """

    async def work(past: Past) -> int:
        handover = await read_handover(past.reader, past.now)
        if output_format == "json":
            echo_json(handover_object(handover))
        elif output_format == "markdown":
            echo(handover_markdown(handover), nl=False)
        else:
            print_lines([*handover_lines(handover, width())])
        return DONE

    ctx.exit(run(lambda: with_past(load(**merge_flags(ctx, flags)), "handover", work, path)))

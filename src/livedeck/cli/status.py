"""`livedeck status`: print the present state of the platform."""

from __future__ import annotations

from typing import Any

import click

from livedeck.cli.exit_codes import run
from livedeck.cli.options import PATIENCE, PLOT, formats, merge_flags, platform, refuse_patience, rehearsal


@click.command
@formats("table", "json", "prometheus", has_plot=True)
@PATIENCE
@platform
@rehearsal
@click.pass_context
def command(ctx: click.Context, /, *, output_format: str, patience: float, **flags: Any) -> None:
    """Print what is on air and what is wrong now.

    Waits up to 15 s until every event on air has been judged. Streams with late samples are polled again, for up to
    --patience. An event is `late or gone` if this does not prove that the encoder has left. A collector decides this
    without --patience. Changes with an unknown outcome are listed too. --plot adds the last 15 min of each video rate.
    `--format prometheus` prints metrics, even if the platform does not respond; the exit code is then 4.
    """

    async def work() -> int:
        from livedeck.settings import load

        settings = load(**merge_flags(ctx, flags))
        if output_format == "prometheus":
            from livedeck.cli.collect.metrics import print_metrics

            return await print_metrics(settings)
        from livedeck.cli.status_report import print_status

        refuse_patience(ctx, settings)
        return await print_status(
            settings, as_json=output_format == "json", has_plot=output_format == PLOT, patience=patience
        )

    ctx.exit(run(work))

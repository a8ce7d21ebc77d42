"""`livedeck metrics`: what is known now, for Prometheus; and the dashboard and the alert rules that read it."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import click

from livedeck import __version__
from livedeck.atomic_file import replace_file
from livedeck.cli.exit_codes import DONE, UNREACHABLE, code_of_link, run
from livedeck.cli.options import merge_flags, platform
from livedeck.cli.output import echo
from livedeck.cli.wiring import SystemClock, make_api, make_link, make_monitor, read_answers
from livedeck.presentation.metrics import LINK_UP, Counted, metrics_text
from livedeck.presentation.prometheus import metric_files
from livedeck.presentation.render_time import RenderTime
from livedeck.settings import load

TIMEOUT = 15.0
"""Seconds to wait for a judged sample of every event on air."""

_LINK_DOWN = f"{LINK_UP.name} 0"


@click.command
@click.option(
    "--write",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write a dashboard for Grafana and alert rules for Prometheus there, and ask nothing.",
)
@platform
@click.pass_context
def command(ctx: click.Context, /, *, folder: Path | None, **flags: Any) -> None:
    """Print what is known now as metrics in the text format of Prometheus.

    For the textfile collector of the node exporter, by a timer. A platform that does not answer is a metric, too, and
    the exit code 4. What was acknowledged or shelved at a deck of this machine counts here too. With `collector_url` in
    the settings these are the collector's; one that is away leaves nothing to print.
    """

    async def work() -> int:
        if folder is not None:
            await asyncio.to_thread(_write, folder)
            return DONE
        settings = load(**merge_flags(ctx, flags))
        if settings.collector_urls:
            async with AsyncExitStack() as stack:
                text = await (await make_link(settings, stack)).get_text("/metrics")
            echo(text.removesuffix("\n"))
            return UNREACHABLE if _LINK_DOWN in text.splitlines() else DONE
        async with make_api(settings) as api:
            monitor = make_monitor(api, settings=settings, answers=read_answers(settings))
            snapshot = await monitor.wait_ready(TIMEOUT)
        render_time = RenderTime.from_snapshot(snapshot, SystemClock().now())
        echo(metrics_text(snapshot, render_time, __version__, Counted(requests=api.request_counts)).removesuffix("\n"))
        return code_of_link(snapshot.link)

    ctx.exit(run(work))


def _write(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in metric_files().items():
        replace_file(folder / name, text.encode())
        echo(folder / name)

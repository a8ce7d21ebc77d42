"""Metrics for Prometheus (`livedeck status --format prometheus`), with a dashboard and alert rules for them."""

from __future__ import annotations

import asyncio
import re
from contextlib import AsyncExitStack
from pathlib import Path

import click

from livedeck import __version__
from livedeck.atomic_file import replace_file
from livedeck.cli import options
from livedeck.cli.exit_codes import DONE, UNREACHABLE, code_of_link, run
from livedeck.cli.output import echo
from livedeck.cli.wiring import SystemClock, history_reader, make_api, make_link, make_monitor
from livedeck.presentation.metrics import LINK_UP, Counted, metrics_text
from livedeck.presentation.prometheus import metric_files
from livedeck.presentation.render_time import RenderTime
from livedeck.settings import Settings

TIMEOUT = 15.0
"""Seconds to wait until every event on air has been judged."""

_LINK_DOWN = f"{LINK_UP.name} 0"
_PLAIN_ADDRESS = re.compile(r"https?://[\w.:/~%+@-]+", re.ASCII)


async def print_metrics(settings: Settings) -> int:
    """Print the metrics of the platform or, with `collector_url`, of the collector. Returns the exit code."""
    if settings.collector_urls:
        async with AsyncExitStack() as stack:
            text = await (await make_link(settings, stack)).get_text("/metrics")
        echo(text.removesuffix("\n"))
        return UNREACHABLE if _LINK_DOWN in text.splitlines() else DONE
    async with make_api(settings) as api:
        monitor = make_monitor(api, settings=settings, reader=history_reader(settings))
        snapshot = await monitor.wait_ready(TIMEOUT)
    render_time = RenderTime.from_snapshot(snapshot, SystemClock().now())
    echo(metrics_text(snapshot, render_time, __version__, Counted(requests=api.request_counts)).removesuffix("\n"))
    return code_of_link(snapshot.link) or (DONE if snapshot.is_whole else UNREACHABLE)


def _check_docs_url(_ctx: click.Context, _param: click.Parameter, value: str) -> str:
    """Return the address unchanged. Raises BadParameter if it is not http or https, or has unusual characters."""
    if value and not _PLAIN_ADDRESS.fullmatch(value):
        raise click.BadParameter("give an address that begins with http:// or https://")
    return value


@click.command
@options.output("FOLDER", required=True, type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--docs-url",
    default="",
    metavar="URL",
    callback=_check_docs_url,
    help="Address of the site that `livedeck docs --site` builds, for the runbook links of the alerts.",
)
@click.pass_context
def dashboard_command(ctx: click.Context, /, *, output: Path, docs_url: str) -> None:
    """Write a dashboard for Grafana and alert rules for Prometheus into FOLDER.

    Both read the metrics of the collector. Each alert links to its page of the documentation. Replaces existing files.
    Sends no request to the platform.
    """

    async def work() -> int:
        await asyncio.to_thread(_write, output, docs_url)
        return DONE

    ctx.exit(run(work))


def _write(folder: Path, docs_url: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in metric_files(docs_url).items():
        replace_file(folder / name, text.encode())
        echo(folder / name)

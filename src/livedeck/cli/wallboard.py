"""`livedeck wallboard`: a screen on the wall of a control room, read-only by construction."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from livedeck import settings as configuration
from livedeck.cli.attending import attending
from livedeck.cli.build import SystemClock, make_api, make_monitor
from livedeck.cli.exits import FAULT, run
from livedeck.cli.leaving import end_on_signals
from livedeck.cli.options import appearance, given, platform
from livedeck.cli.renewing import Renewal, renewing
from livedeck.cli.responsive import responsive
from livedeck.cli.wall_pictures import Gallery, check
from livedeck.monitor import Glance, Snapshot
from livedeck.settings import Settings
from livedeck.ui.filtering import FilterError, Term, parse
from livedeck.ui.renderables.event_rows import EVENTS
from livedeck.ui.wallboard.app import Wallboard
from livedeck.ui.wallboard.board import Wall
from livedeck.ui.wallboard.glyphs import LARGEST, PLAIN
from livedeck.ui.wallboard.plan import TILES

UNSEEN = (160, 45)
"""Cells and lines of a wall that only a browser shows: 16 to 9, a cell being half as wide as it is high."""


@dataclass(frozen=True, slots=True)
class Outlets:
    """Where the picture goes besides the terminal."""

    svg: Path | None = None
    port: int | None = None

    def __bool__(self) -> bool:
        return self.svg is not None or self.port is not None


@click.command
@click.option("--filter", "wanted", default="", metavar="FILTER", help="Only the events that match: `choir !test`.")
@click.option("--project", metavar="ID", help="Only the events of that project or folder.")
@click.option("--page-seconds", default=20.0, show_default=True, type=click.FloatRange(2, 3600), help="Per page, s.")
@click.option(
    "--tiles", default=TILES, show_default=True, type=click.IntRange(0, 16), help="A tile each up to so many."
)
@click.option("--scale", type=click.IntRange(PLAIN, LARGEST), help="Size of the letters. [default: as large as fits]")
@click.option("--svg", type=click.Path(dir_okay=False, path_type=Path), help="Write the picture there, each time anew.")
@click.option("--http", "port", metavar="PORT", type=click.IntRange(0, 65535), help="Show it to a browser on loopback.")
@platform
@appearance
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    wanted: str,
    project: str | None,
    page_seconds: float,
    tiles: int,
    scale: int | None,
    svg: Path | None,
    port: int | None,
    **flags: Any,
) -> None:
    """A screen for the wall: what is on air, what is wrong, what is next. Asks nothing, changes nothing.

    Without a terminal it draws for --svg and --http alone. q leaves; the arrows, the page keys and space turn pages.
    """
    conditions = terms(wanted, project)
    wall = Wall(tiles, scale or 0, page_seconds=page_seconds)

    async def work() -> int:
        settings = configuration.load(**given(ctx, flags))
        return await _show(settings, wall, conditions, Outlets(svg, port))

    ctx.exit(run(work))


def terms(wanted: str, project: str | None) -> tuple[Term, ...]:
    """The conditions of --filter and --project together. Raises UsageError."""
    try:
        parsed = parse(wanted, EVENTS.said())
    except FilterError as error:
        raise click.UsageError(f"--filter: {error}") from None
    return (*parsed, Term("project", "=", project.casefold())) if project else parsed


async def _show(settings: Settings, wall: Wall, conditions: tuple[Term, ...], outlets: Outlets) -> int:
    reason = configuration.why_no_screen()
    if reason and not outlets:
        from livedeck.cli.status import report

        click.echo(f"livedeck wallboard: {reason}; printing the status instead", err=True)
        return await report(settings, as_json=False)
    async with watching(settings) as (snapshots, clock):
        gallery = Gallery()
        app = Wallboard(
            snapshots,
            clock,
            wall if not settings.ascii else Wall(wall.tiles, PLAIN, page_seconds=wall.page_seconds),
            terms=conditions,
            theme=settings.theme,
            ascii_only=settings.ascii,
            unseen=bool(reason),
            published=gallery.publish if outlets else None,
            log_file=configuration.log_path(),
        )
        return await _run(app, gallery, outlets, headless=bool(reason))


@asynccontextmanager
async def watching(settings: Settings) -> AsyncIterator[tuple[AsyncGenerator[Snapshot, None], SystemClock]]:
    """The snapshots of that platform, through a client that can only read."""
    clock = SystemClock()
    async with make_api(settings.model_copy(update={"read_only": True}), clock=clock) as api:
        monitor = make_monitor(api, clock, settings=settings)
        snapshots = renewing(monitor, Renewal(api, settings, clock, monitor.poke))
        file = settings.history_file()
        rules = settings.limits().attention
        yield attending(snapshots, Glance(file), clock, rules) if file else snapshots, clock


async def _run(app: Wallboard, gallery: Gallery, outlets: Outlets, *, headless: bool) -> int:
    end_on_signals(app.exit)
    async with AsyncExitStack() as stack:
        if outlets.svg:
            try:
                check(outlets.svg)
            except OSError as error:
                click.echo(f"livedeck wallboard: {outlets.svg}: {error.strerror}", err=True)
                return FAULT
            await stack.enter_async_context(gallery.kept(outlets.svg))
        if outlets.port is not None:
            from livedeck.cli.wall_page import bound, shown_at

            try:
                listener = stack.enter_context(bound(outlets.port))
            except OSError as error:
                click.echo(f"livedeck wallboard: port {outlets.port} of this machine: {error.strerror}", err=True)
                return FAULT
            address = await stack.enter_async_context(shown_at(listener, gallery.svg))
            if headless:
                click.echo(f"livedeck wallboard: {address}")
        responsive()
        code = await app.run_async(headless=headless, size=UNSEEN if headless else None, mouse=False)
    return app.return_code or code or 0

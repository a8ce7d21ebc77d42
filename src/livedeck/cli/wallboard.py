"""`livedeck wallboard`: a screen for the wall of a control room, and the same as a picture and as a page."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from livedeck.atomic_file import resolve_target
from livedeck.cli.exit_codes import FAULT, run
from livedeck.cli.imports import lasting_imports
from livedeck.cli.options import appearance, merge_flags, platform
from livedeck.cli.output import echo
from livedeck.cli.signals import end_on_signals
from livedeck.cli.wiring import SystemClock, make_api, make_monitor, read_answers
from livedeck.environment import log_path, no_screen_reason
from livedeck.monitor import Clock, Snapshot
from livedeck.presentation.events import EVENTS
from livedeck.presentation.filtering import FilterError, Term, parse
from livedeck.settings import Settings, SettingsError, load
from livedeck.ui.wallboard.glyphs import MAX_SCALE, PLAIN
from livedeck.ui.wallboard.layout import MAX_TILES, Wall

if TYPE_CHECKING:
    from livedeck.cli.wall_server import SvgPublisher
    from livedeck.ui.wallboard.app import Wallboard


HEADLESS_SIZE = (160, 45)
"""Columns and rows of a wall that only a browser shows: 16 to 9, a cell being half as wide as it is high."""


@dataclass(frozen=True, slots=True)
class WallOutputs:
    """Where the picture goes besides the terminal: a file, a port of loopback."""

    svg: Path | None = None
    port: int | None = None

    def __bool__(self) -> bool:
        return self.svg is not None or self.port is not None


@click.command
@click.option("--filter", "filter_text", default="", metavar="FILTER", help="Only what matches: `choir !test`.")
@click.option("--project", metavar="ID", help="Only the events of that project or folder.")
@click.option("--page-seconds", default=20.0, show_default=True, type=click.FloatRange(2, 3600), help="Per page, s.")
@click.option(
    "--tiles", default=MAX_TILES, show_default=True, type=click.IntRange(0, 16), help="A tile each up to so many."
)
@click.option("--scale", type=click.IntRange(PLAIN, MAX_SCALE), help="Size of the letters. [default: as large as fits]")
@click.option("--svg", type=click.Path(path_type=Path), help="Write the picture there, each time anew.")
@click.option("--http", "port", metavar="PORT", type=click.IntRange(0, 65535), help="Show it to a browser on loopback.")
@platform
@appearance
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    filter_text: str,
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
    terms = parse_terms(filter_text, project)
    wall = Wall(tiles, scale or 0, page_seconds=page_seconds)

    async def work() -> int:
        return await run_wallboard(load(**merge_flags(ctx, flags)), wall, terms, WallOutputs(svg, port))

    ctx.exit(run(work, is_screen=True))


def parse_terms(filter_text: str, project: str | None) -> tuple[Term, ...]:
    """The conditions of --filter and --project together. Raises UsageError."""
    try:
        terms = parse(filter_text, EVENTS.filter_fields())
    except FilterError as error:
        raise click.UsageError(f"--filter: {error}") from None
    return (*terms, Term("project", "=", project.casefold())) if project else terms


async def run_wallboard(settings: Settings, wall: Wall, terms: tuple[Term, ...], outputs: WallOutputs) -> int:
    """The wall, or the status where nobody would see it. Returns the exit code. Raises SettingsError."""
    if outputs.svg:
        try:
            resolve_target(outputs.svg)
        except OSError as error:
            raise SettingsError(f"--svg {outputs.svg}: {error.strerror}") from None
    reason = no_screen_reason()
    if reason and not outputs:
        from livedeck.cli.status import print_status

        echo(f"livedeck wallboard: {reason}; printing the status instead", err=True)
        return await print_status(settings, as_json=False)
    publisher = None
    with lasting_imports():
        from livedeck.ui.kit.driver import terminal_guard
        from livedeck.ui.wallboard.app import Wallboard

        if outputs:
            from livedeck.cli.wall_server import SvgPublisher

            publisher = SvgPublisher()
    async with watch_platform(settings) as (snapshots, clock):
        app = Wallboard(
            snapshots,
            clock,
            replace(wall, scale=PLAIN) if settings.ascii else wall,
            terms=terms,
            theme=settings.theme,
            ascii_only=settings.ascii,
            unseen=bool(reason),
            published=publisher.publish if publisher else None,
            log_file=log_path(),
        )
        with end_on_signals(app.end, terminal_guard()):
            return await _run_app(app, publisher, outputs, headless=bool(reason))


@asynccontextmanager
async def watch_platform(settings: Settings) -> AsyncIterator[tuple[AsyncGenerator[Snapshot, None], Clock]]:
    """The snapshots of that platform, through a client that can only read."""
    clock = SystemClock()
    async with make_api(settings.model_copy(update={"read_only": True}), clock=clock) as api:
        monitor = make_monitor(api, clock, settings=settings, answers=read_answers(settings))
        yield monitor.snapshots(), monitor.clock


async def _run_app(app: Wallboard, publisher: SvgPublisher | None, outputs: WallOutputs, *, headless: bool) -> int:
    async with AsyncExitStack() as stack:
        if publisher:
            from livedeck.cli.wall_server import check_folder, listen, serve_wall

            if outputs.svg:
                try:
                    check_folder(outputs.svg)
                except OSError as error:
                    echo(f"livedeck wallboard: {outputs.svg}: {error.strerror}", err=True)
                    return FAULT
                await stack.enter_async_context(publisher.write_to(outputs.svg))
            if outputs.port is not None:
                try:
                    listener = stack.enter_context(listen(outputs.port))
                except OSError as error:
                    echo(f"livedeck wallboard: port {outputs.port} of this machine: {error.strerror}", err=True)
                    return FAULT
                address = await stack.enter_async_context(serve_wall(listener, publisher.svg))
                if headless:
                    echo(f"livedeck wallboard: {address}")
        code = await app.run_async(headless=headless, size=HEADLESS_SIZE if headless else None, mouse=False)
    return app.return_code or code or 0

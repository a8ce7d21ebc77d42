"""`livedeck wall`: a wall screen for a control room, in the terminal, as a picture file and as a web page."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from livedeck.atomic_file import resolve_target
from livedeck.cli.exit_codes import FAULT, run
from livedeck.cli.exposure import LOOPBACK, ORIGIN, Exposure
from livedeck.cli.options import appearance, merge_flags, platform
from livedeck.cli.output import echo
from livedeck.cli.process import end_on_signals, lasting_imports
from livedeck.cli.wiring import Watch, open_watch
from livedeck.environment import log_path, no_screen_reason
from livedeck.presentation.events import EVENTS
from livedeck.presentation.filtering import FilterError, Term, parse
from livedeck.settings import Settings, SettingsError, WatchedLimits, load
from livedeck.ui.wallboard.glyphs import MAX_SCALE, PLAIN
from livedeck.ui.wallboard.layout import MAX_TILES, Wall

if TYPE_CHECKING:
    from livedeck.ui.wallboard.app import Picture
    from livedeck.ui.wallboard.model import WallModel


HEADLESS_SIZE = (160, 45)
"""Columns and rows of a wall without a terminal. The picture is 16:9, since a cell is half as wide as high."""


MAX_PORT = 65535


@dataclass(frozen=True, slots=True)
class WallOutputs:
    """Outputs of the wall besides the terminal: a picture file, and a page at an address of this machine."""

    svg: Path | None = None
    exposure: Exposure | None = None

    def __bool__(self) -> bool:
        return self.svg is not None or self.exposure is not None


def frame_ancestors(_ctx: click.Context, _parameter: click.Parameter, origins: tuple[str, ...]) -> tuple[str, ...]:
    """Return the origins of --frame-ancestors. Raises BadParameter if one is not an origin."""
    for origin in origins:
        if not ORIGIN.fullmatch(origin):
            raise click.BadParameter(f"{origin!r} is not an origin; write https://desk.example, or 'self'")
    return origins


def parse_place(text: str) -> tuple[str, int]:
    """Return host and port of `8080`, `:8080`, `0.0.0.0:8080` or `[::1]:8080`. Raises click.BadParameter."""
    host, _, port = text.rpartition(":")
    if not port.isascii() or not port.isdecimal() or int(port) > MAX_PORT or (":" in host and not host.startswith("[")):
        raise click.BadParameter(f"{text!r} is not an address; write 8080, 0.0.0.0:8080 or [::1]:8080")
    return host.removeprefix("[").removesuffix("]") or LOOPBACK, int(port)


def refuse_past(_ctx: click.Context, _parameter: click.Parameter, moment: str | None) -> None:
    """Raise BadParameter for --at: the wall shows only the present."""
    if moment is not None:
        raise click.BadParameter("the wall shows only the present; `livedeck --at TIME` shows the past in the deck")


@click.command
@click.option("--at", metavar="TIME", hidden=True, expose_value=False, callback=refuse_past)
@click.option("--filter", "filter_text", default="", metavar="FILTER", help="Show events that match: choir !test.")
@click.option("--project", metavar="ID", help="Show the events of this project or folder.")
@click.option(
    "--page-seconds",
    default=20.0,
    show_default=True,
    type=click.FloatRange(2, 3600),
    help="Seconds that a page is shown.",
)
@click.option(
    "--tiles", default=MAX_TILES, show_default=True, type=click.IntRange(0, 16), help="Maximum number of tiles."
)
@click.option("--scale", type=click.IntRange(PLAIN, MAX_SCALE), help="Size of the letters. [default: the largest]")
@click.option("--pictures", is_flag=True, help="Show browsers the pictures that viewers get, if a probe runs.")
@click.option("--svg", type=click.Path(path_type=Path), help="Write the wall as a picture to this file.")
@click.option("--http", "place", metavar="[HOST:]PORT", type=parse_place, help="Serve the wall as a page for browsers.")
@click.option(
    "--frame-ancestors",
    multiple=True,
    metavar="ORIGIN",
    callback=frame_ancestors,
    help="Let this site show the page in a frame: https://desk.example; may be repeated.",
)
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
    pictures: bool,
    svg: Path | None,
    place: tuple[str, int] | None,
    frame_ancestors: tuple[str, ...],
    **flags: Any,
) -> None:
    """Show a wall screen: what is on air, what is wrong, what is next. It never prompts and changes nothing.

    Without a terminal, give --svg or --http. --http takes a port of this machine, or HOST:PORT; anyone who reaches that
    address can read the wall. q leaves; the arrows, the page keys and space turn pages.
    """
    terms = parse_terms(filter_text, project)
    wall = Wall(tiles, scale or 0, page_seconds=page_seconds, has_pictures=pictures)
    exposure = Exposure(place[1], place[0], frame_ancestors) if place else None

    async def work() -> int:
        return await run_wallboard(load(**merge_flags(ctx, flags)), wall, terms, WallOutputs(svg, exposure))

    ctx.exit(run(work, is_screen=True))


def parse_terms(filter_text: str, project: str | None) -> tuple[Term, ...]:
    """Return the filter conditions of --filter and --project together. Raises UsageError."""
    try:
        terms = parse(filter_text, EVENTS.filter_fields())
    except FilterError as error:
        raise click.UsageError(f"--filter: {error}") from None
    return (*terms, Term("project", "=", project.casefold())) if project else terms


async def run_wallboard(settings: Settings, wall: Wall, terms: tuple[Term, ...], outputs: WallOutputs) -> int:
    """Run the wall, or print the status if it has no output. Returns the exit code. Raises SettingsError."""
    if outputs.svg:
        try:
            resolve_target(outputs.svg)
        except OSError as error:
            raise SettingsError(f"--svg {outputs.svg}: {error.strerror}") from None
    reason = no_screen_reason()
    if reason and not outputs:
        from livedeck.cli.status_report import print_status

        echo(f"livedeck wall: {reason}; printing the status instead", err=True)
        return await print_status(settings, as_json=False)
    with lasting_imports():
        from livedeck.ui.kit.driver import terminal_guard
        from livedeck.ui.wallboard.app import Wallboard

    read_only = settings.model_copy(update={"read_only": True})
    if settings.follow_clock and not settings.collector_urls:
        raise SettingsError("--follow-clock: a wall takes the simulator's clock from a collector; set collector_url")
    async with open_watch(read_only, limits_source=WatchedLimits(), probes=True) as watch, AsyncExitStack() as stack:
        try:
            opened = await _open_outputs(outputs, stack, wall, watch, settings.theme)
        except OSError as error:
            echo(f"livedeck wall: {error.filename}: {error.strerror}", err=True)
            return FAULT
        app = Wallboard(
            watch.feed.snapshots(),
            watch.feed.clock,
            replace(wall, scale=PLAIN) if settings.ascii else wall,
            terms=terms,
            theme=settings.theme,
            ascii_only=settings.ascii,
            has_terminal=not reason,
            published=opened.publish_picture,
            modelled=opened.publish_model,
            log_file=log_path(),
        )
        if reason and opened.address:
            echo(f"livedeck wall: {opened.address}")
        with end_on_signals(app.end, terminal_guard()):
            code = await app.run_async(headless=bool(reason), size=HEADLESS_SIZE if reason else None, mouse=False)
        return app.return_code or code or 0


class OpenOutputs(NamedTuple):
    """Open outputs of the wall.

    `publish_picture`: called with each picture; None without a file for pictures. `publish_model`: called with each
    model; None without a page. `address`: address of the page, or empty.
    """

    publish_picture: Callable[[Picture], None] | None = None
    publish_model: Callable[[WallModel], None] | None = None
    address: str = ""


async def _open_outputs(
    outputs: WallOutputs, stack: AsyncExitStack, wall: Wall, watch: Watch, theme: str
) -> OpenOutputs:
    """Open the outputs; the stack closes them. Raises OSError that names the file or address that cannot be used."""
    opened = OpenOutputs()
    if outputs.svg:
        from livedeck.cli.wall.picture import SvgPublisher, check_folder

        check_folder(outputs.svg)
        picture = SvgPublisher()
        await stack.enter_async_context(picture.write_to(outputs.svg))
        opened = opened._replace(publish_picture=picture.publish)
    if outputs.exposure:
        from livedeck.cli.wall.page import PagePublisher, serve_wall
        from livedeck.cli.wall.posters import Posters

        listener = stack.enter_context(outputs.exposure.listen())
        pages, posters = (
            PagePublisher(wall),
            Posters(
                watch.api.cdn.content if watch.api else None,
                watch.feed.clock.monotonic,
                watch.feed.viewer_picture if wall.has_pictures else None,
            ),
        )
        server = serve_wall(listener, pages, posters, outputs.exposure, theme=theme)
        opened = opened._replace(publish_model=pages.publish, address=await stack.enter_async_context(server))
    return opened

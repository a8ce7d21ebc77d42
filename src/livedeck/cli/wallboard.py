"""What is acknowledged at a deck on this machine, on the wall beside it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import click
import structlog

from livedeck import settings as configuration
from livedeck.cli.exit_codes import FAULT, run
from livedeck.cli.options import appearance, given, platform
from livedeck.cli.signals import end_on_signals
from livedeck.cli.start_screen import responsive
from livedeck.cli.token import Renewal, renewing
from livedeck.cli.wiring import SystemClock, make_api, make_monitor
from livedeck.monitor import Alarm, AlarmLimits, Clock, HistoryReader, Snapshot, sync_acknowledgements
from livedeck.presentation.events import EVENTS
from livedeck.presentation.filtering import FilterError, Term, parse
from livedeck.settings import Settings
from livedeck.ui.wallboard.app import Picture, Wallboard
from livedeck.ui.wallboard.glyphs import MAX_SCALE, PLAIN
from livedeck.ui.wallboard.layout import MAX_TILES, Wall

PAUSE = 2.0

"""Seconds at least between two looks at the deck's history."""


async def attending(
    snapshots: AsyncGenerator[Snapshot, None], glance: HistoryReader, clock: Clock, rules: AlarmLimits
) -> AsyncGenerator[Snapshot, None]:
    """The snapshots, with the alarms as the deck has them. None waits for the file: it is read after one is shown."""
    others, due = tuple[Alarm, ...](), clock.monotonic()
    async with aclosing(snapshots):
        async for snapshot in snapshots:
            yield sync_acknowledgements(snapshot, others, rules)
            if clock.monotonic() >= due:
                others = await glance.alarms()
                due = clock.monotonic() + PAUSE


_log: Any = structlog.get_logger("livedeck.wallboard")


class SvgPublisher:
    """Takes each picture as it is made; draws it when somebody wants it, once, and off the loop."""

    def __init__(self) -> None:
        self._picture: Picture | None = None
        self._drawn: tuple[Picture, bytes] | None = None
        self._drawing = asyncio.Lock()
        self._news, self._over = asyncio.Event(), False

    def publish(self, picture: Picture) -> None:
        """This is on the wall now."""
        self._picture = picture
        self._news.set()

    async def svg(self) -> bytes | None:
        """The newest picture; None before the first."""
        async with self._drawing:
            picture = self._picture
            if picture and (self._drawn is None or self._drawn[0] is not picture):
                self._drawn = picture, await asyncio.to_thread(_drawn, picture)
        return self._drawn[1] if self._drawn else None

    @asynccontextmanager
    async def kept(self, target: Path) -> AsyncIterator[None]:
        """Write each picture to that file while the block runs, and the last one at its end; whole or not at all."""
        writing = asyncio.create_task(self._keep(target))
        try:
            yield
        finally:
            self._over = True
            self._news.set()
            await writing

    async def _keep(self, target: Path) -> None:
        failing = ""
        while self._news.is_set() or not self._over:
            await self._news.wait()
            self._news.clear()
            failing = await self._write(target, failing)

    async def _write(self, target: Path, failing: str) -> str:
        """Write the newest picture. Returns why it could not be, or nothing; `failing`: the same of the last time."""
        try:
            svg = await self.svg()
            if svg:
                await asyncio.to_thread(replaced, target, svg)
            why = ""
        except Exception as error:  # noqa: BLE001  the top of a task; logged once, not at every picture
            why = getattr(error, "strerror", None) or repr(error)
            if why != failing:
                _log.warning("the picture cannot be written", path=str(target), why=why, exc_info=True)
        if failing and not why:
            _log.info("the picture is written again", path=str(target))
        return why


def replaced(target: Path, content: bytes) -> None:
    """Put that in place of the file at once. Not synced: a second later there is another one. Raises OSError."""
    target = target.resolve()  # a link stays a link
    half = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        half.write_bytes(content)
        half.replace(target)
    except BaseException:
        half.unlink(missing_ok=True)
        raise


def check(target: Path) -> None:
    """Raises OSError where no file can be made beside that one."""
    with TemporaryFile(dir=target.resolve().parent):
        pass


def _drawn(picture: Picture) -> bytes:
    return picture.svg().encode()


UNSEEN = (160, 45)

"""Cells and lines of a wall that only a browser shows: 16 to 9, a cell being half as wide as it is high."""


@dataclass(frozen=True, slots=True)
class WallOutputs:
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
    "--tiles", default=MAX_TILES, show_default=True, type=click.IntRange(0, 16), help="A tile each up to so many."
)
@click.option("--scale", type=click.IntRange(PLAIN, MAX_SCALE), help="Size of the letters. [default: as large as fits]")
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
        return await _show(settings, wall, conditions, WallOutputs(svg, port))

    ctx.exit(run(work))


def terms(wanted: str, project: str | None) -> tuple[Term, ...]:
    """The conditions of --filter and --project together. Raises UsageError."""
    try:
        parsed = parse(wanted, EVENTS.filter_fields())
    except FilterError as error:
        raise click.UsageError(f"--filter: {error}") from None
    return (*parsed, Term("project", "=", project.casefold())) if project else parsed


async def _show(settings: Settings, wall: Wall, conditions: tuple[Term, ...], outlets: WallOutputs) -> int:
    reason = configuration.why_no_screen()
    if reason and not outlets:
        from livedeck.cli.status import report

        click.echo(f"livedeck wallboard: {reason}; printing the status instead", err=True)
        return await report(settings, as_json=False)
    async with watching(settings) as (snapshots, clock):
        gallery = SvgPublisher()
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
        snapshots = renewing(monitor, Renewal(api, settings, clock, monitor.refresh))
        file = settings.history_file()
        rules = settings.limits().attention
        yield attending(snapshots, HistoryReader(file), clock, rules) if file else snapshots, clock


async def _run(app: Wallboard, gallery: SvgPublisher, outlets: WallOutputs, *, headless: bool) -> int:
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
            from livedeck.cli.wall_server import bound, shown_at

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

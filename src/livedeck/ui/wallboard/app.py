"""The wallboard's app: it shows snapshots and turns pages. It has no way to the platform and asks nobody anything."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import structlog
from rich.cells import cell_len
from rich.console import RenderableType
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.color import Color
from textual.filter import LineFilter
from textual.geometry import Region, Size
from textual.screen import Screen
from textual.strip import Strip

from livedeck.monitor import Clock, Snapshot
from livedeck.presentation.filtering import Term
from livedeck.presentation.render_time import RenderTime
from livedeck.text.segments import Line, StyleRole, fit
from livedeck.ui.kit import themes
from livedeck.ui.kit.canvas import Canvas
from livedeck.ui.kit.terminal import Ascii, ExactApp, Plain
from livedeck.ui.kit.themes import Palette, StyleSpec
from livedeck.ui.wallboard import paint
from livedeck.ui.wallboard.layout import PageState, Wall, WallLayout, shifted, turn_page, turned
from livedeck.ui.wallboard.model import unanswered, wall_model
from livedeck.ui.wallboard.svg import svg
from livedeck.ui.wallboard.tiles import Recent

log = structlog.get_logger()


BREATH = 0.02

"""Seconds of rest at least between two ticks."""


@dataclass(frozen=True, slots=True)
class Picture:
    """What is on the wall now."""

    lines: tuple[Line, ...]
    size: tuple[int, int]
    palette: Palette
    dim: bool

    def svg(self) -> str:
        """The same for a browser."""
        return svg(self.lines, self.size, self.palette, dim=self.dim)


class WallCanvas(Canvas):
    """The whole wall: one widget, and only the cells that differ are sent to the terminal."""

    app: Wallboard

    def draw(self, width: int, height: int) -> list[Line]:
        return self.app.drawn(width, height)

    def mark(self, regions: Iterable[Region]) -> int:
        marked = list(regions)
        self._styles_cache.set_dirty(*marked)
        self.app.send([(region, self._part(region)) for region in marked])
        return len(marked)

    def _part(self, region: Region) -> Strip:
        begun, first, end, spans = 0, region.x, region.right, list[Segment]()
        for text, ink in self._lines[region.y]:
            if begun >= end:
                break
            length = cell_len(text)
            if begun + length <= region.x:
                first = region.x - begun - length
            else:
                spans.append(Segment(text, self.app.styles_of_inks[ink]))
            begun += length
        return Strip(spans).crop(first, first + region.width)

    def render_line(self, y: int) -> Strip:
        line, inks = self._lines[y] if y < len(self._lines) else [], self.app.styles_of_inks
        return Strip([Segment(text, inks[ink]) for text, ink in fit(line, self.size.width)], self.size.width)

    def repaint(self) -> int:
        changed = super().repaint()
        self.app.publish(self.size)
        return changed


class WallScreen(Screen[None], inherit_bindings=False):
    """Nothing but the canvas: no focus, no selection, no key of its own."""

    AUTO_FOCUS = ""
    ALLOW_SELECT = False

    def compose(self) -> ComposeResult:
        yield WallCanvas(id="wall")


class Wallboard(ExactApp, inherit_bindings=False):
    """Shows what comes out of `snapshots` until q. `clock` is the machine's own.

    `terms`: the filter. `theme`: a name of `themes.PALETTES`, or AUTO. `unseen`: there is no
    terminal. `published`: told each new picture. `log_file`:
    named when the wall has to give up.
    """

    CSS = "WallScreen { background: $background; layers: wall; } #wall { width: 100%; height: 100%; }"
    TITLE = "livedeck wallboard"
    ENABLE_COMMAND_PALETTE = False
    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q,ctrl+c", "leave", "Leave", show=False, priority=True),
        Binding("right,pagedown,space", "page(1)", "Next page", show=False),
        Binding("left,pageup", "page(-1)", "Page before", show=False),
    ]

    def __init__(
        self,
        snapshots: AsyncGenerator[Snapshot, None],
        clock: Clock,
        wall: Wall,
        *,
        terms: tuple[Term, ...] = (),
        theme: str = themes.AUTO,
        ascii_only: bool = False,
        unseen: bool = False,
        published: Callable[[Picture], None] | None = None,
        log_file: Path | None = None,
    ) -> None:
        super().__init__()
        for each in themes.textual():
            self.register_theme(each)
        colours = "truecolor" if unseen else self.console.color_system
        self.theme = themes.fitting(theme, no_color=self.no_color and not unseen, colours=colours)
        self._line_filters = [Ascii(enabled=True)] if ascii_only else []
        self._snapshots, self._clock, self._wall, self._terms = snapshots, clock, wall, terms
        self._published, self._log_file = published, log_file
        self._snapshot: Snapshot | None = None
        self._fault = ""
        self._turn, self._pages, self._begun = PageState(), 1, clock.monotonic()
        self._recent = Recent()
        self._dim = False
        self._drawn: list[Line] = []
        self._last: Picture | None = None
        self.styles_of_inks = self._styles()

    def get_default_screen(self) -> Screen[Any]:
        return WallScreen()

    def get_line_filters(self) -> Sequence[LineFilter]:
        """No colour code in a theme without colour, only ASCII where that is asked."""
        plain = [Plain(enabled=True)] if self.palette.plain else []
        return [*super().get_line_filters(), *plain, *self._line_filters]

    @property
    def palette(self) -> Palette:
        """The theme in force."""
        return themes.PALETTES[self.theme]

    def on_mount(self) -> None:
        self.run_worker(self._watch(), name="snapshots", exit_on_error=False)
        self.run_worker(self._tick(), name="tick")

    async def _watch(self) -> None:
        """Show each snapshot as it comes. Should they ever end, the wall says so: frozen is not fine."""
        try:
            async with aclosing(self._snapshots) as snapshots:
                async for snapshot in snapshots:
                    self._snapshot = snapshot
                    self.repaint()
            self._fault = "no more snapshots"
        except Exception as error:
            log.exception("the monitor stopped")
            self._fault = f"{type(error).__name__}; see {self._log_file or 'the log'}"
        self.repaint()

    async def _tick(self) -> None:
        """Repaint at each full second of the wall clock: its seconds neither drift nor skip."""
        while True:
            self.repaint()
            await self._clock.sleep(max(BREATH, 1.0 - self._clock.now().microsecond / 1e6))

    def repaint(self) -> None:
        """Draw for this moment and send what differs."""
        for canvas in self.screen.query(WallCanvas):
            canvas.repaint()

    def drawn(self, width: int, height: int) -> list[Line]:
        """The wall for that size, a cell smaller either way: the rest is where the picture moves."""
        if self._snapshot is None:
            return []
        now = self._clock.monotonic()
        at = self._clock.now()
        moment = RenderTime.from_snapshot(self._snapshot, at, watched=not self._fault, blink_on=at.second % 2 == 0)
        seen = wall_model(self._snapshot, moment, self._terms, self._fault)
        self._recent.forget({state.id for state in seen.states})
        self._dimmed(dim=seen.calm)
        board = WallLayout(self._wall, seen, (max(1, width - 1), max(1, height - 1)), self._recent)
        self._pages = len(board.plan.pages)
        pinned = board.plan.pages_of(unanswered(seen))
        self._turn = turned(self._turn, now, self._pages, pinned, self._wall.page_seconds)
        self._drawn = shifted(board.draw(self._turn.page, self._turn.page in pinned), now - self._begun)
        return self._drawn

    def _dimmed(self, *, dim: bool) -> None:
        if dim is not self._dim:
            self._dim = dim
            self.styles_of_inks = self._styles()
            self.screen.query_one(WallCanvas).refresh()

    def _styles(self) -> dict[StyleRole, Style]:
        return {ink: _style(look) for ink, look in paint.looks(self.palette, dim=self._dim).items()}

    def publish(self, size: Size) -> None:
        """Tell of the picture, where it is another one."""
        if not self._published or not self._drawn:
            return
        picture = Picture(tuple(self._drawn), (size.width, size.height), self.palette, self._dim)
        if picture != self._last:
            self._last = picture
            self._published(picture)

    def action_page(self, step: int) -> None:
        """Turn to the next page or the one before."""
        self._turn = turn_page(self._turn, self._clock.monotonic(), self._pages, step)
        self.repaint()

    def exit(self, result: int | None = None, return_code: int = 0, message: RenderableType | None = None) -> None:
        """The last picture says that it is the last: a file may show it long after (frozen is not fine)."""
        if self._published and self._snapshot:
            self._fault = self._fault or "the wallboard was ended"
            self.repaint()
        super().exit(result, return_code, message)

    def action_leave(self) -> None:
        """End; the terminal is left as it was found."""
        self.exit(0)

    def _fatal_error(self) -> None:
        """A crash says where to read about it. It shows no local variables: they may hold a key or a token."""
        log.error("the wallboard ended with an error", exc_info=self._exception)
        where = f"; the log is {self._log_file}" if self._log_file else ""
        self._exit_renderables.append(Text(f"livedeck wallboard ended with {type(self._exception).__name__}{where}"))
        self._close_messages_no_wait()


def _style(look: StyleSpec) -> Style:
    words = look.style.split()
    return Style(
        color=Color.parse(look.colour).rich_color,
        bgcolor=Color.parse(look.ground).rich_color,
        bold="bold" in words or None,
        reverse="reverse" in words or None,
        underline="underline" in words or None,
        dim="dim" in words or None,
    )

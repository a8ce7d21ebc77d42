"""App of the wallboard. It shows snapshots and turns pages. It needs no operator and never changes the platform."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from rich.cells import cell_len
from rich.console import RenderableType
from rich.segment import Segment
from rich.style import Style
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.color import Color
from textual.filter import LineFilter
from textual.geometry import Region, Size
from textual.screen import Screen
from textual.strip import Strip

from livedeck.log import Log
from livedeck.monitor import Clock, RuleChange, Snapshot
from livedeck.presentation.filtering import Term
from livedeck.presentation.preflight import due_preflights
from livedeck.presentation.render_time import RenderTime
from livedeck.text.outside import shown
from livedeck.text.segments import Role, ShadedLine, render
from livedeck.ui.kit import themes
from livedeck.ui.kit.canvas import Canvas
from livedeck.ui.kit.driver import INTERRUPTED
from livedeck.ui.kit.line_filters import Ascii, Plain
from livedeck.ui.kit.terminal import ExactApp
from livedeck.ui.kit.themes import Palette, StyleSpec
from livedeck.ui.wallboard.cache import DrawCache
from livedeck.ui.wallboard.layout import PageState, Wall, WallLayout, next_page_state, shift_lines, turn_page
from livedeck.ui.wallboard.model import WallModel, wall_model
from livedeck.ui.wallboard.seats import Seats
from livedeck.ui.wallboard.styles import wall_style
from livedeck.ui.wallboard.svg import svg

log = Log(__name__)

MIN_PAUSE_SECONDS = 0.02
"""Minimum seconds between two ticks; each tick repaints the wall."""

MAX_RULE_CHANGES = 2
"""Maximum number of lines about changed rules for judging events. The newest changes are shown."""


@dataclass(frozen=True, slots=True)
class Picture:
    """Picture on the wall. `size`: its cells and lines. `dim`: True if its colours are dimmed."""

    lines: tuple[ShadedLine, ...]
    size: tuple[int, int]
    palette: Palette
    dim: bool

    def svg(self) -> str:
        """Return the picture as SVG, for a browser."""
        return svg(self.lines, self.size, self.palette, dim=self.dim)


class WallCanvas(Canvas):
    """Whole wall as one widget. It sends only the changed cells to the terminal."""

    app: Wallboard

    def draw(self, width: int, height: int) -> list[ShadedLine]:
        return self.app.draw(width, height)

    def refresh_regions(self, regions: Iterable[Region]) -> int:
        """Send the regions straight to the terminal, without the compositor, because nothing else is on the screen."""
        changed = list(regions)
        if not self.app.send((region, self._crop(region)) for region in changed):
            self.refresh(*changed)
        return len(changed)

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return the drawn lines. The widget's own cache is out of date, because it lacks the lines sent directly."""
        return [self.app.filtered(self.render_line(y)).crop(*crop.column_span) for y in crop.line_range]

    def _crop(self, region: Region) -> Strip:
        """Return the part of a line in a region. Only segments in the region are built."""
        start, left, segments = 0, region.x, list[Segment]()
        for outside, role in self._lines[region.y]:
            if start >= region.right:
                break
            text = shown(outside)
            length = cell_len(text)
            if start + length <= region.x:
                left = region.x - start - length
            else:
                segments.append(Segment(text, self.app.role_style(role)))
            start += length
        return Strip(segments).crop(left, left + region.width)

    def render_line(self, y: int) -> Strip:
        line, width = self._lines[y] if y < len(self._lines) else [], self.size.width
        return Strip([Segment(text, self.app.role_style(role)) for text, role in render(line, width)], width)

    def repaint(self) -> int:
        changed = super().repaint()
        self.app.publish(self.size)
        return changed


class WallScreen(Screen[None], inherit_bindings=False):
    """Screen with only the canvas: no focus, no selection, no keys of its own."""

    AUTO_FOCUS = ""
    ALLOW_SELECT = False

    def compose(self) -> ComposeResult:
        yield WallCanvas(id="wall")


class Wallboard(ExactApp, inherit_bindings=False):
    """Shows the snapshots of a monitor until somebody presses q.

    Args:
        snapshots: snapshots of the monitor.
        clock: this machine's clock.
        wall: settings of the wall.
        terms: filter of the events.
        theme: a name in `themes.PALETTES`, or AUTO.
        ascii_only: whether to draw only ASCII characters.
        has_terminal: whether the wall is shown in a terminal.
        published: called with each new picture.
        modelled: called with the model of each picture, before it is drawn.
        log_file: log to name in the message if the wall ends with an error.
    """

    CSS = "WallScreen { background: $background; layers: wall; } #wall { width: 100%; height: 100%; }"
    TITLE = "livedeck wall"
    ENABLE_COMMAND_PALETTE = False
    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "leave", "Leave", show=False, priority=True),
        Binding("ctrl+c", f"leave({INTERRUPTED})", show=False, priority=True),
        Binding("right,pagedown,space", "page(1)", "Next page", show=False),
        Binding("left,pageup", "page(-1)", "Previous page", show=False),
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
        has_terminal: bool = True,
        published: Callable[[Picture], None] | None = None,
        modelled: Callable[[WallModel], None] | None = None,
        log_file: Path | None = None,
    ) -> None:
        super().__init__()
        for textual_theme in themes.textual_themes():
            self.register_theme(textual_theme)
        color_system = self.console.color_system if has_terminal else "truecolor"
        self.theme = themes.select_theme(theme, no_color=self.no_color and has_terminal, color_system=color_system)
        self._line_filters = [Ascii(enabled=True)] if ascii_only else []
        self._snapshots, self._clock, self._wall, self._terms = snapshots, clock, wall, terms
        self._published, self._modelled, self._log_file = published, modelled, log_file
        self._snapshot: Snapshot | None = None
        self._rule_changes: deque[RuleChange] = deque(maxlen=MAX_RULE_CHANGES)
        self._fault = ""
        self._page_state, self._pages, self._started_at = PageState(), 1, clock.monotonic()
        self._cache, self._seats = DrawCache(), Seats()
        self._dim = False
        self._lines: list[ShadedLine] = []
        self._picture: Picture | None = None
        self._role_styles: dict[Role, Style] = {}

    def get_default_screen(self) -> Screen[Any]:
        return WallScreen()

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Return the line filters: one that removes colours in a plain theme, and one for ASCII if `ascii_only`."""
        plain = [Plain(enabled=True)] if self.palette.plain else []
        return [*super().get_line_filters(), *plain, *self._line_filters]

    @property
    def palette(self) -> Palette:
        """Palette of the theme in force."""
        return themes.PALETTES[self.theme]

    def on_mount(self) -> None:
        self.run_worker(self._watch(), name="snapshots", exit_on_error=False)
        self.run_worker(self._tick(), name="tick")

    async def _watch(self) -> None:
        """Show each snapshot as it arrives.

        After the last snapshot, show a fault, because an unchanged wall must not look good.
        """
        try:
            async with aclosing(self._snapshots) as snapshots:
                async for snapshot in snapshots:
                    self._snapshot = snapshot
                    self._rule_changes.extend(snapshot.rule_changes)
                    self.repaint()
            self._fault = "the monitor sends no more snapshots"
        except Exception as error:
            log.exception("the monitor stopped")
            self._fault = f"{type(error).__name__}; see {self._log_file or 'the log'}"
        self.repaint()

    async def _tick(self) -> None:
        """Repaint at each full second of the clock, so that the displayed seconds neither drift nor skip."""
        while True:
            self.repaint()
            await self._clock.sleep(max(MIN_PAUSE_SECONDS, 1.0 - self._clock.now().microsecond / 1e6))

    def repaint(self) -> None:
        """Draw the wall for this moment and send the changed cells."""
        for canvas in self.screen.query(WallCanvas):
            canvas.repaint()

    def draw(self, width: int, height: int) -> list[ShadedLine]:
        """Return the wall's lines for a size.

        The picture is one cell narrower and one line shorter than this size, so that it can shift.
        """
        if self._snapshot is None:
            return []
        tick, now = self._clock.monotonic(), self._clock.now()
        blink_on = now.second % 2 == 0
        render_time = RenderTime.from_snapshot(self._snapshot, now, watched=not self._fault, blink_on=blink_on)
        preflights = due_preflights(self._snapshot, render_time.server, is_read_only=True)
        render_time = replace(render_time, preflights=preflights)
        model = wall_model(self._snapshot, render_time, self._terms, self._fault, self._rule_changes)
        if self._modelled:
            self._modelled(model)
        self._cache.keep_only({state.id for state in model.states})
        self._set_dim(dim=model.is_idle)
        layout = WallLayout(self._wall, model, (max(1, width - 1), max(1, height - 1)), self._cache, self._seats)
        self._pages = layout.pages
        self._page_state = next_page_state(
            self._page_state, tick, layout.pages, layout.pinned_pages, self._wall.page_seconds
        )
        self._lines = shift_lines(layout.draw(self._page_state.page), tick - self._started_at)
        return self._lines

    def _set_dim(self, *, dim: bool) -> None:
        if dim is not self._dim:
            self._dim = dim
            self._role_styles = {}
            self.screen.query_one(WallCanvas).refresh()

    def role_style(self, role: Role) -> Style:
        """Return the current style of a role on this wall."""
        if role not in self._role_styles:
            self._role_styles[role] = _rich_style(wall_style(self.palette, role, dim=self._dim))
        return self._role_styles[role]

    def publish(self, size: Size) -> None:
        """Publish the picture for a browser if it has changed."""
        if not self._published or not self._lines:
            return
        picture = Picture(tuple(self._lines), (size.width, size.height), self.palette, self._dim)
        if picture != self._picture:
            self._picture = picture
            self._published(picture)

    def action_page(self, step: int) -> None:
        """Turn to the next or previous page."""
        self._page_state = turn_page(self._page_state, self._clock.monotonic(), self._pages, step)
        self.repaint()

    def exit(self, result: int | None = None, return_code: int = 0, message: RenderableType | None = None) -> None:
        """Publish a last picture with the note that the wall has ended, because a file may be shown long afterwards."""
        if (self._published or self._modelled) and self._snapshot:
            self._fault = self._fault or "the wallboard was closed"
            self.repaint()
        super().exit(result, return_code, message)

    def action_leave(self, code: int = 0) -> None:
        """End with the exit code `code` and restore the terminal."""
        self.exit(code)

    def crash_text(self, error: str) -> str:
        """Return the message after a crash, with the path of the log."""
        return super().crash_text(error) + (f"; the log is {self._log_file}" if self._log_file else "")


def _rich_style(spec: StyleSpec) -> Style:
    words = spec.style.split()
    return Style(
        color=Color.parse(spec.colour).rich_color,
        bgcolor=Color.parse(spec.background).rich_color,
        bold="bold" in words or None,
        reverse="reverse" in words or None,
        underline="underline" in words or None,
        dim="dim" in words or None,
    )

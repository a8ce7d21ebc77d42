"""Screen 8: picture and sound of each event as viewers get them, worst first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from textual.geometry import Region
from textual.widget import Widget

from livedeck.monitor import Alarm, EventState, Snapshot
from livedeck.presentation import viewer
from livedeck.presentation.render_time import RenderTime
from livedeck.text.segments import ShadedLine
from livedeck.text.values import counted
from livedeck.ui.kit.graphics import FIRST_VIEWER_ID
from livedeck.ui.kit.lines import LinesWidget
from livedeck.ui.kit.viewer_picture import Look, look_at
from livedeck.ui.shell.keymap import key_of
from livedeck.ui.shell.screen import BaseScreen, waiting_text
from livedeck.ui.shell.viewer_pictures import ViewerPictures, Wanted, can_show_pictures
from livedeck.ui.viewers import view
from livedeck.ui.viewers.mosaic import Mosaic, Placed

HOLD_SECONDS = 60.0
"""Seconds for which tiles keep their places. Then the worst events come first again.

A critical event on another page takes the place of the least bad event of the first page at once.
"""

FIXED_LINES = 4
"""Lines of header, summary and footer."""

OFF = (
    "Picture and sound of viewers are unknown: no probe runs.",
    "",
    "A probe asks for the playlists that viewers play, from this machine, and shows picture and sound.",
    "To switch it on, set an address in [probe] of the settings, then run `livedeck probe --enable`.",
)
"""Sentences of the screen while no probe runs."""

NONE_DUE = (
    "No event is probed now.",
    "",
    "The probe reads playlists of events on air, for 5 min around their planned start, and for 90 s after their end.",
)
"""Sentences of the screen while the probe has no event."""

OFF_COLLECTOR = (
    "Picture and sound of viewers are unknown: the collector runs no probe.",
    "",
    "A probe asks for the playlists that viewers play, for all decks of the collector.",
    "To switch it on, set an address in [probe] of its settings, then run `livedeck probe --enable` there.",
)


class ViewersScreen(BaseScreen):
    """Tiles of the events that are probed."""

    NAME = "Viewers"
    MODE = "viewers"
    SHOWS_EVENT = True

    def __init__(self) -> None:
        super().__init__()
        self._is_wrong_only = False
        self._order: list[str] = []
        self._ordered_at = 0.0
        self._grid = view.plan_grid(80, 19, 1)
        self._states: list[EventState] = []
        self._shown: Sequence[EventState] = ()
        self._tiles: dict[str, tuple[object, list[ShadedLine]]] = {}

    def body(self) -> Iterable[Widget]:
        yield LinesWidget(id="summary")
        yield Mosaic(self.ctx.graphics)

    def paint(self, snapshot: Snapshot, render_time: RenderTime) -> None:
        probed = viewer.probed(snapshot)
        is_on_first_page = self._page == 0
        self._states = self._in_order(probed, render_time)
        lines = self.size.height - FIXED_LINES - self.max_alarm_lines()
        self._grid = grid = view.plan_grid(self.size.width, lines, len(self._states))
        if is_on_first_page:
            selected = self.ctx.selected_event()
            kept = selected.id if selected and self.ctx.has_chosen_event() else ""
            self._states = view.with_worst_in_sight(self._states, grid, kept, render_time)
            self._order = [state.id for state in self._states]
        self.ctx.reconcile_selection(tuple(self._states), snapshot.events, next(iter(self._states), None))
        if not self._states:
            summary = [view.summary_line(probed, snapshot, render_time, self.size.width, "")] if probed else []
            self._show_lines("summary", summary)
            texts = self._empty_texts(snapshot, probed)
            self._pictures.want({}, self._repaint)
            self.query_one(Mosaic).show(view.empty_lines(texts, self.size.width, lines), (), ())
            return
        page = self._page
        self._shown = self._states[page * grid.tiles : (page + 1) * grid.tiles]
        order = "only what is wrong" if self._is_wrong_only else "worst first"
        groups = view.page_groups(page, grid, self._states, render_time)
        summary = [view.summary_line(probed, snapshot, render_time, self.size.width, order, page=groups)]
        self._show_lines("summary", summary)
        self._show_tiles(render_time)

    def _show_tiles(self, render_time: RenderTime) -> None:
        states, grid, selected = self._shown, self._grid, self.ctx.selected_event()
        wanted: dict[str, Wanted] = {}
        has_pictures = can_show_pictures(self.ctx)
        for place, state in enumerate(states):
            if has_pictures and state.viewer and viewer.picture_age(state.viewer, render_time) is not None:
                wanted[state.id] = Wanted(state.viewer.image, grid.frame, FIRST_VIEWER_ID + place)
        self._pictures.want(wanted, self._repaint)
        blocks, regions, placed = [list[list[ShadedLine]]() for _ in range(grid.rows)], [], []
        for place, state in enumerate(states):
            row, column = divmod(place, grid.columns)
            x, y = column * grid.cells, row * grid.lines
            shot = self._pictures.get(state.id)
            look = look_at(state, render_time, shot, has_blocks=self.ctx.has_fine_lines)
            if look.sequence:
                picture = Region(x + 1, y + 1, grid.frame.columns, grid.frame.rows)
                placed.append(Placed(picture, FIRST_VIEWER_ID + place, look.sequence))
            is_selected = selected is not None and state.id == selected.id
            blocks[row].append(self._tile_lines(state, render_time, look, is_selected=is_selected))
            regions.append((Region(x, y, grid.cells, grid.lines), state.id))
        self._tiles = {state.id: self._tiles[state.id] for state in states}
        lines = [[segment for part in parts for segment in part] for row in blocks for parts in zip(*row, strict=True)]
        self.query_one(Mosaic).show(lines, regions, placed)

    def _tile_lines(
        self, state: EventState, render_time: RenderTime, look: Look, *, is_selected: bool
    ) -> list[ShadedLine]:
        """Return the lines of an event's tile. They are drawn again only if the tile has changed."""
        grid, (key, lines) = self._grid, self._tiles.get(state.id, (None, []))
        if key != (wanted := (state, render_time, grid, look, is_selected)):
            lines = view.tile_lines(state, render_time, grid, look, is_selected=is_selected)
            self._tiles[state.id] = wanted, lines
        return lines

    @property
    def _pictures(self) -> ViewerPictures:
        return self.ctx.state(ViewerPictures)

    @property
    def _page(self) -> int:
        """Page of the selected event, or else the first."""
        selected = self.ctx.selected_event()
        place = next((place for place, state in enumerate(self._states) if selected and state.id == selected.id), 0)
        return view.page_of(place, self._grid)

    def _in_order(self, probed: Sequence[EventState], render_time: RenderTime) -> list[EventState]:
        """Return the events to show, worst first. For `HOLD_SECONDS` they keep this order, and new events come last."""
        now = self.ctx.clock.monotonic()
        ranked = viewer.worst_first(probed, render_time)
        if not self._order or not 0 <= now - self._ordered_at < HOLD_SECONDS:
            self._order, self._ordered_at = [state.id for state in ranked], now
        places = {event_id: place for place, event_id in enumerate(self._order)}
        held = sorted(ranked, key=lambda state: places.get(state.id, len(places)))
        return [state for state in held if not self._is_wrong_only or viewer.is_wrong(state, render_time)]

    def _empty_texts(self, snapshot: Snapshot, probed: Sequence[EventState]) -> Sequence[str]:
        if snapshot.link.as_of is None:
            return [waiting_text(snapshot)]
        if probed:
            key = key_of("viewers.wrong", self.ctx.actions)
            unknown = sum(not (state.viewer and state.viewer.is_playing) for state in probed)
            whole = f" Whether {unknown} of {counted(len(probed), 'event')} play is unknown." if unknown else ""
            return [f"The probe sees nothing wrong.{whole} Press {key} to see every event."]
        if snapshot.probe:
            return NONE_DUE
        return OFF_COLLECTOR if snapshot.attachment is not None and not snapshot.attachment.is_alone else OFF

    def _repaint(self) -> None:
        """Show a new picture, unless another screen is in front."""
        displayed = self.ctx.displayed()
        if self._is_in_front and displayed is not None and self._states:
            self._show_tiles(displayed[1])

    def toggle_wrong(self) -> None:
        """Show only the events with a fault for viewers, or all again."""
        self._is_wrong_only = not self._is_wrong_only
        self.rank_again()

    def rank_again(self) -> None:
        """Put the worst event first at once."""
        self._order = []
        self.ctx.forget_sights()
        self.refresh_all()

    def move(self, step: int) -> None:
        """Select the event `step` places further."""
        if not self._states:
            return
        selected = self.ctx.selected_event()
        place = next((place for place, state in enumerate(self._states) if selected and state.id == selected.id), -step)
        self.ctx.select_event(self._states[max(0, min(len(self._states) - 1, place + step))].id)

    def move_down(self, rows: int) -> None:
        """Select the event `rows` rows of tiles below."""
        self.move(rows * self._grid.columns)

    def turn_page(self, step: int) -> None:
        """Select the event in the same place of another page."""
        self.move(step * self._grid.tiles)

    def open(self) -> None:
        """Show the QoS of the selected event."""
        if self.ctx.selected_event():
            self.ctx.go_to("qos")

    def back(self) -> None:
        self.ctx.go_to("events")

    def on_mosaic_opened(self) -> None:
        self.open()

    def on_screen_suspend(self) -> None:
        """Stop fetching pictures once another screen hides this one. The next visit begins with the worst event."""
        super().on_screen_suspend()
        if self.ctx.current_mode != self.MODE:
            self._pictures.want({}, self._repaint)
            self._order, self._states = [], []

    def shows_alarm(self, alarm: Alarm) -> bool:
        return not alarm.kind.startswith(viewer.PREFIX)

"""Screen 6: recordings and any video by its id, and the extras of one: four parts, a tab each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from textual.containers import Horizontal
from textual.widget import Widget

from livedeck.client import Poster, Subtitle
from livedeck.monitor import CachedList, ResourceKey, Severity, Snapshot, Video, recordings_key
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.videos import ANNOTATIONS, CUES, MATERIALS, POSTERS, SUBTITLES, VIDEOS
from livedeck.text.segments import Line, ShadedLine
from livedeck.ui.kit.lines import DetailPanel, LinesWidget
from livedeck.ui.kit.selection import RowSelection, find_row
from livedeck.ui.kit.table import Table
from livedeck.ui.shell.keymap import key_of, with_keys
from livedeck.ui.shell.screen import BaseScreen, Listing
from livedeck.ui.videos import view
from livedeck.ui.videos.selection import MAX_EVENTS, PARTS, VideoSelection, recorded_events, selection_of
from livedeck.ui.videos.thumbnail import Thumbnail


class ExtraPanel(DetailPanel):
    """The selected video, poster, track, cue, annotation or material."""


class VideoTab(BaseScreen):
    """One part: its table, and the panel of what is selected. `EMPTY`: said of an empty list, with its keys."""

    NAME = "Videos"
    EMPTY: ClassVar[str] = ""

    def __init__(self) -> None:
        super().__init__()
        self._row = RowSelection()
        self._listed = ""  # the video whose extras the rows are

    @property
    def selection(self) -> VideoSelection:
        """The selected video."""
        return selection_of(self.ctx)

    def cached(self, part: str = "") -> CachedList[Any]:
        """The list of that part of the selected video, or of this screen's, as it is displayed."""
        displayed, part = self.ctx.displayed(), part or self.MODE
        if displayed is None:
            return CachedList()
        if part == "videos":
            return self.selection.recordings(displayed[0], self.ctx.selected_event())
        return displayed[0].cached(self.selection.key(part))

    def body(self) -> Iterable[Widget]:
        yield LinesWidget(id="head")
        yield Table(self.SCHEMA)
        yield ExtraPanel()

    def rows(self) -> Sequence[Any]:
        """What the table shows, before it is filtered and sorted."""
        return self.cached().items

    def listing(self, snapshot: Snapshot) -> Listing:  # noqa: ARG002  `cached` reads the displayed one
        return Listing(self.MODE, self.SCHEMA, self.rows())

    def selected_item(self) -> Any:
        """The row under the cursor, as it is shown; None where there is none."""
        return find_row(self.SCHEMA, self.rows(), self._row.key)

    def no_item_text(self, noun: str) -> str:
        """Why no row is selected, in words."""
        return self._row.missing_text(noun) or f"no {noun} is selected"

    def paint(self, snapshot: Snapshot, render_time: RenderTime) -> None:
        cached = self.cached()
        stale = render_time.stale or (cached.as_of is not None and cached.is_stale(render_time.now))
        render_time = replace(render_time, stale=stale)
        self.selection.part = self.MODE if self.MODE in PARTS else self.selection.part
        filtered, table_view = self.filtered_rows(snapshot, render_time)
        self._follow(filtered.rows, render_time)
        self.query_one("#head", LinesWidget).show(self._head_lines(render_time))
        empty_text = "" if filtered.total else self._empty_text()
        self.query_one(Table).show(filtered.rows, render_time, self._row.key, empty_text, table_view)
        item = self.selected_item()
        self.query_one(ExtraPanel).show(lambda width: view.panel(item, width, stale=stale))
        self.ctx.monitor.watch(self.MODE, *(() if self.ctx.preferences.frozen else self.keys(snapshot)))

    def _follow(self, rows: Sequence[Any], render_time: RenderTime) -> None:
        """The table shows these rows; of another video another row is selected."""
        listed = self.selection.video.id if self.selection.video else ""
        if listed != self._listed:
            self._listed, self._row = listed, RowSelection()
        if self.cached().as_of is not None:  # before the first answer nothing has left
            self._row.follow_rows(self.SCHEMA, rows, render_time)

    def on_screen_suspend(self) -> None:
        """Hidden, it watches no list; under a dialog it goes on."""
        if self.ctx.current_mode != self.MODE:
            self.ctx.monitor.watch(self.MODE)

    def keys(self, snapshot: Snapshot) -> Sequence[ResourceKey]:  # noqa: ARG002  for the one that watches events
        """The lists that this screen shows."""
        key = self.selection.key(self.MODE)
        return (key,) if key else ()

    def _head_lines(self, render_time: RenderTime) -> list[ShadedLine]:
        cached, width = self.cached(), self.size.width
        lists = {part: self.cached(part) for part in PARTS}
        counts = {part: len(part_list.items) for part, part_list in lists.items() if part_list.as_of}
        tabs = view.tab_line(self.MODE, counts, cached, render_time, width)
        return [self.title_line(), tabs, *view.error_lines(cached, width)]

    def title_line(self) -> Line:
        """The video whose extras are shown."""
        return view.video_title(self.selection.video, self.size.width)

    def _empty_text(self) -> str:
        cached = self.cached()
        if cached.as_of is None:
            return "the platform gives no answer" if cached.error else "waiting for the platform's answer"
        return with_keys(self.EMPTY, self.ctx.actions)

    def back(self) -> None:
        self.ctx.go_to("videos")

    def on_table_moved(self, message: Table.Moved) -> None:
        self._row.choose(message.key)
        self.refresh_all()

    def on_table_opened(self, message: Table.Opened) -> None:
        self._row.choose(message.key)
        self.open()

    def open(self) -> None:
        """Open the row under the cursor."""


class OrderedScreen(VideoTab):
    """A part whose rows have an order: it is changed here first, and sent as a whole when the operator says so."""

    def __init__(self) -> None:
        super().__init__()
        self._orders: dict[str, tuple[str, ...]] = {}

    def _video_id(self) -> str:
        return self.selection.video.id if self.selection.video else ""

    def rows(self) -> Sequence[Any]:
        """The rows in the changed order; new ones are last."""
        items, order = super().rows(), self._orders.get(self._video_id(), ())
        positions = {item_id: index for index, item_id in enumerate(order)}
        return sorted(items, key=lambda item: positions.get(item.id, len(positions))) if order else items

    def order(self) -> tuple[str, ...] | None:
        """The changed order that was not sent; None where nothing was moved."""
        ids = tuple(item.id for item in self.rows())
        return ids if ids != tuple(item.id for item in super().rows()) else None

    def move_row(self, step: int) -> str:
        """Move the row under the cursor. Returns why it cannot be moved, or nothing."""
        table_view = self.ctx.preferences.view(self.MODE)
        if table_view.filter or table_view.sort or table_view.down:
            return "rows are moved in their own order: take the filter and the sorting off first"
        ids = [item.id for item in self.rows()]
        if self._row.key not in ids:
            return self.no_item_text("row")
        index = ids.index(self._row.key)
        ids.insert(min(max(index + step, 0), len(ids) - 1), ids.pop(index))
        self._orders[self._video_id()] = tuple(ids)
        self.refresh_all()
        return ""

    def drop_sent_order(self, video_id: str, sent: Sequence[str]) -> None:
        """Drop the order of that video, unless rows were moved since it was sent."""
        order = self._orders.get(video_id, ())
        if [item_id for item_id in order if item_id in sent] == [item_id for item_id in sent if item_id in order]:
            self._orders.pop(video_id, None)
        self.refresh_all()

    def back(self) -> None:
        """First drop an order that was not sent."""
        if self.order() is None:
            super().back()
        else:
            self._orders.pop(self._video_id(), None)
            self.refresh_all()
            self.ctx.announce("the order is as it was; nothing was sent")

    def _head_lines(self, render_time: RenderTime) -> list[ShadedLine]:
        lines, order = super()._head_lines(render_time), self.order()
        if order is None:
            return lines
        ids = [item.id for item in super().rows()]
        count = sum(after != before for after, before in zip(order, ids, strict=True))
        send, drop = (key_of(name, self.ctx.actions) for name in ("order.send", "view.clear"))
        return [*lines, view.order_text(count, f"{send} sends the whole order, {drop} drops it")]


class VideosScreen(VideoTab):
    """The recordings of completed events and of the selected one; videos that were opened by their id."""

    MODE = "videos"
    SCHEMA = VIDEOS
    EMPTY = "no recording of the events that are over; {video.find} opens any video by its id"

    def __init__(self) -> None:
        super().__init__()
        self._row = RowSelection(follows_first=True)
        self._left_out = 0

    def rows(self) -> Sequence[Video]:
        displayed = self.ctx.displayed()
        return self.selection.videos(displayed[0], self.ctx.selected_event()) if displayed else ()

    def keys(self, snapshot: Snapshot) -> Sequence[ResourceKey]:
        events = recorded_events(snapshot, self.ctx.selected_event())
        self._left_out = max(0, len(events) - MAX_EVENTS)
        return tuple(recordings_key(state.id) for state in events[:MAX_EVENTS])

    def _follow(self, rows: Sequence[Any], render_time: RenderTime) -> None:
        """The selected video is that of every part, also where a filter hides it; one that is gone is so no longer."""
        video, displayed = self.selection.video, self.ctx.displayed()
        if video is not None and video.id != self._row.key:
            self._row.choose(video.id)
        is_listed = video is None or find_row(self.SCHEMA, self.rows(), video.id) is not None
        has_answers = displayed and all(displayed[0].cached(key).as_of for key in self.keys(displayed[0]))
        if is_listed or has_answers:  # a list that is still awaited may have it
            self._row.follow_rows(self.SCHEMA, rows, render_time)
        if not is_listed and has_answers:
            self.selection.video = None

    def title_line(self) -> Line:
        return view.recordings_title(len(self.cached().items), self._left_out)

    def back(self) -> None:
        """This is where the other tabs lead back to."""

    def on_table_moved(self, message: Table.Moved) -> None:
        self.selection.video = next((item for item in self.rows() if item.id == message.key), self.selection.video)
        super().on_table_moved(message)

    def select_video(self) -> bool:
        """Select the video under the cursor. Returns False where there is none: then the selection stays."""
        item = self.selected_item()
        self.selection.video = item or self.selection.video
        return item is not None

    def open(self) -> None:
        if self.select_video():
            self.ctx.go_to("posters")


class PostersScreen(VideoTab):
    """The pictures of the video, and which one is shown."""

    MODE = "posters"
    SCHEMA = POSTERS
    EMPTY = "no poster; {poster.create} makes one of a moment, {poster.import} takes the picture at an address"

    def body(self) -> Iterable[Widget]:
        yield LinesWidget(id="head")
        yield Table(self.SCHEMA)
        yield Horizontal(ExtraPanel(), Thumbnail(), classes="beside")

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one(Thumbnail).draw_by(self.ctx.graphics, self.ctx.cell_pixels, self.ctx.child_variables)
        self.app.theme_changed_signal.subscribe(self, lambda _: self.refresh_all())  # some have no thumbnails

    def paint(self, snapshot: Snapshot, render_time: RenderTime) -> None:
        super().paint(snapshot, render_time)
        poster = self.selected_item()
        self.query_one(Thumbnail).show(self.ctx.api, poster if isinstance(poster, Poster) else None)


class SubtitlesScreen(OrderedScreen):
    """The tracks of the video in the order that viewers see."""

    MODE = "subtitles"
    SCHEMA = SUBTITLES
    EMPTY = "no subtitle track; {subtitle.upload} uploads a file, {subtitle.recognise} has speech recognised"

    def __init__(self) -> None:
        super().__init__()
        self._pending: set[str] = set()

    def paint(self, snapshot: Snapshot, render_time: RenderTime) -> None:
        super().paint(snapshot, render_time)
        tracks = [track for track in self.cached().items if isinstance(track, Subtitle)]
        recognised = [track for track in tracks if track.id in self._pending and track.status != "pending"]
        self._pending -= {track.id for track in recognised}
        self._pending |= {track.id for track in tracks if track.status == "pending"}
        for track in recognised:
            self.ctx.announce(f"subtitles {track.language or track.id}: recognition is {track.status}", Severity.INFO)

    def open(self) -> None:
        self.selection.track = self.selected_item()
        if self.selection.track is not None:
            self.ctx.go_to("cues")


class CuesScreen(VideoTab):
    """The cues of a track, from its file."""

    MODE = "cues"
    SCHEMA = CUES
    EMPTY = "no cue"

    def title_line(self) -> Line:
        track = self.selection.track
        more = f"track {track.language or ''} {track.description or ''}" if track else ""
        return view.video_title(self.selection.video, self.size.width, more)

    def back(self) -> None:
        self.ctx.go_to("subtitles")


class AnnotationsScreen(VideoTab):
    """What is shown over the video for a time."""

    MODE = "annotations"
    SCHEMA = ANNOTATIONS
    EMPTY = "no annotation; {annotation.create} makes one"


class MaterialsScreen(OrderedScreen):
    """The files beside the video that the deck knows of."""

    MODE = "materials"
    SCHEMA = MATERIALS
    EMPTY = "none known, nothing lists them; {material.upload} uploads one, :material.know ID takes one in"


SCREENS: Mapping[str, type[VideoTab]] = {
    screen.MODE: screen
    for screen in (VideosScreen, PostersScreen, SubtitlesScreen, CuesScreen, AnnotationsScreen, MaterialsScreen)
}
"""By their modes."""

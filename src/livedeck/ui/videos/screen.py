"""Screen 6: recordings and videos opened by id, and four tabs with the extras of the selected video."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from textual.containers import Horizontal
from textual.widget import Widget

from livedeck.client import Poster, Subtitle
from livedeck.monitor import CachedList, ResourceKey, Severity, Snapshot, Video, recordings_key
from livedeck.presentation.remembered import Remembered
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.videos import ANNOTATIONS, CUES, MATERIALS, POSTERS, SUBTITLES, VIDEOS, ListedVideo
from livedeck.text.segments import Line, ShadedLine
from livedeck.ui.kit.lines import DetailPanel, LinesWidget
from livedeck.ui.kit.selection import RowSelection, find_row
from livedeck.ui.kit.table import HEAD_LINES, Table
from livedeck.ui.shell.keymap import key_of, with_keys
from livedeck.ui.shell.screen import BaseScreen, Listing
from livedeck.ui.videos import view
from livedeck.ui.videos.selection import MAX_EVENTS, PARTS, VideoSelection, extra_key, recorded_events, selection_of
from livedeck.ui.videos.thumbnail import Thumbnail, picture_size


class ExtraPanel(DetailPanel):
    """Panel with details of the selected video, poster, track, cue, annotation or material."""


class VideoTab(BaseScreen):
    """Tab with a part of a video, such as its posters: table, and panel of the selected row.

    `EMPTY`: text for an empty list, as a template for `with_keys`.
    """

    NAME = "Videos"
    EMPTY: ClassVar[str] = ""

    def __init__(self) -> None:
        super().__init__()
        self._row = RowSelection()
        self._listed = ""  # id of the video whose extras are listed

    @property
    def selection(self) -> VideoSelection:
        """Video selected in this deck, with its lists."""
        return selection_of(self.ctx)

    def cached(self, part: str = "") -> CachedList[Any]:
        """Return the shown list of a part of the selected video.

        If `part` is empty, returns the list of this screen.
        """
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
        """Return the rows of the table before filter and sorting."""
        return self.cached().items

    def listing(self, snapshot: Snapshot) -> Listing:  # noqa: ARG002  `cached` reads the displayed one
        return Listing(self.MODE, self.SCHEMA, self.rows())

    def selected_item(self) -> Any:
        """Return the row under the cursor, or None."""
        return find_row(self.SCHEMA, self.rows(), self._row.key)

    def no_item_text(self, noun: str) -> str:
        """Return the reason why no row is selected. `noun`: word for a row."""
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
        self.query_one(ExtraPanel).show(lambda width: self.panel_lines(render_time, width))
        self.ctx.monitor.watch(self.MODE, *(() if self.ctx.preferences.frozen else self.keys(snapshot)))

    def panel_lines(self, render_time: RenderTime, width: int) -> Sequence[ShadedLine]:
        """Return the lines about the row under the cursor."""
        return view.panel(self.selected_item(), width, stale=render_time.stale)

    def _follow(self, rows: Sequence[Any], render_time: RenderTime) -> None:
        """Update the selected row after a change of the table's rows.

        After a change of video, start a new selection.
        """
        listed = self.selection.video.id if self.selection.video else ""
        if listed != self._listed:
            self._listed, self._row = listed, RowSelection()
        if self.cached().as_of is not None:  # before the first response no row can have vanished
            self._row.follow_rows(self.SCHEMA, rows, self.rows(), render_time)

    def on_screen_suspend(self) -> None:
        """Stop polling the lists once another screen hides this one. A dialog does not stop the polls."""
        if self.ctx.current_mode != self.MODE:
            self.ctx.monitor.watch(self.MODE)

    def keys(self, snapshot: Snapshot) -> Sequence[ResourceKey]:  # noqa: ARG002  VideosScreen reads its events
        """Return the keys of the lists to poll for this screen."""
        key = self.selection.key(self.MODE)
        return (key,) if key else ()

    def _head_lines(self, render_time: RenderTime) -> list[ShadedLine]:
        cached, width = self.cached(), self.size.width
        lists = {part: self.cached(part) for part in PARTS}
        counts = {part: len(part_list.items) for part, part_list in lists.items() if part_list.as_of}
        tabs = view.tab_line(self.MODE, counts, cached, render_time, width)
        return [self.title_line(), tabs, *view.error_lines(cached, width)]

    def title_line(self) -> Line:
        """Return the line that names the video."""
        return view.video_title(self.selection.video, self.size.width)

    def _empty_text(self) -> str:
        cached = self.cached()
        if cached.as_of is None and self.ctx.past is not None:
            return "not recorded at this time"
        if cached.as_of is None:
            return "the platform does not respond" if cached.error else "waiting for the platform"
        return cached.shortfall.text("row") if cached.shortfall else with_keys(self.EMPTY, self.ctx.actions)

    def back(self) -> None:
        self.ctx.go_to("videos")

    def on_table_moved(self, message: Table.Moved) -> None:
        self._row.choose(message.key)
        self.refresh_all()

    def on_table_opened(self, message: Table.Opened) -> None:
        self._row.choose(message.key)
        self.open()

    def open(self) -> None:
        """Open the row under the cursor; by default, do nothing."""


class OrderedScreen(VideoTab):
    """Part with rows in an order. The operator moves rows on the screen, and then sends the whole order."""

    def __init__(self) -> None:
        super().__init__()
        self._orders: dict[str, tuple[str, ...]] = {}

    def _video_id(self) -> str:
        return self.selection.video.id if self.selection.video else ""

    def rows(self) -> Sequence[Any]:
        """Return the rows in the order of the screen: moved rows in their new places, newly listed rows last."""
        items, order = super().rows(), self._orders.get(self._video_id(), ())
        positions = {item_id: index for index, item_id in enumerate(order)}
        return sorted(items, key=lambda item: positions.get(item.id, len(positions))) if order else items

    def order(self) -> tuple[str, ...] | None:
        """Return the ids in a new order that is not sent yet; None if no row was moved."""
        ids = tuple(item.id for item in self.rows())
        return ids if ids != tuple(item.id for item in super().rows()) else None

    def move_row(self, step: int) -> str:
        """Move the row under the cursor down (1) or up (-1). Return the reason if it cannot move; otherwise empty."""
        table_view = self.ctx.preferences.view(self.MODE)
        if table_view.filter or table_view.sort or table_view.down:
            return "rows can be moved only in the stored order: clear the filter and the sorting first"
        ids = [item.id for item in self.rows()]
        if self._row.key not in ids:
            return self.no_item_text("row")
        index = ids.index(self._row.key)
        ids.insert(min(max(index + step, 0), len(ids) - 1), ids.pop(index))
        self._orders[self._video_id()] = tuple(ids)
        self.refresh_all()
        return ""

    def drop_sent_order(self, video_id: str, sent: Sequence[str]) -> None:
        """Drop the new order of a video's rows after it was sent, unless rows were moved again meanwhile."""
        order = self._orders.get(video_id, ())
        if [item_id for item_id in order if item_id in sent] == [item_id for item_id in sent if item_id in order]:
            self._orders.pop(video_id, None)
        self.refresh_all()

    def back(self) -> None:
        """Drop the new order; without one, go back."""
        if self.order() is None:
            super().back()
        else:
            self._orders.pop(self._video_id(), None)
            self.refresh_all()
            self.ctx.announce("the new order is dropped; nothing was sent")

    def _head_lines(self, render_time: RenderTime) -> list[ShadedLine]:
        lines, order = super()._head_lines(render_time), self.order()
        if order is None:
            return lines
        ids = [item.id for item in super().rows()]
        count = sum(after != before for after, before in zip(order, ids, strict=True))
        send, drop = (key_of(name, self.ctx.actions) for name in ("order.send", "view.clear"))
        return [*lines, view.order_text(count, f"{send} sends the whole order, {drop} drops it")]


class PictureScreen(VideoTab):
    """Screen with the picture of a poster beside its panel."""

    def body(self) -> Iterable[Widget]:
        yield LinesWidget(id="head")
        yield Table(self.SCHEMA)
        yield Horizontal(ExtraPanel(), Thumbnail(), classes="beside")

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one(Thumbnail).draw_by(self.ctx.graphics, self.ctx.cell_pixels, self.ctx.child_variables)
        self.app.theme_changed_signal.subscribe(self, lambda _: self.refresh_all())  # plain themes have no thumbnails

    def show_poster(self, poster: Poster | None, *, is_known: bool = True) -> None:
        """Show the picture of a poster; None shows no picture. `is_known`: False if it has not been received yet."""
        self.query_one(Thumbnail).show(self.ctx.api, poster, is_known=is_known)


EMPTY_LINES = 3
"""Minimum height in lines of a table with its head: room for a text in its middle."""

MAX_SHARE = 4
"""The table of videos takes at most one in this many lines of the screen while the panel is high."""


class VideosScreen(PictureScreen):
    """Recordings of completed events and of the selected event, and videos opened by their id, with their extras."""

    MODE = "videos"
    SCHEMA = VIDEOS
    EMPTY = "no recordings of completed events; {video.find} opens any video by its id"

    def __init__(self) -> None:
        super().__init__()
        self._row = RowSelection(follows_first=True)
        self._left_out = 0
        self._listed_videos: Remembered[tuple[ListedVideo, ...]] = Remembered()

    def paint(self, snapshot: Snapshot, render_time: RenderTime) -> None:
        super().paint(snapshot, render_time)
        row = find_row(self.SCHEMA, self.rows(), self._row.key)
        posters = row.posters.items if row else ()
        shown = next((poster for poster in posters if poster.active), None)
        self.show_poster(shown, is_known=row is None or row.posters.as_of is not None)
        filtered, _ = self.filtered_rows(snapshot, render_time)
        lines, most = len(filtered.rows) + HEAD_LINES, max(EMPTY_LINES, self.size.height // MAX_SHARE)
        is_short = HEAD_LINES < lines <= most  # then the panel takes the rest of the height
        self.query_one(Table).styles.height = max(EMPTY_LINES, lines) if is_short else "1fr"
        self.query_one(".beside").styles.height = "1fr" if is_short else picture_size(self.size)[1] + 1

    def panel_lines(self, render_time: RenderTime, width: int) -> Sequence[ShadedLine]:
        row, height = find_row(self.SCHEMA, self.rows(), self._row.key), self.query_one(ExtraPanel).size.height
        lines, displayed = view.video_panel(row, render_time, width, height), self.ctx.displayed()
        snapshot, selected = displayed[0] if displayed else None, self.ctx.selected_event()
        events = self.selection.events(snapshot, selected) if snapshot else ()
        return [*lines, *view.event_lines(events, render_time, width, height - len(lines))]

    def rows(self) -> Sequence[ListedVideo]:
        displayed = self.ctx.displayed()
        if displayed is None:
            return ()
        snapshot = displayed[0]
        videos = self.selection.videos(snapshot, self.ctx.selected_event())
        return self._listed_videos.get(
            (snapshot.lists,),
            videos,
            lambda: tuple(
                ListedVideo(video, *(snapshot.cached(extra_key(video, part)) for part in PARTS[1:])) for video in videos
            ),
        )

    def selected_item(self) -> Video | None:
        """Return the video under the cursor, or None."""
        row = find_row(self.SCHEMA, self.rows(), self._row.key)
        return row.video if row else None

    def keys(self, snapshot: Snapshot) -> Sequence[ResourceKey]:
        """Return the keys of the recordings, and of the extras of the video under the cursor."""
        video = self.selected_item()
        extras = [extra_key(video, part) for part in PARTS[1:]] if video else []
        return (*self._recording_keys(snapshot), *extras)

    def _recording_keys(self, snapshot: Snapshot) -> Sequence[ResourceKey]:
        events = recorded_events(snapshot, self.ctx.selected_event())
        self._left_out = max(0, len(events) - MAX_EVENTS)
        return tuple(recordings_key(state.id) for state in events[:MAX_EVENTS])

    def _follow(self, rows: Sequence[Any], render_time: RenderTime) -> None:
        """Keep the selected video selected, even if a filter hides it. Deselect a video that left the list."""
        video, displayed = self.selection.video, self.ctx.displayed()
        if video is not None and video.id != self._row.key:
            self._row.choose(video.id)
        is_listed = video is None or find_row(self.SCHEMA, self.rows(), video.id) is not None
        has_answers = displayed and all(displayed[0].cached(key).as_of for key in self._recording_keys(displayed[0]))
        if is_listed or has_answers:  # a list that is still loading may contain it
            self._row.follow_rows(self.SCHEMA, rows, self.rows(), render_time)
        if not is_listed and has_answers:
            self.selection.video = None

    def title_line(self) -> Line:
        return view.recordings_title(len(self.cached().items), self._left_out)

    def back(self) -> None:
        """Do nothing. The other tabs lead back to this one."""

    def on_table_moved(self, message: Table.Moved) -> None:
        row = find_row(self.SCHEMA, self.rows(), message.key)
        self.selection.video = row.video if row else self.selection.video
        super().on_table_moved(message)

    def select_video(self) -> bool:
        """Select the video under the cursor. Without one, return False and keep the selection."""
        item = self.selected_item()
        self.selection.video = item or self.selection.video
        return item is not None

    def open(self) -> None:
        if self.select_video():
            self.ctx.go_to("posters")


class PostersScreen(PictureScreen):
    """Posters of the video, with a mark at the poster that the player shows."""

    MODE = "posters"
    SCHEMA = POSTERS
    EMPTY = "no posters; {poster.create} makes one from a frame, {poster.import} from a picture's address"

    def paint(self, snapshot: Snapshot, render_time: RenderTime) -> None:
        super().paint(snapshot, render_time)
        poster = self.selected_item()
        self.show_poster(poster if isinstance(poster, Poster) else None)


class SubtitlesScreen(OrderedScreen):
    """Subtitle tracks of the video, in the order for viewers."""

    MODE = "subtitles"
    SCHEMA = SUBTITLES
    EMPTY = "no subtitle tracks; {subtitle.upload} uploads a file, {subtitle.recognise} recognises the speech"

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
    """Cues of the selected subtitle track, read from its file."""

    MODE = "cues"
    SCHEMA = CUES
    EMPTY = "no cues"

    def title_line(self) -> Line:
        track = self.selection.track
        more = f"track {track.language or ''} {track.description or ''}" if track else ""
        return view.video_title(self.selection.video, self.size.width, more)

    def back(self) -> None:
        self.ctx.go_to("subtitles")


class AnnotationsScreen(VideoTab):
    """Texts and links shown over the video for a time."""

    MODE = "annotations"
    SCHEMA = ANNOTATIONS
    EMPTY = "no annotations; {annotation.create} adds one"


class MaterialsScreen(OrderedScreen):
    """Additional materials of the video, as far as the deck knows them."""

    MODE = "materials"
    SCHEMA = MATERIALS
    EMPTY = "none known: the API lists none; {material.upload} uploads one, :material.know ID adds one"


SCREENS: Mapping[str, type[VideoTab]] = {
    screen.MODE: screen
    for screen in (VideosScreen, PostersScreen, SubtitlesScreen, CuesScreen, AnnotationsScreen, MaterialsScreen)
}
"""Mode -> screen class."""

"""Screen 6: recordings and any video by its id, and what hangs on one: four parts, a tab each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from textual.containers import Horizontal
from textual.widget import Widget

from livedeck.client import Poster, Subtitle
from livedeck.monitor import CachedList, ResourceKey, Severity, Snapshot, Video, recordings_key
from livedeck.presentation.render_time import RenderTime
from livedeck.text.segments import Line
from livedeck.ui.kit.canvas import Canvas
from livedeck.ui.kit.lines import LinesWidget
from livedeck.ui.kit.table import Table
from livedeck.ui.shell.keymap import key_of, with_keys
from livedeck.ui.shell.screen import BaseScreen, Listing
from livedeck.ui.videos import view
from livedeck.ui.videos import view as extra_panel
from livedeck.ui.videos.selection import MAX_EVENTS, PARTS, VideoSelection, recorded_events, selection_of
from livedeck.ui.videos.thumbnail import Thumbnail
from livedeck.ui.videos.view import ANNOTATIONS, CUES, MATERIALS, POSTERS, SUBTITLES, VIDEOS, panel


class ExtraPanel(Canvas):
    """A video, a poster, a track, a cue, an annotation or a material in full."""

    def __init__(self) -> None:
        super().__init__()
        self._shown: Any = None
        self._stale = False

    def show(self, one: Any, *, stale: bool) -> None:
        """Paint this one; None where there is none to select. `stale`: it is not to be believed any more."""
        self._shown, self._stale = one, stale
        self.repaint()

    def draw(self, width: int, height: int) -> list[Line]:  # noqa: ARG002
        return panel(self._shown, width, stale=self._stale)


class VideoTab(BaseScreen):
    """One part: its table, and the panel of what is selected. `EMPTY`: said of an empty list, with its keys."""

    NAME = "Videos"
    EMPTY: ClassVar[str] = ""

    def __init__(self) -> None:
        super().__init__()
        self._cursor = ""

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

    def listing(self, snapshot: Snapshot) -> Listing:  # noqa: ARG002  not of the monitor
        return Listing(self.MODE, self.SCHEMA, self.rows())

    def picked(self) -> Any:
        """What the cursor stands on, as it is shown; None where there is nothing."""
        return next((one for one in self.rows() if self.SCHEMA.key(one) == self._cursor), None)

    def paint(self, snapshot: Snapshot, moment: RenderTime) -> None:
        cached = self.cached()
        moment = replace(moment, stale=moment.stale or (cached.as_of is not None and cached.is_stale(moment.now)))
        self.selection.part = self.MODE if self.MODE in PARTS else self.selection.part
        arranged, view = self.filtered_rows(snapshot, moment)
        keys = [self.SCHEMA.key(one) for one in arranged.rows]
        if self._cursor not in keys:
            self._cursor = next(iter(keys), "")
        self.query_one("#head", LinesWidget).show(self._head(moment))
        empty = "" if arranged.total else self._nothing()
        self.query_one(Table).show(arranged.rows, moment, self._cursor, empty, view)
        self.query_one(ExtraPanel).show(self.picked(), stale=moment.stale)
        self.ctx.monitor.watch(self.MODE, *(() if self.ctx.preferences.frozen else self.keys(snapshot)))

    def on_screen_suspend(self) -> None:
        """Hidden, it wants no list; under a dialog it goes on."""
        if self.ctx.current_mode != self.MODE:
            self.ctx.monitor.watch(self.MODE)

    def keys(self, snapshot: Snapshot) -> Sequence[ResourceKey]:  # noqa: ARG002  for the one that asks for events
        """The lists that this screen shows."""
        key = self.selection.key(self.MODE)
        return (key,) if key else ()

    def _head(self, moment: RenderTime) -> list[Any]:
        cached, width = self.cached(), self.size.width
        lists = {part: self.cached(part) for part in PARTS}
        counts = {part: len(of_part.items) for part, of_part in lists.items() if of_part.as_of}
        tabs = extra_panel.tabs(self.MODE, counts, cached, moment, width)
        return [self.whose(), tabs, *extra_panel.failure(cached, width)]

    def whose(self) -> Any:
        """Whose extras these are."""
        return extra_panel.title(self.selection.video)

    def _nothing(self) -> str:
        cached = self.cached()
        if cached.as_of is None:
            return "the platform gives no answer" if cached.error else "waiting for the platform's answer"
        return with_keys(self.EMPTY, self.ctx.actions)

    def back(self) -> None:
        self.ctx.go_to("videos")

    def on_table_moved(self, message: Table.Moved) -> None:
        self._cursor = message.key
        self.refresh_all()

    def on_table_opened(self, message: Table.Opened) -> None:
        self._cursor = message.key
        self.open()

    def open(self) -> None:
        """See from near what the cursor stands on."""


class OrderedScreen(VideoTab):
    """A part whose rows have an order of their own: moved here first, sent whole when the person says so."""

    def __init__(self) -> None:
        super().__init__()
        self._order: dict[str, tuple[str, ...]] = {}

    def _video(self) -> str:
        return self.selection.video.id if self.selection.video else ""

    def rows(self) -> Sequence[Any]:
        """In the order that is wanted; what came meanwhile is last, what went is gone."""
        known, order = super().rows(), self._order.get(self._video(), ())
        place = {identity: at for at, identity in enumerate(order)}
        return sorted(known, key=lambda one: place.get(one.id, len(place))) if order else known

    def order(self) -> tuple[str, ...] | None:
        """The order that is wanted and not sent; None where nothing was moved."""
        ids = tuple(one.id for one in self.rows())
        return ids if ids != tuple(one.id for one in super().rows()) else None

    def shift(self, step: int) -> str:
        """Move the row under the cursor; why not, where it cannot be moved."""
        view = self.ctx.preferences.view(self.MODE)
        if view.filter or view.sort or view.down:
            return "rows are moved in their own order: take the filter and the sorting off first"
        ids = [one.id for one in self.rows()]
        if self._cursor not in ids:
            return "nothing is selected"
        at = ids.index(self._cursor)
        to = min(max(at + step, 0), len(ids) - 1)
        ids.insert(to, ids.pop(at))
        self._order[self._video()] = tuple(ids)
        self.refresh_all()
        return ""

    def settle_order(self, video_id: str, sent: Sequence[str]) -> None:
        """That order of that video was sent; rows that were moved since then still wait."""
        wanted = self._order.get(video_id, ())
        if [one for one in wanted if one in sent] == [one for one in sent if one in wanted]:
            self._order.pop(video_id, None)
        self.refresh_all()

    def back(self) -> None:
        """First drop an order that was not sent."""
        if self.order() is None:
            super().back()
        else:
            self._order.pop(self._video(), None)
            self.refresh_all()
            self.ctx.announce("the order is as it was; nothing was sent")

    def _head(self, moment: RenderTime) -> list[Any]:
        lines, order = super()._head(moment), self.order()
        if order is None:
            return lines
        known = [one.id for one in super().rows()]
        count = sum(one != other for one, other in zip(order, known, strict=True))
        send, drop = (key_of(name, self.ctx.actions) for name in ("order.send", "view.clear"))
        return [*lines, extra_panel.order_text(count, f"{send} sends the whole order, {drop} drops it")]


class VideosScreen(VideoTab):
    """The recordings of the events that are over and of the selected one; videos that were opened by their id."""

    MODE = "videos"
    SCHEMA = VIDEOS
    EMPTY = "no recording of the events that are over; {video.find} opens any video by its id"

    def rows(self) -> Sequence[Video]:
        displayed = self.ctx.displayed()
        return self.selection.videos(displayed[0], self.ctx.selected_event()) if displayed else ()

    def keys(self, snapshot: Snapshot) -> Sequence[ResourceKey]:
        events = recorded_events(snapshot, self.ctx.selected_event())
        self._cut = max(0, len(events) - MAX_EVENTS)
        return tuple(recordings_key(state.id) for state in events[:MAX_EVENTS])

    def paint(self, snapshot: Snapshot, moment: RenderTime) -> None:
        """Until somebody chooses a video the cursor stands on the first row, whichever that is by now."""
        self._cursor = self.selection.video.id if self.selection.video else ""
        super().paint(snapshot, moment)

    def whose(self) -> Any:
        return view.gathered(len(self.cached().items), self._cut)

    _cut = 0

    def back(self) -> None:
        """Nowhere: this is where one comes from."""

    def on_table_moved(self, message: Table.Moved) -> None:
        self.selection.video = next((one for one in self.rows() if one.id == message.key), self.selection.video)
        super().on_table_moved(message)

    def choose(self) -> bool:
        """Have what the cursor stands on for the selected video; False where it stands on nothing: then it stays."""
        picked = self.picked()
        self.selection.video = picked or self.selection.video
        return picked is not None

    def open(self) -> None:
        if self.choose():
            self.ctx.go_to("posters")


class PostersScreen(VideoTab):
    """The pictures of the video, and which one is shown."""

    MODE = "posters"
    SCHEMA = POSTERS
    EMPTY = "no poster; {poster.make} makes one of a moment, {poster.upload} takes the picture at an address"

    def body(self) -> Iterable[Widget]:
        yield LinesWidget(id="head")
        yield Table(self.SCHEMA)
        yield Horizontal(ExtraPanel(), Thumbnail(), classes="beside")

    def on_mount(self) -> None:
        super().on_mount()
        self.app.theme_changed_signal.subscribe(self, lambda _: self.refresh_all())  # some have no thumbnails

    def paint(self, snapshot: Snapshot, moment: RenderTime) -> None:
        super().paint(snapshot, moment)
        poster = self.picked()
        self.query_one(Thumbnail).look(self.ctx.api, poster if isinstance(poster, Poster) else None)


class SubtitlesScreen(OrderedScreen):
    """The tracks of the video in the order that viewers see."""

    MODE = "subtitles"
    SCHEMA = SUBTITLES
    EMPTY = "no subtitle track; {subtitle.upload} uploads a file, {subtitle.recognise} has speech recognised"

    def __init__(self) -> None:
        super().__init__()
        self._pending: set[str] = set()

    def paint(self, snapshot: Snapshot, moment: RenderTime) -> None:
        super().paint(snapshot, moment)
        tracks = [track for track in self.cached().items if isinstance(track, Subtitle)]
        recognised = [track for track in tracks if track.id in self._pending and track.status != "pending"]
        self._pending -= {track.id for track in recognised}
        self._pending |= {track.id for track in tracks if track.status == "pending"}
        for track in recognised:
            self.ctx.announce(f"subtitles {track.language or track.id}: recognition is {track.status}", Severity.INFO)

    def open(self) -> None:
        self.selection.track = self.picked()
        if self.selection.track is not None:
            self.ctx.go_to("cues")


class CuesScreen(VideoTab):
    """What a track says, line by line, from its file."""

    MODE = "cues"
    SCHEMA = CUES
    EMPTY = "no cue"

    def whose(self) -> Any:
        track = self.selection.track
        said = f"  track {track.language or ''} {track.description or ''}" if track else ""
        return view.title(self.selection.video, said)

    def back(self) -> None:
        self.ctx.go_to("subtitles")


class AnnotationsScreen(VideoTab):
    """What is laid over the video for a while."""

    MODE = "annotations"
    SCHEMA = ANNOTATIONS
    EMPTY = "no annotation; {annotation.new} makes one"


class MaterialsScreen(OrderedScreen):
    """The files beside the video that the deck knows of."""

    MODE = "materials"
    SCHEMA = MATERIALS
    EMPTY = "none known, nothing lists them; {material.upload} uploads one, :material.know ID takes one in"

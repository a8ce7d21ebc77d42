"""Screen 6: recordings and any video by its id, and what hangs on one: four parts, a tab each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from textual.containers import Horizontal
from textual.widget import Widget

from livedeck.client import Poster, Subtitle
from livedeck.monitor import BroadcastState, EventState, Severity, Snapshot, Video
from livedeck.presentation.render_time import RenderTime
from livedeck.text.segments import Line
from livedeck.ui.kit.canvas import Canvas
from livedeck.ui.kit.lines import LinesWidget
from livedeck.ui.kit.table import Table
from livedeck.ui.shell.keymap import key_of, with_keys
from livedeck.ui.shell.screen import BaseScreen, Listing
from livedeck.ui.videos import view
from livedeck.ui.videos import view as extra_panel
from livedeck.ui.videos.library import EVENTS, PARTS, CachedList, ResourceCache, library_of
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
        self._asking: tuple[str, str] | None = None

    @property
    def library(self) -> ResourceCache:
        """What is known of videos."""
        return library_of(self.ctx)

    def body(self) -> Iterable[Widget]:
        yield LinesWidget(id="head")
        yield Table(self.SCHEMA)
        yield ExtraPanel()

    def rows(self) -> Sequence[Any]:
        """What the table shows, before it is filtered and sorted."""
        return self.library.known(self.MODE).items

    def listing(self, snapshot: Snapshot) -> Listing:  # noqa: ARG002  not of the monitor
        return Listing(self.MODE, self.SCHEMA, self.rows())

    def picked(self) -> Any:
        """What the cursor stands on, as it is shown; None where there is nothing."""
        return next((one for one in self.rows() if self.SCHEMA.key(one) == self._cursor), None)

    def paint(self, snapshot: Snapshot, moment: RenderTime) -> None:
        moment = replace(moment, stale=moment.stale or self.library.known(self.MODE).stale(moment.now))
        self.library.part = self.MODE if self.MODE in PARTS else self.library.part
        arranged, view = self.filtered_rows(snapshot, moment)
        keys = [self.SCHEMA.key(one) for one in arranged.rows]
        if self._cursor not in keys:
            self._cursor = next(iter(keys), "")
        self.query_one("#head", LinesWidget).show(self._head(moment))
        empty = "" if arranged.total else self._nothing()
        self.query_one(Table).show(arranged.rows, moment, self._cursor, empty, view)
        self.query_one(ExtraPanel).show(self.picked(), stale=moment.stale)
        self._ask(snapshot)

    def _head(self, moment: RenderTime) -> list[Any]:
        known, cells = self.library.known(self.MODE), self.size.width
        counts = {part: len(self.library.known(part).items) for part in PARTS if self.library.known(part).at}
        tabs = extra_panel.tabs(self.MODE, counts, known, moment, cells)
        return [self.whose(), tabs, *extra_panel.failure(known, cells)]

    def whose(self) -> Any:
        """Whose extras these are."""
        return extra_panel.title(self.library.video)

    def _nothing(self) -> str:
        known = self.library.known(self.MODE)
        if known.at is None:
            return "the platform gives no answer" if known.why else "waiting for the platform's answer"
        return with_keys(self.EMPTY, self.ctx.actions)

    def ready(self) -> bool:
        """Whether there is anything to ask for."""
        return self.library.api is not None and self.library.video is not None

    def _ask(self, snapshot: Snapshot) -> None:
        """Have the list asked for where it is old; one question at a time, none while the display is held still."""
        place = self.MODE, self.library.video.id if self.library.video and self.MODE != "videos" else ""
        if self.ctx.preferences.frozen or not self.ready() or self._asking == place:
            return
        if self.library.known(self.MODE).due(self.ctx.clock.now()):
            self._asking = place
            self.run_worker(self._asked(place, self.wanted(snapshot)), group="list", exclusive=True)

    def wanted(self, snapshot: Snapshot) -> Sequence[EventState]:  # noqa: ARG002  for the one that asks for events
        """The events that are asked for recordings."""
        return ()

    async def _asked(self, place: tuple[str, str], events: Sequence[EventState]) -> None:
        try:
            before, after = await self.library.ask(self.MODE, events)
        finally:
            if self._asking == place:  # this one ends, too, when another question takes its place
                self._asking = None
        self.compared(before, after)
        self.refresh_all()

    def compared(self, before: CachedList, after: CachedList) -> None:
        """Tell what became otherwise."""

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
        return self.library.video.id if self.library.video else ""

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
        return self.library.videos()

    def paint(self, snapshot: Snapshot, moment: RenderTime) -> None:
        """Until somebody chooses a video the cursor stands on the first row, whichever that is by now."""
        self._cursor = self.library.video.id if self.library.video else ""
        super().paint(snapshot, moment)

    def whose(self) -> Any:
        total = len(self.library.known(self.MODE).items)
        return view.gathered(total, self._cut)

    _cut = 0

    def ready(self) -> bool:
        return self.library.api is not None

    def wanted(self, snapshot: Snapshot) -> Sequence[EventState]:
        chosen = self.ctx.selected_event()
        over = [
            state for state in snapshot.events if state.phase.tally is BroadcastState.COMPLETED and state is not chosen
        ]
        events = [*([chosen] if chosen else []), *over]
        self._cut = max(0, len(events) - EVENTS)
        return events

    def back(self) -> None:
        """Nowhere: this is where one comes from."""

    def on_table_moved(self, message: Table.Moved) -> None:
        self.library.video = next((one for one in self.rows() if one.id == message.key), self.library.video)
        super().on_table_moved(message)

    def choose(self) -> bool:
        """Have what the cursor stands on for the selected video; False where it stands on nothing: then it stays."""
        picked = self.picked()
        self.library.video = picked or self.library.video
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
        self.query_one(Thumbnail).look(self.library.api, poster if isinstance(poster, Poster) else None)


class SubtitlesScreen(OrderedScreen):
    """The tracks of the video in the order that viewers see."""

    MODE = "subtitles"
    SCHEMA = SUBTITLES
    EMPTY = "no subtitle track; {subtitle.upload} uploads a file, {subtitle.recognise} has speech recognised"

    def compared(self, before: CachedList, after: CachedList) -> None:
        pending = {one.id for one in before.items if isinstance(one, Subtitle) and one.status == "pending"}
        for one in after.items:
            if one.id in pending and one.status != "pending":
                self.ctx.announce(f"subtitles {one.language or one.id}: recognition is {one.status}", Severity.INFO)

    def open(self) -> None:
        self.library.track = self.picked()
        if self.library.track is not None:
            self.ctx.go_to("cues")


class CuesScreen(VideoTab):
    """What a track says, line by line, from its file."""

    MODE = "cues"
    SCHEMA = CUES
    EMPTY = "no cue"

    def ready(self) -> bool:
        return super().ready() and self.library.track is not None

    def whose(self) -> Any:
        track = self.library.track
        said = f"  track {track.language or ''} {track.description or ''}" if track else ""
        return view.title(self.library.video, said)

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

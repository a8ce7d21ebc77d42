"""Screen 6: recordings and any video by its id, and what hangs on one: four parts, a tab each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from textual.binding import BindingType
from textual.containers import Horizontal
from textual.widget import Widget

from livedeck.client import Poster, Subtitle
from livedeck.monitor import EventState, Severity, Snapshot, Tally
from livedeck.ui import bindings
from livedeck.ui.library import EVENTS, Listing, Video
from livedeck.ui.renderables import extra_panel
from livedeck.ui.renderables.extra_rows import ANNOTATIONS, CUES, MATERIALS, POSTERS, SUBTITLES, VIDEOS
from livedeck.ui.renderables.moment import Moment
from livedeck.ui.screens.ordered import OrderedScreen
from livedeck.ui.screens.part import VideoScreen
from livedeck.ui.widgets.extra_panel import ExtraPanel
from livedeck.ui.widgets.frame import Lines
from livedeck.ui.widgets.table import Table
from livedeck.ui.widgets.thumbnail import Thumbnail


class VideosScreen(VideoScreen):
    """The recordings of the events that are over and of the selected one; videos that were opened by their id."""

    MODE = "videos"
    SHEET = VIDEOS
    EMPTY = "no recording of the events that are over; {video.find} opens any video by its id"
    BINDINGS: ClassVar[list[BindingType]] = bindings.here(MODE)

    def rows(self) -> Sequence[Video]:
        return self.library.videos()

    def paint(self, snapshot: Snapshot, moment: Moment) -> None:
        """Until somebody chooses a video the cursor stands on the first row, whichever that is by now."""
        self._cursor = self.library.video.id if self.library.video else ""
        super().paint(snapshot, moment)

    def whose(self) -> Any:
        total = len(self.library.known(self.MODE).items)
        return extra_panel.gathered(total, self._cut)

    _cut = 0

    def ready(self) -> bool:
        return self.library.api is not None

    def wanted(self, snapshot: Snapshot) -> Sequence[EventState]:
        chosen = self.deck.chosen()
        over = [state for state in snapshot.events if state.phase.tally is Tally.COMPLETED and state is not chosen]
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
            self.deck.switch_mode("posters")


class PostersScreen(VideoScreen):
    """The pictures of the video, and which one is shown."""

    MODE = "posters"
    SHEET = POSTERS
    EMPTY = "no poster; {poster.make} makes one of a moment, {poster.upload} takes the picture at an address"
    BINDINGS: ClassVar[list[BindingType]] = bindings.here(MODE)

    def body(self) -> Iterable[Widget]:
        yield Lines(id="head")
        yield Table(self.SHEET)
        yield Horizontal(ExtraPanel(), Thumbnail(), classes="beside")

    def on_mount(self) -> None:
        super().on_mount()
        self.deck.theme_changed_signal.subscribe(self, lambda _: self.refresh_all())  # some have no thumbnails

    def paint(self, snapshot: Snapshot, moment: Moment) -> None:
        super().paint(snapshot, moment)
        poster = self.picked()
        self.query_one(Thumbnail).look(self.library.api, poster if isinstance(poster, Poster) else None)


class SubtitlesScreen(OrderedScreen):
    """The tracks of the video in the order that viewers see."""

    MODE = "subtitles"
    SHEET = SUBTITLES
    EMPTY = "no subtitle track; {subtitle.upload} uploads a file, {subtitle.recognise} has speech recognised"
    BINDINGS: ClassVar[list[BindingType]] = bindings.here(MODE)

    def compared(self, before: Listing, after: Listing) -> None:
        pending = {one.id for one in before.items if isinstance(one, Subtitle) and one.status == "pending"}
        for one in after.items:
            if one.id in pending and one.status != "pending":
                self.deck.tell(f"subtitles {one.language or one.id}: recognition is {one.status}", Severity.INFO)

    def open(self) -> None:
        self.library.track = self.picked()
        if self.library.track is not None:
            self.deck.switch_mode("cues")


class CuesScreen(VideoScreen):
    """What a track says, line by line, from its file."""

    MODE = "cues"
    SHEET = CUES
    EMPTY = "no cue"
    BINDINGS: ClassVar[list[BindingType]] = bindings.here(MODE)

    def ready(self) -> bool:
        return super().ready() and self.library.track is not None

    def whose(self) -> Any:
        track = self.library.track
        said = f"  track {track.language or ''} {track.description or ''}" if track else ""
        return extra_panel.title(self.library.video, said)

    def back(self) -> None:
        self.deck.switch_mode("subtitles")


class AnnotationsScreen(VideoScreen):
    """What is laid over the video for a while."""

    MODE = "annotations"
    SHEET = ANNOTATIONS
    EMPTY = "no annotation; {annotation.new} makes one"
    BINDINGS: ClassVar[list[BindingType]] = bindings.here(MODE)


class MaterialsScreen(OrderedScreen):
    """The files beside the video that the deck knows of."""

    MODE = "materials"
    SHEET = MATERIALS
    EMPTY = "none known, nothing lists them; {material.upload} uploads one, :material.know ID takes one in"
    BINDINGS: ClassVar[list[BindingType]] = bindings.here(MODE)

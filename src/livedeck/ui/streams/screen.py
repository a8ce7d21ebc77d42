"""Screen 2: the current stream of every event, where it goes, and what was recorded."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from textual.widget import Widget

from livedeck.client import ApiError
from livedeck.monitor import EventState, Snapshot
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.streams import STREAMS
from livedeck.text.segments import Line, StyleRole
from livedeck.ui.kit.canvas import Canvas
from livedeck.ui.kit.table import Table
from livedeck.ui.shell.screen import EventList
from livedeck.ui.streams.view import Recordings, panel


class StreamPanel(Canvas):
    """Where the stream goes, and what was recorded."""

    def __init__(self) -> None:
        super().__init__()
        self._shown: tuple[EventState, Recordings | None, RenderTime] | None = None

    def show(self, state: EventState | None, known: Recordings | None, moment: RenderTime) -> None:
        """Paint this one; None where there is none to select."""
        self._shown = None if state is None else (state, known, moment)
        self.repaint()

    def draw(self, width: int, height: int) -> list[Line]:  # noqa: ARG002
        if self._shown is None:
            return [[(" no stream selected", StyleRole.DIM)]]
        state, known, moment = self._shown
        return panel(state, known, moment, width)


RECORDINGS_AGE = 30.0

"""Seconds after which the recordings of the selected event are asked for again."""


class StreamsScreen(EventList):
    """What arrives, since when, and whereto."""

    NAME = "Streams"
    MODE = "streams"
    SCHEMA = STREAMS
    EMPTY = "no event of this workspace has a stream"
    DETAIL = "qos"

    def __init__(self) -> None:
        super().__init__()
        self._recordings: Recordings | None = None
        self._asking = ""

    def body(self) -> Iterable[Widget]:
        yield Table(STREAMS)
        yield StreamPanel()

    def paint(self, snapshot: Snapshot, moment: RenderTime) -> None:
        chosen = self.list_events(snapshot, moment)
        self.query_one(StreamPanel).show(chosen, self._recordings, moment)
        if chosen is not None:
            self._ask(chosen, moment)

    def _ask(self, state: EventState, moment: RenderTime) -> None:
        """Have the recordings of that event asked for, where they are not known or old; one question at a time."""
        tried = self._known(state.id).requested_at
        fresh = tried is not None and moment.seconds_since(tried) < RECORDINGS_AGE
        if self.ctx.api is not None and not fresh and self._asking != state.id:
            self._asking = state.id
            self.run_worker(self._asked(state.id), group="recordings", exclusive=True)

    async def _asked(self, event_id: str) -> None:
        assert self.ctx.api is not None
        tried = self.ctx.clock.now()
        try:
            items = (await self.ctx.api.events.videos(event_id)).items
            self._recordings = Recordings(event_id, self.ctx.clock.now(), items, requested_at=tried)
        except ApiError as error:
            self._recordings = replace(self._known(event_id), error=str(error), requested_at=tried)
        finally:
            if self._asking == event_id:  # this one ends, too, when another question takes its place
                self._asking = ""
        self.refresh_all()

    def _known(self, event_id: str) -> Recordings:
        """What is known of that event's recordings; those of another one are forgotten."""
        known = self._recordings
        return known if known and known.event_id == event_id else Recordings(event_id)

"""Screen 4: the chat of the selected event: a look at it, and its export."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass

from textual.widget import Widget

from livedeck.client import ApiError, ChatExport, Event, MessageFilter
from livedeck.monitor import EventState, KnownStream, Snapshot, known_streams, remembered_streams
from livedeck.operations.schema import FieldValues
from livedeck.presentation.filtering import TableView
from livedeck.presentation.render_time import RenderTime
from livedeck.text.segments import Line, StyleRole
from livedeck.ui.chat import jobs, view
from livedeck.ui.chat.form import NO_FILTER
from livedeck.ui.chat.jobs import Preview, exports_of
from livedeck.ui.chat.view import MESSAGES, Keys, Source
from livedeck.ui.kit.lines import LinesWidget
from livedeck.ui.kit.table import Table
from livedeck.ui.shell.keymap import key_of, with_keys
from livedeck.ui.shell.screen import BaseScreen

GONE = " this event is no longer in the platform's list: {screen.events} leads to the others"


@dataclass(frozen=True, slots=True)
class Streams:
    """The streams that can be named of an event, as long as its current one is this. `why`: some were not told of."""

    event_id: str
    current: str
    known: tuple[KnownStream, ...]
    why: str = ""


class ChatScreen(BaseScreen):
    """What viewers write, now and in earlier streams, and the way to a file."""

    NAME = "Chat"
    MODE = "chat"
    SHOWS_EVENT = True

    def __init__(self) -> None:
        super().__init__()
        self._streams: Streams | None = None
        self._asking = ("", "")
        self._picked = ""
        self._event = ""
        self._cursor = ""
        self._preview: Preview | None = None
        self.sieve = MessageFilter()
        self.entries: FieldValues = NO_FILTER

    def body(self) -> Iterable[Widget]:
        yield LinesWidget(id="chat")
        yield Table(MESSAGES)

    def on_screen_resume(self) -> None:
        """What is shown stays the same event until the operator takes another one."""
        state = self.ctx.selected_event()
        if state is not None:
            self.ctx.select_event(state.id)
        super().on_screen_resume()

    def paint(self, snapshot: Snapshot, moment: RenderTime) -> None:
        state = self.ctx.selected_event()
        if state is not None:
            self._turn_to(state)
        source = self.source()
        if self._preview and source and source.stream and source.stream.id != self._preview.wanted.stream_id:
            self._forget()
        keys, width, now = self._keys(), self.size.width, self.ctx.clock.monotonic()
        lines = view.source(source, moment, keys, width) if source else self._gone(snapshot)
        lines.append(view.preview(self._preview, moment, keys))
        lines += view.export(exports_of(self.ctx).job, now, keys, width)
        self.query_one("#chat", LinesWidget).show(lines)
        rows = self._preview.rows if self._preview else ()
        self._cursor = self._cursor or ("0" if rows else "")
        self.query_one(Table).show(rows, moment, self._cursor, self._nothing(), TableView())

    def _gone(self, snapshot: Snapshot) -> list[Line]:
        return [[(with_keys(GONE, self.ctx.actions), StyleRole.WARNING)]] if snapshot.events else []

    def _nothing(self) -> str:
        known = self._preview
        if known is None or known.reading or known.why:
            return ""
        return "no message matches" if known.wanted.filter else "nobody has written anything"

    def _keys(self) -> Keys:
        names = ("read", "sift", "everything", "export", "stop", "copy", "open", "next_stream")
        return Keys(*(key_of(f"chat.{name}", self.ctx.actions) for name in names))

    def _turn_to(self, state: EventState) -> None:
        """Another event is another chat; the streams of it are asked for once, and again when it has a new one."""
        if state.id != self._event:
            self._event, self._picked, self._streams = state.id, "", None
            self.sieve, self.entries = MessageFilter(), NO_FILTER
            self._forget()
        place = state.id, _current(state.event)
        known = self._streams
        if self._asking != place and (known is None or (known.event_id, known.current) != place):
            self._asking = place
            self.run_worker(self._ask(state.event), group="streams", exclusive=True)

    async def _ask(self, event: Event) -> None:
        """Ask history and platform which streams there are."""
        now = KnownStream(_current(event), "current") if _current(event) else None
        history, api, why = self.ctx.history, self.ctx.api, ""
        records = await history.streams(event.id) if history else ()
        found = remembered_streams(now, records)
        try:
            found = await known_streams(api, event, records) if api else found
        except ApiError as error:
            why = str(error)
        self._streams, self._asking = Streams(event.id, _current(event), found, why), ("", "")
        self.refresh_all()

    def source(self) -> Source | None:
        """What is looked at now; None where the event is gone."""
        state, known = self.ctx.selected_event(), self._streams
        if state is None:
            return None
        streams = known.known if known else None
        return Source(state, streams, self._stream(state, streams or ()), self.sieve, known.why if known else "")

    def _stream(self, state: EventState, streams: tuple[KnownStream, ...]) -> KnownStream | None:
        """The one that was picked; else the current one; else the newest that is known."""
        current = _current(state.event)
        now = (KnownStream(current, "current"),) if current else ()
        return next((one for one in (*streams, *now) if one.id == self._picked), next(iter((*now, *streams)), None))

    def wanted(self) -> ChatExport | None:
        """The chat that is looked at, sifted; None where there is no stream."""
        source = self.source()
        if source is None or source.stream is None:
            return None
        return ChatExport(source.state.id, source.stream.id, filter=self.sieve)

    def step_stream(self, step: int) -> None:
        """To the next or the previous stream."""
        source = self.source()
        if source and source.stream and source.streams:
            at = source.streams.index(source.stream) if source.stream in source.streams else 0
            self._picked = source.streams[(at + step) % len(source.streams)].id
            self._forget()
            self.refresh_all()

    def step_event(self, step: int) -> None:
        """To the next or the previous event, in the order of the Events screen."""
        shown, chosen = self.ctx.displayed(), self.ctx.selected_event()
        ids = [state.id for state in shown[0].events] if shown else []
        if ids:
            at = ids.index(chosen.id) + step if chosen and chosen.id in ids else 0
            self.ctx.select_event(ids[at % len(ids)])

    def sift(self, sieve: MessageFilter, entries: FieldValues) -> None:
        """Only these messages; what is shown is read again."""
        self.sieve, self.entries = sieve, entries
        if self._preview is not None:
            self.read()
        self.refresh_all()

    def read(self) -> None:
        """Read the log from its beginning; and ask again for the streams that could not be told of."""
        wanted, api = self.wanted(), self.ctx.api
        if self._streams and self._streams.why:
            self._streams = None
        if wanted is not None and api is not None:
            self._cursor = ""
            self.run_worker(self._read(jobs.read(api, wanted, self.ctx.clock.now())), group="preview", exclusive=True)

    async def _read(self, growing: AsyncIterator[Preview]) -> None:
        """Painted as it begins and as it ends, and once a second between."""
        async for known in growing:
            before, self._preview = self._preview, known
            if not known.reading or before is None or not before.rows:
                self.refresh_all()

    def _forget(self) -> None:
        self.workers.cancel_group(self, "preview")
        self._preview, self._cursor = None, ""

    def on_table_moved(self, message: Table.Moved) -> None:
        self._cursor = message.key
        self.refresh_all()


def _current(event: Event) -> str:
    return (event.stream and event.stream.id) or ""

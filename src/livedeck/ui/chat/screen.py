"""Screen 4: the chat of the selected event: its preview, and its export."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass

from textual.geometry import Size
from textual.widget import Widget

from livedeck.client import ApiError, ChatExport, Event, MessageFilter
from livedeck.monitor import EventState, KnownStream, Snapshot, known_streams, remembered_streams
from livedeck.operations.schema import FieldValues
from livedeck.presentation.filtering import TableView
from livedeck.presentation.render_time import RenderTime
from livedeck.text.segments import Line, StyleRole
from livedeck.ui.chat import view
from livedeck.ui.chat.form import EMPTY_FILTER
from livedeck.ui.chat.jobs import exports_of
from livedeck.ui.chat.preview import Preview, read_preview
from livedeck.ui.chat.view import MESSAGES, Keys, Source, Tail
from livedeck.ui.kit.lines import LinesWidget
from livedeck.ui.kit.table import Table
from livedeck.ui.shell.keymap import key_of, with_keys
from livedeck.ui.shell.screen import BaseScreen

TAIL_SECONDS = 10.0
"""Seconds between two readings of a log that may still grow; the platform gives it as a whole or not at all."""

TAIL_SHARE = 10
"""So many times as long as a reading took the next one waits at least: a long log is read less often."""

GONE = " this event is no longer in the platform's list: {screen.events} leads to the others"


@dataclass(frozen=True, slots=True)
class StreamList:
    """The known streams of an event while its current one is `current_id`. `error`: why some may lack, or empty."""

    event_id: str
    current_id: str
    streams: tuple[KnownStream, ...]
    error: str = ""


class ChatScreen(BaseScreen):
    """What viewers write, now and in earlier streams, and its export to a file."""

    NAME = "Chat"
    MODE = "chat"
    SHOWS_EVENT = True

    def __init__(self) -> None:
        super().__init__()
        self._stream_list: StreamList | None = None
        self._requested = ("", "")  # the event and its current stream whose streams are being requested
        self._selected_stream = ""
        self._event_id = ""
        self._cursor = ""
        self._preview: Preview | None = None
        self._is_following = True
        self._seen = 0  # messages that were there when following was paused
        self._followed_to: tuple[Size, float] | None = None  # size of the table, and where it was scrolled to
        self._read_began = self._read_ended = 0.0  # of the last reading (monotonic s)
        self.message_filter = MessageFilter()
        self.filter_entries: FieldValues = EMPTY_FILTER

    def body(self) -> Iterable[Widget]:
        yield LinesWidget(id="chat")
        yield Table(MESSAGES)

    def on_screen_resume(self) -> None:
        """What is shown stays the same event until the operator selects another one."""
        state = self.ctx.selected_event()
        if state is not None:
            self.ctx.select_event(state.id)
        super().on_screen_resume()

    def paint(self, snapshot: Snapshot, render_time: RenderTime) -> None:
        state = self.ctx.selected_event()
        if state is not None:
            self._show_event(state)
        source = self.source()
        if self._preview and source and source.stream and source.stream.id != self._preview.export.stream_id:
            self._drop_preview()
        keys, width, now = self._keys(), self.size.width, self.ctx.clock.monotonic()
        gone: list[Line] = [[(with_keys(GONE, self.ctx.actions), StyleRole.WARNING)]] if snapshot.events else []
        self._read_on()
        self._pause_where_scrolled()
        tail = Tail(self._is_following, self._unseen(), self._tail_seconds())
        lines = [
            *(view.source_lines(source, render_time, keys, width) if source else gone),
            view.preview_line(self._preview, render_time, keys, tail),
            *view.export_lines(exports_of(self.ctx).job, now, keys, width),
        ]
        self.query_one("#chat", LinesWidget).show(lines)
        rows = self._preview.rows if self._preview else ()
        if rows and self._is_following:
            self._cursor = str(rows[-1].number)
        self.query_one(Table).show(rows, render_time, self._cursor, self._empty_text(), TableView())
        self.call_after_refresh(self._scroll_to_newest)

    def _scroll_to_newest(self) -> None:
        """A table that has just got its first rows scrolls only once it has been laid out for them."""
        table = self.query_one(Table)
        if self._is_following:
            table.scroll_to(y=table.max_scroll_y, animate=False, force=True, immediate=True)
            self._followed_to = table.size, table.max_scroll_y

    def _pause_where_scrolled(self) -> None:
        """The wheel moves no cursor: whoever scrolls up reads there, and the newest message waits."""
        table = self.query_one(Table)
        if self._followed_to and self._followed_to[0] == table.size and table.scroll_target_y < self._followed_to[1]:
            self._pause()

    def _pause(self) -> None:
        self._is_following, self._seen = False, self._preview.count if self._preview else 0
        self._followed_to = None

    def _unseen(self) -> int:
        return self._preview.count - self._seen if self._preview and not self._is_following else 0

    def _tail_seconds(self) -> float | None:
        """Seconds between two readings of the log that is shown; None where it grows no more."""
        state, preview = self.ctx.selected_event(), self._preview
        stream = state.event.stream if state else None
        if preview is None or stream is None or stream.id != preview.export.stream_id or stream.finished_at:
            return None
        return max(TAIL_SECONDS, TAIL_SHARE * (self._read_ended - self._read_began))

    def _read_on(self) -> None:
        """Read a log that may have grown once more; what is shown stays until that is whole."""
        seconds, preview, api = self._tail_seconds(), self._preview, self.ctx.api
        is_due = seconds is not None and self.ctx.clock.monotonic() - self._read_ended >= seconds
        if is_due and preview and not preview.is_reading and api and not self.ctx.preferences.frozen:
            self._read_ended = self.ctx.clock.monotonic()  # not again before this one is done
            previews = read_preview(api, preview.export, self.ctx.clock.now())
            self.run_worker(self._read(previews, is_shown_whole=True), group="preview", exclusive=True)

    def _empty_text(self) -> str:
        preview = self._preview
        if preview is None:
            return f"{self._keys().read} reads what was written, and follows it" if self.source() else ""
        if preview.is_reading or preview.error:
            return ""
        return "no message matches" if preview.export.filter else "nobody has written anything"

    def _keys(self) -> Keys:
        names = ("read", "sift", "everything", "export", "stop", "copy", "open", "next_stream")
        actions = (*(f"chat.{name}" for name in names), "row.last")
        return Keys(*(key_of(name, self.ctx.actions) for name in actions))

    def _show_event(self, state: EventState) -> None:
        """Reset the screen for another event; request the streams of it once, and again when it has a new one."""
        if state.id != self._event_id:
            self._event_id, self._selected_stream, self._stream_list = state.id, "", None
            self.message_filter, self.filter_entries = MessageFilter(), EMPTY_FILTER
            self._drop_preview()
        request, streams = (state.id, _current_id(state.event)), self._stream_list
        if self._requested != request and (streams is None or (streams.event_id, streams.current_id) != request):
            self._requested = request
            self.run_worker(self._load_streams(state.event), group="streams", exclusive=True)

    async def _load_streams(self, event: Event) -> None:
        """Load the streams of an event from the history and the platform."""
        current_id, history, api, error_text = _current_id(event), self.ctx.records, self.ctx.api, ""
        current = KnownStream(current_id, "current") if current_id else None
        records = await history.streams(event.id) if history else ()
        streams = remembered_streams(current, records)
        try:
            streams = await known_streams(api, event, records) if api else streams
        except ApiError as error:
            error_text = str(error)
        self._stream_list, self._requested = StreamList(event.id, current_id, streams, error_text), ("", "")
        self.refresh_all()

    def source(self) -> Source | None:
        """What is shown now; None where the event is gone."""
        state, stream_list = self.ctx.selected_event(), self._stream_list
        if state is None:
            return None
        streams = stream_list.streams if stream_list else None
        stream = self._stream(state, streams or ())
        return Source(state, streams, stream, self.message_filter, stream_list.error if stream_list else "")

    def _stream(self, state: EventState, streams: tuple[KnownStream, ...]) -> KnownStream | None:
        """The selected stream; else the current one; else the newest that is known."""
        current_id = _current_id(state.event)
        current = (KnownStream(current_id, "current"),) if current_id else ()
        selected = (stream for stream in (*streams, *current) if stream.id == self._selected_stream)
        return next(selected, None) or next(iter((*current, *streams)), None)

    def chat_export(self) -> ChatExport | None:
        """The chat that is shown, with its filter; None where there is no stream."""
        source = self.source()
        if source is None or source.stream is None:
            return None
        return ChatExport(source.state.id, source.stream.id, filter=self.message_filter)

    def step_stream(self, step: int) -> None:
        """Select the next or the previous stream."""
        source = self.source()
        if source and source.stream and source.streams:
            index = source.streams.index(source.stream) if source.stream in source.streams else 0
            self._selected_stream = source.streams[(index + step) % len(source.streams)].id
            self._drop_preview()
            self.refresh_all()

    def step_event(self, step: int) -> None:
        """Select the next or the previous event, in the order of the Events screen."""
        displayed, selected = self.ctx.displayed(), self.ctx.selected_event()
        ids = [state.id for state in displayed[0].events] if displayed else []
        if ids:
            index = ids.index(selected.id) + step if selected and selected.id in ids else 0
            self.ctx.select_event(ids[index % len(ids)])

    def set_filter(self, message_filter: MessageFilter, entries: FieldValues) -> None:
        """Show and export only these messages; the preview is read again. `entries`: of the form."""
        self.message_filter, self.filter_entries = message_filter, entries
        if self._preview is not None:
            self.read()
        self.refresh_all()

    def read(self) -> None:
        """Read the log from its beginning; and load the streams again where that failed."""
        export, api = self.chat_export(), self.ctx.api
        if self._stream_list and self._stream_list.error:
            self._stream_list = None
        if export is not None and api is not None:
            self._cursor, self._is_following, self._followed_to = "", True, None
            previews = read_preview(api, export, self.ctx.clock.now())
            self.run_worker(self._read(previews), group="preview", exclusive=True)

    async def _read(self, previews: AsyncIterator[Preview], *, is_shown_whole: bool = False) -> None:
        """Paint the preview as it begins and as it ends; in between it is painted once a second.

        `is_shown_whole`: only as it ends, in place of one that is shown; where it fails that one stays.
        """
        self._read_began = self.ctx.clock.monotonic()
        async for preview in previews:
            if is_shown_whole and (preview.is_reading or preview.error):
                continue
            before, self._preview = self._preview, preview
            if not preview.is_reading or before is None or not before.rows:
                self._read_ended = self.ctx.clock.monotonic()
                self.refresh_all()

    def forget(self) -> None:
        super().forget()
        self._event_id, self._requested = "", ("", "")

    def _drop_preview(self) -> None:
        self.workers.cancel_group(self, "preview")
        self._preview, self._cursor, self._is_following, self._followed_to = None, "", True, None

    def on_table_moved(self, message: Table.Moved) -> None:
        """Up pauses; to the newest message follows again."""
        rows = self._preview.rows if self._preview else ()
        self._cursor = message.key
        is_newest = bool(rows) and message.key == str(rows[-1].number)
        if self._is_following and not is_newest:
            self._pause()
        self._is_following = is_newest
        self.refresh_all()


def _current_id(event: Event) -> str:
    return (event.stream and event.stream.id) or ""

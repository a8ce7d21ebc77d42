"""Screen 4: preview and export of the selected event's chat."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence

from textual.widget import Widget

from livedeck.client import ApiError, ChatExport, Event, MessageFilter
from livedeck.monitor import KnownStream, NotReadError, Snapshot, StreamRecord, known_streams, remembered_streams
from livedeck.operations.schema import FieldValues
from livedeck.presentation.filtering import TableView
from livedeck.presentation.render_time import RenderTime
from livedeck.ui.chat import view
from livedeck.ui.chat.form import EMPTY_FILTER
from livedeck.ui.chat.jobs import exports_of
from livedeck.ui.chat.preview import Preview, read_preview
from livedeck.ui.chat.state import Following, StreamChoice, StreamList, current_id
from livedeck.ui.chat.view import MESSAGES, Keys, Source, Tail
from livedeck.ui.kit.lines import LinesWidget
from livedeck.ui.kit.table import Table
from livedeck.ui.shell.keymap import key_of
from livedeck.ui.shell.screen import BaseScreen, no_event_line


class ChatScreen(BaseScreen):
    """Messages of viewers, now and in past streams, and their export to a file."""

    NAME = "Chat"
    MODE = "chat"
    SHOWS_EVENT = True

    def __init__(self) -> None:
        super().__init__()
        self._choice = StreamChoice()
        self._following = Following()
        self._preview: Preview | None = None
        self.message_filter = MessageFilter()
        self.filter_entries: FieldValues = EMPTY_FILTER

    def body(self) -> Iterable[Widget]:
        yield LinesWidget(id="chat")
        yield Table(MESSAGES)

    def on_screen_resume(self) -> None:
        """Choose the shown event, so that it stays selected until the operator chooses another one."""
        state = self.ctx.selected_event()
        if state is not None:
            self.ctx.select_event(state.id)
        super().on_screen_resume()

    def paint(self, snapshot: Snapshot, render_time: RenderTime) -> None:
        state = self.ctx.selected_event()
        if state is not None:
            self._show_event(state.event)
        source = self.source()
        if self._preview and source and source.stream and source.stream.id != self._preview.export.stream_id:
            self._drop_preview()
        keys, width, now = self._keys(), self.size.width, self.ctx.clock.monotonic()
        gone = [no_event_line(self.ctx, "screen.events")] if snapshot.events else []
        self._read_on()
        following, table, preview = self._following, self.query_one(Table), self._preview
        count = preview.count if preview else 0
        following.check_scroll(table.size, table.scroll_target_y, count)
        interval = following.interval if self._may_grow() else None
        tail = Tail(following.is_following, following.unseen(count), interval)
        lines = [
            *(view.source_lines(source, render_time, keys, width) if source else gone),
            view.preview_line(preview, render_time, keys, tail),
            *view.export_lines(exports_of(self.ctx).job, now, keys, width),
        ]
        self.query_one("#chat", LinesWidget).show(lines)
        following.show(self._newest_key())
        rows = preview.rows if preview else ()
        table.show(rows, render_time, following.cursor, self._empty_text(), TableView())
        self.call_after_refresh(self._scroll_to_newest)

    def _scroll_to_newest(self) -> None:
        """Scroll to the newest message if the table is following the log. Call this once the new rows have a layout."""
        table = self.query_one(Table)
        if self._following.is_following:
            table.scroll_to(y=table.max_scroll_y, animate=False, force=True, immediate=True)
            self._following.record_scroll(table.size, table.max_scroll_y)

    def _newest_key(self) -> str:
        return str(self._preview.rows[-1].number) if self._preview and self._preview.rows else ""

    def _may_grow(self) -> bool:
        """Return whether the log may still grow. Only the log of the current stream grows, until the stream ends."""
        state, preview = self.ctx.selected_event(), self._preview
        stream = state.event.stream if state else None
        if preview is None or stream is None:
            return False
        return stream.id == preview.export.stream_id and not stream.finished_at

    def _read_on(self) -> None:
        """Reread the log if it may have grown. The old messages stay on the screen until the read is complete."""
        preview, api, now = self._preview, self.ctx.api, self.ctx.clock.monotonic()
        is_due = self._may_grow() and self._following.is_due(now)
        if is_due and preview and not preview.is_reading and api and not self.ctx.preferences.frozen:
            self._following.end_read(now)  # so that no second read becomes due during this one
            previews = read_preview(api, preview.export, self.ctx.clock.now())
            self.run_worker(self._read(previews, is_shown_whole=True), group="preview", exclusive=True)

    def _empty_text(self) -> str:
        preview = self._preview
        if preview is None:
            return f"Press {self._keys().read} to read the chat and follow it" if self.source() else ""
        if preview.is_reading or preview.error:
            return ""
        return "No message matches" if preview.export.filter else "No messages yet"

    def _keys(self) -> Keys:
        names = ("read", "sift", "everything", "export", "stop", "copy", "open", "next_stream")
        actions = (*(f"chat.{name}" for name in names), "row.last")
        return Keys(*(key_of(name, self.ctx.actions) for name in actions))

    def _show_event(self, event: Event) -> None:
        """Reset the screen for another event, and load its streams."""
        if self._choice.show(event):
            self.message_filter, self.filter_entries = MessageFilter(), EMPTY_FILTER
            self._drop_preview()
        if self._choice.request(event):
            self.run_worker(self._load_streams(event), group="streams", exclusive=True)

    async def _load_streams(self, event: Event) -> None:
        """Load the list of the event's streams from the history and the platform."""
        stream_id, history, api, error_text = current_id(event), self.ctx.records, self.ctx.api, ""
        current = KnownStream(stream_id, "current") if stream_id else None
        records: Sequence[StreamRecord] = ()
        try:
            records = await history.whole(history.streams(event.id)) if history else ()
        except NotReadError as error:
            error_text = str(error)
        streams = remembered_streams(current, records)
        try:
            streams = await known_streams(api, event, records) if api else streams
        except ApiError as error:
            error_text = "; ".join(filter(None, (error_text, f"recordings: {error}")))
        self._choice.load(StreamList(event.id, stream_id, streams, error_text))
        self.refresh_all()

    def source(self) -> Source | None:
        """Return event, stream and filter of the screen; None if the event no longer exists."""
        state, choice = self.ctx.selected_event(), self._choice
        if state is None:
            return None
        return Source(state, choice.streams, choice.stream(state.event), self.message_filter, choice.error)

    def chat_export(self) -> ChatExport | None:
        """Return an export of the chat on the screen with its filter; None if the event has no stream."""
        source = self.source()
        if source is None or source.stream is None:
            return None
        return ChatExport(source.state.id, source.stream.id, filter=self.message_filter)

    def step_stream(self, step: int) -> None:
        """Select the next (1) or previous (-1) stream."""
        state = self.ctx.selected_event()
        if state is not None and self._choice.step(state.event, step):
            self._drop_preview()
            self.refresh_all()

    def step_event(self, step: int) -> None:
        """Select the next (1) or previous (-1) event in the order of the Events screen."""
        displayed, selected = self.ctx.displayed(), self.ctx.selected_event()
        ids = [state.id for state in displayed[0].events] if displayed else []
        if ids:
            index = ids.index(selected.id) + step if selected and selected.id in ids else 0
            self.ctx.select_event(ids[index % len(ids)])

    def set_filter(self, message_filter: MessageFilter, entries: FieldValues) -> None:
        """Set the filter for preview and export, and read the preview again.

        `entries`: entries of the filter's form, which the form shows when it opens again.
        """
        self.message_filter, self.filter_entries = message_filter, entries
        if self._preview is not None:
            self.read()
        self.refresh_all()

    def read(self) -> None:
        """Read the log from its beginning. Also load the streams again if they could not be loaded."""
        export, api = self.chat_export(), self.ctx.api
        self._choice.retry()
        if export is not None and api is not None:
            self._following.restart()
            previews = read_preview(api, export, self.ctx.clock.now())
            self.run_worker(self._read(previews), group="preview", exclusive=True)

    async def _read(self, previews: AsyncIterator[Preview], *, is_shown_whole: bool = False) -> None:
        """Store each preview of a read. Paint the first and the last one at once, the others with the next paint.

        `is_shown_whole`: store only the complete preview, so the preview on the screen stays if the read fails.
        """
        self._following.begin_read(self.ctx.clock.monotonic())
        async for preview in previews:
            if is_shown_whole and (preview.is_reading or preview.error):
                continue
            before, self._preview = self._preview, preview
            if not preview.is_reading or before is None or not before.rows:
                self._following.end_read(self.ctx.clock.monotonic())
                self.refresh_all()

    def forget(self) -> None:
        super().forget()
        self._choice.forget()

    def _drop_preview(self) -> None:
        self.workers.cancel_group(self, "preview")
        self._preview = None
        self._following.restart()

    def on_table_moved(self, message: Table.Moved) -> None:
        """Pause if the cursor moves to an older message; follow again if it moves to the newest one."""
        count = self._preview.count if self._preview else 0
        self._following.choose(message.key, self._newest_key(), count)
        self.refresh_all()

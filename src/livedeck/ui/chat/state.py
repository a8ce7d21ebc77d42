"""State of the Chat screen: the reader's place in a growing log, and the choice of an event's stream. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from livedeck.client import Event
from livedeck.monitor import KnownStream

TAIL_SECONDS = 10.0
"""Minimum seconds between two reads of a log that may still grow. Each read transfers the whole log."""

TAIL_SHARE = 10
"""Minimum wait before the next read, in multiples of the duration of the last read. Long logs are read less often."""


class Following:
    """Reader's place in a log: at its newest message, or paused at another one.

    `cursor`: key of the row under the cursor. `is_following`: the newest message stays visible.
    """

    def __init__(self) -> None:
        self.cursor = ""
        self.is_following = True
        self._seen = 0  # messages in the log at the time of the pause
        self._followed_to: tuple[tuple[int, int], float] | None = None  # size of the table, and its scroll position
        self._read_began = self._read_ended = 0.0  # start and end of the last read (monotonic s)

    def restart(self) -> None:
        """Follow the newest message again, without a cursor."""
        self.cursor, self.is_following, self._followed_to = "", True, None

    def show(self, newest: str) -> None:
        """Move the cursor to the newest row while following. `newest`: key of the newest row; empty without rows."""
        if newest and self.is_following:
            self.cursor = newest

    def choose(self, key: str, newest: str, count: int) -> None:
        """Move the cursor to a chosen row. At the newest row, follow again; at any other row, pause.

        `count`: number of messages in the log so far.
        """
        self.cursor = key
        if self.is_following and key != newest:
            self._pause(count)
        self.is_following = key == newest

    def record_scroll(self, size: tuple[int, int], position: float) -> None:
        """Record the scroll position that shows the newest message in a table of that size."""
        self._followed_to = size, position

    def check_scroll(self, size: tuple[int, int], position: float, count: int) -> None:
        """Pause if a person has scrolled up by the wheel, which does not move the cursor. A resize does not pause."""
        if self._followed_to and self._followed_to[0] == size and position < self._followed_to[1]:
            self._pause(count)

    def _pause(self, count: int) -> None:
        self.is_following, self._seen, self._followed_to = False, count, None

    def unseen(self, count: int) -> int:
        """Return the number of messages since the pause; 0 while following."""
        return 0 if self.is_following else max(0, count - self._seen)

    def begin_read(self, now: float) -> None:
        """Record the start of a read (monotonic s)."""
        self._read_began = now

    def end_read(self, now: float) -> None:
        """Record `now` (monotonic s) as the time from which the wait for the next read counts.

        Call this at the start and at the end of a read, so that no second read becomes due during the first.
        """
        self._read_ended = now

    @property
    def interval(self) -> float:
        """Seconds from the end of a read to the start of the next."""
        return max(TAIL_SECONDS, TAIL_SHARE * (self._read_ended - self._read_began))

    def is_due(self, now: float) -> bool:
        """Return whether the log is due for the next read."""
        return now - self._read_ended >= self.interval


@dataclass(frozen=True, slots=True)
class StreamList:
    """Known streams of an event. `current_id`: id of the event's current stream when the list was loaded.

    `error`: reason why the list may be incomplete; otherwise empty.
    """

    event_id: str
    current_id: str
    streams: tuple[KnownStream, ...]
    error: str = ""


class StreamChoice:
    """Event on the screen, its known streams, and the stream that a person selected. `event_id`: empty at first."""

    def __init__(self) -> None:
        self.event_id = ""
        self._selected = ""  # id of the selected stream, empty for none
        self._list: StreamList | None = None
        self._requested = ("", "")  # ids of the event and its current stream while their list is loading

    @property
    def streams(self) -> tuple[KnownStream, ...] | None:
        """Known streams; None while they are loading."""
        return self._list.streams if self._list else None

    @property
    def error(self) -> str:
        """Reason why the list of streams may be incomplete; otherwise empty."""
        return self._list.error if self._list else ""

    def show(self, event: Event) -> bool:
        """Switch to an event. Returns False if the event is on the screen already."""
        if event.id == self.event_id:
            return False
        self.event_id, self._selected, self._list = event.id, "", None
        return True

    def forget(self) -> None:
        """Forget the event, so that the next `show` switches even to the same event."""
        self.event_id, self._requested = "", ("", "")

    def request(self, event: Event) -> bool:
        """Return whether the event's streams must be loaded now, and count them as requested.

        They are loaded once for an event, and again when its current stream changes.
        """
        request = event.id, current_id(event)
        is_known = self._list is not None and (self._list.event_id, self._list.current_id) == request
        if is_known or self._requested == request:
            return False
        self._requested = request
        return True

    def load(self, streams: StreamList) -> None:
        """Store the list of streams once it is loaded."""
        self._list, self._requested = streams, ("", "")

    def retry(self) -> None:
        """Drop an incomplete list, so that the next request loads it again."""
        if self.error:
            self._list = None

    def stream(self, event: Event) -> KnownStream | None:
        """Return the selected stream, or else the current, or else the newest known stream; None without streams."""
        streams, stream_id = self.streams or (), current_id(event)
        current = (KnownStream(stream_id, "current"),) if stream_id else ()
        selected = (stream for stream in (*streams, *current) if stream.id == self._selected)
        return next(selected, None) or next(iter((*current, *streams)), None)

    def step(self, event: Event, step: int) -> bool:
        """Select the stream after (1) or before (-1) the stream on the screen. Returns False if no stream is known."""
        stream, streams = self.stream(event), self.streams
        if stream is None or not streams:
            return False
        index = streams.index(stream) if stream in streams else 0
        self._selected = streams[(index + step) % len(streams)].id
        return True


def current_id(event: Event) -> str:
    """Return the id of the event's current stream, empty without one."""
    return (event.stream and event.stream.id) or ""

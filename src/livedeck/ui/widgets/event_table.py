"""The events, worst first, one a line: virtual, so that a thousand cost what the screen shows."""

from __future__ import annotations

from typing import ClassVar

from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from livedeck.monitor import EventState, Severity
from livedeck.ui.renderables import event_rows
from livedeck.ui.renderables.ink import Ink
from livedeck.ui.renderables.lines import Line, between
from livedeck.ui.renderables.moment import Moment
from livedeck.ui.widgets.inked import Inked, changes

HEAD_LINES = 1
MARK_CELLS = 1


class EventTable(ScrollView, Inked, can_focus=True):
    """The cursor follows the id of an event, never the number of a row."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {*Inked.COMPONENT_CLASSES, "event-table--cursor", "event-table--head"}

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "up", show=False),
        Binding("down,j", "move(1)", "down", show=False),
        Binding("pageup", "page(-1)", "page up", show=False),
        Binding("pagedown", "page(1)", "page down", show=False),
        Binding("home", "jump(0)", "first", show=False),
        Binding("end", "jump(-1)", "last", show=False),
        Binding("enter", "open", "QoS", show=False),
    ]

    class Moved(Message):
        """The cursor stands on another event."""

        def __init__(self, event_id: str) -> None:
            super().__init__()
            self.event_id = event_id

    class Opened(Message):
        """The operator wants to see this event from near."""

        def __init__(self, event_id: str) -> None:
            super().__init__()
            self.event_id = event_id

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._states: tuple[EventState, ...] = ()
        self._rows: dict[int, Line] = {}
        self._head: Line = []
        self._columns: list[tuple[event_rows.Column, int]] = []
        self._moment: Moment | None = None
        self._empty = ""
        self.cursor: str | None = None

    def show(self, states: tuple[EventState, ...], moment: Moment, cursor: str | None, empty: str) -> None:
        """Take the events of a snapshot, in their order, and paint the rows that changed; `empty` says why none."""
        follow = cursor != self.cursor or self._in_sight()
        self._states, self._moment, self._empty, self.cursor = states, moment, empty, cursor
        self.virtual_size = Size(self.size.width, len(states) + HEAD_LINES)
        self.repaint()
        if follow:
            self._reveal()

    def repaint(self) -> int:
        """Draw the rows in sight again and mark those that changed. Returns how many they are."""
        if self._moment is None:
            return 0
        self._columns = event_rows.layout(self.scrollable_content_region.width - MARK_CELLS)
        top = self.scroll_offset.y
        rows = {at: self._drawn(at) for at in range(top, top + max(0, self.size.height - HEAD_LINES))}
        width, known, head = self.size.width, self._rows, self._head_line()
        marks = [changes(at - top + HEAD_LINES, known.get(at, []), row, width) for at, row in rows.items()]
        marks.append(changes(0, self._head, head, width))
        self._rows, self._head = rows, head
        return self.mark(marks)

    def _head_line(self) -> Line:
        """The names of the columns; and how many events with a critical fault were scrolled out above."""
        hidden = self._states[: self.scroll_offset.y]
        worse = sum(any(one.severity is Severity.CRITICAL for one in state.verdict.findings) for state in hidden)
        more: Line = [(f"✖ {worse} more above ", Ink.CRITICAL)] if worse else []
        return between([(" ", Ink.HEAD), *event_rows.head(self._columns)], more, self.size.width)

    def _drawn(self, at: int) -> Line:
        if self._moment is None or at >= len(self._states):
            return [(f" {self._empty}", Ink.DIM)] if not self._states and at == 0 else []
        state = self._states[at]
        mark = ">" if state.id == self.cursor else " "
        return [(mark, Ink.STRONG), *event_rows.row(state, self._moment, self._columns)]

    def on_resize(self) -> None:
        """Other columns may fit now."""
        self._rows.clear()
        self.repaint()
        self._reveal()
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """The head stays; the rows scroll under it."""
        width = self.size.width
        if y < HEAD_LINES:
            base = self.rich_style + self.get_component_rich_style("event-table--head", partial=True)
            return self.painted(self._head, width, base)
        at = y - HEAD_LINES + self.scroll_offset.y
        if at not in self._rows:  # it came into sight by scrolling
            self._rows[at] = self._drawn(at)
        return self.painted(self._rows[at], width, self._base(at))

    def _base(self, at: int) -> Style:
        base = self.rich_style
        if at < len(self._states) and self._states[at].id == self.cursor:
            base += self.get_component_rich_style("event-table--cursor", partial=True)
        return base

    def _row(self) -> int:
        return next((at for at, state in enumerate(self._states) if state.id == self.cursor), 0)

    def _in_sight(self) -> bool:
        return 0 <= self._row() - self.scroll_offset.y < self.size.height - HEAD_LINES

    def _reveal(self) -> None:
        """Scroll as little as it takes to have the cursor in sight."""
        window = self.size.height - HEAD_LINES
        top, row = self.scroll_offset.y, self._row()
        if row < top:
            self.scroll_to(y=row, animate=False)
        elif window > 0 and row >= top + window:
            self.scroll_to(y=row - window + 1, animate=False)

    def action_move(self, step: int) -> None:
        """One event up or down; the ends are walls."""
        self.action_jump(min(max(self._row() + step, 0), len(self._states) - 1))

    def action_page(self, direction: int) -> None:
        """A screenful."""
        self.action_move(direction * max(1, self.size.height - HEAD_LINES - 1))

    def action_jump(self, row: int) -> None:
        """To the event that stands in that row now; -1 is the last."""
        if self._states:
            self.post_message(self.Moved(self._states[row].id))

    def action_open(self) -> None:
        """Open the event under the cursor."""
        if self.cursor is not None:
            self.post_message(self.Opened(self.cursor))

    def on_click(self, event: events.Click) -> None:
        """A click puts the cursor there; a double click opens."""
        row = event.y - HEAD_LINES + self.scroll_offset.y
        if event.y < HEAD_LINES or row >= len(self._states):
            return
        self.post_message(self.Moved(self._states[row].id))
        if event.chain == 2:
            self.post_message(self.Opened(self._states[row].id))

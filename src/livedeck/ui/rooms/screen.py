"""Screen 5: meeting rooms, and the relay profiles of the selected room."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import inf
from typing import Any

from textual.containers import Horizontal
from textual.widget import Widget

from livedeck.client import RelayProfile, Room
from livedeck.monitor import ROOM_LIST, CachedList, Snapshot
from livedeck.operations.rooms import DeferredEdits
from livedeck.presentation import filtering
from livedeck.presentation.connection import missing_rows_text, missing_text
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.rooms import (
    RELAYS,
    ROOMS,
    Relay,
    WaitingEdit,
    display_name,
    doubled,
    relay_profiles,
    worst_first,
)
from livedeck.presentation.table import TableSchema
from livedeck.text.segments import Line, ShadedLine
from livedeck.ui.kit.canvas import StyledWidget
from livedeck.ui.kit.lines import FramedPanel, LinesWidget
from livedeck.ui.kit.selection import RowSelection
from livedeck.ui.kit.table import HEAD_LINES, Table
from livedeck.ui.rooms import view
from livedeck.ui.rooms.view import REVEALED
from livedeck.ui.shell.keymap import key_of, with_keys
from livedeck.ui.shell.screen import BaseScreen, Listing

DOUBLE_ENTER = 0.5
"""Seconds for which the key enter opens no form after the screen switches to the profiles. It may be a double press."""

EMPTY_LINES = 4
"""Height in lines of an empty table with its head."""

PANES_WIDTH, PANES_HEIGHT = 100, 34
"""Minimum width and height of a screen with checks of the room and the profiles of all rooms."""

ADDRESSES_WIDTH, ADDRESSES_HEIGHT = 160, 50
"""Minimum width and height of a screen with the addresses of all rooms, and the events set to send there."""

PANES: dict[str, TableSchema[Any]] = {"rooms": ROOMS, "relays": RELAYS}


class RoomsScreen(BaseScreen):
    """Meeting rooms, and the relay profiles of the selected room."""

    NAME = "Rooms"
    MODE = "rooms"

    def __init__(self) -> None:
        super().__init__()
        self.edits = DeferredEdits()
        self._pane = "rooms"
        self._turned_at = -inf
        self._selections = {pane: RowSelection() for pane in PANES}
        self._relays_of: str | None = None  # id of the room whose profiles are shown
        self._revealed, self._hidden_at = "", -inf

    def body(self) -> Iterable[Widget]:
        yield LinesWidget(id="age")
        yield Table(ROOMS, id="rooms")
        yield LinesWidget(id="room")
        yield Table(RELAYS, id="relays")
        yield LinesWidget(id="key")
        with Horizontal(classes="panes"):
            yield FramedPanel(id="checks")
            yield FramedPanel(id="all-rooms")
            yield FramedPanel(id="addresses")

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one("#key").display = False
        self.ctx.snapshot_signal.subscribe(self, lambda _: self.check_deferred_edits())

    def on_screen_resume(self) -> None:
        self.ctx.monitor.watch(self.MODE, ROOM_LIST)
        super().on_screen_resume()
        self.check_deferred_edits()

    def on_screen_suspend(self) -> None:
        """Stop polling the rooms once another screen hides this one, unless an edit waits.

        A dialog does not stop the polls.
        """
        if self.ctx.current_mode != self.MODE:
            self.reveal(None)
            if not self.edits.waiting:
                self.ctx.monitor.watch(self.MODE)

    def table(self) -> Table[Any]:
        return self.query_one(f"#{self._pane}", Table)

    def listing(self, snapshot: Snapshot) -> Listing:
        return Listing(self._pane, PANES[self._pane], self._rows(self._pane, snapshot.rooms))

    def turn(self, pane: str) -> None:
        """Make the keys act on a table: `rooms` or `relays`."""
        if pane != self._pane:
            self._turned_at = self.ctx.clock.monotonic()
        self._pane = pane
        self.refresh_all()

    @property
    def pane(self) -> str:
        """Table that the keys act on: `rooms` or `relays`."""
        return self._pane

    def back(self) -> None:
        """Go from the profiles to the rooms."""
        self.turn("rooms")

    def room(self) -> Room | None:
        """Return the selected room as shown; None without a selected room."""
        displayed = self.ctx.displayed()
        return displayed[0].rooms.find(self._selections["rooms"].key or "") if displayed else None

    def relay(self) -> RelayProfile | None:
        """Return the selected relay profile of the selected room as shown; None without one."""
        room, key = self.room(), self._selections["relays"].key
        return next((profile for profile in relay_profiles(room) if profile.id == key), None) if room else None

    def no_room_text(self) -> str:
        """Return the reason why no room is selected."""
        return self._selections["rooms"].missing_text("room") or "no room is selected"

    def no_relay_text(self) -> str:
        """Return the reason why no relay profile is selected."""
        if self.room() is None:
            return self._selections["rooms"].missing_text("room") or "no relay profile is selected"
        return self._selections["relays"].missing_text("relay profile") or "no relay profile is selected"

    def reveal(self, profile: RelayProfile | None) -> None:
        """Show the stream key of a profile for ten seconds. None hides the key."""
        self._revealed = profile.id if profile else ""
        self._hidden_at = self.ctx.clock.monotonic() + REVEALED if profile else -inf
        self.refresh_all()

    def check_deferred_edits(self) -> None:
        """Announce waiting edits whose relay has ended. If this screen is in front, ask about one of them."""
        state: CachedList[Room] = self.ctx.snapshot.rooms if self.ctx.snapshot else CachedList()
        had_waiting = bool(self.edits.waiting)
        for text, severity in self.edits.check_ready(state):
            self.ctx.announce(text, severity)
        if had_waiting and not self.edits.waiting and self.ctx.current_mode != self.MODE:
            self.ctx.monitor.watch(self.MODE)
        profile_id = self.edits.next_ready() if self.ctx.screen is self else None  # never over a form
        if profile_id:
            self.ctx.dispatch("relay.apply", profile_id)

    def paint(self, snapshot: Snapshot, render_time: RenderTime) -> None:
        rooms, cells = snapshot.rooms, self.size.width
        render_time = replace(render_time, stale=render_time.stale or rooms.is_stale(render_time.now))
        is_past = self.ctx.past is not None
        self.query_one("#age", LinesWidget).show([view.freshness_line(rooms, render_time, cells, is_past=is_past)])
        reason = with_keys(view.no_rooms_text(rooms, is_past=is_past), self.ctx.actions)
        filters = self._fill("rooms", rooms, render_time, reason)
        room = rooms.find(self._selections["rooms"].key or "")
        if room is not None and room.id != self._relays_of:
            self._relays_of, self._selections["relays"] = room.id, RowSelection()
        filters += self._fill("relays", rooms, render_time, view.no_profiles_text(room))
        self.query_one("#filter", LinesWidget).show(filters)
        edit, has_facts = self._waiting_edit(room), not self._has_panes
        title = view.room_title(room, edit, render_time, cells, has_facts=has_facts)
        self.query_one("#room", LinesWidget).show(title)
        self._paint_key(cells)
        self._paint_panes(room, snapshot, render_time, reason)

    def _paint_panes(self, room: Room | None, snapshot: Snapshot, render_time: RenderTime, reason: str) -> None:
        self.query_one(".panes").display = self._has_panes
        rooms, missing = snapshot.rooms.items, missing_text(snapshot)
        has_addresses = self.size.width >= ADDRESSES_WIDTH and self.size.height >= ADDRESSES_HEIGHT

        def draw_checks(cells: int, rows: int) -> list[Line]:
            lines = view.check_lines(room, rooms, snapshot.events, render_time, cells, missing=missing)
            if has_addresses:
                left = rows - len(lines)
                lines += view.other_check_lines(
                    room, rooms, snapshot.events, render_time, cells, rows=left, missing=missing
                )
            return lines

        def draw_rooms(cells: int, lines: int) -> list[Line]:
            return view.all_room_lines(rooms, render_time, cells, lines, reason)

        def draw_addresses(cells: int, lines: int) -> list[Line]:
            return view.address_lines(
                rooms,
                snapshot.events,
                render_time,
                cells,
                lines,
                selected=room,
                missing=(missing_rows_text(snapshot.rooms, "room"), missing),
                empty_text=reason,
            )

        self.query_one(".panes").set_class(has_addresses, "-wide")
        addresses, all_rooms = (self.query_one(name, FramedPanel) for name in ("#addresses", "#all-rooms"))
        addresses.display, all_rooms.display = has_addresses, not has_addresses
        title = f"Relays of {display_name(room)}" if room else "Relays"
        self.query_one("#checks", FramedPanel).show(title, "", draw_checks)
        all_rooms.show("All rooms", "", draw_rooms)
        addresses.show("Addresses, and what is set to send there", "", draw_addresses)

    @property
    def _has_panes(self) -> bool:
        return self.size.width >= PANES_WIDTH and self.size.height >= PANES_HEIGHT

    def _fill(self, pane: str, rooms: CachedList[Room], render_time: RenderTime, empty_text: str) -> list[ShadedLine]:
        """Show a table with the operator's filter and sorting. Returns the line of the filter."""
        schema, table_view = PANES[pane], self.ctx.preferences.view(pane)
        rows = self._rows(pane, rooms)
        filtered = filtering.apply_view(schema, rows, table_view, render_time)
        selection = self._selections[pane]
        if rooms.as_of is not None:  # before the first response no row can have vanished
            selection.follow_rows(schema, filtered.rows, rows, render_time)
        table = self.query_one(f"#{pane}", Table)
        table.set_class(pane != self._pane, "-away")
        count = len(filtered.rows)
        if pane == "relays":  # as high for each room, because a new height costs two layouts of the screen
            count = max((len(room.restreams or ()) for room in rooms.items), default=0)
        lines = min(max(EMPTY_LINES, count + HEAD_LINES), self.size.height // 2 - 4)
        if pane == "rooms" or self._has_panes:  # without panes, the profiles get the rest of the height
            table.styles.height = lines if pane == "rooms" else min(lines, self.size.height // 3)
        else:
            table.styles.height = "1fr"
        empty_text = "" if filtered.total else empty_text
        table.show(filtered.rows, render_time, selection.key, empty_text, table_view)
        return filtering.filter_line(table_view, filtered, key_of("view.clear", self.ctx.actions))

    def _rows(self, pane: str, rooms: CachedList[Room]) -> Sequence[Any]:
        if pane == "rooms":
            return worst_first(rooms.items)
        room, edits = rooms.find(self._selections["rooms"].key or ""), self.edits.waiting
        doubles = doubled(room) if room else ()
        return [
            Relay(profile, edits[profile.id].since if profile.id in edits else None, profile in doubles)
            for profile in (relay_profiles(room) if room else ())
        ]

    def _waiting_edit(self, room: Room | None) -> WaitingEdit | None:
        """Return the oldest waiting edit of the room, with the key that applies it; None if no edit waits."""
        edit = self.edits.of_room(room)
        key = key_of("relay.apply", self.ctx.actions)
        return WaitingEdit(edit.relay.target.name, edit.since, key) if edit else None

    def _paint_key(self, cells: int) -> None:
        """Show the revealed stream key until its time ends or another profile is selected."""
        seconds_left, profile = self._hidden_at - self.ctx.clock.monotonic(), self.relay()
        lines: list[Line] = []
        if profile and profile.id == self._revealed and profile.stream_key is not None and seconds_left > 0:
            lines = view.revealed_key(profile, seconds_left, cells)
        else:
            self._revealed = ""
        self.query_one("#key", LinesWidget).show(lines)

    def on_styled_widget_followed(self, message: StyledWidget.Followed) -> None:
        """Make the keys act on the clicked table, so that a click on a column's title sorts this table."""
        if isinstance(message.widget, Table):
            self.turn(message.widget.id or self._pane)

    def on_table_moved(self, message: Table.Moved) -> None:
        pane = message.table or self._pane
        self._selections[pane].choose(message.key)
        self.turn(pane)

    def on_table_opened(self, message: Table.Opened) -> None:  # noqa: ARG002  the selection is already known
        """Show the profiles of a room, or the form of a profile."""
        room = self.room()
        if self._pane == "rooms" and not (room and relay_profiles(room)):
            self.ctx.announce(view.no_profiles_text(room))
        elif self._pane == "rooms":
            self.turn("relays")
        elif self.ctx.clock.monotonic() - self._turned_at >= DOUBLE_ENTER:
            self.ctx.dispatch("relay.edit")

"""The tables of the deck by the name of their view: that of their screen, where it has but one."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from livedeck.ui.renderables.alarm_rows import BOARD
from livedeck.ui.renderables.columns import Sheet
from livedeck.ui.renderables.event_rows import EVENTS
from livedeck.ui.renderables.room_rows import RELAYS, ROOMS
from livedeck.ui.renderables.stream_rows import STREAMS

SHEETS: Mapping[str, Sheet[Any]] = MappingProxyType(
    {"events": EVENTS, "streams": STREAMS, "alarms": BOARD, "rooms": ROOMS, "relays": RELAYS}
)

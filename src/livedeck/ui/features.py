"""The tables of the deck by the name of their view: that of their screen, where it has but one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

from livedeck.presentation.alarms import ALARMS
from livedeck.presentation.events import EVENTS
from livedeck.presentation.rooms import RELAYS, ROOMS
from livedeck.presentation.streams import STREAMS
from livedeck.presentation.table import TableSchema

if TYPE_CHECKING:
    from livedeck.ui.app import Deck
    from livedeck.ui.registry import Action
    from livedeck.ui.shell.screen import DeckScreen


SHEETS: Mapping[str, TableSchema[Any]] = MappingProxyType(
    {"events": EVENTS, "streams": STREAMS, "alarms": ALARMS, "rooms": ROOMS, "relays": RELAYS}
)


_NAMES = {
    "streams": "streams.screen.StreamsScreen",
    "qos": "qos.screen.QosScreen",
    "chat": "chat.screen.ChatScreen",
    "rooms": "rooms.screen.RoomsScreen",
    "videos": "videos.screen.VideosScreen",
    "posters": "videos.screen.PostersScreen",
    "subtitles": "videos.screen.SubtitlesScreen",
    "cues": "videos.screen.CuesScreen",
    "annotations": "videos.screen.AnnotationsScreen",
    "materials": "videos.screen.MaterialsScreen",
    "alarms": "alarms.screen.AlarmsScreen",
}


def _made(name: str) -> Callable[[], DeckScreen]:
    module, _, kind = name.rpartition(".")
    return lambda: cast("DeckScreen", getattr(import_module(f"livedeck.ui.{module}"), kind)())


LATER: Mapping[str, Callable[[], DeckScreen]] = MappingProxyType({mode: _made(name) for mode, name in _NAMES.items()})

"""Mode -> its screen, imported when that is called for."""


def import_all() -> None:
    """Import them now, in a thread of its own, before anybody wants one."""
    for name in _NAMES.values():
        import_module(f"livedeck.ui.{name.rpartition('.')[0]}")


Handler = Callable[["Deck", str], Awaitable[None] | None]

"""The deck, and what stood after the command."""


def handler(action: Action) -> Handler:
    """The function that an action names; its module is imported when it is first wanted."""
    module, _, name = action.handler.partition(".")
    return cast("Handler", getattr(import_module(f"livedeck.ui.{_HANDLERS[module]}"), name))


_HANDLERS = {
    "alarms": "alarms.actions",
    "logs": "alarms.actions",
    "chat": "chat.actions",
    "deck": "general.actions",
    "screens": "general.actions",
    "rows": "general.actions",
    "view": "general.actions",
    "events": "events.actions",
    "qos": "qos.actions",
    "rooms": "rooms.actions",
    "relays": "rooms.actions",
    "videos": "videos.actions",
    "order": "videos.actions",
    "posters": "videos.posters",
    "subtitles": "videos.subtitles",
    "annotations": "videos.annotations",
    "materials": "videos.materials",
}

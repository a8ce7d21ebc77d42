"""One screen a file. The deck opens on the events; every other one is imported when it is first wanted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from livedeck.ui.screens.base import DeckScreen

_NAMES = {
    "streams": "streams.StreamsScreen",
    "qos": "qos.QosScreen",
    "chat": "chat.ChatScreen",
    "rooms": "rooms.RoomsScreen",
    "videos": "videos.VideosScreen",
    "posters": "videos.PostersScreen",
    "subtitles": "videos.SubtitlesScreen",
    "cues": "videos.CuesScreen",
    "annotations": "videos.AnnotationsScreen",
    "materials": "videos.MaterialsScreen",
    "alarms": "alarms.AlarmsScreen",
}


def _made(name: str) -> Callable[[], DeckScreen]:
    module, _, kind = name.partition(".")
    return lambda: cast("DeckScreen", getattr(import_module(f"{__name__}.{module}"), kind)())


LATER: Mapping[str, Callable[[], DeckScreen]] = MappingProxyType({mode: _made(name) for mode, name in _NAMES.items()})
"""Mode -> its screen, imported when that is called for."""


def import_all() -> None:
    """Import them now, in a thread of its own, before anybody wants one."""
    for name in _NAMES.values():
        import_module(f"{__name__}.{name.partition('.')[0]}")

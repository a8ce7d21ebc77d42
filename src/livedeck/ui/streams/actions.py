"""Streams screen as a feature of the deck. It has no actions of its own, but allows the actions on events."""

from __future__ import annotations

from typing import TYPE_CHECKING

from livedeck.ui.shell.context import Feature, FeatureScreen, ScreenKind, Tab

if TYPE_CHECKING:
    from livedeck.ui.streams.screen import StreamsScreen


def _screen_type() -> type[StreamsScreen]:
    from livedeck.ui.streams.screen import StreamsScreen

    return StreamsScreen


FEATURE = Feature(
    tab=Tab("Streams", "2", "streams", "Show Streams: what arrives, where it goes, what was recorded"),
    screens={"streams": FeatureScreen(_screen_type, ScreenKind.EVENTS)},
)

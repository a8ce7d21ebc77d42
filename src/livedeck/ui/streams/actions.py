"""The Streams screen: what is done on it is done to events."""

from __future__ import annotations

from typing import TYPE_CHECKING

from livedeck.ui.shell.action import Action, Feature, FeatureScreen, ScreenKind, Tab

if TYPE_CHECKING:
    from livedeck.ui.shell.context import Context
    from livedeck.ui.streams.screen import StreamsScreen


def _screen_type() -> type[StreamsScreen]:
    from livedeck.ui.streams.screen import StreamsScreen

    return StreamsScreen


def open_screen(ctx: Context, _: str) -> None:
    """Show the screen."""
    ctx.go_to("streams")


FEATURE = Feature(
    tab=Tab(
        "Streams",
        Action(
            "screen.streams",
            ("2",),
            "streams",
            "Streams: what arrives, whereto it goes, what was recorded",
            open_screen,
        ),
    ),
    screens={"streams": FeatureScreen(_screen_type, ScreenKind.EVENTS)},
)

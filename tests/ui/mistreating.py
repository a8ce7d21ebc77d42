"""Random keys and clicks, as from a cat, a cleaner or a curious visitor."""

from __future__ import annotations

from random import Random
from string import printable
from typing import Any

from textual import events
from textual.app import App
from textual.pilot import Pilot

NAMED = ("enter", "escape", "tab", "shift+tab", "delete", "home", "end", "up", "down", "f1", "f10", "insert")
HELD = tuple(f"ctrl+{letter}" for letter in "abdefghijklmnoprstuvwxyz")
TYPED = tuple(one for one in printable.strip() if one != "q")
KEYS = (*NAMED, *HELD, *TYPED, "left", "right", "pageup", "pagedown", "space")
"""All keys except q and ctrl-c, which leave the deck."""


async def mistreat(app: App[Any], pilot: Pilot[Any], random: Random, times: int) -> None:
    """Send `times` keys and clicks, one after another."""
    for number in range(times):
        app.post_message(random_click(app, random) if number % 5 == 0 else _key(random.choice(KEYS)))
        if number % 250 == 0:
            await pilot.pause()
    await pilot.pause()


def _key(name: str) -> events.Key:
    return events.Key(name, name if len(name) == 1 else None)


def random_click(app: App[Any], random: Random) -> events.MouseEvent:
    """Return a click, a move or a turn of the wheel at a random place."""
    kind = random.choice([events.MouseDown, events.MouseUp, events.MouseMove, events.MouseScrollDown])
    x, y, button = random.randrange(80), random.randrange(24), random.randrange(1, 4)
    return kind(app.screen, x, y, 0, 0, button, False, False, False)

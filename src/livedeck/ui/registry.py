"""The one registry of actions. It drives every key, the footer, the help, the palette, the `:` commands and the README.

To add an action:

1. a line in the table of its group (`events.py`, `qos.py`, ...; a new file for a new noun, joined below):

       Action("event.complete", ("C",), "complete", "End the event: ingest stops, viewers are cut off",
              "events.complete", screens=("events", "streams", "qos"), target=Target.EVENT, writes=True,
              blast=Blast.AIR, rank=41)

2. its handler, `handlers/events.py`; a plain function runs at once, a coroutine in a worker of its own, so that it may
   wait for a dialog (`await deck.push_screen_wait(...)`) and for the platform:

       async def complete(deck: Deck, argument: str) -> None: ...

   The deck has seen to it that the target is there and that nothing writes while it is read-only; a write goes by the
   one road for writes. `argument` is what stood after the command; empty from a key.

3. `livedeck keys` prints the table of the README, which a test compares, and a test in tests/ui that presses the key:
   `tests/ui/test_registry.py` names every action that lacks one.

Keys by Textual's names. What ends something has a capital letter, and never the shifted letter of a harmless key.
"""

from __future__ import annotations

from livedeck.ui.alarms.table import ALARMS, LOGS
from livedeck.ui.chat.table import CHAT
from livedeck.ui.events.table import EVENTS
from livedeck.ui.general.table import DECK, ROWS, VIEW
from livedeck.ui.qos.table import QOS
from livedeck.ui.rooms.table import ROOMS
from livedeck.ui.shell.action import Action, ConfirmLevel, Target
from livedeck.ui.videos.table import VIDEOS

ACTIONS: tuple[Action, ...] = (*DECK, *EVENTS, *ALARMS, *ROOMS, *ROWS, *VIEW, *LOGS, *QOS, *CHAT, *VIDEOS)


GROUPS = {
    "screen": "Screens",
    "event": "Events",
    "stream": "Streams",
    "room": "Rooms",
    "relay": "Relay profiles",
    "alarm": "Alarms",
    "row": "Tables",
    "view": "View",
    "log": "Logs",
    "qos": "QoS",
    "chat": "Chat",
    "part": "Videos",
    "video": "Videos",
    "poster": "Posters",
    "subtitle": "Subtitles",
    "annotation": "Annotations",
    "material": "Additional materials",
    "order": "Order of subtitles and materials",
    "app": "The deck",
}

"""The groups in the order of the help, by the first part of an action's name."""


BY_NAME = {action.name: action for action in ACTIONS}


def on_screen(screen: str) -> tuple[Action, ...]:
    """What can be done there, everything included that can be done anywhere."""
    return tuple(action for action in ACTIONS if action.works_on(screen))


def footer(screen: str) -> tuple[Action, ...]:
    """What the footer of that screen shows, most needed first."""
    shown = [action for action in on_screen(screen) if action.place(screen)]
    return tuple(sorted(shown, key=lambda action: action.place(screen)))


__all__ = ["ACTIONS", "BY_NAME", "GROUPS", "Action", "ConfirmLevel", "Target", "footer", "on_screen"]

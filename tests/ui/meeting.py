"""Rooms screen of the demo workspace: a test chooses a room by its name, and starts and stops relays."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from livedeck.client import RelayProfile, Room
from livedeck.monitor import CachedList
from livedeck.ui.kit.dialogs.inputs import RowsInput
from livedeck.ui.rooms.screen import RoomsScreen
from simulator.http_client import client_for
from ui.deck_stage import Stage, deck_stage
from ui.stage import known

COUNCIL = "Council, hybrid session"
EMPTY = "Sound check"
ROOMS = "/v1/meet/rooms"


@asynccontextmanager
async def meeting(name: str = COUNCIL, size: tuple[int, int] = (170, 40), **options: Any) -> AsyncIterator[Stage]:
    """Yield a deck on the Rooms screen with a room selected."""
    async with deck_stage(size, **options) as stage:
        await stage.act("screen.rooms")
        await stage.until(lambda: rooms(stage).as_of is not None)
        while room(stage).name != name:
            await stage.act("row.down")
        stage.requests.clear()
        yield stage


def rooms(stage: Stage) -> CachedList[Room]:
    """Return the rooms that the deck has received."""
    return known(stage.deck).rooms


def room(stage: Stage) -> Room:
    """Return the selected room as it is shown."""
    found = screen(stage).room()
    assert found is not None
    return found


def relay(stage: Stage) -> RelayProfile:
    """Return the selected relay profile as it is shown."""
    found = screen(stage).relay()
    assert found is not None
    return found


def screen(stage: Stage) -> RoomsScreen:
    """Return the Rooms screen, also if a dialog is over it."""
    return next(found for found in stage.deck.screen_stack if isinstance(found, RoomsScreen))


def words(stage: Stage) -> str:
    """Return the words of the dialog in front and then those of the whole screen, as one line without frames."""
    rows = stage.rows()
    for box in stage.deck.screen.query(".dialog-box"):
        region = box.region
        rows = [*(row[region.x : region.right] for row in rows[region.y : region.bottom]), *rows]
    return " ".join(re.sub("[─-╿]", " ", "\n".join(rows)).split())


async def stored(stage: Stage) -> Room:
    """Return the selected room as the platform has it."""
    return await stage.api.rooms.get(room(stage).id)


async def broadcast(stage: Stage, *, running: bool, where: tuple[str, str] | None = None) -> None:
    """Start or stop a relay, as a participant inside the room. `where`: room and profile; None: the selected ones."""
    room_id, profile_id = where or (room(stage).id, relay(stage).id)
    path = f"/_control/relays/{room_id}/{profile_id}"
    async with client_for(stage.simulator, stage.simulator.control_token) as admin:
        (await admin.post(path, json={"running": running})).raise_for_status()


async def agree(stage: Stage) -> None:
    """Press the confirming button of the dialog."""
    await stage.press("tab", "enter")
    await stage.idle()


async def rename(stage: Stage, name: str) -> None:
    """Type another name into the form of the selected profile, save it, and confirm."""
    await stage.act("relay.edit")
    await stage.press("ctrl+u")
    await stage.enter(name)
    await stage.press("ctrl+s")
    await agree(stage)


async def new_profile(stage: Stage, name: str, url: str, key: str) -> None:
    """Fill in one more profile in the form of a room."""
    rows = stage.deck.screen.query_one(RowsInput)
    rows.focus()
    await stage.press(*["down"] * len(rows.rows), "enter")
    for text in (name, url, key):
        await stage.enter(text)
        await stage.press("tab")
    await stage.press("ctrl+s")

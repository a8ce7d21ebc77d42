"""Edits of relay profiles that the platform refused because their relay runs: kept until it is seen to be over."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from livedeck.client import Room
from livedeck.monitor import RoomsState, Severity
from livedeck.ui.actions.keymap import Keymap, key_of
from livedeck.ui.acts.rooms import RelaySubject
from livedeck.ui.dialogs.form import Filled
from livedeck.ui.renderables.room_panel import Waits
from livedeck.ui.renderables.room_rows import ACTIVE, name


@dataclass(frozen=True, slots=True)
class Waiting:
    """One of them. It lives as long as the deck: it may hold a key.

    `since`: of the refusal. `active`: whether the room was seen active since; only then does its end tell anything.
    """

    one: RelaySubject
    filled: Filled
    since: datetime
    active: bool = False


class KeptEdits:
    """`waiting`: by the id of the profile, the oldest first."""

    def __init__(self) -> None:
        self._waiting: dict[str, Waiting] = {}
        self._offered: list[str] = []

    @property
    def waiting(self) -> Mapping[str, Waiting]:
        """What waits now."""
        return self._waiting

    def keep(self, one: RelaySubject, filled: Filled, now: datetime) -> None:
        """Let that edit wait until the room is seen to have ended its relays."""
        self._waiting[one.profile.id] = Waiting(one, filled, now, one.room.status == ACTIVE)

    def drop(self, profile_id: str) -> None:
        """That edit waits no longer."""
        self._waiting.pop(profile_id, None)

    def heed(self, state: RoomsState) -> Iterator[tuple[str, Severity]]:
        """Look whether a relay is over: its room was active, and is not any more. Gives what is to be told."""
        for key, one in list(self._waiting.items()):
            if state.as_of is None or state.as_of < one.since:
                continue
            room = state.find(one.one.room.id)
            if room is None:
                self.drop(key)
                yield f"{one.one.target.name}: its room is gone, and with it the edit that waited", Severity.WARNING
            elif one.active and room.status != ACTIVE:
                self._waiting[key] = replace(one, active=False)
                self._offered.append(key)
                edit = f"the edit of {one.one.target.name} that waits can be applied"
                yield f"{name(room)[:60]} is no longer active: {edit}", Severity.INFO
            elif room.status == ACTIVE:
                self._waiting[key] = replace(one, active=True)

    def offer(self) -> str | None:
        """The next edit to be asked about, once: the id of its profile."""
        while self._offered:
            key = self._offered.pop(0)
            if key in self._waiting:
                return key
        return None

    def shown(self, room: Room | None, keymap: Keymap) -> Waits | None:
        """The edit that waits longest of those of that room, and the key that applies it."""
        key = key_of("relay.apply", keymap)
        known = [one for one in self._waiting.values() if room and one.one.room.id == room.id]
        return Waits(known[0].one.target.name, known[0].since, key) if known else None

"""What the history knows of the event that is looked at, asked for in the background and kept until it is old."""

from __future__ import annotations

from typing import TYPE_CHECKING

from livedeck.monitor import EventState, Marker
from livedeck.ui.renderables.buckets import Axis
from livedeck.ui.renderables.stretch import Stretch, reaches_back, remembered

if TYPE_CHECKING:
    from livedeck.ui.screens.base import DeckScreen

COLUMNS_OLD = 4
"""The history is asked again when the axis has moved on by so many columns."""


class Past:
    """For one screen. Where there is no history nothing is known, and nothing is asked.

    `group`: that of its worker; a new question ends the one before it.
    """

    def __init__(self, screen: DeckScreen, group: str = "past") -> None:
        self._screen, self._group = screen, group
        self._stretch: tuple[tuple[str, str], Stretch] | None = None
        self._markers: dict[str, tuple[Marker, ...]] = {}
        self._asked: tuple[str, str, Axis] | None = None

    def known(self, state: EventState, axis: Axis) -> Stretch | None:
        """What is known for that axis now; what is missing is asked for, and painted when it came."""
        stream = state.event.stream
        place = state.id, (stream.id if stream else None) or ""
        if self._screen.deck.history is not None and place[1] and self._wanted(state, place, axis):
            self._asked = *place, axis
            self._screen.run_worker(self._ask(place, axis), group=self._group, exclusive=True)
        return self._stretch[1] if self._stretch and self._stretch[0] == place else None

    def markers(self, event_id: str) -> tuple[Marker, ...]:
        """What people marked in that event."""
        return self._markers.get(event_id, ())

    def forget(self) -> None:
        """Something was added: ask again."""
        self._asked = None
        self._markers.clear()

    def _wanted(self, state: EventState, place: tuple[str, str], axis: Axis) -> bool:
        if state.id not in self._markers:
            return self._asked is None or self._asked[:2] != place
        if not reaches_back(axis, state.qos.readings):
            return False
        if self._asked is None or self._asked[:2] != place or self._asked[2].step != axis.step:
            return True
        return axis.start - self._asked[2].start >= COLUMNS_OLD * axis.step

    async def _ask(self, place: tuple[str, str], axis: Axis) -> None:
        history = self._screen.deck.history
        assert history is not None
        self._markers[place[0]] = await history.markers(place[0])
        known = await history.series(*place, axis.start, axis.end, axis.columns)
        self._stretch = place, remembered(axis, known)
        self._screen.refresh_all()

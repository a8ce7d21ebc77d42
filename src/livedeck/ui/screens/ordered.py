"""A part of the Videos screen whose rows can be moved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from livedeck.ui.actions.keymap import key_of
from livedeck.ui.renderables import extra_panel
from livedeck.ui.renderables.moment import Moment
from livedeck.ui.screens.part import VideoScreen


class OrderedScreen(VideoScreen):
    """A part whose rows have an order of their own: moved here first, sent whole when the person says so."""

    def __init__(self) -> None:
        super().__init__()
        self._order: dict[str, tuple[str, ...]] = {}

    def _video(self) -> str:
        return self.library.video.id if self.library.video else ""

    def rows(self) -> Sequence[Any]:
        """In the order that is wanted; what came meanwhile is last, what went is gone."""
        known, order = super().rows(), self._order.get(self._video(), ())
        place = {identity: at for at, identity in enumerate(order)}
        return sorted(known, key=lambda one: place.get(one.id, len(place))) if order else known

    def order(self) -> tuple[str, ...] | None:
        """The order that is wanted and not sent; None where nothing was moved."""
        ids = tuple(one.id for one in self.rows())
        return ids if ids != tuple(one.id for one in super().rows()) else None

    def shift(self, step: int) -> str:
        """Move the row under the cursor; why not, where it cannot be moved."""
        view = self.deck.arrangement.view(self.MODE)
        if view.filter or view.sort or view.down:
            return "rows are moved in their own order: take the filter and the sorting off first"
        ids = [one.id for one in self.rows()]
        if self._cursor not in ids:
            return "nothing is selected"
        at = ids.index(self._cursor)
        to = min(max(at + step, 0), len(ids) - 1)
        ids.insert(to, ids.pop(at))
        self._order[self._video()] = tuple(ids)
        self.refresh_all()
        return ""

    def settle_order(self, video_id: str, sent: Sequence[str]) -> None:
        """That order of that video was sent; rows that were moved since then still wait."""
        wanted = self._order.get(video_id, ())
        if [one for one in wanted if one in sent] == [one for one in sent if one in wanted]:
            self._order.pop(video_id, None)
        self.refresh_all()

    def back(self) -> None:
        """First drop an order that was not sent."""
        if self.order() is None:
            super().back()
        else:
            self._order.pop(self._video(), None)
            self.refresh_all()
            self.deck.tell("the order is as it was; nothing was sent")

    def _head(self, moment: Moment) -> list[Any]:
        lines, order = super()._head(moment), self.order()
        if order is None:
            return lines
        known = [one.id for one in super().rows()]
        count = sum(one != other for one, other in zip(order, known, strict=True))
        send, drop = (key_of(name, self.deck.keymap) for name in ("order.send", "view.clear"))
        return [*lines, extra_panel.moved(count, f"{send} sends the whole order, {drop} drops it")]

"""Rows that have an order of their own."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING

from livedeck.client import Subtitle
from livedeck.monitor import Severity
from livedeck.ui.acts import order as acts
from livedeck.ui.acts.subtitles import named
from livedeck.ui.handlers.extras import perform, renew, video_of
from livedeck.ui.library import Video
from livedeck.ui.screens.ordered import OrderedScreen
from livedeck.ui.screens.videos import SubtitlesScreen
from livedeck.ui.shelf import Thing

if TYPE_CHECKING:
    from livedeck.ui.app import Deck


def earlier(deck: Deck, _: str) -> None:
    """The row one up."""
    _shift(deck, -1)


def later(deck: Deck, _: str) -> None:
    """The row one down."""
    _shift(deck, 1)


def _shift(deck: Deck, step: int) -> None:
    why = deck.screen_of(OrderedScreen).shift(step)
    if why:
        deck.tell(why, Severity.WARNING)


def send(deck: Deck, _: str) -> Awaitable[None] | None:
    """The whole order, as it is shown."""
    screen = deck.screen_of(OrderedScreen)
    wanted = screen.order()
    if wanted is None:
        deck.tell("nothing was moved")
        return None
    return _sent(deck, screen, video_of(deck), wanted)


async def _sent(deck: Deck, screen: OrderedScreen, video: Video, wanted: acts.Ids) -> None:
    tracks = isinstance(screen, SubtitlesScreen)
    known: tuple[Subtitle | Thing, ...] = deck.library.known(screen.MODE).items
    names = {one.id: named(one) if isinstance(one, Subtitle) else one.title or one.id for one in known}
    act = (acts.of_tracks if tracks else acts.of_materials)(
        deck.desk.api, video, wanted, tuple(one.id for one in known), names
    )
    outcome = await perform(deck, act)
    if not outcome.done:
        return
    if not tracks:
        await _kept(deck, known, outcome.answer)
    screen.settle_order(video.id, wanted)
    renew(deck)


async def _kept(deck: Deck, known: tuple[Subtitle | Thing, ...], order: object) -> None:
    """Remember the order of the materials: nothing else does. Those that were not sent are gone."""
    things = {one.id: one for one in known if isinstance(one, Thing)}
    ids = [one for one in order if one in things] if isinstance(order, tuple) else [*things]
    await deck.library.shelf.put(things[one] for one in ids)
    await deck.library.shelf.drop([one for one in things if one not in ids])

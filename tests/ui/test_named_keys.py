"""The deck names its keys correctly: a key that the settings change has its new name everywhere."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from livedeck.cli.screenshots import EVENING, still_deck
from livedeck.monitor import CachedList
from livedeck.text.segments import plain
from livedeck.ui.rooms import view
from livedeck.ui.rooms.actions import LOCKED
from livedeck.ui.shell.frame import Footer, Header
from livedeck.ui.shell.keymap import read_keymap, with_keys
from livedeck.ui.shell.screen import NO_EVENT
from livedeck.ui.videos import screen as videos
from ui.stage import REGISTRY, known, linked, text_of

VIDEO_SCREENS = (
    videos.VideosScreen,
    videos.PostersScreen,
    videos.SubtitlesScreen,
    videos.CuesScreen,
    videos.AnnotationsScreen,
    videos.MaterialsScreen,
)
SPOKEN = (
    *LOCKED,
    *(text.replace("{key}", "{qos.back}") for text in NO_EVENT.values()),
    view.no_rooms_text(CachedList(as_of=EVENING)),
)


async def test_a_changed_key_is_named_wherever_the_deck_speaks_of_it() -> None:
    wishes = {"screen.events": ["f1"], "app.help": ["f2"], "video.find": ["f3"], "app.ask": ["f4"], "qos.back": ["f5"]}
    keymap, errors = read_keymap(REGISTRY, wishes)
    assert not errors
    async with still_deck(keymap=keymap) as deck, deck.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        assert "f1 Events" in plain(deck.screen.query_one(Header).line_at(1))
        assert "f2 help" in plain(deck.screen.query_one(Footer).line_at(0))
        deck.dispatch("screen.chat")
        await pilot.pause()
        deck.select_event("gone")
        await pilot.pause()
        assert "press f1 to see the others" in text_of(deck)
        deck.dispatch("screen.qos")
        await pilot.pause()
        assert "press f5 to see the others" in text_of(deck)
        deck.snapshot = replace(known(deck), link=linked(deck, as_of=EVENING - timedelta(minutes=5)))
        assert deck.confirmer.blocked_reason().endswith("press f4 to refresh")
        await pilot.press("f1")
        await pilot.pause()
        assert deck.current_mode == "events"


@pytest.mark.parametrize("text", [*SPOKEN, *(screen.EMPTY for screen in VIDEO_SCREENS)])
def test_what_a_text_names_is_an_action_that_has_a_key(text: str) -> None:
    assert "{" not in with_keys(text, REGISTRY)

"""What a person says of how an event is judged: asked, told and audited, and nothing of it leaves the machine."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from livedeck.cli.screenshots import EVENING
from livedeck.monitor import AlarmRefused, History, Profile
from livedeck.ui.kit.dialogs.confirm import Confirm
from ui.deck_stage import Stage, deck_stage
from ui.stage import known


def profile(stage: Stage, event_id: str) -> Profile:
    """The profile of that event as it is judged now."""
    state = known(stage.deck).find(event_id)
    assert state is not None
    return state.profile


@pytest.mark.parametrize("read_only", [False, True])
async def test_what_an_event_sends_is_taken_as_usual_after_a_question(read_only: bool) -> None:
    history = await History.open(None, EVENING)
    async with deck_stage(read_only=read_only, history=history) as stage:
        event = stage.choose("Morning service")
        await stage.act("event.rebaseline")
        await stage.until(lambda: stage.shows(Confirm))
        assert "Take a new baseline: Morning service" in stage.text()
        assert "Now: video" in stage.text()
        await stage.press("escape")
        await stage.idle()
        assert known(stage.deck).find(event.id).rulings == ()  # type: ignore[union-attr]
        await stage.act("event.rebaseline")
        await stage.until(lambda: stage.shows(Confirm))
        await stage.press("right", "enter")
        await stage.idle()
        assert stage.last_notice().startswith("Morning service: new baseline: video")
        await stage.until(lambda: bool(known(stage.deck).find(event.id).rulings))  # type: ignore[union-attr]
        (record,) = await history.audit(datetime.min.replace(tzinfo=UTC))
        assert (record.action, record.target_id) == ("event.rebaseline", event.id)
        assert not stage.writes
    await history.close()


async def test_a_profile_is_chosen_by_its_number_and_by_command() -> None:
    async with deck_stage() as stage:
        event = stage.choose("Morning service")
        await stage.act("event.profile")
        await stage.settle()
        assert "Morning service consists of (now show)" in stage.text()
        await stage.press("2")
        await stage.idle()
        assert stage.last_notice() == "Morning service: profile radio"
        await stage.until(lambda: profile(stage, event.id) is Profile.RADIO)
        await stage.until(lambda: "profile radio, chosen by" in stage.text())
        stage.deck.dispatch("event.profile", "none")
        await stage.idle()
        await stage.until(lambda: profile(stage, event.id) is Profile.SHOW)
        stage.deck.dispatch("event.profile", "opera")
        assert stage.last_notice() == "there is no profile opera: show, radio, silent, slides, share, none"
        stage.deck.dispatch("event.profile", "none")
        await stage.idle()
        assert stage.last_notice() == "Morning service: that is its profile already"
        assert not stage.writes


async def test_what_the_feed_refuses_is_told_in_its_words_and_is_no_fault_of_the_deck(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As a collector does that is away, or whose token may only read (collector.md, "The attached deck")."""
    async with deck_stage() as stage:
        stage.choose("Morning service")

        async def refuse(*_: object) -> bool:
            raise AlarmRefused("that was not taken: collector.example does not answer in time")

        monkeypatch.setattr(stage.deck.monitor, "choose_profile", refuse)
        stage.deck.dispatch("event.profile", "radio")
        await stage.idle()
        assert stage.last_notice() == "that was not taken: collector.example does not answer in time"
        assert "fault of the deck" not in stage.text()

"""Rulings on how an event is judged: confirmed, reported and audited; none leaves the machine."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from livedeck.cli.screenshots import EVENING
from livedeck.client import Event
from livedeck.monitor import AUDIO_LOST, NEVER_HEARD, Alarm, AlarmRefused, Content, History, Severity
from livedeck.ui.kit.dialogs.confirm import Confirm
from ui.deck_stage import Stage, deck_stage
from ui.stage import known, show


def content(stage: Stage, event_id: str) -> Content:
    """Return the content by which an event is judged now."""
    state = known(stage.deck).find(event_id)
    assert state is not None
    return state.content


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


async def test_content_is_chosen_by_its_number_or_by_command_and_confirmed() -> None:
    """Every deck judges by it at once, so a digit alone changes nothing."""
    async with deck_stage() as stage:
        event = stage.choose("Morning service")
        await stage.act("event.content")
        await stage.settle()
        assert "Content of Morning service (now: show)" in stage.text()
        await stage.press("9")
        assert "9 is no choice here: 1, 2, 3, 4, 5, 6, 0" in stage.text()
        await stage.press("2")
        await stage.until(lambda: stage.shows(Confirm))
        assert "Then radio: sound, no picture." in stage.text()
        await stage.press("escape")
        await stage.idle()
        assert stage.last_notice() == "Morning service: content unchanged (show)"
        assert content(stage, event.id) is Content.SHOW
        await choose(stage, "radio")
        assert stage.last_notice() == "Morning service: content radio"
        await stage.until(lambda: content(stage, event.id) is Content.RADIO)
        await stage.until(lambda: "content radio, chosen by" in stage.text())
        await choose(stage, "default")
        await stage.until(lambda: content(stage, event.id) is Content.SHOW)
        stage.deck.dispatch("event.content", "opera")
        assert stage.last_notice() == "there is no content opera: show, radio, silent, slides, share, camera, default"
        await choose(stage, "default")
        assert stage.last_notice() == "Morning service: unchanged, because the event has this content already"
        await stage.act("event.content")
        await stage.settle()
        await stage.press("escape")
        await stage.idle()
        assert stage.last_notice() == "Morning service: content unchanged (show)"
        assert not stage.writes


async def choose(stage: Stage, name: str) -> None:
    """Set the content of the selected event by command, and confirm it."""
    stage.deck.dispatch("event.content", name)
    await consent(stage)


async def consent(stage: Stage) -> None:
    """Confirm the question that is shown next."""
    await stage.until(lambda: stage.shows(Confirm))
    await stage.settle()
    await stage.press("right", "enter")
    await stage.idle()


async def test_the_unit_of_the_bit_rates_is_chosen_from_a_list_or_by_command() -> None:
    history = await History.open(None, EVENING)
    async with deck_stage(history=history) as stage:
        stage.deck.dispatch("alarm.unit", "byte")
        assert stage.last_notice() == "there is no unit byte: bit, kbit"
        await stage.act("screen.alarms")
        stage.deck.dispatch("alarm.unit")
        await stage.settle()
        assert "The platform counts bit rates in" in stage.text()
        await stage.press("1")
        await consent(stage)
        assert stage.last_notice().startswith("rates look like bit/s (")
        stage.deck.dispatch("alarm.unit", "bit")
        await consent(stage)
        assert stage.last_notice() == "bit rates taken as bit/s"
        (record,) = await history.audit(datetime.min.replace(tzinfo=UTC))
        assert (record.action, record.detail) == ("alarm.unit", "bit/s")
        stage.deck.dispatch("alarm.unit", "bit")
        await consent(stage)
        assert stage.last_notice() == "Unit unchanged: already set here, or as bitrate_unit in the settings"
        assert not stage.writes
    await history.close()


async def test_what_the_feed_refuses_is_told_in_its_words_and_is_no_fault_of_the_deck(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As a collector does that is away, or whose token may only read (collector.md, "The attached deck")."""
    async with deck_stage() as stage:
        stage.choose("Morning service")

        async def refuse(*_: object) -> bool:
            raise AlarmRefused("not done: collector.example does not respond in time")

        monkeypatch.setattr(stage.deck.monitor, "choose_content", refuse)
        await choose(stage, "radio")
        assert stage.last_notice() == "not done: collector.example does not respond in time"
        assert "fault of the deck" not in stage.text()


def mute(event: Event) -> Alarm:
    """Return the alarm of an event that never had sound, found at the first look."""
    at, name = EVENING, str(event.name)
    return Alarm(event.id, AUDIO_LOST, Severity.CRITICAL, at, name, "no sound", NEVER_HEARD, changed=at, found=True)


@pytest.mark.parametrize(("count", "answer", "silent"), [(3, "1", 3), (3, "2", 1), (3, "0", 0), (2, "", 0)])
async def test_events_that_never_had_sound_are_one_question(count: int, answer: str, silent: int) -> None:
    """Two may be chance, so they lead to their charts as ever; a loss after the first look is never asked about."""
    history = await History.open(None, EVENING)
    async with deck_stage(history=history) as stage:
        events = [state.event for state in known(stage.deck).events]
        lost = replace(mute(events[count]), found=False)
        await stage.act("screen.alarms")
        await show(stage.deck, stage.pilot, alarms=(*map(mute, events[:count]), lost))
        await stage.press("home", "enter")
        if answer:
            assert "3 events without sound since livedeck first saw them. Is this intended?" in stage.text()
            await stage.press(answer)
        await stage.idle()
        records = await history.audit(datetime.min.replace(tzinfo=UTC))
        assert {(record.action, record.detail) for record in records} <= {("event.content", "content silent")}
        assert {record.target_id for record in records} <= {event.id for event in events[:count]}
        assert len(records) == silent
        assert stage.deck.current_mode == ("alarms" if silent else "qos")
    await history.close()


async def test_a_lost_sound_can_be_taken_as_meant_by_command() -> None:
    history = await History.open(None, EVENING)
    async with deck_stage(history=history) as stage:
        event = known(stage.deck).events[0]
        await stage.act("screen.alarms")
        await show(stage.deck, stage.pilot, alarms=(replace(mute(event.event), found=False),))
        await stage.press("home")
        stage.deck.dispatch("alarm.silent")
        await stage.settle()
        assert "has no sound. Is this intended?" in stage.text()
        await stage.press("2")
        await stage.idle()
        (record,) = await history.audit(datetime.min.replace(tzinfo=UTC))
        assert (record.target_id, record.detail) == (event.id, "content silent")
    await history.close()

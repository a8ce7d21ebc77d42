"""A change without a verdict stays visible: watched, shown by the next deck too, and named before it is sent again."""

from __future__ import annotations

from datetime import timedelta

from livedeck.cli.screenshots import EVENING
from livedeck.monitor import ActionRecord, AuditOutcome, History, IntentRecord
from livedeck.operations.executor import WATCH_DELAYS
from livedeck.ui.kit.dialogs.confirm import Confirm
from ui.deck_stage import Stage, deck_stage

QUIET = "Untitled event"
BANNER = '? UNKNOWN delete "Untitled event" sent 21:14Z, not visible yet, checked until 21:24Z !'


async def agree(stage: Stage) -> None:
    await stage.press("tab", "enter")
    await stage.idle()


async def late_delete(stage: Stage) -> None:
    """Send a deletion that gets 504, is not visible yet, and lands 12 s after it was sent."""
    stage.choose(QUIET)
    stage.clock.held_from = min(WATCH_DELAYS)
    await stage.fault(kind="late-apply", method="DELETE", status=504, seconds=12)
    await stage.act("event.delete")
    await agree(stage)
    await stage.until(lambda: "unknown whether the event was deleted" in stage.last_notice())


async def test_what_is_not_seen_yet_is_in_the_banner_until_it_is_seen_and_that_is_told_once() -> None:
    history = await History.open(None, EVENING)
    async with deck_stage(history=history) as stage:
        await late_delete(stage)
        assert BANNER in stage.text()
        assert "do not repeat it: it may have happened or may still take effect" in stage.last_notice()
        stage.simulator.clock.step(12)
        stage.clock.release()
        await stage.until(lambda: "event deleted" in stage.last_notice())
        await stage.settle()
        assert "UNKNOWN" not in stage.text()
        told = [notice.text for notice in stage.deck.preferences.notices if notice.text.startswith("event deleted")]
        assert len(told) == 1
        assert len(stage.writes) == 1
    outcomes = [record.outcome for record in await history.audit(EVENING - timedelta(days=1))]
    assert outcomes == [AuditOutcome.UNKNOWN, AuditOutcome.APPLIED]
    assert not await history.open_changes()
    await history.close()


async def test_a_second_try_says_first_that_the_other_has_no_verdict_and_enter_sends_nothing() -> None:
    async with deck_stage() as stage:
        await late_delete(stage)
        await stage.act("event.delete")
        assert '▲ unknown: delete "Untitled event", sent 21:14:07Z: the ' in stage.text()
        assert "If you send it again, it may happen twice." in stage.text()
        await stage.press("enter")
        await stage.idle()
        assert not stage.shows(Confirm)
        assert len(stage.writes) == 1


async def test_the_next_deck_shows_what_a_killed_one_has_left_and_closing_it_is_in_the_audit() -> None:
    history = await History.open(None, EVENING)
    sent = EVENING - timedelta(minutes=20)
    await history.record_intent(
        IntentRecord("one", sent, "event.enable", "enable", "event", "id-1", "Morning show", "ann", "stage-pc", 4711)
    )
    async with deck_stage(history=history) as stage:
        await stage.until(lambda: bool(stage.deck.open_changes.items))
        await stage.settle()
        assert '? UNKNOWN enable "Morning show" sent 20:54Z, no verdict !' in stage.text()
        await stage.act("change.close")
        assert "1 change has no verdict" in stage.text()
        assert "livedeck ended before" in stage.text()
        await stage.press("enter")  # Keep has the focus
        assert stage.deck.open_changes.items
        await stage.act("change.close")
        await agree(stage)
        await stage.until(lambda: not stage.deck.open_changes.items)
        await stage.settle()
        assert "UNKNOWN" not in stage.text()
    (closed,) = await history.audit(EVENING - timedelta(days=1))
    assert (closed.action, closed.target_name, closed.intent) == ("change.close", "Morning show", "one")
    assert not await history.open_changes()
    await history.close()


async def test_only_the_changes_in_the_dialog_are_closed() -> None:
    history = await History.open(None, EVENING)
    for number in range(8):
        at = EVENING - timedelta(minutes=20 + number)
        await history.record_intent(
            IntentRecord(str(number), at, "event.enable", "enable", "event", f"id-{number}", "Show", "ann", "pc", 1)
        )
    async with deck_stage(history=history) as stage:
        await stage.until(lambda: len(stage.deck.open_changes.items) == 8)
        await stage.act("change.close")
        assert "8 changes have no verdict: the newest 6" in stage.text()
        await agree(stage)
        await stage.until(lambda: len(stage.deck.open_changes.items) == 2)
        assert {change.intent.id for change in stage.deck.open_changes.items} == {"6", "7"}
    await history.close()


async def test_an_end_ends_an_intent_whatever_is_recorded_of_it_later() -> None:
    """Another deck may still watch what was closed here."""
    history = await History.open(None, EVENING)
    for intent_id, minutes in (("first", 3), ("second", 2)):
        at = EVENING - timedelta(minutes=minutes)
        await history.record_intent(
            IntentRecord(intent_id, at, "event.enable", "enable", "event", "id-1", "Show", "ann", "stage-pc", 1)
        )
    until = EVENING + timedelta(minutes=8)
    for intent_id, outcome in (("first", AuditOutcome.DONE), ("first", AuditOutcome.UNKNOWN)):
        await history.record_action(
            ActionRecord(EVENING, "event.enable", "event", "id-1", "Show", outcome, "text", (), intent_id)
        )
    await history.record_action(
        ActionRecord(
            EVENING, "event.enable", "event", "id-1", "Show", AuditOutcome.UNKNOWN, "late", (), "second", until
        )
    )
    (change,) = await history.open_changes()
    assert (change.intent.id, change.detail, change.watched_until) == ("second", "late", until)
    await history.close()

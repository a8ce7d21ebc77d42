"""Dialogs of the executor: nothing that takes viewers off happens by a slip, and every outcome is shown."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from random import Random

import pytest
from syrupy.assertion import SnapshotAssertion

from livedeck.cli.screenshots import EVENING
from livedeck.cli.wiring import SystemClock
from livedeck.cli.write_locks import WriteLocks
from livedeck.client import EventDraft
from livedeck.monitor import AuditOutcome, BroadcastState, History, Severity
from livedeck.operations.operation import Target
from livedeck.ui.general.leave import LeaveDialog
from livedeck.ui.kit.dialogs.confirm import Confirm
from livedeck.ui.kit.dialogs.dialog import EARLY, Dialog
from livedeck.ui.kit.dialogs.progress import ProgressDialog
from ui.deck_stage import READS, Stage, deck_stage
from ui.looks import Look, in_each_look, looks
from ui.stage import REGISTRY, known, linked

AIR = "Choir, hall B"
QUIET = "Untitled event"
RISKY = ("event.complete", "event.delete")


async def agree(stage: Stage) -> None:
    await stage.press("tab", "enter")
    await stage.idle()


async def out(stage: Stage) -> None:
    """Close everything that is open, and confirm nothing except to lose typed text."""
    for _ in range(8):
        if len(stage.deck.screen_stack) == 1:
            return
        await stage.press("escape")
        if "Your input will be lost." in stage.text():
            await stage.press("tab", "enter")
    raise AssertionError(f"no way out: {stage.text()}")


async def letters(stage: Stage, text: str) -> None:
    """Press one key after another, wherever the focus is."""
    await stage.press(*({" ": "space", ",": "comma"}.get(char, char) for char in text))


async def to_the_button(stage: Stage) -> None:
    """Type the name, and move the focus to the button that makes the change."""
    await letters(stage, AIR)
    await stage.press("enter")


@pytest.mark.parametrize("action", RISKY)
async def test_on_air_no_key_does_it_before_the_whole_name_is_typed(action: str) -> None:
    async with deck_stage() as stage:
        event = stage.choose(AIR)
        await stage.act(action)
        assert re.search(rf"Type the whole name to \w+: {AIR}", stage.text())
        assert f"(id …{event.id[-6:]})" in stage.text()
        await stage.press("tab", "tab", "enter")
        assert f"✖ type {AIR} first" in stage.text()
        await letters(stage, AIR[:-1].casefold())
        await stage.press("enter", "tab", "tab", "enter")
        assert f"✖ that is not {AIR}" in stage.text()
        await stage.press("shift+tab", "shift+tab", "ctrl+u")
        await letters(stage, AIR[:-1])
        await stage.press("enter", "tab", "tab", "enter")
        assert f"✖ that is not {AIR}" in stage.text()
        assert not stage.writes
        await stage.press("shift+tab", "shift+tab")
        await letters(stage, AIR[-1])
        await stage.press("enter")
        assert not stage.writes, "enter in the name never fires"
        await stage.press("enter")
        await stage.idle()
        assert [path for _, path in stage.writes if event.id in path]


async def test_moving_an_event_on_air_needs_its_name_too() -> None:
    async with deck_stage() as stage:
        parent, event = stage.choose(QUIET).parent_id or stage.choose("Evening news").parent_id, stage.choose(AIR)
        assert parent
        await stage.act("event.move")
        await stage.press("ctrl+u")
        await stage.enter(parent)
        await stage.press("ctrl+s")
        assert f"Type the whole name to move: {AIR}" in stage.text()
        await to_the_button(stage)
        await stage.press("enter")
        await stage.idle()
        assert (await stage.event(event)).parent_id == parent


async def test_keys_that_come_too_early_do_nothing() -> None:
    async with deck_stage() as stage:
        stage.choose(QUIET)
        await stage.act("event.delete")
        await stage.pilot.press("tab", "enter")
        assert stage.shows(Confirm)
        stage.clock.tick += EARLY * 0.9
        await stage.pilot.press("tab", "enter", "escape")
        assert stage.shows(Confirm)
        assert not stage.writes
        await stage.press("escape")
        assert not stage.shows(Confirm)


async def test_an_enter_that_follows_another_at_once_is_its_echo() -> None:
    async with deck_stage() as stage:
        stage.choose(AIR)
        await stage.act("event.complete")
        await to_the_button(stage)
        stage.clock.tick += EARLY * 0.9
        await stage.pilot.press("enter")
        assert stage.shows(Confirm)
        assert not stage.writes


async def test_cancel_has_the_focus() -> None:
    async with deck_stage() as stage:
        stage.choose(QUIET)
        for action in ("event.enable", "event.complete", "event.delete"):
            await stage.act(action)
            assert "[ Cancel ]" in stage.text()
            await stage.press("enter")
            assert not stage.shows(Confirm)
        assert not stage.requests


async def test_stale_data_blocks_a_change_before_it_is_asked_and_while_it_is() -> None:
    async with deck_stage() as stage:
        stage.choose(QUIET)
        await stage.act("event.delete")
        stale = linked(stage.deck, as_of=EVENING - timedelta(minutes=2))
        stage.deck.snapshot = replace(known(stage.deck), link=stale)
        await stage.press("tab", "enter")
        assert "✖ the screen is STALE, 02:00 old" in stage.text()
        await stage.press("escape")
        await stage.act("event.enable")
        await stage.idle()
        assert not stage.shows(Confirm)
        assert "not sent: the screen is STALE" in stage.text()
        assert not stage.requests


async def test_an_event_that_went_on_air_meanwhile_asks_for_its_name() -> None:
    async with deck_stage() as stage:
        stage.choose(QUIET)
        await stage.act("event.complete")
        assert "Type" not in stage.text()
        air = next(state for state in known(stage.deck).events if state.event.name == AIR)
        events = tuple(
            replace(state, phase=air.phase) if state.event.name == QUIET else state
            for state in known(stage.deck).events
        )
        stage.deck.snapshot = replace(known(stage.deck), events=events)
        await stage.press("tab", "enter")
        assert "it was DRAFT and is ON AIR now" in stage.text()
        assert f"Type the whole name to complete: {QUIET}" in stage.text()
        assert not stage.writes


async def renamed(stage: Stage, **names: str) -> None:
    """Give events other names, on the platform and in the deck."""
    for identity, name in names.items():
        await stage.api.events.update(identity, EventDraft(name=name))
    stage.deck.monitor.refresh()
    await stage.until(lambda: all(known(stage.deck).find(id_).event.name == names[id_] for id_ in names))  # type: ignore[union-attr]


async def test_of_two_events_of_one_name_the_end_of_the_id_is_typed_and_the_other_one_is_named() -> None:
    async with deck_stage((80, 24)) as stage:
        other, event = stage.choose(QUIET), stage.choose(AIR)
        await renamed(stage, **{other.id: AIR})
        await stage.act("event.complete")
        words = " ".join(stage.text().replace("│", " ").split())
        assert f"▲ Another event has the same name (id …{other.id[-6:]})." in words
        assert f"Type the end of the id to complete: {event.id[-6:]}" in words
        await letters(stage, AIR)
        await stage.press("enter")
        assert f"✖ that is not {event.id[-6:]}" in stage.text()
        await stage.press("ctrl+u")
        await letters(stage, event.id[-6:].upper())
        await stage.press("enter", "enter")
        await stage.idle()
        assert [path.rsplit("/", 2)[1:] for _, path in stage.writes] == [[event.id, "complete"]]


@in_each_look
async def test_the_question_that_wants_a_name(picture: SnapshotAssertion, look: Look) -> None:
    async with deck_stage() as stage:
        other, event = stage.choose(QUIET), stage.choose(AIR)
        await stage.act("event.complete")
        await looks(stage, picture, look, "name")
        await stage.press("escape")
        await renamed(stage, **{event.id: "Ch\u043eir\u200b, hall B", other.id: AIR})
        await stage.act("event.complete")
        await letters(stage, AIR)
        await stage.press("enter")
        await looks(stage, picture, look, "id")


async def test_a_name_that_cannot_be_seen_whole_is_shown_so_and_its_cleaned_form_confirms_nothing() -> None:
    async with deck_stage((80, 24)) as stage:
        event = stage.choose(AIR)
        await renamed(stage, **{event.id: "Choir\u200b, hall B"})
        await stage.act("event.delete")
        words = " ".join(stage.text().replace("│", " ").split())
        assert r'▲ Its name has invisible letters: "Choir\u200b, hall B".' in words
        await letters(stage, AIR)
        await stage.press("enter", "tab", "tab", "enter")
        assert not stage.writes
        assert f"✖ that is not {event.id[-6:]}" in stage.text()


async def test_a_name_may_be_pasted_and_what_no_field_takes_is_another_name() -> None:
    async with deck_stage() as stage:
        stage.choose(AIR)
        await stage.act("event.complete")
        await stage.press("shift+tab")
        await stage.enter("Choir\u200b, hall B")
        await stage.press("enter", "tab", "tab", "enter")
        assert "✖ the pasted text has invisible characters" in stage.text()
        assert not stage.writes
        await stage.press("shift+tab", "shift+tab", "ctrl+u")
        await stage.enter(AIR)
        await stage.press("enter", "enter")
        await stage.idle()
        assert stage.writes


LOST: dict[str, object] = {"kind": "lose", "method": "DELETE"}
DROPPED: dict[str, object] = {"kind": "drop", "method": "DELETE"}
FAILED: dict[str, object] = {"kind": "status", "status": 500, "method": "DELETE"}
REFUSED: dict[str, object] = {"kind": "status", "status": 403, "method": "PUT"}
VERDICTS: dict[str, tuple[str, dict[str, object], str, Severity]] = {
    "done": ("event.enable", {}, "event enabled: Untitled event", Severity.INFO),
    "applied": (
        "event.delete",
        LOST,
        "event deleted: Untitled event: something that answers for the platform",
        Severity.INFO,
    ),
    "unknown": (
        "event.delete",
        DROPPED,
        "unknown whether the event was deleted: Untitled event: something that answers for the platform",
        Severity.CRITICAL,
    ),
    "failed": (
        "event.delete",
        FAILED,
        "unknown whether the event was deleted: Untitled event: the platform failed (500)",
        Severity.CRITICAL,
    ),
    "refused": ("event.enable", REFUSED, "event not enabled: Untitled event: the platform does not", Severity.WARNING),
}
"""Verdict -> a change, the fault that leads to it, its notice, and the severity of that."""


@pytest.mark.parametrize("verdict", VERDICTS)
async def test_every_end_of_a_change_is_told_in_words(verdict: str) -> None:
    action, fault, text, severity = VERDICTS[verdict]
    async with deck_stage() as stage:
        stage.choose(QUIET)
        if fault:
            await stage.fault(**fault)
        await stage.act(action)
        await agree(stage)
        notice = stage.deck.preferences.notices[-1]
        assert notice.text.startswith(text)
        assert notice.severity is severity


async def test_a_long_change_shows_itself_and_stopping_it_leads_to_a_verdict() -> None:
    async with deck_stage() as stage:
        event = stage.choose(QUIET)
        stage.clock.impatient = True
        await stage.fault(kind="hang", method="PUT")
        await stage.act("event.enable")
        await stage.press("tab", "enter")
        await stage.until(lambda: stage.shows(ProgressDialog))
        assert "enable Untitled event" in stage.text()
        await stage.press("tab", "enter")
        await stage.until(lambda: "unknown whether the event was enabled" in stage.last_notice())
        assert "no field says whether an event is enabled" in stage.last_notice()
        assert (await stage.event(event)).updated_at is None


async def unanswered(stage: Stage) -> None:
    """Send a change that hangs, and close its dialog."""
    stage.choose(QUIET)
    stage.clock.impatient = True
    await stage.fault(kind="hang", method="PUT")
    await stage.act("event.enable")
    await stage.press("tab", "enter")
    await stage.until(lambda: stage.shows(ProgressDialog))
    await stage.press("enter")


async def test_leaving_asks_about_a_change_that_is_under_way_and_who_stays_lets_it_go_on() -> None:
    async with deck_stage() as stage:
        await unanswered(stage)
        await stage.act("app.quit")
        assert stage.shows(LeaveDialog)
        assert "Leave without the outcome of enable Untitled event?" in stage.text()
        await stage.press("enter")
        assert stage.deck.is_running
        await stage.act("event.delete")
        assert "event not deleted: Untitled event: enable is still running" in stage.last_notice()


@pytest.mark.parametrize("how", ["agreed", "ctrl-c twice", "signal"])
async def test_a_change_that_the_deck_left_behind_is_in_the_audit_as_unknown(how: str) -> None:
    history = await History.open(None, EVENING)
    async with deck_stage(history=history) as stage:
        await unanswered(stage)
        if how == "signal":
            stage.deck.exit(143)
        else:
            await stage.act("app.quit" if how == "agreed" else "app.interrupt")
            await stage.press(*(("tab", "enter") if how == "agreed" else ("ctrl+c",)))
        await stage.settle()
    (enabled,) = await history.audit(EVENING - timedelta(days=1))
    assert (enabled.action, enabled.outcome) == ("event.enable", AuditOutcome.UNKNOWN)
    assert enabled.detail == "livedeck was closed before the response arrived"
    (change,) = await history.open_changes()
    assert (change.intent.verb, change.intent.target_name) == ("enable", "Untitled event")
    await history.close()


async def test_a_question_that_nobody_answered_keeps_nobody_from_leaving_and_is_in_no_audit() -> None:
    history = await History.open(None, EVENING)
    async with deck_stage(history=history) as stage:
        stage.choose(QUIET)
        await stage.act("event.enable")
        await stage.act("app.interrupt")
    assert stage.deck.return_value == 130
    assert not await history.audit(EVENING - timedelta(days=1))
    await history.close()


async def test_a_read_only_deck_carries_out_every_action_and_nothing_but_reads_arrives() -> None:
    """Every action by its name, as its key, its command and its entry in the palette call it."""
    leave = {"app.quit", "app.interrupt", "app.suspend"}
    async with deck_stage(read_only=True) as stage:
        for action in (action for action in REGISTRY.actions if action.name not in leave):
            stage.choose("Choir, hall B")
            mode = next(iter(action.screens), "events")
            if stage.deck.current_mode != mode:
                await stage.deck.switch_mode(mode)
            stage.deck.dispatch(action.name)
            await stage.settle()
            if action.writes:
                assert stage.last_notice().startswith("RO:"), action.name
                assert not isinstance(stage.deck.screen, Dialog), action.name
            await out(stage)
            assert "RO" in stage.text()
        assert {method for method, _ in stage.requests} <= READS


def shuffled(stage: Stage, random: Random, spare: str) -> None:
    """Reorder the rows and remove some, as if others had changed them. `spare` is treated like any other row."""
    states = list(known(stage.deck).events)
    random.shuffle(states)
    kept = [state for state in states if random.random() < 0.7 or state.id == spare]
    if random.random() < 0.2:
        kept = [state for state in kept if state.id != spare]
    stage.deck.snapshot = replace(known(stage.deck), seq=known(stage.deck).seq + 1, events=tuple(kept))
    stage.deck.snapshot_signal.publish(None)


async def test_a_request_goes_to_the_id_that_was_shown_or_is_refused() -> None:
    """Rows reorder, appear and vanish at random, and the cursor wanders, while dialogs are open."""
    random, sent = Random(5), 0
    async with deck_stage() as stage:
        whole = known(stage.deck)
        tallies = {BroadcastState.DRAFT, BroadcastState.SCHEDULED}
        quiet = [state.event for state in whole.events if state.phase.tally in tallies]
        for action in ("event.complete", "event.delete", "event.edit", "event.enable", "event.schedule"):
            stage.deck.snapshot = replace(whole, seq=known(stage.deck).seq + 1)
            meant = random.choice(quiet)
            stage.deck.select_event(meant.id)
            stage.requests.clear()
            stage.deck.dispatch(action)
            for keys in (("ctrl+u", "4", "ctrl+s"), ("tab", "enter"), ("tab", "enter")):
                shuffled(stage, random, meant.id)
                stage.deck.select_event(random.choice(whole.events).id)
                await stage.press(*keys)
            await stage.idle()
            await out(stage)
            assert not [path for _, path in stage.writes if meant.id not in path and "poster" not in path], action
            sent += len(stage.writes)
    assert sent > 1


def locks_in(folder: Path) -> Callable[[Callable[[str], None]], WriteLocks]:
    """Return what `livedeck` gives a deck as locks of its platform."""
    return partial(WriteLocks, folder, "https://platform.example", SystemClock())


async def test_an_object_that_a_command_of_ours_changes_is_waited_for_in_sight_and_nobody_has_to_wait(
    tmp_path: Path,
) -> None:
    async with deck_stage(make_locks=locks_in(tmp_path)) as stage:
        event = stage.choose(QUIET)
        stage.clock.impatient = True
        async with locks_in(tmp_path)(lambda _: None).hold(Target("event", event.id, QUIET)) as is_held:
            assert is_held
            await stage.act("event.enable")
            await stage.press("tab", "enter")
            await stage.until(lambda: stage.shows(ProgressDialog))
            assert f"waiting for another change of {QUIET}" in stage.text()
            await stage.press("tab", "enter")
            await stage.done()
            assert not stage.writes
        await stage.act("event.enable")
        await agree(stage)
        await stage.until(lambda: "event enabled" in stage.last_notice())
        assert [method for method, _ in stage.writes] == ["PUT"]


async def test_an_object_that_cannot_be_locked_is_changed_all_the_same_and_that_is_told(tmp_path: Path) -> None:
    (tmp_path / "state").touch()
    async with deck_stage(make_locks=locks_in(tmp_path / "state" / "locks")) as stage:
        stage.choose(QUIET)
        await stage.act("event.enable")
        await agree(stage)
        await stage.until(lambda: "event enabled" in stage.last_notice())
        (told,) = [notice.text for notice in stage.deck.preferences.notices if "cannot be written" in notice.text]
        assert f"may change {QUIET} at the same time" in told

"""A change goes to what was seen, once, or it is refused; a lost answer ends in a verdict (architecture.md)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from random import Random

import pytest

from livedeck.cli.screenshots import EVENING
from livedeck.client import Event, EventDraft, NotFound
from livedeck.monitor import AuditOutcome, History, Severity
from livedeck.ui.general.actions import Leaving
from livedeck.ui.kit.dialogs.dialog import Dialog
from livedeck.ui.kit.dialogs.progress import ProgressDialog
from ui.stage import REGISTRY, known
from ui.writing import READS, Stage, writing

QUIET = "Untitled event"

Keys = Callable[[Stage], Awaitable[None]]


async def agree(stage: Stage) -> None:
    await stage.press("tab", "enter")
    await stage.idle()


async def typed(stage: Stage, text: str) -> None:
    await stage.press("ctrl+u")
    await stage.enter(text)
    await stage.press("ctrl+s")
    await stage.idle()


async def renamed(stage: Stage) -> None:
    await typed(stage, "Renamed")
    await agree(stage)


async def moved(stage: Stage) -> None:
    await typed(stage, next(state.event.parent_id or "" for state in known(stage.deck).events if state.event.parent_id))
    await agree(stage)


async def out(stage: Stage) -> None:
    """Out of whatever is open, agreeing to nothing but to lose what was typed."""
    for _ in range(8):
        if len(stage.deck.screen_stack) == 1:
            return
        await stage.press("escape")
        if "What you typed is lost." in stage.text():
            await stage.press("tab", "enter")
    raise AssertionError(f"no way out: {stage.text()}")


WRITES: dict[str, tuple[Keys, Callable[[Event, Event | None], bool]]] = {
    "event.enable": (agree, lambda _, now: now is not None and now.updated_at is not None),
    "event.complete": (agree, lambda _, now: now is not None and now.updated_at is not None),
    "event.delete": (agree, lambda _, now: now is None),
    "event.edit": (renamed, lambda _, now: now is not None and now.name == "Renamed"),
    "event.move": (moved, lambda was, now: now is not None and now.parent_id != was.parent_id),
    "event.poster": (
        lambda stage: typed(stage, "https://pictures.example/a.png"),
        lambda was, now: now is not None and now.poster != was.poster,
    ),
    "stream.schedule": (
        lambda stage: typed(stage, "in 1 h"),
        lambda _, now: now is not None and now.stream is not None,
    ),
}
"""Action -> what a person types, and how the platform shows that it happened."""


async def now(stage: Stage, event: Event) -> Event | None:
    try:
        return await stage.event(event)
    except NotFound:
        return None


@pytest.mark.parametrize("action", WRITES)
async def test_a_lost_answer_to_a_change_that_happened_ends_as_applied_and_it_is_sent_once(action: str) -> None:
    keys, happened = WRITES[action]
    async with writing() as stage:
        event = stage.choose(QUIET)
        await stage.fault(kind="lose", method=next(iter(METHODS[action])))
        await stage.act(action)
        await keys(stage)
        assert "applied: its answer was lost" in stage.told()
        assert len(stage.writes) == 1
        assert happened(event, await now(stage, event))


METHODS = dict.fromkeys(WRITES, ("PUT",)) | {
    "event.delete": ("DELETE",),
    "event.poster": ("POST",),
    "stream.schedule": ("POST",),
}


@pytest.mark.parametrize("kind", ["drop", "status"])
async def test_a_lost_change_that_did_not_happen_ends_as_not_applied_and_is_not_sent_again(kind: str) -> None:
    async with writing() as stage:
        event = stage.choose(QUIET)
        await stage.fault(kind=kind, method="PUT", **({"status": 504} if kind == "status" else {}))
        await stage.act("event.enable")
        await agree(stage)
        assert "not applied: its answer was lost, and reading again shows no change" in stage.told()
        assert len(stage.writes) == 1
        assert (await stage.event(event)).updated_at is None


async def test_a_lost_completion_is_not_seen_in_what_somebody_else_changed_meanwhile() -> None:
    """While its stream runs an event is on air, whenever it was last changed."""
    async with writing() as stage:
        event = stage.choose("Choir, hall B")

        async def meanwhile() -> None:
            await stage.api.events.update(event.id, EventDraft(name="Choir, hall C"))

        stage.hooks.append(("PUT", meanwhile))
        await stage.fault(kind="drop", method="PUT", path="*/complete")
        await stage.act("event.complete")
        await stage.press(*"choir", "tab", "tab", "enter")
        await stage.idle()
        assert stage.writes == [("PUT", f"/v2/live/events/{event.id}/complete")]
        assert (await stage.event(event)).name == "Choir, hall C"
        assert "nobody knows whether it happened" in stage.told()


async def test_a_lost_creation_is_found_by_what_is_new() -> None:
    async with writing() as stage:
        await stage.fault(kind="lose", method="POST")
        await stage.act("event.new")
        await stage.enter("Lost and found")
        await stage.press("ctrl+s")
        await stage.idle()
        assert "create applied: Lost and found" in stage.told()
        names = [event.name async for event in stage.api.events.iterate()]
        assert names.count("Lost and found") == 1


async def test_where_nobody_can_look_the_verdict_is_unknown_and_says_so() -> None:
    async with writing() as stage:
        event = stage.choose(QUIET)
        await stage.act("event.enable")
        stage.hooks.append(("PUT", lambda: stage.fault(kind="drop", method="")))
        await stage.fault(kind="lose", method="PUT")
        await agree(stage)
        assert "nobody knows whether it happened: look again before you repeat it" in stage.told()
        assert stage.deck.preferences.notices[-1].severity is Severity.CRITICAL
        await stage.calm()
        assert (await stage.event(event)).updated_at is not None


async def test_what_the_platform_refuses_is_told_in_full_and_kept() -> None:
    async with writing() as stage:
        stage.choose("Rehearsal Tuesday")
        await stage.act("event.enable")
        await agree(stage)
        assert "enable failed: Rehearsal Tuesday: " in stage.told()
        assert "409 409409" in stage.told()


async def test_a_long_change_shows_itself_and_stopping_it_leads_to_a_verdict() -> None:
    async with writing() as stage:
        event = stage.choose(QUIET)
        stage.clock.impatient = True
        await stage.fault(kind="hang", method="PUT")
        await stage.act("event.enable")
        await stage.press("tab", "enter")
        await stage.until(lambda: stage.shows(ProgressDialog))
        assert "enable Untitled event" in stage.text()
        await stage.press("tab", "enter")
        await stage.until(lambda: "not applied" in stage.told())
        assert (await stage.event(event)).updated_at is None


async def unanswered(stage: Stage) -> None:
    """A change that hangs, its dialog put away."""
    stage.choose(QUIET)
    stage.clock.impatient = True
    await stage.fault(kind="hang", method="PUT")
    await stage.act("event.enable")
    await stage.press("tab", "enter")
    await stage.until(lambda: stage.shows(ProgressDialog))
    await stage.press("enter")


async def test_leaving_asks_about_a_change_that_is_under_way_and_who_stays_lets_it_go_on() -> None:
    async with writing() as stage:
        await unanswered(stage)
        await stage.act("app.quit")
        assert stage.shows(Leaving)
        assert "Leave before it is known what became of enable Untitled event?" in stage.text()
        await stage.press("enter")
        assert stage.deck.is_running
        await stage.act("event.delete")
        assert "delete refused: Untitled event: enable is still under way" in stage.told()


@pytest.mark.parametrize("how", ["agreed", "ctrl-c twice", "signal"])
async def test_a_change_that_the_deck_left_behind_is_in_the_audit_as_unknown(how: str) -> None:
    history = await History.open(None, EVENING)
    async with writing(history=history) as stage:
        await unanswered(stage)
        if how == "signal":
            stage.deck.exit(143)
        else:
            await stage.act("app.quit" if how == "agreed" else "app.interrupt")
            await stage.press(*(("tab", "enter") if how == "agreed" else ("ctrl+c",)))
        await stage.settle()
    (enabled,) = await history.audit(EVENING - timedelta(days=1))
    assert (enabled.action, enabled.outcome) == ("event.enable", AuditOutcome.UNKNOWN)
    assert enabled.detail == "nobody knows whether it happened: the deck was left before its answer was there"
    await history.close()


async def test_a_question_that_nobody_answered_keeps_nobody_from_leaving_and_is_in_no_audit() -> None:
    history = await History.open(None, EVENING)
    async with writing(history=history) as stage:
        stage.choose(QUIET)
        await stage.act("event.enable")
        await stage.act("app.interrupt")
    assert stage.deck.return_value == 0
    assert not await history.audit(EVENING - timedelta(days=1))
    await history.close()


async def test_while_a_change_is_under_way_its_target_takes_no_other() -> None:
    async with writing() as stage:
        await unanswered(stage)
        assert not stage.shows(ProgressDialog)
        await stage.act("event.delete")
        assert "delete refused: Untitled event: enable is still under way" in stage.told()
        assert len(stage.writes) == 1


async def test_the_audit_has_what_was_done_and_no_secret() -> None:
    history = await History.open(None, EVENING)
    async with writing(history=history) as stage:
        event = stage.choose("Choir, hall B")
        await stage.act("event.edit")
        await renamed(stage)
        stage.choose(QUIET)
        await stage.fault(kind="drop", method="PUT")
        await stage.act("event.enable")
        await agree(stage)
        edited, enabled = await history.audit(EVENING - timedelta(days=1))
        assert (edited.action, edited.target_id, edited.outcome) == ("event.edit", event.id, AuditOutcome.APPLIED)
        assert [(one.name, one.before, one.after) for one in edited.edits] == [("Name", "Choir, hall B", "Renamed")]
        assert (enabled.action, enabled.outcome) == ("event.enable", AuditOutcome.NOT_APPLIED)
    await history.close()


async def test_a_read_only_deck_carries_out_every_action_and_nothing_but_reads_arrives() -> None:
    """Every action by its name, as its key, its command and its entry in the palette call it."""
    leave = {"app.quit", "app.interrupt", "app.suspend"}
    async with writing(read_only=True) as stage:
        for action in (one for one in REGISTRY.actions if one.name not in leave):
            stage.choose("Choir, hall B")
            mode = next(iter(action.screens), "events")
            if stage.deck.current_mode != mode:
                await stage.deck.switch_mode(mode)
            stage.deck.dispatch(action.name)
            await stage.settle()
            if action.writes:
                assert stage.told().startswith("RO:"), action.name
                assert not isinstance(stage.deck.screen, Dialog), action.name
            await out(stage)
            assert "RO" in stage.text()
        assert {method for method, _ in stage.requests} <= READS


def shuffled(stage: Stage, random: Random, spare: str) -> None:
    """The rows in another order, some gone, as if others had changed them; `spare` stays or goes like any other."""
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
    async with writing() as stage:
        whole = known(stage.deck)
        quiet = [state.event for state in whole.events if not state.phase.tally.expects_signal]
        for action in ("event.complete", "event.delete", "event.edit", "event.enable", "stream.schedule"):
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

"""An action goes to the alarm that its person saw, stays with it, and can be taken back.

See interface.md, "Alarms on screen".
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from textual import events

from breadth import slow
from livedeck.cli.screenshots import EVENING
from livedeck.monitor import TAKE_BACK_FOR, Alarm, AlarmState, History, Monitor
from livedeck.ui.kit.dialogs.dialog import Dialog
from livedeck.ui.kit.lines import FramedPanel
from livedeck.ui.kit.selection import SEEN_AFTER
from livedeck.ui.kit.table import Table
from ui.deck_stage import Stage, deck_stage
from ui.stage import REGISTRY, known

SCREENS = [tab.action_name for tab in REGISTRY.tabs if not tab.is_of_probe]
EVENT_SCREENS = ["screen.events", "screen.streams", "screen.qos", "screen.chat"]


def alarms(stage: Stage) -> tuple[Alarm, ...]:
    """Return all alarms that the deck knows of."""
    return (*known(stage.deck).alarms, *known(stage.deck).quiet)


def answered(stage: Stage) -> set[str]:
    """Return the events with an action of a person, whatever the deck shows yet."""
    monitor = stage.deck.monitor
    assert isinstance(monitor, Monitor)
    found = (monitor.find_alarm(alarm.key) for alarm in (*monitor.snapshot.alarms, *monitor.snapshot.quiet))
    return {alarm.subject for alarm in found if alarm and alarm.answered_at}


async def resort(stage: Stage, seen_for: float, **changes: Any) -> None:
    """Show the snapshot in reverse order, or with changes, for `seen_for` seconds; no other snapshot comes."""
    for worker in stage.deck.workers:
        if worker.name == "monitor":
            worker.cancel()
    await stage.settle()
    snapshot = known(stage.deck)
    changes = changes or {"events": snapshot.events[::-1], "alarms": snapshot.alarms[::-1]}
    stage.deck.snapshot = replace(snapshot, seq=snapshot.seq + 1, **changes)
    stage.deck.snapshot_signal.publish(None)
    await stage.settle()
    stage.clock.tick += seen_for


async def press_now(stage: Stage, *keys: str) -> None:
    """Press keys without a pause."""
    for key in keys:
        await stage.pilot.press(key)
    await stage.idle()


async def mouse(stage: Stage, kind: type[events.MouseEvent], offset: tuple[int, int]) -> None:
    """Send an event of the mouse button at a cell, as the terminal does."""
    x, y = offset
    stage.deck.post_message(kind(None, x, y, 0, 0, 1, False, False, False, x, y))
    await stage.settle()


@pytest.mark.parametrize("screen", SCREENS)
@pytest.mark.parametrize("seconds", [0.6, *slow(0.1, 5.0)])
async def test_an_answer_given_twice_goes_to_one_event_though_the_list_is_sorted_anew(
    screen: str, seconds: float
) -> None:
    async with deck_stage() as stage:
        await stage.act(screen)
        await stage.idle()
        for _ in range(3):
            await press_now(stage, "a")
            await stage.until(lambda: bool(answered(stage)))
            await resort(stage, seconds)
        assert len(answered(stage)) == 1


@pytest.mark.parametrize("screen", SCREENS)
async def test_a_second_answer_says_by_whom_and_until_when_the_first_one_was_given(screen: str) -> None:
    async with deck_stage() as stage:
        await stage.act(screen)
        await stage.act("alarm.ack")
        await stage.until(lambda: bool(answered(stage)))
        (subject,) = answered(stage)
        told = [alarm for alarm in alarms(stage) if alarm.subject == subject and not alarm.needs_ack]
        while any(alarm.subject == subject and alarm.active and alarm.needs_ack for alarm in alarms(stage)):
            await stage.act("alarm.ack_event" if screen == "screen.alarms" else "alarm.ack")
            await stage.idle()
        await stage.act("alarm.ack")
        await stage.idle()
        assert told
        assert f"{subject}" in stage.last_notice()
        assert ": already acknowledged" in stage.last_notice()
        assert " until 21:" in stage.last_notice()
        assert answered(stage) == {subject}


async def test_without_an_event_on_the_screen_of_viewers_nothing_is_acknowledged_and_a_notice_says_so() -> None:
    async with deck_stage() as stage:
        await stage.act("screen.viewers")
        await stage.act("alarm.ack")
        await stage.idle()
        assert stage.last_notice() == "no event is selected, so nothing is acknowledged"
        assert not answered(stage)


def aimed_at(stage: Stage) -> str:
    """Return the subject that `a` would acknowledge by the picture: the row of the cursor, else the first alarm."""
    snapshot = known(stage.deck)
    if stage.deck.current_mode in {"events", "streams"}:
        return snapshot.find(stage.deck.screen.query_one(Table).cursor or "").event.name or ""  # type: ignore[union-attr]
    return next(alarm.subject for alarm in snapshot.alarms if alarm.needs_ack)


@pytest.mark.parametrize("screen", ["screen.events", "screen.streams", "screen.rooms", "screen.videos"])
@pytest.mark.parametrize("is_seen", [False, True])
async def test_a_key_acts_on_what_was_seen_and_not_on_what_came_as_it_was_pressed(screen: str, is_seen: bool) -> None:
    """The worst event is another one for 30 ms: nobody can have meant it. After 310 ms everybody does."""
    async with deck_stage() as stage:
        if screen not in EVENT_SCREENS:
            stage.choose("Choir, hall B")  # which has no alarm: the most urgent one of all is named
        await stage.act(screen)
        whole, worst = known(stage.deck), aimed_at(stage)
        events = tuple(state for state in whole.events if state.event.name != worst)
        alarms = tuple(alarm for alarm in whole.alarms if alarm.subject != worst)
        await resort(stage, 5, events=events, alarms=alarms)
        before = aimed_at(stage)
        await resort(stage, SEEN_AFTER + 0.01 if is_seen else 0.03, events=whole.events, alarms=whole.alarms)
        after = aimed_at(stage)
        assert before != after
        await press_now(stage, "a")
        await stage.until(lambda: bool(answered(stage)) or "no alarm awaits" in stage.last_notice())
        has_alarm = any(alarm.subject == before for alarm in whole.alarms)
        assert has_alarm
        assert answered(stage) == {after if is_seen else before}


@pytest.mark.parametrize("screen", EVENT_SCREENS)
async def test_an_alarm_that_came_as_the_key_was_pressed_is_not_answered(screen: str) -> None:
    async with deck_stage() as stage:
        await stage.act(screen)
        stage.choose("Harbour webcam")
        await stage.idle()
        snapshot = known(stage.deck)
        came = next(alarm for alarm in snapshot.alarms if alarm.subject == "Harbour webcam" and alarm.needs_ack)
        rest = tuple(alarm for alarm in snapshot.alarms if alarm is not came)
        await resort(stage, 5, alarms=rest)
        await resort(stage, 0.03, alarms=snapshot.alarms)
        await press_now(stage, "a")
        await stage.until(lambda: bool(answered(stage)))
        monitor = stage.deck.monitor
        assert isinstance(monitor, Monitor)
        answers = {alarm.kind: monitor.find_alarm(alarm.key) for alarm in (came, *rest)}
        assert [kind for kind, alarm in answers.items() if alarm and alarm.answered_at and kind == came.kind] == []


async def test_on_an_empty_board_an_alarm_that_comes_as_the_key_is_pressed_is_not_answered() -> None:
    async with deck_stage() as stage:
        whole = known(stage.deck).alarms
        await resort(stage, 5, alarms=(), quiet=())
        await stage.act("screen.alarms")
        await resort(stage, 0.03, alarms=whole)
        await press_now(stage, "a")
        assert not answered(stage)
        await press_now(stage, "z")
        assert not isinstance(stage.deck.screen, Dialog)


@pytest.mark.parametrize("action", ["alarm.ack", "alarm.shelve", "alarm.note", "alarm.out_of_service"])
async def test_every_answer_pins_the_cursor_to_its_event(action: str) -> None:
    async with deck_stage() as stage:
        event = known(stage.deck).events[0].id
        await stage.act(action)
        await stage.idle()
        await resort(stage, 5)
        assert stage.deck.screen_stack[0].query_one(Table).cursor == event
        if isinstance(stage.deck.screen, Dialog):
            await stage.press("escape")
        await stage.act("row.first")
        await resort(stage, 5, events=known(stage.deck).events)
        assert stage.deck.screen.query_one(Table).cursor == known(stage.deck).events[0].id


async def test_a_form_that_is_open_keeps_its_alarm_while_the_list_is_sorted_anew() -> None:
    async with deck_stage() as stage:
        first = known(stage.deck).events[0].event.name
        await stage.act("alarm.shelve")
        await stage.idle()
        await resort(stage, 5)
        await stage.press("tab", "tab")
        await stage.enter("camera repair")
        await stage.press("ctrl+s")
        await stage.idle()
        assert answered(stage) == {first}


async def test_a_row_that_moves_under_a_pressed_button_is_the_one_that_was_pressed() -> None:
    async with deck_stage() as stage:
        table = stage.deck.screen.query_one(Table)
        meant = known(stage.deck).events[1].id
        offset = (table.region.x + 4, table.region.y + 2)
        await mouse(stage, events.MouseDown, offset)
        await resort(stage, 0.2)
        await mouse(stage, events.MouseUp, offset)
        assert stage.deck.screen.query_one(Table).cursor == meant


async def test_an_alarm_that_moves_under_a_pressed_button_selects_the_event_of_the_one_that_was_pressed() -> None:
    async with deck_stage((120, 40)) as stage:
        pane = stage.deck.screen.query_one("#event-alarms", FramedPanel)
        meant = next(link for x in range(pane.size.width) if (link := pane.link_at(x, 1)) and link.argument)
        column = next(x for x in range(pane.size.width) if pane.link_at(x, 1) == meant)
        offset = (pane.region.x + column, pane.region.y + 1)
        await mouse(stage, events.MouseDown, offset)
        await resort(stage, 0.2)
        assert pane.link_at(column, 1) != meant
        await mouse(stage, events.MouseUp, offset)
        assert getattr(stage.deck.selected_event(), "id", "") == meant.argument


# What is taken back


async def acknowledge(stage: Stage, name: str = "Harbour webcam") -> tuple[Alarm, ...]:
    """Acknowledge all alarms of an event. Returns them as they were before."""
    stage.choose(name)
    await stage.idle()
    before = tuple(alarm for alarm in known(stage.deck).alarms if alarm.subject == name and alarm.needs_ack)
    await stage.act("alarm.ack")
    await stage.until(lambda: not waiting_kinds(stage, before))
    return before


def waiting_kinds(stage: Stage, before: Iterable[Alarm]) -> set[str]:
    """Return the kinds of those alarms that await an acknowledgement."""
    keys = {alarm.key for alarm in before}
    return {alarm.kind for alarm in alarms(stage) if alarm.key in keys and alarm.needs_ack}


@pytest.mark.parametrize("screen", EVENT_SCREENS)
async def test_an_acknowledgement_is_taken_back_with_all_that_one_press_answered(screen: str) -> None:
    history = await History.open(None, EVENING)
    async with deck_stage(history=history) as stage:
        await stage.act(screen)
        before = await acknowledge(stage)
        assert len(before) > 1
        await stage.act("alarm.undo")
        await stage.until(lambda: waiting_kinds(stage, before) == {alarm.kind for alarm in before})
        assert "Harbour webcam: 2 acknowledgements taken back: " in stage.last_notice()
        await stage.act("alarm.undo")
        await stage.idle()
        assert "no alarm is acknowledged, shelved or out of service" in stage.last_notice()
    actions = [record.action for record in await history.audit(EVENING - timedelta(days=1))]
    assert sorted(actions) == ["alarm.acknowledge"] * 2 + ["alarm.unacknowledge"] * 2
    log = [record.turn.value for record in await history.alarm_log(EVENING - timedelta(days=1))]
    assert log.count("acknowledgement taken back") == 2
    await history.close()


def repainted(stage: Stage) -> str:
    """Return the text of the screen, and repaint it: keys act on what a person has seen for a moment."""
    stage.deck.snapshot_signal.publish(None)
    return stage.text()


def publish_later(stage: Stage, late: timedelta) -> None:
    """Paint the same snapshot at a later time."""
    stage.clock.late = late
    stage.deck.snapshot_signal.publish(None)


@pytest.mark.parametrize("screen", [*EVENT_SCREENS, "screen.rooms", "screen.alarms"])
async def test_notice_and_keys_say_until_when_an_acknowledgement_can_be_taken_back(screen: str) -> None:
    async with deck_stage(read_only=True) as stage:
        stage.choose("Harbour webcam")
        await stage.act(screen)
        assert "take back until" not in stage.text()
        await stage.act("alarm.ack")
        await stage.until(lambda: bool(answered(stage)))
        await stage.until(lambda: " until 21:19:07Z" in repainted(stage).replace(stage.last_notice(), ""))
        assert "; u takes it back within 5 min" in stage.last_notice()
        for worker in stage.deck.workers:
            if worker.name == "monitor":
                worker.cancel()
        publish_later(stage, TAKE_BACK_FOR)
        await stage.settle()
        assert "take back " in stage.text()
        publish_later(stage, TAKE_BACK_FOR + timedelta(seconds=1))
        await stage.settle()
        assert "until 21:19:07Z" not in stage.text()


async def test_keys_do_not_offer_to_take_back_an_acknowledgement_of_somebody_else() -> None:
    async with deck_stage() as stage:
        stage.deck.monitor.actor = "bert@rack:7"  # type: ignore[misc]
        await acknowledge(stage)
        await stage.until(lambda: "take back until" in repainted(stage))
        stage.deck.monitor.actor = "anna@regie:1"  # type: ignore[misc]
        stage.deck.snapshot_signal.publish(None)
        await stage.settle()
        assert "take back until" not in stage.text()


async def test_on_the_board_the_acknowledgement_of_the_row_is_taken_back() -> None:
    async with deck_stage() as stage:
        await stage.act("screen.alarms")
        await stage.act("alarm.ack")
        await stage.until(lambda: bool(answered(stage)))
        await stage.act("alarm.undo")
        await stage.until(lambda: not any(alarm.state is AlarmState.ACKNOWLEDGED for alarm in alarms(stage)))
        assert stage.last_notice().endswith(": acknowledgement taken back")
        await stage.act("alarm.undo")
        await stage.idle()
        assert "is not acknowledged: there is nothing to take back" in stage.last_notice()


async def test_what_somebody_else_acknowledged_is_not_taken_back_and_it_is_said_why() -> None:
    async with deck_stage() as stage:
        stage.deck.monitor.actor = "bert@rack:7"  # type: ignore[misc]
        before = await acknowledge(stage)
        stage.deck.monitor.actor = "anna@regie:1"  # type: ignore[misc]
        await stage.act("alarm.undo")
        await stage.idle()
        assert "bert@rack acknowledged" in stage.last_notice()
        assert "only bert@rack can take it back" in stage.last_notice()
        assert not waiting_kinds(stage, before)


async def test_what_was_put_away_after_an_acknowledgement_is_brought_back_first() -> None:
    async with deck_stage() as stage:
        before = await acknowledge(stage)
        await stage.act("alarm.shelve")
        await stage.press("tab", "tab")
        await stage.enter("camera repair")
        await stage.press("ctrl+s")
        await stage.idle()
        await stage.until(lambda: any(alarm.state is AlarmState.SHELVED for alarm in alarms(stage)))
        await stage.act("alarm.undo")
        await stage.idle()
        assert stage.last_notice().endswith(": brought back")
        await stage.act("alarm.undo")
        await stage.until(lambda: waiting_kinds(stage, before) == {alarm.kind for alarm in before})

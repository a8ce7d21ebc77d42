"""Every action on alarms by its keys, and its effect in the next snapshot; no action leaves the machine."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from livedeck.cli.screenshots import EVENING
from livedeck.monitor import Alarm, AlarmState, Monitor, Severity
from livedeck.ui.alarms.actions import acknowledged_text
from livedeck.ui.kit.dialogs.dialog import Dialog
from ui.deck_stage import Stage, deck_stage
from ui.stage import known


def alarm(stage: Stage, kind: str) -> Alarm:
    """Return the alarm of a kind, in any state."""
    snapshot = known(stage.deck)
    return next(one for one in (*snapshot.alarms, *snapshot.quiet) if one.kind == kind)


async def test_the_alarm_of_the_selected_event_is_acknowledged_and_audited_even_read_only() -> None:
    async with deck_stage(read_only=True) as stage:
        stage.choose("Lecture 7")
        await stage.act("alarm.ack")
        await stage.idle()
        assert alarm(stage, "LATE_START").state is AlarmState.ACKNOWLEDGED
        assert "Lecture 7 LATE_START: acknowledged" in stage.text()
        assert not stage.writes


def unread(stage: Stage, subject: str) -> set[str]:
    """Return the kinds of the event's alarms that await an acknowledgement."""
    return {alarm.kind for alarm in known(stage.deck).alarms if alarm.subject == subject and alarm.needs_ack}


async def test_all_alarms_of_the_selected_event_are_acknowledged_at_once_and_no_others() -> None:
    """interface.md, "Alarms on screen"."""
    async with deck_stage() as stage:
        stage.choose("Harbour webcam")
        await stage.idle()
        kinds, others = unread(stage, "Harbour webcam"), unread(stage, "Lecture 7")
        assert len(kinds) > 1
        assert "ack FPS_COLLAPSE +1" in stage.text()
        await stage.act("alarm.ack")
        await stage.idle()
        assert not unread(stage, "Harbour webcam")
        assert unread(stage, "Lecture 7") == others
        assert "Harbour webcam: 2 alarms acknowledged: FPS_COLLAPSE, PACKET_LOSS" in stage.last_notice()


def test_alarms_of_one_kind_are_told_by_their_targets() -> None:
    down = Alarm("one", "RESTREAM_DOWN", Severity.CRITICAL, EVENING, "Main stage", "down", "up", changed=EVENING)
    alarms = [replace(down, target_name=name) for name in ("Video share", "Social")]
    assert acknowledged_text(alarms) == (
        "Main stage: 2 alarms acknowledged: RESTREAM_DOWN Video share, RESTREAM_DOWN Social"
    )


@pytest.mark.parametrize("screen", ["screen.events", "screen.streams", "screen.qos"])
async def test_a_row_that_has_nothing_to_answer_for_says_so_and_no_other_is_answered_for(screen: str) -> None:
    async with deck_stage() as stage:
        await stage.act(screen)
        stage.choose("Choir, hall B")
        await stage.idle()
        before = known(stage.deck).alarms
        for told, action in enumerate(("alarm.ack", "alarm.shelve", "alarm.note", "alarm.undo")):
            assert len(stage.deck.preferences.notices) == told
            await stage.act(action)
            await stage.idle()
            assert not stage.shows(Dialog), action
            state = "open alarms" if action in {"alarm.shelve", "alarm.note"} else "alarm"
            assert f"Choir, hall B: no {state}" in stage.last_notice(), action
            assert known(stage.deck).alarms == before, action


async def test_on_the_board_a_key_answers_for_the_row_and_another_for_all_of_its_event() -> None:
    async with deck_stage() as stage:
        await stage.act("screen.alarms")
        rows = known(stage.deck).alarms
        await stage.press(*["down"] * next(row for row, alarm in enumerate(rows) if alarm.subject == "Harbour webcam"))
        await stage.act("alarm.ack")
        await stage.idle()
        assert len(unread(stage, "Harbour webcam")) == 1
        await stage.act("alarm.ack_event")
        await stage.idle()
        assert not unread(stage, "Harbour webcam")
        assert unread(stage, "Lecture 7")


@pytest.mark.parametrize("screen", ["screen.events", "screen.streams", "screen.qos"])
async def test_the_footer_names_the_alarm_that_is_acknowledged(screen: str) -> None:
    """interface.md, "Alarms on screen": what is acted on is what was seen. Whose it is goes without saying where it
    is seen."""
    async with deck_stage() as stage:
        await stage.act(screen)
        stage.choose("Lecture 7")
        await stage.idle()
        assert "ack LATE_START" in stage.text()
        await stage.act("screen.rooms")
        await stage.idle()
        assert "ack Lecture 7 LATE_START" in stage.text()
        await stage.act(screen)
        await stage.act("alarm.ack")
        await stage.idle()
        assert alarm(stage, "LATE_START").state is AlarmState.ACKNOWLEDGED
        assert "ack LATE_START" not in stage.text()


@pytest.mark.parametrize(("screen", "key"), [("screen.rooms", "n new room"), ("screen.videos", "b by id")])
async def test_a_narrow_footer_leaves_the_name_to_the_line_above_it_and_has_room_for_a_key(
    screen: str, key: str
) -> None:
    """interface.md, "Footer": the name of an event took the room of a key, below a line with the whole name."""
    async with deck_stage((80, 24)) as stage:
        await stage.act(screen)
        await stage.idle()
        first = known(stage.deck).alarms[0]
        *_, above, footer = (line.strip() for line in stage.rows() if line.strip())
        assert f"{first.subject}  {first.kind}" in above
        assert f"a ack {first.kind} " in footer
        assert key in footer


async def test_an_alarm_is_shelved_for_a_reason_and_brought_back() -> None:
    async with deck_stage() as stage:
        stage.choose("Lecture 7")
        await stage.act("alarm.shelve")
        await stage.press("ctrl+s")
        assert "✖ is required" in stage.text()
        await stage.enter("the lecturer is ill")
        await stage.press("ctrl+s")
        await stage.idle()
        shelved = alarm(stage, "LATE_START")
        assert (shelved.state, shelved.reason) == (AlarmState.SHELVED, "the lecturer is ill")
        await stage.act("alarm.undo")
        await stage.idle()
        assert alarm(stage, "LATE_START").state is AlarmState.UNACKNOWLEDGED


async def test_the_form_of_a_shelving_names_the_default_limit_as_one() -> None:
    """The deck does not know the limit in force, which may be another one."""
    async with deck_stage() as stage:
        stage.choose("Lecture 7")
        await stage.act("alarm.shelve")
        await stage.idle()
        assert "on air, at most 60 min by default" in stage.text()


async def test_a_form_that_was_open_while_its_alarm_got_worse_silences_nothing() -> None:
    """monitoring.md, "Conflicts"."""
    async with deck_stage() as stage:
        assert isinstance(stage.deck.monitor, Monitor)
        stage.choose("Lecture 7")
        await stage.act("alarm.out_of_service")
        await stage.enter("the lecturer is ill")
        worse, engine = alarm(stage, "LATE_START"), stage.deck.monitor._alarms
        engine.alarms = {**engine.alarms, worse.key: replace(worse, stage=worse.stage + 1)}
        await stage.press("ctrl+s")
        assert "LATE_START got worse since it was shown: critical, no ingest" in stage.text()
        assert engine.alarms[worse.key].state is AlarmState.UNACKNOWLEDGED


async def test_an_alarm_is_taken_out_of_service_and_brought_back() -> None:
    async with deck_stage() as stage:
        stage.choose("Lecture 7")
        await stage.act("alarm.out_of_service")
        await stage.enter("no encoder today")
        await stage.press("ctrl+s")
        await stage.idle()
        assert alarm(stage, "LATE_START").state is AlarmState.OUT_OF_SERVICE
        await stage.act("alarm.undo")
        await stage.idle()
        assert alarm(stage, "LATE_START").state is AlarmState.UNACKNOWLEDGED


async def test_a_note_stays_with_its_alarm() -> None:
    async with deck_stage() as stage:
        stage.choose("Lecture 7")
        await stage.act("alarm.note")
        await stage.enter("called the hall")
        await stage.press("ctrl+s")
        await stage.idle()
        assert alarm(stage, "LATE_START").note == "called the hall"


@pytest.mark.parametrize("action", ["alarm.ack", "alarm.shelve", "alarm.out_of_service", "alarm.note"])
async def test_on_the_board_nothing_is_done_about_an_alarm_that_a_filter_hides(action: str) -> None:
    """interface.md, "Alarms on screen": what is acted on is what was seen."""
    async with deck_stage() as stage:
        await stage.act("screen.alarms")
        stage.deck.dispatch("view.filter", "nobody")
        await stage.idle()
        before = known(stage.deck).alarms
        await stage.act(action)
        await stage.idle()
        assert not stage.shows(Dialog)
        assert known(stage.deck).alarms == before
        assert "no alarm" in stage.last_notice()


async def test_a_silence_of_the_row_is_listed_extended_and_ended_by_the_keys_of_the_deck() -> None:
    async with deck_stage() as stage:
        await stage.act("screen.events")
        stage.choose("Lecture 7")
        await stage.act("alarm.silence")
        assert "LATE_START of this event (1 alarm now)" in stage.text()
        await stage.press("ctrl+s")
        assert "✖ is required" in stage.text()
        await stage.enter("the lecturer is ill")
        await stage.press("ctrl+s")
        await stage.idle()
        silenced = alarm(stage, "LATE_START")
        assert silenced.silenced is not None
        assert (silenced.state, silenced.silenced.comment) == (AlarmState.UNACKNOWLEDGED, "the lecturer is ill")
        assert "M 1 silence" in stage.text()
        await stage.act("screen.alarms")
        assert "SILENCED" in stage.text()
        stage.deck.dispatch("log.next", "silences")
        await stage.idle()
        assert "event = Lecture 7" in stage.text()
        assert "hides now 1 event, 0 on air, 1 alarm" in stage.text()
        assert "Lecture 7: LATE_START" in stage.text()
        (before,) = known(stage.deck).silences
        await stage.act("alarm.silence")
        await stage.press("ctrl+s")
        await stage.idle()
        (after,) = known(stage.deck).silences
        assert after.ends_at - before.ends_at == timedelta(minutes=30)
        await stage.act("alarm.undo")
        await stage.idle()
        assert known(stage.deck).silences == ()
        assert "No silence runs or is planned" in stage.text()
        assert alarm(stage, "LATE_START").silenced is None
        assert not stage.writes


async def test_an_event_without_an_alarm_can_be_silenced_and_an_empty_board_cannot() -> None:
    async with deck_stage() as stage:
        stage.choose("Choir, hall B")
        await stage.act("alarm.silence")
        assert "this event (0 alarms now)" in stage.text()
        await stage.press("escape")
        await stage.act("screen.alarms")
        stage.deck.dispatch("view.filter", "nobody")
        await stage.idle()
        await stage.act("alarm.silence")
        await stage.idle()
        assert not stage.shows(Dialog)
        assert "no alarm to silence" in stage.last_notice()

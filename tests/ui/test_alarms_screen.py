"""Screen 7: active alarms, and the logs of past ones."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from textual.pilot import Pilot

from livedeck.cli.screenshots import EVENING
from livedeck.monitor import (
    ActionRecord,
    Alarm,
    AlarmChange,
    AlarmState,
    AlarmTransition,
    AuditOutcome,
    ConnectionProblem,
    ConnectionState,
    ConnectionStatus,
    Diagnosis,
    Episode,
    FieldChange,
    History,
    LinkRecord,
    Severity,
    Silenced,
    Snapshot,
    TimelineEntry,
)
from livedeck.presentation.alarms import (
    ALARMS,
    Section,
    affected_names,
    alarm_line,
    alarm_lines,
    board_alarms,
    section,
    section_heads,
)
from livedeck.presentation.badges import ALARM_STATE_BADGES
from livedeck.text.segments import plain
from livedeck.ui.alarms import hour, view
from livedeck.ui.alarms.screen import MIN_PANEL_LINES, AlarmsScreen
from livedeck.ui.alarms.view import TABS
from livedeck.ui.app import Deck
from livedeck.ui.kit.lines import FramedPanel
from livedeck.ui.shell.preferences import Notice
from presentation.test_events import FRESH, NOW, state
from ui.stage import act, known, letters_of, running, show, text_of

ALARM = Alarm(
    "one",
    "PACKET_LOSS",
    Severity.CRITICAL,
    NOW - timedelta(minutes=3),
    "Choir",
    "loss in 4 of 6",
    "no loss",
    changed=NOW - timedelta(seconds=79),
    diagnosis=Diagnosis("Packets are lost.", "Short freezes.", "Use a cable."),
)
LINK = ConnectionStatus(ConnectionState.OK, NOW)
DARK = replace(FRESH, blink_on=False)


def text(alarm: Alarm) -> str:
    """Return the panel of the alarm: its frame, then its content."""
    head = f"{view.panel_title(alarm)} {view.panel_state(alarm, FRESH)}"
    return "\n".join([head, *(plain(line) for line in view.detail(alarm, FRESH, 118))])


def test_an_alarm_says_actual_expected_since_cause_viewers_and_what_to_do() -> None:
    """monitoring.md, "Order"."""
    shown = text(ALARM)
    for words in (
        "loss in 4 of 6",
        "expected no loss",
        "20:57:00Z",
        "Packets are lost.",
        "Short freezes.",
        "Use a cable.",
    ):
        assert words in shown
    assert "new for 01:19" in shown


def test_an_alarm_tells_what_became_of_it_the_newest_first() -> None:
    entries = (
        TimelineEntry(NOW, "raised"),
        TimelineEntry(NOW + timedelta(seconds=4), "joined: Choir, Town hall and 38 more"),
        TimelineEntry(NOW + timedelta(seconds=9), "acknowledged", "anna@regie:7"),
    )
    assert "raised" not in text(replace(ALARM, timeline=entries[:1])), "since says it already"
    *_, told = text(replace(ALARM, timeline=entries)).splitlines()
    assert told.split(maxsplit=1) == [
        "timeline",
        "21:00:09Z acknowledged by anna@regie · 21:00:04Z joined: Choir, Town hall and 38 more · 21:00:00Z raised",
    ]


def test_the_time_to_acknowledge_counts_from_the_last_raise_to_the_first_acknowledgement_after_it() -> None:
    def entry(seconds: float, text: str) -> TimelineEntry:
        return TimelineEntry(NOW + timedelta(seconds=seconds), text)

    def taken(acknowledged: float, *timeline: TimelineEntry) -> float | None:
        at = NOW + timedelta(seconds=acknowledged)
        return replace(ALARM, acknowledged_at=at, timeline=timeline).seconds_to_acknowledge

    raised, lapsed = entry(0, "raised"), entry(310, "acknowledgement expired")
    assert taken(15, raised) == 15, "the fault began 3 min before the raise"
    assert taken(15, raised, entry(15.5, "acknowledged")) == 15
    assert taken(330, raised, entry(10, "acknowledged"), lapsed, entry(331, "acknowledged")) == 10
    assert taken(75, raised, entry(10, "acknowledged"), entry(60, "raised"), entry(75, "acknowledged")) == 15
    assert taken(15) is None
    assert replace(ALARM, timeline=(raised,)).seconds_to_acknowledge is None


@pytest.mark.parametrize("changes", [{}, {"note": "cable ordered"}, {"state": AlarmState.SHELVED, "reason": "known"}])
def test_what_people_wrote_and_what_to_do_are_read_in_the_lowest_panel(changes: dict[str, Any]) -> None:
    """Six lines within a frame at 80x24."""
    shown = "\n".join(text(replace(ALARM, **changes)).splitlines()[:7])
    assert all(words in shown for words in ("Use a cable.", changes.get("note", ""), changes.get("reason", "")))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"state": AlarmState.ACKNOWLEDGED, "acknowledged_until": NOW + timedelta(seconds=221)}, "03:41 left"),
        ({"state": AlarmState.SHELVED, "shelved_until": NOW + timedelta(seconds=60), "reason": "known"}, "01:00 left"),
        ({"state": AlarmState.SHELVED, "reason": "known"}, "until it clears"),
        ({"state": AlarmState.SUPPRESSED, "parent": "NO_INGEST"}, "NO_INGEST"),
        ({"note": "cable ordered"}, "cable ordered"),
        ({"activations": (NOW, NOW, NOW)}, "3 times in the last 10 min"),
    ],
)
def test_what_was_done_about_it_stands_there(changes: dict[str, Any], words: str) -> None:
    assert words in text(replace(ALARM, **changes))


def test_every_state_has_a_word_and_a_glyph_of_its_own() -> None:
    assert set(ALARM_STATE_BADGES) == set(AlarmState)
    glyphs, words, _ = (set(column) for column in zip(*ALARM_STATE_BADGES.values(), strict=True))
    assert len(glyphs) == len(words) == len(AlarmState)


@pytest.mark.parametrize("state", AlarmState)
def test_nothing_blinks_but_the_sign_of_an_unacknowledged_alarm(state: AlarmState) -> None:
    """interface.md, "Alarms on screen": one cell, the word beside it stays."""
    alarm = replace(ALARM, state=state)
    lit, dark = (plain(alarm_line(alarm, moment, 120)) for moment in (FRESH, DARK))
    assert [one for one, other in zip(lit, dark, strict=True) if one != other] == (
        ["✖"] if state is AlarmState.UNACKNOWLEDGED else []
    )


@pytest.mark.parametrize("cells", [80, 120, 200])
def test_a_line_of_a_cleared_alarm_says_so_before_its_values(cells: int) -> None:
    text = plain(alarm_line(replace(ALARM, state=AlarmState.RETURNED), FRESH, cells))
    assert f"{ALARM.kind}  cleared, not acknowledged" in text
    assert len(text) <= cells


@pytest.mark.parametrize("cells", [40, 60, 120])
def test_an_alarm_in_a_pane_says_what_a_person_made_of_it(cells: int) -> None:
    """Never by blinking alone: each state that stands in the pane reads otherwise."""
    shown = {
        alarm_state: "\n".join(plain(line) for line in alarm_lines(replace(ALARM, state=alarm_state), FRESH, cells))
        for alarm_state in (AlarmState.UNACKNOWLEDGED, AlarmState.ACKNOWLEDGED, AlarmState.RETURNED)
    }
    words = {AlarmState.ACKNOWLEDGED: "acknowledged", AlarmState.RETURNED: "cleared, not acknowledged"}
    for alarm_state, lines in shown.items():
        others = [word for other, word in words.items() if other is not alarm_state]
        own = words.get(alarm_state, "")
        assert own in lines
        assert ALARM.kind in lines
        assert not any(word in (lines.replace(own, "") if own else lines) for word in others)


def test_only_what_awaits_a_person_counts_as_critical() -> None:
    assert ALARMS.is_critical(ALARM)
    assert not ALARMS.is_critical(replace(ALARM, state=AlarmState.SHELVED))
    assert not ALARMS.is_critical(replace(ALARM, severity=Severity.WARNING))


RECORDS = (
    view.LoggedAction(
        ActionRecord(
            NOW,
            "event.edit",
            "event",
            "one",
            "Choir",
            AuditOutcome.NOT_APPLIED,
            "answer lost",
            (FieldChange("name", "A", "B"),),
        ),
        "anna@regie",
    ),
    LinkRecord(NOW, ConnectionState.BLIND, ConnectionProblem.NO_ANSWER, "cannot be reached"),
    Notice(NOW, Severity.WARNING, "said so"),
)


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (RECORDS[0], ("not applied", "event.edit", "Choir", "answer lost", "by anna@regie", "name: A -> B")),
        (RECORDS[1], ("blind", "NO REPLY", "cannot be reached")),
        (RECORDS[2], ("WARN", "said so")),
    ],
    ids=["action", "link", "notice"],
)
def test_a_log_line_says_when_what_and_to_what(record: view.LogRecord, words: tuple[str, ...]) -> None:
    line = plain(view.log_line(record, EVENING))
    assert "20 Nov 21:00:00Z" in line
    for word in words:
        assert word in line


async def test_the_cause_of_the_row_at_the_cursor_of_the_connection_log_is_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cause = f"the network works: the platform answers 503 (list events: the platform failed {'again ' * 20}and again)"
    async with running((80, 24), "7", "left_square_bracket") as (deck, pilot):
        screen = deck.screen
        assert isinstance(screen, AlarmsScreen)
        record = LinkRecord(NOW, ConnectionState.BLIND, ConnectionProblem.PLATFORM_FAILING, cause)
        monkeypatch.setattr(screen, "_log", (record,))
        monkeypatch.setattr(screen, "_update_log", lambda _: None)
        screen.refresh_all()
        await pilot.pause()
        assert f"{NOW:%H:%M:%S}Z {cause}" in " ".join(letters_of(deck).split())


def test_the_newest_stands_first() -> None:
    later = Notice(NOW + timedelta(seconds=1), Severity.INFO, "later")
    assert view.newest_first([*RECORDS, later])[0] is later


SECTIONS = {
    AlarmState.UNACKNOWLEDGED: Section.NEW,
    AlarmState.ACKNOWLEDGED: Section.ACKNOWLEDGED,
    AlarmState.RETURNED: Section.CLEARED,
}


def test_the_board_has_a_section_for_what_is_unread_read_over_and_quiet_and_no_empty_one() -> None:
    """interface.md, "Alarms on screen"."""
    alarms = tuple(replace(ALARM, target=state, state=state) for state in AlarmState)
    active, quiet = [alarm for alarm in alarms if alarm.active], [alarm for alarm in alarms if not alarm.active]
    silence = Silenced("s", NOW + timedelta(hours=2), "encoder swap", "anna@regie:1")
    active.append(replace(ALARM, target="silenced", silenced=silence))
    snapshot = Snapshot(1, NOW, LINK, alarms=tuple(active), quiet=tuple(quiet))
    rows = board_alarms(snapshot)
    assert [section(alarm) for alarm in rows] == [*list(Section)[:4], *[Section.QUIET] * len(quiet)]
    others = [alarm for alarm in rows if not alarm.silenced]
    assert all(section(alarm) is SECTIONS.get(alarm.state, Section.QUIET) for alarm in others)
    heads = section_heads(rows)
    assert [row for row, _ in heads] == [0, 1, 2, 3, 4]
    assert [plain(line).split("  ")[0].strip() for _, line in heads] == [*Section]
    assert [row for row, _ in section_heads(rows[1:2])] == [0]


def test_an_incident_names_its_events() -> None:
    alarm = replace(ALARM, affects=("one", "gone"))
    snapshot = Snapshot(1, NOW, LINK, events=(state(),))
    assert affected_names(alarm, snapshot) == "Choir, gone"
    shown = "\n".join(plain(line) for line in view.panel_lines(alarm, snapshot, FRESH, 90, 12))
    assert "Choir, gone" in shown


def test_it_is_clear_since_the_last_fault_ended_and_what_is_only_to_be_known_was_none() -> None:
    """The last end of a fault, how many there were today, the longest."""
    loss, other, note = (
        Episode("PACKET_LOSS", severity, "", NOW - timedelta(minutes=ago), NOW - timedelta(minutes=ago - 2), "", "")
        for severity, ago in ((Severity.CRITICAL, 40), (Severity.WARNING, 20), (Severity.INFO, 10))
    )
    quiet = Snapshot(1, NOW, LINK, events=(replace(state(), episodes=(loss, other, note)),))
    assert hour.clear_text(quiet, FRESH) == "✓ All clear since 20:42:00Z. 2 faults today, longest 02:00."
    one = replace(quiet, events=(replace(state(), episodes=(loss,)),))
    assert hour.clear_text(one, FRESH) == "✓ All clear since 20:22:00Z. 1 fault today, longest 02:00."
    none = replace(quiet, events=(replace(state(), episodes=(note,)),))
    assert hour.clear_text(none, FRESH) == "✓ No open alarms, and none in the last 5 min"
    began, present = (plain(line) for line in hour.hour_lines(quiet, FRESH, 73)[1:])
    assert began.count("▂") == 2
    assert present.count("▂") >= 6


async def test_the_board_leads_through_its_logs_and_to_the_event() -> None:
    async with running() as (deck, pilot):
        deck.announce("something was said")
        await act(pilot, "screen.alarms")
        screen = deck.screen
        assert isinstance(screen, AlarmsScreen)
        first = screen.alarm_at_cursor()
        assert first == known(deck).alarms[0]
        await act(pilot, "row.down")
        assert screen.alarm_at_cursor() == known(deck).alarms[1]
        for tab in (*TABS[1:], TABS[0]):
            await act(pilot, "log.next")
            assert f"[{tab}]" in text_of(deck)
        await act(pilot, "log.previous")
        assert "No history is kept" in text_of(deck)
        deck.dispatch("log.next", "notices")
        await pilot.pause()
        await pilot.pause()
        assert "something was said" in text_of(deck)
        deck.dispatch("log.next", "gossip")
        await pilot.pause()
        assert "there is no log gossip" in text_of(deck)
        await act(pilot, "screen.events")
        await act(pilot, "screen.alarms")
        assert "[board]" in text_of(deck)
        await act(pilot, "log.next")
        await act(pilot, "screen.alarms")
        assert "[board]" in text_of(deck)
        await act(pilot, "row.open")
        assert (deck.current_mode, getattr(deck.selected_event(), "id", "")) == ("qos", known(deck).alarms[1].event_id)


async def test_an_unchanged_log_keeps_its_incidents_and_the_drawn_pane() -> None:
    history = await History.open(None, EVENING)
    async with running((80, 24), "7", history=history) as (deck, pilot):
        raised = AlarmChange(EVENING, AlarmTransition.RAISED, replace(ALARM, since=EVENING, changed=EVENING))
        await history.append(replace(known(deck), changes=(raised,)))
        await history.flush()
        deck.dispatch("log.next", "incidents")
        seen = []
        for step in range(3):
            if step:
                deck.snapshot = replace(known(deck), seq=known(deck).seq + 1)
                deck.snapshot_signal.publish(None)
            await pilot.pause()
            for worker in [worker for worker in deck.workers if worker.group == "log"]:
                await worker.wait()
            await pilot.pause()
            screen = deck.screen
            assert isinstance(screen, AlarmsScreen)
            (incident,) = screen.listing(known(deck)).rows
            panel = screen.query_one("#incident", FramedPanel)
            seen.append((incident, panel.draw(panel.size.width, panel.size.height)))
        assert len({id(incident) for incident, _ in seen}) == 1
        assert len({id(lines) for _, lines in seen}) == 1
        assert "PACKET_LOSS" in text_of(deck)
    await history.close()


async def open_incidents(deck: Deck, pilot: Pilot[int], history: History, alarms: Iterable[Alarm]) -> None:
    """Show the incidents of these alarms, which are raised and recorded."""
    raised = (replace(alarm, timeline=()) for alarm in alarms)
    changes = tuple(AlarmChange(alarm.since, AlarmTransition.RAISED, alarm) for alarm in raised)
    await history.append(replace(known(deck), changes=changes))
    await history.flush()
    deck.dispatch("log.next", "incidents")
    await pilot.pause()
    for worker in [worker for worker in deck.workers if worker.group == "log"]:
        await worker.wait()
    await pilot.pause()


async def test_a_large_screen_shows_every_incident_and_below_the_thread_the_advice_and_the_chart() -> None:
    history = await History.open(None, EVENING)
    async with running((200, 60), "7", history=history) as (deck, pilot):
        await open_incidents(deck, pilot, history, known(deck).alarms)
        screen = deck.screen
        assert isinstance(screen, AlarmsScreen)
        assert len(screen.listing(known(deck)).rows) > 4
        assert "more" not in letters_of(deck)
        assert "last hour" in letters_of(deck)
        area = screen.query_one("#incident").region
        pane = letters_of(deck).splitlines()[area.y : area.bottom]
        assert {"timeline", "do", "viewers"} <= {line.strip("│ ").split("  ")[0] for line in pane}
        assert any("■ video" in line for line in pane)
    await history.close()


@pytest.mark.parametrize("size", [(80, 24), (120, 33), (120, 34), (200, 60)])
async def test_the_pane_of_an_incident_has_a_third_of_the_screen_and_the_lines_that_no_row_needs(
    size: tuple[int, int],
) -> None:
    history, height = await History.open(None, EVENING), size[1]
    async with running(size, "7", history=history) as (deck, pilot):
        screen = deck.screen
        table, pane, alarms = (screen.query_one(name) for name in ("#incidents", "#incident", "#alarms"))
        least = max(MIN_PANEL_LINES, height // 3)
        for rows in (3, height):
            raised = [replace(ALARM, event_id=str(row), since=EVENING, changed=EVENING) for row in range(rows)]
            await open_incidents(deck, pilot, history, raised)
            if rows < height:
                assert table.size.height == rows + 1
                assert pane.size.height > least
            else:
                assert pane.size.height == least
            assert pane.region.bottom == alarms.region.y
            assert screen.max_scroll_y == 0
    await history.close()


async def test_the_cursor_follows_the_alarm_and_a_flood_is_called_one() -> None:
    async with running((120, 40), "7") as (deck, pilot):
        await act(pilot, "row.down")
        screen = deck.screen
        assert isinstance(screen, AlarmsScreen)
        before = screen.alarm_at_cursor()
        await show(deck, pilot, alarms=tuple(reversed(known(deck).alarms)), flood=True)
        assert screen.alarm_at_cursor() == before
        assert "ALARM FLOOD" in text_of(deck)


async def test_the_panel_has_the_room_that_the_rows_leave_and_no_more() -> None:
    async with running((80, 24), "7") as (deck, pilot):
        panel = deck.screen.query_one("#alarm")
        assert panel.region.bottom == 23
        await show(deck, pilot, alarms=(), quiet=())
        await pilot.pause()
        assert panel.region.bottom == 23
        assert deck.screen.max_scroll_y == 0


async def test_enter_on_the_question_of_the_unit_lets_a_person_answer_it() -> None:
    async with running((120, 40), "7") as (deck, pilot):
        asked = replace(ALARM, event_id="", kind="UNIT_UNKNOWN", subject="platform", severity=Severity.WARNING)
        await show(deck, pilot, alarms=(asked,), quiet=())
        await act(pilot, "row.first", "row.open")
        await pilot.pause()
        await pilot.pause()
        text = text_of(deck)
        assert "The platform counts bit rates in" in text
        assert "kbit/s: an HD picture has 2000 to 8000" in text

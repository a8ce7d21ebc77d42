"""Dialogs to read, on a terminal of any size: recent changes, and the handover."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from collector.attached import Attached
from livedeck.cli.screenshots import EVENING
from livedeck.collector.attached.link import CollectorError
from livedeck.collector.attached.reads import RemoteHistory
from livedeck.collector.serving.past import routes
from livedeck.monitor import Episode, History, IngestState, NotWatched, Severity, Snapshot
from livedeck.monitor.model.own import OwnState, Why
from livedeck.monitor.model.span import Span
from livedeck.presentation.last_changes import Changes
from livedeck.presentation.render_time import RenderTime
from livedeck.report.handover import handover_lines, read_handover
from livedeck.text.segments import plain
from livedeck.ui.events.changes import ChangesDialog
from livedeck.ui.general.handover import HandoverDialog
from livedeck.ui.kit.dialogs.reading import RENEWED_EACH
from livedeck.ui.kit.lines import LinesWidget
from ui.deck_stage import deck_stage
from ui.stage import act, known, letters_of, linked, running, show

SIZES = ((80, 24), (120, 40), (200, 60))


def changes_of(snapshot: Snapshot, seconds: float) -> tuple[list[str], list[str]]:
    """Return the changes of the last seconds and those before as text."""
    recent, earlier = Changes().recent(snapshot, RenderTime.from_snapshot(snapshot, EVENING), 200, seconds)
    return [plain(line) for line in recent], [plain(line) for line in earlier]


async def test_every_open_alarm_is_among_the_changes_by_its_onset() -> None:
    async with running() as (deck, _):
        alarms = (*known(deck).alarms, *known(deck).quiet)
        assert {"RECONNECTING", "LATE_START"} <= {alarm.kind for alarm in alarms}
        for seconds in (60.0, 100.0, 300.0, 7200.0):
            recent, earlier = changes_of(known(deck), seconds)
            for alarm in alarms:
                is_recent = (EVENING - alarm.since).total_seconds() <= seconds
                onset = f"{alarm.since:%H:%M:%S}"
                found = [
                    row for row in (recent if is_recent else earlier) if row.startswith(onset) and alarm.kind in row
                ]
                assert len(found) == 1, (alarm.kind, seconds)


async def test_a_fault_with_an_episode_is_one_change_and_its_end_another() -> None:
    async with running() as (deck, _):
        snapshot = known(deck)
        alarm = next(alarm for alarm in snapshot.alarms if alarm.kind == "RECONNECTING")
        state = snapshot.find(alarm.event_id)
        assert state is not None
        episode = Episode(alarm.kind, Severity.CRITICAL, "", alarm.since, None, "", "")
        events = tuple(replace(state, episodes=(episode,)) if other is state else other for other in snapshot.events)
        recent, _ = changes_of(replace(snapshot, events=events), 300.0)
        assert sum(alarm.kind in row for row in recent) == 1
        ended = replace(alarm, cleared_at=alarm.since + timedelta(seconds=30), present=False)
        quiet = replace(snapshot, alarms=tuple(ended if other is alarm else other for other in snapshot.alarms))
        rows = [row for row in changes_of(quiet, 300.0)[0] if alarm.kind in row]
        assert [row[9] for row in rows] == ["✓", "✖"]


@pytest.mark.parametrize("size", SIZES)
async def test_the_changes_say_what_is_not_known(size: tuple[int, int]) -> None:
    async with running(size) as (deck, pilot):
        await act(pilot, "app.changes")
        assert isinstance(deck.screen, ChangesDialog)
        assert "In the last 5 min" in letters_of(deck)
        assert "measuring" not in letters_of(deck)
        first, *others = known(deck).events
        unknown = replace(first.phase, ingest=replace(first.phase.ingest, state=IngestState.UNKNOWN))
        await show(deck, pilot, events=(replace(first, phase=unknown), *others))
        assert "measuring: not every event is judged yet" in letters_of(deck)
        await show(deck, pilot, link=linked(deck, as_of=EVENING - timedelta(minutes=9)))
        assert "nothing is known after 21:05:07Z" in letters_of(deck)
        assert "Changes until 21:05:07Z" in letters_of(deck)
        await show(deck, pilot, link=linked(deck, as_of=EVENING), events=(), alarms=(), quiet=(), ended=())
        assert "No change seen" in letters_of(deck)
        assert "Changes until 21:14:07Z" in letters_of(deck)
        assert "not watched" not in letters_of(deck)
        stops = tuple(
            NotWatched(EVENING - timedelta(minutes=begin), EVENING - timedelta(minutes=end), Why.SLEPT)
            for begin, end in ((40, 30), (4.5, 3), (3.5, 2))
        )
        qos = replace(first.qos, not_watched=(Span(EVENING.timestamp() - 60, EVENING.timestamp() - 40),))
        await show(deck, pilot, events=(replace(first, qos=qos),), link=linked(deck, own=OwnState(stops)))
        lines = map(plain, deck.screen.query_one("#reading", LinesWidget).content)
        assert [line for line in lines if "not watched" in line] == [
            "╱ not watched 21:13:07Z to 21:13:27Z",
            "╱ not watched 21:09:37Z to 21:12:07Z",
        ]
        await pilot.press("escape")
        assert not isinstance(deck.screen, ChangesDialog)


async def test_a_sheet_that_is_longer_than_the_screen_says_how_to_close_it() -> None:
    async with running((80, 24)) as (deck, pilot):
        await act(pilot, "app.changes")
        assert len(deck.screen.query_one("#reading", LinesWidget).content) > 24
        assert "esc closes" in letters_of(deck).splitlines()[-1]


@pytest.mark.parametrize("size", SIZES)
async def test_the_deck_shows_the_sheet_of_the_command_and_copies_it(size: tuple[int, int], tmp_path: Path) -> None:
    history = await History.open(tmp_path / "history", EVENING)
    async with deck_stage(size, history=history) as stage:
        stage.choose("Lecture 7")
        await stage.act("alarm.ack")
        await stage.idle()
        await stage.act("app.handover")
        assert isinstance(stage.deck.screen, HandoverDialog)
        await stage.until(lambda: "ON AIR" in stage.text() and "One moment" not in stage.text())
        sheet = await read_handover(history, EVENING)
        shown = " ".join(plain(line) for line in stage.deck.screen.query_one("#reading", LinesWidget).content)
        for line in [*handover_lines(sheet, stage.deck.screen.cells)][1:]:
            assert line in shown
        assert "acknowledged by " in shown
        await stage.press("y")
        await stage.until(lambda: stage.last_notice() == "handover copied")
        await stage.press("escape")
        stage.deck.dispatch("past.go", f"{EVENING:%Y-%m-%dT%H:%M:%SZ}")
        await stage.done()
        await stage.act("app.handover")
        assert "is about the present, and you are viewing the past" in stage.last_notice()
    await history.close()


async def test_without_a_record_the_deck_shows_no_sheet() -> None:
    """An empty sheet says that nothing is on air."""
    history = await History.open(None, EVENING)
    async with deck_stage((80, 24)) as stage:
        stage.deck.records = history
        await stage.act("app.handover")
        await stage.until(lambda: "Nothing was recorded in the last 24 h" in stage.text())
        assert "nothing is on air" not in stage.text()
    await history.close()


class Leaving(Attached):
    """Deck whose collector answers a limited number of questions."""

    left = 1000

    async def get(self, path: str, query: str = "") -> dict[str, Any]:
        self.left -= 1
        if self.left < 0:
            raise CollectorError("the collector does not respond")
        return await super().get(path, query)


@pytest.mark.parametrize("answered", [0, 2])
async def test_of_a_history_that_cannot_be_read_the_deck_shows_no_sheet(answered: int, tmp_path: Path) -> None:
    """After the first sheet the collector is silent: the old sheet stays, and the reason is above it."""
    history = await History.open(tmp_path / "history", EVENING)
    async with deck_stage((100, 60), history=history) as stage:
        collector = Leaving(routes(history, stage.clock.now))
        collector.left = answered
        stage.deck.records = RemoteHistory(collector)
        await stage.act("app.handover")
        await stage.until(lambda: "One moment" not in stage.text())
        assert "▲ The history could not be read: the collector does not respond" in stage.text()
        for claim in ("Nothing was recorded", "nothing is on air", "no open alarms"):
            assert claim not in stage.text()

        collector.left = 1000
        stage.clock.tick += RENEWED_EACH
        stage.deck.snapshot_signal.publish(None)
        await stage.until(lambda: "OPEN ALARMS" in stage.text())
        assert "could not be read" not in stage.text()
        assert isinstance(stage.deck.screen, HandoverDialog)
        before = stage.deck.screen.query_one("#reading", LinesWidget).content

        collector.left = answered
        stage.clock.tick += RENEWED_EACH
        stage.deck.snapshot_signal.publish(None)
        await stage.until(lambda: "could not be read" in stage.text())
        after = stage.deck.screen.query_one("#reading", LinesWidget).content
        assert after[-len(before) :] == before
    await history.close()


async def test_a_reading_that_takes_long_is_not_begun_again(tmp_path: Path) -> None:
    history = await History.open(tmp_path / "history", EVENING)
    async with deck_stage((100, 60), history=history) as stage:
        records = Held(routes(history, stage.clock.now))
        stage.deck.records = RemoteHistory(records)
        await stage.act("app.handover")
        for _ in range(3):
            stage.clock.tick += RENEWED_EACH
            stage.deck.snapshot_signal.publish(None)
            await stage.settle()
        assert records.begun == 1
        records.go_on.set()
        await stage.until(lambda: "OPEN ALARMS" in stage.text())
    await history.close()


class Held(Attached):
    """Deck whose collector replies once `go_on` is set."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.begun, self.go_on = 0, asyncio.Event()

    async def get(self, path: str, query: str = "") -> dict[str, Any]:
        self.begun += 1
        await self.go_on.wait()
        return await super().get(path, query)

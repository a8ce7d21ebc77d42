"""The deck in the past: marked on every screen, equal to the screen of that time, and without changes."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from livedeck.cli.screenshots import EVENING
from livedeck.monitor import BroadcastState, History, Playback, Readings
from livedeck.ui.app import Deck
from livedeck.ui.kit.dialogs.choice import PromptScreen
from livedeck.ui.shell.keymap import action_text
from ui.deck_stage import Stage, deck_stage
from ui.stage import REGISTRY, text_of
from ui.test_past_streams import DAY, SHOW_STARTS, past_state, settled

WRITING = [action for action in REGISTRY.actions if action.writes or action.is_for_now]


@asynccontextmanager
async def stage_with_past(path: Path, size: tuple[int, int] = (120, 40)) -> AsyncIterator[Stage]:
    """Yield a deck whose history has its first snapshots."""
    history = await History.open(path, EVENING)
    async with deck_stage(size, history=history) as stage:
        await history.flush()
        yield stage
    await history.close()


def body(rows: Sequence[str]) -> list[str]:
    """Return the rows of a screen without its header, its keys, and the row that marks the past.

    Addresses are removed with all text after them, because the past does not have them.
    """
    return [ADDRESS.sub("", row).rstrip() for row in rows[1:-1] if "◀◀ PAST" not in row]


ADDRESS = re.compile(r"(?<=ingest )\S+ *|(?<=play   )\S+ *| enabled .*")


async def compare(stage: Stage, screens: Sequence[str]) -> None:
    """Show these screens now, and then in the past, and compare them cell by cell.

    The past has one more row, which marks it.
    """
    shown = {}
    for key in screens:
        await stage.press(key)
        await stage.steady()
        shown[key] = stage.rows()
        assert "PAST" not in stage.text()
    stage.deck.dispatch("past.go", f"{EVENING:%Y-%m-%dT%H:%M:%SZ}")
    await stage.done()
    width, height = stage.deck.size
    await stage.pilot.resize_terminal(width, height + 1)
    for key in screens:
        await stage.press(key)
        await stage.steady()
        assert f"PAST {EVENING:%a %Y-%m-%d %H:%M:%S}Z ‖ paused" in stage.text()
        assert " PAST " in stage.text().splitlines()[0]
        assert body(stage.rows()) == body(shown[key]), key
    await stage.pilot.resize_terminal(width, height)
    await stage.press("backspace")
    await stage.done()
    await stage.steady()
    assert stage.rows() == shown[screens[-1]], "what is now is there at once"


async def test_a_screen_in_the_past_says_so_and_shows_what_it_showed(tmp_path: Path) -> None:
    async with stage_with_past(tmp_path / "history") as stage:
        await compare(stage, ("1",))


@pytest.mark.slow
@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_every_screen_in_the_past_says_so_and_shows_what_it_showed(size: tuple[int, int], tmp_path: Path) -> None:
    async with stage_with_past(tmp_path / "history", size) as stage:
        await compare(stage, ("2", "3", "4", "7", "1"))


async def test_nothing_is_done_in_the_past_by_whatever_key_or_command(tmp_path: Path) -> None:
    async with stage_with_past(tmp_path / "history") as stage:
        stage.deck.dispatch("past.go", f"{EVENING:%Y-%m-%dT%H:%M:%SZ}")
        await stage.done()
        assert stage.deck.past is not None
        stage.requests.clear()
        before = len(stage.deck.preferences.notices)
        for action in WRITING:
            stage.deck.dispatch(action.name, "x" if action.takes else "")
            await stage.done()
            assert stage.last_notice() == "You are viewing the past, which cannot be changed"
        assert len(stage.deck.preferences.notices) == before + len(WRITING)
        assert not stage.requests


async def test_the_keys_of_the_past_are_refused_now_and_say_why(tmp_path: Path) -> None:
    async with stage_with_past(tmp_path / "history") as stage:
        for name in ("past.now", "past.play", "past.faster", "past.before", "past.after"):
            stage.deck.dispatch(name)
            assert (
                stage.last_notice()
                == f"{action_text(REGISTRY.by_name[name], REGISTRY)} works only in the past; T goes there"
            )
        stage.deck.dispatch("past.go", f"{EVENING - timedelta(days=1):%Y-%m-%dT%H:%M:%SZ}")
        await stage.done()
        assert "the history begins at" in stage.last_notice()
        stage.deck.dispatch("past.go", "soon")
        await stage.done()
        assert "soon is not a time" in stage.last_notice()
        assert stage.deck.past is None


async def test_the_footer_offers_in_the_past_what_does_something_there(tmp_path: Path) -> None:
    async with stage_with_past(tmp_path / "history") as stage:
        await go_to(stage, EVENING)
        await stage.steady()
        footer = stage.text().splitlines()[-1]
        assert " ".join(footer.split()).startswith("R play backspace now * faster ( before ) after T go to")
        shown = REGISTRY.past_footer(stage.deck)
        assert shown
        assert not set(shown) & set(WRITING)
        await stage.press("backspace")
        await stage.done()
        await stage.steady()
        assert "n new" in stage.text().splitlines()[-1]


async def test_a_moment_takes_an_enter_says_why_it_is_refused_and_is_left_by_escape(tmp_path: Path) -> None:
    async with stage_with_past(tmp_path / "history") as stage:
        await stage.press("T", *"soon", "enter")
        assert "that is not a time" in stage.text()
        await stage.press("escape")
        assert not isinstance(stage.deck.screen, PromptScreen)
        assert "PAST" not in stage.text()

        await stage.press("T")
        await stage.enter(f"{EVENING - timedelta(days=1):%Y-%m-%d %H:%MZ}")
        await stage.press("enter")
        await stage.until(lambda: "the history begins at" in stage.text())
        await stage.press("escape")
        assert not isinstance(stage.deck.screen, PromptScreen)

        await stage.press("T", *"-15m")
        typed_at = stage.deck.machine_time()
        stage.clock.late = timedelta(minutes=15)
        await stage.press("enter")
        await stage.done()
        assert stage.deck.past
        assert stage.deck.past.moment >= typed_at, "it is meant as enter is pressed"


async def test_the_past_is_played_stopped_and_stepped_through(tmp_path: Path) -> None:
    async with stage_with_past(tmp_path / "history") as stage:
        stage.deck.dispatch("past.go", f"{EVENING:%Y-%m-%dT%H:%M:%SZ}")
        await stage.done()
        for key, pace in (("R", "▶ 1x"), ("asterisk", "▶ 4x"), ("asterisk", "▶ 15x"), ("R", "‖ paused")):
            await stage.press(key)
            assert pace in stage.text()
        await stage.press("right_parenthesis")
        await stage.done()
        assert stage.last_notice() == "nothing is recorded after this moment"


async def test_earlier_streams_open_in_the_past_and_none_of_later(tmp_path: Path) -> None:
    """The stream of the day before is opened, and that of a completed event opens by itself; back at now, and at
    another time, what was opened is closed."""
    async with stage_with_past(tmp_path / "history") as stage:
        deck = stage.deck
        snapshot, shown, history = deck.snapshot, deck.selected_event(), deck.history
        assert snapshot
        assert shown
        assert history
        old = past_state(shown, SHOW_STARTS - DAY, 1e6, "stream-yesterday")
        phase = replace(shown.phase, tally=BroadcastState.COMPLETED)
        over = replace(old, phase=phase, qos=replace(old.qos, readings=Readings(), as_of=None))
        then = EVENING + timedelta(seconds=20)
        others = tuple(state for state in snapshot.events if state.id != shown.id)
        await history.append(replace(snapshot, at=SHOW_STARTS - DAY + timedelta(hours=2), events=(old,), alarms=()))
        await history.append(replace(snapshot, seq=snapshot.seq + 1, at=then, events=(over, *others), alarms=()))
        await history.flush()
        stage.clock.late = timedelta(minutes=1)
        deck.select_event(shown.id)
        await stage.press("3")

        await go_to(stage, EVENING)
        await stage.press("pageup")
        await loaded(stage)
        assert "yesterday's stream" in stage.text()
        assert "1.00 Mbit/s" in stage.text()

        await go_to(stage, then)
        await loaded(stage)
        assert "yesterday's stream" in stage.text(), "it is over, and its last stream is shown"

        await go_to(stage, EVENING)
        await loaded(stage)
        assert "yesterday's stream" not in stage.text(), "it was on air"
        await stage.press("pageup")
        await loaded(stage)
        await stage.press("backspace")
        await loaded(stage)
        assert "yesterday's stream" not in stage.text()


async def go_to(stage: Stage, moment: datetime) -> None:
    stage.deck.dispatch("past.go", f"{moment:%Y-%m-%dT%H:%M:%SZ}")
    await stage.done()


async def loaded(stage: Stage) -> None:
    """Wait until nothing is read from the history any more."""
    await settled(stage.deck, stage.pilot)


async def test_a_recording_says_that_it_is_none_of_now(tmp_path: Path) -> None:
    path = tmp_path / "gala.livedeck"
    async with stage_with_past(path) as stage:
        played = await Playback.open(path, stage.clock)
        deck = Deck(played, played.clock, profile=path.name, host="", read_only=True, past=played, log_file=path)
        async with deck.run_test(size=(80, 24)) as pilot:
            await pilot.pause()
            text = " ".join(re.sub(r"<[^>]*>", " ", text_of(deck)).split())
            assert f"RECORDING {played.moment:%a %Y-%m-%d %H:%M:%S}Z ‖ paused gala.livedeck" in text
            assert "backspace" not in text
            assert "R play" in text
            await pilot.press("backspace")
            await pilot.pause()
            assert "a recording has no present" in text_of(deck)
        await played.close()

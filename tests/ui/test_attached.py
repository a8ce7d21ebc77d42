"""Screens of a deck that is attached to a collector: each state is on the first line, at every size."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import replace
from datetime import UTC, timedelta
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from livedeck.cli.screenshots import ATTACHED, EVENING, alone, attached, silent, still_deck
from livedeck.monitor import (
    AlarmKey,
    AlarmRefused,
    AlarmState,
    AttachedFeed,
    AttachmentState,
    Explanation,
    Monitor,
    Severity,
    Snapshot,
)
from livedeck.monitor.model.explanation import OpenAlarm
from livedeck.presentation.render_time import RenderTime
from livedeck.text.segments import StyleRole, plain
from livedeck.ui.app import Deck
from livedeck.ui.shell.frame import Footer
from livedeck.ui.shell.screen import BaseScreen
from livedeck.ui.wallboard import header
from livedeck.ui.wallboard.cache import DrawCache
from livedeck.ui.wallboard.glyphs import LARGE, PLAIN
from livedeck.ui.wallboard.layout import Wall
from livedeck.ui.wallboard.model import WallModel, wall_model
from livedeck.ui.wallboard.page import page
from ui.stage import REGISTRY, act, known, look, running, show, steady, text_of

SIZES = ((80, 24), (120, 40), (200, 60))
STATES = {name.removeprefix("collector-"): change for name, change in ATTACHED.items()}


async def give(deck: Deck, pilot: Any, snapshot: Snapshot) -> None:
    if not isinstance(deck.monitor, AttachedFeed):
        deck.monitor = Remote(deck)
    deck.snapshot = snapshot
    await show(deck, pilot)


@pytest.mark.parametrize("state", STATES)
async def test_a_deck_tells_both_links_at_every_size(picture: SnapshotAssertion, state: str) -> None:
    async with running(SIZES[0]) as (deck, pilot):
        await give(deck, pilot, STATES[state](known(deck)))
        for columns, rows in SIZES:
            await pilot.resize_terminal(columns, rows)
            assert await steady(deck, pilot) == picture(name=f"{columns}x{rows}")


async def test_the_board_tells_what_is_not_shared_and_the_connection_each_part_of_the_way(
    picture: SnapshotAssertion,
) -> None:
    async with running(SIZES[1], "7") as (deck, pilot):
        whole = known(deck)
        await give(deck, pilot, alone(whole))
        assert await steady(deck, pilot) == picture(name="board")
        await pilot.press("left_square_bracket")
        assert await steady(deck, pilot) == picture(name="connection")
        for state, words in {
            "silent": ("platform ← collector", "? unknown", "collector ← deck", "COLLECTOR SILENT"),
            "watching": ("platform ← collector", "✓ link ok", "this clock is 3 s ahead"),
        }.items():
            await give(deck, pilot, STATES[state](whole))
            assert [word for word in words if word not in text_of(deck)] == []


@pytest.mark.parametrize("state", [None, AttachmentState.WATCHING, AttachmentState.ALONE])
async def test_a_still_camera_is_declared_where_its_samples_are_judged(
    state: AttachmentState | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(SIZES[2]) as (deck, pilot):
        deck.workers.cancel_all()
        deck.snapshot = replace(known(deck), attachment=attached(state, 60) if state else None)
        explain = deck.monitor.explain

        async def of_a_still_picture(event_id: str, kind: str = "") -> Explanation | None:
            found, key = await explain(event_id, kind), AlarmKey(event_id, "PICTURE_STILL")
            alarm = OpenAlarm(key, Severity.WARNING, AlarmState.UNACKNOWLEDGED, EVENING, "", "", "")
            return found and replace(found, open=(alarm,), content="show")

        monkeypatch.setattr(deck.monitor, "explain", of_a_still_picture)
        await act(pilot, "alarm.why")
        for worker in [worker for worker in deck.workers if worker.group == "reading"]:
            await worker.wait()
        await pilot.pause()
        assert "event content" in text_of(deck)
        assert ("collector's settings" in text_of(deck)) is (state is AttachmentState.WATCHING)


@pytest.mark.parametrize(
    ("state", "header", "waits_for"),
    [
        (AttachmentState.LISTING, "attaching to collector", "collector"),
        (AttachmentState.REFUSED, "COLLECTOR REFUSES", "collector"),
        (AttachmentState.ALONE, "POLLING ALONE", "platform"),
    ],
)
async def test_before_the_first_answer_a_deck_says_whose_it_waits_for(
    state: AttachmentState, header: str, waits_for: str
) -> None:
    async with running(SIZES[1]) as (deck, pilot):
        link = replace(known(deck).link, as_of=None)
        await give(deck, pilot, replace(known(deck), events=(), link=link, attachment=attached(state, 3)))
        assert header in text_of(deck)
        assert f"Waiting for the first reply from the {waits_for}." in text_of(deck)


class Remote(Monitor):
    """Feed whose commands are those of an attached deck, and whose other methods and state are the monitor's."""

    def __init__(self, deck: Deck, *, can_poll: bool = True) -> None:
        self.__dict__ = vars(deck.monitor)
        self.can_poll, self.done = can_poll, list[str]()

    def poll_alone(self) -> None:
        if known_to_be_heard := self.done.count("heard"):
            raise AlarmRefused(f"not needed: the collector responds, and polls for this deck ({known_to_be_heard})")
        self.done.append("alone")

    def attach_again(self) -> None:
        self.done.append("attached")


async def test_one_key_polls_alone_and_goes_back_and_the_banner_names_it() -> None:
    async with running((80, 24)) as (deck, pilot):
        whole = known(deck)
        await act(pilot, "collector.alone")
        assert "works only in an attached deck" in deck.preferences.notices[-1].text
        remote = deck.monitor = Remote(deck)
        assert isinstance(remote, AttachedFeed)
        await give(deck, pilot, silent(whole))
        assert "@ polls alone" in text_of(deck)
        await act(pilot, "collector.alone")
        await give(deck, pilot, alone(whole))
        assert "@ goes back" in text_of(deck)
        await act(pilot, "collector.alone")
        assert remote.done == ["alone", "attached"]
        remote.done.append("heard")
        await give(deck, pilot, STATES["watching"](whole))
        await act(pilot, "collector.alone")
        assert "the collector responds, and polls" in deck.preferences.notices[-1].text
        deck.monitor = Remote(deck, can_poll=False)
        await give(deck, pilot, silent(whole))
        assert "polls alone" not in text_of(deck)


def of_read_token(snapshot: Snapshot) -> Snapshot:
    """Return the snapshot as from a collector that lets this deck only read."""
    return replace(snapshot, attachment=attached(AttachmentState.WATCHING, 600, actor="wall", may="read"))


@pytest.mark.parametrize(
    ("state", "owner", "may", "is_offered"),
    [
        (AttachmentState.WATCHING, "anna", "act", True),
        (AttachmentState.WATCHING, "bert", "act", False),
        (AttachmentState.WATCHING, "anna", "read", False),
        (AttachmentState.SILENT, "anna", "act", False),
    ],
)
async def test_an_attached_deck_offers_to_take_back_only_acknowledgements_of_its_token(
    state: AttachmentState, owner: str, may: str, *, is_offered: bool
) -> None:
    async with running((120, 40)) as (deck, pilot):
        look(deck)
        await pilot.press("down", "up")
        shown = known(deck)
        chosen = deck.selected_event()
        assert chosen is not None
        given: dict[str, Any] = {"state": AlarmState.ACKNOWLEDGED, "needs_ack": False, "answered_by": "anna"}
        given |= {"answered_at": EVENING, "acknowledged_at": EVENING}
        alarms = tuple(replace(alarm, **given) if alarm.event_id == chosen.id else alarm for alarm in shown.alarms)
        await give(deck, pilot, replace(shown, alarms=alarms, attachment=attached(state, 60, actor=owner, may=may)))
        assert ("take back until 21:19:07Z" in text_of(deck)) is is_offered


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (silent, "needs the collector, which has been silent since 21:13:25Z"),
        (of_read_token, "the token of wall has the right read"),
    ],
)
@pytest.mark.parametrize("screen", ["1", "3", "7"])
async def test_what_cannot_be_answered_is_not_offered_and_says_why(change: Any, words: str, screen: str) -> None:
    """No form opens for what is refused in the end, no alarm is named, and nothing reaches the collector."""
    async with running((120, 40), screen) as (deck, pilot):
        await pilot.press("down")
        whole = known(deck)
        await give(deck, pilot, whole)
        assert (screen == "7") is not (" ack " in footer_of(deck))
        assert drawn(deck, "a")[0] == StyleRole.INFO
        await give(deck, pilot, change(whole))
        assert " ack " not in footer_of(deck)
        assert drawn(deck, "a")[0] == StyleRole.DIM
        before = len(deck.screen_stack)
        for name in ("ack", "shelve", "out_of_service", "note", "undo"):
            await act(pilot, f"alarm.{name}")
            action = REGISTRY.by_name[f"alarm.{name}"]
            assert deck.preferences.notices[-1].text.startswith(f"{action.keys[0]} {action.label} needs")
            assert words in deck.preferences.notices[-1].text
        if screen != "7":
            await act(pilot, "event.content")
            assert words in deck.preferences.notices[-1].text
        assert len(deck.screen_stack) == before
        await give(deck, pilot, alone(whole))
        assert drawn(deck, "a")[0] == StyleRole.INFO


@pytest.mark.parametrize(
    ("state", "refusal"),
    [
        (AttachmentState.LISTING, ""),
        (AttachmentState.WATCHING, ""),
        (AttachmentState.RESUMING, ""),
        (AttachmentState.SILENT, "needs the collector, which has been silent since 21:14:06Z"),
        (AttachmentState.REFUSED, "needs the collector, which refuses this deck"),
        (AttachmentState.ALONE, ""),
    ],
)
def test_why_nothing_can_be_answered_is_said_in_every_state(state: AttachmentState, refusal: str) -> None:
    key = AlarmKey("one", "NO_INGEST")
    assert attached(state, 1).refusal(key) == refusal
    assert attached(state, 1, own=frozenset({key})).refusal(key) == ""


def footer_of(deck: Deck) -> str:
    """Return the words of the footer."""
    (line,) = deck.screen.query_one(Footer).draw(deck.size.width, 1)
    return plain(line)


def drawn(deck: Deck, key: str) -> tuple[Any, ...]:
    """Return the roles in which the footer draws a key."""
    (line,) = deck.screen.query_one(Footer).draw(deck.size.width, 1)
    return tuple(getattr(role, "role", role) for text, role, *_ in line if text == key)


async def test_the_alarm_of_the_deck_itself_is_answered_here() -> None:
    async with running((120, 40), "7") as (deck, pilot):
        whole = silent(known(deck))
        own = replace(whole.alarms[0], event_id="", kind="COLLECTOR_SILENT", subject="collector", target="")
        attachment = whole.attachment and replace(whole.attachment, own=frozenset({own.key}))
        await give(deck, pilot, replace(whole, alarms=(own, *whole.alarms[1:]), attachment=attachment))
        await pilot.press("home")
        assert drawn(deck, "a")[0] == StyleRole.INFO
        look(deck)
        await act(pilot, "alarm.ack")
        assert "needs the collector" not in deck.preferences.notices[-1].text


async def test_leaving_asks_while_an_answer_is_not_shared() -> None:
    async with running((120, 40)) as (deck, pilot):
        await give(deck, pilot, alone(known(deck)))
        await act(pilot, "app.quit")
        assert "Leave before your alarm actions are shared?" in text_of(deck)
        assert "RECONNECTING: handled here while collector.example is silent." in " ".join(text_of(deck).split())


async def test_what_became_of_answers_made_alone_is_told() -> None:
    told = ("NO_INGEST: your action at this deck was refused: this is another fault",)

    class Told(Remote):
        async def snapshots(self) -> AsyncGenerator[Snapshot, None]:
            async for snapshot in super().snapshots():
                yield replace(snapshot, attachment=attached(AttachmentState.WATCHING, 1, outcomes=told))

    async with still_deck() as deck:
        deck.monitor = Told(deck)
        async with deck.run_test(size=(120, 40)) as pilot:
            await pilot.pause()
            assert told[0] in text_of(deck)


@pytest.mark.parametrize(("pace", "is_forgotten"), [("", False), ("x20", True)])
async def test_only_a_rehearsal_that_jumped_back_makes_the_screens_forget(
    monkeypatch: pytest.MonkeyPatch, pace: str, is_forgotten: bool
) -> None:
    """The next collector of a real show may be some seconds behind the last one."""
    forgotten = list[BaseScreen]()

    def note(screen: BaseScreen) -> None:
        forgotten.append(screen)

    class Jumping(Remote):
        async def snapshots(self) -> AsyncGenerator[Snapshot, None]:
            async for snapshot in super().snapshots():
                yield snapshot
                yield replace(snapshot, at=snapshot.at - timedelta(seconds=10))

    monkeypatch.setattr(BaseScreen, "forget", note)
    async with still_deck() as deck:
        deck.monitor = Jumping(deck)
        deck.identity["pace"] = lambda: pace
        async with deck.run_test(size=(120, 40)) as pilot:
            await pilot.pause()
            assert deck.fault == ""
            assert bool(forgotten) is is_forgotten


async def test_a_wall_says_in_large_letters_that_its_collector_is_silent_and_else_who_asked() -> None:
    async with still_deck() as deck:
        snapshot = await anext(deck.monitor.snapshots())
    walls = {name: _model(change(snapshot)) for name, change in STATES.items()}
    assert header.headline(walls["silent"]) == "✖ COLLECTOR SILENT  42 s OLD"
    (doubt,) = (plain(line) for line in header.doubts(walls["silent"], 200, PLAIN))
    assert doubt.startswith(" ✖ COLLECTOR SILENT since 21:13:25Z  refuses connections  data from")
    (doubt,) = (plain(line) for line in header.doubts(walls["alone"], 200, PLAIN))
    assert doubt.startswith(" ▲ POLLING ALONE since 21:13:55Z  1 not yet shared")
    assert [*header.doubts(walls["watching"], 200, PLAIN)] == []
    pages = {name: page(model, Wall(), DrawCache()) for name, model in walls.items()}
    assert pages["silent"].head.banners[0].text == "✖ COLLECTOR SILENT  42 s OLD"
    assert pages["watching"].head.age == "data 0 s ago by collector.example"
    assert pages["alone"].head.age == "data 0 s ago"
    *_, below = header.header(walls["watching"], 240, LARGE, page="", zone=UTC)
    assert "by collector.example" in plain(below)


def _model(snapshot: Snapshot) -> WallModel:
    return wall_model(snapshot, RenderTime.from_snapshot(snapshot, EVENING))

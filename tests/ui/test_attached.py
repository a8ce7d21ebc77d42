"""What a person sees of a deck that is attached to a collector: in each state on the first line, at every size."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from livedeck.cli.screenshots import EVENING, still_deck
from livedeck.monitor import (
    AlarmRefused,
    AlarmState,
    AttachedFeed,
    Attachment,
    AttachmentState,
    ConnectionProblem,
    ConnectionState,
    Snapshot,
)
from livedeck.monitor.detection.health import unseen
from livedeck.ui.app import Deck
from ui.stage import act, known, running, show, steady, text_of

SIZES = ((80, 24), (120, 40), (200, 60))
REASON = "collector.example cannot be reached: connection refused"


def attached(state: AttachmentState, seconds: float, **values: Any) -> Attachment:
    """In that state for so long."""
    return Attachment(state, "collector.example", EVENING - timedelta(seconds=seconds), **values)


def silent(whole: Snapshot) -> Snapshot:
    """As a deck has it 42 s after the collector's last word."""
    since = EVENING - timedelta(seconds=42)
    link = replace(
        whole.link,
        state=ConnectionState.BLIND,
        since=since,
        as_of=since,
        problem=ConnectionProblem.COLLECTOR_SILENT,
        reason=f"the collector is silent since {since:%H:%M:%S}Z",
    )
    attachment = attached(AttachmentState.SILENT, 42, heard_at=since, reason=REASON)
    return replace(whole, link=link, events=tuple(map(unseen, whole.events)), attachment=attachment)


def alone(whole: Snapshot) -> Snapshot:
    """As a deck has it that polls by itself, and where one alarm was answered since."""
    worst, *others = whole.alarms
    answered = replace(
        worst,
        state=AlarmState.ACKNOWLEDGED,
        needs_ack=False,
        answered_by="anna@regie:1",
        answered_at=EVENING - timedelta(seconds=5),
        acknowledged_at=EVENING - timedelta(seconds=5),
        acknowledged_until=EVENING + timedelta(seconds=250),
    )
    heard_at = EVENING - timedelta(seconds=90)
    attachment = attached(AttachmentState.ALONE, 12, heard_at=heard_at, reason=REASON, unshared=(worst.key,))
    return replace(whole, alarms=(answered, *others), attachment=attachment)


STATES: dict[str, Callable[[Snapshot], Snapshot]] = {
    "watching": lambda whole: replace(whole, attachment=attached(AttachmentState.WATCHING, 600, skew=3.0)),
    "silent": silent,
    "alone": alone,
}


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
            "silent": ("platform ← collector", "? not known", "collector ← deck", "COLLECTOR SILENT"),
            "watching": ("platform ← collector", "✓ link ok", "this clock is 3 s ahead"),
        }.items():
            await give(deck, pilot, STATES[state](whole))
            assert [word for word in words if word not in text_of(deck)] == []


class Remote:
    """The commands of an attached feed; the rest is the monitor's."""

    def __init__(self, deck: Deck, *, can_poll: bool = True) -> None:
        self._monitor, self.can_poll, self.done = deck.monitor, can_poll, list[str]()
        self.snapshots = deck.monitor.snapshots

    def __getattr__(self, name: str) -> Any:
        return getattr(self._monitor, name)

    def poll_alone(self) -> None:
        if known_to_be_heard := self.done.count("heard"):
            raise AlarmRefused(f"the collector is heard: it watches for this deck ({known_to_be_heard})")
        self.done.append("alone")

    def attach_again(self) -> None:
        self.done.append("attached")


async def test_one_key_polls_alone_and_goes_back_and_the_banner_names_it() -> None:
    async with running((80, 24)) as (deck, pilot):
        whole = known(deck)
        await act(pilot, "collector.alone")
        assert "is for an attached deck" in deck.preferences.notices[-1].text
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
        assert "the collector is heard" in deck.preferences.notices[-1].text
        deck.monitor = Remote(deck, can_poll=False)
        await give(deck, pilot, silent(whole))
        assert "polls alone" not in text_of(deck)


async def test_what_became_of_answers_made_alone_is_told() -> None:
    told = ("NO_INGEST: what was answered here was not taken: this is another fault",)
    async with still_deck() as deck:
        monitor, remote = deck.monitor, Remote(deck)

        async def snapshots() -> AsyncGenerator[Snapshot, None]:
            async for snapshot in monitor.snapshots():
                yield replace(snapshot, attachment=attached(AttachmentState.WATCHING, 1, told=told))

        remote.snapshots = snapshots
        deck.monitor = remote
        async with deck.run_test(size=(120, 40)) as pilot:
            await pilot.pause()
            assert told[0] in text_of(deck)

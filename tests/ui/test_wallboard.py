"""Golden walls: as text for every size and number of events; as pictures for the themes and for each state.

Renewed as performance.md, "Test run", says; look at each changed file before you keep it.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
import pytest_asyncio
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from livedeck.cli.screenshots import EVENING
from livedeck.client import Unreachable
from livedeck.monitor import BroadcastState, ConnectionState, IngestState, Snapshot
from livedeck.monitor.evidence.blame import Facts, blame, seen
from livedeck.presentation.render_time import RenderTime
from livedeck.text.segments import plain
from livedeck.ui.wallboard.tiles import interruption
from ui.wall_stage import COUNTS, SIZES, evening, lines, many, picture, text

BIG = (160, 45)


class Words(SingleFileSnapshotExtension):
    """Snapshot with one text file for each wall."""

    file_extension = "txt"
    _write_mode = WriteMode.TEXT


class Svg(SingleFileSnapshotExtension):
    """Snapshot with one picture for each wall."""

    file_extension = "svg"
    _write_mode = WriteMode.TEXT


@pytest_asyncio.fixture(scope="module", loop_scope="module", name="known")
async def _known() -> Snapshot:
    return await evening()


def _size(size: tuple[int, int]) -> str:
    return f"{size[0]}x{size[1]}"


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("size", SIZES, ids=_size)
def test_a_wall(snapshot: SnapshotAssertion, known: Snapshot, size: tuple[int, int], count: int) -> None:
    assert text(lines(many(known, count), size)) == snapshot.use_extension(Words)


@pytest.mark.parametrize("theme", ["dark", "light", "mono"])
@pytest.mark.parametrize("size", SIZES[:2], ids=_size)
def test_an_evening(snapshot: SnapshotAssertion, known: Snapshot, size: tuple[int, int], theme: str) -> None:
    assert picture(known, size, theme=theme) == snapshot.use_extension(Svg)


def _blind(known: Snapshot) -> Snapshot:
    reason = "list events: 127.0.0.1:8787 refuses connections; check the address and port"
    since, as_of = EVENING - timedelta(seconds=41), EVENING - timedelta(seconds=71)
    cause = blame(Facts(failure=seen(Unreachable(reason, "refused", is_connected=False))))
    link = replace(known.link, state=ConnectionState.BLIND, since=since, as_of=as_of, reason=reason, blame=cause)
    return replace(known, link=link)


def _stale(known: Snapshot) -> Snapshot:
    return replace(known, link=replace(known.link, as_of=EVENING - timedelta(seconds=95)))


def _alarm(known: Snapshot) -> Snapshot:
    return many(known, 4)


def _grid(known: Snapshot) -> Snapshot:
    return many(known, 25)


def _dimmed(known: Snapshot) -> Snapshot:
    idle = tuple(state for state in known.events if state.phase.tally is BroadcastState.SCHEDULED)
    return replace(known, events=idle, alarms=())


STATES = {"blind": _blind, "stale": _stale, "alarm": _alarm, "grid": _grid, "dimmed": _dimmed}


@pytest.mark.parametrize("state", STATES)
def test_a_state(snapshot: SnapshotAssertion, known: Snapshot, state: str) -> None:
    assert picture(STATES[state](known), BIG) == snapshot.use_extension(Svg)


def test_a_tile_counts_no_lost_window_on_stale_data(known: Snapshot) -> None:
    state = next(state for state in known.events if state.phase.ingest.state is IngestState.INTERRUPTED)
    seen_now = RenderTime.from_snapshot(known, EVENING)
    assert "left" in plain(interruption(state, seen_now))
    stale = _stale(known)
    assert interruption(state, RenderTime.from_snapshot(stale, EVENING)) == []

"""Cells of events: zero, missing, stale and not applicable never look alike."""

from __future__ import annotations

from array import array
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from math import nan
from typing import Any

import pytest

from livedeck.client import Event
from livedeck.monitor import (
    BroadcastState,
    EventState,
    Freshness,
    Grade,
    Health,
    HealthAssessment,
    Ingest,
    IngestState,
    Phase,
    Proof,
    QosState,
    Readings,
)
from livedeck.monitor.model.state import ENCODER_LOST, ClaimEvidence
from livedeck.presentation import events, table
from livedeck.presentation.alarms import ALARMS
from livedeck.presentation.event_detail import advice_line
from livedeck.presentation.events import EVENTS
from livedeck.presentation.render_time import ChangeStep, RenderTime
from livedeck.text.segments import StyleRole, plain, width
from livedeck.ui.events.view import cockpit_lines

NOW = datetime(2026, 11, 20, 21, 0, tzinfo=UTC)
FRESH = RenderTime(NOW, NOW, stale=False)
STALE = RenderTime(NOW, NOW, stale=True)
AHEAD = RenderTime(NOW, NOW + timedelta(seconds=30), stale=False)


def state(
    tally: BroadcastState = BroadcastState.ON_AIR,
    ingest: IngestState = IngestState.RECEIVING,
    video: float = 4_480_000,
    freshness: Freshness = Freshness.FRESH,
    **event: object,
) -> EventState:
    """Return an event that began ten minutes ago, with one sample."""
    begun = NOW - timedelta(minutes=10)
    time, audio, fps = array("d", [NOW.timestamp()]), array("d", [128_000]), array("d", [30])
    sample = Readings(time, array("d", [video]), audio, fps, array("q", [0]))
    fields = {"id": "one", "name": "Choir", "restreams": [], **event}
    return EventState(
        Event.model_validate(fields),
        NOW,
        Phase(tally, begun, Ingest(ingest, NOW - timedelta(seconds=79))),
        QosState(sample, NOW, freshness, 2.0),
        HealthAssessment(Health(100, Grade.GOOD)),
    )


@pytest.mark.parametrize(
    ("video", "ingest", "freshness", "tally", "text"),
    [
        (0, IngestState.RECEIVING, Freshness.FRESH, BroadcastState.ON_AIR, "0"),
        (nan, IngestState.RECEIVING, Freshness.FRESH, BroadcastState.ON_AIR, "?"),
        (4_480_000, IngestState.RECEIVING, Freshness.STALE, BroadcastState.ON_AIR, "--"),
        (4_480_000, IngestState.INTERRUPTED, Freshness.FRESH, BroadcastState.RECONNECTING, "--"),
        (4_480_000, IngestState.NONE, Freshness.FRESH, BroadcastState.SCHEDULED, "-"),
        (4_480_000, IngestState.RECEIVING, Freshness.LATE, BroadcastState.ON_AIR, "4.48M"),
    ],
)
def test_zero_unknown_no_data_and_not_applicable_look_different(
    video: float, ingest: IngestState, freshness: Freshness, tally: BroadcastState, text: str
) -> None:
    assert plain(events.video(state(tally, ingest, video, freshness), FRESH)) == text


@pytest.mark.parametrize(
    ("tally", "seconds", "text"),
    [
        (BroadcastState.ON_AIR, -600, "00:10:00"),
        (BroadcastState.SCHEDULED, 860, "T-00:14:20"),
        (BroadcastState.LATE, -130, "T+00:02:10"),
        (BroadcastState.SCHEDULED, 91_800, "T-1d 01:30"),
        (BroadcastState.DRAFT, None, "-"),
        (BroadcastState.COMPLETED, -10, "-"),
    ],
)
def test_the_clock_counts_to_the_start_and_from_it(tally: BroadcastState, seconds: float | None, text: str) -> None:
    reference_time = None if seconds is None else NOW + timedelta(seconds=seconds)
    assert events.clock(replace(state(), phase=Phase(tally, reference_time)), FRESH) == text


def test_countdowns_run_on_the_servers_clock() -> None:
    """monitoring.md, "Freshness"."""
    scheduled = replace(state(), phase=Phase(BroadcastState.SCHEDULED, NOW + timedelta(seconds=60)))
    assert events.clock(scheduled, AHEAD) == "T-00:00:30"


def test_an_interruption_says_for_how_long() -> None:
    assert plain(events.ingest(state(BroadcastState.RECONNECTING, IngestState.INTERRUPTED), FRESH)) == "lost 01:19"


def test_health_on_stale_data_is_never_a_number() -> None:
    text = plain(events.health(state(), STALE))
    assert "STALE" in text
    assert not any(char.isdigit() for char in text)


@pytest.mark.parametrize("tally", BroadcastState)
def test_every_tally_has_a_word_and_a_glyph_and_is_off_on_stale_data(tally: BroadcastState) -> None:
    fresh, stale = events.tally(state(tally), FRESH), events.tally(state(tally), STALE)
    assert plain(fresh).split()[1:] == plain(stale).split()[1:]
    assert ({role for _, role in stale}, width(fresh), width(stale)) == ({StyleRole.STALE}, 10, 10)


def test_a_change_is_told_beside_the_lamp_until_a_list_shows_it() -> None:
    """trust.md, "Verdicts": what is not confirmed is never called changed."""
    draft = state(BroadcastState.DRAFT, IngestState.NONE)

    def word(step: ChangeStep, rendered: EventState = draft) -> str:
        return plain(events.tally(rendered, replace(FRESH, changes={draft.id: step}))).strip()

    assert word(ChangeStep()) == "· SENDING"
    assert word(ChangeStep(NOW + timedelta(seconds=1))) == "· CHANGED"
    listed = replace(draft, as_of=NOW + timedelta(seconds=2))
    assert word(ChangeStep(NOW + timedelta(seconds=1)), listed) == "· DRAFT"
    assert "▒" in plain(events.tally(draft, replace(STALE, changes={draft.id: ChangeStep()})))


def test_no_two_tallies_share_glyph_or_word() -> None:
    texts = [plain(events.tally(state(tally), FRESH)) for tally in BroadcastState]
    assert len(set(texts)) == len(BroadcastState)
    assert len({text.split()[0] for text in texts}) == len(BroadcastState)


def test_outputs_count_connected_of_enabled_restreams() -> None:
    restreams = [
        {"enabled": True, "status": "connected"},
        {"enabled": True, "status": "disconnected"},
        {"enabled": False, "status": "disconnected"},
    ]
    assert plain(events.outputs(state(restreams=restreams), FRESH)) == "1/2"
    assert plain(events.outputs(state(BroadcastState.SCHEDULED, restreams=restreams), FRESH)) == "2"
    assert plain(events.outputs(state(), FRESH)) == "-"


@pytest.mark.parametrize("cells", [40, 60, 79, 80, 119, 200, 400])
@pytest.mark.parametrize("name", ["Choir", "Abendmusik 東京 " * 20, "\x1b[31m[red]bold[/]\u202e\n", ""])
def test_a_row_is_as_wide_as_its_head_whatever_the_event_is_called(cells: int, name: str) -> None:
    columns = table.layout(EVENTS.columns, cells)
    line = table.row_line(state(name=name), FRESH, columns)
    assert width(line) == width(table.head_line(columns)) == width(table.head_line(columns, "health", down=True))
    assert not set(plain(line)) & {"\x1b", "\n", "\u202e"}
    assert {"HEALTH", "EVENT", " TALLY"} <= {column.title for column, _ in columns}


@pytest.mark.parametrize("cells", [80, 120, 200, 400])
def test_cells_that_are_left_over_go_to_names_until_those_have_enough(cells: int) -> None:
    """After that the bars of the last minutes take them on the Events screen, and the values on that of alarms."""
    fixed = sum(column.width + table.GAP for column in EVENTS.columns if column.name != "event")
    spark = events.MAX_SPARK_CELLS - events.SPARK_CELLS
    enough = min(events.MAX_NAME_CELLS, cells - fixed - spark - table.GAP)
    assert _name_width(EVENTS, cells) == (enough if cells >= 120 else 19)
    assert (_name_width(ALARMS, cells) == events.MAX_NAME_CELLS) == (cells >= 200)
    columns = table.layout(EVENTS.columns, cells)
    assert sum(size + table.GAP for _, size in columns) == cells


def _name_width(schema: table.TableSchema[Any], cells: int) -> int:
    return next(size for column, size in table.layout(schema.columns, cells) if column.name == "event")


def test_how_late_metrics_come_is_said_where_it_is_more_than_asking_takes() -> None:
    def late(lag: float | None) -> EventState:
        known = state()
        return replace(known, qos=replace(known.qos, lag=lag))

    assert [events.lag_text(late(lag)) for lag in (None, 8.0, 24.4)] == ["", "", "samples up to 24 s late"]
    detail = "\n".join(map(plain, cockpit_lines(late(24.4), FRESH, 200, 20)))
    assert "samples up to 24 s late" in detail


def test_what_was_not_asked_for_yet_is_no_fault() -> None:
    """interface.md, "Signs"."""
    waiting = replace(state(), qos=QosState(), assessment=HealthAssessment(Health(grade=Grade.NO_DATA)))
    for cell in (events.video, events.audio, events.fps, events.health):
        line = cell(waiting, FRESH)
        assert (plain(line).strip(), {role for _, role in line}) == ("·", {StyleRole.DIM})


def test_one_line_counts_how_events_stand_and_drops_the_least_needed() -> None:
    planned = replace(state(), phase=Phase(BroadcastState.SCHEDULED, NOW + timedelta(minutes=14)))
    known = [state(), state(), planned]
    text = plain(events.summary_line(events.summarize(known, FRESH), FRESH, 120))
    assert text.startswith(" ● 2 on air")
    assert "○ 1 planned" in text
    assert "T-00:14:00" in text
    assert "↑ 9.2 Mbit/s in" in text, "video and audio, as on the screen of the streams"
    assert len(plain(events.summary_line(events.summarize(known, FRESH), FRESH, 30))) <= 30
    stale = events.summary_line(events.summarize(known, STALE), STALE, 120)
    assert "3 not up to date" in plain(stale)
    assert not {role for _, role in stale} & {StyleRole.OK, StyleRole.ON_AIR, StyleRole.CRITICAL}


@pytest.mark.parametrize(
    ("other", "rate"),
    [
        (state(), 9_216_000),
        (state(ingest=IngestState.INTERRUPTED, tally=BroadcastState.RECONNECTING), 4_608_000),
        (state(freshness=Freshness.STALE), 0),
        (replace(state(), evidence=ClaimEvidence(ENCODER_LOST, Proof.NOT_YET, "", "")), 0),
    ],
    ids=["known", "known to be gone", "not up to date", "not decided"],
)
def test_the_sum_of_the_rates_is_left_out_while_one_is_not_known(other: EventState, rate: float) -> None:
    assert events.summarize((state(), other), FRESH).arriving == rate


def test_a_late_event_says_that_it_did_not_start() -> None:
    late = replace(state(BroadcastState.LATE, IngestState.NONE), assessment=HealthAssessment())
    assert plain(events.health(late, FRESH)).strip() == "▲ NOT STARTED"


@pytest.mark.parametrize(
    ("statuses", "text"),
    [
        (("connected", "connected"), "All well"),
        (("disconnected", "connected"), "1 of 2 restreams not connected"),
        (("disconnected", "disconnected"), "2 of 2 restreams not connected"),
    ],
)
def test_all_is_not_well_while_a_restream_is_not_connected(statuses: tuple[str, ...], text: str) -> None:
    restreams = [{"id": f"r{index}", "enabled": True, "status": status} for index, status in enumerate(statuses)]
    assert text in plain(advice_line(state(restreams=restreams), FRESH, 80))

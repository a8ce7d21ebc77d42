"""Filter language, as tables of filters and the events that pass them."""

from __future__ import annotations

from array import array
from dataclasses import replace
from math import nan
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livedeck.monitor import BroadcastState, EventState, Freshness, IngestState
from livedeck.presentation.events import EVENTS
from livedeck.presentation.filtering import FilterError, TableView, apply_view, filter_rows, parse
from livedeck.presentation.render_time import RenderTime
from presentation.test_events import FRESH, STALE, state

CHOIR = state(name="Choir, hall B", parent_id="concerts")
CUP = state(BroadcastState.RECONNECTING, IngestState.INTERRUPTED, id="two", name="Cup final")
NEWS = state(BroadcastState.SCHEDULED, IngestState.NONE, freshness=Freshness.NEVER, id="three", name="Evening news")
FIELDS = EVENTS.filter_fields()


def passing(text: str, *events: EventState, render_time: RenderTime = FRESH) -> list[EventState]:
    """Return the events that pass the filter."""
    return list(filter_rows(events, parse(text, FIELDS), EVENTS, render_time))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", "Choir Cup Evening"),
        ("choir", "Choir"),
        ("!choir", "Cup Evening"),
        ("CUP", "Cup"),
        ("tally:air", "Choir"),
        ("!tally:air", "Cup Evening"),
        ("tally:air choir", "Choir"),
        ("tally:air cup", ""),
        ("ingest:lost", "Cup"),
        ("project:concerts", "Choir"),
        ("id=one", "Choir"),
        ("video>4M", "Choir"),
        ("video>4.48M", ""),
        ("video>=4.48M", "Choir"),
        ("video<4.48M", ""),
        ("video<=4.48M", "Choir"),
        ("!video<=4.48M", ""),
        ("audio=128000", "Choir"),
        ("fps<25", ""),
        ("fps<30", ""),
        ("fps<=30", "Choir"),
        ("fps>=30", "Choir"),
        ("fps>30", ""),
        ("health<70", ""),
        ("health>70", "Choir Cup Evening"),
        ("time<0", ""),
        ("'hall b'", "Choir"),
        ('"hall b" tally:air', "Choir"),
    ],
)
def test_a_filter_passes_the_events_that_meet_its_conditions(text: str, names: str) -> None:
    kept = passing(text, CHOIR, CUP, NEWS)
    assert " ".join(str(state.event.name).split(",")[0].split()[0] for state in kept) == names


@pytest.mark.parametrize("text", ["video<1M", "video>1M", "!video<1M", "!video>1M"])
def test_an_unknown_value_meets_no_comparison(text: str) -> None:
    """monitoring.md, "Freshness": zero is not missing."""
    assert not passing(text, NEWS)


@pytest.mark.parametrize("name", ["video", "audio", "fps"])
def test_a_rate_that_the_newest_sample_lacks_is_unknown(name: str) -> None:
    changes: dict[str, Any] = {name: array("d", [nan])}
    without = replace(CHOIR, qos=replace(CHOIR.qos, readings=replace(CHOIR.qos.readings, **changes)))
    assert not passing(f"{name}>0", without)
    assert apply_view(EVENTS, (without, CHOIR), TableView(sort=name), FRESH).rows == (CHOIR, without)


def test_a_stale_score_meets_no_comparison() -> None:
    assert not passing("health>0", CHOIR, render_time=STALE)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("heatlh<70", "no field 'heatlh'; did you mean: health"),
        ("health<abc", "health< needs a number, not 'abc'"),
        ("health<", "health< needs a number"),
        ("tally:", "tally: needs a word"),
        ("'open", "a quote is not closed"),
        ("zzz:1", "no field 'zzz'; fields: alarm"),
    ],
)
def test_an_invalid_filter_is_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(FilterError) as error:
        parse(text, FIELDS)
    assert reason in str(error.value)


@given(st.text(max_size=30))
def test_any_text_is_a_filter_or_is_refused(text: str) -> None:
    try:
        kept = passing(text, CHOIR)
    except FilterError:
        return
    assert kept in ([CHOIR], [])


@pytest.mark.parametrize("down", [False, True])
@pytest.mark.parametrize("name", EVENTS.sortable_columns())
def test_every_column_sorts_with_unknown_values_last(name: str, down: bool) -> None:
    sorted_rows = apply_view(EVENTS, (CHOIR, CUP, NEWS), TableView(sort=name, down=down), FRESH).rows
    values = [FIELDS[name](row, FRESH) for row in sorted_rows]
    assert sorted(map(EVENTS.key, sorted_rows)) == sorted(map(EVENTS.key, (CHOIR, CUP, NEWS)))
    assert values == [value for value in values if value is not None] + [None] * values.count(None)


def test_a_filter_kept_from_another_version_hides_nothing() -> None:
    filtered = apply_view(EVENTS, (CHOIR, CUP), TableView(filter="vanished:field", sort="vanished"), FRESH)
    assert filtered.rows == (CHOIR, CUP)


def test_rows_of_equal_value_are_in_the_order_of_their_names_with_numbers_by_value() -> None:
    rows = [
        replace(CHOIR, event=CHOIR.event.model_copy(update={"name": f"Hall {n}", "id": f"{n}"})) for n in (10, 9, 2)
    ]
    for down in (False, True):
        shown = apply_view(EVENTS, rows, TableView(sort="tally", down=down), FRESH).rows
        assert [row.event.name for row in shown] == ["Hall 2", "Hall 9", "Hall 10"]

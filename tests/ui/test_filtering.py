"""The language of filters, as tables of what is typed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livedeck.monitor import BroadcastState, Freshness, IngestState
from livedeck.presentation.events import EVENTS
from livedeck.presentation.filtering import FilterError, TableView, apply_view, matches, parse
from ui.test_cells import FRESH, STALE, state

CHOIR = state(name="Choir, hall B", parent_id="concerts")
CUP = state(BroadcastState.RECONNECTING, IngestState.INTERRUPTED, id="two", name="Cup final")
NEWS = state(BroadcastState.SCHEDULED, IngestState.NONE, freshness=Freshness.NEVER, id="three", name="Evening news")
FIELDS = EVENTS.said()


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
        ("audio=128000", "Choir"),
        ("fps<25", ""),
        ("health<70", ""),
        ("health>70", "Choir Cup Evening"),
        ("time<0", ""),
        ("'hall b'", "Choir"),
        ('"hall b" tally:air', "Choir"),
    ],
)
def test_a_filter_lets_through_what_it_says(text: str, names: str) -> None:
    terms = parse(text, FIELDS)
    kept = [one for one in (CHOIR, CUP, NEWS) if matches(terms, one, FRESH, FIELDS, EVENTS.text(one))]
    assert " ".join(str(one.event.name).split(",")[0].split()[0] for one in kept) == names


@pytest.mark.parametrize("text", ["video<1M", "video>1M", "!video<1M", "!video>1M"])
def test_what_is_not_known_meets_no_comparison(text: str) -> None:
    """monitoring.md: zero is not missing."""
    assert not matches(parse(text, FIELDS), NEWS, FRESH, FIELDS, "")


def test_a_score_that_is_stale_meets_no_comparison() -> None:
    assert not matches(parse("health>0", FIELDS), CHOIR, STALE, FIELDS, "")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("heatlh<70", "no field 'heatlh'; near it: health"),
        ("health<abc", "health< needs a number, 'abc' is none"),
        ("health<", "health< needs a number"),
        ("tally:", "tally: needs a word"),
        ("'open", "a quote is not closed"),
        ("zzz:1", "no field 'zzz'; there are: alarm"),
    ],
)
def test_what_is_no_filter_says_why(text: str, why: str) -> None:
    with pytest.raises(FilterError) as fault:
        parse(text, FIELDS)
    assert why in str(fault.value)


@given(st.text(max_size=30))
def test_whatever_is_typed_is_a_filter_or_says_why(text: str) -> None:
    try:
        terms = parse(text, FIELDS)
    except FilterError:
        return
    assert matches(terms, CHOIR, FRESH, FIELDS, EVENTS.text(CHOIR)) in {True, False}


@pytest.mark.parametrize("down", [False, True])
@pytest.mark.parametrize("name", EVENTS.sortable())
def test_every_column_sorts_and_what_is_not_known_comes_last(name: str, down: bool) -> None:
    known = apply_view(EVENTS, (CHOIR, CUP, NEWS), TableView(sort=name, down=down), FRESH)
    values = [FIELDS[name](one, FRESH) for one in known.rows]
    assert sorted(map(EVENTS.key, known.rows)) == sorted(map(EVENTS.key, (CHOIR, CUP, NEWS)))
    assert values == [value for value in values if value is not None] + [None] * values.count(None)


def test_a_filter_kept_from_another_version_hides_nothing() -> None:
    known = apply_view(EVENTS, (CHOIR, CUP), TableView(filter="vanished:field", sort="vanished"), FRESH)
    assert known.rows == (CHOIR, CUP)

"""Data between collectors decodes to what was encoded, and anything else is refused."""

from __future__ import annotations

from array import array
from datetime import UTC, datetime
from math import nan
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livedeck.client import QosSamples
from livedeck.collector.engine.packets import Row, decode_answer, decode_row, encode_answer, encode_row
from livedeck.monitor import (
    ActionKind,
    AlarmAction,
    AlarmKey,
    BitrateUnit,
    Content,
    FieldChange,
    IntentRecord,
    ProfileChoice,
    Severity,
    SharedAnswer,
    UnitChoice,
    UsualMark,
    ViewerState,
)
from monitor.probing import seen

AT = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)
_NUMBERS = st.floats(-(2**53), 2**53) | st.just(nan)
_TIMES = st.floats(0, 4e9)


@given(rows=st.lists(st.tuples(_TIMES, _NUMBERS, _NUMBERS, _NUMBERS, st.integers(-1, 9))))
def test_samples_come_out_as_they_went_in(rows: list[tuple[float, float, float, float, int]]) -> None:
    columns = [array("d", [row[place] for row in rows]) for place in range(4)]
    status = array("q", [row[4] for row in rows])
    samples = QosSamples(columns[0], columns[1], columns[2], columns[3], status, {}, 2, {"status": 1})
    answer = decode_answer("event", encode_answer(SharedAnswer("event", "stream", samples), 5_000), 7_500)
    assert (answer.event_id, answer.stream_id, answer.age) == ("event", "stream", 2.5)
    after = answer.samples
    assert [repr(column) for column in (after.time, after.bitrate_video, after.bitrate_audio, after.frame_rate)] == [
        repr(column) for column in columns
    ]
    assert (after.status, after.dropped, dict(after.unreadable)) == (status, 2, {"status": 1})


def through(viewer: ViewerState) -> ViewerState | None:
    """Return the state of a probe after it was encoded and decoded."""
    return decode_answer("e", encode_answer(SharedAnswer("e", "s", QosSamples(), viewer=viewer), 0), 0).viewer


def test_what_viewers_get_comes_out_as_it_went_in() -> None:
    state = seen(0, missing=("segment 7",), peaks=(-6.0, -7.5), loudness=-21.5, image="ab", image_at=AT)
    assert through(state) == state
    assert decode_answer("e", encode_answer(SharedAnswer("e", "s", QosSamples()), 0), 0).viewer is None


@pytest.mark.parametrize(
    "odd",
    [
        {"latency": 1e300},
        {"as_of": AT.replace(year=1970)},
        {"as_of": AT.replace(tzinfo=None)},
        {"error": "x" * 3000},
        {"peaks": (nan,)},
    ],
)
def test_an_odd_state_of_a_probe_is_dropped_and_the_samples_are_not(odd: dict[str, Any]) -> None:
    assert through(seen(0, **odd)) is None


@pytest.mark.parametrize(
    "row",
    [
        AlarmAction(
            "u", AlarmKey("e", "NO_INGEST", "t"), AT, ActionKind.SHELVE, AT, "anna@regie:1", Severity.WARNING, 2
        ),
        AlarmAction("v", AlarmKey("", "X"), AT, ActionKind.NOTE, AT, "a@b:1", Severity.INFO, until=AT, reason="why"),
        UsualMark(AT, "e", "s", 12.001, "anna@regie:1"),
        ProfileChoice(AT, "e", Content.RADIO, "anna@regie:1"),
        ProfileChoice(AT, "e", None, "anna@regie:1"),
        UnitChoice(AT, BitrateUnit.KBIT, "livedeck", "platform.example"),
        IntentRecord("i", AT, "event.complete", "complete", "event", "e", "Show", "anna", "regie", 1),
    ],
)
def test_a_row_comes_out_as_it_went_in_and_has_one_uid(row: Row) -> None:
    uid, text = encode_row(row)
    assert decode_row(text) == row
    assert encode_row(decode_row(text)) == (uid, text)


def test_what_an_intent_would_change_stays_where_it_is() -> None:
    change = FieldChange("name", "before", "after")
    row = IntentRecord("i", AT, "event.edit", "edit", "event", "e", "Show", "anna", "regie", 1, (change,))
    assert "after" not in encode_row(row)[1]


ONE = array("d", [1.0])
ANSWER = encode_answer(SharedAnswer("e", "s", QosSamples(ONE, ONE, ONE, ONE, array("q", [0]))), 0)
DEEP = "[" * 100_000


@pytest.mark.parametrize(
    "body",
    [
        *["", "{}", "[]", "null", "{", DEEP, '{"stream":"s","at":0,"t":[1],"v":[],"a":[],"f":[],"s":[]}'],
        *[
            ANSWER.replace(f'"{name}":[1.0]', f'"{name}":[{value}]')
            for name in "tvaf"
            for value in ("1e999", "NaN", "1e17", '"1"', "[1]")
        ],
        ANSWER.replace('"s":[0]', '"s":[99999999999999999999]'),
        ANSWER.replace('"s":[0]', '"s":[9007199254740993]'),
        ANSWER.replace('"dropped":0', '"dropped":99999999999999999999'),
        ANSWER.replace('"stream":"s"', '"stream":"\\ud800"'),
        ANSWER.replace('"at":0', '"at":1e999'),
        ANSWER.replace('"t":[1.0]', '"t":[-1.0]'),
    ],
)
def test_what_is_no_answer_is_refused(body: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  of JSON or of ours
        decode_answer("event", body, 0)


_, MARK = encode_row(UsualMark(AT, "e", "s", 12.0, "a@b:1"))
_, NOTE = encode_row(
    AlarmAction("v", AlarmKey("e", "X"), AT, ActionKind.NOTE, AT, "a@b:1", Severity.INFO, 3, until=AT, reason="why")
)


@pytest.mark.parametrize(
    "text",
    [
        *["", "{}", "null", DEEP, '{"kind":"Monitor","row":{}}', '{"kind":"UsualMark","row":{}}'],
        *[
            row.replace("2026-03-01T12:00:00.123456Z", at)
            for row in (MARK, NOTE)
            for at in ("2026-03-01T12:00:00", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z")
        ],
        *[MARK.replace("12.0", number) for number in ("1e999", "NaN", "1e300")],
        NOTE.replace('"stage": 3', '"stage": 99999999999999999999'),
        NOTE.replace("why", "\\ud800"),
    ],
)
def test_what_is_no_row_is_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  of JSON or of ours
        decode_row(text)

"""Objects as a table, as CSV and as fields: every width, every kind of value."""

from __future__ import annotations

import csv
from io import StringIO
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from livedeck.presentation.rows import MIN_CELLS, SHORT_ID, cell_text, csv_text, detail_lines, picked, table_lines
from livedeck.text.segments import cell_len

COLUMNS = ("id", "name", "stream.status")
TEXTS = st.text(st.characters(codec="utf-8"), max_size=40)
ITEMS = st.lists(
    st.fixed_dictionaries(
        {"id": st.uuids().map(str), "name": TEXTS, "stream": st.fixed_dictionaries({"status": TEXTS})}
    )
)


@given(items=ITEMS, cells=st.integers(0, 200))
def test_a_table_is_no_wider_than_its_room_and_has_a_line_for_each(items: list[dict[str, Any]], cells: int) -> None:
    head, *lines = table_lines(items, COLUMNS, cells)
    least = len(COLUMNS) * MIN_CELLS + 2 * (len(COLUMNS) - 1)
    assert len(lines) == len(items)
    assert all(cell_len(line) <= max(cells, least) for line in (head, *lines))


@given(items=ITEMS)
def test_an_id_that_has_to_be_cut_still_begins_as_it_does(items: list[dict[str, Any]]) -> None:
    for line, item in zip(table_lines(items, COLUMNS, 40)[1:], items, strict=True):
        assert line.startswith(item["id"][: MIN_CELLS - 3]) or item["id"].startswith(line[:SHORT_ID].strip())


@given(items=ITEMS)
def test_a_csv_reads_back_as_it_was_written(items: list[dict[str, Any]]) -> None:
    head, *rows = csv.reader(StringIO(csv_text(items, COLUMNS), newline=""))
    assert tuple(head) == COLUMNS
    assert rows == [[item["id"], item["name"], item["stream"]["status"]] for item in items]


def test_values_in_words() -> None:
    values = [None, "", True, False, 3, [], ["720p", "1080p"], [{"id": 1}], "2026-11-22T22:34:41.281000Z"]
    words = ["-", "-", "yes", "no", "3", "none", "720p 1080p", "1", "2026-11-22 22:34Z"]
    assert [cell_text(value) for value in values] == words


def test_an_object_is_a_line_for_each_field_and_nothing_else_where_some_are_picked() -> None:
    item = {"id": "a", "scheduled": {"time": None}, "record": {}}
    assert [line.split()[0] for line in detail_lines(item)] == ["id", "scheduled.time", "record"]
    assert picked(item, ("scheduled.time", "id")) == {"scheduled.time": None, "id": "a"}
    assert picked(item, ()) == item

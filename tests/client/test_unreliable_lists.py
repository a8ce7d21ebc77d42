"""Lists that change or misstate themselves while they are read (platform-api.md, "Lists" and "Response envelope")."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from urllib.parse import parse_qs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from client.answers import Platform, api_of, listening
from client.test_transport import api_at
from livedeck.client import Page, collect
from livedeck.client.resources.pages import MAX_UNANNOUNCED, PagedItems
from trials import trials


def page_of(ids: Sequence[str], **pagination: object) -> bytes:
    """Return a reply with these rows and this pagination."""
    body = json.dumps({"meta": {"pagination": pagination}, "data": [{"id": each} for each in ids]}).encode()
    return b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)


async def ids_of(*answers: bytes) -> tuple[list[str], int]:
    """Return the ids from iterating over the events, and the number of requested pages."""
    async with listening(*answers) as (address, heads), api_at(address) as api:
        return [event.id async for event in api.events.iterate()], len(heads)


async def test_rows_made_meanwhile_push_others_on_and_none_comes_twice() -> None:
    """Two new events on top: the last two of the first page come again on the second."""
    ids, _ = await ids_of(
        page_of(["c", "b", "a"], page=1, per_page=3, total=5),
        page_of(["b", "a", "z"], page=2, per_page=3, total=7),
        page_of(["y"], page=3, per_page=3, total=7),
    )
    assert ids == ["c", "b", "a", "z", "y"]


async def test_rows_deleted_meanwhile_do_not_end_the_list_early() -> None:
    ids, _ = await ids_of(
        page_of(["f", "e", "d"], page=1, per_page=3, total=6),
        page_of(["b", "a"], page=2, per_page=3, total=5),
        page_of([], page=3, per_page=3, total=5),
    )
    assert ids == ["f", "e", "d", "b", "a"]


@pytest.mark.parametrize("total", [0, 1, 3, 4])
async def test_a_total_that_is_capped_or_too_low_hides_no_row(total: int) -> None:
    """Some platforms count only up to a limit."""
    ids, _ = await ids_of(
        page_of(["a", "b", "c"], page=1, per_page=3, total=total),
        page_of(["d", "e", "f"], page=2, per_page=3, total=total),
        page_of(["g"], page=3, per_page=3, total=total),
        page_of([], page=4, per_page=3, total=total),
    )
    assert ids == ["a", "b", "c", "d", "e", "f", "g"]


@pytest.mark.parametrize("total", [5, 10**9, "many", None, -1])
async def test_a_total_that_is_too_high_or_none_ends_at_the_page_without_rows(total: object) -> None:
    """The client cannot tell whether it missed a row, so it reads the list again, which is empty then."""
    ids, pages = await ids_of(
        page_of(["a", "b", "c"], page=1, total=total),
        page_of(["d"], page=2, total=total),
        page_of([], page=3, total=total),
    )
    assert (ids, pages) == (["a", "b", "c", "d"], 4)


@pytest.mark.parametrize("stated", [1, 2, None])
async def test_a_page_that_repeats_exactly_ends_the_list(stated: int | None) -> None:
    """A platform that ignores `page`, whatever it says the number of the page is: asked twice, as rows may be new."""
    ids, pages = await ids_of(
        page_of(["a", "b"], page=1, per_page=2, total=100), page_of(["a", "b"], page=stated, per_page=2, total=100)
    )
    assert (ids, pages) == (["a", "b"], 4)


async def test_an_answer_that_says_nothing_of_pages_ends_at_its_repetition() -> None:
    ids, pages = await ids_of(page_of(["a", "b"]))
    assert (ids, pages) == (["a", "b"], 2)


async def test_a_page_that_repeats_as_rows_were_made_meanwhile_does_not_end_the_list() -> None:
    """Exactly a page's worth of new events on top: the second page is the first one again."""
    ids, _ = await ids_of(
        page_of(["b", "a"], page=1, per_page=2, total=4),
        page_of(["b", "a"], page=2, per_page=2, total=6),
        page_of(["d", "c"], page=1, per_page=2, total=6),
        page_of(["b", "a"], page=2, per_page=2, total=6),
        page_of(["z", "y"], page=3, per_page=2, total=6),
        page_of([], page=4, per_page=2, total=6),
    )
    assert ids == ["b", "a", "d", "c", "z", "y"]


async def test_rows_that_cannot_be_read_are_counted_once_though_their_page_repeats() -> None:
    body = json.dumps({"data": [{"id": "a"}, {"name": "B"}, 7]}).encode()
    answer = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
    async with listening(answer) as (address, heads), api_at(address) as api:
        events = api.events.iterate()
        assert [event.id async for event in events] == ["a"]
    assert [fault.field for fault in events.unreadable] == ["data[1]", "data[2]"]
    assert len(heads) == 2


async def test_two_pages_in_turn_end_the_list_too() -> None:
    ids, pages = await ids_of(page_of(["a", "b"]), page_of(["c", "d"]), page_of(["a", "b"]))
    assert (ids, pages) == (["a", "b", "c", "d"], 3)


@dataclass(frozen=True)
class Row:
    """Row that is cheap to make."""

    id: str


def rows_of(page: int, size: int) -> tuple[Row, ...]:
    return tuple(Row(f"r{number}") for number in range((page - 1) * size, page * size))


@pytest.mark.parametrize("total", [None, 0, 500])
async def test_a_list_without_end_ends_by_its_length_and_is_not_complete(total: int | None) -> None:
    """New rows on every page, for ever: bounded (by a million, if nobody says otherwise)."""

    async def fetch(number: int) -> Page[Row]:
        return Page(rows_of(number, 100), number, 100, total)

    async def fetch_few(number: int) -> Page[Row]:
        return Page(rows_of(number, 1), number, 100, total)

    for fetched, limit, kept in ((fetch, 1000, 1100), (fetch_few, 60_000, 601)):
        rows = PagedItems(fetched, max_unannounced=limit)
        assert len(await collect(rows)) == kept
        assert (rows.is_complete, rows.missing) == (False, None)
    assert MAX_UNANNOUNCED == 1_000_000


async def test_an_honest_list_has_no_limit() -> None:
    """A hundred thousand rows on a thousand pages, far more than a list without a total may have."""

    async def fetch(number: int) -> Page[Row]:
        return Page(rows_of(number, 100) if number <= 1000 else (), number, 100, 100_000)

    for limit in (1000, MAX_UNANNOUNCED):
        rows = PagedItems(fetch, max_unannounced=limit)
        assert len(await collect(rows)) == 100_000
        assert (rows.is_complete, rows.missing) == (True, 0)


Change = Callable[[list[str]], None]


@dataclass
class ChangingList:
    """List that changes after some of its replies. `total`: total that it states; None for none.

    `size`: actual rows of a page; `per_page`: rows of a page that it states. `changes`: number of a reply -> change
    after it.
    """

    ids: list[str]
    size: int
    per_page: int
    total: Callable[[int], int | None]
    changes: Mapping[int, Change]
    asked: int = 0

    def answer(self, _path: str, query: str) -> tuple[int, bytes, Mapping[str, str]]:
        """Return the requested page, then change the list."""
        page, total = int(parse_qs(query)["page"][0]), self.total(len(self.ids))
        rows = [{"id": row} for row in self.ids[(page - 1) * self.size : page * self.size]]
        pagination = {"page": page, "per_page": self.per_page} | ({} if total is None else {"total": total})
        self.asked += 1
        if self.asked in self.changes:
            self.changes[self.asked](self.ids)
        return 200, json.dumps({"meta": {"pagination": pagination}, "data": rows}).encode(), {}


def change(deleted: Sequence[int], inserted: Sequence[int]) -> Change:
    """Delete the rows at some places and insert new ones at others; a place after the end is the last."""

    def apply(ids: list[str]) -> None:
        for place in deleted:
            if ids:
                del ids[place % len(ids)]
        for place in inserted:
            ids.insert(min(place, len(ids)), f"new{next(_numbers)}")

    return apply


_numbers = count()
places = st.lists(st.integers(0, 12), max_size=7)
changes = st.dictionaries(st.integers(1, 8), st.builds(change, places, places), max_size=2)
totals = st.sampled_from([None, 0, 1, 5, 10**6]).map(lambda stated: lambda _rows: stated)


async def ids_of_changing(listed: ChangingList) -> list[str]:
    """Return the result of iterating over the events."""
    async with api_of(Platform(listed.answer)) as api:
        return [event.id async for event in api.events.iterate()]


@trials(200)
@given(st.integers(0, 12), st.integers(1, 5), totals, changes)
async def test_whatever_happens_between_two_pages_every_row_that_was_there_all_along_comes_once(
    rows: int, size: int, total: Callable[[int], int | None], changes: Mapping[int, Change]
) -> None:
    """Rows are made and deleted anywhere, the total is wrong or none, pages are of the platform's own size."""
    listed = ChangingList([f"old{number}" for number in range(rows)], size, size, total, changes)
    before = set(listed.ids)
    ids = await ids_of_changing(listed)
    assert len(ids) == len(set(ids))
    assert before & set(listed.ids) <= set(ids)
    assert listed.asked <= 8 * (rows + 30)


@trials(100)
@given(st.integers(0, 12), st.integers(1, 5), st.integers(1, 4), places, st.booleans())
async def test_under_an_honest_total_rows_made_or_deleted_hide_none_and_a_quiet_list_is_read_once(
    rows: int, size: int, after: int, where: Sequence[int], is_made: bool
) -> None:
    happens = change((), where) if is_made else change(where, ())
    listed = ChangingList([f"old{number}" for number in range(rows)], size, 100, lambda rows: rows, {after: happens})
    before = set(listed.ids)
    ids = await ids_of_changing(listed)
    assert len(ids) == len(set(ids))
    assert before & set(listed.ids) <= set(ids)
    listed.asked = -1000  # nothing happens any more
    await ids_of_changing(listed)
    assert listed.asked + 1000 <= len(listed.ids) // size + 2

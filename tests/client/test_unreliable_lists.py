"""Lists that change or misstate themselves while they are read (platform-api.md, "Lists" and "Response envelope")."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence

import pytest

from client.answers import listening
from client.test_transport import api_at
from livedeck.client import Event, Page, Unreadable
from livedeck.client.resources.base import PagedItems


def page_of(ids: Sequence[str], **pagination: object) -> bytes:
    """The answer that holds these rows, and says that of itself."""
    body = json.dumps({"meta": {"pagination": pagination}, "data": [{"id": each} for each in ids]}).encode()
    return b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)


async def ids_of(*answers: bytes) -> tuple[list[str], int]:
    """The ids that iterating over the events gives, and how many pages were asked for."""
    async with listening(*answers) as (address, heads), api_at(address) as api:
        return [event.id async for event in api.events.iterate()], len(heads)


async def note_ids(events: AsyncIterator[Event], ids: list[str]) -> None:
    """Append the id of each as it comes."""
    async for event in events:
        ids.append(event.id)  # noqa: PERF401  what came before an error is to be seen


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
    """As of platforms that count no further than some limit."""
    ids, _ = await ids_of(
        page_of(["a", "b", "c"], page=1, per_page=3, total=total),
        page_of(["d", "e", "f"], page=2, per_page=3, total=total),
        page_of(["g"], page=3, per_page=3, total=total),
        page_of([], page=4, per_page=3, total=total),
    )
    assert ids == ["a", "b", "c", "d", "e", "f", "g"]


@pytest.mark.parametrize("total", [5, 10**9, "many", None, -1])
async def test_a_total_that_is_too_high_or_none_ends_at_the_page_without_rows(total: object) -> None:
    ids, pages = await ids_of(
        page_of(["a", "b", "c"], page=1, total=total),
        page_of(["d"], page=2, total=total),
        page_of([], page=3, total=total),
    )
    assert (ids, pages) == (["a", "b", "c", "d"], 3)


@pytest.mark.parametrize("stated", [1, 2, None])
async def test_a_page_that_repeats_exactly_ends_the_list(stated: int | None) -> None:
    """A platform that ignores `page`, whatever it says the number of the page is."""
    ids, pages = await ids_of(
        page_of(["a", "b"], page=1, per_page=2, total=100), page_of(["a", "b"], page=stated, per_page=2, total=100)
    )
    assert (ids, pages) == (["a", "b"], 2)


async def test_two_pages_in_turn_end_the_list_too() -> None:
    ids, pages = await ids_of(page_of(["a", "b"]), page_of(["c", "d"]), page_of(["a", "b"]))
    assert (ids, pages) == (["a", "b", "c", "d"], 3)


async def test_a_list_without_end_is_given_up() -> None:
    """New rows on every page, for ever: bounded, and what came before is given."""

    async def fetch(number: int) -> Page[Event]:
        return Page((Event(id=f"e{number}"),), number, 1)

    ids: list[str] = []
    with pytest.raises(Unreadable, match="a list has no end: 1,000 items on 1,000 pages"):
        await note_ids(PagedItems(fetch), ids)
    assert ids == [f"e{number}" for number in range(1, 1001)]

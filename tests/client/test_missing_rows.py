"""Announced rows that the platform does not send are counted (commands.md, "Unreadable data")."""

from __future__ import annotations

import pytest

from client.lists import CASES, SIZE, listed, page_body
from client.raw_lists import raw_platform
from client.test_transport import api_at
from livedeck.client import Unreadable


@pytest.mark.parametrize("name", CASES)
async def test_what_is_received_and_what_is_missing_is_said(name: str) -> None:
    case = CASES[name]
    with raw_platform(case.body) as platform:
        async with api_at(platform.address) as api:
            events = api.events.iterate()
            assert (events.is_complete, events.missing) == (False, None), "nothing is known before the end"
            ids = [event.id async for event in events]
    assert len(ids) == len({*ids}) == case.received
    assert (events.is_complete, events.missing) == (case.is_complete, case.missing)
    assert (events.shortfall.text("event") if events.shortfall else "") == (
        "" if case.is_complete else f"{case.words} not received"
    )


@pytest.mark.parametrize(
    ("name", "requests"),
    [
        ("honest", 16),
        ("a page null once", 17),
        ("a page always null", 2 * 17),
        ("ties in another order once", 2 * 16),
        ("ties in another order always", 3 * 16),
        ("page 1 cached", 4),
        ("null", 3),
        ("nothing of 5", 2),
        ("nothing", 1),
    ],
)
async def test_a_lie_costs_a_bounded_number_of_requests(name: str, requests: int) -> None:
    """A null page once more, and the whole list once or twice more."""
    with raw_platform(CASES[name].body) as platform:
        async with api_at(platform.address) as api:
            async for _ in api.events.iterate():
                pass
    assert len(platform.asked) == requests


async def test_every_list_says_so() -> None:
    with raw_platform(listed(replaced={2: [None]})) as platform:
        async with api_at(platform.address) as api:
            for items in (
                api.rooms.iterate(),
                api.posters.iterate("v"),
                api.subtitles.iterate("v"),
                api.annotations.iterate("v"),
                api.events.iterate_videos("e"),
            ):
                assert len([item async for item in items]) == 300 - SIZE
                assert items.missing == SIZE


async def test_a_page_that_is_null_is_no_end_for_those_who_turn_pages() -> None:
    with raw_platform(listed(replaced={2: [None, range(20, 40)], 3: [None]})) as platform:
        async with api_at(platform.address) as api:
            first = await api.events.list()
            second = await first.next()
            assert second is not None
            assert (first.is_null, [event.id for event in second]) == (
                False,
                [f"e{number}" for number in range(20, 40)],
            )
            with pytest.raises(Unreadable, match="page 3 of a list is null, and the list may go on after page 2"):
                await second.next()


async def test_a_page_that_is_null_after_the_last_is_the_end() -> None:
    with raw_platform(listed(replaced={16: [None]})) as platform:
        async with api_at(platform.address) as api:
            assert await (await api.events.list(page=15)).next() is None


async def test_a_page_alone_says_that_it_is_null() -> None:
    with raw_platform(lambda _page, _count: page_body(None)) as platform:
        async with api_at(platform.address) as api:
            page = await api.events.list()
    assert (len(page), page.is_null) == (0, True)

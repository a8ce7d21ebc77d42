"""`event list` reads by id an event that was on air a moment ago and is missing in the list."""

from __future__ import annotations

import pytest

from livedeck.cli.objects.reading import with_unlisted
from livedeck.client import Api
from livedeck.operations.nouns import NOUNS, Rows
from monitor.stage import Stage, event, model
from virtual_clock import VirtualClock


@pytest.mark.parametrize(
    ("listed", "words"),
    [
        ((), "The list is empty, but 1 event is still served; each is shown from its own reply"),
        ((model(),), "The list lacks 1 of 2 events that are still served; each is shown from its own reply"),
    ],
)
async def test_an_event_that_the_list_lacks_is_read_by_its_id(listed: tuple[object, ...], words: str) -> None:
    stage = Stage(VirtualClock(), event())
    stage.hidden = [event("two")]
    async with Api(base_url="http://127.0.0.1", token="token-of-tests", retry=0.0, mount=stage) as api:
        rows = await with_unlisted(api, Rows(listed), ("two", "deleted"))
    assert [item.id for item in rows.items] == [*(item.id for item in Rows(listed).items), "two"]
    assert (rows.unlisted, rows.gaps(NOUNS["event"])) == (("two",), (words,))


async def test_an_event_that_does_not_answer_is_unknown_and_a_listed_one_is_not_asked() -> None:
    stage = Stage(VirtualClock(), event())
    stage.hidden, stage.broken = [event("two")], {"by id"}
    async with Api(base_url="http://127.0.0.1", token="token-of-tests", retry=0.0, mount=stage) as api:
        rows = await with_unlisted(api, Rows((model(),)), ("one", "two"))
    assert rows.gaps(NOUNS["event"]) == ("1 event known to be on air is missing from the list: state unknown",)
    assert {name for _, name in stage.asked} == {"by id two"}

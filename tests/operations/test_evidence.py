"""Evidence of a change whose reply was lost, and reads that only look like evidence."""

from __future__ import annotations

from typing import Any

import pytest

from client.lists import CASES
from client.raw_lists import raw_platform
from livedeck.client import Api, EventDraft, NotFound
from livedeck.monitor import AuditOutcome
from livedeck.operations import events
from livedeck.operations.events import DeleteEvent, EditEvent, EnableEvent, EventView, MoveEvent
from livedeck.operations.executor import NOT_SEEN, SENT_AGAIN
from livedeck.operations.operation import ConfirmLevel, PartialRows, Platform, Verdict, all_rows, newest_rows
from operations.rig import DRAFT, Rig, rig
from operations.samples import SAMPLES, filled


async def edited(platform: Rig, **typed: str) -> EditEvent:
    """Return an edit of the draft by its form."""
    target = await platform.target(DRAFT)
    return EditEvent(target, filled(events.EDIT_FORM, events.edit_entries(target.view.event, None), **typed))


async def lose(platform: Rig, lands: str = "at-once", **options: Any) -> None:
    """Reply 504 to changes from now on."""
    for method in ("POST", "PUT", "PATCH", "DELETE"):
        await platform.fault(kind="late-apply", method=method, lands=lands, status=504, **options)


async def test_a_later_date_of_change_proves_nothing() -> None:
    async with rig() as platform:
        operation = await edited(platform, name="Renamed")
        await lose(platform, "never")
        platform.clock.on_sleep += [
            platform.calm,
            lambda: platform.other.events.update(operation.target.id, EventDraft(reconnect_window=120)),
        ]
        assert (await platform.run(operation)).verdict is Verdict.UNKNOWN
        assert (await platform.event(DRAFT)).updated_at is not None
        await platform.executor.wait_watches()
        assert [result.verdict for result in platform.ports.told] == [Verdict.UNKNOWN, Verdict.UNKNOWN]
        assert platform.ports.told[-1].text.endswith(NOT_SEEN)
        assert platform.clock.monotonic() > 600


async def test_what_was_so_before_proves_nothing_and_is_not_looked_for() -> None:
    async with rig() as platform:
        parents = [event.parent_id for event in (await platform.other.events.list(per_page=100)).items]
        parent = next(parent for parent in parents if parent)
        await platform.other.events.move((await platform.event(DRAFT)).id, parent)
        operation = MoveEvent(await platform.target(DRAFT), parent)
        await lose(platform, "never")
        result = await platform.run(operation)
        assert (result.verdict, result.watched_until) == (Verdict.UNKNOWN, None)
        assert "the values were the same before" in result.text
        assert not platform.clock.sleeps


@pytest.mark.parametrize(
    "name", ["event.create", "annotation.create", "poster.create", "room.create", "subtitle.upload"]
)
async def test_a_list_that_lacks_rows_does_not_show_that_one_is_new(name: str) -> None:
    """The row may have been there before, or a second one may be there now."""
    async with rig() as platform:
        operation: Any = await SAMPLES[name](platform)
        before = await operation.read(Platform(platform.other))
        await platform.other_executor().run(operation)
        after = await operation.read(Platform(platform.other))
        assert operation.shows(before, after)
        assert not operation.shows(PartialRows(before), after)
        assert not operation.shows(before, PartialRows(after))


@pytest.mark.parametrize(
    ("name", "is_whole"),
    [("null", False), ("null of 5", False), ("nothing of 5", False), ("null of 0", True), ("honest", True)],
)
async def test_the_newest_rows_are_whole_if_the_first_page_is(name: str, *, is_whole: bool) -> None:
    with raw_platform(CASES[name].body) as platform:
        async with Api(base_url=platform.address, token="t") as api:
            rows = newest_rows(await api.events.list(per_page=100))
            every = await all_rows(api.events.iterate())
    assert isinstance(rows, PartialRows) is isinstance(every, PartialRows) is not is_whole


@pytest.mark.parametrize(
    "name", ["event.create", "annotation.create", "poster.create", "room.create", "subtitle.upload"]
)
async def test_of_two_that_are_just_alike_one_may_be_somebody_elses(name: str) -> None:
    async with rig() as platform:
        operation: Any = await SAMPLES[name](platform)
        await lose(platform, "never")

        async def make_two() -> None:
            await platform.calm()
            for _ in range(2):
                await platform.other_executor().run(await SAMPLES[name](platform))

        platform.clock.on_sleep.append(make_two)
        await platform.run(operation)
        await platform.executor.wait_watches()
        assert {result.verdict for result in platform.ports.told} == {Verdict.UNKNOWN}


class BehindAProxy(DeleteEvent):
    """Check a deletion after which a proxy replies 404 to every read."""

    async def read(self, platform: Platform) -> EventView:
        view = await DeleteEvent.read(self, platform)
        if view.event.name == "Gone":
            raise NotFound("get event: not found (404)", status=404)
        return view


async def test_a_404_in_a_proxys_words_does_not_prove_that_anything_is_gone() -> None:
    async with rig() as platform:
        operation = BehindAProxy(await platform.target(DRAFT))
        await lose(platform, "never")
        platform.clock.on_sleep += [
            platform.calm,
            lambda: platform.other.events.update(operation.target.id, EventDraft(name="Gone")),
        ]
        assert (await platform.run(operation)).verdict is Verdict.UNKNOWN


async def test_one_that_is_sent_again_is_asked_about_and_what_shows_then_proves_nothing_of_the_first() -> None:
    async with rig() as platform:
        operation = await edited(platform, name="Renamed")
        await lose(platform, "never")
        platform.clock.on_sleep += [platform.calm] * 9
        assert (await platform.run(operation)).verdict is Verdict.UNKNOWN
        assert (await platform.run(operation)).verdict is Verdict.DONE
        question = platform.ports.asked[-1]
        assert question.lines[0][0].startswith(f'▲ unknown: edit "{DRAFT}", sent 21:14:07Z: the ')
        assert question.lines[1][0].startswith("If you send it again, it may happen twice.")
        await platform.executor.wait_watches()
        assert [result.verdict for result in platform.ports.told] == [Verdict.UNKNOWN, Verdict.DONE]
        (change,) = platform.executor.open_changes.items
        assert change.detail.endswith(SENT_AGAIN)
        assert change.watched_until is None


async def test_what_needs_no_question_is_asked_while_one_like_it_has_no_verdict() -> None:
    async with rig() as platform:
        await lose(platform, "never")
        for level in (ConfirmLevel.NONE, ConfirmLevel.ASK):
            await platform.run(await SAMPLES["event.create"](platform))
            assert platform.ports.asked[-1].level is level
            await platform.executor.stop_watches()


async def test_the_intent_is_in_the_audit_before_the_change_is_sent() -> None:
    async with rig() as platform:
        seen: list[int] = []

        async def count() -> None:
            seen.append(len(platform.writes))

        platform.ports.before_send.append(count)
        await platform.run(EnableEvent(await platform.target(DRAFT)))
        assert (seen, len(platform.writes)) == ([0], 1)
        (intent,), (record,) = platform.ports.intents, platform.ports.records
        assert (record.intent, record.outcome) == (intent.id, AuditOutcome.DONE)
        assert intent.target_name == DRAFT
        assert intent.pid > 0
        assert intent.actor
        assert intent.host


async def test_no_secret_is_in_an_intent() -> None:
    async with rig() as platform:
        await platform.run(await SAMPLES["relay.edit"](platform))
        (intent,) = platform.ports.intents
        assert [edit.name for edit in intent.edits] == ["Name", "Stream key"]
        assert "the-new-key" not in repr(intent)

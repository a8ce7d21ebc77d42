"""A change goes to what was shown, once, or it is refused; a lost answer ends in a verdict."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any, ClassVar

import pytest

from livedeck.client import EventDraft, Unreachable
from livedeck.monitor import AuditOutcome
from livedeck.operations import events
from livedeck.operations.catalogue import OPERATIONS
from livedeck.operations.events import CompleteEvent, DeleteEvent, EditEvent, EnableEvent, EventTarget, EventView
from livedeck.operations.operation import ConfirmLevel, Operation, OperationResult, Platform, Verdict
from operations.rig import DRAFT, ON_AIR, Rig, is_gone, rig
from operations.samples import SAMPLES, filled

VERIFIABLE = [name for name in OPERATIONS if name not in {"material.upload", "material.rename", "material.reorder"}]


async def edited(platform: Rig, event: str, /, **typed: str) -> EditEvent:
    """An edit of that event by its form."""
    target = await platform.target(event)
    return EditEvent(target, filled(events.EDIT_FORM, events.edit_entries(target.view.event, None), **typed))


async def lose_answers(platform: Rig, kind: str = "lose", **options: Any) -> None:
    """From now on changes happen, and nobody hears of it; of kind `drop` they do not happen."""
    for method in ("POST", "PUT", "PATCH", "DELETE"):
        await platform.fault(kind=kind, method=method, **options)


@pytest.mark.parametrize("name", VERIFIABLE)
async def test_a_lost_answer_to_a_change_that_happened_ends_as_applied_and_it_is_sent_once(name: str) -> None:
    async with rig() as platform:
        operation = await SAMPLES[name](platform)
        await lose_answers(platform)
        result = await platform.run(operation)
        assert result.verdict is Verdict.APPLIED
        assert result.text == "applied: its answer was lost, and reading again shows it"
        assert len(platform.writes) == 1
        assert [record.outcome for record in platform.ports.records] == [AuditOutcome.APPLIED]


@pytest.mark.parametrize("name", VERIFIABLE)
@pytest.mark.parametrize("kind", ["drop", "status"])
async def test_a_lost_change_that_did_not_happen_ends_as_not_applied_and_is_not_sent_again(
    name: str, kind: str
) -> None:
    async with rig() as platform:
        operation = await SAMPLES[name](platform)
        await lose_answers(platform, kind, **({"status": 504} if kind == "status" else {}))
        result = await platform.run(operation)
        assert result.verdict is Verdict.NOT_APPLIED
        assert result.text == "not applied: its answer was lost, and reading again shows no change"
        assert len(platform.writes) == 1
        assert [record.outcome for record in platform.ports.records] == [AuditOutcome.NOT_APPLIED]


@pytest.mark.parametrize("name", sorted(set(OPERATIONS) - set(VERIFIABLE)))
async def test_what_no_endpoint_can_tell_ends_as_unknown_at_once(name: str) -> None:
    async with rig() as platform:
        operation = await SAMPLES[name](platform)
        await lose_answers(platform)
        result = await platform.run(operation)
        assert result.verdict is Verdict.UNKNOWN
        assert not platform.clock.sleeps
        assert len(platform.writes) == 1


async def test_four_good_reads_that_show_no_change_are_a_verdict_and_no_fewer() -> None:
    async with rig() as platform:
        await lose_answers(platform, "drop")
        operation = EnableEvent(await platform.target(DRAFT))
        assert (await platform.run(operation)).verdict is Verdict.NOT_APPLIED
        assert [method for method, _ in platform.requests] == ["GET", "PUT", "GET", "GET", "GET", "GET"]
        assert platform.clock.sleeps == [0.0, 1.0, 2.0, 4.0]


class UnreliablyRead(EnableEvent):
    """An operation whose second and third read after it was sent fail."""

    reads: ClassVar[list[int]] = []

    async def read(self, platform: Platform) -> EventView:
        self.reads.append(len(self.reads))
        if self.reads[-1] in {2, 3}:
            raise Unreachable("get event: the connection broke", "reset")
        return await EnableEvent.read(self, platform)


async def test_a_read_that_failed_is_no_good_read() -> None:
    async with rig() as platform:
        await lose_answers(platform, "drop")
        UnreliablyRead.reads.clear()
        assert (await platform.run(UnreliablyRead(await platform.target(DRAFT)))).verdict is Verdict.NOT_APPLIED
        assert platform.clock.sleeps == [0.0, 1.0, 2.0, 4.0, 8.0, 8.0]


async def test_where_nobody_can_read_the_verdict_is_unknown_and_says_so() -> None:
    async with rig() as platform:
        await lose_answers(platform)
        platform.after_write.append(lambda: platform.fault(kind="drop", method="GET"))
        result = await platform.run(EnableEvent(await platform.target(DRAFT)))
        assert result.verdict is Verdict.UNKNOWN
        assert result.text == "nobody knows whether it happened: look again before you repeat it"
        assert platform.clock.sleeps == [0.0, 1.0, 2.0, 4.0, 8.0, 8.0, 8.0, 8.0]
        assert [record.outcome for record in platform.ports.records] == [AuditOutcome.UNKNOWN]
        await platform.calm()
        assert (await platform.event(DRAFT)).updated_at is not None


async def test_a_lost_completion_is_not_seen_in_what_somebody_else_changed_meanwhile() -> None:
    """While its stream runs an event is on air, whenever it was last changed."""
    async with rig() as platform:
        target = await platform.target(ON_AIR)
        platform.after_write.append(lambda: platform.other.events.update(target.target.id, EventDraft(name="Theirs")))
        await platform.fault(kind="drop", method="PUT", path="*/complete")
        assert (await platform.run(CompleteEvent(target))).verdict is Verdict.UNKNOWN
        assert [path for _, path in platform.writes] == [f"/v2/live/events/{target.target.id}/complete"]


async def test_what_the_platform_refuses_is_failed_in_its_words() -> None:
    async with rig() as platform:
        result = await platform.run(EnableEvent(await platform.target("Rehearsal Tuesday")))
        assert result.verdict is Verdict.FAILED
        assert "409 409409" in result.text
        assert platform.ports.told == [result]
        assert [record.outcome for record in platform.ports.records] == [AuditOutcome.REFUSED]
        assert platform.ports.refreshes == 1


async def test_an_answer_that_never_comes_is_stopped_and_the_verdict_is_read() -> None:
    async with rig() as platform:
        operation = EnableEvent(await platform.target(DRAFT))
        await platform.fault(kind="hang", method="PUT")
        platform.ports.stops = 1
        result = await platform.run(operation)
        assert result.verdict is Verdict.NOT_APPLIED
        assert result.text == "not applied: it was stopped, and reading again shows no change"
        assert platform.ports.titles == [f"enable {DRAFT}", f"UNKNOWN, checking: enable {DRAFT}"]


async def test_while_a_change_is_under_way_its_target_takes_no_other() -> None:
    async with rig() as platform:
        target = await platform.target(DRAFT)
        refused: list[OperationResult] = []

        async def second() -> None:
            refused.append(await platform.executor.run(DeleteEvent(target)))

        platform.ports.before_answer.append(second)
        assert (await platform.run(EnableEvent(target))).verdict is Verdict.DONE
        assert [result.verdict for result in refused] == [Verdict.REFUSED]
        assert refused[0].text == "enable is still under way; wait for its end"
        assert len(platform.writes) == 1
        assert not platform.executor.busy


async def test_who_is_left_before_the_answer_is_unknown_in_the_audit() -> None:
    async with rig() as platform:
        operation = EnableEvent(await platform.target(DRAFT))
        await platform.fault(kind="hang", method="PUT")
        running = asyncio.ensure_future(platform.run(operation))
        await platform.write_arrived.wait()
        assert list(platform.executor.in_doubt.values()) == [f"enable {DRAFT}"]
        running.cancel()
        await asyncio.wait({running})
        assert running.cancelled()
        assert not platform.executor.in_doubt
        (record,) = platform.ports.records
        assert (record.action, record.outcome) == ("event.enable", AuditOutcome.UNKNOWN)
        assert record.detail == "nobody knows whether it happened: the deck was left before its answer was there"


async def test_a_change_that_is_not_confirmed_leaves_no_trace() -> None:
    async with rig() as platform:
        platform.ports.agrees = False
        result = await platform.run(EnableEvent(await platform.target(DRAFT)))
        assert result.verdict is Verdict.CANCELLED
        assert not platform.requests
        assert not platform.ports.told
        assert not platform.ports.records
        assert not platform.ports.refreshes


async def test_where_nothing_may_be_sent_nothing_is_asked_and_nothing_recorded() -> None:
    async with rig() as platform:
        platform.blocked.append("what you see is STALE")
        result = await platform.run(EnableEvent(await platform.target(DRAFT)))
        assert (result.verdict, result.text) == (Verdict.REFUSED, "nothing was sent: what you see is STALE")
        assert not platform.ports.asked
        assert not platform.requests
        assert platform.ports.told == [result]
        assert not platform.ports.records


async def test_what_became_stale_while_it_was_asked_is_not_sent() -> None:
    async with rig() as platform:

        async def stale() -> None:
            platform.blocked.append("what you see is STALE")

        platform.ports.before_answer.append(stale)
        result = await platform.run(EnableEvent(await platform.target(DRAFT)))
        assert result.verdict is Verdict.REFUSED
        assert not platform.requests


async def test_what_changed_since_it_was_shown_is_confirmed_anew_and_then_sent_once() -> None:
    async with rig() as platform:
        target = await platform.target(DRAFT)
        platform.ports.before_answer.append(
            lambda: platform.other.events.update(target.target.id, EventDraft(name="Another name"))
        )
        assert (await platform.run(EnableEvent(target))).verdict is Verdict.DONE
        first, second = platform.ports.asked
        assert not [text for text, _ in first.lines if text.startswith("▲")]
        assert second.lines[0][0] == f'▲ Since you looked: its name was "{DRAFT}" and is "Another name" now.'
        assert len(platform.writes) == 1


async def test_fields_that_somebody_else_changed_meanwhile_are_named_before_they_are_overwritten() -> None:
    async with rig() as platform:
        operation = await edited(platform, DRAFT, reconnect_window="300")
        platform.ports.before_answer.append(
            lambda: platform.other.events.update(operation.target.id, EventDraft(reconnect_window=120))
        )
        await platform.run(operation)
        assert platform.ports.asked[1].lines[0][0] == "▲ Since you looked: somebody else changed reconnect_window."


async def test_what_is_gone_is_not_acted_on() -> None:
    async with rig() as platform:
        target = await platform.target(DRAFT)
        platform.ports.before_answer.append(lambda: platform.other.events.delete(target.target.id))
        result = await platform.run(EnableEvent(target))
        assert (result.verdict, result.text) == (Verdict.REFUSED, "nothing was sent: it is not there any more")
        assert not platform.writes


async def test_what_cannot_be_read_again_is_not_acted_on() -> None:
    async with rig() as platform:
        target = await platform.target(DRAFT)
        await platform.fault(kind="drop", method="GET")
        result = await platform.run(EnableEvent(target))
        assert result.verdict is Verdict.REFUSED
        assert result.text.startswith("nothing was sent: it could not be read again: ")
        assert not platform.writes


@pytest.mark.parametrize("name", OPERATIONS)
async def test_read_only_no_operation_gets_out(name: str) -> None:
    async with rig(read_only=True) as platform:
        result = await platform.run(await SAMPLES[name](platform))
        assert result.verdict is Verdict.FAILED
        assert not platform.writes


@pytest.mark.parametrize("kind", [CompleteEvent, DeleteEvent])
async def test_what_cuts_an_audience_off_needs_the_name_and_only_then(kind: type[CompleteEvent | DeleteEvent]) -> None:
    async with rig() as platform:
        for name, level in ((ON_AIR, ConfirmLevel.TYPE_NAME), (DRAFT, ConfirmLevel.ASK)):
            operation: Operation[Any] = kind(await platform.target(name))
            await platform.run(operation)
            assert platform.ports.asked[-1].level is level
        assert platform.ports.asked[0].word == "choir"
        assert await is_gone(platform.other.events.get(operation.target.id)) == (kind is DeleteEvent)


async def test_the_audit_has_what_was_changed_and_no_secret() -> None:
    async with rig() as platform:
        operation = await edited(platform, ON_AIR, name="Renamed")
        await platform.run(operation)
        await platform.run(await SAMPLES["relay.edit"](platform))
        event, relay = platform.ports.records
        assert (event.action, event.target_id, event.outcome) == (
            "event.edit",
            operation.target.id,
            AuditOutcome.APPLIED,
        )
        assert [(edit.name, edit.before, edit.after) for edit in event.edits] == [("Name", ON_AIR, "Renamed")]
        assert "the-new-key" not in repr(relay)
        assert [edit.name for edit in relay.edits] == ["Name", "Stream key"]


async def test_a_target_keeps_the_id_that_was_shown_whatever_it_is_called_now() -> None:
    async with rig() as platform:
        target = await platform.target(DRAFT)
        other = await platform.event(ON_AIR)
        shown = EventTarget(replace(target.target, name=other.name or ""), target.view)
        await platform.run(EnableEvent(shown))
        assert [path for _, path in platform.writes] == [f"/v2/live/events/{target.target.id}/enable"]

"""A change goes once to the object that was shown, or it is refused. (Lost replies: test_verdicts.)"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from livedeck.client import EventDraft
from livedeck.monitor import AuditOutcome
from livedeck.operations import events
from livedeck.operations.catalogue import OPERATIONS
from livedeck.operations.events import CompleteEvent, DeleteEvent, EditEvent, EnableEvent, EventTarget, ScheduleStream
from livedeck.operations.open_changes import OpenChanges
from livedeck.operations.operation import ConfirmLevel, Operation, OperationResult, Target, Verdict
from livedeck.presentation.render_time import ChangeStep
from operations.rig import DRAFT, EVENING, ON_AIR, Rig, is_gone, rig
from operations.samples import SAMPLES, filled


async def edited(platform: Rig, event: str, /, **typed: str) -> EditEvent:
    """Return an edit of that event by its form."""
    target = await platform.target(event)
    return EditEvent(target, filled(events.EDIT_FORM, events.edit_entries(target.view.event, None), **typed))


async def test_what_the_platform_refuses_is_refused_in_its_words() -> None:
    async with rig() as platform:
        result = await platform.run(EnableEvent(await platform.target("Rehearsal Tuesday")))
        assert result.verdict is Verdict.REFUSED
        assert result.text == "its state does not allow this now (the event is completed; code 409409); read it again"
        assert platform.ports.told == [result]
        assert [record.outcome for record in platform.ports.records] == [AuditOutcome.REFUSED]
        assert platform.ports.refreshes == 1


async def test_an_answer_that_never_comes_is_stopped_and_what_it_changes_is_looked_at() -> None:
    async with rig() as platform:
        operation = await edited(platform, DRAFT, name="Renamed")
        await platform.fault(kind="late-apply", lands="at-once", answer="hang", method="PUT")

        async def landed() -> None:
            async with asyncio.timeout(10):
                while "Renamed" not in {event.name for event in (await platform.other.events.list(per_page=100)).items}:
                    pass

        platform.ports.stops_after = landed
        result = await platform.run(operation)
        assert result.verdict is Verdict.APPLIED
        assert platform.ports.titles == [f"edit {DRAFT}", f"UNKNOWN, checking: edit {DRAFT}"]


async def test_while_a_change_is_under_way_its_target_takes_no_other() -> None:
    async with rig() as platform:
        target = await platform.target(DRAFT)
        refused: list[OperationResult] = []

        async def second() -> None:
            refused.append(await platform.executor.run(DeleteEvent(target)))

        platform.ports.before_answer.append(second)
        assert (await platform.run(EnableEvent(target))).verdict is Verdict.DONE
        assert [result.verdict for result in refused] == [Verdict.REFUSED]
        assert refused[0].text == "enable is still running; wait until it ends"
        assert len(platform.writes) == 1
        assert not platform.executor.busy


@pytest.mark.parametrize(
    ("name", "fault", "last"),
    [(DRAFT, None, "confirmed"), ("Rehearsal Tuesday", None, "none"), (DRAFT, "lose", "none")],
)
async def test_a_change_is_seen_from_its_sending_on_and_is_called_confirmed_by_the_platform_alone(
    name: str, fault: str | None, last: str
) -> None:
    """trust.md, "Verdicts": done, refused, unknown."""
    async with rig() as platform:
        target = await platform.target(name)
        if fault:
            await platform.fault(kind=fault, method="PUT")
        steps: list[ChangeStep | None] = []
        changes = OpenChanges(lambda: steps.append(changes.steps.get(target.target.id)))
        platform.executor.open_changes = changes
        await platform.run(EnableEvent(target))
        assert steps[0] == ChangeStep()
        assert all(step == ChangeStep() for step in steps[:-1])
        assert steps[-1] == (ChangeStep(platform.executor.clock.now()) if last == "confirmed" else None)


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
        assert record.detail == "livedeck was closed before the response arrived"
        assert record.intent == platform.ports.intents[0].id


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
        assert (result.verdict, result.text) == (Verdict.REFUSED, "not sent: what you see is STALE")
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
        assert platform.ports.asked[1].lines[0][0] == "▲ Since you looked: its reconnect window was 600 and is 120 now."


async def test_what_was_done_is_read_back_and_a_late_read_is_waited_for() -> None:
    """Four reads in 7 s show the old name: it is not called done. The third shows the new one: it is."""
    for reads_until_shown, differs in ((9, True), (2, False)):
        async with rig() as platform:
            platform.executor.reads_back = True
            operation = await edited(platform, DRAFT, name="Our name")
            platform.after_write.append(partial(platform.other.events.update, operation.target.id, _named(DRAFT)))

            async def nothing() -> None: ...

            lands = partial(platform.other.events.update, operation.target.id, _named("Our name"))
            platform.clock.on_sleep = [*[nothing] * reads_until_shown, lands]
            result = await platform.run(operation)
            assert (result.verdict, result.differs) == (Verdict.DONE, differs)
            assert len(platform.writes) == 1
            assert platform.clock.sleeps == ([0.0, 1.0, 2.0, 4.0] if differs else [0.0, 1.0, 2.0])
            if differs:
                assert result.text == f'accepted, but {DRAFT} has name "{DRAFT}", as before'
            assert platform.ports.records[-1].detail == result.text


def _named(name: str) -> EventDraft:
    return EventDraft(name=name)


async def test_an_object_that_another_process_holds_is_not_changed() -> None:
    class Held:
        @asynccontextmanager
        async def hold(self, _: Target) -> AsyncIterator[bool]:
            yield False

    async with rig() as platform:
        platform.executor.locks = Held()
        result = await platform.run(EnableEvent(await platform.target(DRAFT)))
        assert result.verdict is Verdict.REFUSED
        assert "another livedeck of yours is changing the same object" in result.text
        assert not platform.requests


async def test_the_lock_is_held_from_the_last_read_to_the_end_and_never_while_somebody_is_asked() -> None:
    async with rig() as platform:
        steps: list[str] = []

        class Noting:
            @asynccontextmanager
            async def hold(self, _: Target) -> AsyncIterator[bool]:
                steps.append("locked")
                yield True
                steps.append("free")

        async def asked() -> None:
            steps.append("asked")

        async def renamed() -> None:
            await asked()
            await platform.other.events.update(target.target.id, EventDraft(name="Another name"))

        target = await platform.target(DRAFT)
        platform.executor.locks = Noting()
        platform.ports.before_answer += [renamed, asked]
        platform.after_write.append(_note(steps, "sent"))
        assert (await platform.run(EnableEvent(target))).verdict is Verdict.DONE
        assert steps == ["asked", "locked", "free", "asked", "locked", "sent", "free"]


def _note(steps: list[str], step: str) -> Callable[[], Awaitable[object]]:
    async def note() -> None:
        steps.append(step)

    return note


async def test_what_is_gone_is_not_acted_on() -> None:
    async with rig() as platform:
        target = await platform.target(DRAFT)
        platform.ports.before_answer.append(lambda: platform.other.events.delete(target.target.id))
        result = await platform.run(EnableEvent(target))
        text = "not sent: the platform says that the object does not exist"
        assert (result.verdict, result.text) == (Verdict.REFUSED, text)
        assert not platform.writes


async def test_what_cannot_be_read_again_is_not_acted_on() -> None:
    async with rig() as platform:
        target = await platform.target(DRAFT)
        await platform.fault(kind="drop", method="GET")
        result = await platform.run(EnableEvent(target))
        assert result.verdict is Verdict.REFUSED
        assert result.text.startswith(f"not sent: could not re-check {DRAFT} (")
        assert target.target.id not in result.text
        assert not platform.writes


async def test_a_second_stream_is_refused_with_the_time_of_the_first() -> None:
    async with rig() as platform:
        await platform.run(ScheduleStream(await platform.target(DRAFT), EVENING + timedelta(hours=1)))
        result = await platform.run(ScheduleStream(await platform.target(DRAFT), EVENING + timedelta(hours=2)))
        assert result.verdict is Verdict.REFUSED
        assert result.text.startswith("the event already has a scheduled stream (20 Nov 2026 22:14:07Z); move that one")


@pytest.mark.parametrize("name", OPERATIONS)
async def test_read_only_no_operation_gets_out(name: str) -> None:
    async with rig(read_only=True) as platform:
        result = await platform.run(await SAMPLES[name](platform))
        assert result.verdict is Verdict.REFUSED
        assert not platform.writes


@pytest.mark.parametrize("kind", [CompleteEvent, DeleteEvent])
async def test_what_cuts_an_audience_off_needs_the_name_and_only_then(kind: type[CompleteEvent | DeleteEvent]) -> None:
    async with rig() as platform:
        for name, level in ((ON_AIR, ConfirmLevel.TYPE_NAME), (DRAFT, ConfirmLevel.ASK)):
            operation: Operation[Any] = kind(await platform.target(name))
            await platform.run(operation)
            assert platform.ports.asked[-1].level is level
        assert platform.ports.asked[0].word == "Choir, hall B"
        assert await is_gone(platform.other.events.get(operation.target.id)) == (kind is DeleteEvent)


async def test_the_audit_has_what_was_changed_and_no_secret() -> None:
    async with rig() as platform:
        operation = await edited(platform, ON_AIR, name="Renamed")
        await platform.run(operation)
        await platform.run(await SAMPLES["relay.edit"](platform))
        event, relay = platform.ports.records
        assert (event.action, event.target_id, event.outcome) == ("event.edit", operation.target.id, AuditOutcome.DONE)
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

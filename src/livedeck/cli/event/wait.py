"""`livedeck event wait`: wait until an event is on air, healthy or completed."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import click

from livedeck.cli import options
from livedeck.cli.exit_codes import DONE, NOT_SO, REFUSED, UNREACHABLE, code_of_error, code_of_link, run
from livedeck.cli.lookup import lookup_event
from livedeck.cli.options import QUIET, merge_flags, platform
from livedeck.cli.output import echo
from livedeck.cli.process import cancel_on_signals
from livedeck.cli.wiring import SystemClock, make_api, make_monitor
from livedeck.client import Api, ApiError
from livedeck.monitor import (
    BroadcastState,
    ConnectionProblem,
    ConnectionStatus,
    EventState,
    Grade,
    IngestState,
    Monitor,
    Severity,
)
from livedeck.settings import load
from livedeck.text.values import safe

GOALS = ("on-air", "healthy", "completed")

RETRY_SECONDS = 2.0
"""Seconds until the event is looked up again if the platform did not respond."""


@click.command
@click.argument("event", metavar="EVENT")
@click.option("--until", "goal", type=click.Choice(GOALS), required=True, help="Wait for this state.")
@options.timeout("10m")
@QUIET
@platform
@click.pass_context
def command(ctx: click.Context, /, *, event: str, goal: str, timeout: float, quiet: bool, **flags: Any) -> None:
    """Wait until EVENT is on air, healthy (on air, good picture, no fault), or completed.

    EVENT: an id, a name, or the beginning of either, if unambiguous. Retries until --timeout if the platform
    does not respond. Exit code 6: the state is not reached in time, or can no longer be reached. Exit code 4: the
    platform never gave a usable reply.
    """

    async def work() -> int:
        settings = load(**merge_flags(ctx, flags))
        async with make_api(settings) as api:
            wait = Wait(goal, is_quiet=quiet)
            try:
                async with asyncio.timeout(timeout):
                    event_id = await wait.find_event(api, event)
                    return await wait.follow(make_monitor(api, settings=settings), event_id)
            except TimeoutError:
                return wait.end_late(timeout)

    ctx.exit(run(lambda: cancel_on_signals(work)))


@dataclass(slots=True)
class Wait:
    """Goal and progress of a wait. `answered_at`: time of the platform's last response.

    `problem`: why the platform does not respond, or empty. `code`: exit code if the goal is not reached in time.
    """

    goal: str
    is_quiet: bool
    answered_at: datetime | None = None
    problem: str = ""
    code: int = UNREACHABLE

    async def find_event(self, api: Api, words: str) -> str:
        """Return the id of the event that the words name. Retries while the platform does not respond.

        Raises UsageError, ApiError.
        """
        clock = SystemClock()
        while True:
            try:
                event = await lookup_event(api, words)
            except ApiError as error:
                if code_of_error(error) != UNREACHABLE:
                    raise
                if not self.problem:
                    self._tell(f"{error}; retrying")
                self.problem = str(error)
                await clock.sleep(RETRY_SECONDS)
            else:
                self.answered_at, self.problem, self.code = clock.now(), "", NOT_SO
                return event.id

    async def follow(self, monitor: Monitor, event_id: str) -> int:
        """Wait until the event reaches the goal. Returns the exit code."""
        monitor.set_focus(event_id)
        last_text = ""
        async with aclosing(monitor.snapshots()) as snapshots:
            async for snapshot in snapshots:
                self._note_link(snapshot.link)
                state = snapshot.find(event_id)
                if state is None and snapshot.link.as_of is not None and snapshot.link.state.is_answering:
                    echo("livedeck event wait: the event no longer exists", err=True)
                    return NOT_SO
                if state is None:
                    continue
                text = describe(state)
                if text != last_text:
                    self._tell(text)
                last_text = text
                if is_reached(state, self.goal):
                    return DONE
                if state.phase.tally is BroadcastState.COMPLETED:
                    echo(f"livedeck event wait: the event has ended and can no longer be {self.goal}", err=True)
                    return NOT_SO
        return NOT_SO

    def end_late(self, seconds: float) -> int:
        """Print that the goal was not reached in time, or why that is unknown. Returns the exit code."""
        since = f" since {self.answered_at:%H:%M:%S}Z" if self.answered_at else ""
        silence = f": no usable reply{since}" if self.problem or not self.answered_at else ""
        why = f": {self.problem}" if self.problem else ""
        echo(f"livedeck event wait: not {self.goal} after {seconds:g} s{silence}{why}", err=True)
        return self.code

    def _note_link(self, link: ConnectionStatus) -> None:
        self.answered_at = link.as_of or self.answered_at
        is_failing = not link.state.is_answering and link.problem is not ConnectionProblem.NONE
        self.problem = (link.why or link.problem.banner) if is_failing else ""
        self.code = REFUSED if is_failing and code_of_link(link) == REFUSED else NOT_SO

    def _tell(self, text: str) -> None:
        if not self.is_quiet:
            echo(f"livedeck event wait: {text}", err=True)


def is_reached(state: EventState, goal: str) -> bool:
    """Return whether the event has reached the goal. Late samples prove neither a signal nor its absence."""
    if goal == "completed":
        return state.phase.tally is BroadcastState.COMPLETED
    if state.phase.tally is not BroadcastState.ON_AIR or _is_late(state):
        return False
    has_fault = any(finding.severity is not Severity.INFO for finding in state.assessment.findings)
    return goal == "on-air" or (state.assessment.health.grade is Grade.GOOD and not has_fault)


def _is_late(state: EventState) -> bool:
    return state.is_undecided and state.phase.ingest.state is not IngestState.NONE


def describe(state: EventState) -> str:
    """Return the state of the event in words: `Choir, hall B: ON AIR, 100 GOOD`."""
    health = state.assessment.health
    score = f", {health.score} {health.grade}" if health.score is not None else ""
    doubts = ["late or gone"] if _is_late(state) else []
    faults = ", ".join([*doubts, *(finding.kind for finding in state.assessment.findings)])
    return f"{safe(state.event.name or state.id, 60)}: {state.phase.tally}{score}{f', {faults}' if faults else ''}"

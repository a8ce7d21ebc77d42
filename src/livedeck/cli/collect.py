"""`livedeck collect`: monitor and history without a screen, and who is told of alarms; as a service."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, aclosing
from datetime import datetime
from typing import Any

import click

from livedeck.cli.exit_codes import DONE, FAULT, run
from livedeck.cli.options import merge_flags, platform
from livedeck.cli.output import echo
from livedeck.cli.receivers import heartbeat_address, make_plan, make_targets, spool_file
from livedeck.cli.signals import cancel_on_signals
from livedeck.cli.wiring import SystemClock, make_api, make_history, make_monitor, make_outgoing
from livedeck.monitor import ConnectionState, History, Monitor, Snapshot
from livedeck.notify import Heartbeat, Notifier, Spool, SpoolError, Vitals, only_notifier
from livedeck.presentation.alarm_text import HIDDEN_TRANSITIONS, change_text
from livedeck.presentation.connection import loss_text
from livedeck.settings import Settings, WatchedLimits, load


@click.command
@platform
@click.pass_context
def command(ctx: click.Context, /, **flags: Any) -> None:
    """Watch the platform without a screen: keep the history, tell who is to be told, print a line a change.

    It runs until a signal ends it, and changes nothing on the platform. One collector for a history: a second one says
    that there is one.
    """

    async def work() -> int:
        settings = load(**{**merge_flags(ctx, flags), "read_only": True})
        try:
            return await cancel_on_signals(lambda: _collect(settings))
        except SpoolError as error:
            echo(f"livedeck collect: {error}", err=True)
            return FAULT

    code = run(work)
    ctx.exit(DONE if code in _ASKED else code)


_ASKED = {128 + number for number in (1, 2, 15)}
"""It was asked to end (SIGHUP, SIGINT, SIGTERM), and did."""


async def _collect(settings: Settings) -> int:
    async with AsyncExitStack() as stack:
        path = spool_file(settings)
        stack.enter_context(only_notifier(path))
        outgoing = await stack.enter_async_context(make_outgoing(settings))
        targets = await make_targets(settings, outgoing)
        heartbeat = await heartbeat_address(settings)
        api = await stack.enter_async_context(make_api(settings))
        history = await stack.enter_async_context(make_history(settings))
        notifier = Notifier(make_plan(settings), targets, await asyncio.to_thread(Spool, path), SystemClock())
        stack.push_async_callback(notifier.close)
        await notifier.open()
        monitor = make_monitor(
            api,
            settings=settings,
            history=history,
            limits_source=WatchedLimits(),
            notify_error=lambda: notifier.failure,
        )
        collector = Collector(monitor, history, notifier)
        async with asyncio.TaskGroup() as group:
            group.create_task(notifier.run(), name="notify")
            if heartbeat:
                beating = Heartbeat(outgoing.send, heartbeat, collector.vitals, SystemClock())
                group.create_task(beating.run(), name="heartbeat")
            await collector.watch()
    return DONE


class Collector:
    """Watches, prints a line a change, and has told who is to be told."""

    def __init__(self, monitor: Monitor, history: History | None, notifier: Notifier) -> None:
        self._monitor, self._history, self._notifier = monitor, history, notifier
        self._turned_at = SystemClock().now()
        self._answered_at: datetime | None = None
        self._reported = ConnectionState.CONNECTING

    def vitals(self) -> Vitals:
        """What the heartbeat stands for."""
        fault = self._history.fault if self._history else ""
        waiting_since = self._notifier.waiting_since
        return Vitals(self._turned_at, self._answered_at, waiting_since, fault or self._notifier.fault)

    async def watch(self) -> None:
        """Until cancelled."""
        async with aclosing(self._monitor.snapshots()) as snapshots:
            async for snapshot in snapshots:
                self._turned_at, self._answered_at = SystemClock().now(), snapshot.link.as_of
                self._print(snapshot)
                for message in await self._notifier.take(snapshot):
                    echo(f"{message.at:%Y-%m-%d %H:%M:%S}Z  told              {message.target}: {message.title}")

    def _print(self, snapshot: Snapshot) -> None:
        for change in snapshot.changes:
            if change.transition not in HIDDEN_TRANSITIONS:
                echo(change_text(change))
        link = snapshot.link
        if link.state is not self._reported and link.state is not ConnectionState.CONNECTING:
            self._reported = link.state
            texts = {ConnectionState.OK: "the platform answers", ConnectionState.POOR: f"poor link: {loss_text(link)}"}
            echo(f"livedeck collect: {texts.get(link.state, f'cannot watch: {link.reason}')}", err=True)

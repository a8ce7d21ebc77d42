"""`livedeck collector run`: monitor and history as a service, for attached decks and notifications (collector.md)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from copy import deepcopy
from datetime import UTC, datetime, timedelta
from functools import partial
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Protocol

import click
from starlette.types import ASGIApp

from livedeck import __version__
from livedeck.cli.collect.engine import Membership, join_others
from livedeck.cli.collect.links import link_of_route, make_links
from livedeck.cli.collect.outputs import make_push, tally_senders, webhook_secret
from livedeck.cli.collect.receivers import (
    heartbeat_address,
    make_notification_way,
    make_plan,
    make_targets,
    refusals,
    spool_file,
)
from livedeck.cli.exit_codes import DONE, FAULT, run
from livedeck.cli.exposure import Exposure, OwnName
from livedeck.cli.options import merge_flags, notifies, platform, rehearsal
from livedeck.cli.output import echo
from livedeck.cli.process import cancel_on_signals, keep_collections_short
from livedeck.cli.rehearsal import repeat_after_jump_back
from livedeck.cli.wiring import SystemClock, follow_clock, make_history, make_monitor, make_paced_api, open_prober
from livedeck.client import RequestCounts
from livedeck.collector.links import Links
from livedeck.collector.serving.access import MAX_READERS, Access
from livedeck.collector.serving.app import collector_app
from livedeck.collector.serving.endpoints import Refusal, refused
from livedeck.collector.serving.hub import Hub
from livedeck.collector.serving.ledger import Ledger, uses_path
from livedeck.environment import this_machine
from livedeck.http_server import serve_app
from livedeck.monitor import AlarmLimits, AnnouncementTally, ConnectionState, History, Monitor, Snapshot
from livedeck.notify import Heartbeat, Notifier, Post, Spool, SpoolError, Vitals, only_notifier
from livedeck.presentation.alarm_text import ShownChanges, change_lines
from livedeck.presentation.connection import poor_text
from livedeck.presentation.metrics import Counted, count_rounds, count_turns, scrape_of
from livedeck.presentation.otlp import encode_request
from livedeck.presentation.render_time import RenderTime
from livedeck.settings import (
    OFF,
    REHEARSAL_HISTORY,
    NotifySettings,
    OtlpSettings,
    Settings,
    SettingsError,
    TallySettings,
    WatchedLimits,
    WatchedTokens,
    load,
)

if TYPE_CHECKING:
    from livedeck.cli.followed_clock import FollowedClock
    from livedeck.probe.prober import Prober


@click.command
@platform
@rehearsal
@click.pass_context
def command(ctx: click.Context, /, **flags: Any) -> None:
    """Run the collector: watch without a screen, keep the history, serve decks, notify people.

    It prints a line for each change, runs until a signal ends it, and changes nothing on the platform. A second
    collector with the same history refuses to start. Decks attach to the printed address: `livedeck docs collector`.
    """

    async def work() -> int:
        settings = load(**{**merge_flags(ctx, flags), "read_only": True})
        if settings.follow_clock:
            settings = _for_rehearsal(settings)
        collect = partial(repeat_after_jump_back, partial(_collect, settings), settings.history_file())
        try:
            return await cancel_on_signals(collect)
        except SpoolError as error:
            echo(f"livedeck collector run: {error}", err=True)
            return FAULT

    code = run(work)
    ctx.exit(DONE if code in _SIGNALLED else code)


_SIGNALLED = {128 + number for number in (1, 2, 15)}
"""Exit codes after SIGHUP, SIGINT and SIGTERM. They are no failure, because signals end a service."""


def _for_rehearsal(settings: Settings) -> Settings:
    """Return the settings for a rehearsal: a history of its own, and no receivers unless --notify is given.

    Raises SettingsError if Redis is configured, because Redis has its own clock.
    """
    if settings.engine.redis_url_command or settings.engine.redis_url_file:
        raise SettingsError(
            "--follow-clock does not work with Redis, which has its own clock; leave out one of the two"
        )
    usual = settings.model_copy(update={"follow_clock": False}).history_file()
    file = settings.history_file() or (usual and usual.with_name(REHEARSAL_HISTORY))
    receivers = {} if notifies() else {"notify": NotifySettings(), "tally": TallySettings(), "otlp": OtlpSettings()}
    return settings.model_copy(update={"history": str(file or OFF), **receivers})


async def _collect(settings: Settings) -> int:
    async with AsyncExitStack() as stack:
        path = spool_file(settings)
        clock = await follow_clock(settings, stack)
        api = await stack.enter_async_context(make_paced_api(settings, clock))  # before the lock, whose file stays
        stack.enter_context(only_notifier(path))
        outgoing = await stack.enter_async_context(make_notification_way(settings))
        targets = await make_targets(settings, outgoing)
        heartbeat = await heartbeat_address(settings)
        for refusal in await refusals(targets, heartbeat, outgoing):
            _warn(refusal)
        history = await stack.enter_async_context(make_history(settings, clock))
        others = await stack.enter_async_context(join_others(settings, history, api))
        storage = others.spool if others else await asyncio.to_thread(Spool, path)
        prober = await stack.enter_async_context(open_prober(settings, clock))
        if prober and (reason := prober.blocked):
            _warn(reason)
        monitor = make_monitor(
            api,
            clock,
            settings=settings,
            history=history,
            limits_source=WatchedLimits(),
            notify_fault=lambda: notifier.failure,
            shares=others.engine if others else None,
            viewer=prober,
        )
        links = await asyncio.to_thread(make_links, settings)
        link = partial(link_of_route, links) if links else None
        notifier = Notifier(make_plan(settings), targets, storage, monitor.clock, link=link)
        stack.push_async_callback(notifier.close)
        if others is None:  # with others it opens when this collector takes the notifier lease
            await notifier.open()
        collector = Collector(
            monitor, history, notifier, api.request_counts, others, links=links, clock=clock, prober=prober
        )
        if heartbeat:
            collector.beat(outgoing.send, heartbeat)
        push = await make_push(settings, outgoing.send, collector.otlp_encoder, monitor.clock, _warn)
        history_file = settings.history_file()
        assert history_file is not None  # otherwise `spool_file` has raised
        record = history.record_action if history else None
        ledger = await asyncio.to_thread(Ledger, uses_path(history_file), record, SystemClock())
        try:
            await stack.enter_async_context(_served(settings, collector, ledger, await webhook_secret(settings)))
        except OSError as error:
            text = f"{error.filename}: {error.strerror}; see `listen` of [collector]"
            echo(f"livedeck collector run: {text}", err=True)
            return FAULT

        tallies = tally_senders(settings, lambda: collector.hub.snapshot, monitor.clock, _warn)
        tasks: dict[str, _Task | None] = {
            "notify": notifier,
            "ledger": ledger,
            "engine": others,
            "heartbeat": collector.heartbeat,
            "otlp": push,
            **{f"tally {number}": sender for number, sender in enumerate(tallies)},
        }

        async def work() -> None:
            async with asyncio.TaskGroup() as group:
                group.create_task(keep_collections_short(SystemClock(), partial=10.0, full=3600.0), name="garbage")
                for name, task in tasks.items():
                    if task:
                        group.create_task(task.run(), name=name)
                if clock:
                    group.create_task(collector.tell_clock(clock), name="clock")
                await collector.watch()

        await (clock.run(work()) if clock else work())
    return DONE


class _Task(Protocol):
    """Part of the collector that runs until cancelled."""

    async def run(self) -> None: ...


@asynccontextmanager
async def _served(
    settings: Settings, collector: Collector, ledger: Ledger, pagerduty_secret: str
) -> AsyncIterator[None]:
    """Serve the collector's data while the block runs, if `listen` is set.

    Raises OSError if it cannot listen; `filename` of the error is the address.
    """
    address = settings.collector.address()
    if address is None:
        yield
        return
    host, port = address
    exposure = Exposure(port, host, names=settings.collector.allowed_hosts)
    refusal = Refusal(400, "foreign name", "this host name is not allowed; add it to `allowed_hosts` of [collector]")
    with exposure.listen() as listener:
        app = OwnName(collector.app(settings, ledger, pagerduty_secret), exposure, refused(refusal))
        async with serve_app(listener, app, max_connections=2 * MAX_READERS) as url:
            echo(f"livedeck collector run: {url}{'' if settings.collector.tokens else _NO_TOKENS}", err=True)
            try:
                yield
            finally:
                collector.hub.close()


_NO_TOKENS = (
    " Serving health checks only: no access token exists yet. "
    "Create one: livedeck collector token create NAME --may act"
)


_NEVER = datetime.fromtimestamp(0, UTC)
"""Time that the metrics show if no heartbeat was accepted yet, because Prometheus has no null."""


def _warn(text: str) -> None:
    echo(f"livedeck collector run: {text}", err=True)


class Collector:
    """Watches the platform, prints a line for each change, publishes snapshots, and passes alarms to the notifier."""

    def __init__(
        self,
        monitor: Monitor,
        history: History | None,
        notifier: Notifier,
        requests: RequestCounts,
        others: Membership | None = None,
        *,
        links: Links | None = None,
        clock: FollowedClock | None = None,
        prober: Prober | None = None,
    ) -> None:
        self._prober = prober
        self.hub = Hub(monitor.clock, token_hex(4), clock.speed if clock else None)
        self.heartbeat: Heartbeat | None = None
        self._monitor, self._history, self._notifier, self._requests = monitor, history, notifier, requests
        self._others, self._links = others, links
        self._turned_at = monitor.clock.now()
        self._started_at = self._turned_at + timedelta(seconds=monitor.clock.offset)
        self._answered_at: datetime | None = None
        self._interval = 0.0
        self._reported = ConnectionState.CONNECTING
        self._shown = ShownChanges()
        self._turns: Mapping[str, int] = {}
        self._rounds: Mapping[str, int] = {}
        self._last: Snapshot | None = None
        self._tally = AnnouncementTally(AlarmLimits())

    def app(self, settings: Settings, ledger: Ledger, pagerduty_secret: str = "") -> ASGIApp:
        """Return the ASGI app that decks attach to.

        `ledger`: record of the uses of tokens. `pagerduty_secret`: signs the webhooks of PagerDuty.
        """
        # Tokens expire by this machine's clock, with its steps.
        clock, sharing = SystemClock(), settings.collector
        tokens = WatchedTokens(sharing.tokens, clock.monotonic)
        access = Access(tokens, clock, is_proxied=sharing.behind_proxy, ledger=ledger)
        return collector_app(
            self.hub,
            self._monitor,
            self._history,
            access,
            self.counted,
            notifier=self._notifier,
            links=self._links,
            find_life=self._notifier.find_life,
            pagerduty_secret=pagerduty_secret,
        )

    def beat(self, post: Post, address: str) -> None:
        """Set `heartbeat` to a heartbeat that calls `address`, but do not start it. `post`: sends a request."""
        self.heartbeat = Heartbeat(post, address, self.vitals, self._monitor.clock, _warn)

    def counted(self) -> Counted:
        """Return a copy of the counts that the metrics show. A thread can read the copy safely."""
        engine = self._others.engine if self._others else None
        return Counted(
            turns=self._turns,
            rounds=self._rounds,
            probe_bytes=self._prober.weights if self._prober else {},
            probe_restarts=self._prober.deaths if self._prober else None,
            announced=self._tally.counts,
            flood_seconds=self._tally.flood_seconds,
            requests=deepcopy(self._requests),
            notifications=dict(self._notifier.results),
            spool_messages=self._notifier.waiting,
            spool_since=self._notifier.waiting_since,
            readers=self.hub.readers,
            beat_at=self._beat_at(),
            held_events=engine.held_events if engine else None,
            is_apart=engine.fault.apart_since is not None if engine else None,
            is_notifier=engine.desk_epoch is not None if engine else None,
            writes_refused=engine.refused if engine else None,
        )

    def otlp_encoder(self) -> Callable[[], bytes] | None:
        """Return a function that encodes the current metrics as an OTLP request; None before the first snapshot.

        A thread may call the function.
        """
        snapshot, clock = self.hub.snapshot, self._monitor.clock
        if snapshot is None:
            return None
        scrape = scrape_of(snapshot, RenderTime.from_snapshot(snapshot, clock.now()), __version__, self.counted())
        resource = {"service.name": "livedeck", "service.version": __version__, "service.instance.id": this_machine()}
        at = clock.now() + timedelta(seconds=clock.offset)
        return partial(encode_request, scrape, resource, min(self._started_at, at), at)

    def _beat_at(self) -> datetime | None:
        """Return when the last heartbeat was accepted, by this machine's clock; None if no heartbeat is set."""
        if self.heartbeat is None or self.heartbeat.taken_at is None:
            return _NEVER if self.heartbeat else None
        return self.heartbeat.taken_at + timedelta(seconds=self._monitor.clock.offset)

    def vitals(self) -> Vitals:
        """Return the state that the heartbeat reports."""
        fault = self._history.lasting_fault if self._history else ""
        fault = fault or self._notifier.fault or (self._others.fault if self._others else "")
        return Vitals(self._turned_at, self._answered_at, self._notifier.waiting_since, fault, self._interval)

    async def tell_clock(self, clock: FollowedClock) -> None:
        """Send attached decks and walls the time after each change of the followed clock, until cancelled."""
        while True:
            await clock.changed()
            self.hub.beat()

    async def watch(self) -> None:
        """Print and publish each snapshot, and pass it to the notifier, until cancelled."""
        async with aclosing(self._monitor.snapshots()) as snapshots:
            async for snapshot in snapshots:
                self._turned_at, self._answered_at = self._monitor.clock.now(), snapshot.link.as_of
                self._interval = snapshot.link.interval
                self._turns = count_turns(self._turns, snapshot)
                self._rounds, self._last = count_rounds(self._rounds, self._last, snapshot), snapshot
                self._tally.take(snapshot.changes, snapshot.at)
                await self.hub.publish(snapshot)
                self._print(snapshot)
                for message in await self._notifier.take(snapshot):
                    echo(f"{message.at:%Y-%m-%d %H:%M:%S}Z  notify            {message.target}: {message.title}")

    def _print(self, snapshot: Snapshot) -> None:
        for line in change_lines(self._shown.news(snapshot)):
            echo(line)
        link = snapshot.link
        if link.state is not self._reported and link.state is not ConnectionState.CONNECTING:
            self._reported = link.state
            texts = {ConnectionState.OK: "the platform responds", ConnectionState.POOR: f"poor link: {poor_text(link)}"}
            echo(f"livedeck collector run: {texts.get(link.state, f'cannot watch: {link.why}')}", err=True)

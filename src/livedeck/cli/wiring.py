"""Builders of clients, monitors and histories from the settings. Nothing else constructs these."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from uuid import uuid4

from livedeck import connect
from livedeck.cli.exit_codes import MachineError
from livedeck.cli.output import echo
from livedeck.client import Api, Misconfigured, Outgoing, QosSamples, Secret
from livedeck.egress import Egress
from livedeck.environment import expand_user, this_process
from livedeck.log import Log
from livedeck.monitor import (
    BitrateUnit,
    Clock,
    History,
    HistoryReader,
    HistoryReads,
    LimitsSource,
    Monitor,
    NotifyFault,
    NotReadError,
    Ruling,
    Rulings,
    Shares,
    SystemMachine,
    Video,
    Viewer,
)
from livedeck.monitor.detection.units import unit_of_records
from livedeck.monitor.history import StreamKey
from livedeck.monitor.signal.series import MAX_SAMPLES
from livedeck.secret_sources import read_addresses, read_collector_token
from livedeck.settings import OFF, DisplaySettings, Settings, SettingsError, key_location, setting_location
from livedeck.text.secrets import register_address

if TYPE_CHECKING:
    from livedeck.cli.followed_clock import FollowedClock
    from livedeck.collector.attached.link import Link
    from livedeck.collector.attached.reads import RemoteHistory
    from livedeck.collector.attached.remote import Remote
    from livedeck.presentation.filtering import NamedViews
    from livedeck.probe.asking import Looks
    from livedeck.probe.fetch import Fetcher
    from livedeck.probe.plan import Plan
    from livedeck.probe.prober import Prober
    from livedeck.ui.shell.context import Keymap

T = TypeVar("T")

_log = Log("livedeck.probe")

_RENEWAL = 60.0
"""Seconds between two reads of the file of signed addresses."""

_MONOTONIC = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
"""Clock that goes on while the machine sleeps. On Linux, CLOCK_MONOTONIC stops during sleep."""


class SystemClock:
    """Time of this machine."""

    def now(self) -> datetime:
        """Return the current time in UTC, aware."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Return seconds of a clock that never runs backwards and also counts while the machine sleeps."""
        return time.clock_gettime(_MONOTONIC)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


def make_paced_api(settings: Settings, clock: FollowedClock | None) -> Api:
    """Return a client whose time limits run on the followed clock. Raises SettingsError, Misconfigured."""
    return make_api(settings, clock=clock, machine_seconds=clock.machine_seconds) if clock else make_api(settings)


async def follow_clock(settings: Settings, stack: AsyncExitStack) -> FollowedClock | None:
    """Return the rehearsal's clock; None if `follow_clock` or the address is not set. The stack stops it.

    Raises SettingsError.
    """
    if not settings.follow_clock or not settings.base_url:  # `make_api` says how to set the address
        return None
    from livedeck.cli.followed_clock import check_address, following
    from livedeck.cli.options import follows_anywhere

    check_address(settings, is_sure=follows_anywhere())
    return await stack.enter_async_context(following(settings, SystemClock()))


def make_api(
    settings: Settings,
    *,
    clock: Clock | None = None,
    machine_seconds: Callable[[float], float] = float,
    mount: Any = None,
) -> Api:
    """Return a client of the configured platform, or of the ASGI app `mount`.

    `clock`: None for this machine's. `machine_seconds`: converts seconds of `clock` to seconds of this machine.

    The client returns bit rates as the platform sends them; `rate_unit` of the settings says how to read them. Raises
    SettingsError, Misconfigured.
    """
    return connect.make_api(settings, clock=clock or SystemClock(), machine_seconds=machine_seconds, mount=mount)


def make_keymap(settings: DisplaySettings) -> Keymap:
    """Return the keymap with the keys of the settings. Raises SettingsError with a line for each unusable key."""
    from livedeck.ui.features import FEATURES
    from livedeck.ui.shell.context import ActionRegistry
    from livedeck.ui.shell.keymap import read_keymap

    keymap, errors = read_keymap(ActionRegistry(FEATURES), settings.keys)
    if errors:
        raise SettingsError("\n".join(f"{key_location(error.name)}: {error.reason}" for error in errors))
    return keymap


def make_views(settings: DisplaySettings) -> NamedViews:
    """Return the named views of the settings. Raises SettingsError with a line for each unusable view."""
    from livedeck.presentation.events import EVENTS
    from livedeck.presentation.filtering import FilterError, TableView, read_view

    views, errors = dict[str, TableView](), list[str]()
    for name, view in settings.views.items():
        try:
            views[name] = read_view(
                EVENTS, name, rows=view.filter, sort=view.sort, columns=view.columns, group=view.group
            )
        except FilterError as error:
            errors.append(f"{setting_location(('views', name))}: views.{name}: {error}")
    if errors:
        raise SettingsError("\n".join(errors))
    return views


@asynccontextmanager
async def make_outgoing(settings: Settings, egress: Egress | None = None) -> AsyncIterator[Outgoing]:
    """Open a sender of requests to webhooks and collectors, with the proxy and certificates of the settings.

    `egress`: rule for the addresses that requests may reach; None allows every address, as for a collector.
    """
    if settings.proxy:
        register_address(settings.proxy)
    async with Outgoing(
        proxy=settings.proxy or None,
        ca_file=settings.ca_file and expand_user(str(settings.ca_file)),
        use_environment=settings.use_environment,
        egress=egress,
    ) as outgoing:
        yield outgoing


@asynccontextmanager
async def make_history(
    settings: Settings, clock: Clock | None = None, link: Link | None = None
) -> AsyncIterator[History | None]:
    """Open the history from the settings, and close it after the block. Yields None if the history is off.

    `link`: link to the collector, which then receives the operator's actions too.
    """
    if settings.history == OFF:
        yield None
        return
    now = (clock or SystemClock()).now()
    if link is None:
        history = await History.open(settings.history_file(), now, retention_days=settings.retention_days)
    else:
        from livedeck.collector.attached.history import AttachedHistory

        attached = await AttachedHistory.open(settings.history_file(), now, retention_days=settings.retention_days)
        attached.link, history = link, attached
    try:
        yield history
    finally:
        await history.close()


@asynccontextmanager
async def make_audit(settings: Settings) -> AsyncIterator[History | None]:
    """Open the history to record a change; yields None if the history is off. Raises SettingsError, Misconfigured.

    With `collector_url`, the collector receives the record of the change, too, to learn who completed an event. At the
    end, prints a fault of the history: a change that could not be recorded, or a corrupt file that was set aside.
    """
    async with AsyncExitStack() as stack:
        link = await make_link(settings, stack) if settings.collector_urls else None
        history: History | None = None
        is_said = False
        try:
            async with make_history(settings, link=link) as history:
                yield history
        except NotReadError:  # the error that ends the command names the fault
            is_said = True
            raise
        finally:  # an outcome may be unknown and unrecorded
            if history is not None and history.fault and not is_said:
                echo(f"livedeck: {history.fault}", err=True)


@asynccontextmanager
async def keep_act(settings: Settings) -> AsyncIterator[History]:
    """Open this machine's history to record an act of a person. The settings must not turn the history off.

    At the end, raises MachineError if the act was not recorded. Prints a notice if a corrupt file was set aside and the
    act was recorded in a new file.
    """
    async with make_history(settings) as history:
        assert history is not None
        yield history
    if not history.is_written:  # the close has tried it again
        raise MachineError(f"not recorded: {history.fault or 'the file did not answer in time'}")
    if history.fault:
        echo(f"livedeck: {history.fault}", err=True)


async def make_link(settings: Settings, stack: AsyncExitStack) -> Link:
    """Return a link to the collector; the stack closes it. Raises SettingsError, Misconfigured."""
    from livedeck.collector.attached.link import Link

    outgoing = await stack.enter_async_context(make_outgoing(settings))
    return Link(outgoing, settings.collector_urls, Secret(read_collector_token(settings)))


def history_reader(settings: Settings) -> HistoryReader | None:
    """Return a reader of this machine's history, for commands that record nothing; None without a history file."""
    path = settings.history_file()
    return HistoryReader(path) if path else None


def written_history(settings: Settings) -> HistoryReader | None:
    """Return a reader of this machine's history; None without a history file, or if the file does not exist yet."""
    reader = history_reader(settings)
    return reader if reader and reader.path.exists() else None


async def known_unit(settings: Settings, origin: str, sent: Mapping[StreamKey, QosSamples]) -> BitrateUnit | None:
    """Return the unit of bit rates that the history of the collector or of this machine uses; None if unknown.

    A ruling names the unit. Without a ruling, the unit follows from a comparison of `sent` with the recorded values of
    the same samples. `origin`: host of the platform. `sent`: samples by stream, as the platform sent them.
    """
    async with AsyncExitStack() as stack:
        try:
            reads = await _reads(settings, stack)
        except (SettingsError, Misconfigured):
            return None
        if reads is None:
            return None
        ruled = Rulings().including(await reads.ruling_log(datetime.fromtimestamp(0, UTC))).unit_of(origin)
        if ruled is not None:
            return ruled
        until = max((time for samples in sent.values() for time in samples.time), default=0.0)
        streams = {key.event_id: key.stream_id for key in sent}
        recorded = await reads.recorded(streams, until, newest=MAX_SAMPLES)
    found = (unit_of_records(sent[key], recorded[key.event_id].readings) for key in sent if key.event_id in recorded)
    return next(filter(None, found), None)


async def _reads(settings: Settings, stack: AsyncExitStack) -> HistoryReads | None:
    """Return the history of the collector, or else of this machine; None without one."""
    if not settings.collector_urls:
        return history_reader(settings)
    from livedeck.collector.attached.reads import RemoteHistory

    return RemoteHistory(await make_link(settings, stack))


@asynccontextmanager
async def open_records(settings: Settings, path: Path | None = None) -> AsyncIterator[HistoryReader | RemoteHistory]:
    """Open the history for reading: the file `path`, else the collector of `collector_url`, else this machine's file.

    Reads raise CollectorError if the collector does not respond, or StorageError if the file cannot be read. Opening
    raises SettingsError or Misconfigured.
    """
    async with AsyncExitStack() as stack:
        if path is None and settings.collector_urls:
            from livedeck.collector.attached.reads import RemoteHistory

            yield RemoteHistory(await make_link(settings, stack), is_strict=True)
            return
        path = path or settings.history_file()
        if path is None:
            raise SettingsError("no history is kept, so there is no past to show: set `history` in the settings")
        yield HistoryReader(path, is_strict=True)


def make_monitor(
    api: Api,
    clock: Clock | None = None,
    *,
    settings: Settings | None = None,
    history: History | None = None,
    reader: HistoryReader | None = None,
    limits_source: LimitsSource | None = None,
    notify_fault: Callable[[], NotifyFault] | None = None,
    shares: Shares | None = None,
    viewer: Viewer | None = None,
) -> Monitor:
    """Return a monitor of the platform. `settings`: None for the defaults. `clock`: None for this machine's.

    `reader`: history of this machine's decks, to read if there is no `history`. `limits_source`: source of limits that
    change at run time. `notify_fault`: returns the fault of the notifications. `shares`: collectors that share the
    polling. `viewer`: probe of what viewers get.
    """
    settings = settings or Settings()
    return Monitor(
        api,
        clock or SystemClock(),
        limits=settings.limits_in_force(),
        cadence=settings.polling_cadence(),
        limits_source=limits_source,
        history=history,
        reader=reader,
        actor=this_process(),
        notify_fault=notify_fault,
        shares=shares,
        unit=settings.rate_unit,
        machine=None if clock else SystemMachine(),
        maintenance=settings.maintenance_windows(),
        viewer=viewer,
    )


def make_probe_plan(settings: Settings) -> Plan:
    """Return addresses and limits of the probe. Raises SettingsError if the file of addresses cannot be used."""
    from livedeck.probe.plan import Plan

    probe = settings.probe
    path = probe.playlists_file and expand_user(str(probe.playlists_file))
    return Plan(
        probe.playlist,
        probe.use_play_link,
        settings.base_url,
        own={event_id: event.playlist for event_id, event in settings.events.items() if event.playlist},
        secret=read_addresses("probe.playlists_file", path) if path else {},
        interval=probe.interval,
        budget=probe.budget_kbit * 1000,
    )


def make_fetcher(settings: Settings, outgoing: Outgoing) -> Fetcher:
    """Return the sender of the probe's requests."""
    from livedeck.probe.fetch import Fetcher

    return Fetcher(outgoing, session=f'sid="{uuid4()}",sf=h,st=l' if settings.probe.cmcd else "")


def make_looks() -> Looks | None:
    """Return the decoder of pictures and sound; None if this machine cannot judge them."""
    from livedeck.probe.eyes import Eyes, refusal

    return None if refusal() else Eyes()


async def _renew_addresses(settings: Settings, prober: Prober) -> None:
    """Read the file of signed addresses again each minute, until cancelled. Logs a fault of the file."""
    while True:
        await asyncio.sleep(_RENEWAL)
        try:
            plan = await asyncio.to_thread(make_probe_plan, settings)
        except SettingsError as error:
            _log.warning("the addresses of playlists are not renewed", reason=str(error))
            continue
        if plan != prober.plan:
            prober.replan(plan)


@asynccontextmanager
async def open_prober(settings: Settings, clock: Clock | None = None) -> AsyncIterator[Prober | None]:
    """Run the probe of playlists while the block runs; yields None if it is off. Raises SettingsError, Misconfigured.

    No request is sent before the monitor wants an event that has an address.
    """
    if not settings.probe.enabled:
        yield None
        return
    from livedeck.probe.plan import volume_text
    from livedeck.probe.prober import Prober

    async with make_outgoing(settings) as outgoing:
        looks = make_looks() if settings.probe.pictures else None
        plan = make_probe_plan(settings)
        prober = Prober(plan, make_fetcher(settings, outgoing), clock or SystemClock(), looks)
        _log.info("the probe is on", budget=volume_text(plan.budget), see="livedeck probe --plan")
        running = [asyncio.create_task(prober.run(), name="probe")]
        if settings.probe.playlists_file:
            running.append(asyncio.create_task(_renew_addresses(settings, prober), name="probe addresses"))
        try:
            yield prober
        finally:
            for task in running:
                task.cancel()
            await asyncio.wait(running)
            if looks is not None:
                await looks.close()


class Watch(NamedTuple):
    """Source of data for a command. `feed`: a monitor of the platform, or the change stream of a collector.

    `api`: None if an attached deck has no token for the platform. `records`: reader of the past, or None if no past is
    kept. `host`: host name of the platform, or of the collector. `clock`: clock of the rehearsal that is followed.
    `reader`: reader of the history of this machine, for a command that records nothing.
    """

    feed: Monitor | Remote
    api: Api | None
    history: History | None
    records: HistoryReads | None
    host: str
    clock: FollowedClock | None = None
    reader: HistoryReader | None = None

    @property
    def unread(self) -> str:
        """Warning that people's alarm actions and silences could not be read; empty if read, or without a history."""
        reason = self.feed.unread_acts if isinstance(self.feed, Monitor) else ""
        if not reason or self.reader is None or not self.reader.path.exists():
            return ""
        return (
            f"{NotReadError(reason)}. So acknowledgements, shelves, notes and silences of this machine are not known."
        )

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Return the result of `work`. Cancels it and raises NoClockError if the clock can be followed no longer."""
        return await (self.clock.run(work) if self.clock else work)


@asynccontextmanager
async def open_watch(
    settings: Settings, *, keeps_history: bool = False, limits_source: LimitsSource | None = None, probes: bool = False
) -> AsyncIterator[Watch]:
    """Open monitoring by a monitor of the platform, or by the collector if `collector_url` is set.

    `keeps_history`: record samples and actions. If False, livedeck only reads the history of this machine's decks.
    `probes`: probe playlists too, if the settings enable the probe; a collector probes for its decks. Raises
    SettingsError, Misconfigured.
    """
    async with AsyncExitStack() as stack:
        if settings.collector_urls:
            yield await _attach(settings, stack, keeps_history=keeps_history, limits_source=limits_source)
            return
        clock = await follow_clock(settings, stack)
        api = await stack.enter_async_context(make_paced_api(settings, clock))
        history = await stack.enter_async_context(make_history(settings, clock)) if keeps_history else None
        reader = None if keeps_history else history_reader(settings)
        viewer = await stack.enter_async_context(open_prober(settings, clock)) if probes else None
        monitor = make_monitor(
            api, clock, settings=settings, history=history, reader=reader, limits_source=limits_source, viewer=viewer
        )
        yield Watch(monitor, api, history, history, api.host, clock, reader)


async def _attach(
    settings: Settings, stack: AsyncExitStack, *, keeps_history: bool, limits_source: LimitsSource | None
) -> Watch:
    from livedeck.collector.attached.reads import RemoteHistory
    from livedeck.collector.attached.remote import Remote

    link = await make_link(settings, stack)
    has_token = bool(settings.base_url and settings.token_sources)
    api = await stack.enter_async_context(make_api(settings)) if has_token else None
    history = await stack.enter_async_context(make_history(settings, link=link)) if keeps_history else None
    make_alone = partial(make_monitor, api, settings=settings, limits_source=limits_source) if api else None
    remote = Remote(
        link,
        SystemClock(),
        actor=this_process(),
        find_video=partial(_find_video, api) if api else None,
        make_monitor=None if settings.follow_clock else make_alone,
        polls_alone=settings.collector_fallback == "poll",
        machine=SystemMachine(),
        is_rehearsal=settings.follow_clock,
    )
    return Watch(remote, api, history, RemoteHistory(link), api.host if api else link.host)


async def _find_video(api: Api, video_id: str) -> Video:
    """Return the video with that id. Raises ApiError; NotFound if there is none."""
    await api.posters.list(video_id, per_page=1)
    return Video(video_id)


async def rule(settings: Settings, make: Callable[[Rulings, datetime, str], Ruling]) -> Ruling:
    """Record a ruling and return it. `make`: makes the ruling from the earlier rulings, the time and the actor.

    Raises SettingsError if the history is off, NotReadError if it cannot be read, and MachineError if it cannot be
    written.
    """
    if settings.history_file() is None:
        raise SettingsError("no history is kept, so no deck would see the ruling: set `history` in the settings")
    async with keep_act(settings) as history:
        rulings = Rulings().including(await history.whole(history.new_rulings()))
        ruling = make(rulings, SystemClock().now(), this_process())
        await history.record_ruling(ruling)
    return ruling

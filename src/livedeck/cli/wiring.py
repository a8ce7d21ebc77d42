"""Settings made into the objects that do the work. Nothing is constructed anywhere else."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from livedeck.cli.secret_sources import SettingsTokenSource, read_collector_token, read_token
from livedeck.client import Api, Outgoing, Secret
from livedeck.egress import Egress
from livedeck.environment import config_path, expand_user, this_process
from livedeck.monitor import Clock, History, HistoryReader, HistoryReads, LimitsSource, Monitor, Shares, Video
from livedeck.settings import OFF, DisplaySettings, Settings, SettingsError, key_location
from livedeck.text.secrets import register_address

if TYPE_CHECKING:
    from livedeck.collector.attached.link import Link
    from livedeck.collector.attached.reads import RemoteHistory
    from livedeck.collector.attached.remote import Remote
    from livedeck.ui.shell.context import Keymap


from livedeck.monitor import Ruling, Rulings

_MONOTONIC = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
"""On Linux the monotonic clock stands still while the machine sleeps; elsewhere it does not."""


class SystemClock:
    """The time of this machine."""

    def now(self) -> datetime:
        """Aware, UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds that never run backwards, and go on while the machine sleeps."""
        return time.clock_gettime(_MONOTONIC)

    async def sleep(self, seconds: float) -> None:
        """Return after that many seconds."""
        await asyncio.sleep(seconds)


def make_api(settings: Settings, *, clock: Clock | None = None, mount: Any = None) -> Api:
    """The client of the configured platform, or of the ASGI app `mount`. Raises SettingsError, Misconfigured."""
    if not settings.base_url:
        path = config_path()
        file = f"set base_url in {path}" if path.exists() else "run `livedeck config init`"
        raise SettingsError(f"no platform: set LIVEDECK_BASE_URL or --base-url, {file}, or try `livedeck demo`")
    clock, token = clock or SystemClock(), read_token(settings)
    if settings.proxy:
        register_address(settings.proxy)
    return Api(
        base_url=settings.base_url,
        upload_url=settings.upload_url or None,
        token=token,
        token_source=SettingsTokenSource(settings),
        read_only=settings.read_only,
        meet_segment=settings.meet_segment,
        platforms=settings.platforms,
        bitrate_unit=settings.bitrate_unit,
        timeout=settings.timeout,
        proxy=settings.proxy or None,
        ca_file=settings.ca_file and expand_user(str(settings.ca_file)),
        client_cert=settings.client_cert and expand_user(str(settings.client_cert)),
        use_environment=settings.use_environment,
        now=clock.now,
        timer=clock.monotonic,
        sleep=clock.sleep,
        mount=mount,
    )


def make_keymap(settings: DisplaySettings) -> Keymap:
    """The keys that the settings change. Raises SettingsError with the line of each that cannot be."""
    from livedeck.ui.features import FEATURES
    from livedeck.ui.shell.context import ActionRegistry
    from livedeck.ui.shell.keymap import read_keymap

    keymap, errors = read_keymap(ActionRegistry(FEATURES), settings.keys)
    if errors:
        raise SettingsError("\n".join(f"{key_location(error.name)}: {error.reason}" for error in errors))
    return keymap


@asynccontextmanager
async def make_outgoing(settings: Settings, egress: Egress | None = None) -> AsyncIterator[Outgoing]:
    """The way to webhooks and collectors, through the proxy and with the certificates of the platform. `egress`: where
    notifications may lead; None: a collector, which may be anywhere.
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
    """The history that the settings name, or None where it is off; tidied and closed in the end. `link`: to the
    collector that is told what a person does.
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
    """The history that a change is kept in; with `collector_url` the collector is told of it, too: who completes an
    event by a command is known to it as who does so at a deck. Raises SettingsError, Misconfigured.
    """
    async with AsyncExitStack() as stack:
        link = await make_link(settings, stack) if settings.collector_urls else None
        yield await stack.enter_async_context(make_history(settings, link=link))


async def make_link(settings: Settings, stack: AsyncExitStack) -> Link:
    """The way to the collector, closed with the stack. Raises SettingsError, Misconfigured."""
    from livedeck.collector.attached.link import Link

    outgoing = await stack.enter_async_context(make_outgoing(settings))
    return Link(outgoing, settings.collector_urls, Secret(read_collector_token(settings)))


def read_answers(settings: Settings) -> HistoryReader | None:
    """What persons answer to alarms at the decks of this machine, for a command that keeps no history."""
    path = settings.history_file()
    return HistoryReader(path) if path else None


@asynccontextmanager
async def open_records(settings: Settings, path: Path | None = None) -> AsyncIterator[HistoryReader | RemoteHistory]:
    """What was, for a command that only reads it: of that file, of the collector (`collector_url`), or of the file of
    the settings. The collector's raises CollectorError where it is not answered, a file's StorageError where it cannot
    be read. Raises SettingsError, Misconfigured.
    """
    async with AsyncExitStack() as stack:
        if path is None and settings.collector_urls:
            from livedeck.collector.attached.reads import RemoteHistory

            yield RemoteHistory(await make_link(settings, stack), is_strict=True)
            return
        path = path or settings.history_file()
        if path is None:
            raise SettingsError("no history is kept, so nothing is known of the past: see `history` in the settings")
        yield HistoryReader(path, is_strict=True)


def make_monitor(
    api: Api,
    clock: Clock | None = None,
    *,
    settings: Settings | None = None,
    history: History | None = None,
    answers: HistoryReader | None = None,
    limits_source: LimitsSource | None = None,
    notify_error: Callable[[], str] | None = None,
    shares: Shares | None = None,
) -> Monitor:
    """A monitor of that platform by those settings (None: the defaults) and on that clock (None: this machine's).

    `limits_source`: where its limits may change while it runs; `notify_error`: which targets of notifications take
    nothing; `shares`: the collectors that ask together with this one.
    """
    settings = settings or Settings()
    return Monitor(
        api,
        clock or SystemClock(),
        thresholds=settings.thresholds_of(),
        cadence=settings.polling_cadence(),
        overrides=settings.event_thresholds(),
        limits_source=limits_source,
        history=history,
        reader=answers,
        actor=this_process(),
        notify_error=notify_error,
        shares=shares,
    )


class Watch(NamedTuple):
    """Who watches for a command, and what it has besides. `api`: None where an attached deck has no token for the
    platform; `records`: the past, as far as it is kept for it; `host`: who is asked.
    """

    feed: Monitor | Remote
    api: Api | None
    history: History | None
    records: HistoryReads | None
    host: str


@asynccontextmanager
async def open_watch(
    settings: Settings, *, keeps_history: bool = False, limits_source: LimitsSource | None = None
) -> AsyncIterator[Watch]:
    """Who watches by those settings: a monitor of the platform, or (with `collector_url`) the collector.

    `keeps_history`: have what is seen or done kept; else it only reads what persons answered at the decks of this
    machine. Raises SettingsError, Misconfigured.
    """
    async with AsyncExitStack() as stack:
        if settings.collector_urls:
            yield await _attach(settings, stack, keeps_history=keeps_history, limits_source=limits_source)
            return
        api = await stack.enter_async_context(make_api(settings))
        history = await stack.enter_async_context(make_history(settings)) if keeps_history else None
        answers = None if keeps_history else read_answers(settings)
        monitor = make_monitor(api, settings=settings, history=history, answers=answers, limits_source=limits_source)
        yield Watch(monitor, api, history, history, api.host)


async def _attach(
    settings: Settings, stack: AsyncExitStack, *, keeps_history: bool, limits_source: LimitsSource | None
) -> Watch:
    from livedeck.collector.attached.reads import RemoteHistory
    from livedeck.collector.attached.remote import Remote

    link = await make_link(settings, stack)
    has_token = bool(settings.base_url and settings.token_sources)
    api = await stack.enter_async_context(make_api(settings)) if has_token else None
    history = await stack.enter_async_context(make_history(settings, link=link)) if keeps_history else None
    remote = Remote(
        link,
        SystemClock(),
        actor=this_process(),
        find_video=partial(_find_video, api) if api else None,
        make_monitor=partial(make_monitor, api, settings=settings, limits_source=limits_source) if api else None,
        polls_alone=settings.collector_fallback == "poll",
    )
    return Watch(remote, api, history, RemoteHistory(link), api.host if api else link.host)


async def _find_video(api: Api, video_id: str) -> Video:
    """Raises ApiError, NotFound where there is none."""
    await api.posters.list(video_id, per_page=1)
    return Video(video_id)


async def rule(settings: Settings, make: Callable[[Rulings, datetime, str], Ruling]) -> Ruling:
    """What `make` makes of the rulings so far, the time and the actor, kept in the history. Raises SettingsError where
    none is kept, or it cannot be written.
    """
    if settings.history_file() is None:
        raise SettingsError("no history is kept, so no deck would hear of it: see `history` in the settings")
    async with make_history(settings) as history:
        assert history is not None
        known = Rulings().including(await history.new_rulings())
        ruling = make(known, SystemClock().now(), this_process())
        await history.record_ruling(ruling)
        if history.fault:
            raise SettingsError(history.fault)
        return ruling

"""`livedeck doctor`: what the deck needs, check by check, each with what to do about it."""

from __future__ import annotations

import stat
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from enum import StrEnum
from os import W_OK, access
from pathlib import Path
from typing import Any

import click

from livedeck.cli.collect.engine import engine_faults
from livedeck.cli.collect.receivers import notify_faults
from livedeck.cli.exit_codes import DONE, FAULT, REFUSED, UNREACHABLE, USAGE, code_of_error, run
from livedeck.cli.options import formats, merge_flags, platform
from livedeck.cli.output import echo, echo_json
from livedeck.cli.wiring import make_api, make_keymap, make_link
from livedeck.client import (
    Api,
    ApiError,
    Event,
    FieldFault,
    Forbidden,
    Misconfigured,
    Rejected,
    Room,
    Secret,
    Unauthorized,
)
from livedeck.environment import Terminal, log_path, no_screen_reason, terminal
from livedeck.monitor.polling.connection import skew
from livedeck.settings import LoadedSettings, Settings, SettingsError, load_with_origins, unknown_variables
from livedeck.text import values
from livedeck.text.secrets import mask_secrets

MIN_COLUMNS, MIN_ROWS = 80, 24
"""A terminal of that size shows everything."""


class CheckStatus(StrEnum):
    """How a check ended."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at. `advice`: what to do; `code`: the exit code that a failure is worth."""

    name: str
    status: CheckStatus
    finding: str
    advice: str = ""
    code: int = FAULT


@click.command
@formats("table", "json")
@platform
@click.pass_context
def command(ctx: click.Context, /, *, output_format: str, **flags: Any) -> None:
    """Check the settings, the token, the platform, the clock, notifications, the terminal and the files.

    Reads the events and rooms of the platform and changes nothing. The exit code is that of the first failure.
    """

    async def work() -> int:
        checks = await run_checks(merge_flags(ctx, flags))
        if output_format == "json":
            echo_json({"checks": [_object(check) for check in checks]})
        else:
            echo("\n".join(line for check in checks for line in _lines(check)))
        return next((check.code for check in checks if check.status is CheckStatus.FAIL), DONE)

    ctx.exit(run(work))


async def run_checks(flags: dict[str, Any]) -> list[Check]:
    """Every check, in the order in which a fault of one makes the next pointless."""
    machine = [*check_terminal(terminal()), check_file("log", log_path())]
    try:
        loaded = load_with_origins(**flags)
        make_keymap(loaded.settings)
    except SettingsError as error:
        advice = "mend what is named; `livedeck config check` checks it again"
        return [Check("settings", CheckStatus.FAIL, str(error), advice, USAGE), *machine]
    settings = loaded.settings
    history, notify = check_history(settings), await check_notify(settings)
    engine = await check_engine(settings)
    asked = [*await check_collector(settings), *await check_platform(loaded)]
    return [*check_settings(loaded), *asked, history, *notify, *engine, *machine]


def check_settings(loaded: LoadedSettings) -> Iterator[Check]:
    """The settings file, the variables, and which profile is in force."""
    path, settings = loaded.document.path, loaded.settings
    if path.exists():
        yield _check_private("settings", path)
    else:
        yield Check("settings", CheckStatus.OK, f"no file at {path}", "`livedeck config init` makes one")
    for name in unknown_variables():
        yield Check("settings", CheckStatus.WARN, f"{name} is no setting", "mend its name, or unset it")
    mode = "read-only" if settings.read_only else "read and write"
    yield Check("profile", CheckStatus.OK, f"{settings.profile}, {mode}")


async def check_collector(settings: Settings) -> list[Check]:
    """Whether the deck can attach to each of its collectors by its address and token; nothing where none is set."""
    return [
        await _check_collector(settings.model_copy(update={"collector_url": address}))
        for address in settings.collector_urls
    ]


async def _check_collector(settings: Settings) -> Check:
    """That of the one address which those settings name."""
    from livedeck.collector.attached.link import CollectorError, CollectorRefusedError
    from livedeck.collector.protocol.wire import EXPIRED, REPLACED, Held, UnknownSchemaError
    from livedeck.monitor.published.codec import UnreadableSnapshotError

    async with AsyncExitStack() as stack:
        try:
            link = await make_link(settings, stack)
            Held.listed(await link.get("/v1/snapshot", "samples=0"))
        except (SettingsError, Misconfigured) as error:
            fault, advice, code = str(error), "mend the setting that is named", USAGE
        except CollectorRefusedError as error:
            advice = "ask again later"
            if error.code in {EXPIRED, REPLACED}:
                advice = "put the new token where collector_token_file or collector_token_command takes it from"
            elif error.is_of_token:
                advice = "`livedeck collector token create NAME` there makes one; see collector_token_file"
            fault, code = str(error), REFUSED
        except CollectorError as error:
            fault, advice, code = str(error), "until then this deck shows nothing as it is now", UNREACHABLE
        except UnknownSchemaError as error:
            fault, advice, code = f"{link.host}: {error}", "install the collector's version here", REFUSED
        except UnreadableSnapshotError as error:
            fault, advice, code = f"{link.host} is no collector: {error}", "mend collector_url", UNREACHABLE
        else:
            return Check("collector", CheckStatus.OK, f"{link.host} takes this deck's token")
    return Check("collector", CheckStatus.FAIL, fault, advice, code)


async def check_platform(loaded: LoadedSettings) -> list[Check]:
    """The token, one small question to the platform, and whether its events can be read whole."""
    settings = loaded.settings
    if not settings.base_url:
        if settings.collector_urls:
            return [Check("platform", CheckStatus.OK, "not asked: this deck is attached, and read-only")]
        advice = "set base_url or LIVEDECK_BASE_URL; `livedeck demo` needs none"
        return [Check("platform", CheckStatus.FAIL, "no address is set", advice, USAGE)]
    try:
        api = make_api(settings)
    except SettingsError as error:
        return [Check("token", CheckStatus.FAIL, str(error), "name one source of the token", USAGE)]
    except Misconfigured as error:
        return [Check("platform", CheckStatus.FAIL, str(error), "mend the setting that is named", USAGE)]
    async with api:
        (source,) = settings.token_sources
        return [
            Check("token", CheckStatus.OK, f"{source} of {loaded.origins[source]}"),
            *(access := await _check_access(api)),
            *await _check_uploads(api, settings),
            *_check_clock(api, settings),
            *(await check_events(api) if access[-1].status is CheckStatus.OK else []),
            *[await _check_event(api, event_id) for event_id in settings.event_thresholds()],
        ]


async def _check_access(api: Api) -> list[Check]:
    try:
        await api.without_retry().events.list(per_page=1)
    except Rejected as error:
        advice = "the platform is in trouble: ask again later"
        if isinstance(error, Unauthorized | Forbidden):
            advice = "renew the token, or choose another profile"
        return [_platform_answered(api), Check("access", CheckStatus.FAIL, str(error), advice, code_of_error(error))]
    except ApiError as error:
        advice = "see that it is up and this machine online"
        return [Check("platform", CheckStatus.FAIL, str(error), advice, code_of_error(error))]
    return [_platform_answered(api), Check("access", CheckStatus.OK, "the token is accepted")]


async def _check_uploads(api: Api, settings: Settings) -> list[Check]:
    """Whether the upload address can be reached, where one is set."""
    if not settings.upload_url:
        return []
    try:
        await api.without_retry().check_uploads()
    except ApiError as error:
        advice = "mend upload_url, or take it out where it is the API's own; everything but uploads works"
        return [Check("uploads", CheckStatus.FAIL, str(error), advice, code_of_error(error))]
    return [Check("uploads", CheckStatus.OK, "the upload address can be reached")]


_FIELD_ADVICE = "all other fields are shown and judged; set this one anew, or show the platform's support this line"


async def check_events(api: Api) -> list[Check]:
    """Read all events and rooms; see whether their fields can be read, and whether a key is known to everybody."""
    listing = api.without_retry().events.iterate()
    try:
        events = [event async for event in listing]
    except ApiError as error:
        return [Check("fields", CheckStatus.WARN, str(error), "ask again later")]
    return [*check_fields(events, listing.unreadable), *await check_keys(api, events)]


def check_fields(events: Sequence[Event], unreadable: Sequence[FieldFault]) -> list[Check]:
    """Whether every event can be read whole, naming each event and field that cannot."""
    checks = [
        Check("fields", CheckStatus.WARN, f"{_named('event', event)}: {fault}", _FIELD_ADVICE)
        for event in events
        for fault in event.faults
    ]
    if unreadable:
        finding = f"{len(unreadable)} of the listed events cannot be read: {unreadable[0]}"
        advice = "they are not shown, and nobody watches them here; show the platform's support this line"
        checks.append(Check("fields", CheckStatus.WARN, finding, advice))
    return checks or [Check("fields", CheckStatus.OK, "every event can be read whole")]


async def check_keys(api: Api, events: Sequence[Event]) -> list[Check]:
    """Whether a key of an event or a room is a name or an id, or stands in a name, where everybody can read it."""
    checks = list[Check]()
    try:
        rooms = [room async for room in api.without_retry().rooms.iterate()]
    except ApiError as error:
        rooms = []
        checks.append(
            Check("keys", CheckStatus.WARN, f"rooms and their keys are not checked: {error}", "ask again later")
        )
    keys = list(_keys(events, rooms))
    for where, key in keys:
        if key.is_public:
            finding = f"{where} {key} is also a name or an id, which everybody can read"
            advice = "give it another key: anybody can send with this one, and it is not masked where names are shown"
            checks.append(Check("keys", CheckStatus.WARN, finding, advice))
    for where, name in _names(events, rooms):
        if mask_secrets(name) != name:
            finding = f"{where}: a key or another secret stands in its name, which everybody can read"
            advice = "rename it, and replace that key; until then the name is masked in messages"
            checks.append(Check("keys", CheckStatus.WARN, finding, advice))
    found = f"none of {len(keys)} keys is known to be a name or an id, or to stand in a name"
    return checks or [Check("keys", CheckStatus.OK, found)]


def _keys(events: Sequence[Event], rooms: Sequence[Room]) -> Iterator[tuple[str, Secret]]:
    """Every key, with whose it is."""
    for event in events:
        if event.streamkey is not None:
            yield f"{_named('event', event)}: the stream key", event.streamkey
        for restream in event.restreams or ():
            if restream.key is not None:
                yield f"{_named('event', event)}: the key of restream {_shown(restream.name)}", restream.key
    for room in rooms:
        for profile in room.restreams or ():
            if profile.stream_key is not None:
                yield f"{_named('room', room)}: the key of relay profile {_shown(profile.name)}", profile.stream_key


def _names(events: Sequence[Event], rooms: Sequence[Room]) -> Iterator[tuple[str, str]]:
    """Every name, with what it is the name of."""
    for event in events:
        yield _named("event", event), event.name or ""
        for restream in event.restreams or ():
            yield f"{_named('event', event)}, restream {_shown(restream.name)}", restream.name or ""
    for room in rooms:
        yield _named("room", room), room.name or ""
        for profile in room.restreams or ():
            yield f"{_named('room', room)}, relay profile {_shown(profile.name)}", profile.name or ""


def _named(noun: str, item: Event | Room) -> str:
    return f"{noun} {_shown(item.name)} ({values.safe(item.id, 40)})"


def _shown(name: str | None) -> str:
    return values.safe(mask_secrets(name or ""), 40)


def _platform_answered(api: Api) -> Check:
    milliseconds = api.timings[-1].round_trip * 1000
    return Check("platform", CheckStatus.OK, f"{api.host} answers in {milliseconds:.0f} ms")


def _check_clock(api: Api, settings: Settings) -> Iterator[Check]:
    """Whether this machine tells the platform's time (monitoring.md, "Freshness")."""
    if not any(timing.server_date for timing in api.timings):
        return
    thresholds = settings.thresholds_of()
    ahead = skew(api.timings, 0.0, thresholds)
    if not ahead:
        yield Check("clock", CheckStatus.OK, "the platform's")
        return
    status = CheckStatus.FAIL if abs(ahead) > thresholds.skew_critical else CheckStatus.WARN
    finding = f"{abs(ahead):.0f} s {'behind' if ahead > 0 else 'ahead of'} the platform"
    yield Check("clock", status, finding, "set this machine's clock (NTP)")


async def _check_event(api: Api, event_id: str) -> Check:
    """Whether the thresholds of an event have an event: a wrong id would lie in the settings unheeded."""
    try:
        event = await api.events.get(event_id)
    except ApiError as error:
        return Check("event", CheckStatus.WARN, str(error), f'mend the id of [events."{event_id}"], or take it out')
    return Check("event", CheckStatus.OK, f"{event.name or event_id} has thresholds of its own")


def check_terminal(terminal: Terminal) -> Iterator[Check]:
    """What the full screen needs."""
    reason = no_screen_reason()
    if reason:
        yield Check("terminal", CheckStatus.WARN, reason, "start it in a terminal; without one it prints the status")
    else:
        yield Check("terminal", CheckStatus.OK, f"TERM={terminal.term}")
    colours = f"{terminal.colours} colours" if terminal.colours else "no colours (NO_COLOR)"
    has_few = 0 < terminal.colours < 256
    advice = "--theme ansi-16, or a terminal that sets COLORTERM=truecolor"
    yield _warn_if(has_few, "colour", colours, advice)
    is_small = terminal.columns < MIN_COLUMNS or terminal.rows < MIN_ROWS
    size = f"{terminal.columns}x{terminal.rows}"
    yield _warn_if(is_small, "size", size, f"{MIN_COLUMNS}x{MIN_ROWS} shows everything")
    is_utf8 = terminal.encoding.replace("-", "").lower() == "utf8"
    yield _warn_if(not is_utf8, "encoding", terminal.encoding, "set LANG to a UTF-8 locale, or use --ascii")


def _warn_if(condition: bool, name: str, finding: str, advice: str) -> Check:
    return Check(name, CheckStatus.WARN, finding, advice) if condition else Check(name, CheckStatus.OK, finding)


def check_history(settings: Settings) -> Check:
    """The file that keeps what happened."""
    path = settings.history_file()
    if path is None:
        return Check("history", CheckStatus.OK, f"not kept: history is {settings.history}")
    return check_file("history", path)


async def check_notify(settings: Settings) -> list[Check]:
    """Whether who is to be told of alarms can be reached by what the settings name; nothing is sent."""
    try:
        faults = await notify_faults(settings, looks_up=True)
    except Misconfigured as error:
        faults = [str(error)]
    if faults:
        advice = "nobody is told by that: mend it; `livedeck notify test` sends a message"
        return [Check("notify", CheckStatus.FAIL, fault, advice, USAGE) for fault in faults]
    targets = ", ".join(settings.notify.targets)
    found = f"{targets} can be used; nothing was sent" if targets else "nobody is to be told of alarms"
    return [Check("notify", CheckStatus.OK, found)]


async def check_engine(settings: Settings) -> list[Check]:
    """Whether the Redis that several collectors share can be reached and is fit; nothing where there is none."""
    try:
        faults = await engine_faults(settings)
    except (SettingsError, Misconfigured) as error:
        return [Check("engine", CheckStatus.FAIL, str(error), "mend it; `livedeck docs engine`", USAGE)]
    if faults is None:
        return []
    advice = "each collector asks for everything itself while that is so; `livedeck docs engine`"
    found = [Check("engine", CheckStatus.WARN, fault, advice) for fault in faults]
    return found or [Check("engine", CheckStatus.OK, "the Redis that the collectors share answers")]


def check_file(name: str, path: Path) -> Check:
    """A file that the deck writes: whether it can, and that nobody else can read it."""
    if path.exists():
        return _check_private(name, path) if access(path, W_OK) else _unwritable(name, path)
    parent = next(parent for parent in path.parents if parent.exists())
    if not parent.is_dir() or not access(parent, W_OK):
        return _unwritable(name, path)
    return Check(name, CheckStatus.OK, f"{path}, made when it is needed")


def _unwritable(name: str, path: Path) -> Check:
    return Check(name, CheckStatus.FAIL, f"{path} cannot be written", "give it to this user, or make room for it")


def _check_private(name: str, path: Path) -> Check:
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & 0o077:
        return Check(name, CheckStatus.WARN, f"{path} is open to others ({mode:04o})", f"chmod 600 {path}")
    return Check(name, CheckStatus.OK, f"{path} ({mode:04o})")


def _object(check: Check) -> dict[str, str]:
    return {"name": check.name, "verdict": check.status.value, "found": check.finding, "advice": check.advice}


_LABELS = {CheckStatus.OK: "✓ ok  ", CheckStatus.WARN: "▲ warn", CheckStatus.FAIL: "✖ fail"}


def _lines(check: Check) -> list[str]:
    first, *more = (values.safe(line) for line in check.finding.splitlines() or [""])
    advice = [f"-> {check.advice}"] if check.advice else []
    return [f"{_LABELS[check.status]}  {check.name:<9} {first}", *(f"{'':<18}{line}" for line in [*more, *advice])]

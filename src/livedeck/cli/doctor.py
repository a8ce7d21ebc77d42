"""`livedeck doctor`: checks of everything that the deck needs, each with advice."""

from __future__ import annotations

import stat
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from os import W_OK, access
from pathlib import Path
from typing import Any

import click

from livedeck.cli.collect.engine import engine_faults
from livedeck.cli.collect.notify import read_unsent
from livedeck.cli.collect.outputs import output_faults
from livedeck.cli.collect.receivers import make_plan, notify_faults, spool_file
from livedeck.cli.collect.tested import untested
from livedeck.cli.exit_codes import DONE, FAULT, REFUSED, UNREACHABLE, USAGE, code_of_error, run
from livedeck.cli.options import formats, merge_flags, platform
from livedeck.cli.output import echo, echo_json
from livedeck.cli.probe import plan_of, sum_text
from livedeck.cli.wiring import known_unit, make_api, make_keymap, make_link, make_views
from livedeck.client import (
    Api,
    ApiError,
    Event,
    FieldFault,
    Forbidden,
    Misconfigured,
    PaymentRequired,
    QosSamples,
    Rejected,
    Room,
    Secret,
    Shortfall,
    Unauthorized,
)
from livedeck.environment import Terminal, log_path, no_screen_reason, terminal
from livedeck.monitor.detection.units import UnitEvidence, judge_unit
from livedeck.monitor.evidence.blame import Facts, blame, seen
from livedeck.monitor.history import StreamKey
from livedeck.monitor.model.blame import Culprit
from livedeck.monitor.polling.connection import skew
from livedeck.notify.spool import DEAD, OldSpoolError
from livedeck.settings import LoadedSettings, Settings, SettingsError, load_with_origins, unknown_variables
from livedeck.text import values
from livedeck.text.secrets import mask_secrets

_LISTED, _SAMPLED = 50, 8
"""Maximum numbers for the check of the unit of bit rates: events to list, and events whose samples are read."""

_SHOWN_FAULTS = 5
"""Maximum number of events that the check of the probe names."""

MIN_COLUMNS, MIN_ROWS = 80, 24
"""Terminal size that shows everything."""


class CheckStatus(StrEnum):
    """Result of a check."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Check:
    """Result of one check. `advice`: what to do. `code`: exit code if it failed."""

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
    """Check the settings, the token, the platform, and this machine.

    Checks the clock, notifications, the terminal and the files, too. Reads the events and rooms of the platform and
    changes nothing. The exit code is that of the first failure.
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
    """Run the checks in order, and leave out checks that an earlier failure makes pointless."""
    machine = [*check_terminal(terminal()), check_file("log", log_path())]
    try:
        loaded = load_with_origins(**flags)
        make_keymap(loaded.settings)
        make_views(loaded.settings)
    except SettingsError as error:
        advice = "correct the named settings, then run `livedeck config check`"
        return [Check("settings", CheckStatus.FAIL, str(error), advice, USAGE), *machine]
    settings = loaded.settings
    history, notify = check_history(settings), await check_notify(settings)
    engine, probe = await check_engine(settings), await check_probe(settings)
    asked = [*await check_collector(settings), *await check_platform(loaded)]
    outputs = await check_outputs(settings)
    return [*check_settings(loaded), *asked, history, *notify, *outputs, *engine, *probe, *machine]


def check_settings(loaded: LoadedSettings) -> Iterator[Check]:
    """Check the settings file and the environment variables, and name the profile in use."""
    path, settings = loaded.document.path, loaded.settings
    if path.exists():
        yield _check_private("settings", path)
    else:
        yield Check("settings", CheckStatus.OK, f"no file at {path}", "`livedeck config init` creates one")
    for name in unknown_variables():
        yield Check(
            "settings", CheckStatus.WARN, f"{name} is not a setting", "correct the name of the variable, or unset it"
        )
    mode = "read-only" if settings.read_only else "read and write"
    yield Check("profile", CheckStatus.OK, f"{settings.profile}, {mode}")


async def check_collector(settings: Settings) -> list[Check]:
    """Check that the deck can attach to each collector of the settings. Without a collector, return no check."""
    return [
        await _check_collector(settings.model_copy(update={"collector_url": address}))
        for address in settings.collector_urls
    ]


async def _check_collector(settings: Settings) -> Check:
    """Check the collector that these settings name."""
    from livedeck.collector.attached.link import CollectorError, CollectorRefusedError
    from livedeck.collector.protocol.wire import EXPIRED, REPLACED, Held, UnknownSchemaError
    from livedeck.monitor.published.codec import UnreadableSnapshotError

    async with AsyncExitStack() as stack:
        try:
            link = await make_link(settings, stack)
            Held.listed(await link.get("/v1/snapshot", "samples=0"))
        except (SettingsError, Misconfigured) as error:
            fault, advice, code = str(error), "correct the named setting", USAGE
        except CollectorRefusedError as error:
            advice = "try again later"
            if error.code in {EXPIRED, REPLACED}:
                advice = (
                    "store the new token in the file of collector_token_file, or where collector_token_command reads it"
                )
            elif error.is_of_token:
                advice = "run `livedeck collector token create NAME` where the collector runs; see collector_token_file"
            fault, code = str(error), REFUSED
        except CollectorError as error:
            fault, advice, code = str(error), "until the collector responds, this deck has no current data", UNREACHABLE
        except UnknownSchemaError as error:
            fault, advice, code = f"{link.host}: {error}", "install the collector's version of livedeck here", REFUSED
        except UnreadableSnapshotError as error:
            fault, advice, code = f"{link.host} is not a collector: {error}", "correct collector_url", UNREACHABLE
        else:
            return Check("collector", CheckStatus.OK, f"{link.host} accepts this deck's token")
    return Check("collector", CheckStatus.FAIL, fault, advice, code)


async def check_platform(loaded: LoadedSettings) -> list[Check]:
    """Check the token, the platform by one small request, uploads, the clock, and the fields of all events."""
    settings = loaded.settings
    if not settings.base_url:
        if settings.collector_urls:
            return [Check("platform", CheckStatus.OK, "not polled: this deck is attached, and read-only")]
        advice = "set base_url or LIVEDECK_BASE_URL; `livedeck demo` needs none"
        return [Check("platform", CheckStatus.FAIL, "no address is set", advice, USAGE)]
    try:
        api = make_api(settings)
    except SettingsError as error:
        given = [f"{source} of {loaded.origins[source]}" for source in settings.token_sources]
        advice = f"correct {given[0]}" if given else "set one source of the token"
        return [Check("token", CheckStatus.FAIL, str(error), advice, USAGE)]
    except Misconfigured as error:
        return [Check("platform", CheckStatus.FAIL, str(error), "correct the named setting", USAGE)]
    async with api:
        (source,) = settings.token_sources
        token = Check("token", CheckStatus.OK, f"{source} of {loaded.origins[source]}")
        access = await _check_access(api)
        if access[0].status is not CheckStatus.OK:  # nothing else of the platform can be known
            return [token, *access]
        uploads, clock = await _check_uploads(api, settings), [*_check_clock(api, settings)]
        is_accepted = access[-1].status is CheckStatus.OK
        return [
            token,
            *access,
            *uploads,
            *clock,
            *([*await check_events(api, settings), await check_rates(api, settings)] if is_accepted else []),
            *[await _check_event(api, event_id) for event_id in settings.limits_in_force().events],
        ]


async def _check_access(api: Api) -> list[Check]:
    try:
        await api.without_retry().events.list(per_page=1)
    except ApiError as error:
        found = blame(Facts(failure=seen(error)))
        is_answered = isinstance(error, Rejected) and found.cause is not Culprit.STRANGER
        advice = found.advice
        if isinstance(error, Unauthorized | Forbidden):
            advice = "renew the token, or choose another profile"
        if isinstance(error, PaymentRequired):
            advice = "check the plan and the balance of the workspace, renew the token, or choose another profile"
        name = "access" if is_answered else "platform"
        check = Check(name, CheckStatus.FAIL, f"{found.text} ({error})", advice, code_of_error(error))
        return [*([_platform_answered(api)] if is_answered else []), check]
    return [_platform_answered(api), Check("access", CheckStatus.OK, "the token is accepted")]


async def _check_uploads(api: Api, settings: Settings) -> list[Check]:
    """Check that the upload address responds. Returns no check if the settings have none."""
    if not settings.upload_url:
        return []
    try:
        await api.without_retry().check_uploads()
    except ApiError as error:
        advice = "correct upload_url, or remove it to use the API's address; everything but uploads works"
        return [Check("uploads", CheckStatus.FAIL, str(error), advice, code_of_error(error))]
    return [Check("uploads", CheckStatus.OK, "the upload address can be reached")]


_FIELD_ADVICE = (
    "all other fields are shown and judged; set this field again, or send this line to the platform's support"
)


_LIST_ADVICE = "events that were not read are neither shown nor monitored; send this line to the platform's support"


async def check_events(api: Api, settings: Settings) -> list[Check]:
    """Read all events and rooms.

    Checks that their fields are readable, that no name gives away a stream key, and that limits fit an event.
    """
    listing = api.without_retry().events.iterate()
    try:
        events = [event async for event in listing]
    except ApiError as error:
        return [Check("fields", CheckStatus.WARN, str(error), "try again later")]
    return [
        *check_fields(events, listing.unreadable, listing.shortfall),
        *await check_keys(api, events),
        *_check_templates(events, settings),
    ]


def _check_templates(events: Sequence[Event], settings: Settings) -> Iterator[Check]:
    """Check that each table of limits applies to events, because a table with a wrong name has no effect."""
    for template in settings.limits_in_force().templates:
        fitting = [event for event in events if template.fits(event)]
        noun = "listed event" if len(fitting) == 1 else "listed events"
        finding = f"[[limits]] of {values.safe(str(template), 80)}: {len(fitting)} {noun}"
        yield _warn_if(not fitting, "limits", finding, "correct the names, unless you will create such an event later")


async def check_rates(api: Api, settings: Settings) -> Check:
    """Check that the unit of bit rates is known, and that the samples of some live events agree with it."""
    evidence, sent = UnitEvidence(), dict[StreamKey, QosSamples]()
    try:
        listed = await api.without_retry().events.list(per_page=_LISTED)
        live = [event for event in listed.items if event.stream and event.stream.status == "live"]
        for event in live[:_SAMPLED]:
            samples = await api.without_retry().qos.get(event.id)
            stream_id = event.stream.id if event.stream else None
            evidence = evidence.after(event.id, stream_id, samples)
            sent[StreamKey(event.id, stream_id or "")] = samples
    except ApiError as error:
        return Check("rates", CheckStatus.WARN, str(error), "try again later")
    chosen = None if settings.rate_unit else await known_unit(settings, api.host, sent)
    verdict = judge_unit(settings.rate_unit, chosen, evidence)
    if verdict.question:
        advice = "compare a rate with the encoder's setting; until the unit is known, no bit rate raises an alarm"
        return Check("rates", CheckStatus.WARN, verdict.question, advice)
    origin = "by the settings" if settings.rate_unit else "by a ruling or the history" if chosen else "by the samples"
    if not (settings.rate_unit or chosen or evidence.proof):
        return Check("rates", CheckStatus.OK, "no sample has shown yet whether rates are in bit/s or kbit/s")
    return Check("rates", CheckStatus.OK, f"counted in {verdict.unit}/s, {origin}")


def check_fields(
    events: Sequence[Event], unreadable: Sequence[FieldFault], shortfall: Shortfall | None = None
) -> list[Check]:
    """Check that all events were received and all their fields are readable. Returns a warning for each fault."""
    checks = [
        Check("fields", CheckStatus.WARN, f"{_named('event', event)}: {fault}", _FIELD_ADVICE)
        for event in events
        for fault in event.faults
    ]
    if unreadable:
        finding = f"{len(unreadable)} of the listed events cannot be read: {unreadable[0]}"
        checks.append(Check("fields", CheckStatus.WARN, finding, _LIST_ADVICE))
    if shortfall:
        finding = f"the list of events is incomplete: {shortfall.text('event')}"
        checks.append(Check("fields", CheckStatus.WARN, finding, _LIST_ADVICE))
    return checks or [Check("fields", CheckStatus.OK, "all fields of all events are readable")]


async def check_keys(api: Api, events: Sequence[Event]) -> list[Check]:
    """Check that no stream key of an event or room equals an id or is part of a name, which everyone can read."""
    checks = list[Check]()
    try:
        rooms = [room async for room in api.without_retry().rooms.iterate()]
    except ApiError as error:
        rooms = []
        checks.append(
            Check("keys", CheckStatus.WARN, f"rooms and their keys are not checked: {error}", "try again later")
        )
    keys = list(_keys(events, rooms))
    for where, key in keys:
        if key.is_public:
            finding = f"{where} {key} is also a name or an id, which everyone can read"
            advice = "change the key: anyone who reads the name or id can send, and livedeck cannot mask the key there"
            checks.append(Check("keys", CheckStatus.WARN, finding, advice))
    for where, name in _names(events, rooms):
        if mask_secrets(name) != name:
            finding = f"{where}: its name contains a key or another secret, which everyone can read"
            advice = "rename the object, and replace the secret; until you rename it, messages mask its name"
            checks.append(Check("keys", CheckStatus.WARN, finding, advice))
    found = f"{values.counted(len(keys), 'stream key')} checked: none is a name, an id or a part of a name"
    return checks or [Check("keys", CheckStatus.OK, found)]


def _keys(events: Sequence[Event], rooms: Sequence[Room]) -> Iterator[tuple[str, Secret]]:
    """Yield pairs: the owner of a stream key in words, and the key."""
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
    """Yield pairs: an object in words, and its name."""
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
    return Check("platform", CheckStatus.OK, f"{api.host} responds in {milliseconds:.0f} ms")


def _check_clock(api: Api, settings: Settings) -> Iterator[Check]:
    """Compare this machine's clock with the platform's (monitoring.md, "Freshness")."""
    if not any(timing.server_date for timing in api.timings):
        return
    thresholds = settings.limits_in_force().base
    ahead = skew(api.timings, 0.0, thresholds)
    if not ahead:
        yield Check("clock", CheckStatus.OK, "agrees with the platform")
        return
    status = CheckStatus.FAIL if abs(ahead) > thresholds.skew_critical else CheckStatus.WARN
    finding = f"{abs(ahead):.0f} s {'behind' if ahead > 0 else 'ahead of'} the platform"
    yield Check("clock", status, finding, "set this machine's clock (NTP)")


async def _check_event(api: Api, event_id: str) -> Check:
    """Check that an event with thresholds of its own exists: settings with a wrong id would have no effect."""
    try:
        event = await api.events.get(event_id)
    except ApiError as error:
        return Check("event", CheckStatus.WARN, str(error), f'correct the id of [events."{event_id}"], or remove it')
    return Check("event", CheckStatus.OK, f"{event.name or event_id} has its own thresholds")


def check_terminal(terminal: Terminal) -> Iterator[Check]:
    """Check the terminal for the full screen: colours, size, encoding."""
    reason = no_screen_reason()
    if reason:
        yield Check(
            "terminal", CheckStatus.WARN, reason, "start it in a terminal; otherwise livedeck prints the status"
        )
    else:
        yield Check("terminal", CheckStatus.OK, f"TERM={terminal.term}")
    colours = f"{terminal.colours} colours" if terminal.colours else "no colours (NO_COLOR)"
    has_few = 0 < terminal.colours < 256
    advice = "--theme ansi-16, or a terminal that sets COLORTERM=truecolor"
    yield _warn_if(has_few, "colour", colours, advice)
    is_small = terminal.columns < MIN_COLUMNS or terminal.rows < MIN_ROWS
    size = f"{terminal.columns}x{terminal.rows}"
    yield _warn_if(is_small, "size", size, f"enlarge the terminal to {MIN_COLUMNS}x{MIN_ROWS} to see everything")
    is_utf8 = terminal.encoding.replace("-", "").lower() == "utf8"
    yield _warn_if(not is_utf8, "encoding", terminal.encoding, "set LANG to a UTF-8 locale, or use --ascii")


def _warn_if(condition: bool, name: str, finding: str, advice: str) -> Check:
    return Check(name, CheckStatus.WARN, finding, advice) if condition else Check(name, CheckStatus.OK, finding)


def check_history(settings: Settings) -> Check:
    """Check the history file."""
    path = settings.history_file()
    if path is None:
        return Check("history", CheckStatus.OK, f"not kept: history is {settings.history}")
    return check_file("history", path)


async def check_notify(settings: Settings) -> list[Check]:
    """Check that the settings of notifications can be used, without sending anything."""
    try:
        faults = await notify_faults(settings, looks_up=True)
    except Misconfigured as error:
        faults = [str(error)]
    if faults:
        advice = "nobody is notified this way; correct the setting, then run `livedeck notify test`"
        return [Check("notify", CheckStatus.FAIL, fault, advice, USAGE) for fault in faults]
    targets = ", ".join(settings.notify.targets)
    found = f"{targets} can be used (no message sent)" if targets else "no notifications are set up"
    return [Check("notify", CheckStatus.OK, found), *_untested(settings), *await _check_dead(settings)]


async def check_outputs(settings: Settings) -> list[Check]:
    """Check tally, OTLP and webhooks, without sending anything. Empty if none is set up."""
    try:
        faults = await output_faults(settings, looks_up=True)
    except Misconfigured as error:
        faults = [str(error)]
    if faults:
        advice = "correct the setting, then run `livedeck config check`"
        return [Check("outputs", CheckStatus.FAIL, fault, advice, USAGE) for fault in faults]
    names = [f"tally to {name}" for name in settings.tally.targets]
    names += ["OTLP"] if settings.otlp.endpoint else []
    return [Check("outputs", CheckStatus.OK, f"{', '.join(names)} can be used (nothing sent)")] if names else []


async def _check_dead(settings: Settings) -> list[Check]:
    """Return a warning if the spool of this machine has dead letters."""
    if settings.collector_urls or not settings.notify.targets or not spool_file(settings).exists():
        return []
    try:
        dead = [unsent for unsent in await read_unsent(settings) if unsent.state == DEAD]
    except SettingsError as error:
        is_old = isinstance(error.__cause__, OldSpoolError)
        advice = "restart the collector" if is_old else "no message can be sent until this is mended"
        return [Check("notify", CheckStatus.WARN if is_old else CheckStatus.FAIL, str(error), advice, FAULT)]
    targets = ", ".join(sorted({values.safe(unsent.target, 60) for unsent in dead}))
    found = f"{values.counted(len(dead), 'dead letter')} for {targets}"
    return [Check("notify", CheckStatus.WARN, found, "`livedeck notify dead list` shows them")] if dead else []


def _untested(settings: Settings) -> Iterator[Check]:
    """Yield a warning for each level of a route without a test for 30 days."""
    advice = "run `livedeck notify test --end` where the collector runs"
    for place, at in untested(settings, make_plan(settings), datetime.now(UTC)):
        found = f"last accepted a test on {at:%Y-%m-%d}" if at else "has accepted no test so far"
        yield Check("notify", CheckStatus.WARN, f"{place.words}: {found}", advice)


async def check_engine(settings: Settings) -> list[Check]:
    """Check that the shared Redis of the collectors responds and is set up well. Empty without Redis."""
    try:
        faults = await engine_faults(settings)
    except (SettingsError, Misconfigured) as error:
        return [Check("engine", CheckStatus.FAIL, str(error), "correct the setting; see `livedeck docs engine`", USAGE)]
    if faults is None:
        return []
    advice = "until this is mended, each collector polls every event itself; see `livedeck docs engine`"
    found = [Check("engine", CheckStatus.WARN, fault, advice) for fault in faults]
    return found or [Check("engine", CheckStatus.OK, "the shared Redis of the collectors responds")]


async def check_probe(settings: Settings) -> list[Check]:
    """Check the addresses of the probe, and show its traffic. Empty if it is off. Reads playlists only."""
    from livedeck.probe.eyes import refusal
    from livedeck.probe.playlist import is_installed
    from livedeck.probe.prober import NOT_INSTALLED

    if not settings.probe.enabled:
        return []
    if settings.collector_urls:
        return [Check("probe", CheckStatus.OK, "the collector probes")]
    if not is_installed():
        return [Check("probe", CheckStatus.WARN, NOT_INSTALLED, "without the package no playlist is probed")]
    try:
        planned, names = await plan_of(settings)
    except (SettingsError, Misconfigured) as error:
        return [Check("probe", CheckStatus.FAIL, str(error), "correct the setting; see `livedeck docs probe`", USAGE)]
    except ApiError as error:
        return [Check("probe", CheckStatus.WARN, str(error), "try again later")]
    faults = [
        Check(
            "probe",
            CheckStatus.WARN,
            f"{values.safe(names[row.event_id], 40)}: {row.reason}",
            "see `livedeck probe --plan`",
        )
        for row in planned
        if row.address.text and row.rate is None
    ]
    blind = refusal() if settings.probe.pictures else ""
    pictures = [Check("probe", CheckStatus.WARN, blind, "or set pictures = false in [probe]")] if blind else []
    return [Check("probe", CheckStatus.OK, sum_text(settings, planned)), *pictures, *faults[:_SHOWN_FAULTS]]


def check_file(name: str, path: Path) -> Check:
    """Check that the deck can write a file, and that nobody else can read it."""
    if path.exists():
        return _check_private(name, path) if access(path, W_OK) else _unwritable(name, path)
    parent = next(parent for parent in path.parents if parent.exists())
    if not parent.is_dir() or not access(parent, W_OK):
        return _unwritable(name, path)
    return Check(name, CheckStatus.OK, f"{path} (created when needed)")


def _unwritable(name: str, path: Path) -> Check:
    return Check(name, CheckStatus.FAIL, f"{path} cannot be written", "make the file writable for this user")


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

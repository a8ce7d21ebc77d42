"""`livedeck silence`: list, add, extend and end silences."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import click

from livedeck.cli.exit_codes import DONE, UNREACHABLE, code_of_link, code_of_refusal, run
from livedeck.cli.formats import schema_name
from livedeck.cli.lookup import alarm_kind, find_known_event
from livedeck.cli.options import DURATION, formats, merge_flags, platform, time_span
from livedeck.cli.output import echo, echo_json
from livedeck.cli.status_report import TIMEOUT
from livedeck.cli.wiring import (
    SystemClock,
    Watch,
    keep_act,
    make_audit,
    make_link,
    open_records,
    open_watch,
    written_history,
)
from livedeck.environment import this_process
from livedeck.monitor import (
    MOST_ON_AIR,
    AlarmRefused,
    Content,
    Matcher,
    MatchField,
    MatchOp,
    Monitor,
    Preview,
    Severity,
    Silence,
    SilenceDraft,
    Silences,
    Snapshot,
    preview_of,
    silence_of_draft,
)
from livedeck.monitor.history.database import StorageError
from livedeck.operations.executor import audit_local
from livedeck.operations.operation import Target
from livedeck.presentation.connection import missing_text
from livedeck.presentation.serialization import alarm_object
from livedeck.presentation.silences import named, preview_lines, silence_object, silence_text
from livedeck.settings import Settings, SettingsError, load
from livedeck.text.times import TimeReference, parse
from livedeck.text.values import safe

if TYPE_CHECKING:
    from livedeck.collector.attached.remote import Remote

_PATTERN = frozenset("*?[")
"""Characters of a shell pattern."""

_SEVERITIES, _CONTENTS = (click.Choice([word.value for word in words]) for words in (Severity, Content))


@click.command
@formats("table", "json")
@platform
@click.pass_context
def list_command(ctx: click.Context, /, *, output_format: str, **flags: Any) -> None:
    """List the silences that run or are planned, and the next silence of each maintenance window.

    Sends no request to the platform. Reads them from the history of this machine, or from the collector.
    """

    async def work() -> int:
        settings = load(**merge_flags(ctx, flags))
        now, silences = SystemClock().now(), await current_silences(settings)
        if output_format == "json":
            rows = [silence_object(silence, now) for silence in silences]
            echo_json({"schema": schema_name("silence list"), "silences": rows})
        else:
            for silence in named(silences, await _names(settings)):
                echo(silence_text(silence, now))
            if not silences:
                echo("no silence runs or is planned", err=True)
        return DONE

    ctx.exit(run(work))


async def current_silences(settings: Settings) -> Sequence[Silence]:
    """Return the silences that run or are planned. Raises SettingsError, CollectorError, NotReadError."""
    now = SystemClock().now()
    if settings.collector_urls:
        from livedeck.collector.attached.remote import silences_of

        async with AsyncExitStack() as stack:
            return await silences_of(await make_link(settings, stack))
    return (await _local(settings, now)).current(now)


async def _names(settings: Settings) -> dict[str, str]:
    """Return event id -> name, from the history of this machine or of the collector; empty without a history.

    Raises SettingsError, CollectorError.
    """
    if not settings.collector_urls and settings.history_file() is None:
        return {}
    async with open_records(settings) as records:
        try:
            return {record.event_id: record.name for record in await records.events(SystemClock().now()) if record.name}
        except StorageError:
            return {}


async def _local(settings: Settings, now: datetime) -> Silences:
    """Return the silences of the history of this machine and of the maintenance windows.

    Raises SettingsError, NotReadError.
    """
    return Silences().including(await _rows(settings)).with_windows(settings.maintenance_windows(), now)


async def _rows(settings: Settings) -> tuple[Silence, ...]:
    """Return the rows of silences in the history of this machine. Raises NotReadError."""
    reader = written_history(settings)
    return await reader.whole(reader.new_silences()) if reader else ()


@click.command
@click.option("--event", metavar="EVENT", help="Alarms of this event: an id, a name, or the beginning of either.")
@click.option("--name", metavar="PATTERN", help="Alarms of events whose name matches: 'Studio *'.")
@click.option("--project", metavar="PATTERN", help="Alarms of events of this project, by its id.")
@click.option("--content", type=_CONTENTS, help="Alarms of events with this content.")
@click.option("--kind", metavar="KIND", help="Alarms of this kind: RECONNECTING, or a pattern.")
@click.option("--target", metavar="PATTERN", help="Alarms of this restream, track or part.")
@click.option("--severity", type=_SEVERITIES, help="Alarms of this severity.")
@click.option(
    "--match", "conditions", multiple=True, metavar="CONDITION", help="Further condition: 'name !~ Test *'. Repeatable."
)
@click.option("--everything", is_flag=True, help="Confirm a silence whose conditions match everything.")
@DURATION
@click.option(
    "--until-end", is_flag=True, help="With --event: end with the event's broadcast, or after --duration [4h]."
)
@click.option("--start", metavar="TIME", help="Start of a planned silence: 21:00, 2026-11-21T21:00, in 2 h.")
@click.option("--passes", type=_SEVERITIES, help="Lowest severity that still rings and notifies.")
@click.option("--comment", required=True, metavar="TEXT", help="Reason, shown with the alarms.")
@click.option("--preview", "--dry-run", "is_preview", is_flag=True, help="Print the change without sending it.")
@formats("table", "json")
@platform
@click.pass_context
def add_command(ctx: click.Context, /, *, output_format: str, is_preview: bool, **values: Any) -> None:
    """Add a silence: alarms that meet all conditions neither ring nor notify anybody for --duration.

    Detection, board, history and reports go on. At the end, alarms that are still open are announced once. A value with
    * ? or [ is a shell pattern. First prints what the silence would cover now. A silence that covers an event on air
    lasts 4 h at most; extend it later. Exit code 6 if a limit forbids the silence; 4 if --preview lacks data from the
    platform.
    """
    names = ("profile", "base_url", "upload_url", "read_only")
    flags = {name: values.pop(name) for name in names}

    async def work() -> int:
        settings = load(**merge_flags(ctx, flags))
        return await add_silence(settings, values, as_json=output_format == "json", is_preview=is_preview)

    ctx.exit(run(work))


async def add_silence(settings: Settings, values: dict[str, Any], *, as_json: bool, is_preview: bool) -> int:
    """Add the silence that the options describe, or only say what it covers. Returns the exit code.

    Raises UsageError, SettingsError, ApiError, CollectorError.
    """
    _refuse_without_history(settings)
    async with open_watch(settings) as watch:
        snapshot = await watch.feed.wait_ready(TIMEOUT)
        if (code := code_of_link(snapshot.link)) and not snapshot.events:
            echo(f"livedeck silence: cannot watch: {snapshot.link.why}", err=True)
            return code
        now = watch.feed.clock.now()
        draft = await _draft(watch, snapshot, values, now)
        try:
            planned = silence_of_draft(draft, snapshot.events, now)
            covered = preview_of(planned, snapshot)
            if not as_json:
                echo("\n".join(preview_lines(covered)), err=not is_preview)
            doubt = snapshot.link.why if code else missing_text(snapshot)
            if doubt:
                echo(f"livedeck silence: {doubt}; the silence may cover other alarms", err=True)
            silence = planned if is_preview else await _save(watch, settings, lambda feed: feed.add_silence(draft))
        except AlarmRefused as error:
            return _refused(error)
    if not is_preview:
        await _audit(settings, "silence.add", silence)
    names = {state.id: state.event.name or state.id for state in snapshot.events}
    _print("silence add", silence, now, names, as_json=as_json, covered=covered, is_saved=not is_preview)
    return UNREACHABLE if doubt and is_preview else DONE


async def _draft(watch: Watch, snapshot: Snapshot, values: dict[str, Any], now: datetime) -> SilenceDraft:
    """Return the silence that the options describe. Raises UsageError, ApiError."""
    event_id = ""
    if values["event"]:
        event = await find_known_event(watch.api, snapshot, values["event"])
        event_id = event.id
    if values["until_end"] and not event_id:
        raise click.UsageError("--until-end needs --event")
    seconds = values["duration"] or (MOST_ON_AIR.total_seconds() if values["until_end"] else None)
    if seconds is None:
        raise click.UsageError("--duration: say how long, such as 2h")
    passes = values["passes"] and Severity(values["passes"])
    return SilenceDraft(
        (*([Matcher.of(MatchField.EVENT, MatchOp.IS, event_id)] if event_id else ()), *_matchers(values)),
        seconds,
        values["comment"],
        values["start"] and _start(values["start"], now),
        passes,
        event_id if values["until_end"] else "",
        values["everything"],
        this_process(),
        uuid4().hex,
    )


def _matchers(values: dict[str, Any]) -> list[Matcher]:
    """Return the conditions of all options except --event. Raises BadParameter."""
    found = []
    for field in MatchField:
        value = None if field is MatchField.EVENT else values[field.value]
        if value is None:
            continue
        op = MatchOp.IS if _PATTERN.isdisjoint(value) else MatchOp.FITS
        if field is MatchField.KIND and op is MatchOp.IS:
            value = alarm_kind(value)
        found.append(Matcher.of(field, op, value))
    for text in values["conditions"]:
        try:
            found.append(Matcher.parse(text))
        except ValueError as error:
            raise click.BadParameter(str(error), param_hint="--match") from None
    return found


def _start(text: str, now: datetime) -> datetime:
    """Parse the value of --start. Raises BadParameter."""
    try:
        return parse(text, TimeReference(now, zone=None))
    except ValueError as error:
        raise click.BadParameter(f"{safe(text, 40)!r} {error}", param_hint="--start") from None


@click.command
@click.argument("silence_id", metavar="ID")
@click.argument("by", metavar="TIME", type=time_span)
@formats("table", "json")
@platform
@click.pass_context
def extend_command(ctx: click.Context, /, *, silence_id: str, by: float, output_format: str, **flags: Any) -> None:
    """Extend a silence by TIME, such as 30m.

    ID: the id of the silence, or its beginning. A silence that covers an event on air may last 4 h from now at most.
    Exit code 6 if no such silence runs or is planned, or if a limit forbids the extension.
    """
    ctx.exit(
        run(lambda: _change(ctx, flags, output_format, "extend", lambda feed: feed.extend_silence(silence_id, by)))
    )


@click.command
@click.argument("silence_id", metavar="ID")
@formats("table", "json")
@platform
@click.pass_context
def end_command(ctx: click.Context, /, *, silence_id: str, output_format: str, **flags: Any) -> None:
    """End a silence now, or cancel a planned one. Alarms that are still open are then announced once.

    ID: the id of the silence, or its beginning. Exit code 6 if no such silence runs or is planned.
    """
    ctx.exit(run(lambda: _change(ctx, flags, output_format, "end", lambda feed: feed.end_silence(silence_id))))


Act = Callable[["Monitor | Remote"], Awaitable[Silence]]


async def _change(ctx: click.Context, flags: dict[str, Any], output_format: str, verb: str, act: Act) -> int:
    """Extend or end a silence. Returns the exit code.

    Raises SettingsError, ApiError, CollectorError, NotReadError.
    """
    settings = load(**merge_flags(ctx, flags))
    _refuse_without_history(settings)
    async with open_watch(settings) as watch:
        # Also for extend: in a history that cannot be read, every silence would look unknown.
        rows = await _rows(settings) if isinstance(watch.feed, Monitor) else ()
        if isinstance(watch.feed, Monitor) and verb == "extend":
            link = (await watch.feed.wait_ready(TIMEOUT)).link
            if code := code_of_link(link):
                echo(f"livedeck silence: cannot watch: {link.why}", err=True)
                return code
        elif isinstance(watch.feed, Monitor):
            watch.feed.take_silences(rows)
        now = watch.feed.clock.now()
        try:
            silence = await _save(watch, settings, act)
        except AlarmRefused as error:
            return _refused(error)
    await _audit(settings, f"silence.{verb}", silence)
    _print(
        f"silence {verb}",
        silence,
        now,
        await _names(settings),
        as_json=output_format == "json",
        covered=None,
        is_saved=True,
    )
    return DONE


async def _save(watch: Watch, settings: Settings, act: Act) -> Silence:
    """Add or change a silence by `act`, store the silence, and return it.

    Raises AlarmRefused, MachineError.
    """
    silence = await act(watch.feed)
    if isinstance(watch.feed, Monitor):
        async with keep_act(settings) as history:
            history.record_silence(silence)
    return silence


def _refuse_without_history(settings: Settings) -> None:
    if not settings.collector_urls and settings.history_file() is None:
        raise SettingsError("no history is kept, so no deck would see the silence: set `history` in the settings")


def _refused(error: AlarmRefused) -> int:
    echo(f"livedeck silence: {error}", err=True)
    return code_of_refusal(error)


async def _audit(settings: Settings, action: str, silence: Silence) -> None:
    async with make_audit(settings) as history:
        target = Target("silence", silence.id, silence.what)
        await audit_local(history, SystemClock().now(), action, target, silence.comment)


def _print(
    command: str,
    silence: Silence,
    now: datetime,
    names: dict[str, str],
    *,
    as_json: bool,
    covered: Preview | None,
    is_saved: bool,
) -> None:
    now = max(now, silence.at)
    if as_json:
        covers = covered and {
            "events": [*covered.events],
            "on_air": [*covered.on_air],
            "alarms": [*map(alarm_object, covered.alarms)],
        }
        described = silence_object(silence, now)
        echo_json({"schema": schema_name(command), "saved": is_saved, "silence": described, "covers": covers})
    elif is_saved:
        word = "ended" if silence.ends_at <= silence.at else "silence"
        (shown,) = named([silence], names)
        echo(f"{word} {silence_text(shown, now)}")

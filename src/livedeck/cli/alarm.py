"""`livedeck alarm`: list alarms, once or as they change, and acknowledge, shelve or annotate an alarm."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import aclosing
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

import click

from livedeck.cli.exit_codes import DONE, FAULT, NOT_SO, UNREACHABLE, code_of_link, code_of_refusal, run
from livedeck.cli.formats import schema_name
from livedeck.cli.lookup import alarm_kind, find_known_event
from livedeck.cli.options import DURATION, FOLLOW, formats, merge_flags, platform, rehearsal
from livedeck.cli.output import echo, echo_json
from livedeck.cli.rehearsal import repeat_after_jump_back
from livedeck.cli.status_report import TIMEOUT, summary
from livedeck.cli.wiring import SystemClock, Watch, keep_act, make_audit, open_watch
from livedeck.client import Event
from livedeck.monitor import (
    ActionKind,
    Alarm,
    AlarmAction,
    AlarmChange,
    AlarmCommand,
    AlarmRefused,
    AlarmState,
    ConnectionState,
    ConnectionStatus,
    Feed,
    Monitor,
    NotWatched,
    Snapshot,
    Verdict,
)
from livedeck.monitor.kinds import ALARM_KINDS
from livedeck.operations.executor import audit_local
from livedeck.operations.operation import Target
from livedeck.presentation.alarm_text import (
    ShownChanges,
    alarm_text,
    answer_text,
    change_lines,
    note_done,
    rule_change_text,
    stop_text,
)
from livedeck.presentation.connection import missing_text, poor_text
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.serialization import (
    alarm_action_object,
    alarm_done_object,
    alarms_object,
    change_object,
    not_watched_object,
    rule_change_object,
)
from livedeck.settings import Settings, SettingsError, WatchedLimits, load
from livedeck.text.times import isoformat_utc
from livedeck.text.values import safe

if TYPE_CHECKING:
    from livedeck.collector.attached.remote import Remote


@click.command
@FOLLOW
@formats("table", "json")
@click.option(
    "--raw", is_flag=True, help="With --follow: print each change at once, before an incident can explain it."
)
@click.option("--shelved", is_flag=True, help="Print shelved, suppressed, out-of-service and just cleared alarms too.")
@platform
@rehearsal
@click.pass_context
def list_command(
    ctx: click.Context, /, *, follow: bool, output_format: str, raw: bool, shelved: bool, **flags: Any
) -> None:
    """List the alarms, most urgent first: state, start, cause, effect on viewers, advice.

    Judges the stored samples of the platform anew. Applies acknowledgements, shelves, silences and notes from the decks
    of this machine. --follow prints a line for each change of an alarm and for each alarm action. Faults of many events
    wait up to 15 s for the incident that explains them. The exit code shows only whether the platform responded with
    every event, not whether there are alarms.
    """
    if raw and not follow:
        raise click.UsageError("--raw needs --follow")

    async def work() -> int:
        settings, as_json = load(**merge_flags(ctx, flags)), output_format == "json"
        async with open_watch(settings, limits_source=WatchedLimits() if follow else None) as watch:
            if follow:
                return await watch.run(follow_alarms(watch.feed, as_json=as_json, include_quiet=shelved, is_raw=raw))
            snapshot = await watch.feed.wait_ready(TIMEOUT)
            now = watch.feed.clock.now()
            code = print_alarms(snapshot, now, as_json=as_json, include_quiet=shelved)
            if watch.unread:
                echo(f"livedeck alarm list: {watch.unread}", err=True)
            return code

    ctx.exit(run(lambda: repeat_after_jump_back(work)))


_VERDICTS = {verdict.value.replace(" ", "-"): verdict for verdict in Verdict}
"""Verdict as typed -> verdict."""

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


def _named_alarm(command: Decorated) -> Decorated:
    """Add EVENT, KIND and --target, which name an alarm, the format, and the flags of the platform to a command."""
    flags = (
        click.argument("event", metavar="EVENT"),
        click.argument("kind", metavar="KIND", type=alarm_kind),
        click.option("--target", metavar="NAME", help="Name or id of the restream, track or part with the alarm."),
    )
    command = formats("table", "json")(platform(command))
    for flag in reversed(flags):
        command = flag(command)
    return command


@click.command
@_named_alarm
@click.pass_context
def ack_command(ctx: click.Context, /, **named: Any) -> None:
    """Acknowledge an alarm: it is silent until it clears, gets worse or the acknowledgement expires.

    EVENT: an id, a name, or the beginning of either. KIND: such as NO_INGEST. Every deck with the same history or
    collector sees it. Exit code 6 if the alarm does not exist or cannot be acknowledged now.
    """
    _run_action(ctx, named, lambda _: (ActionKind.ACKNOWLEDGE, None, ""))


@click.command
@_named_alarm
@click.argument("verdict", metavar="VERDICT", type=click.Choice([*_VERDICTS]))
@click.pass_context
def close_command(ctx: click.Context, /, *, verdict: str, **named: Any) -> None:
    """Close an alarm with a verdict: real, false or meant-so. This also acknowledges the alarm.

    EVENT: an id, a name, or the beginning of either. KIND: such as NO_INGEST. VERDICT: `real`: there is, or was, such a
    fault; `false`: there was none; `meant-so`: correctly detected, but done on purpose. `livedeck alarm kpi` prints the
    share of real alarms. Exit code 6 if the alarm does not exist or is hidden.
    """
    _run_action(ctx, named, lambda _: (ActionKind.CLOSE, None, _VERDICTS[verdict].value))


@click.command
@_named_alarm
@click.pass_context
def unack_command(ctx: click.Context, /, **named: Any) -> None:
    """Take back your acknowledgement of an alarm, within 5 min.

    EVENT: an id, a name, or the beginning of either. KIND: such as NO_INGEST. Exit code 6 if there is no such
    acknowledgement.
    """
    _run_action(ctx, named, lambda _: (ActionKind.UNACKNOWLEDGE, None, ""))


@click.command
@_named_alarm
@DURATION
@click.option("--reason", required=True, metavar="TEXT", help="Reason why nobody needs to see the alarm.")
@click.option("--only-this", is_flag=True, help="Hide only this alarm, not its symptoms.")
@click.pass_context
def shelve_command(
    ctx: click.Context, /, *, duration: float | None, reason: str, only_this: bool, **named: Any
) -> None:
    """Shelve an alarm for a reason: hide it and its symptoms for --duration, or until it clears.

    EVENT: an id, a name, or the beginning of either. KIND: such as NO_INGEST. Exit code 6 if the alarm does not exist
    or cannot be shelved that long.
    """
    minutes = None if duration is None else duration / 60
    action = ActionKind.SHELVE_ALONE if only_this else ActionKind.SHELVE
    _run_action(ctx, named, lambda _: (action, minutes, reason))


@click.command
@_named_alarm
@click.pass_context
def unshelve_command(ctx: click.Context, /, **named: Any) -> None:
    """Show a shelved or out-of-service alarm again.

    EVENT: an id, a name, or the beginning of either. KIND: such as NO_INGEST. Exit code 6 if
    the alarm is neither shelved nor out of service.
    """

    def action(alarm: Alarm) -> tuple[ActionKind, float | None, str]:
        is_removed = alarm.state is AlarmState.OUT_OF_SERVICE
        return ActionKind.IN_SERVICE if is_removed else ActionKind.UNSHELVE, None, ""

    _run_action(ctx, named, action)


@click.command
@_named_alarm
@click.argument("text", metavar="TEXT")
@click.pass_context
def note_command(ctx: click.Context, /, *, text: str, **named: Any) -> None:
    """Attach a note to an alarm; an empty TEXT removes it.

    EVENT: an id, a name, or the beginning of either. KIND: such as NO_INGEST. Exit code 6 if the alarm does not exist.
    """
    _run_action(ctx, named, lambda _: (ActionKind.NOTE, None, text))


@click.command
@_named_alarm
@DURATION
@click.option("--sender", default="", metavar="NAME", help="Sender of the link, for the audit, such as a chat bot.")
@click.pass_context
def link_command(
    ctx: click.Context,
    /,
    *,
    event: str,
    kind: str,
    target: str | None,
    duration: float | None,
    sender: str,
    output_format: str,
    **flags: Any,
) -> None:
    """Make a link that acknowledges an alarm: once, within --duration (1h), without a token. The collector serves it.

    EVENT: an id, a name, or the beginning of either. KIND: such as NO_INGEST. Whoever has the link may use it, so send
    it only to people who may acknowledge. Needs `collector_url` here and `link_url` at the collector. Exit code 6 if
    the alarm does not exist.
    """
    named = (event, kind, target)
    minutes = None if duration is None else duration / 60

    async def work() -> int:
        return await _make_link(
            load(**merge_flags(ctx, flags)), named, minutes, sender, as_json=output_format == "json"
        )

    ctx.exit(run(work))


async def _make_link(
    settings: Settings, named: tuple[str, str, str | None], minutes: float | None, sender: str, *, as_json: bool
) -> int:
    """Print a link that acknowledges an alarm. Returns the exit code. Raises SettingsError, CollectorError."""
    if not settings.collector_urls:
        raise SettingsError("links are served by a collector: set `collector_url` in the settings")
    async with open_watch(settings) as watch:
        found = await _find_named(watch, named)
        if isinstance(found, int):
            return found
        assert not isinstance(watch.feed, Monitor)
        subject, alarm = found
        try:
            link, until = await watch.feed.make_link(alarm.key, minutes, sender)
        except AlarmRefused as error:
            echo(f"livedeck alarm: {subject} {alarm.kind}: {error}", err=True)
            return code_of_refusal(error)
    if as_json:
        echo_json({"schema": schema_name("alarm link"), "link": link, "until": isoformat_utc(until)})
    else:
        echo(link)
    return DONE


Act = Callable[[Alarm], tuple[ActionKind, float | None, str]]
"""Function that returns the kind of an alarm action, its minutes (None: no duration) and its text."""

_DONE = {
    ActionKind.ACKNOWLEDGE: ("alarm.acknowledge", "acknowledged"),
    ActionKind.CLOSE: ("alarm.close", "closed"),
    ActionKind.UNACKNOWLEDGE: ("alarm.unacknowledge", "acknowledgement taken back"),
    ActionKind.SHELVE: ("alarm.shelve", "shelved"),
    ActionKind.SHELVE_ALONE: ("alarm.shelve", "shelved alone"),
    ActionKind.UNSHELVE: ("alarm.return", "visible again"),
    ActionKind.IN_SERVICE: ("alarm.return", "visible again"),
}
"""Kind of an alarm action -> its name in the history, and the words to print when it is done."""

_UNDOING = {ActionKind.UNACKNOWLEDGE, ActionKind.UNSHELVE, ActionKind.IN_SERVICE}
"""Kinds of actions that undo an earlier action. If the history cannot be read, the earlier action is unknown."""


def _run_action(ctx: click.Context, values: dict[str, Any], act: Act) -> None:
    """Run a command that carries out `act` on an alarm. `values`: arguments and flags of the command."""
    named = (values.pop("event"), values.pop("kind"), values.pop("target"))
    json_name = ctx.command_path.partition(" ")[2] if values.pop("output_format") == "json" else ""
    ctx.exit(run(lambda: act_on_alarm(load(**merge_flags(ctx, values)), named, act, json_name)))


async def act_on_alarm(settings: Settings, named: tuple[str, str, str | None], act: Act, json_name: str) -> int:
    """Carry out an alarm action through the collector, or into the history of this machine. Returns the exit code.

    `named`: event, kind and target. `json_name`: the command, if it prints JSON. Raises UsageError, SettingsError,
    ApiError, CollectorError.
    """
    if not settings.collector_urls and settings.history_file() is None:
        raise SettingsError("no history is kept, so no deck would see the action: set `history` in the settings")
    async with open_watch(settings) as watch:
        found = await _find_named(watch, named)
        if isinstance(found, int):
            return found
        subject, alarm = found
        title = f"{subject} {alarm.kind}"
        action_kind, minutes, text = act(alarm)
        try:
            has_changed = await _carry_out(
                watch, settings, AlarmCommand(alarm.key, action_kind, alarm.shown, minutes, text)
            )
        except AlarmRefused as error:
            if action_kind in _UNDOING and watch.unread:
                echo(f"livedeck alarm: {title}: not done. {watch.unread}", err=True)
                return FAULT
            echo(f"livedeck alarm: {title}: {error}", err=True)
            return code_of_refusal(error)
    name, words = ("alarm.note", note_done(text)) if action_kind is ActionKind.NOTE else _DONE[action_kind]
    if has_changed:
        async with make_audit(settings) as history:
            of_alarm = Target("alarm", "/".join(alarm.key), title)
            await audit_local(history, SystemClock().now(), name, of_alarm, text)
    if json_name:
        done = alarm_done_object(alarm, action_kind, has_changed=has_changed)
        echo_json({"schema": schema_name(json_name), **done})
    else:
        echo(f"{title}: {words if has_changed else 'no change needed'}")
    return DONE


async def _find_named(watch: Watch, named: tuple[str, str, str | None]) -> tuple[str, Alarm] | int:
    """Return the subject and the named alarm, or print that the alarm is missing, and return the exit code.

    An alarm of no event, such as API_BLIND, is named by the subject that `alarm list` prints.
    """
    words, kind, target = named
    snapshot = await watch.feed.wait_ready(TIMEOUT)
    alarms = (*snapshot.alarms, *snapshot.quiet)
    for alarm in alarms:
        if not alarm.event_id and (alarm.kind, alarm.subject.casefold()) == (kind, words.strip().casefold()):
            return safe(alarm.subject, 60), alarm
    if (code := code_of_link(snapshot.link)) and not snapshot.events:
        _print_connection(snapshot.link, "livedeck alarm")
        return code
    if ALARM_KINDS[kind].is_of_deck:
        return _say_missing(safe(words, 60), kind)
    meant = await find_known_event(watch.api, snapshot, words)
    title = safe(meant.name or meant.id, 60)
    if alarm_of_event := _find_alarm(alarms, meant, kind, target):
        return title, alarm_of_event
    state = snapshot.find(meant.id)
    if state and not state.is_measured:
        unknown = f"unknown whether {title} has an alarm {kind}: its samples could not be judged; try again"
        echo(f"livedeck alarm: {unknown}", err=True)
        return UNREACHABLE
    return _say_missing(title, kind)


def _say_missing(title: str, kind: str) -> int:
    """Print that the event or subject `title` has no alarm of this kind. Returns the exit code."""
    echo(f"livedeck alarm: {title} has no alarm {kind}; `livedeck alarm list` lists them", err=True)
    return NOT_SO


async def _carry_out(watch: Watch, settings: Settings, command: AlarmCommand) -> bool:
    """Carry out the command. Returns whether it changed the alarm.

    Raises AlarmRefused, MachineError, CollectorError.
    """
    feed = watch.feed
    if not isinstance(feed, Monitor):
        return await _share(feed, command)
    action = feed.carry_out(replace(command, actor=feed.actor))
    if action is None:
        return False
    async with keep_act(settings) as history:
        history.record_alarm_action(action.moved(feed.clock.offset))
    return True


async def _share(feed: Remote, command: AlarmCommand) -> bool:
    """Have the collector carry out the command. Returns False if nothing had to change. Raises AlarmRefused."""
    key, shown = command.key, command.shown
    match command.kind:
        case ActionKind.ACKNOWLEDGE:
            return await feed.acknowledge(key, shown)
        case ActionKind.CLOSE:
            return await feed.close_alarm(key, Verdict(command.text), shown)
        case ActionKind.UNACKNOWLEDGE:
            await feed.unacknowledge(key, shown)
        case ActionKind.SHELVE | ActionKind.SHELVE_ALONE:
            only_this = command.kind is ActionKind.SHELVE_ALONE
            await feed.shelve(key, command.minutes, command.text, shown, only_this=only_this)
        case ActionKind.NOTE:
            await feed.note(key, command.text, shown)
        case ActionKind.IN_SERVICE:
            await feed.in_service(key)
        case _:
            await feed.unshelve(key)
    return True


def _find_alarm(all_alarms: Iterable[Alarm], event: Event, kind: str, target: str | None) -> Alarm | None:
    """Return the event's alarm of that kind, or None. Raises UsageError if several targets have such an alarm."""
    alarms = [alarm for alarm in all_alarms if alarm.key[:2] == (event.id, kind)]
    if target is not None:
        alarms = [alarm for alarm in alarms if target in {alarm.key.target, alarm.target_name}]
    if len(alarms) > 1:
        names = ", ".join(safe(alarm.target_name or alarm.key.target, 60) for alarm in alarms)
        raise click.UsageError(f"{kind} has several targets: add --target with one of {names}")
    return alarms[0] if alarms else None


def print_alarms(snapshot: Snapshot, now: datetime, *, as_json: bool, include_quiet: bool) -> int:
    """Print the alarms of a snapshot at `now`. Returns the exit code."""
    if as_json:
        echo_json(alarms_object(snapshot, include_quiet=include_quiet))
    else:
        render_time = RenderTime.from_snapshot(snapshot, now)
        alarms = [*snapshot.alarms, *(snapshot.quiet if include_quiet else ())]
        lines = [line for alarm in alarms for line in alarm_text(alarm, render_time, snapshot)]
        echo("\n".join([*lines, *([""] if lines else []), summary(snapshot)]))
    if snapshot.link.state is not ConnectionState.OK:
        _print_connection(snapshot.link)
    if snapshot.link.state.is_answering and (missing := missing_text(snapshot)):
        echo(f"livedeck alarm list: {missing}", err=True)
    return code_of_link(snapshot.link) or (DONE if snapshot.is_whole else UNREACHABLE)


async def follow_alarms(monitor: Feed, *, as_json: bool, include_quiet: bool, is_raw: bool = False) -> int:
    """Print every change until cancelled; changes of the connection go to standard error.

    `is_raw`: print each change of an alarm at once, without waiting until it is announced.
    """
    reported, shown = ConnectionState.OK, ShownChanges()
    stops: frozenset[NotWatched] | None = None
    async with aclosing(monitor.snapshots()) as snapshots:
        async for snapshot in snapshots:
            for stop in snapshot.link.own.stops:
                if stops is not None and stop not in stops:
                    echo_json(not_watched_object(stop)) if as_json else echo(stop_text(stop))
            stops = frozenset(snapshot.link.own.stops)
            for answer in snapshot.alarm_actions:
                text = answer_text(answer, _subject(snapshot, answer))
                echo_json(alarm_action_object(answer)) if as_json else echo(text)
            for rule_change in snapshot.rule_changes:
                subject = _event_name(snapshot, rule_change.event_id)
                echo_json(rule_change_object(rule_change)) if as_json else echo(rule_change_text(rule_change, subject))
            every = snapshot.true_changes if is_raw else snapshot.changes
            _print_changes(every if is_raw or include_quiet else shown.news(snapshot), as_json)
            state = snapshot.link.state
            is_news = state is not reported and (state.is_answering or reported.is_answering)
            if is_news and state is not ConnectionState.CONNECTING:
                reported = state
                _print_connection(snapshot.link)
    return DONE


def _print_changes(changes: Iterable[AlarmChange], as_json: bool) -> None:
    if as_json:
        for change in changes:
            echo_json(change_object(change))
        return
    for line in change_lines(changes):
        echo(line)


def _subject(snapshot: Snapshot, answer: AlarmAction) -> str:
    """Return the subject of the action's alarm; the id of its event if the alarm is no longer listed."""
    alarms = (*snapshot.alarms, *snapshot.quiet)
    return next((alarm.subject for alarm in alarms if alarm.key == answer.key), answer.key.event_id or "platform")


def _event_name(snapshot: Snapshot, event_id: str) -> str:
    """Return the name of the event, or its id if the snapshot lacks it. An empty id (all events) stays empty."""
    state = snapshot.find(event_id)
    return (state.event.name if state else None) or event_id


def _print_connection(link: ConnectionStatus, command: str = "livedeck alarm list") -> None:
    """Print the state of the connection in one line on standard error."""
    if link.state is ConnectionState.POOR:
        text = f"the link is poor: {poor_text(link)}"
    else:
        text = "the platform responds again" if link.state is ConnectionState.OK else f"cannot watch: {link.why}"
    echo(f"{command}: {text}", err=True)

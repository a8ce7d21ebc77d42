"""`livedeck notify` (notifications.md, "Commands")."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import replace
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import click

from livedeck.cli import options
from livedeck.cli.collect.engine import shared_spool
from livedeck.cli.collect.receivers import make_notification_way, make_plan, make_targets, spool_file
from livedeck.cli.collect.tested import Place, note_tested, places
from livedeck.cli.exit_codes import DONE, FAULT, NOT_SO, MachineError, run
from livedeck.cli.formats import schema_name
from livedeck.cli.lookup import alarm_kind
from livedeck.cli.options import formats, merge_flags, platform
from livedeck.cli.output import echo, echo_json
from livedeck.cli.wiring import make_link, written_history
from livedeck.monitor import NotReadError, Severity
from livedeck.monitor.kinds import ALARM_KINDS
from livedeck.monitor.kinds.kind import DeckDetector, IncidentDetector
from livedeck.notify import (
    DEAD,
    NOTIFY_FAILING,
    WAITING,
    Case,
    CaseEvent,
    Delivery,
    Entry,
    Message,
    Plan,
    Route,
    Spool,
    SpoolError,
    Status,
    Target,
    Template,
    compose,
    reasons_against,
)
from livedeck.report.recorded import latest_events
from livedeck.settings import Settings, SettingsError, load
from livedeck.text.secrets import masked_line
from livedeck.text.times import TimeReference, isoformat_utc, parse
from livedeck.text.values import safe

if TYPE_CHECKING:
    from livedeck.collector.engine.spool import SharedSpool
    from livedeck.collector.protocol.unsent import Unsent


@click.command
@click.argument("route", metavar="[ROUTE]", required=False)
@click.option(
    "--level", metavar="N", type=click.IntRange(0), help="Try this level only; 0 is the target of the route itself."
)
@click.option("--end", is_flag=True, help="Send the end of the test, too.")
@platform
@click.pass_context
def test_command(ctx: click.Context, /, *, route: str | None, level: int | None, end: bool, **flags: Any) -> None:
    """Send a message marked TEST on ROUTE, or on every route, and print the reply of each receiver.

    Tries every level of a route. --end then sends the end of the test: PagerDuty and Alertmanager close the test, Slack
    edits its message. `livedeck doctor` names the levels without a successful test in the last 30 days. Exit code 1 if
    a receiver did not take a message.
    """

    async def work() -> int:
        settings = load(**merge_flags(ctx, flags))
        plan = make_plan(settings)
        routes = [candidate for candidate in plan.routes if route in {None, candidate.name}]
        if not routes:
            if not plan.routes:
                raise SettingsError(
                    "notify.routes: no routes in these settings; run this command where the collector runs"
                )
            names = ", ".join(candidate.name for candidate in plan.routes)
            raise SettingsError(f"notify.routes: no such route {route!r}; known: {names}")
        found = [place for place in places(replace(plan, routes=tuple(routes))) if level in {None, place.level}]
        if not found:
            raise SettingsError(f"notify.routes: no level {level}; `livedeck docs notifications` explains levels")
        taken = list[Place]()
        async with make_notification_way(settings) as outgoing:
            targets = await make_targets(settings, outgoing)
            for place in found:
                if await _try(targets[place.target], plan, place, has_end=end):
                    taken.append(place)
        note_tested(settings, taken, datetime.now(UTC))
        return DONE if len(taken) == len(found) else FAULT

    ctx.exit(run(work))


async def _try(target: Target, plan: Plan, place: Place, *, has_end: bool) -> bool:
    """Send the beginning of a test; with `has_end`, also its end. Returns whether the target took what was sent."""
    begin = _test_message(plan, place, now := datetime.now(UTC))
    delivery = await target.send(begin)
    _say_delivery(place.words, delivery)
    if delivery.is_taken and has_end:
        opened = tuple(replace(alarm, receipt=delivery.receipt) for alarm in begin.opens)
        delivery = await target.send(replace(_test_message(plan, place, now, is_over=True), opened=opened))
        _say_delivery(f"{place.words}, end", delivery)
    return delivery.is_taken


def _say_delivery(subject: str, delivery: Delivery) -> None:
    verdict = "taken" if delivery.is_taken else "NOT TAKEN"
    echo(f"{subject}: {verdict}: {masked_line(delivery.answer, 300)}")


def _test_message(plan: Plan, place: Place, now: datetime, *, is_over: bool = False) -> Message:
    entry = Entry(
        Status.TEST,
        f"test/{place.route}/{place.level}/{now.timestamp() * 1000:.0f}",
        0,
        "",
        "TEST",
        "",
        Severity.INFO,
        "livedeck",
        "",
        "a test of this route",
        "",
        now,
        0.0,
        is_cleared=is_over,
    )
    template = plan.templates.get(place.target, Template())
    return compose(place.route, place.target, [entry], now, plan.sender, template=template)


@click.command
@click.argument("event", metavar="EVENT")
@click.argument("kind", metavar="KIND", type=alarm_kind)
@click.argument(
    "severity", metavar="[SEVERITY]", required=False, type=click.Choice([severity.value for severity in Severity])
)
@options.at()
@platform
@click.pass_context
def explain_command(
    ctx: click.Context, /, *, event: str, kind: str, severity: str | None, at: str | None, **flags: Any
) -> None:
    """Explain which routes would notify of an alarm KIND of EVENT, when, and why the others would not.

    KIND is a kind of alarm, such as NO_INGEST. SEVERITY is info, warning or critical; without SEVERITY, the command
    explains every severity that the kind can have. EVENT is an id, a name or the beginning of either in the history of
    this machine. An event that the history lacks is taken to have the name EVENT; EVENT has no
    effect if alarms of KIND concern no event. --at takes a time in the zone of the settings. Sends no request to the
    platform. Exit code 6 if no route would notify.
    """

    async def work() -> int:
        settings = load(**merge_flags(ctx, flags))
        if settings.collector_urls and not settings.notify.routes:
            raise SettingsError("notify.routes: the collector has the routes; run this command on its machine")
        zone = ZoneInfo(settings.notify.timezone)
        local = _moment(at, TimeReference(datetime.now(UTC), zone)).astimezone(zone)
        events, reason = await _known_events(settings, event)
        if not events:
            echo(f"livedeck notify explain: {reason}; using EVENT as typed", err=True)
        routes, fires = make_plan(settings).routes, False
        is_of_no_event = isinstance(ALARM_KINDS[kind].detector, DeckDetector)
        if not routes:
            text = "the settings have no route, so nobody is notified: see `livedeck docs notifications`"
            echo(f"livedeck notify explain: {text}", err=True)
        for level in [Severity(severity)] if severity else _severities(kind):
            case = Case(kind, level, [] if is_of_no_event else events or [CaseEvent(event, event)])
            head = "" if severity else f"{level}: "
            for route in routes:
                reasons = reasons_against(route, case)
                fires = fires or not reasons
                echo(f"{head}{route.name} -> {route.to}: {_verdict(route, case, reasons, local)}")
        return DONE if fires else NOT_SO

    ctx.exit(run(work))


def _severities(kind: str) -> list[Severity]:
    """Return every severity that an alarm of the kind can have, the worst first."""
    found = ALARM_KINDS[kind]
    ranks = sorted((found.severity.rank, found.escalated_severity.rank))
    return [level for level in Severity if ranks[0] <= level.rank <= ranks[1]]


def _moment(typed: str | None, reference: TimeReference) -> datetime:
    if typed is None:
        return reference.now
    try:
        return parse(typed, reference)
    except ValueError as error:
        raise click.BadParameter(f"{typed!r} {error}", param_hint="--at") from None


async def _known_events(settings: Settings, words: str) -> tuple[list[CaseEvent], str]:
    """Return the events of the history that `words` name, and an empty text; or no event, and the reason.

    An event fits if its id is `words`, or if its name matches `words` as a shell pattern. If no event fits, the events
    whose id or name begins with `words` are returned.
    """
    history, pattern = written_history(settings), words.strip().casefold()
    if history is None:
        return [], "this machine has no history"
    try:
        records = await history.whole(latest_events(history))
    except NotReadError as error:
        return [], str(error)
    named = [(record.event_id.casefold(), record.name.casefold(), record) for record in records]
    matches = [record for id_, name, record in named if id_ == pattern or fnmatchcase(name, pattern)]
    matches = matches or [record for id_, name, record in named if id_.startswith(pattern) or name.startswith(pattern)]
    events = [CaseEvent(record.event_id, record.name, record.parent_id) for record in matches]
    return events, "" if events else f"the history has no event {safe(words, 80)!r}"


def _verdict(route: Route, case: Case, reasons: list[str], local: datetime) -> str:
    """Return whether and when the route notifies of the alarm, in words."""
    if reasons:
        return f"no: {'; '.join(reasons)}"
    levels = " and ".join(f"{level.to} after {level.after:g} min" for level in route.escalations)
    after = f"; if nobody acknowledges, notifies {levels}" if levels else ""
    if route.is_quiet(case.severity, local):
        return (
            f"waits: {local:%a %H:%M %Z} is outside the route's hours, and the severity is below {route.through}{after}"
        )
    is_at_once = case.kind == NOTIFY_FAILING or isinstance(ALARM_KINDS[case.kind].detector, IncidentDetector)
    wait = "at once" if is_at_once else f"{route.group_wait.total_seconds():g} s after the alarm is raised"
    return f"yes, {wait}{after}"


@click.command
@formats("table", "json")
@platform
@click.pass_context
def list_command(ctx: click.Context, /, *, output_format: str, **flags: Any) -> None:
    """List waiting messages and dead letters, with the last reply of the receiver.

    Reads the collector of `collector_url`, the shared spool of `[engine]`, or the spool of this machine.
    """

    async def work() -> int:
        settings = load(**merge_flags(ctx, flags))
        messages = await read_unsent(settings)
        if output_format == "json":
            items = [unsent_object(unsent) for unsent in messages]
            echo_json({"schema": schema_name("notify list"), "items": items, "unreadable": []})
            return DONE
        for unsent in messages:
            words = "waits" if unsent.state == WAITING else "given up"
            echo(unsent_line(unsent, words))
        if not messages:
            echo("no waiting messages and no dead letters", err=True)
        return DONE

    ctx.exit(run(work))


async def read_unsent(settings: Settings) -> list[Unsent]:
    """Return the unsent messages of the collector or the spool that the settings name.

    Raises SettingsError, MachineError, CollectorError.
    """
    if settings.collector_urls:
        from livedeck.collector.attached.unsent import parse_unsent

        async with AsyncExitStack() as stack:
            return parse_unsent(await (await make_link(settings, stack)).get("/v1/notifications"))
    from livedeck.collector.protocol.unsent import Unsent

    async with open_storage(settings, reads=True) as spool:
        return [Unsent.of(spooled) for state in (WAITING, DEAD) for spooled in spool.messages(state)]


def unsent_object(unsent: Unsent) -> dict[str, object]:
    """Return an unsent message as an object of JSON."""
    return {**unsent.model_dump(), "at": isoformat_utc(unsent.at)}


def unsent_line(unsent: Unsent, words: str) -> str:
    """Return an unsent message as one line of text. `words`: its state in words."""
    tries = f" after {unsent.tries} {'try' if unsent.tries == 1 else 'tries'}" if unsent.tries else ""
    answer = f": {masked_line(unsent.answer, 300)}" if unsent.answer and (unsent.tries or unsent.state == DEAD) else ""
    where = f"{safe(unsent.target, 60):<12}  {masked_line(unsent.title, 120)}"
    return f"{unsent.at.astimezone(UTC):%Y-%m-%d %H:%M:%S}Z  {where}  {words}{tries}{answer}"


@asynccontextmanager
async def open_storage(settings: Settings, *, reads: bool = False) -> AsyncIterator[Spool | SharedSpool]:
    """Open the shared spool of the collectors, else the spool beside the history. `reads`: open it for reading only.

    Raises SettingsError if there is no spool, and MachineError if it cannot be used.
    """
    shared = await shared_spool(settings)
    try:
        with closing(shared or _spool(settings, reads=reads)) as storage:
            yield storage
    except SpoolError as error:
        ask = "; the collector that notifies may hold them: set collector_url to ask it" if shared else ""
        raise MachineError(f"The unsent notifications are unknown: {error}{ask}") from error


def _spool(settings: Settings, *, reads: bool) -> Spool:
    path = spool_file(settings)
    if not path.exists():
        raise SettingsError(
            f"{path} does not exist: this history has sent no notifications; `livedeck collector run` sends them"
        )
    return Spool(path, reads=reads)

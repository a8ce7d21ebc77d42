"""`livedeck show apply` and `diff`: change the platform to match a file, or print the differences."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click

from livedeck.cli.exit_codes import DONE, FAULT, NOT_SO, REFUSED, UNKNOWN, UNREACHABLE, USAGE, code_of_error, run
from livedeck.cli.formats import schema_name
from livedeck.cli.objects.changing import DRY_RUN, Outcome, run_change, warn
from livedeck.cli.objects.consent import CommandPort, Consent
from livedeck.cli.options import CONFIRM, QUIET, YES, formats, merge_flags, platform
from livedeck.cli.options import DRY_RUN as DRY_RUN_OPTION
from livedeck.cli.output import echo, echo_json
from livedeck.cli.process import cancel_on_signals
from livedeck.cli.show.file import Item, Show, read_show
from livedeck.cli.show.plan import BLOCKED, CREATE, DELETE, Plan, Planner, Step
from livedeck.cli.show.posters import SetPosters
from livedeck.cli.wiring import SystemClock, make_api, make_audit
from livedeck.cli.write_locks import WriteLocks
from livedeck.client import Api, ApiError, NotFound, ReadOnly, Unreadable
from livedeck.environment import state_folder
from livedeck.monitor import History, NotReadError
from livedeck.operations.events import SetEventPoster
from livedeck.operations.executor import HELD_ELSEWHERE
from livedeck.operations.open_changes import OpenChanges
from livedeck.operations.operation import Confirmation, ConfirmLevel, Operation, Target, Verdict
from livedeck.settings import Settings, load
from livedeck.text.secrets import mask_secrets
from livedeck.text.values import counted

if TYPE_CHECKING:
    from livedeck.presentation import documents

_MARKS = {CREATE: "+", "change": "~", DELETE: "-", BLOCKED: "!"}

NOT_TRIED = "not tried, because the platform did not respond"

_WORST_LAST = (DONE, NOT_SO, USAGE, FAULT, REFUSED, UNREACHABLE, UNKNOWN)
"""Exit codes, worst last. A command with several changes ends with the worst exit code of these changes."""

MAX_ROUNDS = 6
"""Maximum number of rounds of changes. An event takes four: create, edit, schedule, poster."""

_PRUNE = click.option(
    "--prune", is_flag=True, help="Also delete what FILE lacks: events of its parent_id, and subtitles of its videos."
)


@click.command
@click.argument("file", metavar="FILE")
@_PRUNE
@YES
@CONFIRM
@DRY_RUN_OPTION
@formats("table", "json")
@QUIET
@platform
@click.pass_context
def apply_command(ctx: click.Context, /, *, file: str, output_format: str, quiet: bool, **flags: Any) -> None:
    """Make events, rooms and videos match FILE; create missing events and rooms.

    FILE: YAML, TOML or JSON (`livedeck docs shows`); - is standard input. Runs the programs that FILE names for
    secrets, also with --dry-run. A deletion needs --prune, and --confirm with the name of the show. A creation needs
    --confirm, too, if the list of the platform is empty or lacks an object that still exists, because the object to
    create may then exist already. Exit code 6 if no change can remove a difference.
    """
    consent = Consent(flags.pop("yes"), flags.pop("confirm") or "", flags.pop("dry_run"))
    prune, report = flags.pop("prune"), _Report("show apply", output_format == "json", quiet)

    async def work() -> int:
        settings = load(**merge_flags(ctx, flags))
        if settings.read_only and not consent.dry_run:
            raise ReadOnly("show apply: not sent, livedeck is read-only")
        show = read_show(file)
        async with AsyncExitStack() as stack:
            api = await stack.enter_async_context(make_api(settings))
            locks = WriteLocks(state_folder() / "locks", settings.base_url, SystemClock(), warn)
            if not await stack.enter_async_context(locks.hold(Target("show", "apply", show.name))):
                raise click.UsageError(HELD_ELSEWHERE)
            history = await stack.enter_async_context(make_audit(settings))
            return await _Application(api, history, show, set_posters(settings), locks, report).run(
                consent, prune=prune
            )

    ctx.exit(run(lambda: cancel_on_signals(work)))


@click.command
@click.argument("file", metavar="FILE")
@_PRUNE
@formats("table", "json")
@QUIET
@platform
@click.pass_context
def diff_command(
    ctx: click.Context, /, *, file: str, prune: bool, output_format: str, quiet: bool, **flags: Any
) -> None:
    """Print how the platform differs from FILE. Exit code 6 if it does.

    Sends only reads, and runs the programs that FILE names for secrets. Secrets are masked; a key that differs shows as
    a change of its mask.
    """
    report = _Report("show diff", output_format == "json", quiet)

    async def work() -> int:
        settings, show = load(**merge_flags(ctx, flags)), read_show(file)
        async with make_api(settings) as api:
            plan = await Planner(api, show, set_posters(settings), SystemClock().now()).plan(show.items)
        report.same, report.others, report.doubt = plan.same, len(plan.others), plan.doubt
        for step in (*plan.steps, *(plan.others if prune else ())):
            report.add(step)
        report.print()
        return NOT_SO if report.lines else DONE

    ctx.exit(run(work))


def set_posters(settings: Settings) -> SetPosters:
    """Return this machine's record of the posters that it has set. Raises SettingsError."""
    return SetPosters(state_folder() / "posters.json", settings.base_url)


@dataclass(slots=True)
class _Report:
    """Differences and their outcomes, printed as text while they happen or as one JSON object at the end."""

    path: str
    is_json: bool
    is_quiet: bool
    same: int = 0
    others: int = 0
    doubt: str = ""
    lines: list[documents.ShowStep] = field(default_factory=list)

    def add(self, step: Step, outcome: Outcome | None = None) -> None:
        """Add a difference, or the outcome of its change."""
        operation = step.operation
        identity = operation.target.id if operation else ""
        identity = identity or getattr(outcome.answer if outcome else None, "id", None) or ""
        text = mask_secrets(outcome.text if outcome else step.text)
        self.lines.append(
            {
                "action": step.action,
                "object": step.title,
                "id": identity or None,
                "verdict": str(outcome.verdict) if outcome else None,
                "text": text,
                "changes": [
                    {"field": change.name, "before": change.before, "after": change.after}
                    for change in (operation.changes if operation else ())
                ],
            }
        )
        if self.is_json or (outcome is None and self.is_quiet):
            return
        if outcome is None:
            echo("\n".join(preview(step)))
        elif self.is_quiet and outcome.code == DONE:
            echo(identity) if identity else None
        else:
            name = mask_secrets(f"{step.action} {step.title}")
            echo(f"{name}: {outcome.verdict}: {text}", err=outcome.code != DONE)

    def print(self) -> None:
        """Print the sum, or everything as JSON."""
        if self.is_json:
            document = {"same": self.same, "doubt": self.doubt or None, "steps": self.lines}
            echo_json({"schema": schema_name(self.path), **document})
        elif not self.is_quiet:
            rest = f"; {self.others} not in the file (--prune deletes them)" if self.others else ""
            doubt = f"; {self.doubt}" if self.doubt else ""
            echo(f"{counted(self.same, 'object')} as in the file{rest}{doubt}", err=True)


def preview(step: Step) -> list[str]:
    """Return the lines of a difference: mark, object, effect and changed fields, with secrets masked."""
    lines = [f"{_MARKS[step.action]} {step.title}{f': {step.text}' if step.text else ''}"]
    changes = step.operation.changes if step.operation else ()
    lines += [f"    {change.text}" for change in changes]
    return [*map(mask_secrets, lines)]


@dataclass(slots=True)
class _Application:
    """Application of a show file. It sends each change as its own command would, with guard, lock and audit."""

    api: Api
    history: History | None
    show: Show
    posters: SetPosters
    locks: WriteLocks
    report: _Report
    code: int = DONE
    is_lost: bool = False

    async def run(self, consent: Consent, *, prune: bool) -> int:
        """Plan, ask, and send. Returns the exit code."""
        plan = await self._plan(self.show.items)
        steps = [*plan.steps, *(plan.others if prune else ())]
        self.report.same, self.report.others, self.report.doubt = (
            plan.same,
            0 if prune else len(plan.others),
            plan.doubt,
        )
        changes = [step for step in steps if step.operation]
        await self._check_list(changes)
        if not (self.report.is_quiet or self.report.is_json):
            for step in steps:
                echo("\n".join(preview(step)), err=True)
        for step in steps:
            if step.action == BLOCKED:
                self.report.add(step, Outcome(BLOCKED, step.text, NOT_SO))
                self.code = NOT_SO
        if consent.dry_run or not changes:
            for step in changes:
                self.report.add(step, Outcome(DRY_RUN, "nothing was sent", DONE))
        elif self._agrees(changes, consent, plan.doubt):
            await self._send_all(changes)
        self.report.print()
        return self.code

    async def _send_all(self, steps: Sequence[Step]) -> None:
        """Send the changes in rounds, because some need others: a stream needs the id of a created event.

        A round sends one change of each object. The next round begins with a new read.
        """
        for _ in range(MAX_ROUNDS):
            todo = await self._send(steps)
            if not todo or self.is_lost:
                return
            try:
                steps = [step for step in (await self._plan(todo)).steps if step.operation]
            except (ApiError, click.UsageError) as error:  # the report says what was sent before
                text = error.message if isinstance(error, click.UsageError) else error
                warn(f"show apply: further changes were not sent: {text}")
                code = UNREACHABLE if isinstance(error, click.UsageError) else code_of_error(error)
                self.code = max(self.code, code, key=_WORST_LAST.index)
                return

    async def _plan(self, items: Sequence[Item]) -> Plan:
        return await Planner(self.api, self.show, self.posters, SystemClock().now()).plan(items)

    async def _check_list(self, steps: Sequence[Step]) -> None:
        """Raise Unreadable if a step would create an event that exists, but is missing from the platform's list.

        Finds ids of events with the same name in the history, and reads these events. Raises NotReadError if the
        history lost its rows.
        """
        new = {step.item.name: step.item for step in steps if step.action == CREATE and step.item}
        if not (self.history and new):
            return
        records = await self.history.whole(self.history.events())
        if self.history.was_set_aside:  # the new file knows no event
            raise NotReadError(self.history.fault)
        for event_id, record in {record.event_id: record for record in records}.items():
            item = new.get(record.name.strip())
            if item is None or item.kind != "event" or item.content.get("parent_id") not in {None, record.parent_id}:
                continue
            try:
                event = await self.api.events.get(event_id)
            except NotFound:
                continue
            if (event.name or "").strip() == item.name:
                raise Unreadable(f"show apply: not sent: the list lacks {item.title}, which still exists as {event_id}")

    def _agrees(self, steps: Sequence[Step], consent: Consent, doubt: str) -> bool:
        """Return whether the user agrees. A deletion, or doubt whether an object is new, needs the name of the show."""
        deletions = sum(step.action == DELETE for step in steps)
        reasons = [f"{counted(deletions, 'object')} would be deleted for good"] if deletions else []
        reasons += [f"{doubt}, so objects may be created twice"] if doubt else []
        button = f"Send {counted(len(steps), 'change')}"
        port = CommandPort(consent, OpenChanges())
        confirmation = Confirmation(button, (), button, ConfirmLevel.ASK, word=self.show.name)
        if port.agrees(confirmation, "; ".join(reasons)):
            return True
        text, self.code = port.refusal
        warn(f"show apply: not sent: {text}")
        return False

    async def _send(self, steps: Sequence[Step]) -> list[Item]:
        """Send the first change of each object, in order. Returns the objects that may need further changes."""
        sent, more = set[tuple[str, str, str]](), dict[str, Item]()
        for step in steps:
            assert step.operation is not None
            target, item = step.operation.target.identity, step.item
            if target in sent and item:
                more.setdefault(item.where, item)
                continue
            sent.add(target)
            outcome = Outcome(Verdict.CANCELLED, NOT_TRIED, UNREACHABLE) if self.is_lost else await self._change(step)
            self.is_lost = self.is_lost or outcome.code == UNREACHABLE
            self.report.add(step, outcome)
            self.code = max(self.code, outcome.code, key=_WORST_LAST.index)
            if step.action == CREATE and outcome.code == DONE and item:
                identity = item.id or getattr(outcome.answer, "id", None)
                more[item.where] = item.with_id(identity) if identity else item
        return [*more.values()]

    async def _change(self, step: Step) -> Outcome:
        operation = step.operation
        assert operation is not None
        try:
            earlier = await self._open(step, operation)
        except NotReadError as error:
            return Outcome(Verdict.REFUSED, f"not sent: {error}", FAULT)
        if earlier:
            close = ", ".join(f"livedeck change close {identity}" for identity in earlier)
            text = f"not sent: an earlier change has no verdict yet. Look at the platform, then: {close}"
            return Outcome(Verdict.UNKNOWN, text, UNKNOWN)
        outcome = await run_change(
            self.api,
            self.history,
            operation,
            Consent(yes=True, confirm=operation.target.id if step.can_repeat else ""),
            locks=self.locks,
            is_quiet=True,
            wait=None,
            siblings=step.siblings,
        )
        if isinstance(operation, SetEventPoster) and outcome.code == DONE:
            try:
                self.posters.remember(await self.api.events.get(operation.target.id), operation.url)
            except (ApiError, OSError) as error:
                text = f"the next apply sets it again, because its address could not be stored: {error}"
                return Outcome(outcome.verdict, text, FAULT, outcome.answer)
        return outcome

    async def _open(self, step: Step, operation: Operation[Any]) -> list[str]:
        """Return the ids of earlier changes of the object that have no verdict and forbid this change.

        An earlier change does not forbid the same change if repeating it has no further effect.
        """
        changes, action = OpenChanges(), operation.audit_name or operation.name
        if self.history is not None:
            changes.take_recorded(await self.history.whole(self.history.open_changes()))
        found = changes.of_target(action, operation.target)
        return [change.intent.id[:8] for change in found if not (step.can_repeat and change.intent.action == action)]

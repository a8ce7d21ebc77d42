"""Commands that change objects: their options, the sending by the executor, their verdict and exit code."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeVar

import click

from livedeck.cli import options
from livedeck.cli.exit_codes import DONE, NOT_SO, REFUSED, UNKNOWN, code_of_error, run
from livedeck.cli.formats import schema_name
from livedeck.cli.lookup import EVENT_HELP, argument_names, find_named
from livedeck.cli.objects.consent import CommandPort, Consent
from livedeck.cli.objects.entries import STDIN, field_options, flag_name, typed_entries
from livedeck.cli.options import QUIET, YES, formats, merge_flags, platform, timeout
from livedeck.cli.output import echo, echo_json
from livedeck.cli.process import cancel_on_signals
from livedeck.cli.wiring import SystemClock, make_api, make_audit
from livedeck.cli.write_locks import WriteLocks
from livedeck.client import Api, ApiError, Material, Model, NotFound, ReadOnly, Subtitle, Unreadable
from livedeck.environment import state_folder
from livedeck.monitor import History, KnownMaterial, NotReadError
from livedeck.monitor.polling.on_demand import MaterialCache
from livedeck.operations.commands import Command, Names
from livedeck.operations.diff import Change, ParsedForm, parse_form
from livedeck.operations.events import EventView
from livedeck.operations.executor import HELD_ELSEWHERE, Executor
from livedeck.operations.materials import DeleteMaterial
from livedeck.operations.nouns import Found, Known, Noun, read_again
from livedeck.operations.open_changes import OpenChanges
from livedeck.operations.operation import (
    Conflicts,
    DeleteOperation,
    FieldOperation,
    Operation,
    OperationResult,
    Platform,
    Target,
    Verdict,
)
from livedeck.operations.schema import Entry, Field, FieldKind, FormResult
from livedeck.operations.subtitles import RecogniseSpeech
from livedeck.presentation.open_changes import ADVICE
from livedeck.settings import Settings, load
from livedeck.text import times
from livedeck.text.secrets import mask_secrets
from livedeck.text.times import TimeReference
from livedeck.text.values import safe

if TYPE_CHECKING:
    from livedeck.presentation import documents

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

DRY_RUN = "dry run"
"""Verdict of a change with --dry-run."""

WAIT_POLL_SECONDS = 2.0

ACCEPTED = "accepted"
"""Verdict if the platform accepted the change but shows other values right after."""

SO_ALREADY = "nothing sent: the object already has these values"

NOT_AS_SEEN = "nothing sent: the object changed since you read it; read it again, then decide"

_OPTIONS = (
    YES,
    options.CONFIRM,
    options.DRY_RUN,
    click.option("--if-unchanged", metavar="TOKEN", help="Send only if list or get still print this token."),
    click.option("--overwrite", is_flag=True, help="Send even if someone changed the object meanwhile."),
    click.option("--wait", is_flag=True, help="Wait until the change is visible on the platform."),
    timeout("60s"),
    formats("table", "json"),
    QUIET,
)


def change_options(command: Decorated) -> Decorated:
    """Add the options of every change."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def change_command(command: Command) -> click.Command:
    """Make the command of an operation: its arguments, its fields as options, and the options of every change."""
    operation, schema = command.operation, command.schema

    def callback(ctx: click.Context, /, **flags: Any) -> None:
        ctx.exit(run(lambda: cancel_on_signals(partial(_change, ctx, command, flags))))

    text = [f"{operation.help}.", *([EVENT_HELP] if "EVENT" in command.arguments else [])]
    if operation.evidence:
        text.append(
            f"If the reply is lost, livedeck reads the object again: the change was applied if {operation.evidence}."
        )
    else:
        text.append(
            f"If the reply is lost, livedeck cannot find out whether the change was applied: {operation.no_evidence}."
        )
    decorated = change_options(platform(click.pass_context(callback)))
    if schema:
        from_file = click.option("--from-file", metavar="FILE", help="Read fields from JSON or TOML; - is stdin.")
        decorated = from_file(decorated)
    made = click.command(command.name, help="\n\n".join(text))(decorated)
    arguments = argument_names(command.arguments)
    if command.names is Names.ORDER:
        arguments.append(click.Argument(["order"], metavar="ID...", nargs=-1, required=True))
    options = field_options(schema, is_new=command.is_new, always=command.always) if schema else []
    made.params[:0] = [*arguments, *options]
    return made


async def _change(ctx: click.Context, command: Command, flags: dict[str, Any]) -> int:
    fields = {name: flags.pop(name) for name in [*flags] if name.startswith("field_")}
    words = [flags.pop(argument.lower()) for argument in command.arguments]
    order, from_file = tuple(flags.pop("order", ())), flags.pop("from_file", None)
    seconds, wait = flags.pop("timeout"), flags.pop("wait")
    report = Report(command, is_json=flags.pop("output_format") == "json", is_quiet=flags.pop("quiet"))
    token, overwrite = flags.pop("if_unchanged"), flags.pop("overwrite")
    consent = Consent(
        flags.pop("yes"), flags.pop("confirm") or "", flags.pop("dry_run"), overwrite, if_unchanged=token is not None
    )
    settings = load(**merge_flags(ctx, flags))
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="livedeck-")))
        wanted = Wanted(
            command,
            words,
            lambda found: fill_form(command, found, fields, from_file, folder),
            consent,
            order,
            token,
            is_quiet=report.is_quiet or report.is_json,
            wait=seconds if wait else None,
        )
        wanted.check(settings)
        api = await stack.enter_async_context(make_api(settings))
        history = await stack.enter_async_context(make_audit(settings))
        return report.print(*await carry_out(settings, api, history, wanted))


@dataclass(frozen=True, slots=True)
class Wanted:
    """Change that a command line or an agent asks for.

    `words`: names of the objects. `fill`: returns the filled form, or None if the object already has these values.
    `order`: ids for a new order. `token`: token of the object as the caller has seen it; None without one.
    `make_port`: makes the source of the confirmation. `is_quiet` and `wait`: as in `run_change`.
    """

    command: Command
    words: Sequence[str]
    fill: Callable[[Found], ParsedForm[Any] | None]
    consent: Consent
    order: tuple[str, ...] = ()
    token: str | None = None
    make_port: Callable[[Consent, OpenChanges, bool], CommandPort] = CommandPort
    is_quiet: bool = True
    wait: float | None = None

    def check(self, settings: Settings) -> None:
        """Raise ReadOnly or UsageError for a change that cannot be sent."""
        if settings.read_only and not self.consent.dry_run:
            raise ReadOnly(f"{self.command.path}: not sent, livedeck is read-only")
        if self.token is not None and self.command.names is not Names.ITEM:
            raise click.UsageError("--if-unchanged needs one existing object")
        if self.token is not None and self.consent.overwrite:
            raise click.UsageError("--if-unchanged and --overwrite exclude each other")


async def carry_out(
    settings: Settings, api: Api, history: History | None, wanted: Wanted
) -> tuple[Target, Sequence[Change], Outcome]:
    """Find the objects, fill in the form and send the change. Returns target, changed fields and outcome.

    Raises UsageError, ApiError.
    """
    command, token = wanted.command, wanted.token
    materials = MaterialCache(history, SystemClock())
    found = await _find(command, api, wanted.words, wanted.order, lambda video_id: materials.materials(video_id, None))
    listed, found = found, await read_again(command.noun, found) if command.names is Names.ITEM else found
    fingerprint = command.noun.fingerprint
    if token is not None and token not in {fingerprint(listed.item), fingerprint(found.item)}:
        return _target(command, found), (), Outcome(Verdict.REFUSED, NOT_AS_SEEN, REFUSED)
    form = wanted.fill(found)
    if form is None:
        return _target(command, found), (), Outcome(Verdict.DONE, SO_ALREADY, DONE)
    made = command.make(found, form)
    operation = made if isinstance(made, Operation) else await made
    outcome = await run_change(
        api,
        history,
        operation,
        wanted.consent,
        locks=WriteLocks(state_folder() / "locks", settings.base_url, SystemClock(), warn),
        recheck=partial(_field_changes, command.noun, found.item) if token is not None else None,
        is_quiet=wanted.is_quiet,
        wait=wanted.wait,
        siblings=found.siblings,
        make_port=wanted.make_port,
    )
    await _remember(materials, operation, outcome)
    return operation.target, operation.changes, outcome


def _target(command: Command, found: Found) -> Target:
    """Return the target of the command, for an outcome without an operation."""
    return Target(command.operation.kind, found.item.id, safe(command.noun.called(found.item), 60))


def _field_changes(noun: Noun, seen: Any, now: Any) -> Conflicts:
    """Return the names of fields that differ between `seen` and `now`, in words; read-only fields count, too.

    `now`: the object as an operation reads it again.
    """
    item = now.event if isinstance(now, EventView) else now
    if not isinstance(item, Model):  # no endpoint reads a material again
        return ()
    before, after = noun.as_object(seen), noun.as_object(item)
    names = [name for name in after if name not in noun.volatile and before.get(name) != after[name]]
    return (f"{', '.join(names)} changed",) if names else ()


async def _find(command: Command, api: Api, words: Sequence[str], order: tuple[str, ...], materials: Known) -> Found:
    """Return the objects that the command line names. Raises UsageError, ApiError."""
    if command.names is Names.NOTHING:
        return Found(api)
    noun = command.noun
    found = await find_named(noun, api, words, materials)
    if command.names is not Names.ORDER:
        return found
    if noun.name == "material":
        return replace(found, order=order, siblings=_in_order(noun, order, await materials(found.owner.id)))
    rows = await noun.read_all(api, found.owner)
    if gaps := rows.gaps(noun):
        raise Unreadable(f"{noun.path} reorder: an order needs every {noun.noun}, and {'; '.join(gaps)}")
    return replace(found, order=order, siblings=_in_order(noun, order, rows.items))


def _in_order(noun: Noun, order: tuple[str, ...], siblings: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the objects to reorder. Raises UsageError for an unknown or repeated id in `order`."""
    ids = [row.id for row in siblings]
    if len({*order}) < len(order):
        raise click.UsageError("an id is given twice")
    if noun.name == "material":  # no endpoint lists materials, so only those in `order` are known
        return tuple(row for row in siblings if row.id in order) if {*order} <= {*ids} else ()
    if wrong := [name for name in order if name not in ids]:
        raise click.UsageError(f"no {noun.noun} {safe(wrong[0], 80)!r}; the ids are {', '.join(ids) or 'none'}")
    return siblings


def fill_form(
    command: Command, found: Found, options: Mapping[str, Any], from_file: str | None, folder: Path
) -> ParsedForm[Any] | None:
    """Return the filled form, or None if the object already has every typed value. Raises UsageError, Invalid.

    `folder`: where the content of standard input is stored, for a field that takes a file.
    """
    schema = command.schema
    if schema is None:
        return ParsedForm({}, None, {}, ())
    initial = command.initial_values(found)
    current = {} if found.item is None else command.noun.as_object(found.item)
    typed = typed_entries(schema, options, from_file, initial, current)
    if typed.get("file") == STDIN:
        typed["file"] = str(_spooled(folder))
    entries = {**initial, **typed}
    required = [field for field in schema.fields if field.required and (command.is_new or field.name in typed)]
    if missing := [flag_name(field) for field in required if not entries[field.name]]:
        raise click.UsageError(f"missing {', '.join(missing)}: give options, or fields of --from-file")
    if not typed:
        raise click.UsageError(f"nothing to change: give {' or '.join(map(flag_name, schema.fields))}, or --from-file")
    return changed_form(command, found, typed)


def changed_form(
    command: Command, found: Found, typed: Mapping[str, Entry], label: Callable[[Field], str] = flag_name
) -> ParsedForm[Any] | None:
    """Return the form with the typed entries, or None if the object already has them. Raises UsageError, Invalid.

    `label`: returns the name of a field in an error.
    """
    schema, initial = command.schema, command.initial_values(found)
    assert schema is not None, command.path
    entries = {**initial, **typed}
    reference = TimeReference(SystemClock().now())
    changed = tuple(
        name
        for name, entry in typed.items()
        if command.is_new or not _is_same(schema.field(name), entry, initial[name], reference)
    )
    if not changed:
        return None
    errors = schema.check(entries, reference, {*changed, *command.always})
    if errors:
        raise click.UsageError("\n".join(f"{label(schema.field(name))}: {text}" for name, text in errors.items()))
    before = schema.empty() if command.is_new else initial
    try:
        return parse_form(schema, before, FormResult(entries, changed), reference, always=command.always)
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def _is_same(field: Field, entry: Entry, before: Entry, reference: TimeReference) -> bool:
    """Return whether the entry equals the entry `before`. Times count as equal if they differ by less than a second."""
    if field.kind is not FieldKind.DATETIME or not entry or not before:
        return entry == before
    try:
        return abs((times.parse(str(entry), reference) - times.parse(str(before), reference)).total_seconds()) < 1
    except ValueError:  # the form reports it
        return False


def _spooled(folder: Path) -> Path:
    """Write standard input to a file in the folder and return its path, because operations read files by path."""
    path = folder / "stdin"
    with path.open("wb") as file:
        while chunk := sys.stdin.buffer.read(2**20):
            file.write(chunk)
    return path


async def _remember(materials: MaterialCache, operation: Operation[Any], outcome: Outcome) -> None:
    """Store the changed material in the cache, or remove a deleted one, because no endpoint lists materials."""
    answer, video = outcome.answer, getattr(operation, "video", None)
    material: KnownMaterial | None = getattr(operation, "material", None)
    if isinstance(answer, Material):
        video_id = video.id if video else (material.video_id if material else answer.video_id or "")
        await materials.remember([KnownMaterial.of(answer, video_id, "this machine")])
    elif isinstance(operation, DeleteMaterial) and outcome.verdict in {Verdict.DONE, Verdict.APPLIED}:
        await materials.forget([operation.material.id])


@dataclass(frozen=True, slots=True)
class Outcome:
    """Outcome of a change. `verdict`: a Verdict, ACCEPTED or DRY_RUN. `code`: exit code. `answer`: reply, or None."""

    verdict: str
    text: str
    code: int
    answer: object = None


@dataclass(frozen=True, slots=True)
class Report:
    """Prints the outcome of a change: data on standard output, failures on standard error."""

    command: Command
    is_json: bool
    is_quiet: bool

    def print(self, target: Target, changes: Sequence[Change], outcome: Outcome) -> int:
        """Print the outcome. Returns the exit code."""
        identities = _identities(target, outcome)
        name, text = target.name, mask_secrets(outcome.text)
        if self.is_json:
            echo_json(result_object(self.command, target, changes, outcome))
        elif self.is_quiet and outcome.code == DONE and identities:
            echo("\n".join(identities))
        elif outcome.code == DONE and not self.is_quiet:
            is_explained = outcome.text == SO_ALREADY or outcome.verdict == Verdict.APPLIED
            said = f"{name}: {text}" if name and is_explained else name or text
            echo(f"{self.command.path}: {outcome.verdict}: {said}{''.join(f'  {identity}' for identity in identities)}")
        if outcome.verdict == ACCEPTED:  # the text begins with the verdict, and names the object
            warn(f"{self.command.path}: {text}")
        elif outcome.code != DONE:
            echo(f"livedeck: {self.command.path}: {outcome.verdict}: {f'{name}: ' if name else ''}{text}", err=True)
        return outcome.code


def _identities(target: Target, outcome: Outcome) -> list[str]:
    """Return the id of the changed object, or the ids of the created ones."""
    made = outcome.answer if isinstance(outcome.answer, tuple) else (outcome.answer,)
    return [target.id] if target.id else [str(item.id) for item in made if getattr(item, "id", None)]


def result_object(
    command: Command, target: Target, changes: Sequence[Change], outcome: Outcome
) -> documents.ChangeResult:
    """Return the outcome of a change as JSON."""
    answer, identities = outcome.answer if isinstance(outcome.answer, Model) else None, _identities(target, outcome)
    identity = identities[0] if len(identities) == 1 else None
    return {
        "schema": schema_name(command.path),
        "operation": command.operation.name,
        "verdict": str(outcome.verdict),
        "text": mask_secrets(outcome.text),
        "target": {"kind": command.operation.kind, "id": identity, "name": target.name},
        "ids": [*identities],
        "changes": [{"field": change.name, "before": change.before, "after": change.after} for change in changes],
        "object": answer.model_dump(mode="json") if answer is not None else None,
    }


async def run_change(
    api: Api,
    history: History | None,
    operation: Operation[Any],
    consent: Consent,
    *,
    locks: WriteLocks,
    recheck: Callable[[Any], Conflicts] | None = None,
    is_quiet: bool,
    wait: float | None,
    siblings: tuple[Any, ...] = (),
    make_port: Callable[[Consent, OpenChanges, bool], CommandPort] = CommandPort,
) -> Outcome:
    """Send the change as the deck does. Returns its outcome.

    First waits for the lock of the object, so that no other process is changing the object now.

    `recheck`: returns conflicts of an object that was read again; None to use only the operation's own check. `wait`:
    maximum seconds to wait until the change is visible; None for no wait. `siblings`: objects of the same kind that
    were read. `make_port`: makes the source of the confirmation.
    """
    open_changes = OpenChanges()
    async with locks.hold(operation.target) as is_free:
        if not is_free:
            return Outcome(Verdict.REFUSED, HELD_ELSEWHERE, REFUSED)
        if history is not None:
            try:
                open_changes.take_recorded(await history.whole(history.open_changes()))
            except NotReadError as error:
                warn(f"{operation.target.name}: {error}. Earlier changes of this object may have an unknown outcome.")
    port = make_port(consent, open_changes, is_quiet)
    results: list[OperationResult] = []
    executor = Executor(
        Platform(api, siblings=siblings),
        SystemClock(),
        confirmations=port,
        progress=port,
        audit=history,
        notify=lambda _, result: results.append(result),
        open_changes=open_changes,
        locks=locks,
        recheck=recheck or (lambda _: ()),
        reads_back=True,
    )
    try:
        result = await executor.run(operation)
        if result.verdict is Verdict.UNKNOWN and wait is not None:
            await asyncio.wait_for(executor.wait_watches(), wait)
            result = results[-1]
    except TimeoutError:
        pass
    finally:
        await executor.stop_watches()
    if result.verdict is Verdict.CANCELLED:
        if consent.dry_run:
            return Outcome(DRY_RUN, "nothing was sent", DONE)
        reason, code = port.refusal
        verdict = Verdict.REFUSED if code == REFUSED else Verdict.CANCELLED
        return Outcome(verdict, f"not sent: {reason}", code)
    outcome = outcome_of(result)
    if result.verdict is Verdict.DONE and wait is not None and not await _wait_applied(api, operation, result, wait):
        text = f"the platform accepted the change, but it is not visible after {wait:g} s"
        return Outcome(outcome.verdict, result.text if result.differs else text, NOT_SO, result.answer)
    if result.differs and wait is None:
        return Outcome(ACCEPTED, result.text, NOT_SO, result.answer)
    if result.verdict is Verdict.DONE and result.error:
        warn(f"{operation.target.name}: {result.text}")
    return outcome


def warn(text: str) -> None:
    """Print a notice on standard error, with secrets masked."""
    echo(f"livedeck: {mask_secrets(text)}", err=True)


def outcome_of(result: OperationResult) -> Outcome:
    """Return the outcome, with its exit code, for a result of the executor (commands.md, "Exit codes")."""
    code = DONE
    text = result.text
    if result.verdict is Verdict.UNKNOWN:
        code, text = UNKNOWN, f"{text}; {ADVICE}"
    elif result.verdict is Verdict.REFUSED:
        code = code_of_error(result.error) if result.error else REFUSED
        code = REFUSED if code == UNKNOWN else code  # proven: nothing was changed
    return Outcome(result.verdict, text, code, result.answer)


async def _wait_applied(api: Api, operation: Operation[Any], result: OperationResult, seconds: float) -> bool:
    """Return whether the change became visible within `seconds`; True if no read can show it."""
    platform = Platform(api)

    async def is_applied() -> bool:
        try:
            if isinstance(operation, RecogniseSpeech) and isinstance(result.answer, tuple):
                tracks = [track for track in result.answer if isinstance(track, Subtitle)]
                now = [await api.subtitles.get(operation.video.id, track.id) for track in tracks]
                return all(track.status != "pending" for track in now)
            if isinstance(operation, FieldOperation):
                return operation.is_so(await operation.read(platform))
            if isinstance(operation, DeleteOperation):
                await operation.read(platform)
                return False
        except NotFound as error:  # without a code, a proxy may have sent it
            return isinstance(operation, DeleteOperation) and error.code is not None
        except ApiError:
            return False
        return True

    clock = SystemClock()
    until = clock.monotonic() + seconds
    while not await is_applied():
        if clock.monotonic() >= until:
            return False
        await clock.sleep(WAIT_POLL_SECONDS)
    return True

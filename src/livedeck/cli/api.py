"""`livedeck api`: a request of any kind, for endpoints that no other command covers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import click

from livedeck.cli.exit_codes import DONE, run
from livedeck.cli.objects.changing import run_change, warn
from livedeck.cli.objects.consent import Consent
from livedeck.cli.objects.entries import read_text
from livedeck.cli.options import CONFIRM, DRY_RUN, YES, merge_flags, platform
from livedeck.cli.output import echo
from livedeck.cli.process import cancel_on_signals
from livedeck.cli.wiring import SystemClock, make_api, make_audit
from livedeck.cli.write_locks import WriteLocks
from livedeck.client import METHODS, ReadOnly, any_request
from livedeck.environment import state_folder
from livedeck.operations.requests import SendRequest
from livedeck.presentation.serialization import to_indented_json
from livedeck.settings import Settings, load
from livedeck.text.secrets import mask_secrets


@click.command
@click.argument("method", metavar="METHOD", type=click.Choice(METHODS, case_sensitive=False))
@click.argument("path", metavar="PATH")
@click.option("-f", "--field", "texts", multiple=True, metavar="KEY=TEXT", help="Add a text to the query or the body.")
@click.option(
    "-F", "--json-field", "values", multiple=True, metavar="KEY=JSON", help="Add a JSON value to the query or the body."
)
@click.option("--input", "body_file", metavar="FILE", help="Send the JSON of this file as the body; - is stdin.")
@YES
@CONFIRM
@DRY_RUN
@platform
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    method: str,
    path: str,
    texts: tuple[str, ...],
    values: tuple[str, ...],
    body_file: str | None,
    yes: bool,
    confirm: str | None,
    dry_run: bool,
    **flags: Any,
) -> None:
    """Send a request to any endpoint of the platform.

    Prints the JSON of the response, with secrets masked.

    METHOD: GET and HEAD only read; the others change something and need a confirmation. PATH: below base_url, such as
    /v2/live/events?page=2; never another host. Fields become the query of a read, and the body of a change. Other
    processes can read options, so put a key or password into a file for --input.
    """
    fields = [*_fields(texts, is_json=False), *_fields(values, is_json=True)]
    is_read = method in {"GET", "HEAD"}
    if is_read and body_file is not None:
        raise click.UsageError(f"{method} has no body: leave out --input")
    if body_file is not None and fields:
        raise click.UsageError("--input is the whole body: leave out -f and -F, or put a query into PATH")
    body = _json(read_text(body_file), "--input") if body_file is not None else None if is_read else _body(fields)

    async def work() -> int:
        bare = f"/{path.partition('?')[0].removeprefix('/')}"
        request = any_request(method, path, body, _query(fields) if is_read else None)  # checks all before a question
        settings = load(**merge_flags(ctx, flags))
        if is_read:
            async with make_api(settings) as api:
                _print(await api.request(method, bare, params=request.params))
            return DONE
        operation = SendRequest(method, bare, request.params, body)
        return await _change(settings, operation, Consent(yes, confirm or "", dry_run))

    ctx.exit(run(lambda: cancel_on_signals(work)))


async def _change(settings: Settings, operation: SendRequest, consent: Consent) -> int:
    """Send the request once, after a confirmation and with an audit, like every change. Returns the exit code."""
    if settings.read_only and not consent.dry_run:
        raise ReadOnly(f"api: {operation.target.name}: not sent, livedeck is read-only")
    async with make_api(settings) as api, make_audit(settings) as history:
        locks = WriteLocks(state_folder() / "locks", settings.base_url, SystemClock(), warn)
        outcome = await run_change(api, history, operation, consent, locks=locks, is_quiet=False, wait=None)
    if outcome.code != DONE:
        text = mask_secrets(outcome.text)
        echo(f"livedeck: api: {outcome.verdict}: {operation.target.name}: {text}", err=True)
    else:
        echo(f"livedeck: api: {outcome.verdict}: {operation.target.name}", err=True)
        _print(outcome.answer)
    return outcome.code


def _print(answer: object) -> None:
    """Print the decoded body of a response; nothing for an empty body."""
    if answer is not None:
        echo(to_indented_json(answer))


def _fields(words: Sequence[str], *, is_json: bool) -> list[tuple[str, object]]:
    """Return name and value of each option. Raises UsageError."""
    found = list[tuple[str, object]]()
    for word in words:
        name, separator, value = word.partition("=")
        flag = "-F" if is_json else "-f"
        if not name or not separator:
            raise click.UsageError(f"{flag} should be KEY={'JSON' if is_json else 'TEXT'}")
        found.append((name, _json(value, f"{flag} {name}") if is_json else value))
    return found


def _json(text: str, source: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise click.UsageError(f"{source} is not JSON") from None


def _body(fields: Sequence[tuple[str, object]]) -> dict[str, object] | None:
    """Return the fields as a JSON object; None without fields. Raises UsageError for a repeated name."""
    if len(dict(fields)) < len(fields):
        raise click.UsageError("a field of the body is given twice; write a list as -F KEY='[1, 2]'")
    return dict(fields) or None


def _query(fields: Sequence[tuple[str, object]]) -> dict[str, Any]:
    """Return the fields as query parameters. A repeated name or a JSON list gives a parameter several values."""
    found: dict[str, Any] = {}
    for name, value in fields:
        found[name] = (*found.get(name, ()), *(value if isinstance(value, list) else (value,)))
    return found

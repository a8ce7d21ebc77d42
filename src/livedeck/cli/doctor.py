"""`livedeck doctor`: whether everything that the deck needs is there, and what to do where it is not."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from livedeck import wording
from livedeck.cli import checks, objects
from livedeck.cli.checks import Check, Verdict
from livedeck.cli.deck import keymap
from livedeck.cli.exits import DONE, USAGE, run
from livedeck.cli.options import given, platform
from livedeck.settings import SettingsError, loaded, log_path, terminal

_MARKS = {Verdict.OK: "✓ ok  ", Verdict.WARN: "▲ warn", Verdict.FAIL: "✖ fail"}


@click.command
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
@platform
@click.pass_context
def command(ctx: click.Context, /, *, as_json: bool, **flags: Any) -> None:
    """Check the settings, the token, the platform, the clock, the terminal and the files.

    Asks the platform one small question and changes nothing. The exit code is that of the first failure.
    """

    async def work() -> int:
        done = await examined(given(ctx, flags))
        if as_json:
            click.echo(objects.line({"checks": [_object(check) for check in done]}))
        else:
            click.echo("\n".join(line for check in done for line in _lines(check)))
        return next((check.code for check in done if check.verdict is Verdict.FAIL), DONE)

    ctx.exit(run(work))


async def examined(flags: dict[str, Any]) -> list[Check]:
    """Every check, in the order in which a fault of one makes the next pointless."""
    machine = [*checks.of_terminal(terminal()), checks.of_file("log", log_path())]
    try:
        found = loaded(**flags)
        keymap(found.settings)
    except SettingsError as error:
        advice = "mend what is named; `livedeck config validate` checks it again"
        return [Check("settings", Verdict.FAIL, str(error), advice, USAGE), *machine]
    return [*checks.of_settings(found), *await checks.of_platform(found), checks.of_history(found.settings), *machine]


def _object(check: Check) -> dict[str, Any]:
    told = asdict(check)
    del told["code"]
    return told | {"verdict": check.verdict.value}


def _lines(check: Check) -> list[str]:
    first, *more = (wording.safe(line) for line in check.found.splitlines() or [""])
    advice = [f"-> {check.advice}"] if check.advice else []
    return [f"{_MARKS[check.verdict]}  {check.name:<9} {first}", *(f"{'':<18}{line}" for line in [*more, *advice])]

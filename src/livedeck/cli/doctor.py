"""What the deck needs, checked piece by piece: each ok, a warning or a failure, with what to do about it."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from enum import StrEnum
from os import W_OK, access
from pathlib import Path
from typing import Any

import click

from livedeck.cli.exit_codes import DONE, FAULT, REFUSED, USAGE, code_of_error, run
from livedeck.cli.options import given, platform
from livedeck.cli.wiring import make_api, make_keymap
from livedeck.client import Api, ApiError, Forbidden, Misconfigured, Rejected, Unauthorized
from livedeck.environment import Terminal, log_path, no_screen_reason, terminal
from livedeck.monitor.polling.connection import skew
from livedeck.presentation import serialization
from livedeck.settings import LoadedSettings, Settings, SettingsError, load_with_origins, unknown_variables
from livedeck.text import values

_SMALLEST = (80, 24)


class CheckStatus(StrEnum):
    """How a check ended."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at. `advice`: what to do; `code`: the exit code that a failure is worth."""

    name: str
    verdict: CheckStatus
    found: str
    advice: str = ""
    code: int = FAULT


def of_settings(found: LoadedSettings) -> Iterator[Check]:
    """The settings file, the variables, and where the token is to come from."""
    path, settings = found.document.path, found.settings
    if path.exists():
        yield _private("settings", path)
    else:
        yield Check("settings", CheckStatus.OK, f"no file at {path}", "`livedeck config init` makes one")
    for name in unknown_variables():
        yield Check("settings", CheckStatus.WARN, f"{name} is no setting", "mend its name, or unset it")
    yield Check(
        "profile", CheckStatus.OK, f"{settings.profile}, {'read-only' if settings.read_only else 'read and write'}"
    )


async def of_platform(found: LoadedSettings) -> list[Check]:
    """The token, and one small question to the platform."""
    settings = found.settings
    if not settings.base_url:
        advice = "set base_url or LIVEDECK_BASE_URL; `livedeck demo` needs none"
        return [Check("platform", CheckStatus.FAIL, "no address is set", advice, USAGE)]
    try:
        api = make_api(settings)
    except SettingsError as error:
        return [Check("token", CheckStatus.FAIL, str(error), "name one source of the token", USAGE)]
    except Misconfigured as error:
        return [Check("platform", CheckStatus.FAIL, str(error), "mend the address", USAGE)]
    async with api:
        (source,) = settings.token_sources
        checks = [Check("token", CheckStatus.OK, f"{source} of {found.origins[source]}"), *await _answered(api)]
        return [
            *checks,
            *_clock(api, settings),
            *[await _known(api, event_id) for event_id in settings.event_thresholds()],
        ]


async def _answered(api: Api) -> list[Check]:
    try:
        await api.without_retry().events.list(per_page=1)
    except (Unauthorized, Forbidden) as error:
        advice = "renew the token, or choose another profile"
        return [_reached(api), Check("access", CheckStatus.FAIL, str(error), advice, REFUSED)]
    except Rejected as error:
        advice = "the platform is in trouble: ask again later"
        return [_reached(api), Check("access", CheckStatus.FAIL, str(error), advice, REFUSED)]
    except ApiError as error:
        return [
            Check(
                "platform",
                CheckStatus.FAIL,
                str(error),
                "see that it is up and this machine online",
                code_of_error(error),
            )
        ]
    return [_reached(api), Check("access", CheckStatus.OK, "the token is accepted")]


async def _known(api: Api, event_id: str) -> Check:
    """Whether the thresholds of an event have an event: a wrong id would lie in the settings unheeded."""
    try:
        event = await api.events.get(event_id)
    except ApiError as error:
        return Check("event", CheckStatus.WARN, str(error), f'mend the id of [events."{event_id}"], or take it out')
    return Check("event", CheckStatus.OK, f"{event.name or event_id} has thresholds of its own")


def _reached(api: Api) -> Check:
    took = api.timings[-1].round_trip * 1000
    return Check("platform", CheckStatus.OK, f"{api.host} answers in {took:.0f} ms")


def _clock(api: Api, settings: Settings) -> Iterator[Check]:
    """Whether this machine tells the platform's time (monitoring.md, "Freshness")."""
    if not any(exchange.server_date for exchange in api.timings):
        return
    limits = settings.thresholds_of()
    ahead = skew(api.timings, 0.0, limits)
    found = f"{abs(ahead):.0f} s {'behind' if ahead > 0 else 'ahead of'} the platform" if ahead else "the platform's"
    verdict = CheckStatus.FAIL if abs(ahead) > limits.skew_critical else CheckStatus.WARN if ahead else CheckStatus.OK
    yield Check("clock", verdict, found, "set this machine's clock (NTP)" if ahead else "")


def of_terminal(terminal: Terminal) -> Iterator[Check]:
    """What the full screen needs."""
    why = no_screen_reason()
    if why:
        advice = "start it in a terminal; without one it prints the status"
        yield Check("terminal", CheckStatus.WARN, why, advice)
    else:
        yield Check("terminal", CheckStatus.OK, f"TERM={terminal.term}")
    few = terminal.colours and terminal.colours < 256
    yield Check(
        "colour",
        CheckStatus.WARN if few else CheckStatus.OK,
        f"{terminal.colours or 'no'} colours{'' if terminal.colours else ' (NO_COLOR)'}",
        "--theme ansi-16, or a terminal that sets COLORTERM=truecolor" if few else "",
    )
    size = f"{terminal.columns}x{terminal.rows}"
    small = terminal.columns < _SMALLEST[0] or terminal.rows < _SMALLEST[1]
    yield Check("size", CheckStatus.WARN if small else CheckStatus.OK, size, "80x24 shows everything" if small else "")
    utf8 = terminal.encoding.replace("-", "").lower() == "utf8"
    advice = "" if utf8 else "set LANG to a UTF-8 locale, or use --ascii"
    yield Check("encoding", CheckStatus.OK if utf8 else CheckStatus.WARN, terminal.encoding, advice)


def of_history(settings: Settings) -> Check:
    """The file that keeps what happened."""
    path = settings.history_file()
    return (
        of_file("history", path)
        if path
        else Check("history", CheckStatus.OK, f"not kept: history is {settings.history}")
    )


def of_file(name: str, path: Path) -> Check:
    """A file that the deck writes: whether it can, and that nobody else can read it."""
    if path.exists():
        return _private(name, path) if access(path, W_OK) else _unwritable(name, path)
    parent = next(parent for parent in path.parents if parent.exists())
    if not parent.is_dir() or not access(parent, W_OK):
        return _unwritable(name, path)
    return Check(name, CheckStatus.OK, f"{path}, made when it is needed")


def _unwritable(name: str, path: Path) -> Check:
    return Check(name, CheckStatus.FAIL, f"{path} cannot be written", "give it to this user, or make room for it")


def _private(name: str, path: Path) -> Check:
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & 0o077:
        return Check(name, CheckStatus.WARN, f"{path} is open to others ({mode:04o})", f"chmod 600 {path}")
    return Check(name, CheckStatus.OK, f"{path} ({mode:04o})")


_MARKS = {CheckStatus.OK: "✓ ok  ", CheckStatus.WARN: "▲ warn", CheckStatus.FAIL: "✖ fail"}


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
            click.echo(serialization.to_json({"checks": [_object(check) for check in done]}))
        else:
            click.echo("\n".join(line for check in done for line in _lines(check)))
        return next((check.code for check in done if check.verdict is CheckStatus.FAIL), DONE)

    ctx.exit(run(work))


async def examined(flags: dict[str, Any]) -> list[Check]:
    """Every check, in the order in which a fault of one makes the next pointless."""
    machine = [*of_terminal(terminal()), of_file("log", log_path())]
    try:
        found = load_with_origins(**flags)
        make_keymap(found.settings)
    except SettingsError as error:
        advice = "mend what is named; `livedeck config validate` checks it again"
        return [Check("settings", CheckStatus.FAIL, str(error), advice, USAGE), *machine]
    return [*of_settings(found), *await of_platform(found), of_history(found.settings), *machine]


def _object(check: Check) -> dict[str, Any]:
    told = asdict(check)
    del told["code"]
    return told | {"verdict": check.verdict.value}


def _lines(check: Check) -> list[str]:
    first, *more = (values.safe(line) for line in check.found.splitlines() or [""])
    advice = [f"-> {check.advice}"] if check.advice else []
    return [f"{_MARKS[check.verdict]}  {check.name:<9} {first}", *(f"{'':<18}{line}" for line in [*more, *advice])]

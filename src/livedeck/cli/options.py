"""What several commands share: flags, and types of values."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

import click

from livedeck.text.themes import THEME_NAMES

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from click.shell_completion import CompletionItem


Command = TypeVar("Command", bound=Callable[..., Any])


class CommandGroup(click.Group):
    """A group that names the nearest of its commands for one that it has not."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does it. Raises UsageError."""
        name, commands = args[0], self.list_commands(ctx)
        if not ctx.resilient_parsing and name not in commands and not name.startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(name, commands, 3)
            advice = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
            raise click.UsageError(f"No such command {name!r}.{advice}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """As click does it, with the whole first sentence of each: it folds, and nothing is cut."""
        commands = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        rows = [(name, command.get_short_help_str(_SENTENCE)) for name, command in commands.items() if command]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


_SENTENCE = 300
"""Letters of the longest first sentence."""


def time_span(text: str) -> float:
    """A length of time with its unit, as seconds: `90s`, `15m`, `2h`. Raises click.BadParameter."""
    length, unit = text[:-1], _SECONDS.get(text[-1:].lower())
    if unit is None or not length.isascii() or not length.isdecimal() or not int(length):
        raise click.BadParameter(f"{text!r} is no length of time; write 90s, 15m or 2h")
    return float(int(length) * unit)


_SECONDS = {"s": 1, "m": 60, "h": 3600}


def timestamp(text: str) -> datetime:
    """A time as ISO 8601 writes it; without an offset it is naive. Raises click.BadParameter."""
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise click.BadParameter(f"{text!r} is no moment; write 2026-11-21T18:00, or 2026-11-21T18:00+01:00") from None


def time_zone(name: str) -> ZoneInfo:
    """A time zone by its name: `Europe/Berlin`, `UTC`. Raises click.BadParameter."""
    from zoneinfo import ZoneInfo  # its own imports cost a tenth of `--help`

    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise click.BadParameter(f"this machine knows no time zone {name!r}; write Europe/Berlin, or UTC") from None


READ_ONLY = "Nothing but GET and HEAD leaves the deck."


def _start_debugging(_ctx: click.Context, _param: click.Parameter, is_wanted: bool) -> None:
    if is_wanted:
        from livedeck.cli.log_file import print_requests

        print_requests()


_NO_INPUT = "livedeck.no_input"


def _stop_asking(ctx: click.Context, _param: click.Parameter, is_wanted: bool) -> None:
    if is_wanted:
        ctx.meta[_NO_INPUT] = True


def is_interactive() -> bool:
    """Whether somebody may be asked: standard input and standard error are a terminal, and --no-input was not given."""
    ctx = click.get_current_context(silent=True)
    if ctx is not None and _NO_INPUT in ctx.meta:
        return False
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


def _complete_profile(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from livedeck.cli.completion import complete_values

    return complete_values("PROFILE", incomplete)


_PLATFORM = (
    click.option(
        "--profile",
        metavar="NAME",
        shell_complete=_complete_profile,
        help="Use the platform of [profiles.NAME] in the settings file.",
    ),
    click.option("--base-url", metavar="URL", help="Address of the platform's API."),
    click.option("--upload-url", metavar="URL", help="Address of its upload endpoints, where it is another."),
    click.option("--read-only", is_flag=True, default=None, help=READ_ONLY),
    click.option(
        "--no-input",
        is_flag=True,
        expose_value=False,
        callback=_stop_asking,
        help="Ask nothing: what needs an answer is not done, as without a terminal.",
    ),
    click.option(
        "--debug",
        is_flag=True,
        expose_value=False,
        callback=_start_debugging,
        help="Print each request on standard error, without secrets.",
    ),
)

_SIMULATION = (
    click.option(
        "--seed", type=int, help="Another seed, another noise on the same events. [default: 1, or the kept one]"
    ),
    click.option(
        "--scenario", metavar="NAME|FILE", help="Play a scenario: keyframe-drift, bad-night, ... or a TOML file."
    ),
    click.option("--faults", metavar="NAME|FILE", help="Let answers fail: flaky, odd, dead, late, or a TOML file."),
)

_APPEARANCE = (
    click.option(
        "--theme",
        type=click.Choice(["auto", *THEME_NAMES]),
        help="Colours of the deck; auto: what the terminal can show.",
    ),
    click.option("--ascii", is_flag=True, default=None, help="No character beyond ASCII."),
)


def appearance(command: Command) -> Command:
    """Add --theme and --ascii."""
    return _decorate(_APPEARANCE, command)


def platform(command: Command) -> Command:
    """Add --profile, --base-url, --upload-url, --read-only, --no-input and --debug."""
    return _decorate(_PLATFORM, command)


def simulation(command: Command) -> Command:
    """Add --seed, --scenario and --faults: what a simulated platform is made from."""
    return _decorate(_SIMULATION, command)


def _decorate(flags: Iterable[Callable[[Command], Command]], command: Command) -> Command:
    for flag in reversed(tuple(flags)):
        command = flag(command)
    return command


def merge_flags(ctx: click.Context, flags: dict[str, Any]) -> dict[str, Any]:
    """The flags of a command that were given, over those that stood before its name."""
    return {**(ctx.obj or {}), **{name: value for name, value in flags.items() if value is not None}}


def refuse_platform(ctx: click.Context) -> None:
    """For a command with a platform of its own. Raises UsageError where another one was named."""
    for name in ("profile", "base_url", "upload_url"):
        if (ctx.obj or {}).get(name):
            raise click.UsageError(f"{ctx.info_name} has a platform of its own: leave out --{name.replace('_', '-')}")

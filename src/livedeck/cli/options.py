"""Flags and value types that several commands share, so that a flag means the same in each."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from functools import wraps
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from livedeck.text.themes import THEME_NAMES

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from click.shell_completion import CompletionItem

    from livedeck.settings import Settings


Command = TypeVar("Command", bound=Callable[..., Any])


def time_span(text: str) -> float:
    """Return a length of time in seconds: `90s`, `15m`, `2h`, `7d`. Raises click.BadParameter."""
    length, unit = text[:-1], _SECONDS.get(text[-1:].lower())
    if unit is None or not length.isascii() or not length.isdecimal() or not int(length):
        raise click.BadParameter(f"{text!r} is not a length of time; write 90s, 15m, 2h or 7d")
    return float(int(length) * unit)


_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


def timestamp(text: str) -> datetime:
    """Parse an ISO 8601 time; the result is naive if the text has no offset. Raises click.BadParameter."""
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise click.BadParameter(f"{text!r} is not a time; write 2026-11-21T18:00, or 2026-11-21T18:00+01:00") from None


def time_zone(name: str) -> ZoneInfo:
    """Return a time zone by its name: `Europe/Berlin`, `UTC`. Raises click.BadParameter."""
    from zoneinfo import ZoneInfo  # its imports take a tenth of the time of `--help`

    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise click.BadParameter(f"this machine knows no time zone {name!r}; write Europe/Berlin, or UTC") from None


READ_ONLY = "Send nothing but GET and HEAD."

FORCE = click.option("--force", is_flag=True, help="Replace what already exists.")

FORCE_TWICE = click.option("--force", count=True, help="Replace what already exists.")
"""Option --force of a download. Given twice, it also accepts content that is not proved to be complete."""

QUIET = click.option("-q", "--quiet", is_flag=True, help="Print only ids; print nothing if there are none.")

DURATION = click.option("--duration", type=time_span, metavar="TIME", help="Length of time: 15m, 2h.")

FOLLOW = click.option("--follow", is_flag=True, help="Print new samples or changes as they arrive, until ctrl-c.")

YES = click.option("-y", "--yes", is_flag=True, help="Do not ask for confirmation.")

CONFIRM = click.option("--confirm", metavar="NAME", help="Confirm a dangerous change with the name of the target.")

DRY_RUN = click.option("--dry-run", is_flag=True, help="Print the change without sending it.")


def history() -> Callable[[Command], Command]:
    """Return the option `--history`, the history file to use."""
    from pathlib import Path  # the help of `livedeck` alone names no file, and starts sooner without it

    return click.option(
        "--history",
        "path",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Use this history file instead of the one in the settings.",
    )


def output(metavar: str = "FILE", **attributes: Any) -> Callable[[Command], Command]:
    """Return the option `-o/--output`, a file or folder to write. `attributes`: further arguments for click."""
    text = "Where to write. Existing files stay, unless the command has --force and you add it."
    return click.option("-o", "--output", metavar=metavar, help=text, **attributes)


def timeout(default: str) -> Callable[[Command], Command]:
    """Return the option `--timeout`, whose value is in seconds. `default`: as the user would type it, such as `60s`."""
    return click.option(
        "--timeout", type=time_span, default=default, show_default=True, metavar="TIME", help="Wait at most this long."
    )


PATIENCE = click.option(
    "--patience",
    type=time_span,
    default="10s",
    show_default=True,
    metavar="TIME",
    help="Poll streams with late samples again, for up to this long. Not with a collector, which sets its own limit.",
)


def refuse_patience(ctx: click.Context, settings: Settings) -> None:
    """Raise UsageError if `--patience` is given with a collector, because it has no effect then."""
    is_given = ctx.get_parameter_source("patience") is not ParameterSource.DEFAULT
    if settings.collector_urls and is_given:
        raise click.UsageError("--patience: the collector decides how long to poll late streams. Leave --patience out.")


def time_range(since: Mapping[str, Any], until: Mapping[str, Any]) -> Callable[[Command], Command]:
    """Return the options `--from` and `--to`. `since`, `until`: further arguments for click, for each option."""
    flags = (
        click.option("--from", "since", metavar="TIME", help="Start of the time range.", **since),
        click.option("--to", "until", metavar="TIME", help="End of the time range.", **until),
    )
    return lambda command: _decorate(flags, command)


def at(**attributes: Any) -> Callable[[Command], Command]:
    """Return the option `--at`. `attributes`: further arguments for click."""
    return click.option("--at", metavar="TIME", help="Time to look at: 21:04, 2026-11-21T21:04, -15m.", **attributes)


PLOT = "plot"
"""Value of `output_format` if --plot is given."""


def formats(*names: str, default: str = "table", has_plot: bool = False) -> Callable[[Command], Command]:
    """Return the option `--format`; if JSON is one of the formats, also `--json` and `--schema`.

    The command receives the format as `output_format`. `has_plot`: add `--plot`, which draws the samples into the
    default format.
    """
    flags: tuple[Callable[[Command], Command], ...] = (
        click.option(
            "--format", "output_format", type=click.Choice(names), show_default=default, help="Format of the output."
        ),
    )
    if has_plot:
        flags += (click.option("--plot", is_flag=True, help="Draw the samples as curves, as wide as the terminal."),)
    if "json" in names:
        flags += (
            click.option("--json", "output_format", flag_value="json", help="Print JSON: short for --format json."),
            click.option(
                "--schema",
                cls=_SchemaOption,
                is_flag=True,
                is_eager=True,
                expose_value=False,
                callback=_print_schema,
                help="Print the JSON Schema of --json and exit.",
            ),
        )

    def decorate(command: Command) -> Command:
        @wraps(command)
        def with_default(*args: Any, **values: Any) -> Any:  # in click 8.2 two options of a parameter share no default
            if values.pop("plot", False):
                if values["output_format"] not in {None, default}:
                    raise click.UsageError("--plot draws for people: leave out --format and --json")
                values["output_format"] = PLOT
            values["output_format"] = values["output_format"] or default
            return command(*args, **values)

        return _decorate(flags, with_default)  # type: ignore[return-value]

    return decorate


class _SchemaOption(click.Option):
    """Option --schema, which ends the command before any other option is checked."""

    def handle_parse_result(
        self, ctx: click.Context, opts: Mapping[str, Any], args: list[str]
    ) -> tuple[Any, list[str]]:
        if opts.get("schema") and opts.get("plot"):
            raise click.UsageError("--schema describes the JSON: leave out --plot", ctx)
        return super().handle_parse_result(ctx, opts, args)


def _print_schema(ctx: click.Context, _param: click.Parameter, is_wanted: bool) -> None:
    if is_wanted and not ctx.resilient_parsing:
        from livedeck.cli.output import echo

        schema = import_module("livedeck.cli.schema")  # by its name: it imports the commands, which import this
        echo(schema.schema_text(command_words(ctx)))
        ctx.exit()


def command_words(ctx: click.Context) -> str:
    """Return the words after `livedeck` that lead to the command of the context: `event list`."""
    words: list[str] = []
    while ctx.parent is not None:
        words.insert(0, str(ctx.info_name))
        ctx = ctx.parent
    return " ".join(words)


def _start_debugging(_ctx: click.Context, _param: click.Parameter, is_wanted: bool) -> None:
    if is_wanted:
        from livedeck.cli.log_file import print_requests

        print_requests()


_NO_INPUT = "livedeck.no_input"


def _stop_asking(ctx: click.Context, _param: click.Parameter, is_wanted: bool) -> None:
    if is_wanted:
        ctx.meta[_NO_INPUT] = True


def is_interactive() -> bool:
    """Return whether livedeck may prompt: standard input and error are a terminal, and --no-input is not given."""
    ctx = click.get_current_context(silent=True)
    if ctx is not None and _NO_INPUT in ctx.meta:
        return False
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


def is_confirmed(question: str) -> bool:
    """Ask a question on standard error. Returns whether the answer is yes."""
    from livedeck.cli.output import echo

    echo(f"{question} [y/N] ", nl=False, err=True)
    return sys.stdin.readline().strip().casefold() in {"y", "yes"}


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
    click.option("--upload-url", metavar="URL", help="Address of the upload endpoints, if they have their own."),
    click.option("--read-only", is_flag=True, default=None, help=READ_ONLY),
    click.option(
        "--no-input",
        is_flag=True,
        expose_value=False,
        callback=_stop_asking,
        help="Never prompt; fail if an answer is needed.",
    ),
    click.option(
        "--debug",
        is_flag=True,
        expose_value=False,
        callback=_start_debugging,
        help="Print each request on standard error, without secrets.",
    ),
)

_FOLLOWS_ANYWHERE, _NOTIFIES = "livedeck.follows_anywhere", "livedeck.notifies"


def _note(name: str) -> Callable[[click.Context, click.Parameter, bool], None]:
    """Return a callback that notes a flag for `follows_anywhere` and `notifies`."""

    def note(ctx: click.Context, _param: click.Parameter, is_wanted: bool) -> None:
        if is_wanted:
            ctx.meta[name] = True

    return note


def follows_anywhere() -> bool:
    """Return whether --yes lets --follow-clock follow the clock of another machine."""
    ctx = click.get_current_context(silent=True)
    return ctx is not None and _FOLLOWS_ANYWHERE in ctx.meta


def notifies() -> bool:
    """Return whether --notify lets a deck that follows a rehearsal notify people."""
    ctx = click.get_current_context(silent=True)
    return ctx is not None and _NOTIFIES in ctx.meta


_REHEARSAL = (
    click.option("--follow-clock", is_flag=True, default=None, help="Follow the simulator's clock."),
    click.option(
        "-y",
        "--yes",
        is_flag=True,
        expose_value=False,
        callback=_note(_FOLLOWS_ANYWHERE),
        help="Do not ask for confirmation.",
    ),
    click.option(
        "--notify",
        is_flag=True,
        expose_value=False,
        callback=_note(_NOTIFIES),
        help="With --follow-clock: notify people, too.",
    ),
)

PLATFORM_NAMES = ("profile", "base_url", "upload_url", "read_only")
"""Parameters that `platform` adds to a command."""

SEED = click.option(
    "--seed", type=int, help="Seed of the simulated ids, keys and samples. [default: 1, or the stored one]"
)

_SIMULATION = (
    SEED,
    click.option(
        "--scenario", metavar="NAME|FILE", help="Play a scenario: keyframe-drift, bad-night, ... or a TOML file."
    ),
    click.option("--faults", metavar="NAME|FILE", help="Make requests fail: flaky, odd, dead, late, or a TOML file."),
)

_APPEARANCE = (
    click.option(
        "--theme",
        type=click.Choice(["auto", *THEME_NAMES]),
        metavar="NAME",
        help=f"Colours: auto, {', '.join(THEME_NAMES)}.",
    ),
    click.option("--ascii", is_flag=True, default=None, help="Use ASCII characters only."),
)


def appearance(command: Command) -> Command:
    """Add --theme and --ascii."""
    return _decorate(_APPEARANCE, command)


def platform(command: Command) -> Command:
    """Add --profile, --base-url, --upload-url, --read-only, --no-input and --debug."""
    return _decorate(_PLATFORM, command)


def rehearsal(command: Command) -> Command:
    """Add --follow-clock, --yes and --notify."""
    return _decorate(_REHEARSAL, command)


def simulation(command: Command) -> Command:
    """Add --seed, --scenario and --faults, which describe a simulated platform."""
    return _decorate(_SIMULATION, command)


def _decorate(flags: Iterable[Callable[[Command], Command]], command: Command) -> Command:
    for flag in reversed(tuple(flags)):
        command = flag(command)
    return command


def merge_flags(ctx: click.Context, flags: dict[str, Any]) -> dict[str, Any]:
    """Return the flags of a command. Flags before its name (`livedeck --profile NAME status`) are the defaults."""
    return {**(ctx.obj or {}), **{name: value for name, value in flags.items() if value is not None}}


def refuse_platform(ctx: click.Context) -> None:
    """Raise UsageError if a flag names a platform, because this command uses a platform of its own."""
    for name in ("profile", "base_url", "upload_url"):
        if (ctx.obj or {}).get(name):
            raise click.UsageError(f"{ctx.info_name} has its own platform: leave out --{name.replace('_', '-')}")

"""Flags that several commands share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])

READ_ONLY = "Nothing but GET and HEAD leaves the deck."

_PLATFORM = (
    click.option("--base-url", metavar="URL", help="Address of the platform's API."),
    click.option("--upload-url", metavar="URL", help="Address of its upload endpoints, where it is another."),
    click.option("--read-only", is_flag=True, default=None, help=READ_ONLY),
)


_SIMULATION = (
    click.option("--seed", default=1, show_default=True, help="Another seed, another noise on the same events."),
    click.option(
        "--scenario", metavar="NAME|FILE", help="Play a scenario: keyframe-drift, bad-night, ... or a TOML file."
    ),
    click.option("--faults", metavar="NAME|FILE", help="Let answers fail: flaky, odd, dead, or a TOML file."),
)


def platform(command: Command) -> Command:
    """Add --base-url, --upload-url and --read-only."""
    return _with(_PLATFORM, command)


def simulation(command: Command) -> Command:
    """Add --seed, --scenario and --faults: what a simulated platform is made from."""
    return _with(_SIMULATION, command)


def _with(flags: Iterable[Callable[[Command], Command]], command: Command) -> Command:
    for flag in reversed(tuple(flags)):
        command = flag(command)
    return command


def given(ctx: click.Context, flags: dict[str, Any]) -> dict[str, Any]:
    """The flags of a command over those that stood before its name."""
    return {**(ctx.obj or {}), **{name: value for name, value in flags.items() if value is not None}}


def refuse_platform(ctx: click.Context) -> None:
    """For a command with a platform of its own. Raises UsageError where another one was named."""
    for name in ("base_url", "upload_url"):
        if (ctx.obj or {}).get(name):
            raise click.UsageError(f"{ctx.info_name} has a platform of its own: leave out --{name.replace('_', '-')}")

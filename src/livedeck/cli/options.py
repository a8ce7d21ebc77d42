"""What several commands share: flags, types of values, and the lookup of an event by what a person typed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

import click

from livedeck.text import values

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from livedeck.client import Api, Event


Command = TypeVar("Command", bound=Callable[..., Any])


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


_PLATFORM = (
    click.option("--profile", metavar="NAME", help="Use the platform of [profiles.NAME] in the settings file."),
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


_APPEARANCE = (
    click.option(
        "--theme",
        type=click.Choice(["auto", "dark", "light", "contrast", "ansi-16", "mono"]),
        help="Colours of the deck; auto: what the terminal can show.",
    ),
    click.option("--ascii", is_flag=True, default=None, help="No character beyond ASCII."),
)


def appearance(command: Command) -> Command:
    """Add --theme and --ascii."""
    return _decorate(_APPEARANCE, command)


def platform(command: Command) -> Command:
    """Add --profile, --base-url, --upload-url and --read-only."""
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


MAX_LISTED = 10

"""So many events are listed where a name fits several."""


async def lookup_event(api: Api, words: str) -> Event:
    """The event of the platform that is meant. Raises click.UsageError for none or several, and ApiError."""
    return match_event([event async for event in api.events.iterate()], words)


def match_event(events: Iterable[Event], words: str) -> Event:
    """The one event that fits best: its id, else its name, else the beginning of either, whatever the case.

    Raises click.UsageError where none fits, and where several fit equally well: it lists them.
    """
    events, text = tuple(events), words.strip().casefold()
    fits: tuple[Callable[[Event], bool], ...] = (
        lambda event: event.id.casefold() == text,
        lambda event: _name(event) == text,
        lambda event: event.id.casefold().startswith(text) or _name(event).startswith(text),
    )
    for fit in fits if text else ():
        matches = [event for event in events if fit(event)]
        if len(matches) == 1:
            return matches[0]
        if matches:
            raise click.UsageError(_list_matches(words, matches))
    raise click.UsageError(f"no event is called {values.safe(words, 80)!r}; `livedeck status` lists them all")


def _name(event: Event) -> str:
    return values.safe(event.name or "").casefold()


def _list_matches(words: str, matches: list[Event]) -> str:
    lines = [f"  {event.id}  {values.safe(event.name or '', 60)}" for event in matches[:MAX_LISTED]]
    if len(matches) > MAX_LISTED:
        lines.append(f"  and {len(matches) - MAX_LISTED} more")
    return "\n".join([f"{values.safe(words, 80)!r} fits {len(matches)} events; name one by its id:", *lines])

"""`livedeck probe`: what viewers of a playlist get now, as a plugin for monitoring; the traffic of the probe."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from livedeck.cli.exit_codes import DONE, NOT_SO, run
from livedeck.cli.lookup import lookup_event
from livedeck.cli.options import FORCE, YES, formats, is_confirmed, is_interactive, merge_flags, platform
from livedeck.cli.output import echo, echo_json
from livedeck.cli.plugin import Plugin, WrongUse
from livedeck.cli.wiring import SystemClock, make_api, make_fetcher, make_looks, make_outgoing, make_probe_plan
from livedeck.client import ApiError, Event
from livedeck.environment import PREFIX, config_path, variables
from livedeck.monitor import Viewed
from livedeck.presentation.check import ServiceState
from livedeck.presentation.documents import ProbePlan
from livedeck.presentation.viewer_check import check_viewer, viewer_document, viewer_line
from livedeck.settings import Settings, SettingsError, load
from livedeck.text.values import counted, safe

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

    from livedeck.probe.asking import Looks
    from livedeck.probe.estimate import Planned
    from livedeck.probe.plan import Address
    from livedeck.probe.rounds import Memory

_PAUSES = (4.0, 20.0)
"""Minimum and maximum pause between two rounds (s). Within these limits, the pause is 1.6 target durations of a
segment, so that the head of a playing playlist moves on.
"""


@click.command(cls=Plugin)
@click.argument("target", metavar="[URL|EVENT]", required=False)
@click.option(
    "--rounds", type=click.IntRange(1, 100), default=2, show_default=True, metavar="NUMBER", help="Rounds to make."
)
@click.option("--no-media", is_flag=True, help="Look at neither picture nor sound.")
@click.option("--picture", metavar="FILE|-", help="Write the newest picture as JPEG, 160 x 90 pixels.")
@FORCE
@click.option("--plan", is_flag=True, help="Print the traffic that the probe of all events would cause.")
@click.option("--enable", is_flag=True, help="Print the probe's traffic, ask, and switch the probe on in the settings.")
@YES
@formats("table", "json")
@platform
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    target: str | None,
    rounds: int,
    no_media: bool,
    picture: str | None,
    force: bool,
    plan: bool,
    enable: bool,
    yes: bool,
    output_format: str,
    **flags: Any,
) -> None:
    """Check what viewers of an event or a playlist get from here.

    A Nagios plugin: prints a line with performance data. Exit codes: 0 plays, 1 WARNING (slow, late, a segment missing,
    silent), 2 gone, stalled or black, 3 unknown. URL is an HLS playlist, and needs neither platform nor token. EVENT is
    probed at the address that the settings give it, even if they turn the probe off. --plan and --enable judge nothing:
    they read the playlists of each event once, and no segment.
    """
    if (target is not None) + plan + enable != 1:
        raise WrongUse("give exactly one of URL, EVENT, --plan and --enable", ctx)
    if enable and output_format == "json":
        raise WrongUse("--enable prints no JSON; --plan does", ctx)

    if picture and picture != "-" and not force and os.path.exists(picture):  # noqa: PTH110  False without the right to look
        raise WrongUse(f"{picture} exists already; add --force to replace it", ctx)

    async def work() -> int:
        try:
            settings = load(**merge_flags(ctx, flags))
            limits = settings.limits_in_force().base
            _check_installed()
            if enable:
                return await _enable(settings, is_sure=yes)
            if target is None:
                return await print_plan(settings, as_json=output_format == "json")
            address, is_protected = await _address(settings, target)
            looks = None if no_media or is_protected else make_looks()
            if is_protected and not no_media:
                echo("livedeck probe: viewers need a password, so picture and sound are not judged", err=True)
            memory = await _probe(settings, address, rounds, looks)
        except (click.ClickException, ApiError, SettingsError) as error:
            text = error.format_message() if isinstance(error, click.ClickException) else str(error)
            echo(f"VIEWER UNKNOWN - {text}")
            return ServiceState.UNKNOWN
        state = check_viewer(memory.viewer, limits, is_picture_asked=not (no_media or is_protected))
        if picture == "-":
            echo(viewer_line(memory.viewer, limits, state), err=True)
        if picture:
            try:
                await _write_picture(picture, memory.image, force=force)
            except SettingsError as error:
                echo(f"livedeck probe: {error}", err=True)
                state = state or ServiceState.UNKNOWN
        if output_format == "json":
            echo_json({"state": state.name, "viewer": viewer_document(memory.viewer), "plan": None})
        elif picture != "-":
            echo(viewer_line(memory.viewer, limits, state))
        return state

    ctx.exit(run(work))


def _check_installed() -> None:
    """Raise SettingsError if the extra for playlists is missing."""
    from livedeck.probe.playlist import is_installed

    if not is_installed():
        raise SettingsError("playlists need the package m3u8: pip install '.[probe]' in the checkout")


async def _probe(settings: Settings, address: Address, rounds: int, looks: Looks | None) -> Memory:
    """Probe an address in `rounds` rounds, and return what is known after them. Raises SettingsError."""
    from livedeck.probe.asking import ask
    from livedeck.probe.fetch import host_of
    from livedeck.probe.plan import Origin
    from livedeck.probe.rounds import begin, step

    memory = begin(host_of(address.text), is_sure=address.origin is not Origin.LINK)
    clock = SystemClock()
    async with make_outgoing(settings) as outgoing:
        fetcher = make_fetcher(settings, outgoing)
        try:
            for number in range(rounds):
                if number:
                    shortest, longest = _PAUSES
                    await clock.sleep(min(longest, max(shortest, 1.6 * (memory.viewer.target or 0.0))))
                memory = step(memory, await ask(memory, address.text, fetcher.round(address.home), looks, clock.now))
        finally:
            if looks is not None:
                await looks.close()
    return memory


async def _address(settings: Settings, target: str) -> tuple[Address, bool]:
    """Return the address to probe, and whether its viewers need a password, as far as the platform tells.

    The address is `target` itself if it is a URL, else that of the named event.

    Raises UsageError, SettingsError, ApiError.
    """
    from livedeck.probe.plan import typed_address

    is_protected = False
    if "://" in target:
        address = typed_address(target)
    else:
        async with make_api(settings) as api:
            event = viewed(await lookup_event(api, target))
        address, is_protected = make_probe_plan(settings).address(event), event.is_protected
    if not address.text:
        raise SettingsError(f"{safe(target, 60) if '://' not in target else 'URL'}: {address.reason}")
    return address, is_protected


def viewed(event: Event) -> Viewed:
    """Return the data of an event that the probe needs."""
    stream_id = (event.stream and event.stream.id) or ""
    return Viewed(event.id, stream_id, event.play_link or "", is_protected=event.protected is True)


async def _write_picture(place: str, image: bytes, *, force: bool) -> None:
    """Write the picture to a file, or to standard output if `place` is `-`.

    Raises SettingsError if the file cannot be written, and OSError if standard output cannot.
    """
    if not image:
        echo("livedeck probe: no picture was seen; see `livedeck docs probe`", err=True)
        return
    if place == "-":
        click.echo(image, nl=False)
        return
    from livedeck.atomic_file import AtomicFile

    def write() -> None:
        with AtomicFile(Path(place), replace=force) as atomic:
            atomic.file.write(image)

    try:
        await asyncio.to_thread(write)
    except FileExistsError:
        raise SettingsError(f"{place} exists already; add --force to replace it") from None
    except OSError as error:
        raise SettingsError(f"{place}: {error.strerror}") from None


async def plan_of(settings: Settings) -> tuple[list[Planned], dict[str, str]]:
    """Return the traffic of each event, and the names of the events.

    Raises SettingsError, ApiError.
    """
    from livedeck.probe.estimate import estimate

    async with make_api(settings) as api, make_outgoing(settings) as outgoing:
        events = [event async for event in api.events.iterate()]
        planned = await estimate(
            make_probe_plan(settings), make_fetcher(settings, outgoing), [viewed(event) for event in events]
        )
        return planned, {event.id: event.name or event.id for event in events}


def sum_text(settings: Settings, planned: list[Planned]) -> str:
    """Return the sum of the traffic in words."""
    from livedeck.probe.plan import stretched, traffic_text

    rates = [row.rate for row in planned if row.rate is not None]
    rate, budget, interval = sum(rates), settings.probe.budget_kbit * 1000, settings.probe.interval
    unknown = sum(bool(row.address.text) and row.rate is None for row in planned)
    rarer = stretched(interval, rate, budget)
    requests = sum(row.requests for row in planned) * interval / rarer
    rate *= interval / rarer
    traffic = traffic_text(requests, rate, is_limit=any(row.is_limit for row in planned))
    parts = [f"{counted(len(rates), 'event')}, if all are on air: {traffic}"]
    if unknown:
        parts.append(f"{counted(unknown, 'event')} of unknown traffic")
    if rarer > interval:
        parts.append(f"a round every {rarer:.0f} s, not {interval:.0f} s, to stay within budget_kbit")
    return "; ".join(parts)


async def print_plan(settings: Settings, *, as_json: bool) -> int:
    """Print the traffic of each event, and the sum. Returns the exit code. Raises SettingsError, ApiError."""
    from livedeck.probe.plan import gigabytes

    planned, names = await plan_of(settings)
    if as_json:
        rows: list[ProbePlan] = [
            {
                "event_id": row.event_id,
                "event": names[row.event_id],
                "origin": row.address.origin.value,
                "lowest": row.lowest,
                "rate": row.rate,
                "is_limit": row.is_limit,
                "daily": None if row.rate is None else gigabytes(row.rate, 24),
                "requests": None if row.rate is None else row.requests,
                "reason": row.reason,
            }
            for row in planned
        ]
        echo_json({"state": None, "viewer": None, "plan": rows})
        return DONE
    _echo_plan(settings, planned, names)
    if not settings.probe.enabled:
        echo("The probe is off: `livedeck probe --enable` switches it on. A deck without a collector probes by itself.")
    return DONE


def _echo_plan(settings: Settings, planned: list[Planned], names: Mapping[str, str]) -> None:
    from livedeck.probe.plan import NIGHT, gigabytes

    for row in planned:
        limit = "up to " if row.is_limit else ""
        rate = f"{limit}{row.rate / 1e3:.0f} kbit/s  {gigabytes(row.rate, NIGHT):.2f} GB" if row.rate else row.reason
        echo(f"{safe(names[row.event_id], 32):<32}  {row.address.origin:<14}  {row.lowest:<12}  {rate}")
    echo(sum_text(settings, planned))


async def _enable(settings: Settings, *, is_sure: bool) -> int:
    """Show the traffic, ask, and switch the probe on in the settings. Raises SettingsError, ApiError."""
    from livedeck.cli.settings_file import edit_settings

    if f"{PREFIX}PROBE" in variables():
        raise SettingsError(f"{config_path()} has no effect while {PREFIX}PROBE is set: change or unset it")
    _echo_plan(settings, *await plan_of(settings))
    if settings.probe.enabled:
        echo("The probe is on already.")
        return DONE
    if not is_sure and not is_interactive():
        echo("No terminal to confirm at. Add --yes.", err=True)
        return ServiceState.UNKNOWN
    if not is_sure and not await asyncio.to_thread(is_confirmed, "Switch the probe on?"):
        echo("The probe stays off.", err=True)
        return NOT_SO

    def switch_on(document: TOMLDocument) -> None:
        document.setdefault("probe", {})["enabled"] = True

    path = await asyncio.to_thread(edit_settings, switch_on)
    echo(f"{path}: the probe is on. Restart the deck or the collector.")
    return DONE

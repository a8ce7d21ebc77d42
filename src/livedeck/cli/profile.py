"""`livedeck profile`: say what an event consists of."""

from __future__ import annotations

from typing import Any

import click

from livedeck.cli.exit_codes import DONE, run
from livedeck.cli.lookup import lookup_event
from livedeck.cli.options import merge_flags, platform
from livedeck.cli.output import echo
from livedeck.cli.rulings import rule
from livedeck.cli.wiring import make_api
from livedeck.monitor import Profile, ProfileChoice
from livedeck.settings import load
from livedeck.text.values import safe

SETTINGS = "none"


@click.command
@click.argument("event", metavar="EVENT")
@click.argument("name", metavar="NAME", type=click.Choice([*(profile.value for profile in Profile), SETTINGS]))
@platform
@click.pass_context
def command(ctx: click.Context, /, *, event: str, name: str, **flags: Any) -> None:
    """Say what EVENT consists of: show, radio, silent, slides or share; none: what the settings say.

    EVENT: an id, a name, or the beginning of either that fits one event alone. What a profile does not expect is no
    fault. It holds for every deck, wall and `alarms --follow` of the same history within 2 s, over restarts, and before
    the settings.
    """

    async def work() -> int:
        settings = load(**merge_flags(ctx, flags))
        async with make_api(settings) as api:
            target = await lookup_event(api, event)
        profile = None if name == SETTINGS else Profile(name)
        await rule(
            settings,
            lambda known, at, actor: ProfileChoice(known.next_moment(target.id, at), target.id, profile, actor),
        )
        in_force = profile or settings.thresholds_of(target.id).profile
        echo(f"{safe(target.name or target.id, 80)}: profile {in_force}{'' if profile else ', by the settings'}")
        return DONE

    ctx.exit(run(work))

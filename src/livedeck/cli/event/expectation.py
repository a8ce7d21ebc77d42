"""`livedeck event content` and `livedeck event rebaseline`: the expectations of an event."""

from __future__ import annotations

from typing import Any

import click

from livedeck.cli.event.qos import QosFollower
from livedeck.cli.exit_codes import DONE, FAULT, run
from livedeck.cli.lookup import lookup_event
from livedeck.cli.options import merge_flags, platform
from livedeck.cli.output import echo
from livedeck.cli.wiring import SystemClock, make_api, rule
from livedeck.monitor import Content, ProfileChoice, UsualMark
from livedeck.presentation.qos import SAMPLE_HEAD, sample_text
from livedeck.settings import load
from livedeck.text.values import age, safe

SETTINGS = "default"
"""Value of CONTENT that leaves the content to the settings."""


@click.command
@click.argument("event", metavar="EVENT")
@click.argument("name", metavar="CONTENT", type=click.Choice([*(content.value for content in Content), SETTINGS]))
@platform
@click.pass_context
def content_command(ctx: click.Context, /, *, event: str, name: str, **flags: Any) -> None:
    """Set the content of EVENT: show, radio, silent, slides, share or camera; default follows the settings.

    EVENT: an id, a name, or the beginning of either, if unambiguous. Changes how livedeck judges the event,
    and nothing on the platform. Missing sound raises no alarm if the content has no sound; likewise for the picture.
    Every deck, wall and `alarm list --follow` with the same history applies the content within 2 s. The content is kept
    after a restart and wins over the settings.
    """

    async def work() -> int:
        settings = load(**merge_flags(ctx, flags))
        async with make_api(settings) as api:
            target = await lookup_event(api, event)
        content = None if name == SETTINGS else Content(name)
        await rule(
            settings,
            lambda rulings, at, actor: ProfileChoice(rulings.next_moment(target.id, at), target.id, content, actor),
        )
        in_force = content or settings.limits_in_force().of(target).content
        echo(f"{safe(target.name or target.id, 80)}: content {in_force}{'' if content else ', by the settings'}")
        return DONE

    ctx.exit(run(work))


@click.command
@click.argument("event", metavar="EVENT")
@platform
@click.pass_context
def rebaseline_command(ctx: click.Context, /, *, event: str, **flags: Any) -> None:
    """Take the current signal of EVENT as its new baseline.

    EVENT: an id, a name, or the beginning of either, if unambiguous. Changes how livedeck judges the event,
    and nothing on the platform. Every deck, wall and `alarm list --follow` with the same history applies it within 2 s.
    A fault that is present now becomes usual too, so look and listen first.
    """

    async def work() -> int:
        settings = load(**merge_flags(ctx, flags))
        async with make_api(settings) as api:
            target = await lookup_event(api, event)
            follower = QosFollower(api, target, SystemClock(), settings)
            await follower.poll()
        name, newest, old = safe(target.name or target.id, 80), follower.readings.last, follower.age() or 0.0
        if newest is None or target.stream is None:
            echo(f"livedeck event rebaseline: {name} has no samples to take as a baseline", err=True)
            return FAULT
        if old > settings.limits_in_force().of(target).missed_most:
            echo(f"livedeck event rebaseline: the newest sample of {name} is {age(old)} old: no signal now", err=True)
            return FAULT
        stream_id, sample = target.stream.id or "", newest
        await rule(settings, lambda _, at, actor: UsualMark.of(target.id, stream_id, sample, at, actor))
        echo(f"{name}: the new baseline is the current signal\n{SAMPLE_HEAD}\n{sample_text(newest)}")
        return DONE

    ctx.exit(run(work))

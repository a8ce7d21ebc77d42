"""`livedeck event content` and `livedeck event rebaseline`: the expectations of an event."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import click

from livedeck.cli.event.qos import QosFollower
from livedeck.cli.exit_codes import DONE, FAULT, NOT_SO, code_of_link, code_of_refusal, run
from livedeck.cli.lookup import find_known_event, lookup_event
from livedeck.cli.options import merge_flags, platform
from livedeck.cli.output import echo
from livedeck.cli.status_report import TIMEOUT
from livedeck.cli.wiring import SystemClock, make_api, open_watch, rule
from livedeck.monitor import AlarmRefused, Content, EventState, Freshness, Monitor, ProfileChoice, UsualMark
from livedeck.presentation.qos import SAMPLE_HEAD, sample_text
from livedeck.settings import Settings, load
from livedeck.text.values import age, safe

if TYPE_CHECKING:
    from livedeck.collector.attached.remote import Remote

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
    Every deck, wall and `alarm list --follow` with the same history or collector applies the content within 2 s. The
    content is kept after a restart and wins over the settings. Exit code 6 if the collector refuses it, 5 if
    the outcome is unknown.
    """
    content = None if name == SETTINGS else Content(name)

    async def choose(feed: Remote, state: EventState) -> tuple[int, str]:
        await feed.choose_content(state.id, content)
        return DONE, f"content {content}" if content else "content by the collector's settings"

    async def work() -> int:
        settings = load(**merge_flags(ctx, flags))
        if settings.collector_urls:
            return await _rule_at_collector(settings, "content", event, choose)
        async with make_api(settings) as api:
            target = await lookup_event(api, event)
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
    and nothing on the platform. Every deck, wall and `alarm list --follow` with the same history or collector applies
    it within 2 s. A fault that is present now becomes usual too, so look and listen first. Exit code 6 if the collector
    refuses it, 5 if the outcome is unknown.
    """

    async def take(feed: Remote, state: EventState) -> tuple[int, str]:
        newest, is_stale = state.qos.readings.last, state.qos.freshness is Freshness.STALE
        if newest is None or is_stale or not await feed.take_as_usual(state.id):
            return FAULT, "no fresh samples to take as a baseline"
        return DONE, f"the new baseline is the current signal\n{SAMPLE_HEAD}\n{sample_text(newest)}"

    async def work() -> int:
        settings = load(**merge_flags(ctx, flags))
        if settings.collector_urls:
            return await _rule_at_collector(settings, "rebaseline", event, take)
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


async def _rule_at_collector(
    settings: Settings, verb: str, words: str, act: Callable[[Remote, EventState], Awaitable[tuple[int, str]]]
) -> int:
    """Have the collector of the settings make a ruling on the event that `words` name. Returns the exit code.

    `act`: requests the ruling, and returns the exit code and the words to print. Raises UsageError, SettingsError,
    ApiError.
    """
    async with open_watch(settings) as watch:
        feed, snapshot = watch.feed, await watch.feed.wait_ready(TIMEOUT)
        if (code := code_of_link(snapshot.link)) and not snapshot.events:
            echo(f"livedeck event {verb}: cannot watch: {snapshot.link.why}", err=True)
            return code
        assert not isinstance(feed, Monitor)
        event = await find_known_event(watch.api, snapshot, words)
        name, state = safe(event.name or event.id, 80), snapshot.find(event.id)
        try:
            code, text = await act(feed, state) if state else (NOT_SO, "the collector does not watch this event")
        except AlarmRefused as error:
            code, text = code_of_refusal(error), str(error)
    echo(f"{name}: {text}" if code == DONE else f"livedeck event {verb}: {name}: {text}", err=code != DONE)
    return code

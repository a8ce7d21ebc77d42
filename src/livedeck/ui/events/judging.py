"""Actions to set a person's rulings on an event (monitoring.md, "Rulings"). The platform never receives them."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING

from livedeck.monitor import Content, EventState, Freshness, Severity
from livedeck.presentation import events
from livedeck.text.segments import StyleRole
from livedeck.text.values import bits, frames
from livedeck.ui.shell.commands import unknown_text
from livedeck.ui.shell.context import Action, needs_chosen_event, needs_collector

if TYPE_CHECKING:
    from livedeck.ui.shell.context import Context

SETTINGS = "default"
"""Argument that removes a person's ruling on the content, so that the settings decide again."""

CONTENTS = {
    Content.SHOW: "show: picture and sound, everything is expected",
    Content.RADIO: "radio: sound, no picture",
    Content.SILENT: "silent: picture, no sound",
    Content.SLIDES: "slides: still pictures, a low bit rate is normal",
    Content.SHARE: "share: a screen, a low bit rate and few frames are normal",
    Content.CAMERA: "camera: a picture of one place, dark and still at night",
}
"""Kinds of content with their descriptions (monitoring.md, "Content")."""


_EFFECT = (
    "From the next sample on, every deck and wall with this history compares the event with these values. "
    "A fault that is present now would become normal, too: watch and listen first."
)


_CONTENT_EFFECT = (
    "From now on, every deck and wall with this history judges the event and its stored samples by this content."
)


def _needs_event_and_collector(ctx: Context) -> str:
    return needs_chosen_event(ctx) or needs_collector(ctx)


def rebaseline(ctx: Context, _: str) -> Awaitable[None] | None:
    """Take the event's current values as its baseline, after a confirmation."""
    state = _newest_state(ctx)
    if state is None or state.qos.readings.last is None or state.qos.freshness is Freshness.STALE:
        ctx.announce("no fresh samples of this event: no baseline can be taken", Severity.WARNING)
        return None
    return _rebaseline(ctx, state)


async def _rebaseline(ctx: Context, state: EventState) -> None:
    from livedeck.operations.operation import Confirmation

    name = events.name(state)
    lines = (
        (f"Now: {_now_text(state)}.", StyleRole.STRONG),
        (f"Baseline so far: {_usual_text(state)}.", StyleRole.TEXT),
        (_EFFECT, StyleRole.TEXT),
    )
    if not await ctx.confirmer.ask_confirmation(Confirmation(f"Take a new baseline: {name}", lines, "Take baseline")):
        return
    if await ctx.monitor.take_as_usual(state.id):
        await _conclude(ctx, state, "event.rebaseline", f"new baseline: {_now_text(_newest(ctx, state))}")
    else:
        ctx.announce(f"{name}: no fresh samples any more, so the baseline is unchanged", Severity.WARNING)


def choose_content(ctx: Context, argument: str) -> Awaitable[None] | None:
    """Set the event's content to `argument`. Without an argument, the person chooses from a list."""
    state = _newest_state(ctx)
    if state is None:
        return None
    names = [*CONTENTS, SETTINGS]
    if argument and argument not in names:
        ctx.announce(unknown_text("content", argument, names), Severity.WARNING)
        return None
    return _choose_content(ctx, state, argument)


async def _choose_content(ctx: Context, state: EventState, name: str) -> None:
    from livedeck.operations.operation import Confirmation

    unchanged = f"{events.name(state)}: content unchanged ({state.content})"
    if not name:
        from livedeck.ui.kit.dialogs.choice import ChoiceScreen

        options = [(str(number), content.value, text) for number, (content, text) in enumerate(CONTENTS.items(), 1)]
        options.append(("0", SETTINGS, "as in the settings"))
        title = f"Content of {events.name(state)} (now: {state.content})"
        chosen = await ctx.ask(ChoiceScreen(title, options))
        if chosen is None:
            ctx.announce(unchanged)
            return
        name = chosen
    content = None if name == SETTINGS else Content(name)
    lines = (
        (f"Now {CONTENTS[state.content]}.", StyleRole.TEXT),
        (f"Then {CONTENTS[content] if content else 'as in the settings'}.", StyleRole.STRONG),
        (_CONTENT_EFFECT, StyleRole.TEXT),
    )
    question = Confirmation(f"Set content: {events.name(state)}", lines, "Set content")
    if not await ctx.confirmer.ask_confirmation(question):
        ctx.announce(unchanged)
        return
    if await ctx.monitor.choose_content(state.id, content):
        await _conclude(ctx, state, "event.content", f"content {name}" if content else "content by the settings")
    else:
        ctx.announce(f"{events.name(state)}: unchanged, because the event has this content already")


async def _conclude(ctx: Context, state: EventState, action: str, words: str) -> None:
    """Announce an action on the event, and record it in the audit."""
    from livedeck.operations.events import EventTarget

    ctx.announce(f"{events.name(state)}: {words}")
    await ctx.confirmer.audit_local(action, EventTarget.of_event(state.event).target, words)


def _newest_state(ctx: Context) -> EventState | None:
    """Return the selected event's newest state, even if the display is frozen; None without a selected event."""
    selected = ctx.selected_event()
    return _newest(ctx, selected) if selected else None


def _newest(ctx: Context, state: EventState) -> EventState:
    return (ctx.snapshot and ctx.snapshot.find(state.id)) or state


def _now_text(state: EventState) -> str:
    newest = state.qos.readings.last
    assert newest is not None
    return f"video {bits(newest.video)}, audio {bits(newest.audio)}, {frames(newest.fps)} fps"


def _usual_text(state: EventState) -> str:
    assessment = state.assessment
    if assessment.baseline_video is None:
        return "not learnt yet"
    return f"video {bits(assessment.baseline_video)}, {frames(assessment.nominal_fps)} fps"


HERE = ("events", "streams", "qos")

JUDGING = (
    Action(
        "event.rebaseline",
        ("b",),
        "baseline",
        "Take the current values of the event as its baseline, after a confirmation",
        rebaseline,
        HERE,
        blocked=_needs_event_and_collector,
        rank=54,
        is_for_now=True,
    ),
    Action(
        "event.content",
        ("g",),
        "content",
        "Set the content of the event, which decides its expected signals: "
        "show, radio, silent, slides, share or camera; default: as in the settings",
        choose_content,
        HERE,
        blocked=_needs_event_and_collector,
        takes="[NAME]",
        is_for_now=True,
    ),
)

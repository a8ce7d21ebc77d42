"""Actions of the QoS screen."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from livedeck.monitor import EventState, History, Severity
from livedeck.presentation import events
from livedeck.presentation.past_streams import PastStream, is_related, row, suggestion
from livedeck.ui.kit.dialogs.choice import PromptScreen
from livedeck.ui.kit.dialogs.picker import PickerRow, PickerScreen
from livedeck.ui.shell.context import Action, Feature, FeatureScreen, HelpGroup, Tab, needs_event
from livedeck.ui.shell.moments import ask_moment, parse_moment

if TYPE_CHECKING:
    from livedeck.text.times import TimeReference
    from livedeck.ui.qos.screen import QosScreen
    from livedeck.ui.shell.context import Context


def needs_subject(ctx: Context) -> str:
    """Return the reason why the action is blocked; empty if an event is selected or the screen shows charts."""
    screen = ctx.screen
    return "" if isinstance(screen, _screen_type()) and screen.subject() else needs_event(ctx)


def _screen_type() -> type[QosScreen]:
    from livedeck.ui.qos.screen import QosScreen

    return QosScreen


def _screen(ctx: Context) -> QosScreen:
    return ctx.screen_of(_screen_type())


def longer(ctx: Context, argument: str) -> None:
    """Show the next longer range around the cursor, or the range `argument`."""
    screen = _screen(ctx)
    names = screen.range_names
    if argument and argument not in names:
        ctx.announce(f"there is no range {argument}: {', '.join(names)}", Severity.WARNING)
    else:
        screen.change_range(names.index(argument) - names.index(screen.range_name) if argument else 1)


def shorter(ctx: Context, _: str) -> None:
    """Show the next shorter range around the cursor."""
    _screen(ctx).change_range(-1)


def previous(ctx: Context, _: str) -> None:
    """Select the previous event that should be sending."""
    _screen(ctx).step_event(-1)


def next_(ctx: Context, _: str) -> None:
    """Select the next event that should be sending."""
    _screen(ctx).step_event(1)


def left(ctx: Context, _: str) -> None:
    """Move the cursor one column to the left."""
    _screen(ctx).move_cursor(-1)


def right(ctx: Context, _: str) -> None:
    """Move the cursor one column to the right."""
    _screen(ctx).move_cursor(1)


def earlier(ctx: Context, _: str) -> None:
    """Move back by half a window."""
    _screen(ctx).pan(-1)


def later(ctx: Context, _: str) -> None:
    """Move forward by half a window."""
    _screen(ctx).pan(1)


def now(ctx: Context, _: str) -> None:
    """Return to the newest sample."""
    _screen(ctx).show_now()


def fit(ctx: Context, _: str) -> None:
    """Switch the charts between scales that fit the values and scales from zero."""
    _screen(ctx).fit()


def align(ctx: Context, _: str) -> None:
    """Align the second event's curves by the clock, or again by the starts of both events."""
    _screen(ctx).align()


async def jump(ctx: Context, argument: str) -> None:
    """Show the charts of the event at a moment of the past."""

    def time_reference() -> TimeReference:
        return replace(ctx.confirmer.time_reference(), past=True)

    async def go(text: str, at: datetime) -> None:
        ctx.go_to("qos")
        await _screen(ctx).jump(text, at)

    if not argument:
        await ask_moment(ctx, "Show the charts as they were at", time_reference, go)
        return
    try:
        at = parse_moment(argument, time_reference())
    except ValueError as error:
        ctx.announce(f":qos.jump {argument}: that {error}", Severity.WARNING)
    else:
        await go(argument, at)


def start(ctx: Context, _: str) -> None:
    """Show the start of the stream."""
    _screen(ctx).show_start()


def end(ctx: Context, _: str) -> None:
    """Show the end of the stream."""
    _screen(ctx).show_end()


def next_marker(ctx: Context, _: str) -> None:
    """Move to the next marker."""
    _screen(ctx).step_marker(1)


def previous_marker(ctx: Context, _: str) -> None:
    """Move to the previous marker."""
    _screen(ctx).step_marker(-1)


async def next_stream(ctx: Context, _: str) -> None:
    """Show the next stream of the event."""
    await _screen(ctx).step_stream(1)


async def previous_stream(ctx: Context, _: str) -> None:
    """Show the previous stream of the event."""
    await _screen(ctx).step_stream(-1)


async def open_stream(ctx: Context, argument: str) -> None:
    """Show a past stream of any event: the first that contains `argument`, or one that a person chooses from a list."""
    stream = await _pick_stream(ctx, "Open a stream from the history", argument)
    if stream is not None:
        await _screen(ctx).open(stream)


async def compare_stream(ctx: Context, argument: str) -> None:
    """Draw the curves of a past stream under the curves of the shown stream."""
    stream = await _pick_stream(ctx, "Compare with a past stream, aligned by their starts", argument, is_second=True)
    if stream is not None:
        await _screen(ctx).compare_with_stream(stream)


async def _pick_stream(ctx: Context, title: str, words: str, *, is_second: bool = False) -> PastStream | None:
    """Return the first stream that contains `words`. Without words, a person chooses a stream from a list.

    Returns None if no stream is found or chosen. `is_second`: the stream is for a comparison with the shown stream,
    which is left out.
    """
    screen, render_time = _screen(ctx), ctx.render_time()
    if ctx.records is None or render_time is None:
        ctx.announce(
            "No history is kept, so no past streams are known. Set `history` in the settings.", Severity.WARNING
        )
        return None
    shown, today = screen.shown_stream(), render_time.server.date()
    streams = list(await screen.streams())
    if shown is not None:
        if is_second:
            streams = [stream for stream in streams if stream.stream_id != shown.stream_id]
        streams.sort(key=lambda stream: not is_related(stream, shown))
    rows = [
        PickerRow(str(index), row(stream, today, is_shown=bool(shown and stream.stream_id == shown.stream_id)))
        for index, stream in enumerate(streams)
    ]
    if words:
        rows = [entry for entry in rows if entry.has(words)]
    if not rows:
        ctx.announce(
            f"the history has no {'matching ' if words else 'other ' if is_second else ''}stream", Severity.WARNING
        )
        return None
    suggested = suggestion(streams, shown) if is_second and shown else None
    marked = str(streams.index(suggested)) if suggested else rows[0].key
    picked = rows[0].key if words else await ctx.ask(PickerScreen(title, rows, marked))
    return None if picked is None else streams[int(picked)]


def next_fault(ctx: Context, _: str) -> None:
    """Select the next fault in the list of faults."""
    _screen(ctx).select_fault(1)


def previous_fault(ctx: Context, _: str) -> None:
    """Select the previous fault in the list of faults."""
    _screen(ctx).select_fault(-1)


def over(ctx: Context, argument: str) -> None:
    """Compare with the event `argument`; without a name, with the next event on air.

    After the last event on air, the comparison ends.
    """
    screen, displayed, selected = _screen(ctx), ctx.displayed(), ctx.selected_event()
    if displayed is None or selected is None:
        return
    others = [state for state in displayed[0].events if state.id != selected.id and state.phase.tally.expects_signal]
    if argument:
        others = [state for state in displayed[0].events if state.id != selected.id and _matches(state, argument)]
        if len(others) != 1:
            reason = f"{len(others)} other events have that name" if others else "no other event has that name"
            ctx.announce(f":qos.over {argument}: {reason}", Severity.WARNING)
            return
        screen.compare_with(others[0].id)
        return
    if not others:
        ctx.announce("no other event is on air")
    ids: list[str | None] = [None, *(state.id for state in others), None]
    second_id = screen.second_id
    screen.compare_with(ids[(ids.index(second_id) if second_id in ids else 0) + 1])


def _matches(state: EventState, text: str) -> bool:
    return text == state.id or text.casefold() in events.name(state).casefold()


def mark(ctx: Context, argument: str) -> Awaitable[None] | None:
    """Add a marker to the event at the time of the key press (platform's clock). `argument`: text of the marker."""
    state, render_time = ctx.selected_event(), ctx.render_time()
    if ctx.history is None or state is None or render_time is None:
        ctx.announce("No history is kept, so there are no markers. Set `history` in the settings.", Severity.WARNING)
        return None
    return _mark(ctx, ctx.history, state, render_time.server, argument)


async def _mark(ctx: Context, history: History, state: EventState, at: datetime, text: str) -> None:
    if not text:
        title = f"Mark {at:%H:%M:%S}Z for {events.name(state)}, with a few words or none"
        typed = await ctx.ask(PromptScreen(title, lambda _: ([], True)))
        if typed is None:
            return
        text = typed
    await history.mark(state.id, at, text)
    ctx.announce(f"marked {at:%H:%M:%S}Z for {events.name(state)}" + (f": {text}" if text else ""))
    screen = ctx.screen
    if isinstance(screen, _screen_type()):
        screen.show_new_marker()


def back(ctx: Context, _: str) -> None:
    """Return to the Events screen."""
    ctx.go_to("events")


HERE = ("qos",)

QOS = (
    Action(
        "qos.shorter", ("plus",), "zoom in", "Show a shorter range of time around the cursor", shorter, HERE, rank=21
    ),
    Action(
        "qos.longer",
        ("minus",),
        "zoom out",
        "Show a longer range of time around the cursor, or the range that you name",
        longer,
        HERE,
        takes="[RANGE]",
        rank=22,
    ),
    Action(
        "qos.left", ("left",), "cursor", "Move the cursor to the left, to read the values there", left, HERE, rank=23
    ),
    Action(
        "qos.right", ("right",), "cursor right", "Move the cursor to the right; at the right end, hide it", right, HERE
    ),
    Action("qos.earlier", ("shift+left",), "earlier", "Move the window back by half its width", earlier, HERE, rank=27),
    Action(
        "qos.later",
        ("shift+right",),
        "later",
        "Move the window forward by half its width, up to the newest sample",
        later,
        HERE,
    ),
    Action("qos.now", ("0",), "now", "Return to the newest sample; deselect the fault", now, HERE, rank=28),
    Action("qos.fit", ("h",), "fit", "Switch between scales from zero and scales that fit the values", fit, HERE),
    Action(
        "qos.next_fault",
        ("right_square_bracket",),
        "next fault",
        "Select the next fault in the list: open faults come first, then cleared faults",
        next_fault,
        HERE,
        rank=24,
    ),
    Action(
        "qos.previous_fault",
        ("left_square_bracket",),
        "previous fault",
        "Select the previous fault in the list",
        previous_fault,
        HERE,
    ),
    Action("qos.previous", ("up", "k"), "previous event", "Select the previous event on air", previous, HERE),
    Action("qos.next", ("down", "j"), "next event", "Select the next event on air", next_, HERE, rank=25),
    Action(
        "qos.over",
        ("x",),
        "compare",
        "Compare with the next event on air, or with the event that you name; after the last event, stop comparing",
        over,
        HERE,
        takes="[NAME]",
        rank=26,
    ),
    Action(
        "qos.align",
        ("equals_sign",),
        "align",
        "Align the second event by the clock, or by the starts of both events",
        align,
        HERE,
    ),
    Action(
        "qos.mark",
        ("m",),
        "mark",
        "Add a marker at this moment of the event, with a few words",
        mark,
        ("events", "streams", "qos", "viewers"),
        blocked=needs_event,
        takes="[TEXT]",
        rank=53,
        is_for_now=True,
    ),
    Action(
        "qos.jump",
        ("J",),
        "jump to",
        "Show the charts of the event at a past time: 2104, yesterday 21:04, -15m",
        jump,
        ("events", "streams", "qos"),
        blocked=needs_subject,
        takes="[MOMENT]",
        rank=52,
    ),
    Action("qos.start", ("home",), "start", "Show the start of the stream", start, HERE),
    Action("qos.end", ("end",), "end", "Show the end of the stream; of a current stream, the newest sample", end, HERE),
    Action("qos.next_marker", ("greater_than_sign",), "next marker", "Move to the next marker", next_marker, HERE),
    Action(
        "qos.previous_marker",
        ("less_than_sign",),
        "previous marker",
        "Move to the previous marker",
        previous_marker,
        HERE,
    ),
    Action(
        "qos.previous_stream",
        ("pageup",),
        "previous stream",
        "Show the previous stream of the event",
        previous_stream,
        HERE,
    ),
    Action("qos.next_stream", ("pagedown",), "next stream", "Show the next stream of the event", next_stream, HERE),
    Action(
        "qos.open",
        ("o",),
        "streams",
        "Open any stream in the history, also of unlisted events; with words, the newest that matches",
        open_stream,
        HERE,
        takes="[WORDS]",
        rank=29,
    ),
    Action(
        "qos.under",
        ("X",),
        "lay under",
        "Draw a past stream under this stream, aligned by their starts: the same show a week ago, or any other",
        compare_stream,
        HERE,
        takes="[WORDS]",
        rank=30,
    ),
    Action("qos.back", ("escape",), "back", "Return to Events, with the cursor in its old place", back, HERE, rank=10),
)

FEATURE = Feature(
    tab=Tab("QoS", "3", "QoS", "Show QoS: the quality of the selected event over time"),
    screens={"qos": FeatureScreen(_screen_type)},
    actions=QOS,
    help=(HelpGroup("qos", "QoS", 90),),
)

"""The QoS screen."""

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
    """An event has to be selected, or shown."""
    screen = ctx.screen
    return "" if isinstance(screen, _screen_type()) and screen.subject() else needs_event(ctx)


def _screen_type() -> type[QosScreen]:
    from livedeck.ui.qos.screen import QosScreen

    return QosScreen


def _screen(ctx: Context) -> QosScreen:
    return ctx.screen_of(_screen_type())


def longer(ctx: Context, argument: str) -> None:
    """A longer stretch of time around the cursor, or the one that is named."""
    screen = _screen(ctx)
    names = screen.range_names
    if argument and argument not in names:
        ctx.announce(f"there is no range {argument}: {', '.join(names)}", Severity.WARNING)
    else:
        screen.change_range(names.index(argument) - names.index(screen.range_name) if argument else 1)


def shorter(ctx: Context, _: str) -> None:
    """A shorter stretch of time around the cursor."""
    _screen(ctx).change_range(-1)


def previous(ctx: Context, _: str) -> None:
    """The previous event that should be sending."""
    _screen(ctx).step_event(-1)


def next_(ctx: Context, _: str) -> None:
    """The next event that should be sending."""
    _screen(ctx).step_event(1)


def left(ctx: Context, _: str) -> None:
    """The cursor a column to the left."""
    _screen(ctx).move_cursor(-1)


def right(ctx: Context, _: str) -> None:
    """The cursor a column to the right."""
    _screen(ctx).move_cursor(1)


def earlier(ctx: Context, _: str) -> None:
    """What was before, by half a window."""
    _screen(ctx).pan(-1)


def later(ctx: Context, _: str) -> None:
    """What came after, by half a window."""
    _screen(ctx).pan(1)


def now(ctx: Context, _: str) -> None:
    """Back to the newest sample."""
    _screen(ctx).show_now()


def fit(ctx: Context, _: str) -> None:
    """Scales from zero, or fitted to what was measured."""
    _screen(ctx).fit()


def align(ctx: Context, _: str) -> None:
    """The second event by the clock, or since its start."""
    _screen(ctx).align()


async def jump(ctx: Context, argument: str) -> None:
    """The charts of the event at a moment of the past."""

    def time_reference() -> TimeReference:
        return replace(ctx.confirmer.time_reference(), past=True)

    async def go(text: str, at: datetime) -> None:
        ctx.go_to("qos")
        await _screen(ctx).jump(text, at)

    if not argument:
        await ask_moment(ctx, "Jump to: the charts as they were at", time_reference, go)
        return
    try:
        at = parse_moment(argument, time_reference())
    except ValueError as error:
        ctx.announce(f":qos.jump {argument}: that {error}", Severity.WARNING)
    else:
        await go(argument, at)


def start(ctx: Context, _: str) -> None:
    """The start of the stream."""
    _screen(ctx).show_start()


def end(ctx: Context, _: str) -> None:
    """The end of the stream."""
    _screen(ctx).show_end()


def next_marker(ctx: Context, _: str) -> None:
    """The next moment that was marked."""
    _screen(ctx).step_marker(1)


def previous_marker(ctx: Context, _: str) -> None:
    """The moment before that was marked."""
    _screen(ctx).step_marker(-1)


async def next_stream(ctx: Context, _: str) -> None:
    """The stream after this one."""
    await _screen(ctx).step_stream(1)


async def previous_stream(ctx: Context, _: str) -> None:
    """The stream before this one."""
    await _screen(ctx).step_stream(-1)


async def open_stream(ctx: Context, argument: str) -> None:
    """Any stream of the history, of any event: those of this event first."""
    stream = await _pick_stream(ctx, "Open a stream of the history", argument)
    if stream is not None:
        await _screen(ctx).open(stream)


async def compare_stream(ctx: Context, argument: str) -> None:
    """An earlier stream under this one."""
    stream = await _pick_stream(ctx, "Compare with an earlier stream, start over start", argument, is_second=True)
    if stream is not None:
        await _screen(ctx).compare_with_stream(stream)


async def _pick_stream(ctx: Context, title: str, words: str, *, is_second: bool = False) -> PastStream | None:
    """A stream that a person chose: the first with these words, or out of a list."""
    screen, render_time = _screen(ctx), ctx.render_time()
    if ctx.records is None or render_time is None:
        ctx.announce(
            "no history is kept, so no earlier stream is known: see `history` in the settings", Severity.WARNING
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
            f"the history has no {'such ' if words else 'other ' if is_second else ''}stream", Severity.WARNING
        )
        return None
    suggested = suggestion(streams, shown) if is_second and shown else None
    marked = str(streams.index(suggested)) if suggested else rows[0].key
    picked = rows[0].key if words else await ctx.ask(PickerScreen(title, rows, marked))
    return None if picked is None else streams[int(picked)]


def next_fault(ctx: Context, _: str) -> None:
    """Down the list of faults."""
    _screen(ctx).select_fault(1)


def previous_fault(ctx: Context, _: str) -> None:
    """Up the list of faults."""
    _screen(ctx).select_fault(-1)


def over(ctx: Context, argument: str) -> None:
    """A second event beside the shown one: by its name, else the next one on air; behind the last one none."""
    screen, displayed, selected = _screen(ctx), ctx.displayed(), ctx.selected_event()
    if displayed is None or selected is None:
        return
    others = [state for state in displayed[0].events if state.id != selected.id and state.phase.tally.expects_signal]
    if argument:
        others = [state for state in displayed[0].events if state.id != selected.id and _matches(state, argument)]
        if len(others) != 1:
            reason = f"{len(others)} other events are called so" if others else "no other event is called so"
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
    """Mark the moment at which the key was pressed, by the platform's clock."""
    state, render_time = ctx.selected_event(), ctx.render_time()
    if ctx.history is None or state is None or render_time is None:
        ctx.announce("no history is kept, so nothing can be marked: see `history` in the settings", Severity.WARNING)
        return None
    return _mark(ctx, ctx.history, state, render_time.server, argument)


async def _mark(ctx: Context, history: History, state: EventState, at: datetime, text: str) -> None:
    if not text:
        title = f"Mark {at:%H:%M:%S}Z of {events.name(state)}: a few words, or none"
        typed = await ctx.ask(PromptScreen(title, lambda _: ([], True)))
        if typed is None:
            return
        text = typed
    await history.mark(state.id, at, text)
    ctx.announce(f"marked {at:%H:%M:%S}Z of {events.name(state)}" + (f": {text}" if text else ""))
    screen = ctx.screen
    if isinstance(screen, _screen_type()):
        screen.show_new_marker()


def back(ctx: Context, _: str) -> None:
    """Back to the events."""
    ctx.go_to("events")


HERE = ("qos",)

QOS = (
    Action("qos.shorter", ("plus",), "zoom in", "A shorter range of time, around the cursor", shorter, HERE, rank=21),
    Action(
        "qos.longer",
        ("minus",),
        "zoom out",
        "A longer range of time, around the cursor; or the one named",
        longer,
        HERE,
        takes="[RANGE]",
        rank=22,
    ),
    Action("qos.left", ("left",), "cursor", "The cursor to the left: what was measured there", left, HERE, rank=23),
    Action("qos.right", ("right",), "cursor right", "The cursor to the right, and off", right, HERE),
    Action("qos.earlier", ("shift+left",), "earlier", "Half a window back: what was before", earlier, HERE, rank=27),
    Action("qos.later", ("shift+right",), "later", "Half a window on, up to the newest sample", later, HERE),
    Action("qos.now", ("0",), "now", "Back to the newest sample, without a cursor", now, HERE, rank=28),
    Action("qos.fit", ("h",), "fit", "Scales that begin at zero, or that fit what was measured", fit, HERE),
    Action(
        "qos.next_fault",
        ("right_square_bracket",),
        "next fault",
        "Down the list of faults: those that last, then those that are over",
        next_fault,
        HERE,
        rank=24,
    ),
    Action(
        "qos.previous_fault", ("left_square_bracket",), "previous fault", "Up the list of faults", previous_fault, HERE
    ),
    Action("qos.previous", ("up", "k"), "previous event", "The previous event on air", previous, HERE),
    Action("qos.next", ("down", "j"), "next event", "The next event on air", next_, HERE, rank=25),
    Action(
        "qos.over",
        ("x",),
        "compare",
        "Draw another event's curves beside these: the next one on air, at last none; or the one named",
        over,
        HERE,
        takes="[NAME]",
        rank=26,
    ),
    Action(
        "qos.align",
        ("equals_sign",),
        "align",
        "Lay the second event by the clock, or its start over the start of this one",
        align,
        HERE,
    ),
    Action(
        "qos.mark",
        ("m",),
        "mark",
        "Mark this moment in the charts of the event, with a few words",
        mark,
        ("events", "streams", "qos"),
        blocked=needs_event,
        takes="[TEXT]",
        rank=53,
        is_for_now=True,
    ),
    Action(
        "qos.jump",
        ("J",),
        "jump to",
        "The charts of the event at a time of the past, of the stream that ran then: 2104, yesterday 21:04, -15m",
        jump,
        ("events", "streams", "qos"),
        blocked=needs_subject,
        takes="[MOMENT]",
        rank=52,
    ),
    Action("qos.start", ("home",), "start", "The start of the stream", start, HERE),
    Action("qos.end", ("end",), "end", "The end of the stream: of the current one its newest sample", end, HERE),
    Action(
        "qos.next_marker", ("greater_than_sign",), "next mark", "The next moment that was marked", next_marker, HERE
    ),
    Action(
        "qos.previous_marker",
        ("less_than_sign",),
        "mark before",
        "The moment before that was marked",
        previous_marker,
        HERE,
    ),
    Action(
        "qos.previous_stream",
        ("pageup",),
        "stream before",
        "The stream of the event before this one",
        previous_stream,
        HERE,
    ),
    Action(
        "qos.next_stream", ("pagedown",), "stream after", "The stream of the event after this one", next_stream, HERE
    ),
    Action(
        "qos.open",
        ("o",),
        "streams",
        "Open any stream of the history, of events that are not listed any more too; or the newest with these words",
        open_stream,
        HERE,
        takes="[WORDS]",
        rank=29,
    ),
    Action(
        "qos.under",
        ("X",),
        "lay under",
        "Lay an earlier stream under this one, start over start: of the same show a week ago, or any other",
        compare_stream,
        HERE,
        takes="[WORDS]",
        rank=30,
    ),
    Action("qos.back", ("escape",), "back", "Back to the events, the cursor where it was", back, HERE, rank=10),
)

FEATURE = Feature(
    tab=Tab("QoS", "3", "QoS", "QoS: the quality of the selected event over time"),
    screens={"qos": FeatureScreen(_screen_type)},
    actions=QOS,
    help=(HelpGroup("qos", "QoS", 90),),
)

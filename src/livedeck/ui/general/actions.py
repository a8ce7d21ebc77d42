"""What can be done anywhere: moving, sorting, filter, columns, theme, copying, help, commands, leaving."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from typing import TYPE_CHECKING, Any

from livedeck.client import Event
from livedeck.monitor import Severity
from livedeck.presentation.events import name
from livedeck.presentation.filtering import FilterError, TableView, apply_view, parse
from livedeck.text.addresses import may_let_in, show
from livedeck.text.segments import Line, StyleRole
from livedeck.ui.kit.driver import INTERRUPTED
from livedeck.ui.kit.table import Table
from livedeck.ui.kit.themes import PALETTES
from livedeck.ui.shell.commands import unknown_text
from livedeck.ui.shell.context import Action, Feature, HelpGroup, ScreenKind, needs_event
from livedeck.ui.shell.preferences import Displayed
from livedeck.ui.shell.screen import BaseScreen, Listing

if TYPE_CHECKING:
    from livedeck.monitor import EventState
    from livedeck.ui.shell.context import Context


def refresh(ctx: Context, _: str) -> None:
    """Have everything that is kept polled now."""
    ctx.monitor.refresh()
    ctx.snapshot_signal.publish(None)


def leave(ctx: Context, _: str, code: int = 0) -> Awaitable[None] | None:
    """End the deck; unfinished work is asked about."""
    from livedeck.ui.general.leave import confirm_leave, unfinished_work

    work = unfinished_work(ctx)
    if work:
        return confirm_leave(ctx, work, code)
    ctx.leave(code)
    return None


def interrupt(ctx: Context, _: str) -> Awaitable[None] | None:
    """End the deck, whatever is open; where leaving is being asked about already, this is the answer."""
    from livedeck.ui.general.leave import LeaveDialog

    if isinstance(ctx.screen, LeaveDialog):
        ctx.leave(INTERRUPTED)
        return None
    return leave(ctx, "", INTERRUPTED)


def needs_open_change(ctx: Context) -> str:
    """A change has to be without a verdict."""
    return "" if ctx.open_changes.items else "has nothing to show: every change that was sent has a verdict"


def close_changes(ctx: Context, _: str) -> Awaitable[None] | None:
    """Show the changes that have no verdict, and close those that were looked after."""
    return ctx.confirmer.close_changes()


def suspend(ctx: Context, _: str) -> None:
    """Hand the terminal back to the shell until `fg`."""
    ctx.suspend_process()


def open_help(ctx: Context, _: str) -> None:
    """Show the keys and the signs."""
    from livedeck.ui.general.help import HelpScreen

    def do(name: str | None) -> None:
        if name is not None:
            ctx.dispatch(name)

    title = next((screen.NAME for screen in ctx.screen_stack if isinstance(screen, BaseScreen)), "")
    ctx.open(HelpScreen(ctx.actions, ctx.current_mode, title), do)


def open_command(ctx: Context, argument: str) -> None:
    """Open the command line."""
    _open_command_screen(ctx, argument, search=False)


def open_palette(ctx: Context, argument: str) -> None:
    """Open the same list, searched by what the actions do."""
    _open_command_screen(ctx, argument, search=True)


def _open_command_screen(ctx: Context, typed: str, *, search: bool) -> None:
    from livedeck.ui.general.palette import Command, CommandScreen

    def run(command: Command | None) -> None:
        if command is not None:
            ctx.dispatch(*command)

    read_only = ctx.identity["read_only"]
    ctx.open(CommandScreen(ctx.current_mode, ctx.actions, read_only=read_only, typed=typed, search=search), run)


def _table(ctx: Context) -> Table[Any]:
    return ctx.screen_of(BaseScreen).table()


def move_up(ctx: Context, _: str) -> None:
    """To the row above."""
    _table(ctx).move(-1)


def move_down(ctx: Context, _: str) -> None:
    """To the row below."""
    _table(ctx).move(1)


def page_up(ctx: Context, _: str) -> None:
    """A screenful up."""
    _table(ctx).page(-1)


def page_down(ctx: Context, _: str) -> None:
    """A screenful down."""
    _table(ctx).page(1)


def first_row(ctx: Context, _: str) -> None:
    """To the first row."""
    _table(ctx).jump(0)


def last_row(ctx: Context, _: str) -> None:
    """To the last row."""
    _table(ctx).jump(-1)


def open_row(ctx: Context, _: str) -> None:
    """To the detail of the row under the cursor."""
    _table(ctx).open()


def select_row(ctx: Context, event_id: str) -> None:
    """Select that event; where one of its rows or alarms is clicked, that is the command."""
    if ctx.snapshot is None or ctx.snapshot.find(event_id) is None:
        ctx.announce(f"there is no event {event_id or 'without an id'} here", Severity.WARNING)
    else:
        ctx.select_event(event_id)


COPY_FORMATS = {"id": "id", "link": "link to watch", "json": "JSON", "curl": "curl"}
"""What an event is copied as, by the word of the command."""


def copy_texts(event: Event, address: str) -> Mapping[str, str]:
    """The event in each of COPY_FORMATS; some may be empty.

    Secrets are masked, but in the link, which is for a player; `curl` takes the token from a variable.
    """
    return {
        "id": event.id,
        "link": event.play_link or "",
        "json": event.model_dump_json(indent=2, exclude_none=True),
        "curl": f"curl -H \"Authorization: Bearer $LIVEDECK_TOKEN\" '{address}'" if address else "",
    }


def copy_event(ctx: Context, argument: str) -> Awaitable[None] | None:
    """Copy the selected event in the format that is named, or chosen."""
    state = ctx.selected_event()
    if state is None:
        return None
    if argument and argument not in COPY_FORMATS:
        ctx.announce(unknown_text("form", argument, COPY_FORMATS), Severity.WARNING)
        return None
    return _copy_event(ctx, state, argument)


async def _copy_event(ctx: Context, state: EventState, format_name: str) -> None:
    from livedeck.ui.kit.dialogs.choice import ChoiceScreen

    options = [(choice[0], choice, label) for choice, label in COPY_FORMATS.items()]
    choice: str | None = format_name or await ctx.ask(ChoiceScreen(f"Copy of {name(state)}", options))
    if choice is None:
        return
    text = copy_texts(state.event, ctx.api.events.address(state.id) if ctx.api else "")[choice]
    if not text:
        ctx.announce(f"{name(state)} has no {COPY_FORMATS[choice]}", Severity.WARNING)
    elif choice == "link":
        await _copy_link(ctx, state.event, text)
    else:
        ctx.copy(text, f"{COPY_FORMATS[choice]} of {name(state)}")


async def _copy_link(ctx: Context, event: Event, link: str) -> None:
    """In clear, and recorded before; one that lets its holder in is not copied where that cannot be recorded."""
    from livedeck.operations.events import EventTarget

    target = EventTarget.of_event(event).target
    if ctx.history is None and may_let_in(link):
        ctx.announce(
            f"the link of {target.name} may let anyone in: copying it is recorded, and this deck keeps no history",
            Severity.WARNING,
        )
        return
    await ctx.confirmer.audit_local("view.copy", target, show(link))
    ctx.copy(link, f"{COPY_FORMATS['link']} of {target.name}", in_clear=True)


def change_theme(ctx: Context, argument: str) -> None:
    """To the next theme, or to the one that is named."""
    names = list(PALETTES)
    if argument and argument not in names:
        ctx.announce(unknown_text("theme", argument, names), Severity.WARNING)
    elif not ctx.set_theme(argument or names[(names.index(ctx.theme) + 1) % len(names)]):
        ctx.announce("NO_COLOR is set: the theme stays mono", Severity.WARNING)
    else:
        ctx.announce(f"theme {ctx.theme}")


def toggle_freeze(ctx: Context, _: str) -> None:
    """Hold the display still, or let it go on; polling and alarms go on either way."""
    render_time = ctx.render_time()
    if ctx.preferences.frozen:
        ctx.preferences.frozen = None
    elif ctx.snapshot is not None and render_time is not None:
        ctx.preferences.frozen = Displayed(ctx.snapshot, render_time)
    ctx.snapshot_signal.publish(None)


def _listing(ctx: Context) -> Listing | None:
    """The table of the screen behind whatever is open; None before the first snapshot."""
    displayed = ctx.displayed()
    screen = next((screen for screen in ctx.screen_stack if isinstance(screen, BaseScreen)), None)
    return screen.listing(displayed.snapshot) if screen and displayed else None


def _change_view(ctx: Context, listing: Listing, **changes: Any) -> None:
    ctx.preferences.change_view(listing.name, **changes)
    ctx.snapshot_signal.publish(None)


def filter_rows(ctx: Context, argument: str) -> None:
    """Show only the rows that match; a filter that cannot be read leaves the one in force as it is."""
    listing = _listing(ctx)
    if listing is None:
        return
    if argument:
        remark, valid = _filter_remark(ctx, argument)
        if valid:
            _change_view(ctx, listing, filter=argument)
        else:
            ctx.announce("".join(text for text, _ in remark).strip(" ▲"), Severity.WARNING)
        return
    from livedeck.ui.kit.dialogs.choice import PromptScreen

    def apply(text: str | None) -> None:
        if text is not None:
            _change_view(ctx, listing, filter=text)

    title = "filter: words, tally:air, health<70, alarm:crit, ! turns round"
    value = ctx.preferences.view(listing.name).filter
    ctx.open(PromptScreen(title, lambda text: _filter_remark(ctx, text), value), apply)


def _filter_remark(ctx: Context, text: str) -> tuple[Line, bool]:
    """How many rows that filter would leave, or why it cannot be read; and whether it can."""
    listing, render_time = _listing(ctx), ctx.render_time()
    if listing is None or render_time is None:
        return [], False
    try:
        terms = parse(text, listing.schema.filter_fields())
    except FilterError as error:
        return [(f" ▲ {error}", StyleRole.WARNING)], False
    if not terms:
        return [(" no filter", StyleRole.DIM)], True
    filtered = apply_view(listing.schema, listing.rows, TableView(filter=text), render_time)
    role = StyleRole.TEXT if filtered.rows else StyleRole.WARNING
    return [(f" {len(filtered.rows)} of {filtered.total} match", role)], True


def clear_filter(ctx: Context, _: str) -> None:
    """Show all rows again; where all are shown, go back to where one came from."""
    listing = _listing(ctx)
    if listing is not None and ctx.preferences.view(listing.name).filter:
        _change_view(ctx, listing, filter="")
    elif isinstance(ctx.screen, BaseScreen):
        ctx.screen.back()


def sort_next(ctx: Context, argument: str) -> None:
    """Sort by the next column, or by the one that is named."""
    listing = _listing(ctx)
    if listing is None:
        return
    columns = listing.schema.sortable_columns()
    if argument and argument not in columns:
        ctx.announce(unknown_text("column", argument, columns), Severity.WARNING)
    elif argument:
        _sort_by(ctx, listing, argument)
    else:
        _step_sort(ctx, listing, 1)


def _sort_by(ctx: Context, listing: Listing, column: str) -> None:
    """By that column; where it is sorted so already the other way round, and after that as it came: worst first."""
    view = ctx.preferences.view(listing.name)
    if view.sort != column:
        _change_view(ctx, listing, sort=column, down=False)
    elif not view.down:
        _change_view(ctx, listing, down=True)
    else:
        _change_view(ctx, listing, sort="", down=False)


def sort_previous(ctx: Context, _: str) -> None:
    """Sort by the column before; before the first comes the order of the monitor."""
    if listing := _listing(ctx):
        _step_sort(ctx, listing, -1)


def _step_sort(ctx: Context, listing: Listing, step: int) -> None:
    columns = ["", *listing.schema.sortable_columns()]
    sort = ctx.preferences.view(listing.name).sort
    index = columns.index(sort) if sort in columns else 0
    _change_view(ctx, listing, sort=columns[(index + step) % len(columns)])


def invert_order(ctx: Context, _: str) -> None:
    """Turn the order round."""
    if listing := _listing(ctx):
        _change_view(ctx, listing, down=not ctx.preferences.view(listing.name).down)


def choose_columns(ctx: Context, argument: str) -> None:
    """Choose the columns; or show those that are named."""
    listing = _listing(ctx)
    if listing is None:
        return
    columns = [column.name for column in listing.schema.columns]
    shown = argument.replace(",", " ").split()
    unknown = [column for column in shown if column not in columns]
    if unknown:
        ctx.announce(unknown_text("column", unknown[0], columns), Severity.WARNING)
        return
    if shown:
        _change_view(ctx, listing, hidden=tuple(column for column in columns if column not in shown))
        return
    from livedeck.ui.general.columns import ColumnsScreen

    def hide(hidden: tuple[str, ...] | None) -> None:
        if hidden is not None:
            _change_view(ctx, listing, hidden=hidden)

    titles = [(column.name, column.title.strip()) for column in listing.schema.columns]
    ctx.open(ColumnsScreen(titles, ctx.preferences.view(listing.name).hidden), hide)


DECK = (
    Action("app.help", ("question_mark",), "help", "The keys and the signs", open_help),
    Action("app.command", ("colon",), "command", "Type a command; tab completes it", open_command),
    Action("app.palette", ("ctrl+p",), "palette", "Search everything that can be done", open_palette),
    Action(
        "app.ask", ("r",), "ask now", "Ask the platform now, not at the next round", refresh, rank=60, is_for_now=True
    ),
    Action("app.quit", ("q",), "quit", "Leave; the terminal is left as it was found", leave),
    Action("app.interrupt", ("ctrl+c",), "quit", "Leave, whatever is open", interrupt, fixed=True),
    Action("app.suspend", ("ctrl+z",), "suspend", "Suspend the deck; `fg` brings it back", suspend),
)

CHANGES = (
    Action(
        "change.close",
        ("exclamation_mark",),
        "unknown",
        "The changes that have no verdict, what to do about them, and close those that you have looked after",
        close_changes,
        blocked=needs_open_change,
        is_for_now=True,
    ),
)

ROWS = (
    Action("row.up", ("up", "k"), "up", "The row above", move_up, kind=ScreenKind.ROWS),
    Action("row.down", ("down", "j"), "down", "The row below", move_down, kind=ScreenKind.ROWS),
    Action("row.page_up", ("pageup",), "page up", "A screenful up", page_up, kind=ScreenKind.ROWS),
    Action("row.page_down", ("pagedown",), "page down", "A screenful down", page_down, kind=ScreenKind.ROWS),
    Action("row.first", ("home",), "first", "The first row", first_row, kind=ScreenKind.ROWS),
    Action("row.last", ("end",), "last", "The last row", last_row, kind=ScreenKind.ROWS),
    Action("row.select", (), "select", "Select the event of that id", select_row, kind=ScreenKind.EVENTS, takes="ID"),
    Action(
        "row.open",
        ("enter",),
        "QoS",
        "From the table to the QoS of that event",
        open_row,
        kind=ScreenKind.EVENTS,
        blocked=needs_event,
        rank=10,
    ),
)

VIEW = (
    Action(
        "view.filter",
        ("slash",),
        "filter",
        "Show only the rows that match",
        filter_rows,
        kind=ScreenKind.TABLE,
        takes="[FILTER]",
        rank=30,
    ),
    Action(
        "view.clear",
        ("escape",),
        "show all",
        "Take the filter off; without one, back to where one came from",
        clear_filter,
        kind=ScreenKind.TABLE,
    ),
    Action(
        "view.sort",
        ("greater_than_sign",),
        "sort",
        "Sort by the next column; or by the one named, again to turn it round, once more for worst first",
        sort_next,
        kind=ScreenKind.TABLE,
        takes="[COLUMN]",
        rank=55,
    ),
    Action(
        "view.sort_back",
        ("less_than_sign",),
        "sort back",
        "Sort by the column before; before the first: worst first",
        sort_previous,
        kind=ScreenKind.TABLE,
    ),
    Action("view.invert", ("o",), "invert", "Turn the order round", invert_order, kind=ScreenKind.TABLE),
    Action(
        "view.columns",
        ("f",),
        "columns",
        "Choose the columns, or name those to be shown",
        choose_columns,
        kind=ScreenKind.TABLE,
        takes="[COLUMN ...]",
    ),
    Action(
        "view.freeze",
        ("p",),
        "freeze",
        "Hold the display still, or let it go on; polling and alarms go on",
        toggle_freeze,
        rank=45,
    ),
    Action(
        "view.copy",
        ("y",),
        "copy",
        "Copy the selected event: id, link, JSON or curl",
        copy_event,
        ("events", "qos"),
        blocked=needs_event,
        takes="[id|link|json|curl]",
        rank=52,
    ),
    Action("view.theme", ("t",), "theme", "The next theme, or the one named", change_theme, takes="[NAME]"),
)

FEATURE = Feature(
    actions=(*DECK, *CHANGES, *ROWS, *VIEW),
    help=(
        HelpGroup("change", "Changes", 50),
        HelpGroup("row", "Tables", 60),
        HelpGroup("view", "View", 70),
        HelpGroup("app", "The deck", 1000),
    ),
)

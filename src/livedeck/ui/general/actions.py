"""What can be done anywhere: screens, moving, sorting, filtering, copying, leaving."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from livedeck.client import Event
from livedeck.monitor import Severity
from livedeck.operations.operation import Confirmation
from livedeck.presentation import events, filtering
from livedeck.presentation.filtering import TableView, apply_view
from livedeck.presentation.table import TableSchema
from livedeck.text.segments import Line, StyleRole
from livedeck.ui.general.help import ColumnsScreen, HelpScreen
from livedeck.ui.general.palette import CommandScreen, Picked
from livedeck.ui.kit.dialogs.choice import ChoiceScreen, PromptScreen
from livedeck.ui.kit.dialogs.confirm import Confirm
from livedeck.ui.kit.dialogs.dialog import Timer
from livedeck.ui.kit.table import Table
from livedeck.ui.kit.themes import PALETTES
from livedeck.ui.shell.action import Action, Feature, HelpGroup, ScreenKind, Unfinished, needs_event
from livedeck.ui.shell.preferences import Displayed
from livedeck.ui.shell.screen import BaseScreen

if TYPE_CHECKING:
    from livedeck.ui.shell.context import Context


def ask(ctx: Context, _: str) -> None:
    """Ask the platform now."""
    for feature in ctx.actions.features:
        if feature.expire:
            feature.expire(ctx)
    ctx.monitor.refresh()
    ctx.snapshot_signal.publish(None)


class Leaving(Confirm):
    """Whether to leave although there is unfinished work."""

    def __init__(self, unfinished: Sequence[Unfinished], timer: Timer) -> None:
        body = tuple(paragraph for work in unfinished for paragraph in work.body)
        super().__init__(Confirmation(unfinished[0].title, body, "Leave", cancel="Stay"), timer)


def _unfinished(ctx: Context) -> list[Unfinished]:
    """The changes that nobody knows the result of, and what the features are still at."""
    found = [feature.unfinished(ctx) for feature in ctx.actions.features if feature.unfinished]
    work = [each for each in found if each]
    if in_doubt := ctx.confirmer.in_doubt:
        text = "It was sent, and its answer is not there. Left now, it may happen or not; the audit says UNKNOWN."
        title = f"Leave before it is known what became of {', '.join(in_doubt)}?"
        work.insert(0, Unfinished(title, ((text, StyleRole.WARNING),)))
    return work


def leave(ctx: Context, _: str) -> Awaitable[None] | None:
    """The terminal is left as it was found; what is unfinished is asked about."""
    work = _unfinished(ctx)
    if work:
        return _leave(ctx, work)
    ctx.leave()
    return None


async def _leave(ctx: Context, work: Sequence[Unfinished]) -> None:
    if await ctx.ask(Leaving(work, ctx.clock.monotonic)):
        for each in work:
            if each.stop:
                await each.stop()
        ctx.leave()


def interrupt(ctx: Context, _: str) -> Awaitable[None] | None:
    """Leave, whatever is open; where that is being asked already, this is the answer."""
    if isinstance(ctx.screen, Leaving):
        ctx.leave()
        return None
    return leave(ctx, "")


def suspend(ctx: Context, _: str) -> None:
    """Hand the terminal back to the shell until `fg`."""
    ctx.suspend_process()


def open_help(ctx: Context, _: str) -> None:
    """The keys and the signs."""
    ctx.open(HelpScreen(ctx.actions))


def open_command(ctx: Context, argument: str) -> None:
    """The command line."""
    _open(ctx, argument, search=False)


def open_palette(ctx: Context, argument: str) -> None:
    """The same list, searched by what the actions do."""
    _open(ctx, argument, search=True)


def _open(ctx: Context, typed: str, *, search: bool) -> None:
    def run(picked: Picked | None) -> None:
        if picked is not None:
            ctx.dispatch(*picked)

    screen = CommandScreen(
        ctx.current_mode, registry=ctx.actions, read_only=ctx.identity["read_only"], typed=typed, search=search
    )
    ctx.open(screen, run)


def _table(ctx: Context) -> Table[Any]:
    return ctx.screen_of(BaseScreen).table()


def up(ctx: Context, _: str) -> None:
    """The row above."""
    _table(ctx).move(-1)


def down(ctx: Context, _: str) -> None:
    """The row below."""
    _table(ctx).move(1)


def page_up(ctx: Context, _: str) -> None:
    """A screenful up."""
    _table(ctx).page(-1)


def page_down(ctx: Context, _: str) -> None:
    """A screenful down."""
    _table(ctx).page(1)


def first(ctx: Context, _: str) -> None:
    """The first row."""
    _table(ctx).jump(0)


def last(ctx: Context, _: str) -> None:
    """The last row."""
    _table(ctx).jump(-1)


def open_(ctx: Context, _: str) -> None:
    """The QoS of the event under the cursor."""
    _table(ctx).open()


FORMS = {"id": "id", "link": "link to watch", "json": "JSON", "curl": "curl"}

"""What is offered, by the word of the command."""


def forms(event: Event, address: str) -> Mapping[str, str]:
    """The event as each of FORMS; secrets are masked, and `curl` takes the token from a variable. Some may be empty."""
    return {
        "id": event.id,
        "link": event.play_link or "",
        "json": event.model_dump_json(indent=2, exclude_none=True),
        "curl": f"curl -H \"Authorization: Bearer $LIVEDECK_TOKEN\" '{address}'" if address else "",
    }


def theme(ctx: Context, argument: str) -> None:
    """The next theme, or the one that is named."""
    names = list(PALETTES)
    if argument and argument not in names:
        ctx.announce(f"there is no theme {argument}: {', '.join(names)}", Severity.WARNING)
    elif not ctx.set_theme(argument or names[(names.index(ctx.theme) + 1) % len(names)]):
        ctx.announce("NO_COLOR is set: the theme stays mono", Severity.WARNING)
    else:
        ctx.announce(f"theme {ctx.theme}")


def filter_(ctx: Context, argument: str) -> None:
    """Show only the rows that match; a filter that is none leaves the one in force as it is."""
    listed = _listed(ctx)
    if listed is None:
        return
    if argument:
        said, good = _judged(ctx, argument)
        if good:
            _rearrange(ctx, listed[0], filter=argument)
        else:
            ctx.announce("".join(text for text, _ in said).strip(" ▲"), Severity.WARNING)
        return

    def take(text: str | None) -> None:
        if text is not None:
            _rearrange(ctx, listed[0], filter=text)

    title = "filter: words, tally:air, health<70, alarm:crit, ! turns round"
    ctx.open(PromptScreen(title, lambda text: _judged(ctx, text), ctx.preferences.view(listed[0]).filter), take)


def _judged(ctx: Context, text: str) -> tuple[Line, bool]:
    """How many rows that filter would leave, or why it is none."""
    listed, moment = _listed(ctx), ctx.render_time()
    if listed is None or moment is None:
        return [], False
    _, sheet, rows = listed
    try:
        terms = filtering.parse(text, sheet.filter_fields())
    except filtering.FilterError as error:
        return [(f" ▲ {error}", StyleRole.WARNING)], False
    if not terms:
        return [(" no filter", StyleRole.DIM)], True
    known = apply_view(sheet, rows, TableView(filter=text), moment)
    return [(f" {len(known.rows)} of {known.total} match", StyleRole.TEXT if known.rows else StyleRole.WARNING)], True


def clear(ctx: Context, _: str) -> None:
    """Show all rows again; where all are shown, back to where one came from."""
    listed = _listed(ctx)
    if listed is not None and ctx.preferences.view(listed[0]).filter:
        _rearrange(ctx, listed[0], filter="")
    elif isinstance(ctx.screen, BaseScreen):
        ctx.screen.back()


def sort_next(ctx: Context, argument: str) -> None:
    """Sort by the next column, or by the one that is named."""
    listed = _listed(ctx)
    names = listed[1].sortable_columns() if listed else []
    if argument and argument not in names:
        ctx.announce(f"there is no column {argument} to sort by: {', '.join(names)}", Severity.WARNING)
    elif argument and listed:
        _rearrange(ctx, listed[0], sort=argument)
    else:
        _step(ctx, 1)


def sort_previous(ctx: Context, _: str) -> None:
    """Sort by the column before; before the first comes the order of the monitor."""
    _step(ctx, -1)


def _step(ctx: Context, step: int) -> None:
    listed = _listed(ctx)
    if listed is None:
        return
    name, sheet, _ = listed
    names = ["", *sheet.sortable_columns()]
    sort = ctx.preferences.view(name).sort
    at = names.index(sort) if sort in names else 0
    _rearrange(ctx, name, sort=names[(at + step) % len(names)])


def invert(ctx: Context, _: str) -> None:
    """Turn the order round."""
    listed = _listed(ctx)
    if listed is not None:
        _rearrange(ctx, listed[0], down=not ctx.preferences.view(listed[0]).down)


def columns(ctx: Context, argument: str) -> None:
    """Choose the columns; or name those to be shown."""
    listed = _listed(ctx)
    if listed is None:
        return
    name, sheet, _ = listed
    names = [column.name for column in sheet.columns]
    wanted = argument.replace(",", " ").split()
    unknown = [each for each in wanted if each not in names]
    if unknown:
        ctx.announce(f"there is no column {unknown[0]}: {', '.join(names)}", Severity.WARNING)
        return
    if wanted:
        _rearrange(ctx, name, hidden=tuple(each for each in names if each not in wanted))
        return

    def take(hidden: tuple[str, ...] | None) -> None:
        if hidden is not None:
            _rearrange(ctx, name, hidden=hidden)

    heads = [(column.name, column.title.strip()) for column in sheet.columns]
    ctx.open(ColumnsScreen(heads, ctx.preferences.view(name).hidden), take)


def _rearrange(ctx: Context, name: str, **changes: Any) -> None:
    ctx.preferences.change_view(name, **changes)
    ctx.snapshot_signal.publish(None)


def copy(ctx: Context, argument: str) -> None:
    """Copy the selected event as one of the forms there are."""
    state = ctx.selected_event()
    if state is None:
        return
    known = forms(state.event, ctx.api.events.address(state.id) if ctx.api else "")
    if argument and argument not in known:
        ctx.announce(f"there is no form {argument}: {', '.join(known)}", Severity.WARNING)
        return

    def take(form: str | None) -> None:
        if form is not None and known[form]:
            ctx.copy(known[form], f"{FORMS[form]} of {events.name(state)}")
        elif form is not None:
            ctx.announce(f"{events.name(state)} has no {FORMS[form]}", Severity.WARNING)

    if argument:
        take(argument)
    else:
        options = [(form[0], form, words) for form, words in FORMS.items()]
        ctx.open(ChoiceScreen(f"Copy of {events.name(state)}", options), take)


def freeze(ctx: Context, _: str) -> None:
    """Hold the display still, or let it go on; polling and alarms go on either way."""
    moment = ctx.render_time()
    if ctx.preferences.frozen:
        ctx.preferences.frozen = None
    elif ctx.snapshot is not None and moment is not None:
        ctx.preferences.frozen = Displayed(ctx.snapshot, moment)
    ctx.snapshot_signal.publish(None)


def _listed(ctx: Context) -> tuple[str, TableSchema[Any], Sequence[Any]] | None:
    """The table of the screen behind whatever is open: the name of its view, its columns, all its rows."""
    shown = ctx.displayed()
    screen = next((one for one in ctx.screen_stack if isinstance(one, BaseScreen)), None)
    return screen.listing(shown[0]) if screen and shown else None


DECK = (
    Action("app.help", ("question_mark",), "help", "The keys and the signs", open_help, rank=2),
    Action("app.command", ("colon",), "command", "Type a command; tab completes it", open_command, rank=50),
    Action("app.palette", ("ctrl+p",), "palette", "Search everything that can be done", open_palette),
    Action("app.ask", ("r",), "ask now", "Ask the platform now, not at the next round", ask, rank=60),
    Action("app.quit", ("q",), "quit", "Leave; the terminal is left as it was found", leave, rank=1),
    Action("app.interrupt", ("ctrl+c",), "quit", "Leave, whatever is open", interrupt, fixed=True),
    Action("app.suspend", ("ctrl+z",), "suspend", "Suspend the deck; `fg` brings it back", suspend),
)


ROWS = (
    Action("row.up", ("up", "k"), "up", "The row above", up, kind=ScreenKind.ROWS),
    Action("row.down", ("down", "j"), "down", "The row below", down, kind=ScreenKind.ROWS),
    Action("row.page_up", ("pageup",), "page up", "A screenful up", page_up, kind=ScreenKind.ROWS),
    Action("row.page_down", ("pagedown",), "page down", "A screenful down", page_down, kind=ScreenKind.ROWS),
    Action("row.first", ("home",), "first", "The first row", first, kind=ScreenKind.ROWS),
    Action("row.last", ("end",), "last", "The last row", last, kind=ScreenKind.ROWS),
    Action(
        "row.open",
        ("enter",),
        "QoS",
        "From the table to the QoS of that event",
        open_,
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
        filter_,
        kind=ScreenKind.TABLE,
        takes="[FILTER]",
        rank=30,
    ),
    Action(
        "view.clear",
        ("escape",),
        "show all",
        "Take the filter off; without one, back to where one came from",
        clear,
        kind=ScreenKind.TABLE,
    ),
    Action(
        "view.sort",
        ("greater_than_sign",),
        "sort",
        "Sort by the next column, or by the one named",
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
    Action("view.invert", ("o",), "invert", "Turn the order round", invert, kind=ScreenKind.TABLE),
    Action(
        "view.columns",
        ("f",),
        "columns",
        "Choose the columns, or name those to be shown",
        columns,
        kind=ScreenKind.TABLE,
        takes="[COLUMN ...]",
    ),
    Action(
        "view.freeze",
        ("p",),
        "freeze",
        "Hold the display still, or let it go on; polling and alarms go on",
        freeze,
        rank=45,
    ),
    Action(
        "view.copy",
        ("y",),
        "copy",
        "Copy the selected event: id, link, JSON or curl",
        copy,
        ("events", "qos"),
        blocked=needs_event,
        takes="[id|link|json|curl]",
        rank=52,
    ),
    Action("view.theme", ("t",), "theme", "The next theme, or the one named", theme, takes="[NAME]"),
)


FEATURE = Feature(
    actions=(*DECK, *ROWS, *VIEW),
    help=(HelpGroup("row", "Tables", 60), HelpGroup("view", "View", 70), HelpGroup("app", "The deck", 1000)),
)

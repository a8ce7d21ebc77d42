"""Actions that filter and sort a table and choose its columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from livedeck.monitor import Severity
from livedeck.presentation.filtering import FilterError, TableView, apply_view, parse
from livedeck.text.segments import Line, StyleRole
from livedeck.ui.shell.commands import unknown_text
from livedeck.ui.shell.context import Action, ScreenKind
from livedeck.ui.shell.screen import BaseScreen, Listing

if TYPE_CHECKING:
    from livedeck.ui.shell.context import Context


def _base_screen(ctx: Context) -> BaseScreen | None:
    """Return the screen in front, even if a dialog is open over it."""
    return next((screen for screen in ctx.screen_stack if isinstance(screen, BaseScreen)), None)


def _listing(ctx: Context) -> Listing | None:
    """Return the table of the screen, even if a dialog is open over it; None before the first snapshot."""
    displayed, screen = ctx.displayed(), _base_screen(ctx)
    return screen.listing(displayed.snapshot) if screen and displayed else None


def _change_view(ctx: Context, listing: Listing, **changes: Any) -> None:
    ctx.preferences.change_view(listing.name, **changes)
    _show_changed(ctx)


def _show_changed(ctx: Context) -> None:
    ctx.forget_sights()  # the person's change has put another row under the cursor
    ctx.snapshot_signal.publish(None)


def filter_rows(ctx: Context, argument: str) -> None:
    """Show only matching rows. An invalid filter leaves the current one unchanged."""
    listing = _listing(ctx)
    if listing is None:
        return
    if argument:
        remark, valid = _filter_remark(ctx, argument)
        if valid:
            _filter_by(ctx, listing, argument)
        else:
            ctx.announce("".join(text for text, _ in remark).strip(" ▲"), Severity.WARNING)
        return
    from livedeck.ui.kit.dialogs.choice import PromptScreen

    def apply(text: str | None) -> None:
        if text is not None:
            _filter_by(ctx, listing, text)

    title = "filter: words, tally:air, health<70, alarm:crit, ! negates"
    value = ctx.preferences.view(listing.name).filter
    ctx.open(PromptScreen(title, lambda text: _filter_remark(ctx, text), value), apply)


def _filter_by(ctx: Context, listing: Listing, text: str) -> None:
    """Show only matching rows. If one row is left, select it, because the person has named it."""
    _change_view(ctx, listing, filter=text)
    screen, render_time = _base_screen(ctx), ctx.render_time()
    if text and screen and render_time:
        rows = apply_view(listing.schema, listing.rows, TableView(filter=text), render_time).rows
        if len(rows) == 1:
            table = screen.table()
            screen.on_table_moved(table.Moved(listing.schema.key(rows[0]), table.id))


def _filter_remark(ctx: Context, text: str) -> tuple[Line, bool]:
    """Return a remark about the typed filter (its error or the number of matching rows), and whether it is valid."""
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
    """Leave the named view, or clear the filter; without either, go back to the previous screen."""
    listing = _listing(ctx)
    view = ctx.preferences.view(listing.name) if listing else TableView()
    if listing is not None and (view.name or view.group):
        ctx.preferences.use_view(listing.name, TableView())
        _show_changed(ctx)
    elif listing is not None and view.filter:
        _change_view(ctx, listing, filter="")
    elif isinstance(ctx.screen, BaseScreen):
        ctx.screen.back()


def sort_next(ctx: Context, argument: str) -> None:
    """Sort by the next column, or by the column `argument`."""
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
    """Sort by a column. If the rows are sorted by it already, reverse them; if reversed, use the normal order."""
    view = ctx.preferences.view(listing.name)
    if view.sort != column:
        _change_view(ctx, listing, sort=column, down=False)
    elif not view.down:
        _change_view(ctx, listing, down=True)
    else:
        _change_view(ctx, listing, sort="", down=False)


def sort_previous(ctx: Context, _: str) -> None:
    """Sort by the previous column. Before the first column comes the normal order."""
    if listing := _listing(ctx):
        _step_sort(ctx, listing, -1)


def _step_sort(ctx: Context, listing: Listing, step: int) -> None:
    columns = ["", *listing.schema.sortable_columns()]
    sort = ctx.preferences.view(listing.name).sort
    index = columns.index(sort) if sort in columns else 0
    _change_view(ctx, listing, sort=columns[(index + step) % len(columns)])


def invert_order(ctx: Context, _: str) -> None:
    """Reverse the order of the rows."""
    if listing := _listing(ctx):
        _change_view(ctx, listing, down=not ctx.preferences.view(listing.name).down)


def choose_columns(ctx: Context, argument: str) -> None:
    """Show the columns in `argument`. Without an argument, the person chooses columns in a dialog."""
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


TABLES = (
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
        "Clear the filter, or leave the view; without a filter, go back",
        clear_filter,
        kind=ScreenKind.TABLE,
    ),
    Action(
        "view.sort",
        ("greater_than_sign",),
        "sort",
        "Sort by the next column, or by the column that you name; name it again to reverse, and again to stop sorting",
        sort_next,
        kind=ScreenKind.TABLE,
        takes="[COLUMN]",
        rank=55,
    ),
    Action(
        "view.sort_back",
        ("less_than_sign",),
        "sort back",
        "Sort by the previous column; before the first column comes the normal order",
        sort_previous,
        kind=ScreenKind.TABLE,
    ),
    Action("view.invert", ("o",), "invert", "Reverse the order", invert_order, kind=ScreenKind.TABLE),
    Action(
        "view.columns",
        ("f",),
        "columns",
        "Choose the visible columns, or name them",
        choose_columns,
        kind=ScreenKind.TABLE,
        takes="[COLUMN ...]",
    ),
)

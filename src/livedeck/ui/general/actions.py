"""What can be done anywhere: asking now, holding still, theme, help, commands, leaving."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING

from livedeck.monitor import Severity
from livedeck.ui.general.copying import COPY
from livedeck.ui.general.rows import ROWS
from livedeck.ui.general.tables import TABLES
from livedeck.ui.kit.driver import INTERRUPTED
from livedeck.ui.kit.themes import PALETTES
from livedeck.ui.shell.commands import unknown_text
from livedeck.ui.shell.context import Action, Feature, HelpGroup
from livedeck.ui.shell.preferences import Displayed
from livedeck.ui.shell.screen import BaseScreen

if TYPE_CHECKING:
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


FREEZE = Action(
    "view.freeze",
    ("p",),
    "freeze",
    "Hold the display still, or let it go on; polling and alarms go on",
    toggle_freeze,
    rank=45,
)

THEME = Action("view.theme", ("t",), "theme", "The next theme, or the one named", change_theme, takes="[NAME]")

FEATURE = Feature(
    actions=(*DECK, *CHANGES, *ROWS, *TABLES, FREEZE, COPY, THEME),
    help=(
        HelpGroup("change", "Changes", 50),
        HelpGroup("row", "Tables", 60),
        HelpGroup("view", "View", 70),
        HelpGroup("app", "The deck", 1000),
    ),
)

"""Actions of all screens: refresh, freeze, theme, help, commands, leaving."""

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
    """Poll all data of the screen now."""
    ctx.monitor.refresh()
    ctx.snapshot_signal.publish(None)


def leave(ctx: Context, _: str, code: int = 0) -> Awaitable[None] | None:
    """Leave the deck. If there is unfinished work, ask first."""
    from livedeck.ui.general.leave import confirm_leave, unfinished_work

    work = unfinished_work(ctx)
    if work:
        return confirm_leave(ctx, work, code)
    ctx.leave(code)
    return None


def interrupt(ctx: Context, _: str) -> Awaitable[None] | None:
    """Leave the deck from any dialog.

    If there is unfinished work, ask first. If this question is already open, leave.
    """
    from livedeck.ui.general.leave import LeaveDialog

    if isinstance(ctx.screen, LeaveDialog):
        ctx.leave(INTERRUPTED)
        return None
    return leave(ctx, "", INTERRUPTED)


def suspend(ctx: Context, _: str) -> None:
    """Stop the deck and return to the shell, until `fg` continues it."""
    ctx.suspend_process()


def open_help(ctx: Context, _: str) -> None:
    """Show the help with keys and signs."""
    from livedeck.ui.general.help import HelpScreen

    def do(name: str | None) -> None:
        if name is not None:
            ctx.dispatch(name)

    title = next((screen.NAME for screen in ctx.screen_stack if isinstance(screen, BaseScreen)), "")
    is_probing = ctx.snapshot is not None and ctx.snapshot.has_probe
    ctx.open(HelpScreen(ctx.actions, ctx.current_mode, title, is_probing=is_probing), do)


def open_command(ctx: Context, argument: str) -> None:
    """Open the command line."""
    _open_command_screen(ctx, argument, search=False)


def open_palette(ctx: Context, argument: str) -> None:
    """Open the palette, which searches the help texts of all actions."""
    _open_command_screen(ctx, argument, search=True)


def _open_command_screen(ctx: Context, typed: str, *, search: bool) -> None:
    from livedeck.ui.general.palette import Command, CommandScreen

    def run(command: Command | None) -> None:
        if command is not None:
            ctx.dispatch(*command)

    read_only = ctx.identity["read_only"]
    ctx.open(CommandScreen(ctx.current_mode, ctx.actions, read_only=read_only, typed=typed, search=search), run)


DECK = (
    Action("app.help", ("question_mark",), "help", "Show the keys and the signs", open_help),
    Action("app.command", ("colon",), "command", "Type a command; tab completes it", open_command),
    Action("app.palette", ("ctrl+p",), "palette", "Search all actions", open_palette),
    Action(
        "app.ask",
        ("r",),
        "refresh",
        "Poll the platform now, before the next poll is due",
        refresh,
        rank=60,
        is_for_now=True,
    ),
    Action("app.quit", ("q",), "quit", "Leave the deck and restore the terminal", leave),
    Action("app.interrupt", ("ctrl+c",), "quit", "Leave the deck from any dialog", interrupt, fixed=True),
    Action("app.suspend", ("ctrl+z",), "suspend", "Suspend the deck; `fg` brings it back", suspend),
)


def needs_open_change(ctx: Context) -> str:
    """Return the reason why the action is blocked; empty if a sent change has no verdict."""
    return "" if ctx.open_changes.items else "has nothing to show: every sent change has a verdict"


def close_changes(ctx: Context, _: str) -> Awaitable[None] | None:
    """Show the sent changes without a verdict, and close those that the person has checked on the platform."""
    return ctx.confirmer.close_changes()


CHANGES = (
    Action(
        "change.close",
        ("exclamation_mark",),
        "unknown",
        "Show changes without a verdict and what to do; close those that you have checked",
        close_changes,
        blocked=needs_open_change,
        is_for_now=True,
    ),
)


def toggle_freeze(ctx: Context, _: str) -> None:
    """Freeze or unfreeze the display; polling and alarms continue."""
    render_time = ctx.render_time()
    if ctx.preferences.frozen:
        ctx.preferences.frozen = None
    elif ctx.snapshot is not None and render_time is not None:
        ctx.preferences.frozen = Displayed(ctx.snapshot, render_time)
    ctx.snapshot_signal.publish(None)


def needs_present_history(ctx: Context) -> str:
    """Return the reason why the action is blocked; empty if the deck shows the present and has a history."""
    if ctx.past:
        return "is about the present, and you are viewing the past"
    return "" if ctx.records else "needs a history: set `history` in the settings to keep one"


def open_handover(ctx: Context, _: str) -> None:
    """Show the handover for the next person at the deck."""
    from livedeck.ui.general.handover import HandoverDialog

    ctx.open(HandoverDialog(ctx))


HANDOVER = Action(
    "app.handover",
    ("H",),
    "handover",
    "Show the handover: what runs, what is wrong, who acknowledged it, what is shelved or silenced, what comes next",
    open_handover,
    blocked=needs_present_history,
)


FREEZE = Action(
    "view.freeze",
    ("p",),
    "freeze",
    "Freeze or unfreeze the display; polling and alarms continue",
    toggle_freeze,
    rank=45,
)


def change_theme(ctx: Context, argument: str) -> None:
    """Switch to the next theme, or to the theme `argument`."""
    names = list(PALETTES)
    if argument and argument not in names:
        ctx.announce(unknown_text("theme", argument, names), Severity.WARNING)
    elif not ctx.set_theme(argument or names[(names.index(ctx.theme) + 1) % len(names)]):
        ctx.announce("NO_COLOR is set: the theme stays mono", Severity.WARNING)
    else:
        ctx.announce(f"theme {ctx.theme}")


THEME = Action(
    "view.theme", ("t",), "theme", "Switch to the next theme, or to the theme NAME", change_theme, takes="[NAME]"
)


FEATURE = Feature(
    actions=(*DECK, *CHANGES, *ROWS, *TABLES, FREEZE, COPY, THEME, HANDOVER),
    help=(
        HelpGroup("change", "Changes", 50),
        HelpGroup("row", "Tables", 60),
        HelpGroup("view", "View", 70),
        HelpGroup("app", "The deck", 1000),
    ),
)

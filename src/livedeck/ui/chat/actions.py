"""Actions of the Chat screen: read, filter and export messages.

The target of an export is fixed when the key is pressed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from os import stat_result
from pathlib import Path
from typing import TYPE_CHECKING

from livedeck.client import ChatExport, Invalid, plain_name
from livedeck.monitor import Severity
from livedeck.operations.operation import Confirmation
from livedeck.operations.schema import FieldValues, FormResult, FormState
from livedeck.presentation import events
from livedeck.text import values
from livedeck.text.segments import StyleRole
from livedeck.text.times import TimeReference
from livedeck.ui.chat import form
from livedeck.ui.chat.jobs import ExportJob, JobState, exports_of
from livedeck.ui.shell.context import (
    Action,
    Feature,
    FeatureScreen,
    HelpGroup,
    ScreenKind,
    Tab,
    Unfinished,
    needs_event,
)

if TYPE_CHECKING:
    from livedeck.ui.chat.screen import ChatScreen
    from livedeck.ui.shell.context import Context


def read_log(ctx: Context, _: str) -> None:
    """Read the log of the stream on the screen."""
    if reason := _blocked_reason(ctx):
        ctx.announce(reason, Severity.WARNING)
    else:
        _screen(ctx).read()


def filter_messages(ctx: Context, argument: str) -> Awaitable[None] | None:
    """Show only messages that contain `argument`. Without an argument, a form asks for the filter."""
    screen = _screen(ctx)
    if not argument:
        return _run_filter_form(ctx, screen)
    entries = {**screen.filter_entries, "search": argument}
    screen.set_filter(replace(screen.message_filter, search=argument), entries)
    return None


async def _run_filter_form(ctx: Context, screen: ChatScreen) -> None:
    state = FormState(
        "Show and export only", form.FILTER_FORM, screen.filter_entries, button="Apply", allow_unchanged=True
    )

    async def attempt(result: FormResult) -> None:
        message_filter = form.message_filter(form.FILTER_FORM.parse(result.entries, result.entries, _past(ctx)))
        screen.set_filter(message_filter, result.entries)

    await ctx.confirmer.try_form(state, attempt, ValueError, lambda: _past(ctx))


def _past(ctx: Context) -> TimeReference:
    """Return the reference for typed times. A typed time of day is in the past, because all messages are."""
    return replace(ctx.confirmer.time_reference(), past=True)


def clear_filter(ctx: Context, _: str) -> None:
    """Show every message again."""
    screen = _screen(ctx)
    if screen.message_filter:
        screen.set_filter(form.message_filter({}), form.EMPTY_FILTER)


def export(ctx: Context, _: str) -> Awaitable[None] | None:
    """Ask for format and file in a form, then export the chat on the screen."""
    screen, running = _screen(ctx), exports_of(ctx).running
    chat_export, state = screen.chat_export(), ctx.selected_event()
    reason = _blocked_reason(ctx)
    if running:
        reason = f"the chat of {running.event_name} is still being exported: wait, or stop it"
    if reason or chat_export is None or state is None:
        ctx.announce(reason, Severity.WARNING)
        return None
    return _export(ctx, chat_export, events.name(state))


async def _export(ctx: Context, chat_export: ChatExport, name: str) -> None:
    assert ctx.api is not None
    file = ctx.downloads / f"{plain_name(name)}-{plain_name(chat_export.stream_id)}"
    entries: FieldValues = {"format": "csv", "file": str(file), "zone": "", "safe_csv": False}
    state = FormState(f"Export chat of {name}", form.EXPORT_FORM, entries, button="Export", allow_unchanged=True)

    async def attempt(result: FormResult) -> tuple[form.ExportOptions, FieldValues]:
        return _parse_options(result, ctx.confirmer.time_reference()), result.entries

    while (filled := await ctx.confirmer.try_form(state, attempt, ValueError)) is not None:
        options, entries = filled
        path = ctx.downloads / options.file
        existing = await asyncio.to_thread(_existing_file, path)
        if existing is None or await ctx.confirmer.ask_confirmation(_replacement(path, existing)):
            chosen_export = replace(chat_export, format=options.format, zone=options.zone, safe_csv=options.safe_csv)
            exports_of(ctx).begin(ctx.api, chosen_export, name, path, overwrite=existing is not None)
            return
        state = replace(state, entered=entries)


def _parse_options(result: FormResult, reference: TimeReference) -> form.ExportOptions:
    """Return the options that the form describes. Raises ValueError if they are invalid."""
    try:
        return form.export_options(form.EXPORT_FORM.parse(result.entries, result.entries, reference))
    except Invalid as error:
        raise ValueError(f"{error.field} {error.limit}") from None


def _existing_file(path: Path) -> stat_result | None:
    """Return the status of the file at `path`; None if there is no file or it cannot be read.

    The export itself reports the reason why a file cannot be read.
    """
    try:
        return path.stat() if path.is_file() else None
    except OSError:
        return None


def _replacement(path: Path, existing: stat_result) -> Confirmation:
    size, written = values.size(existing.st_size), datetime.fromtimestamp(existing.st_mtime, UTC)
    lines = (
        (f"The file exists: {size}, written {written:%d %b %Y %H:%M:%S}Z.", StyleRole.TEXT),
        ("The export replaces this file once it is complete. Until then the file is unchanged.", StyleRole.TEXT),
        (values.safe(str(path), 400), StyleRole.DIM),
    )
    return Confirmation(f"Replace {values.safe(path.name, 60)}?", lines, "Replace")


def stop(ctx: Context, _: str) -> Awaitable[None] | None:
    """Stop the running export after a confirmation."""
    running = exports_of(ctx).running
    if running is None:
        ctx.announce("no export is running", Severity.INFO)
        return None
    return _stop(ctx, running)


async def _stop(ctx: Context, running: ExportJob) -> None:
    lines = (("The messages received so far are discarded.", StyleRole.TEXT),)
    confirmation = Confirmation(f"Stop the export of {running.event_name}?", lines, "Stop", cancel="Continue")
    if await ctx.confirmer.ask_confirmation(confirmation) and exports_of(ctx).running:
        await exports_of(ctx).stop()
        ctx.announce(f"export chat of {running.event_name} stopped; no file is left")


def copy_path(ctx: Context, _: str) -> None:
    """Copy the path of the last export's file to the clipboard."""
    job = _finished_export(ctx)
    if job is not None:
        ctx.copy(str(job.path.absolute()), f"path of {values.safe(job.path.name, 60)}")


def open_file(ctx: Context, _: str) -> Awaitable[None] | None:
    """Open the last export's file in a program of this machine."""
    job = _finished_export(ctx)
    if job is None:
        return None
    return _open_file(ctx, job)


async def _open_file(ctx: Context, job: ExportJob) -> None:
    name = values.safe(job.path.name, 60)
    reason = await ctx.opener(job.path.absolute()) if ctx.opener else "this deck has no program to open files"
    if reason:
        ctx.announce(f"{name} could not be opened: {reason}", Severity.WARNING)
    else:
        ctx.announce(f"opening {name}")


def _finished_export(ctx: Context) -> ExportJob | None:
    """Return the last export if its file is complete; otherwise announce that there is no file and return None."""
    job = exports_of(ctx).job
    if job is None or job.state is not JobState.DONE:
        ctx.announce("no file yet: the export is still running" if exports_of(ctx).running else "no exported file yet")
        return None
    return job


def next_stream(ctx: Context, _: str) -> None:
    """Select the next stream of the event."""
    _screen(ctx).step_stream(1)


def previous_stream(ctx: Context, _: str) -> None:
    """Select the previous stream of the event."""
    _screen(ctx).step_stream(-1)


def next_event(ctx: Context, _: str) -> None:
    """Select the next event."""
    _screen(ctx).step_event(1)


def previous_event(ctx: Context, _: str) -> None:
    """Select the previous event."""
    _screen(ctx).step_event(-1)


def _blocked_reason(ctx: Context) -> str:
    if ctx.api is None:
        return "this deck has no access to the platform"
    return "" if _screen(ctx).chat_export() else "this event has no stream, so there is no chat to read"


def _screen_type() -> type[ChatScreen]:
    from livedeck.ui.chat.screen import ChatScreen

    return ChatScreen


def _screen(ctx: Context) -> ChatScreen:
    return ctx.screen_of(_screen_type())


def unfinished(ctx: Context) -> Unfinished | None:
    """Return the running export, which ends with the deck; None if no export runs."""
    exports = exports_of(ctx)
    job = exports.running
    if job is None:
        return None
    body = (
        (f"Its chat is being exported to {values.safe(str(job.path), 200)}.", StyleRole.TEXT),
        ("If you leave, the export stops and no file is left.", StyleRole.TEXT),
    )
    return Unfinished(f"Leave before the export of {job.event_name} is done?", body, exports.stop)


HERE = ("chat",)

_chat = partial(Action, screens=HERE, blocked=needs_event)

CHAT = (
    _chat("chat.read", ("enter",), "read", "Read the log, or read it again", read_log, rank=10),
    _chat(
        "chat.sift",
        ("slash",),
        "filter",
        "Show only some messages: by text, users, administrators or time",
        filter_messages,
        rank=12,
        takes="[TEXT]",
    ),
    _chat("chat.everything", ("escape",), "clear filter", "Clear the filter", clear_filter),
    _chat(
        "chat.export", ("e",), "export", "Export the chat to a file, in a chosen format and time zone", export, rank=11
    ),
    Action("chat.stop", ("x",), "stop", "Stop the running export", stop, HERE, rank=13),
    Action("chat.copy", ("y",), "copy", "Copy the path of the exported file", copy_path, HERE, rank=14),
    Action("chat.open", ("o",), "open", "Open the exported file", open_file, HERE, rank=15),
    _chat(
        "chat.next_stream",
        ("right_square_bracket", "right"),
        "stream",
        "Select the next stream of the event",
        next_stream,
        rank=16,
    ),
    _chat(
        "chat.previous_stream",
        ("left_square_bracket", "left"),
        "previous stream",
        "Select the previous stream of the event",
        previous_stream,
    ),
    _chat("chat.next_event", ("full_stop",), "event", "Select the next event", next_event, rank=17),
    _chat("chat.previous_event", ("comma",), "previous event", "Select the previous event", previous_event),
)

FEATURE = Feature(
    tab=Tab("Chat", "4", "chat", "Show Chat: messages of viewers, and their export"),
    screens={"chat": FeatureScreen(_screen_type, ScreenKind.ROWS)},
    actions=CHAT,
    help=(HelpGroup("chat", "Chat", 100),),
    unfinished=unfinished,
)

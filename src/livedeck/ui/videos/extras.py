"""Helpers for actions on a video's extras: selection, forms, downloads."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from livedeck.client import ApiError, ContentKind, Progress, Secret, plain_name
from livedeck.monitor import Severity, Video
from livedeck.operations.operation import Operation, OperationResult, Target
from livedeck.operations.schema import Field, FieldKind, FieldValues, FormResult, FormSchema, FormState, parse_path
from livedeck.ui.videos.selection import selection_of

if TYPE_CHECKING:
    from livedeck.ui.shell.confirmer import OperationFactory
    from livedeck.ui.shell.context import Context


T = TypeVar("T")

DOWNLOAD_FORM = FormSchema(
    (
        Field("file", "File", hint="path on this machine", required=True, is_long=True),
        Field("replace", "Replace", FieldKind.FLAG, hint="an existing file"),
    ),
    dict,
)


def video_of(ctx: Context) -> Video:
    """Return the selected video. Call this only in actions that are blocked without a selected video."""
    video = selection_of(ctx).video
    assert video is not None
    return video


def selected(ctx: Context, kind: type[T], noun: str) -> T | None:
    """Return the item under the cursor if it is of type `kind`. If not, announce that none is selected.

    `noun`: word for an item of this type.
    """
    from livedeck.ui.videos.screen import VideoTab

    screen = ctx.screen_of(VideoTab)
    item = screen.selected_item()
    if isinstance(item, kind):
        return item
    ctx.announce(screen.no_item_text(noun), Severity.WARNING)
    return None


def needs_video(ctx: Context) -> str:
    """Return the reason why the action is blocked; empty if a video is selected."""
    return "" if selection_of(ctx).video else "needs a selected video"


async def run(ctx: Context, operation: Operation[Any]) -> OperationResult:
    """Run an operation, and poll the lists on the screen again."""
    outcome = await ctx.confirmer.run(operation)
    refresh_lists(ctx)
    return outcome


async def run_form(
    ctx: Context,
    state: FormState,
    make_operation: OperationFactory,
    *,
    before: FieldValues | None = None,
    always: Iterable[str] = (),
) -> OperationResult | None:
    """Show a form, run the operation that its entries describe, and poll the lists on the screen again.

    Returns None if the person leaves the form.
    """
    outcome = await ctx.confirmer.run_form(state, make_operation, before=before, always=always)
    refresh_lists(ctx)
    return outcome


def empty_form(title: str, schema: FormSchema[Any], button: str, typed: str = "") -> FormState:
    """Return the state of a form without entries. `typed`: argument of the command, put into the first field."""
    return FormState(title, schema, schema.empty(), typed_entries(schema, typed), button=button)


def typed_entries(schema: FormSchema[Any], typed: str) -> FieldValues | None:
    """Return the argument of a command as an entry for the form's first field; None if the argument is empty."""
    return {schema.fields[0].name: typed} if typed else None


def refresh_lists(ctx: Context) -> None:
    """Poll the lists on the screen again, after a change."""
    ctx.monitor.refresh()
    ctx.snapshot_signal.publish(None)


async def download(
    ctx: Context,
    target: Target,
    name: str,
    link: Callable[[], Awaitable[Secret]],
    *,
    typed: str = "",
    kind: ContentKind = "file",
    size: int | None = None,
) -> None:
    """Ask for a path, and save the file of a link to this path, whole or not at all.

    `name`: suggested file name. It may come from outside, but never leads to another folder. `link`: reads the link.
    `typed`: path from the command; if empty, the name in the folder for downloads is suggested. `kind`: kind of
    content. `size`: the platform's number of bytes; None if unknown.
    """
    from livedeck.operations.executor import Cancelled

    plain, title = plain_name(name, target.kind), f"download {target.name}"
    entries: FieldValues = {"file": typed or str(ctx.downloads / plain), "replace": False}
    state = FormState(f"Download {target.name}", DOWNLOAD_FORM, entries, button="Download", allow_unchanged=True)

    async def attempt(result: FormResult) -> tuple[int, Path]:
        to = ctx.downloads / parse_path(result.entries["file"])
        to = to / plain if await asyncio.to_thread(to.is_dir) else to

        async def save(progress: Progress) -> int:
            replace = result.entries["replace"] is True
            return await ctx.confirmer.api.cdn.save(
                await link(), to, title, kind=kind, name=name, size=size, replace=replace, progress=progress
            )

        return await ctx.confirmer.watch(title, save), to

    try:
        saved = await ctx.confirmer.try_form(state, attempt, ApiError)
    except Cancelled:
        ctx.announce(f"download of {target.name}: stopped, no file was saved", Severity.WARNING)
        return
    if saved is not None:
        written, to = saved
        ctx.announce(f"download of {target.name}: {written:,} bytes in {to}")
        await ctx.confirmer.audit_local(f"{target.kind}.download", target, str(to))

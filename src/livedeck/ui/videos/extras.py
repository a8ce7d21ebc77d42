"""What the actions on the extras of a video share: the video, what is selected, forms, downloads."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from livedeck.client import ApiError, Secret, plain_name
from livedeck.monitor import Severity, Video
from livedeck.operations import video_forms
from livedeck.operations.diff import Change, edits
from livedeck.operations.operation import Operation, OperationResult, Target
from livedeck.operations.schema import FieldValues, FormSchema
from livedeck.ui.kit.dialogs.form import Form, FormResult, FormState
from livedeck.ui.shell.confirmer import OperationFactory, run_form
from livedeck.ui.videos.library import library_of

if TYPE_CHECKING:
    from livedeck.ui.shell.context import Context


T = TypeVar("T")


def video_of(ctx: Context) -> Video:
    """The selected video: the deck refuses every action that needs one where there is none."""
    video = library_of(ctx).video
    assert video is not None
    return video


def selected(ctx: Context, kind: type[T], noun: str) -> T | None:
    """What the cursor stands on; said where it stands on nothing."""
    from livedeck.ui.videos.screen import VideoTab

    one = ctx.screen_of(VideoTab).picked()
    if isinstance(one, kind):
        return one
    ctx.announce(f"no {noun} is selected", Severity.WARNING)
    return None


def needs_video(ctx: Context) -> str:
    """A video has to be selected."""
    return "" if library_of(ctx).video else "needs a video: none is selected"


async def perform(ctx: Context, act: Operation[Any]) -> OperationResult:
    """Take it down the road, and ask for the lists anew."""
    outcome = await ctx.desk.perform(act)
    renew(ctx)
    return outcome


async def filled(ctx: Context, blank: FormState, act: OperationFactory) -> OperationResult | None:
    """The same from a form."""
    outcome = await run_form(ctx, blank, act)
    renew(ctx)
    return outcome


def changed(
    ctx: Context,
    title: str,
    sheet: FormSchema,
    initial: FieldValues,
    act: Callable[[Any, tuple[Change, ...]], Operation[object]],
) -> Awaitable[Any]:
    """A form of what there is. `act`: of a draft of what was changed, which is sent and nothing else, and in words."""

    def made(form: FormResult) -> Operation[object]:
        present = ctx.desk.present()
        draft = sheet.draft(sheet.values(form.entries, form.changed, present))
        return act(draft, edits(sheet, initial, form.entries, form.changed, present))

    return filled(ctx, FormState(title, sheet, initial), made)


def renew(ctx: Context) -> None:
    """Something may have changed."""
    library_of(ctx).expire()
    ctx.snapshot_signal.publish(None)


async def download(
    ctx: Context, target: Target, name: str, link: Callable[[], Awaitable[Secret]], *, typed: str = ""
) -> None:
    """Ask where it goes, and write it there, whole or not at all. `name`: from outside, it leads to no other folder."""
    from livedeck.operations.executor import Cancelled

    plain = plain_name(name, target.kind)
    entries: FieldValues = {"file": typed or str(ctx.downloads / plain), "replace": False}
    blank = FormState(f"Download {target.name}", video_forms.TARGET, entries, save="Download", fresh=True)
    while True:
        form = await ctx.ask(Form(blank, ctx.clock.monotonic, ctx.desk.present))
        if form is None:
            return
        to = ctx.downloads / video_forms.path_of(form.entries["file"])
        to = to / plain if await asyncio.to_thread(to.is_dir) else to
        try:
            size = await _saved(ctx, target, link, to, replace=form.entries["replace"] is True)
        except Cancelled:
            ctx.announce(f"download of {target.name}: stopped, nothing was kept", Severity.WARNING)
            return
        except ApiError as error:
            blank = replace(blank, entered=form.entries, note=str(error))
            continue
        ctx.announce(f"download of {target.name}: {size:,} bytes in {to}")
        await ctx.desk.did(f"{target.kind}.download", target, str(to))
        return


async def _saved(
    ctx: Context, target: Target, link: Callable[[], Awaitable[Secret]], to: Path, *, replace: bool
) -> int:
    what = f"download {target.name}"

    async def work(progress: Callable[[int, int | None], None]) -> int:
        return await ctx.desk.api.cdn.save(await link(), to, what, replace=replace, progress=progress)

    return await ctx.desk.fetch(what, work)

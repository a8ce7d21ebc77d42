"""Actions to choose a video or a part of it, and to put rows in order."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import replace
from typing import TYPE_CHECKING

from livedeck.client import ApiError, Subtitle
from livedeck.monitor import KnownMaterial, Severity, Video
from livedeck.operations.schema import Field, FieldKind, FormResult, FormSchema, Referent, Suggestion
from livedeck.ui.shell.commands import unknown_text
from livedeck.ui.shell.context import Action, Feature, FeatureScreen, HelpGroup, ScreenKind, Tab
from livedeck.ui.shell.keymap import with_keys
from livedeck.ui.videos.annotations import ACTIONS as ANNOTATIONS
from livedeck.ui.videos.extras import empty_form, needs_video, refresh_lists, run, typed_entries, video_of
from livedeck.ui.videos.materials import ACTIONS as MATERIALS
from livedeck.ui.videos.posters import ACTIONS as POSTERS
from livedeck.ui.videos.selection import PARTS, selection_of
from livedeck.ui.videos.subtitles import ACTIONS as SUBTITLES

if TYPE_CHECKING:
    from livedeck.ui.shell.context import Context
    from livedeck.ui.videos.screen import OrderedScreen, VideoTab


def _screen(mode: str) -> FeatureScreen:
    def load() -> type[VideoTab]:
        from livedeck.ui.videos.screen import SCREENS

        return SCREENS[mode]

    return FeatureScreen(load, ScreenKind.TABLE)


def _ordered_screen(ctx: Context) -> OrderedScreen:
    from livedeck.ui.videos.screen import OrderedScreen

    return ctx.screen_of(OrderedScreen)


def open_screen(ctx: Context, _: str) -> None:
    """Show the Videos screen with the part that was shown last."""
    ctx.go_to(selection_of(ctx).part)


def next_part(ctx: Context, argument: str) -> None:
    """Show the next part of the video, or the part `argument`."""
    _turn_part(ctx, 1, argument)


def previous_part(ctx: Context, _: str) -> None:
    """Show the previous part of the video."""
    _turn_part(ctx, -1)


def _turn_part(ctx: Context, step: int, name: str = "") -> None:
    if name and name not in PARTS:
        ctx.announce(unknown_text("part", name, PARTS), Severity.WARNING)
        return
    from livedeck.ui.videos.screen import VideosScreen

    part = name or PARTS[(PARTS.index(selection_of(ctx).part) + step) % len(PARTS)]
    screen = ctx.screen
    if isinstance(screen, VideosScreen):
        screen.select_video()
    if part != PARTS[0] and selection_of(ctx).video is None:
        ctx.announce(with_keys("no video is selected; {video.find} opens any by its id", ctx.actions), Severity.WARNING)
    else:
        ctx.go_to(part)


def open_video(ctx: Context, _: str) -> None:
    """Show the posters of the video under the cursor."""
    from livedeck.ui.videos.screen import VideoTab

    ctx.screen_of(VideoTab).open()


def find_video(ctx: Context, argument: str) -> Awaitable[None] | None:
    """Open any video by its id, or a listed video by its name."""
    if ctx.api is None:
        ctx.announce("this deck has no connection to the platform", Severity.WARNING)
        return None
    return _find_video(ctx, argument)


FIND_FORM = FormSchema(
    (
        Field(
            "video_id",
            "Video",
            FieldKind.REFERENCE,
            hint="name, or the id of any other",
            required=True,
            referent=Referent.VIDEO,
        ),
    ),
    dict,
)


async def _find_video(ctx: Context, typed: str) -> None:
    displayed = ctx.displayed()
    videos = selection_of(ctx).videos(displayed[0], ctx.selected_event()) if displayed else ()
    suggestions = tuple(Suggestion(video.id, video.title, video.event or "") for video in videos)
    state = replace(empty_form("Open a video", FIND_FORM, "Open"), suggestions={"video_id": suggestions})

    async def attempt(result: FormResult) -> Video:
        return await _select_video(ctx, str(result.entries["video_id"]).strip())

    if await ctx.confirmer.try_form(state, attempt, ApiError, typed=typed_entries(FIND_FORM, typed)):
        ctx.go_to("posters")


async def _select_video(ctx: Context, video_id: str) -> Video:
    """Select a video by its id. If no list contains the video, read it from the platform.

    Raises ApiError; NotFound if the video does not exist.
    """
    displayed, selection = ctx.displayed(), selection_of(ctx)
    videos = selection.videos(displayed[0], ctx.selected_event()) if displayed else ()
    listed = next((video for video in videos if video.id == video_id), None)
    if listed:
        selection.video = listed
        return listed
    video = await ctx.monitor.find_video(video_id)
    selection.open(video)
    return video


def move_earlier(ctx: Context, _: str) -> None:
    """Move the row under the cursor up by one."""
    _move_row(ctx, -1)


def move_later(ctx: Context, _: str) -> None:
    """Move the row under the cursor down by one."""
    _move_row(ctx, 1)


def _move_row(ctx: Context, step: int) -> None:
    reason = _ordered_screen(ctx).move_row(step)
    if reason:
        ctx.announce(reason, Severity.WARNING)


def send_order(ctx: Context, _: str) -> Awaitable[None] | None:
    """Send the order of the rows on the screen to the platform."""
    screen = _ordered_screen(ctx)
    order = screen.order()
    if order is None:
        ctx.announce("not sent: no row was moved")
        return None
    return _send_order(ctx, screen, video_of(ctx), order)


async def _send_order(ctx: Context, screen: OrderedScreen, video: Video, order: tuple[str, ...]) -> None:
    from livedeck.operations.materials import ReorderMaterials
    from livedeck.operations.subtitles import ReorderSubtitles, track_name

    rows: tuple[Subtitle | KnownMaterial, ...] = screen.cached().items
    names = {row.id: track_name(row) if isinstance(row, Subtitle) else row.title or row.id for row in rows}
    reorder = ReorderSubtitles if screen.MODE == "subtitles" else ReorderMaterials
    outcome = await run(ctx, reorder(video, order, tuple(row.id for row in rows), names))
    if not outcome.has_happened:
        return
    if reorder is ReorderMaterials:
        await _keep_order(ctx, rows, outcome.answer)
    screen.drop_sent_order(video.id, order)
    refresh_lists(ctx)


async def _keep_order(ctx: Context, rows: tuple[Subtitle | KnownMaterial, ...], order: object) -> None:
    """Store the materials in the sent order, because no read returns the order.

    Forget materials that no longer exist.
    """
    materials = {row.id: row for row in rows if isinstance(row, KnownMaterial)}
    sent = [row_id for row_id in order if row_id in materials] if isinstance(order, tuple) else [*materials]
    await ctx.monitor.remember_materials(*(materials[row_id] for row_id in sent))
    await ctx.monitor.forget_materials(*(row_id for row_id in materials if row_id not in sent))


MODES = ("videos", "posters", "subtitles", "cues", "annotations", "materials")
ORDERED = ("subtitles", "materials")

VIDEOS = (
    Action(
        "part.next",
        ("right_square_bracket", "right"),
        "next part",
        "Show the next part (videos, posters, subtitles, annotations, materials), or the part that you name",
        next_part,
        MODES,
        takes="[NAME]",
        rank=22,
    ),
    Action(
        "part.previous",
        ("left_square_bracket", "left"),
        "previous part",
        "Show the previous part",
        previous_part,
        MODES,
    ),
    Action("video.open", ("enter",), "open", "Show the posters of the video", open_video, ("videos",), rank=10),
    Action(
        "video.find",
        ("b",),
        "by id",
        "Open any video by its id",
        find_video,
        MODES,
        takes="[ID]",
        rank=25,
        is_for_now=True,
    ),
)

ORDER = (
    Action(
        "order.earlier",
        ("K", "shift+up"),
        "move up",
        "Move the row up; nothing is sent yet",
        move_earlier,
        ORDERED,
        rank=14,
    ),
    Action(
        "order.later",
        ("J", "shift+down"),
        "move down",
        "Move the row down; nothing is sent yet",
        move_later,
        ORDERED,
        rank=15,
    ),
    Action(
        "order.send",
        ("S",),
        "send order",
        "Send the order of the rows on the screen",
        send_order,
        ORDERED,
        blocked=needs_video,
        writes=True,
        rank=19,
    ),
)

FEATURE = Feature(
    tab=Tab("Videos", "6", "videos", "Show Videos: recordings, any video by its id, and their extras", run=open_screen),
    screens={mode: _screen(mode) for mode in MODES},
    actions=(*VIDEOS, *POSTERS, *SUBTITLES, *ANNOTATIONS, *MATERIALS, *ORDER),
    help=(
        HelpGroup("part", "Parts of a video", 110),
        HelpGroup("video", "Videos", 120),
        HelpGroup("poster", "Posters", 130),
        HelpGroup("subtitle", "Subtitles", 140),
        HelpGroup("annotation", "Annotations", 150),
        HelpGroup("material", "Additional materials", 160),
        HelpGroup("order", "Order of subtitles and materials", 170),
    ),
)

"""Which video, which part of it, and the order of its rows."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import replace
from typing import TYPE_CHECKING

from livedeck.client import ApiError, Subtitle
from livedeck.monitor import KnownMaterial, Severity, Video
from livedeck.operations import video_forms
from livedeck.operations import videos as acts
from livedeck.operations.subtitles import named
from livedeck.ui.kit.dialogs.form import Form, FormState
from livedeck.ui.shell.action import (
    Action,
    ConfirmLevel,
    Feature,
    FeatureScreen,
    HelpGroup,
    ScreenKind,
    Tab,
)
from livedeck.ui.shell.keymap import worded
from livedeck.ui.videos.annotations import ACTIONS as ANNOTATIONS
from livedeck.ui.videos.extras import needs_video, perform, renew, video_of
from livedeck.ui.videos.library import PARTS, library_of
from livedeck.ui.videos.materials import ACTIONS as MATERIALS
from livedeck.ui.videos.posters import ACTIONS as POSTERS
from livedeck.ui.videos.subtitles import ACTIONS as SUBTITLES

if TYPE_CHECKING:
    from livedeck.ui.shell.context import Context
    from livedeck.ui.videos.screen import (
        AnnotationsScreen,
        CuesScreen,
        MaterialsScreen,
        OrderedScreen,
        PostersScreen,
        SubtitlesScreen,
        VideosScreen,
        VideoTab,
    )


def _tab() -> type[VideoTab]:
    from livedeck.ui.videos.screen import VideoTab

    return VideoTab


def _ordered_tab() -> type[OrderedScreen]:
    from livedeck.ui.videos.screen import OrderedScreen

    return OrderedScreen


def _videos_screen() -> type[VideosScreen]:
    from livedeck.ui.videos.screen import VideosScreen

    return VideosScreen


def _posters_screen() -> type[PostersScreen]:
    from livedeck.ui.videos.screen import PostersScreen

    return PostersScreen


def _subtitles_screen() -> type[SubtitlesScreen]:
    from livedeck.ui.videos.screen import SubtitlesScreen

    return SubtitlesScreen


def _cues_screen() -> type[CuesScreen]:
    from livedeck.ui.videos.screen import CuesScreen

    return CuesScreen


def _annotations_screen() -> type[AnnotationsScreen]:
    from livedeck.ui.videos.screen import AnnotationsScreen

    return AnnotationsScreen


def _materials_screen() -> type[MaterialsScreen]:
    from livedeck.ui.videos.screen import MaterialsScreen

    return MaterialsScreen


def open_screen(ctx: Context, _: str) -> None:
    """Show the part that was left."""
    ctx.go_to(library_of(ctx).part)


def expire(ctx: Context) -> None:
    """Have every list asked for again."""
    library_of(ctx).expire()


def next_(ctx: Context, argument: str) -> None:
    """The next part, or the one that is named."""
    _turn(ctx, 1, argument)


def previous(ctx: Context, _: str) -> None:
    """The part before."""
    _turn(ctx, -1)


def _turn(ctx: Context, step: int, name: str = "") -> None:
    if name and name not in PARTS:
        ctx.announce(f"there is no part {name}: {', '.join(PARTS)}", Severity.WARNING)
        return
    part = name or PARTS[(PARTS.index(ctx.current_mode) + step) % len(PARTS)]
    screen = ctx.screen
    if isinstance(screen, _videos_screen()):
        screen.choose()
    if part != PARTS[0] and library_of(ctx).video is None:
        ctx.announce(worded("no video is selected; {video.find} opens any by its id", ctx.actions), Severity.WARNING)
    else:
        ctx.go_to(part)


def open_(ctx: Context, _: str) -> None:
    """The posters of the video under the cursor."""
    ctx.screen_of(_tab()).open()


def find(ctx: Context, argument: str) -> Awaitable[None] | None:
    """Open any video by its id."""
    if ctx.api is None:
        ctx.announce("this deck was given no way to the platform", Severity.WARNING)
        return None
    return _found(ctx, argument)


async def _found(ctx: Context, typed: str) -> None:
    blank = FormState("Open a video", video_forms.VIDEO, {"video_id": ""}, save="Open")
    while True:
        if not typed:
            filled = await ctx.ask(Form(blank, ctx.clock.monotonic, ctx.desk.present))
            if filled is None:
                return
            typed = str(filled.entries["video_id"]).strip()
        try:
            await library_of(ctx).find(typed)
        except ApiError as error:
            blank = replace(blank, entered={"video_id": typed}, note=str(error))
            typed = ""
        else:
            ctx.go_to("posters")
            return


def earlier(ctx: Context, _: str) -> None:
    """The row one up."""
    _shift(ctx, -1)


def later(ctx: Context, _: str) -> None:
    """The row one down."""
    _shift(ctx, 1)


def _shift(ctx: Context, step: int) -> None:
    why = ctx.screen_of(_ordered_tab()).shift(step)
    if why:
        ctx.announce(why, Severity.WARNING)


def send(ctx: Context, _: str) -> Awaitable[None] | None:
    """The whole order, as it is shown."""
    screen = ctx.screen_of(_ordered_tab())
    wanted = screen.order()
    if wanted is None:
        ctx.announce("nothing was moved")
        return None
    return _sent(ctx, screen, video_of(ctx), wanted)


async def _sent(ctx: Context, screen: OrderedScreen, video: Video, wanted: acts.Ids) -> None:
    tracks = isinstance(screen, _subtitles_screen())
    known: tuple[Subtitle | KnownMaterial, ...] = library_of(ctx).known(screen.MODE).items
    names = {one.id: named(one) if isinstance(one, Subtitle) else one.title or one.id for one in known}
    act = (acts.of_tracks if tracks else acts.of_materials)(
        ctx.desk.api, video, wanted, tuple(one.id for one in known), names
    )
    outcome = await perform(ctx, act)
    if not outcome.done:
        return
    if not tracks:
        await _kept(ctx, known, outcome.answer)
    screen.settle_order(video.id, wanted)
    renew(ctx)


async def _kept(ctx: Context, known: tuple[Subtitle | KnownMaterial, ...], order: object) -> None:
    """Remember the order of the materials: nothing else does. Those that were not sent are gone."""
    things = {one.id: one for one in known if isinstance(one, KnownMaterial)}
    ids = [one for one in order if one in things] if isinstance(order, tuple) else [*things]
    await library_of(ctx).shelf.put(things[one] for one in ids)
    await library_of(ctx).shelf.drop([one for one in things if one not in ids])


MODES = ("videos", "posters", "subtitles", "cues", "annotations", "materials")

ORDERED = ("subtitles", "materials")


VIDEOS = (
    Action(
        "part.next",
        ("right_square_bracket", "right"),
        "next part",
        "The next of videos, posters, subtitles, annotations, materials; or the one named",
        next_,
        PARTS,
        takes="[NAME]",
        rank=22,
    ),
    Action("part.previous", ("left_square_bracket", "left"), "part before", "The part before", previous, PARTS),
    Action("video.open", ("enter",), "open", "The posters of the video", open_, ("videos",), rank=10),
    Action(
        "video.find",
        ("b",),
        "by id",
        "Open any video by its id",
        find,
        MODES,
        takes="[ID]",
        rank=25,
    ),
)


ORDER = (
    Action(
        "order.earlier",
        ("K", "shift+up"),
        "move up",
        "Move the row up; nothing is sent yet",
        earlier,
        ORDERED,
        rank=14,
    ),
    Action(
        "order.later",
        ("J", "shift+down"),
        "move down",
        "Move the row down; nothing is sent yet",
        later,
        ORDERED,
        rank=15,
    ),
    Action(
        "order.send",
        ("S",),
        "send order",
        "Send the order of the rows as it is shown",
        send,
        ORDERED,
        blocked=needs_video,
        confirm=ConfirmLevel.FORM,
        rank=19,
    ),
)


FEATURE = Feature(
    tab=Tab(
        "Videos",
        Action(
            "screen.videos",
            ("6",),
            "videos",
            "Videos: recordings, any video by its id, and what hangs on one",
            open_screen,
        ),
    ),
    screens={
        "videos": FeatureScreen(_videos_screen, ScreenKind.TABLE),
        "posters": FeatureScreen(_posters_screen, ScreenKind.TABLE),
        "subtitles": FeatureScreen(_subtitles_screen, ScreenKind.TABLE),
        "cues": FeatureScreen(_cues_screen, ScreenKind.TABLE),
        "annotations": FeatureScreen(_annotations_screen, ScreenKind.TABLE),
        "materials": FeatureScreen(_materials_screen, ScreenKind.TABLE),
    },
    actions=(*VIDEOS, *POSTERS, *SUBTITLES, *ANNOTATIONS, *MATERIALS, *ORDER),
    help=(
        HelpGroup("part", "Videos", 110),
        HelpGroup("video", "Videos", 120),
        HelpGroup("poster", "Posters", 130),
        HelpGroup("subtitle", "Subtitles", 140),
        HelpGroup("annotation", "Annotations", 150),
        HelpGroup("material", "Additional materials", 160),
        HelpGroup("order", "Order of subtitles and materials", 170),
    ),
    expire=expire,
)

"""Videos and what hangs on them: posters, subtitles, annotations, additional materials."""

from typing import Any

from livedeck.ui.general.table import VIDEOS as ALL
from livedeck.ui.shell.action import Action, ConfirmLevel, Target

PARTS = tuple(screen for screen in ALL if screen != "cues")

ORDERED = ("subtitles", "materials")


def _on(screen: str, module: str) -> Any:
    """A maker of actions on what is selected on that screen; those that write name their blast."""

    def action(
        name: str, key: str, label: str, help_: str, blast: ConfirmLevel = ConfirmLevel.NONE, **more: Any
    ) -> Action:
        keys, handler = ((key,) if key else ()), f"{module}.{name.partition('.')[2]}"
        given: dict[str, Any] = {
            "target": Target.VIDEO,
            "writes": blast is not ConfirmLevel.NONE,
            "blast": blast,
        } | more
        return Action(name, keys, label, help_, handler, (screen,), **given)

    return action


_poster = _on("posters", "posters")

_subtitle = _on("subtitles", "subtitles")

_annotation = _on("annotations", "annotations")

_material = _on("materials", "materials")


VIDEOS = (
    Action(
        "part.next",
        ("right_square_bracket", "right"),
        "next part",
        "The next of videos, posters, subtitles, annotations, materials; or the one named",
        "videos.next_",
        PARTS,
        takes="[NAME]",
        rank=22,
    ),
    Action(
        "part.previous", ("left_square_bracket", "left"), "part before", "The part before", "videos.previous", PARTS
    ),
    Action("video.open", ("enter",), "open", "The posters of the video", "videos.open_", ("videos",), rank=10),
    Action(
        "video.find",
        ("b",),
        "by id",
        "Open any video by its id",
        "videos.find",
        ALL,
        takes="[ID]",
        rank=25,
    ),
    _poster(
        "poster.make", "n", "new", "Make a poster of the frame at a time", ConfirmLevel.FORM, takes="[TIME]", rank=11
    ),
    _poster(
        "poster.upload",
        "i",
        "picture",
        "Give the video the picture at an address",
        ConfirmLevel.FORM,
        takes="[ADDRESS]",
        rank=12,
    ),
    _poster(
        "poster.activate", "s", "show", "Show this poster in the player and in lists", ConfirmLevel.CONFIRM, rank=13
    ),
    _poster("poster.delete", "D", "delete", "Delete the poster for good", ConfirmLevel.CONFIRM, rank=14),
    _subtitle("subtitle.read", "enter", "read", "Read what the track says", rank=10),
    _subtitle(
        "subtitle.upload",
        "n",
        "upload",
        "Upload a WebVTT or SRT file, checked before it leaves",
        ConfirmLevel.FORM,
        takes="[FILE]",
        rank=11,
    ),
    _subtitle(
        "subtitle.recognise",
        "v",
        "recognise",
        "Have the speech recognised, a track for each language",
        ConfirmLevel.FORM,
        takes="[LANGUAGES]",
        rank=12,
    ),
    _subtitle("subtitle.edit", "e", "edit", "Change language or description of the track", ConfirmLevel.FORM, rank=13),
    _subtitle("subtitle.copy", "c", "copy", "Make a second track like this one", ConfirmLevel.CONFIRM, rank=16),
    _subtitle("subtitle.download", "g", "get", "Download the file of the track", takes="[FILE]", rank=17),
    _subtitle("subtitle.delete", "D", "delete", "Delete the track for good", ConfirmLevel.CONFIRM, rank=18),
    _annotation("annotation.new", "n", "new", "Lay an annotation over the video", ConfirmLevel.FORM, rank=11),
    _annotation("annotation.edit", "e", "edit", "Change the annotation", ConfirmLevel.FORM, rank=12),
    _annotation("annotation.delete", "D", "delete", "Delete the annotation for good", ConfirmLevel.CONFIRM, rank=13),
    _material(
        "material.upload", "n", "upload", "Put a file beside the video", ConfirmLevel.FORM, takes="[FILE]", rank=11
    ),
    _material("material.download", "g", "get", "Download the file", takes="[FILE]", rank=12),
    _material("material.link", "l", "link", "Copy an address that downloads the file for a short while", rank=13),
    _material(
        "material.rename", "e", "rename", "Give the material another title", ConfirmLevel.FORM, takes="[TITLE]", rank=16
    ),
    _material(
        "material.delete", "D", "delete", "Delete the material and its file for good", ConfirmLevel.CONFIRM, rank=18
    ),
    _material("material.know", "", "by id", "Take in a material of this video by its id", takes="ID"),
    Action(
        "order.earlier",
        ("K", "shift+up"),
        "move up",
        "Move the row up; nothing is sent yet",
        "order.earlier",
        ORDERED,
        rank=14,
    ),
    Action(
        "order.later",
        ("J", "shift+down"),
        "move down",
        "Move the row down; nothing is sent yet",
        "order.later",
        ORDERED,
        rank=15,
    ),
    Action(
        "order.send",
        ("S",),
        "send order",
        "Send the order of the rows as it is shown",
        "order.send",
        ORDERED,
        Target.VIDEO,
        writes=True,
        blast=ConfirmLevel.FORM,
        rank=19,
    ),
)

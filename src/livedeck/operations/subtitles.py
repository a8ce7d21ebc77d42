"""What can be done with the subtitle tracks of a video."""

from __future__ import annotations

from livedeck.client import Api, Subtitle, SubtitleDraft, SubtitleFile, collect, cues_out_of_order
from livedeck.monitor import Video
from livedeck.operations.diff import Change
from livedeck.operations.operation import Operation, Target
from livedeck.operations.videos import Ask, ObjectTarget, asking, deleting, editing, making
from livedeck.text import values
from livedeck.text.segments import StyleRole
from livedeck.ui.kit.dialogs.confirm import Confirmation

FACTS = {"language": "language", "description": "description", "file_name": "file"}


def named(one: Subtitle) -> str:
    """A track in a few words."""
    return values.safe(f"{one.language or ''} {one.description or ''}".strip() or one.id, 60)


def seen(api: Api, video: Video, one: Subtitle) -> ObjectTarget:
    """That track as it is shown."""
    state = f"a track of {values.safe(video.title, 40)}" + (
        ", still being recognised" if one.status == "pending" else ""
    )
    target = Target("subtitle", one.id, named(one), state)
    return ObjectTarget(target, one, lambda: api.subtitles.get(video.id, one.id), FACTS)


def upload(api: Api, video: Video, language: str, description: str, file: SubtitleFile) -> Operation[object]:
    """A track of a file that was checked. What is odd about its times is asked about."""
    target = Target("subtitle", "", f"{values.safe(file.name, 60)} ({language}, {len(file.cues)} cues)")

    def like(one: Subtitle) -> bool:
        return (one.language, one.file_name) == (language, file.name)

    return making(
        "subtitle.upload",
        target,
        lambda: collect(api.subtitles.iterate(video.id, order="position.asc")),
        lambda: api.subtitles.upload(video.id, language, description, file),
        like=like,
        ask=_odd(video, target, file),
        edits=(Change("File", "", values.safe(file.name, 60)), Change("Language", "", language)),
    )


def _odd(video: Video, target: Target, file: SubtitleFile) -> Ask:
    found = cues_out_of_order(file.cues, video.duration)
    if not found:
        return lambda *_: None
    told = tuple((f"▲ {text[0].upper()}{text[1:]}.", StyleRole.WARNING) for text in found)
    body = (*told, ("Players may show such cues late, stacked, or not at all.", StyleRole.TEXT))
    return lambda *_: Confirmation(f"Upload {target.name} as it is?", body, "Upload")


def recognise(api: Api, video: Video, languages: tuple[str, ...]) -> Operation[object]:
    """A track for each language: all of them, or none."""
    target = Target("subtitle", "", f"{' '.join(languages)} of {values.safe(video.title, 40)}")
    return making(
        "subtitle.recognise",
        target,
        lambda: collect(api.subtitles.iterate(video.id, order="position.asc")),
        lambda: api.subtitles.generate(video.id, languages),
        like=lambda one: one.language in languages,
    )


def edit(api: Api, video: Video, one: Subtitle, draft: SubtitleDraft, edits: tuple[Change, ...]) -> Operation[object]:
    """Change what the draft sets."""
    call = lambda: api.subtitles.update(video.id, one.id, draft)  # noqa: E731
    return editing(seen(api, video, one), call, draft.body(), edits)


def copy(api: Api, video: Video, one: Subtitle) -> Operation[object]:
    """A second one like it, which comes last."""
    it = seen(api, video, one)

    def like(other: Subtitle) -> bool:
        return (other.language, other.description) == (one.language, one.description)

    return making(
        "subtitle.copy",
        it.target,
        lambda: collect(api.subtitles.iterate(video.id, order="position.asc")),
        lambda: api.subtitles.copy(video.id, one.id),
        like=like,
        ask=asking(it.target, "copy", "A second track like it comes behind the last one. Viewers see both."),
    )


def delete(api: Api, video: Video, one: Subtitle) -> Operation[object]:
    """Delete it for good."""
    effect = "It is deleted for good, with its file. Viewers lose it at once."
    return deleting(seen(api, video, one), lambda: api.subtitles.delete(video.id, one.id), effect)

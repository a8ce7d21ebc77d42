"""Operations on the subtitle tracks of a video, and their forms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from livedeck.client import Subtitle, SubtitleDraft, SubtitleFile, Unreadable, cues_out_of_order
from livedeck.monitor import Video
from livedeck.operations.diff import Change
from livedeck.operations.operation import (
    Confirmation,
    ConfirmLevel,
    Conflicts,
    CreateOperation,
    DeleteOperation,
    PartialRows,
    Platform,
    SendContext,
    Target,
    all_rows,
    has_other_id,
)
from livedeck.operations.schema import Field, FieldValues, FormSchema, draft_maker
from livedeck.operations.videos import FILE, EditExtra, ExtraOperation, Ids, Reorder, video_title
from livedeck.text import values
from livedeck.text.segments import StyleRole

_LANGUAGE = Field("language", "Language", hint="ISO 639-1: en, de, uk", required=True)
_DESCRIPTION = Field("description", "Description", hint="shown to viewers")
_draft = draft_maker(SubtitleDraft)


def _upload_draft(fields: Mapping[str, Any]) -> SubtitleDraft:
    return _draft({name: value for name, value in fields.items() if name != FILE.name})


UPLOAD_FORM = FormSchema((FILE, _LANGUAGE, _DESCRIPTION), _upload_draft)
"""Form of an upload. The file is read when the form is saved."""

EDIT_FORM = FormSchema((_LANGUAGE, _DESCRIPTION), _draft)


def _parse_languages(fields: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the typed language codes without duplicates. Raises Invalid for an invalid code."""
    codes = tuple(dict.fromkeys(str(fields["languages"]).replace(",", " ").split()))
    for code in codes:
        SubtitleDraft(language=code)
    return codes


RECOGNISE_FORM = FormSchema(
    (Field("languages", "Languages", hint="ISO 639-1, one track each: en de", required=True),), _parse_languages
)


def edit_entries(track: Subtitle) -> FieldValues:
    """Return a track as entries of its form."""
    return {"language": track.language or "", "description": track.description or ""}


def track_name(track: Subtitle) -> str:
    """Return a short name of a track: language and description, or its id."""
    return values.safe(f"{track.language or ''} {track.description or ''}".strip() or track.id, 60)


async def _tracks(platform: Platform, video: Video) -> tuple[Subtitle, ...]:
    """Read all tracks of a video, in the order for viewers. Raises ApiError."""
    return await all_rows(platform.api.subtitles.iterate(video.id, order="position.asc"))


@dataclass(frozen=True, slots=True)
class _SubtitleCreation(CreateOperation[Subtitle]):
    kind = "subtitle"
    looks_like = ("subtitle.upload", "subtitle.recognise", "subtitle.copy")

    video: Video

    async def read(self, platform: Platform) -> tuple[Subtitle, ...]:
        return await _tracks(platform, self.video)


@dataclass(frozen=True, slots=True)
class UploadSubtitle(_SubtitleCreation):
    """Upload a checked file as a track. The operation needs confirmation if the cue times look wrong."""

    name = "subtitle.upload"
    verb = "upload"
    past = "uploaded"
    level = ConfirmLevel.ASK
    help = "Upload a WebVTT or SRT file, after a check"
    schema = UPLOAD_FORM

    language: str
    description: str
    file: SubtitleFile

    @property
    def target(self) -> Target:
        file = self.file
        return Target("subtitle", "", f"{values.safe(file.name, 60)} ({self.language}, {len(file.cues)} cues)")

    @property
    def changes(self) -> tuple[Change, ...]:
        return (Change("File", "", values.safe(self.file.name, 60)), Change("Language", "", self.language))

    def confirmation(self, current: tuple[Subtitle, ...], conflicts: Conflicts, /) -> Confirmation:
        faults = cues_out_of_order(self.file.cues, self.video.duration)
        if not faults:
            return replace(CreateOperation.confirmation(self, current, conflicts), level=ConfirmLevel.NONE)
        warnings = tuple((f"▲ {fault[0].upper()}{fault[1:]}.", StyleRole.WARNING) for fault in faults)
        lines = (*warnings, ("Players may show such cues late, stacked, or not at all.", StyleRole.TEXT))
        return Confirmation(f"Upload {self.target.name} unchanged?", lines, "Upload")

    async def send(self, context: SendContext[tuple[Subtitle, ...]], /) -> object:
        return await context.api.subtitles.upload(self.video.id, self.language, self.description, self.file)

    def is_like(self, item: Subtitle, /) -> bool:
        sent = (self.language, self.description, self.file.name)
        return (item.language, item.description or "", item.file_name) == sent

    def sent_names(self) -> Mapping[str, str]:
        return {"description": self.description} if self.description else {}


@dataclass(frozen=True, slots=True)
class RecogniseSpeech(_SubtitleCreation):
    """Request speech recognition, which makes a track for each language. The platform makes all tracks or none."""

    name = "subtitle.recognise"
    verb = "recognise"
    past = "sent to speech recognition"
    help = "Recognise the speech: one track for each language"
    evidence = "exactly one new track from speech recognition has appeared for each language"
    schema = RECOGNISE_FORM

    languages: tuple[str, ...]

    @property
    def target(self) -> Target:
        return Target("subtitle", "", f"{' '.join(self.languages)} of {video_title(self.video)}")

    async def send(self, context: SendContext[tuple[Subtitle, ...]], /) -> object:
        return await context.api.subtitles.generate(self.video.id, self.languages)

    def is_like(self, item: Subtitle, /) -> bool:
        """Return whether the track has a requested language and comes from speech recognition.

        Only such tracks are pending or have cues.
        """
        return item.language in self.languages and (item.status == "pending" or bool(item.data))

    def is_of_another(self, answer: object, before: tuple[Subtitle, ...], /) -> bool:
        items = answer if isinstance(answer, tuple) else ()
        is_foreign = any(item.language and not item.language.startswith(self.languages) for item in items)
        return is_foreign or CreateOperation.is_of_another(self, answer, before)

    def shows(self, before: tuple[Subtitle, ...], after: tuple[Subtitle, ...] | None, /) -> bool:
        languages = [track.language for track in self.candidates(before, after or ())]
        return sorted(languages, key=str) == sorted(self.languages)

    def shown_answer(self, before: tuple[Subtitle, ...], after: tuple[Subtitle, ...] | None, /) -> object:
        return self.candidates(before, after or ())


def track_target(video: Video, track: Subtitle) -> Target:
    """Return the target of a change of a track."""
    pending = ", still being recognised" if track.status == "pending" else ""
    return Target("subtitle", track.id, track_name(track), f"a track of {video_title(video)}{pending}")


@dataclass(frozen=True, slots=True)
class CopySubtitle(_SubtitleCreation):
    """Copy a track. The copy is the last track."""

    name = "subtitle.copy"
    verb = "copy"
    past = "copied"
    level = ConfirmLevel.ASK
    help = "Copy the track"

    track: Subtitle

    @property
    def target(self) -> Target:
        return track_target(self.video, self.track)

    def effect(self, _current: tuple[Subtitle, ...], /) -> str:
        return "An identical track is added after the last one. Viewers see both."

    async def send(self, context: SendContext[tuple[Subtitle, ...]], /) -> object:
        return await context.api.subtitles.copy(self.video.id, self.track.id)

    def sent_names(self) -> Mapping[str, str]:
        return {"description": self.track.description} if self.track.description else {}

    def is_like(self, item: Subtitle, /) -> bool:
        names = ("language", "description", "file_name")
        return all(getattr(item, name) == getattr(self.track, name) for name in names)


class SubtitleOperation(ExtraOperation[Subtitle]):
    """Change of an existing track."""

    kind = "subtitle"
    facts = {"language": "language", "description": "description", "file_name": "file"}  # noqa: RUF012  constant

    @property
    def target(self) -> Target:
        return track_target(self.video, self.extra)

    async def read(self, platform: Platform) -> Subtitle:
        return await platform.api.subtitles.get(self.video.id, self.extra.id)


class EditSubtitle(SubtitleOperation, EditExtra[Subtitle]):
    """Change the language or description of a track."""

    name = "subtitle.edit"
    help = "Change the language or description of the track"
    schema = EDIT_FORM

    def entries(self, current: Subtitle, /) -> FieldValues:
        return edit_entries(current)

    async def send(self, context: SendContext[Subtitle], /) -> object:
        return await context.api.subtitles.update(self.video.id, self.extra.id, self.form.draft, before=context.current)


class DeleteSubtitle(DeleteOperation[Subtitle], SubtitleOperation):
    """Delete a track for good."""

    name = "subtitle.delete"
    help = "Delete the track for good"

    def effect(self, _current: Subtitle, /) -> str:
        return "The track and its file are deleted for good. Viewers lose the subtitles at once."

    async def send(self, context: SendContext[Subtitle], /) -> None:
        await context.api.subtitles.delete(self.video.id, self.extra.id)


class ReorderSubtitles(Reorder):
    """Put the tracks of a video into another order."""

    name = "subtitle.reorder"
    kind = "subtitle"
    help = "Reorder the tracks"
    evidence = "the tracks have changed to the sent order"
    no_evidence = "the tracks were in that order before"

    async def read(self, platform: Platform) -> Ids:
        tracks = await _tracks(platform, self.video)
        if isinstance(tracks, PartialRows):
            raise Unreadable("reorder subtitles: an order needs every track, but some tracks were not received")
        return tuple(track.id for track in tracks)

    async def send(self, context: SendContext[Ids], /) -> object:
        return await context.api.subtitles.reorder(self.video.id, self.complete_order(context.current))

    def is_of_another(self, answer: object, before: Ids, /) -> bool:
        return all(has_other_id(answer, row_id) for row_id in self.complete_order(before))

    def can_show(self, before: Ids, /) -> bool:
        return self.complete_order(before) != before

    def shows(self, before: Ids, after: Ids | None, /) -> bool:
        """Return whether the order was applied: the sent rows that still exist have changed to the sent order.

        Other rows may be added or removed meanwhile.
        """
        sent, there = self.complete_order(before), set(after or ())
        now = [row_id for row_id in after or () if row_id in sent]
        is_so = now == [row_id for row_id in sent if row_id in there]
        return is_so and now != [row_id for row_id in before if row_id in there]


OPERATIONS = (UploadSubtitle, RecogniseSpeech, EditSubtitle, CopySubtitle, DeleteSubtitle, ReorderSubtitles)

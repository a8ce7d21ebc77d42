"""The forms of what hangs on a video (platform-api.md, 4). Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from livedeck.client import Annotation, AnnotationDraft, Subtitle, SubtitleDraft
from livedeck.operations.schema import Field, FieldValues, FormSchema, Kind, draft_of

_PLACE = re.compile(r"(?:(?:(\d{1,3}):)?([0-5]?\d):)?(\d{1,6}(?:\.\d{1,3})?)")


def seconds(text: str) -> float:
    """A place in a video: `1:02:03.5`, `62:03` or seconds. Raises ValueError."""
    found = _PLACE.fullmatch(text.strip())
    if found is None or (found[2] and float(found[3]) >= 60):
        raise ValueError("should be seconds, or H:MM:SS")
    return int(found[1] or 0) * 3600 + int(found[2] or 0) * 60 + float(found[3])


def frame(duration: float | None) -> FormSchema:
    """From which frame a poster is made."""

    def draft(values: Mapping[str, object]) -> object:
        at = seconds(str(values["from_time"]))
        if duration is not None and at > duration:
            raise ValueError(f"is behind the end of the video, which lasts {duration:g} s")
        return at

    return FormSchema((Field("from_time", "Time", hint="seconds, or H:MM:SS", required=True),), draft)


def _web(values: Mapping[str, object]) -> object:
    if not str(values["poster_url"]).startswith(("https://", "http://")):
        raise ValueError("should begin with https://")
    return values


PICTURE = FormSchema((Field("poster_url", "Picture", hint="https:// address of the image", required=True),), _web)


LANGUAGE = Field("language", "Language", hint="ISO 639-1: en, de, uk", required=True)

DESCRIPTION = Field("description", "Description", hint="as viewers see it")

FILE = Field("file", "File", hint="its path on this machine", required=True)


def _track(values: Mapping[str, object]) -> object:
    given: dict[str, Any] = {name: entry for name, entry in values.items() if name != "file"}
    return SubtitleDraft(**given)


TRACK_FILE = FormSchema((FILE, LANGUAGE, DESCRIPTION), _track)

"""To upload one. The file itself is read when the form is sent."""


TRACK = FormSchema((LANGUAGE, DESCRIPTION), _track)

"""To change one."""


def languages(text: str) -> tuple[str, ...]:
    """The codes that were typed, each once. Raises Invalid for one that is none."""
    codes = tuple(dict.fromkeys(text.replace(",", " ").split()))
    for code in codes:
        SubtitleDraft(language=code)
    return codes


SPEECH = FormSchema(
    (Field("languages", "Languages", hint="ISO 639-1, one track each: en de", required=True),),
    lambda values: languages(str(values["languages"])),
)


_TYPE = Field("type", "Type", Kind.CHOICE, choices=("text", "video"), required=True, hint="cannot be changed later")

_NOTE = (
    Field("title", "Title", required=True),
    Field("start_time", "From", Kind.NUMBER, hint="whole number", required=True),
    Field("end_time", "To", Kind.NUMBER, hint="whole number", required=True),
    Field("link", "Link", hint="where a click leads"),
    Field("annotation_poster_id", "Poster", hint="id of a picture; empty for none", empties=True),
)

_NOTED = draft_of(AnnotationDraft, {})


NEW_NOTE = FormSchema((_TYPE, *_NOTE), _NOTED)

"""To make an annotation."""


NOTE = FormSchema(_NOTE, _NOTED)

"""To change one: its type stays (platform-api.md, 4)."""


MATERIAL_FILE = FormSchema((FILE, Field("title", "Title", hint="empty: the name of the file")), dict)


TITLE = FormSchema((Field("title", "Title", required=True),), dict)


KNOWN = FormSchema((Field("material_id", "Material", hint="its id", required=True),), dict)


VIDEO = FormSchema((Field("video_id", "Video", hint="its id", required=True),), dict)


TARGET = FormSchema(
    (
        Field("file", "File", hint="where it goes", required=True),
        Field("replace", "Replace", Kind.FLAG, hint="a file that is there"),
    ),
    dict,
)

"""Where a download goes."""


def track_entries(one: Subtitle) -> FieldValues:
    """A track as its form shows it."""
    return {"language": one.language or "", "description": one.description or ""}


def note_entries(one: Annotation) -> FieldValues:
    """An annotation as its form shows it."""
    return {
        "title": one.title or "",
        "start_time": "" if one.start_time is None else str(one.start_time),
        "end_time": "" if one.end_time is None else str(one.end_time),
        "link": one.link or "",
        "annotation_poster_id": one.annotation_poster_id or "",
    }


def path_of(text: object) -> Path:
    """A path as somebody typed it, with `~` for their home."""
    typed = Path(str(text).strip())
    try:
        return typed.expanduser()
    except RuntimeError:  # there is no such home: the file will not be found, and that is said
        return typed

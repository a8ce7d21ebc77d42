"""Forms of the Chat screen: message filter and export file. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, tzinfo
from pathlib import Path
from typing import cast
from zoneinfo import ZoneInfo

from livedeck.client import CHAT_FORMATS, ChatExport, ChatFormat, MessageFilter
from livedeck.operations.schema import Field, FieldKind, FieldValues, FormSchema
from livedeck.record import Record
from livedeck.text.times import PAST_EXAMPLES

FORMATS = tuple(CHAT_FORMATS)


def message_filter(values: Mapping[str, object]) -> MessageFilter:
    """Return the filter that the form describes. Raises ValueError if it can match no message."""
    since, until = (cast("datetime | None", values.get(name)) for name in ("since", "until"))
    if since and until and since >= until:
        raise ValueError("From must be before Until")
    users = tuple(name.strip() for name in str(values.get("users") or "").split(",") if name.strip())
    return MessageFilter(since, until, users, bool(values.get("admins")), str(values.get("search") or "").strip())


FILTER_FORM = FormSchema(
    (
        Field("search", "Text", hint="ignores case"),
        Field("users", "Written by", hint="user names or external ids, separated by commas"),
        Field("admins", "Administrators only", FieldKind.FLAG),
        Field("since", "From", FieldKind.DATETIME, hint=PAST_EXAMPLES, nullable=True),
        Field("until", "Until", FieldKind.DATETIME, hint=PAST_EXAMPLES, nullable=True),
    ),
    message_filter,
)

EMPTY_FILTER: FieldValues = {"search": "", "users": "", "admins": False, "since": "", "until": ""}


class ExportOptions(Record):
    """Options of an export. `file`: typed path with the suffix of the format. `zone`: None if the field is empty."""

    format: ChatFormat
    file: Path
    zone: tzinfo | None
    safe_csv: bool


def export_options(values: Mapping[str, object]) -> ExportOptions:
    """Return the options that the form describes.

    Raises ValueError or Invalid if options exclude each other.
    """
    chat_format = cast("ChatFormat", values.get("format", "csv"))
    safe_csv, zone = bool(values.get("safe_csv")), str(values.get("zone") or "").strip()
    ChatExport("", "", chat_format, safe_csv=safe_csv)
    return ExportOptions(chat_format, _file(str(values.get("file") or "chat"), chat_format), _zone(zone), safe_csv)


def _file(text: str, chat_format: ChatFormat) -> Path:
    try:
        path = Path(text.strip()).expanduser()
    except RuntimeError:
        raise ValueError("names a user that this machine does not have") from None
    if "\0" in text or not path.name:
        raise ValueError("needs a file name")
    return path if path.suffix.lower() == f".{chat_format}" else path.with_name(f"{path.name}.{chat_format}")


def _zone(name: str) -> tzinfo | None:
    try:
        return ZoneInfo(name) if name else None
    except (KeyError, ValueError, OSError):
        raise ValueError("is not a time zone; try Europe/Berlin or UTC") from None


EXPORT_FORM = FormSchema(
    (
        Field("format", "Format", FieldKind.CHOICE, choices=FORMATS, hint="json, csv, txt: as the platform sends them"),
        Field("file", "File", required=True, hint="the suffix of the format is added", is_long=True),
        Field("zone", "Times in zone", hint="Europe/Berlin; empty: unchanged"),
        Field(
            "safe_csv", "Safe CSV", FieldKind.FLAG, hint="put ' before cells that a spreadsheet would run as formulas"
        ),
    ),
    export_options,
)

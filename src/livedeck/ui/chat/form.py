"""The forms of the Chat screen: which messages, and which file. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, tzinfo
from pathlib import Path
from typing import cast, get_args
from zoneinfo import ZoneInfo

from livedeck.client import ChatExport, ChatFormat, MessageFilter
from livedeck.operations.schema import Field, FieldKind, FieldValues, FormSchema

FORMATS: tuple[ChatFormat, ...] = get_args(ChatFormat)


PAST = "21:00, 20 min ago, yesterday 9:00, 2026-11-20 21:00Z"


def sieve_of(values: Mapping[str, object]) -> MessageFilter:
    """Which messages the filter lets through. Raises ValueError for what lets none through ever."""
    since, until = (cast("datetime | None", values.get(name)) for name in ("since", "until"))
    if since and until and since >= until:
        raise ValueError("From should be before Until")
    users = tuple(name.strip() for name in str(values.get("users") or "").split(",") if name.strip())
    return MessageFilter(since, until, users, bool(values.get("admins")), str(values.get("search") or "").strip())


FILTER = FormSchema(
    (
        Field("search", "Text", hint="in any case"),
        Field("users", "Written by", hint="user names or external ids, with commas"),
        Field("admins", "Administrators only", FieldKind.FLAG),
        Field("since", "From", FieldKind.DATETIME, hint=PAST, nullable=True),
        Field("until", "Until", FieldKind.DATETIME, hint=PAST, nullable=True),
    ),
    sieve_of,
)


NO_FILTER: FieldValues = {"search": "", "users": "", "admins": False, "since": "", "until": ""}


@dataclass(frozen=True, slots=True)
class Order:
    """How a chat is to be written, and to which file: as it was typed, with the ending of its format."""

    format: ChatFormat
    file: Path
    zone: tzinfo | None
    safe_csv: bool


def order_of(values: Mapping[str, object]) -> Order:
    """What the form means. Raises ValueError and Invalid for what does not go together."""
    form = cast("ChatFormat", values.get("format", "csv"))
    safe, zone = bool(values.get("safe_csv")), str(values.get("zone") or "").strip()
    ChatExport("", "", form, safe_csv=safe)
    return Order(form, _file(str(values.get("file") or "chat"), form), _zone(zone), safe)


def _file(text: str, form: ChatFormat) -> Path:
    try:
        path = Path(text.strip()).expanduser()
    except RuntimeError:
        raise ValueError("names a user whom this machine does not know") from None
    if "\0" in text or not path.name:
        raise ValueError("should name a file")
    return path if path.suffix.lower() == f".{form}" else path.with_name(f"{path.name}.{form}")


def _zone(name: str) -> tzinfo | None:
    try:
        return ZoneInfo(name) if name else None
    except (KeyError, ValueError, OSError):
        raise ValueError("is no time zone; type one like Europe/Berlin or UTC") from None


ORDER = FormSchema(
    (
        Field("format", "Format", FieldKind.CHOICE, choices=FORMATS, hint="json, csv, txt: the platform's own bytes"),
        Field("file", "File", required=True, hint="the ending of the format is added"),
        Field("zone", "Times in zone", hint="Europe/Berlin; empty: as they came"),
        Field("safe_csv", "Safe CSV", FieldKind.FLAG, hint="a ' before cells that a spreadsheet would compute"),
    ),
    order_of,
)

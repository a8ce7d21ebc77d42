"""Which messages of a chat log are wanted. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Any

from livedeck.client.resources.fields import parse_time

ChatMessageDict = Mapping[str, Any]

"""A message as the log has it: the field names of platform-api.md, "Chat message", and what else stands there."""


@dataclass(frozen=True, slots=True)
class MessageFilter:
    """What a message must be to be wanted; what is not set lets all through.

    `since`, `until`: aware; written from the first and before the second. `users`: written by one of these, by user
    name in any case or by external id. `admins`: by an administrator. `search`: holds this text, in any case.
    """

    since: datetime | None = None
    until: datetime | None = None
    users: tuple[str, ...] = ()
    admins: bool = False
    search: str = ""

    def __bool__(self) -> bool:
        """Whether it holds anything back."""
        return bool(self.timed or self.users or self.admins or self.search)

    @property
    def timed(self) -> bool:
        """Whether it holds a message back for its time; one without a readable time is held back then."""
        return bool(self.since or self.until)

    def sift(self, items: list[ChatMessageDict]) -> list[ChatMessageDict]:
        """Those that are wanted."""
        for test in self._tests():
            items = [item for item in items if test(item)]
        return _holding(items, self.search.casefold()) if self.search else items

    def _tests(self) -> Iterable[Callable[[ChatMessageDict], bool]]:
        if self.timed:
            yield self._in_time
        if self.users:
            names, ids = {name.casefold() for name in self.users}, set(self.users)
            yield lambda item: text(item.get("username")).casefold() in names or text(item.get("external_id")) in ids
        if self.admins:
            yield lambda item: text(item.get("is_admin")).lower() == "true"

    def _in_time(self, item: ChatMessageDict) -> bool:
        moment = written_at(item)
        if moment is None or (self.since and moment < self.since):
            return False
        return self.until is None or moment < self.until


NO_FILTER = MessageFilter()

"""Holds nothing back."""


def _holding(items: list[ChatMessageDict], sought: str) -> list[ChatMessageDict]:
    try:
        return [item for item in items if sought in item["message"].casefold()]
    except (KeyError, AttributeError):  # a message is missing, or no text
        return [item for item in items if sought in text(item.get("message")).casefold()]


def written_at(item: ChatMessageDict) -> datetime | None:
    """When it was written; None where that cannot be read."""
    try:
        return parse_time(item["created_at"])
    except (KeyError, TypeError, ValueError):
        return None


def in_zone(item: ChatMessageDict, zone: tzinfo) -> ChatMessageDict:
    """The message with `created_at` as a clock of that zone showed it, with its offset; as it came where none did."""
    moment = written_at(item)
    if moment is None:
        return item
    try:
        return {**item, "created_at": moment.astimezone(zone).isoformat(timespec="microseconds")}
    except OverflowError:  # year 1 or 9999, which some platforms write for none
        return item


def text(value: object) -> str:
    """A field as text: empty for null, `true` for true (platform-api.md has it as a string)."""
    if isinstance(value, str):
        return value
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)

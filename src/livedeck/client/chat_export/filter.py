"""Filters for the messages of a chat log. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, tzinfo
from typing import Any

from livedeck.record import Record
from livedeck.text.times import parse_timestamp

ChatMessageDict = Mapping[str, Any]
"""Message as logged: the fields of platform-api.md, "Chat message", and any others."""


class MessageFilter(Record):
    """Conditions for a message; an unset condition matches every message.

    `since`, `until`: written at or after the first, and before the second (aware times). `users`: written by one of
    these user names (ignoring case) or external ids. `admins`: written by an administrator. `search`: contains this
    text, ignoring case.
    """

    since: datetime | None = None
    until: datetime | None = None
    users: tuple[str, ...] = ()
    admins: bool = False
    search: str = ""

    def __bool__(self) -> bool:
        """Return whether any condition is set."""
        return bool(self.has_times or self.users or self.admins or self.search)

    @property
    def has_times(self) -> bool:
        """True if a time condition is set. A message without a readable time does not match then."""
        return bool(self.since or self.until)

    def filter(self, messages: list[ChatMessageDict]) -> list[ChatMessageDict]:
        for matches in self._tests():
            messages = [message for message in messages if matches(message)]
        return _search(messages, self.search.casefold()) if self.search else messages

    def _tests(self) -> Iterable[Callable[[ChatMessageDict], bool]]:
        if self.has_times:
            yield self._in_time
        if self.users:
            names, ids = {name.casefold() for name in self.users}, set(self.users)
            yield (
                lambda message: (
                    text(message.get("username")).casefold() in names or text(message.get("external_id")) in ids
                )
            )
        if self.admins:
            yield lambda message: text(message.get("is_admin")).lower() == "true"

    def _in_time(self, message: ChatMessageDict) -> bool:
        time = written_at(message)
        if time is None or (self.since and time < self.since):
            return False
        return self.until is None or time < self.until


NO_FILTER = MessageFilter()
"""Filter that every message matches."""


def _search(messages: list[ChatMessageDict], folded: str) -> list[ChatMessageDict]:
    try:
        return [message for message in messages if folded in message["message"].casefold()]
    except (KeyError, AttributeError):  # a message is missing, or not text
        return [message for message in messages if folded in text(message.get("message")).casefold()]


def written_at(message: ChatMessageDict) -> datetime | None:
    """Return the time of the message; None if unreadable."""
    try:
        return parse_timestamp(message["created_at"])
    except (KeyError, TypeError, ValueError):
        return None


def in_zone(message: ChatMessageDict, zone: tzinfo) -> ChatMessageDict:
    """Return the message with `created_at` in a zone, with its offset; unchanged without a readable time."""
    time = written_at(message)
    if time is None:
        return message
    try:
        return {**message, "created_at": time.astimezone(zone).isoformat(timespec="microseconds")}
    except OverflowError:  # year 1 or 9999, which some platforms use for a missing time
        return message


def text(value: object) -> str:
    """Return a field as text: empty for null, `true` or `false` for a boolean."""
    if isinstance(value, str):
        return value
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)

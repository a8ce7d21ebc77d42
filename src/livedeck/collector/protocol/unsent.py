"""Unsent notifications as JSON (collector.md, "Routes"). Pure."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel

from livedeck.notify import Spooled
from livedeck.text.secrets import masked_line


class Unsent(BaseModel, frozen=True):
    """Notification that waits or was given up.

    `route`, `target`: names in the settings, never an address. `state`: `waiting` or `dead` (given up). `answer`: last
    reply of the receiver.
    """

    at: datetime
    route: str
    target: str
    title: str
    state: str
    tries: int
    answer: str

    @classmethod
    def of(cls, spooled: Spooled) -> Unsent:
        """Return a message of the spool, without its text and with secrets masked."""
        message = spooled.message
        return cls(
            at=message.at,
            route=message.route,
            target=message.target,
            title=masked_line(message.title, 120),
            state=spooled.state,
            tries=spooled.tries,
            answer=masked_line(spooled.answer, 300),
        )

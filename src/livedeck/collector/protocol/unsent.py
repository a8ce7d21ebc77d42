"""Unsent notifications and dead letters as JSON (collector.md, "Routes"). Pure."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel, Field

from livedeck.collector.protocol.commands import Body
from livedeck.notify import Spooled
from livedeck.text.secrets import masked, masked_line


class Unsent(BaseModel, frozen=True):
    """Notification that waits to be sent, or a dead letter.

    `id`: the same id for every try; empty from an older collector. `route`, `target`: names from the settings, never an
    address. `state`: `waiting` or `dead`. `answer`: last reply of the receiver.
    """

    id: str = ""
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
            id=message.key,
            at=message.at,
            route=message.route,
            target=message.target,
            title=masked_line(message.title, 120),
            state=spooled.state,
            tries=spooled.tries,
            answer=masked_line(spooled.answer, 300),
        )


class Letter(Unsent, frozen=True):
    """Unsent notification with its contents. `payload`: JSON of the webhook."""

    text: str
    payload: str

    @classmethod
    def of(cls, spooled: Spooled) -> Letter:
        """Return the message of the spool, with secrets masked."""
        values = Unsent.of(spooled).model_dump()
        return cls(**values, text=masked(spooled.message.text), payload=masked(spooled.message.payload))


class Letters(Body):
    """Ids of the dead letters to change; empty for all."""

    ids: tuple[str, ...] = Field(default=(), strict=False)

"""Signed links to the calendar, and signed links that acknowledge one alarm once. Pure.

See collector.md, "Links" and "Calendar". A link to an alarm goes into a message to a pager or a chat. Anybody who has
the link may use it. It holds the alarm as it was, the link's expiry, and the sender of the message. The id of the link
becomes the id of the action, so the history shows the use.
"""

from __future__ import annotations

import hmac
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as Base64Error
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from secrets import token_bytes, token_hex
from urllib.parse import quote

from livedeck.monitor import BY_LINK, Alarm, AlarmKey, Severity, Shown
from livedeck.record import Record
from livedeck.text.secrets import masked_line

LINK_LASTS = timedelta(hours=1)
"""Usual validity of a link."""

LINK_LASTS_MOST = timedelta(hours=24)
"""Maximum validity of a link."""

KEY_BYTES = 32

CALENDAR_FOLDER = "/v1/calendar/"
"""Beginning of the path of the calendar."""

MAX_SENDER, _MAX_TICKET = 60, 2000
"""Maximum number of characters of the name of a sender, and of a ticket."""

_VERSION = 1
_MICROSECOND = timedelta(microseconds=1)
_EPOCH = datetime.fromtimestamp(0, UTC)


class LinkRefused(Exception):  # noqa: N818  a refusal, no error
    """A link cannot be made or used; the text says why and what to do."""


class Ticket(Record):
    """Part of a link after its last slash. Times are by this machine's clock, not by the monitor's.

    `shown`: the alarm when the link was made. `until`: expiry of the link. `sender`: name of the route or person that
    sent the link. `uid`: id of the acknowledgement.
    """

    key: AlarmKey
    shown: Shown
    until: datetime
    sender: str
    uid: str

    @property
    def actor(self) -> str:
        """Author of the acknowledgement."""
        return f"{BY_LINK}{self.sender}"


class Links:
    """Makes and reads links. `secret`: key of the signature. `address`: address of the collector as readers reach it.

    `now`: returns the time of this machine's clock, which may be set back or forward.
    """

    def __init__(self, secret: bytes, address: str, now: Callable[[], datetime]) -> None:
        self._secret, self._address, self._now = secret, address.rstrip("/"), now

    def link(self, alarm: Alarm, sender: str, lasts: timedelta = LINK_LASTS) -> str:
        """Return a new link that acknowledges an alarm. Its times are by this machine's clock.

        `sender`: name of the route or person that sends it. `lasts`: `LINK_LASTS_MOST` at most. Raises LinkRefused if
        the ids of the alarm are too long.
        """
        until = self._now() + min(lasts, LINK_LASTS_MOST)
        name = masked_line(sender, MAX_SENDER) or "nobody named"
        text = self.write(Ticket(alarm.key, alarm.shown, until, name, token_hex(16)))
        if len(text) > _MAX_TICKET:
            raise LinkRefused("The ids of this alarm are too long for a link. Open the deck instead.")
        return f"{self._address}/v1/link/{text}"

    def calendar_link(self, name: str, digest: str) -> str:
        """Return the address of the calendar for the holder of a token. `digest`: SHA-256 of the token."""
        return f"{self._address}{CALENDAR_FOLDER}{quote(name, safe='')}/{self.calendar_signature(name, digest)}.ics"

    def calendar_signature(self, name: str, digest: str) -> str:
        """Return the signature in the address of the calendar. It changes with the token."""
        return hmac.new(self._secret, f"livedeck calendar\n{name}\n{digest}".encode(), sha256).hexdigest()

    def write(self, ticket: Ticket) -> str:
        """Return a ticket with its signature."""
        since, severity, stage = ticket.shown
        values = [
            _VERSION,
            *ticket.key,
            (since - _EPOCH) // _MICROSECOND,
            severity.value,
            stage,
            (ticket.until - _EPOCH) // _MICROSECOND,
            ticket.sender,
            ticket.uid,
        ]
        body = json.dumps(values, separators=(",", ":")).encode()
        return f"{_text(body)}.{_text(self._sign(body))}"

    def read(self, text: str) -> Ticket:
        """Return the ticket of a link. Raises LinkRefused if it was not signed here, or has expired."""
        body_text, _, signature = text[:_MAX_TICKET].partition(".")
        try:
            body, signed = _bytes(body_text), _bytes(signature)
        except (ValueError, Base64Error):
            raise LinkRefused(_UNKNOWN) from None
        if not hmac.compare_digest(self._sign(body), signed):
            raise LinkRefused(_UNKNOWN)
        version, event_id, kind, target, since, severity, stage, until, sender, uid = json.loads(body)
        if version != _VERSION:
            raise LinkRefused(_UNKNOWN)
        shown = Shown(_EPOCH + since * _MICROSECOND, Severity(severity), stage)
        ticket = Ticket(AlarmKey(event_id, kind, target), shown, _EPOCH + until * _MICROSECOND, sender, uid)
        if ticket.until <= self._now():
            raise LinkRefused(f"This link expired at {ticket.until:%Y-%m-%d %H:%M:%S}Z. Open the deck instead.")
        return ticket

    def _sign(self, body: bytes) -> bytes:
        return hmac.new(self._secret, b"livedeck link\n" + body, sha256).digest()


_UNKNOWN = "This link is not valid here. Copy all of it, or open the deck instead."


def new_secret() -> bytes:
    """Return a new key for signatures."""
    return token_bytes(KEY_BYTES)


def _text(content: bytes) -> str:
    return urlsafe_b64encode(content).decode().rstrip("=")


def _bytes(text: str) -> bytes:
    if not text.isascii():
        raise ValueError("not ASCII")
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))

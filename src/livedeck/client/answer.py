"""A whole answer, made into the JSON that it brings or the error that it is. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from livedeck import wording
from livedeck.client.decoding import decode, decode_long
from livedeck.client.errors import Rejected, Unreadable
from livedeck.client.refusals import refusal, retry_after
from livedeck.client.secret import Secret
from livedeck.slices import Slices


@dataclass(frozen=True, slots=True, repr=False)
class Answer:
    """What came for a call, complete. `headers` find a name in any case."""

    what: str
    status: int
    headers: Mapping[str, str]
    body: bytes

    def accepted(self, now: datetime, secrets: Sequence[Secret]) -> Slices[object]:
        """The JSON that it brings, None where it is empty. Raises Rejected where it says no, Unreadable for no JSON."""
        if not 200 <= self.status < 300:
            raise self._refused(self._error(), now, secrets)
        decoded = yield from self._decoded()
        if isinstance(decoded, dict) and "data" not in decoded and decoded.get("error") not in (None, False):
            raise self._refused(decoded, now, secrets)
        return decoded

    def _refused(self, decoded: object, now: datetime, secrets: Sequence[Secret]) -> Rejected:
        return refusal(
            self.what,
            status=self.status,
            body=decoded,
            location=self.headers.get("Location", ""),
            retry_after=retry_after(self.headers, now),
            secrets=secrets,
        )

    def _decoded(self) -> Slices[object]:
        if not self.body.strip():
            return None
        try:
            return (yield from decode_long(self.body))
        except ValueError:  # raised below, outside, so that no traceback quotes the body
            sent = wording.safe(self.headers.get("Content-Type", "of no stated type").partition(";")[0], 60)
        raise Unreadable(f"{self.what}: the answer ({sent}) is no JSON; check the address")

    def _error(self) -> object:
        try:
            return decode(self.body)
        except ValueError:  # a proxy's page: the status has to do
            return None

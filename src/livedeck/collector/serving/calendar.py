"""Calendar of planned events for calendar programs (collector.md, "Calendar").

Such a program cannot send a token, so the address of the calendar is signed for the holder of a token.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from hmac import compare_digest
from math import inf

from starlette.requests import Request
from starlette.responses import Response

from livedeck.collector.links import Links
from livedeck.collector.serving.access import Access
from livedeck.collector.serving.endpoints import Endpoint, Refusal, check_right, private, refused
from livedeck.monitor import History, Monitor, NotReadError, Snapshot
from livedeck.presentation.calendar import (
    CALENDAR_DAYS,
    CONTENT_TYPE,
    PACKAGE_NEEDED,
    calendar_text,
    entries_of_gone,
    entry_of,
)
from livedeck.presentation.render_time import RenderTime
from livedeck.text.secrets import masked_line

CALENDAR_SECONDS = 30.0
"""Seconds that the text of the calendar is reused."""

_UNINDEXED = {"Referrer-Policy": "no-referrer", "X-Robots-Tag": "noindex"}
"""Headers that keep the signed address out of other sites and of search engines."""


class CalendarPage:
    """Route of the calendar.

    `published`: returns the newest snapshot, or raises Refusal. `links`: None if this collector makes no links.
    """

    def __init__(
        self,
        published: Callable[[], Snapshot],
        monitor: Monitor,
        history: History | None,
        access: Access,
        links: Links | None,
    ) -> None:
        self._published, self._monitor, self._history, self._access = published, monitor, history, access
        self._links, self._text, self._making = links, (-inf, b""), asyncio.Lock()

    async def read_calendar(self, request: Request) -> Response:
        """Respond with the calendar, or with 304 if the reader has it."""
        try:
            self._check(request)
            content = await self._content()
        except Refusal as refusal:
            return refused(refusal)
        except ImportError:
            return refused(Refusal(503, "no calendar", PACKAGE_NEEDED))
        return private(request, content, CONTENT_TYPE, _UNINDEXED)

    def _check(self, request: Request) -> None:
        """Raise Refusal unless the address was signed for a valid token with the right `read`."""
        links, name, signature = self._links, request.path_params["name"], request.path_params["signature"]
        if links is None:
            raise Refusal(503, "no calendar", "This collector has no calendar: set link_url of [collector]")

        def is_signed(digest: str) -> bool:
            return compare_digest(links.calendar_signature(name, digest).encode(), signature.encode())

        check_right(self._access.identify_signed(request, name, is_signed), "read")

    async def _content(self) -> bytes:
        async with self._making:
            clock, snapshot = self._monitor.clock, self._published()
            if clock.monotonic() - self._text[0] >= CALENDAR_SECONDS:
                now = clock.now()
                since = now - CALENDAR_DAYS
                history = self._history
                try:
                    records = await history.whole(history.events(since)) if history else ()
                except NotReadError as error:  # a calendar without its cancelled events would keep them as planned
                    raise Refusal(503, "history not read", masked_line(str(error), 300)) from None
                entries = [entry for state in snapshot.events if (entry := entry_of(state.event, state.phase))]
                entries += entries_of_gone(records, {state.id for state in snapshot.events})
                server = RenderTime.from_snapshot(snapshot, now).server
                text = await asyncio.to_thread(calendar_text, entries, server)
                self._text = clock.monotonic(), text.encode()
            return self._text[1]


CALENDAR: tuple[Endpoint[CalendarPage], ...] = (
    Endpoint(
        "GET",
        "/v1/calendar/{name}/{signature}.ics",
        "",
        CalendarPage.read_calendar,
        media="text/calendar",
        refuses=(304, 401, 403, 429, 503),
    ),
)

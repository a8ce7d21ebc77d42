"""Push of the metrics to an OTLP receiver (scripting.md, "OpenTelemetry").

A lost push needs no retry: counters are cumulative, so the next push has everything.
"""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Callable, Mapping
from typing import TypeAlias

from livedeck.monitor import Clock
from livedeck.notify import Post
from livedeck.notify.targets import is_success, words_of
from livedeck.presentation.otlp import CONTENT_TYPE, rejection
from livedeck.text.secrets import masked_line

Encoder: TypeAlias = Callable[[], Callable[[], bytes] | None]
"""Function that returns an encoder of the current metrics, which a thread may call; None before the first snapshot."""


class MetricsPush:
    """Sender of the metrics to one receiver.

    `post`: sends a request. `headers`: headers of authentication. `encoder`: see `Encoder`. `interval`: seconds
    between two pushes. `report`: takes a line when pushes begin to fail or work again.
    """

    def __init__(
        self,
        post: Post,
        endpoint: str,
        headers: Mapping[str, str],
        encoder: Encoder,
        clock: Clock,
        *,
        interval: float,
        report: Callable[[str], object],
    ) -> None:
        self._post, self._endpoint, self._encoder, self._clock = post, endpoint, encoder, clock
        self._headers = {**headers, "Content-Type": CONTENT_TYPE, "Content-Encoding": "gzip"}
        self._interval, self._report, self._is_failing = interval, report, False

    async def run(self) -> None:
        """Push at each interval, or later if the receiver asks for it, until cancelled."""
        while True:
            await self._clock.sleep(max(self._interval, await self._push()))

    async def _push(self) -> float:
        """Push the metrics once. Returns the pause that the receiver asks for (s), or 0."""
        encode = self._encoder()
        if encode is None:
            return 0.0
        body = await asyncio.to_thread(lambda: gzip.compress(encode(), mtime=0))
        reply = await self._post("POST", self._endpoint, self._headers, body)
        why = rejection(reply.body) if is_success(reply.status) else masked_line(words_of(reply), 300)
        if bool(why) is not self._is_failing:
            self._is_failing = bool(why)
            self._report(f"OTLP: {why}" if why else "OTLP: metrics are pushed again")
        return reply.retry_after or 0.0

"""Collector written from its documentation alone: its state is literal JSON, and it speaks on raw sockets."""

from __future__ import annotations

import asyncio
import copy
import json
from collections.abc import AsyncGenerator, Callable
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from collector.stand_in import PATIENCE, Asked, plain
from livedeck.monitor import Snapshot

STARTED = datetime(2026, 3, 1, 12, tzinfo=UTC)


class LoopClock:
    """Time of the running event loop. `ahead`: seconds that its wall clock is ahead of the collector's."""

    def __init__(self, ahead: float = 0.0, began: float | None = None) -> None:
        self.ahead = ahead
        self.began = asyncio.get_running_loop().time() if began is None else began

    def now(self) -> datetime:
        """Aware, UTC."""
        return STARTED + timedelta(seconds=self.monotonic() + self.ahead)

    def monotonic(self) -> float:
        """Seconds since it was made."""
        return asyncio.get_running_loop().time() - self.began

    async def sleep(self, seconds: float) -> None:
        """Return after that many seconds."""
        await asyncio.sleep(seconds)


def text_of(at: datetime) -> str:
    """Return a time as on the wire."""
    return f"{at:%Y-%m-%dT%H:%M:%S.%f}Z"


ALARM = {
    "event_id": "e1",
    "kind": "NO_INGEST",
    "severity": "critical",
    "since": text_of(STARTED),
    "subject": "Größe 試合",
    "actual": "nothing",
    "expected": "a signal",
    "changed": text_of(STARTED),
}

KEY = "e1\x1fNO_INGEST\x1f"

VALUES: dict[str, Any] = {
    "version": 1,
    "unheard_of": {"what": "a newer collector says"},
    "head": {
        "seq": 5,
        "at": text_of(STARTED),
        "link": {"state": "ok", "since": text_of(STARTED), "as_of": text_of(STARTED), "interval": 3000.0, "mood": 1},
        "flood": False,
        "unreadable": 0,
        "ended": [],
        "changes": [],
        "answers": [],
        "rule_changes": [],
        "bells": [],
    },
    "lists": {},
    "alarms": {},
    "events": {
        "e1": {
            "event": {"id": "e1", "name": "Größe 試合", "stream": {"id": "s1", "event_id": "e1", "status": "started"}},
            "as_of": text_of(STARTED),
            "phase": {"tally": "ON AIR", "reference_time": text_of(STARTED)},
            "qos": {"as_of": text_of(STARTED), "freshness": "fresh"},
            "assessment": {"health": {"score": 97, "grade": "GOOD"}},
        }
    },
    "order": {"events": ["e1"], "alarms": [], "quiet": []},
}

SAMPLES: dict[str, Any] = {
    "stream": "s1",
    "after": None,
    "t0": 1772366300000,
    "dt": [2000],
    "v": [4e6, None],
    "a": [128000, 0],
    "f": [25, None],
    "s": [0, None],
}


EXPLAINED: dict[str, Any] = {
    "event_id": "e1",
    "name": "Größe 試合",
    "at": text_of(STARTED + timedelta(seconds=200)),
    "tally": "ON AIR",
    "since": text_of(STARTED),
    "profile": "show",
    "template": "",
    "signal": {"video": 4e6},
    "delivery": {"age": 200.0},
    "watched_since": None,
    "watched_until": None,
    "gaps": [],
    "forecasts": [],
    "open": [],
    "silent": [{"key": ["e1", "", ""], "why": "not judged: the platform answers 503"}],
    "decides": [],
    "known_until": text_of(STARTED + timedelta(seconds=7)),
    "blame": {"cause": "platform", "text": "the network works", "short": "the platform answers 503"},
}


class ThirdParty:
    """State of the collector, and the way in which it sends it.

    `clock`: its own. `mishaps`: faults of the next streams, by name (`gap`: changes of alarms are omitted). `is_stuck`:
    it publishes nothing new by itself. `commands`: last part of a path -> reply to a change. `listed`: values of the
    listing that differ.
    """

    def __init__(self, clock: LoopClock, boot: str = "theirs", seed: int = 1) -> None:
        self.clock, self.boot, self.random = clock, boot, Random(seed)
        self.seq, self.values = 1, copy.deepcopy(VALUES)
        self.samples: dict[str, Any] = {"e1": SAMPLES}
        self.ring: dict[int, dict[str, Any]] = {}
        self.mishaps: list[str] = []
        self.commands: dict[str, bytes] = {}
        self.listed: dict[str, Any] = {}
        self.unsent: list[dict[str, Any]] = []
        self.metrics = ["# TYPE livedeck_platform_link_up gauge", "livedeck_platform_link_up 1"]
        self.schema: int = 1
        self.is_stuck = False
        self.speaks = asyncio.Event()
        self.speaks.set()
        self._changed = asyncio.Event()

    def tell(self, **head: Any) -> None:
        """Publish a snapshot with another head."""
        self._publish({"in": {"head": {"set": {"at": text_of(self.clock.now()), **head}}}})
        self.values["head"] |= head

    def raise_alarm(self, *, rings: bool = True, at: datetime | None = None) -> None:
        """Begin the alarm."""
        at = at or self.clock.now()
        alarm = ALARM | {"since": text_of(at), "changed": text_of(at)}
        head = {
            "at": text_of(at),
            "changes": [{"at": text_of(at), "transition": "raised", "alarm": alarm}],
            "bells": [["e1", "NO_INGEST", ""]] if rings else [],
        }
        inner = {"head": {"set": head}, "alarms": {"set": {KEY: alarm}}, "order": {"set": {"alarms": [KEY]}}}
        self._publish({"in": inner})
        self.values["head"] |= head
        self.values["alarms"] = {KEY: alarm}
        self.values["order"]["alarms"] = [KEY]

    def be_blind(self) -> None:
        """Make the platform silent; the alarms of its event and of the collector remain."""
        blind = ALARM | {"event_id": "", "kind": "API_BLIND", "subject": "platform"}
        self.values["alarms"] = {KEY: ALARM, "\x1fAPI_BLIND\x1f": blind}
        self.values["order"]["alarms"] = [*self.values["alarms"]]
        blame = {"cause": "platform", "text": "the network works: the platform answers 503"}
        self.values["head"]["link"] |= {"state": "blind", "blame": blame}

    def _publish(self, change: dict[str, Any]) -> None:
        self.seq += 1
        self.ring[self.seq] = {"values": change, "samples": {}, "later": "a name that nobody knows"}
        self._changed.set()
        self._changed = asyncio.Event()

    async def answer(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        """Reply to one request."""
        path = asked.target.partition("?")[0]
        if asked.method != "GET":
            writer.write(self.commands.get(path.rpartition("/")[2], plain("200 OK", b'{"changed":true}')))
        elif path == "/v1/snapshot":
            writer.write(plain("200 OK", json.dumps(self.listing()).encode(), "Content-Type: application/json"))
        elif path == "/v1/changes":
            await self._stream(asked.headers.get("last-event-id", ""), writer)
        elif path == "/metrics":
            kind = "Content-Type: text/plain; version=0.0.4; charset=utf-8"
            writer.write(plain("200 OK", "\n".join(self.metrics).encode() + b"\n", kind))
        elif path == "/v1/notifications":
            writer.write(plain("200 OK", json.dumps({"messages": self.unsent}).encode()))
        elif path == "/v1/events/e1/explain":
            writer.write(plain("200 OK", json.dumps(EXPLAINED).encode(), "Content-Type: application/json"))
        elif path.endswith("/samples"):
            hour = SAMPLES | {"t0": 1772366296000, "dt": [2000, 2000, 2000]}
            hour |= {name: [1, 2, *SAMPLES[name]] for name in "vafs"}
            writer.write(plain("200 OK", json.dumps(hour).encode(), "Content-Type: application/json"))
        else:
            writer.write(plain("404 Not Found", b'{"error":"unknown","say":"no such path"}'))

    def listing(self) -> dict[str, Any]:
        """Return its present state."""
        now = round(self.clock.now().timestamp() * 1000)
        return {
            "schema": self.schema,
            "id": f"{self.boot}-{self.seq}",
            "now": now,
            "values": self.values,
            "samples": self.samples,
            **self.listed,
        }

    async def _stream(self, after: str, writer: asyncio.StreamWriter) -> None:
        boot, _, place = after.rpartition("-")
        seq = int(place or 0)
        is_known = boot == self.boot and (seq == self.seq or seq + 1 in self.ring) and seq <= self.seq
        if not is_known:
            writer.write(plain("410 Gone", b'{"error":"gone","say":"that is too long ago"}'))
            return
        mishap = self.mishaps.pop(0) if self.mishaps else ""
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n\r\n")
        if mishap == "page":
            writer.write(b"<html>")
            return
        end = self.random.choice(["\n", "\r\n", "\r"])
        while True:
            changed = self._changed
            await self._write(writer, f": {self.boot}-{seq} {round(self.clock.now().timestamp() * 1000)}{end}{end}")
            while seq < self.seq:
                seq += 1
                if mishap == "gap" and "alarms" in self.ring[seq]["values"]["in"]:
                    continue
                if mishap == "gone":
                    await self._write(writer, f"event: gone{end}data: {{}}{end}{end}")
                    return
                data = json.dumps(self.ring[seq], ensure_ascii=self.random.random() < 0.5)
                frame = f"retry: 5{end}id: {self.boot}-{seq}{end}data: {data}{end}{end}"
                if mishap == "half":
                    await self._write(writer, frame[: len(frame) // 2])
                    return
                await self._write(writer, frame)
            try:
                async with asyncio.timeout(5):
                    await changed.wait()
            except TimeoutError:
                if not self.is_stuck:
                    self.tell(changes=[], bells=[])

    async def _write(self, writer: asyncio.StreamWriter, text: str) -> None:
        """Write the text in pieces that are cut anywhere, also within a letter."""
        content = text.encode()
        await self.speaks.wait()
        while content:
            size = self.random.randint(1, len(content))
            writer.write(content[:size])
            content = content[size:]
            if self.random.random() < 0.2:
                await writer.drain()
                await asyncio.sleep(0)
        await writer.drain()


async def look(snapshots: AsyncGenerator[Snapshot, None], is_so: Callable[[Snapshot], bool]) -> list[Snapshot]:
    """Return every snapshot up to the first that meets a condition."""
    seen = []
    async with asyncio.timeout(PATIENCE):
        async for snapshot in snapshots:
            seen.append(snapshot)
            if is_so(snapshot):
                return seen
    raise AssertionError("it ended")

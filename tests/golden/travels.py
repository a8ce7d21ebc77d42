"""Recorded show with its published snapshots at random moments, noted without code of the history."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import aclosing, closing
from dataclasses import fields, is_dataclass
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from golden.player import START, Clock, Following, _api
from golden.warp import Warp
from livedeck.client import Model
from livedeck.monitor import ROOM_LIST, History, Monitor, Readings, Snapshot
from livedeck.simulator import Simulator

STAYS_BEHIND = {
    "Event": {"streamkey", "rtmp_link", "play_link", "audio", "moderators"},
    "EventRestream": {"url", "key"},
    "Poster": {"original", "md", "sm", "xs"},
    "Room": {"link", "code"},
    "RelayProfile": {"url", "stream_key"},
    "Snapshot": {"withheld"},  # it stands for what stays behind (test_preflight)
}
"""Fields that lead somewhere or open something, and undocumented ones: they are not stored."""


class Noted(NamedTuple):
    """Newest published snapshot at a moment, in plain parts."""

    at: datetime
    facts: Any


def record(path: Path, scenario: str, seed: int, seconds: float, moments: int) -> list[Noted]:
    """Play some seconds of a scenario to a monitor with a history.

    Returns the newest published snapshot at each of so many random moments.
    """
    with asyncio.Runner(loop_factory=Warp) as runner:
        return runner.run(_record(path, scenario, seed, seconds, moments))


async def _record(path: Path, scenario: str, seed: int, seconds: float, moments: int) -> list[Noted]:
    clock, chance = Clock(), Random(seed)
    wanted = sorted(START + timedelta(seconds=chance.uniform(10, seconds - 1)) for _ in range(moments))
    noted: list[Noted] = []
    with closing(Simulator(seed=seed, clock=Following(clock), scenario=scenario)) as simulator:
        async with _api(simulator, "in process", clock, chance) as api:
            history = await History.open(path, clock.now())
            monitor = Monitor(api, clock, random=chance, history=history, actor="anna@regie:1")
            monitor.watch("test", ROOM_LIST)
            last: Snapshot | None = None
            async with aclosing(monitor.snapshots()) as snapshots:
                async for snapshot in snapshots:
                    while last and wanted and wanted[0] < snapshot.at:
                        noted.append(Noted(wanted.pop(0), facts(last)))
                    last = snapshot
                    await _attend(monitor, snapshot, chance)
                    if clock.monotonic() >= seconds:
                        break
            await history.close()
    return noted


async def _attend(monitor: Monitor, snapshot: Snapshot, chance: Random) -> None:
    """Acknowledge and annotate some of the new alarms, as a person."""
    for change in snapshot.changes:
        alarm = change.alarm
        if alarm.needs_ack and alarm.active and chance.random() < 0.5:
            await monitor.acknowledge(alarm.key)
            await monitor.note(alarm.key, "called the venue")


def facts(value: Any) -> Any:
    """Return the value in plain parts, without unstored fields, and samples at their stored precision."""
    if isinstance(value, Readings):
        return [
            (round(row.time * 1000), _whole(row.video), _whole(row.audio), _whole(row.fps, 1000), row.status)
            for row in (value[index] for index in range(len(value)))
        ]
    if isinstance(value, Model):
        kept = type(value).model_fields.keys() - STAYS_BEHIND.get(type(value).__name__, set())
        return {name: facts(getattr(value, name)) for name in kept} | {"faults": facts(value.faults)}
    if is_dataclass(value):
        names = {field.name for field in fields(value)} - STAYS_BEHIND.get(type(value).__name__, set())
        return {name: facts(getattr(value, name)) for name in names}
    if isinstance(value, Mapping):
        return {key: facts(member) for key, member in value.items()}
    return [facts(member) for member in value] if isinstance(value, tuple | list) else value


def _whole(value: float | None, scale: int = 1) -> int | None:
    return None if value is None else round(value * scale)


def differences(was: Any, is_now: Any, path: str = "") -> list[str]:
    """Return the differences of two values in plain parts."""
    if isinstance(was, dict) and isinstance(is_now, dict) and was.keys() == is_now.keys():
        return [line for name in was for line in differences(was[name], is_now[name], f"{path}.{name}")]
    if isinstance(was, list) and isinstance(is_now, list) and len(was) == len(is_now):
        pairs = enumerate(zip(was, is_now, strict=True))
        return [line for index, (old, new) in pairs for line in differences(old, new, f"{path}[{index}]")]
    return [] if was == is_now else [f"{path}: {was!r:.200} is now {is_now!r:.200}"]

"""Collector of a demo: decks attach by its printed address and see the platform; it leaves nothing behind."""

from __future__ import annotations

import stat
from contextlib import closing
from typing import Any

import pytest

from livedeck.cli.demo import PROBED, demo_settings, run_collector
from livedeck.cli.wiring import open_watch
from livedeck.client.http.outgoing import Outgoing
from livedeck.monitor import AlarmState, AttachmentState
from livedeck.settings import IN_MEMORY, load
from livedeck.simulator import Simulator, serve


async def test_what_it_prints_attaches_without_a_platform_and_may_act(monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(Simulator(seed=1)) as simulator:
        async with (
            serve(simulator) as addresses,
            run_collector(demo_settings(simulator, addresses.base_url, history=IN_MEMORY)) as collector,
        ):
            *environment, program, name = collector.command("wall").split()
            assert (program, name) == ("livedeck", "wall")
            for variable, value in (assignment.split("=", 1) for assignment in environment):
                monkeypatch.setenv(variable, value)
            assert stat.S_IMODE(collector.token_file.stat().st_mode) == 0o600
            async with open_watch(load(history=IN_MEMORY)) as watch:
                await _acknowledges(watch.feed)
            assert watch.api is None
        assert not collector.token_file.parent.exists()
        async with Outgoing() as outgoing:
            reply = await outgoing.send("GET", f"{collector.url}/healthz", {}, b"")
        assert reply.status == 0


async def test_with_a_probe_the_collector_probes_and_the_deck_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(Simulator(workspace="nine", hls=True)) as simulator:
        async with serve(simulator) as addresses:
            settings = demo_settings(simulator, addresses.base_url, history=IN_MEMORY, **PROBED)
            async with run_collector(settings) as collector:
                monkeypatch.setenv("LIVEDECK_COLLECTOR_URL", collector.url)
                monkeypatch.setenv("LIVEDECK_COLLECTOR_TOKEN_FILE", str(collector.token_file))
                async with open_watch(load(history=IN_MEMORY), probes=True) as watch:
                    async for snapshot in watch.feed.snapshots():
                        if snapshot.link.as_of is not None:
                            break
    assert snapshot.probe.startswith("probe ")


async def _acknowledges(feed: Any) -> None:
    """Acknowledge the first alarm, and wait until the collector reports it under the name of the token."""
    worst = None
    async for snapshot in feed.snapshots():
        if worst is None and snapshot.alarms:
            assert snapshot.attachment.state is AttachmentState.WATCHING
            worst = snapshot.alarms[0].key
            assert await feed.acknowledge(worst)
        answered = [alarm for alarm in snapshot.alarms if alarm.key == worst and alarm.state is AlarmState.ACKNOWLEDGED]
        if answered:
            assert answered[0].answered_by == "demo"
            return

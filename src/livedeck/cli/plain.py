"""`livedeck --plain`: a line for each change in place of the screen, for screen readers (interface.md)."""

from __future__ import annotations

from contextlib import aclosing

from livedeck.cli.exit_codes import DONE
from livedeck.cli.output import echo
from livedeck.cli.rehearsal import repeat_after_jump_back
from livedeck.cli.wiring import open_watch
from livedeck.monitor import Feed, LimitsSource
from livedeck.presentation.plain import PlainLines
from livedeck.presentation.render_time import RenderTime
from livedeck.settings import Settings


async def run_plain(settings: Settings, limits_source: LimitsSource) -> int:
    """Print each event once, then a line for each change until cancelled. Returns the exit code."""

    async def work() -> int:
        async with open_watch(settings, keeps_history=True, limits_source=limits_source, probes=True) as watch:
            return await watch.run(follow(watch.feed))

    return await repeat_after_jump_back(work, settings.history_file())


async def follow(feed: Feed) -> int:
    """Print the lines of a feed until cancelled."""
    plain = PlainLines()
    async with aclosing(feed.snapshots()) as snapshots:
        async for snapshot in snapshots:
            for line in plain.lines(snapshot, RenderTime.from_snapshot(snapshot, feed.clock.now())):
                echo(line)
    return DONE

"""Steps of a scenario, by the simulator's clock.

The simulator has no background task: each request first runs the steps that are due.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from livedeck.simulator.engine.clock import format_epoch
from livedeck.simulator.engine.disk import Disk, is_disk_full
from livedeck.simulator.engine.store import Store
from livedeck.simulator.errors import ApiError

_log = logging.getLogger("livedeck.simulator")


@dataclass(frozen=True, slots=True)
class TimelineEntry:
    """Step at a time (epoch seconds); `label` names it."""

    at: float
    label: str
    run: Callable[[float], object]


@dataclass(frozen=True, slots=True)
class Playback:
    """Scenario in play: its name, its begin and end (epoch seconds), and its entries, ascending.

    `table` is the scenario as read; the same entries can be created from it again.
    """

    name: str
    began_at: float
    ends_at: float
    entries: Sequence[TimelineEntry]
    table: Mapping[str, Any]


class Timeline:
    """Scenario in play, if any, and its position. The store keeps both."""

    def __init__(self, store: Store, disk: Disk) -> None:
        self._store = store
        self._disk = disk
        self._playback: Playback | None = None
        self._done = 0

    def start(self, playback: Playback) -> None:
        """Play `playback` from its beginning."""
        self._keep(playback, 0)
        self._playback, self._done = playback, 0

    def go_on(self, make_playback: Callable[[str, Mapping[str, Any], float], Playback]) -> None:
        """Continue the kept scenario from its position.

        `make_playback`: makes the playback from the name, the table and the start (epoch seconds) of the scenario.
        """
        kept = self._store.get("world", "playback")
        self._playback = None
        if kept is not None:
            self._playback = make_playback(kept["name"], kept["table"], kept["began_at"])
            self._done = kept["done"]

    def stop(self) -> None:
        self._store.delete("world", "playback")
        self._playback = None

    def catch_up(self, now: float) -> None:
        """Run the steps that are due, each at its own time.

        A step that the state refuses is logged and skipped. A step that a full disk refuses is retried at the next
        call.
        """
        playback = self._playback
        while playback and self._done < len(playback.entries) and playback.entries[self._done].at <= now:
            try:
                self._run(playback, playback.entries[self._done])
            except OSError as error:
                if not is_disk_full(error):
                    raise
                self._disk.refuse(error)
                return
            self._done += 1

    def _run(self, playback: Playback, entry: TimelineEntry) -> None:
        """Run an entry and store the new position in one transaction."""
        try:
            with self._store.transaction():
                entry.run(entry.at)
                self._keep(playback, self._done + 1)
        except ApiError as error:
            _log.info("a step of the scenario was refused: %s: %s", entry.label, error)
            self._keep(playback, self._done + 1)

    def _keep(self, playback: Playback, done: int) -> None:
        position = {"name": playback.name, "began_at": playback.began_at, "table": playback.table, "done": done}
        self._store.put("world", {"id": "playback"} | position)

    def progress(self, now: float) -> dict[str, object]:
        """Return the position in the form that the control API shows."""
        if self._playback is None:
            return {"scenario": None}
        entries = self._playback.entries
        following = entries[self._done].label if self._done < len(entries) else None
        return {
            "scenario": self._playback.name,
            "began": format_epoch(self._playback.began_at),
            "ends": format_epoch(self._playback.ends_at),
            "elapsed": round(max(0.0, now - self._playback.began_at), 3),
            "over": now >= self._playback.ends_at,
            "steps": {"done": self._done, "all": len(entries), "next": following},
        }

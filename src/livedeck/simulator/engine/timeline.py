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

_REFUSAL = "refusal"
"""Kind of the documents that hold why a step was refused, each with the index of its step as id."""


@dataclass(frozen=True, slots=True)
class TimelineEntry:
    """Step at a time (epoch seconds); `label` names it, `index` is its place in the scenario's table."""

    at: float
    label: str
    index: int
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


@dataclass(frozen=True, slots=True)
class Refusal:
    """Entry that the state refused."""

    entry: TimelineEntry
    error: ApiError


class Timeline:
    """Scenario in play, if any, and its position. The store keeps both."""

    def __init__(self, store: Store, disk: Disk) -> None:
        self._store = store
        self._disk = disk
        self._playback: Playback | None = None
        self._run_entries = 0
        self._refused: dict[int, str] = {}
        self._is_stopped = False

    @property
    def playback(self) -> Playback | None:
        """Scenario in play, also after its end or a stop."""
        return self._playback

    def start(self, playback: Playback) -> None:
        """Play `playback` from its beginning."""
        kept = {"name": playback.name, "began_at": playback.began_at, "table": playback.table}
        self._store.put("world", {"id": "playback"} | kept)
        self._playback, self._run_entries, self._refused, self._is_stopped = playback, 0, {}, False
        self._keep_position()

    def go_on(self, make_playback: Callable[[str, Mapping[str, Any], float], Playback]) -> None:
        """Continue the kept scenario from its position.

        `make_playback`: makes the playback from the name, the table and the start (epoch seconds) of the scenario.
        """
        kept, position = self._store.get("world", "playback"), self._store.get("world", "position")
        self._playback = None
        if kept is not None and position is not None:
            self._playback = make_playback(kept["name"], kept["table"], kept["began_at"])
            self._run_entries, self._is_stopped = position["run"], position["stopped"]
            self._refused = {int(row["id"]): row["reason"] for row in self._store.find_all(_REFUSAL, "")}

    def stop(self) -> None:
        """Run no further step; what the scenario has done stays."""
        if self._playback is not None:
            self._is_stopped = True
            self._keep_position()

    def forget(self) -> None:
        """End the scenario as if there had been none."""
        self._store.delete("world", "playback")
        self._store.delete("world", "position")
        self._playback = None

    def catch_up(self, now: float) -> list[Refusal]:
        """Run the steps that are due, each at its own time, and return those that the state refused.

        A step that a full disk refuses is retried at the next call.
        """
        refusals: list[Refusal] = []
        playback = None if self._is_stopped else self._playback
        while playback and self._run_entries < len(playback.entries) and playback.entries[self._run_entries].at <= now:
            try:
                refusals += self._run(playback.entries[self._run_entries])
            except OSError as error:
                if not is_disk_full(error):
                    raise
                self._disk.refuse(error)
                break
        return refusals

    def _run(self, entry: TimelineEntry) -> list[Refusal]:
        """Run an entry and store the new position in one transaction."""
        run = self._run_entries
        self._run_entries = run + 1
        try:
            with self._store.transaction():
                entry.run(entry.at)
                self._keep_position()
        except ApiError as error:
            _log.info("a step of the scenario was refused: %s: %s", entry.label, error)
            self._refused[entry.index] = error.message
            with self._store.transaction():
                self._store.put(_REFUSAL, {"id": str(entry.index), "reason": error.message})
                self._keep_position()
            return [Refusal(entry, error)]
        except OSError:
            self._run_entries = run
            raise
        return []

    def _keep_position(self) -> None:
        position = {"run": self._run_entries, "stopped": self._is_stopped}
        self._store.put("world", {"id": "position"} | position)

    def progress(self, now: float) -> dict[str, object]:
        """Return the position in the form that the control API shows. `ok`: no step was refused."""
        if self._playback is None:
            return {"scenario": None}
        entries = self._playback.entries
        following = entries[self._run_entries].label if self._run_entries < len(entries) else None
        return {
            "scenario": self._playback.name,
            "began": format_epoch(self._playback.began_at),
            "ends": format_epoch(self._playback.ends_at),
            "elapsed": round(max(0.0, now - self._playback.began_at), 3),
            "over": now >= self._playback.ends_at,
            "stopped": self._is_stopped,
            "ok": not self._refused,
            "done": self._run_entries - len(self._refused),
            "refused": len(self._refused),
            "all": len(entries),
            "next": following,
            "steps": [self._state(entry, is_run=number < self._run_entries) for number, entry in enumerate(entries)],
        }

    def _state(self, entry: TimelineEntry, *, is_run: bool) -> dict[str, object]:
        shown: dict[str, object] = {"step": entry.index, "does": entry.label, "at": format_epoch(entry.at)}
        if entry.index in self._refused:
            return shown | {"state": "refused", "reason": self._refused[entry.index]}
        return shown | {"state": "done" if is_run else "waiting"}

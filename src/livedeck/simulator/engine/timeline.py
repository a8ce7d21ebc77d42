"""Steps of a scenario, by the simulator's clock.

The simulator has no background task: each request first runs the steps that are due.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from livedeck.simulator.engine.clock import format_epoch
from livedeck.simulator.engine.disk import Disk, is_disk_full
from livedeck.simulator.engine.pattern import RequestPattern, SeenRequest
from livedeck.simulator.engine.store import Store
from livedeck.simulator.errors import ApiError

_log = logging.getLogger("livedeck.simulator")

_REFUSAL = "refusal"
"""Kind of the documents with the reason why a step was refused. Their id is the index of the step."""


@dataclass(frozen=True, slots=True)
class TimelineEntry:
    """Step of a scenario. `label`: its name. `index`: its place in the scenario's table.

    `when`: pattern of the request that this step waits for. `after`: index of the step whose request this step follows,
    which may be this step itself; None for a fixed time. `at`: seconds after that request, or a time (epoch seconds).
    """

    at: float
    label: str
    index: int
    run: Callable[[float], object]
    after: int | None = None
    when: RequestPattern | None = None


@dataclass(frozen=True, slots=True)
class Playback:
    """Scenario in play: its name, its begin and end (epoch seconds), and its entries, ascending by `at`.

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


class _TriedError(Exception):
    """A step was tried; its changes are rolled back."""


class Timeline:
    """Scenario in play and its position, both in the store. There may be no scenario."""

    def __init__(self, store: Store, disk: Disk) -> None:
        self._store = store
        self._disk = disk
        self._take(None)
        self._reset()

    def _reset(self) -> None:
        """Forget the position: steps that ran, times of the requests that steps wait for, refusals, and a stop."""
        self._run_entries = 0
        self._requested: dict[int, float] = {}
        self._ran: set[int] = set()
        self._refused: dict[int, str] = {}
        self._is_stopped = False

    def _take(self, playback: Playback | None) -> None:
        self._playback, entries = playback, playback.entries if playback else ()
        self._fixed = [entry for entry in entries if entry.after is None]
        self._waiting = [entry for entry in entries if entry.after is not None]

    @property
    def playback(self) -> Playback | None:
        """Scenario in play, even after its end or a stop."""
        return self._playback

    def start(self, playback: Playback) -> None:
        """Play `playback` from its beginning."""
        kept = {"name": playback.name, "began_at": playback.began_at, "table": playback.table}
        self._store.put("world", {"id": "playback"} | kept)
        self._take(playback)
        self._reset()
        self._keep_position()

    def go_on(self, make_playback: Callable[[str, Mapping[str, Any], float], Playback]) -> None:
        """Continue the kept scenario from its position.

        `make_playback`: makes the playback from the name, the table and the start (epoch seconds) of the scenario.
        """
        kept, position = self._store.get("world", "playback"), self._store.get("world", "position")
        self._take(None)
        if kept is not None and position is not None:
            self._take(make_playback(kept["name"], kept["table"], kept["began_at"]))
            self._run_entries, self._is_stopped = position["run"], position["stopped"]
            self._requested, self._ran = dict(position["requested"]), {*position["ran"]}
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
        self._take(None)

    def catch_up(self, now: float) -> list[Refusal]:
        """Run the steps with a time up to `now`, each at its own time, and return those that the state refused.

        A step that a full disk refuses is retried at the next call.
        """
        refusals: list[Refusal] = []
        while (following := self._next()) is not None and following[0] <= now:
            try:
                refusals += self._run(*following)
            except OSError as error:
                if not is_disk_full(error):
                    raise
                self._disk.refuse(error)
                break
        return refusals

    def reads_body(self) -> bool:
        """Return whether a step waits for a request with a certain body."""
        return any(pattern.reads_body for _, pattern in self._awaited())

    def notice(self, request: SeenRequest, now: float) -> None:
        """Record a request that steps wait for, unless the scenario has ended. Their times count from the request."""
        came = [index for index, pattern in self._awaited() if pattern.matches(request)]
        if came and self._playback and now <= self._playback.ends_at:
            self._requested |= dict.fromkeys(came, now)
            try:
                self._keep_position()
            except OSError as error:
                if not is_disk_full(error):
                    raise
                self._disk.refuse(error)

    def refused_waiting(self, at: float) -> list[Refusal]:
        """Try each waiting step on the present state without changing it. Return those that the state refuses."""
        refusals = []
        for entry in self._waiting:
            try:
                with suppress(_TriedError), self._store.transaction():
                    entry.run(at)
                    raise _TriedError
            except ApiError as error:
                refusals.append(Refusal(entry, error))
        return refusals

    def _awaited(self) -> Iterator[tuple[int, RequestPattern]]:
        for entry in () if self._is_stopped else self._waiting:
            if entry.when is not None and entry.index not in self._requested:
                yield entry.index, entry.when

    def _next(self) -> tuple[float, TimelineEntry] | None:
        """Return the next step with a known time, and this time; None without such a step, or after a stop."""
        if self._playback is None or self._is_stopped:
            return None
        fixed = self._fixed[self._run_entries : self._run_entries + 1]
        waiting = (entry for entry in self._waiting if entry.index not in self._ran) if self._requested else ()
        timed = ((self._time_of(entry), entry) for entry in (*fixed, *waiting))
        return min(((at, entry) for at, entry in timed if at is not None), key=lambda pair: pair[0], default=None)

    def _time_of(self, entry: TimelineEntry) -> float | None:
        """Return the time of a step (epoch seconds); None if it waits for a request that has not come."""
        if entry.after is None:
            return entry.at
        came = self._requested.get(entry.after)
        return None if came is None else came + entry.at

    def _run(self, at: float, entry: TimelineEntry) -> list[Refusal]:
        """Run an entry and store the new position in one transaction."""
        run, ran = self._run_entries, self._ran
        if entry.after is None:
            self._run_entries = run + 1
        else:
            self._ran = ran | {entry.index}
        try:
            with self._store.transaction():
                entry.run(at)
                self._keep_position()
        except ApiError as error:
            _log.info("a step of the scenario was refused: %s: %s", entry.label, error)
            self._refused[entry.index] = error.message
            with self._store.transaction():
                self._store.put(_REFUSAL, {"id": str(entry.index), "reason": error.message})
                self._keep_position()
            return [Refusal(entry, error)]
        except OSError:
            self._run_entries, self._ran = run, ran
            raise
        return []

    def _keep_position(self) -> None:
        requested, ran = [*self._requested.items()], sorted(self._ran)
        position = {"run": self._run_entries, "stopped": self._is_stopped, "requested": requested, "ran": ran}
        self._store.put("world", {"id": "position"} | position)

    def progress(self, now: float) -> dict[str, object]:
        """Return the position in the form that the control API shows. `ok`: no step was refused."""
        if self._playback is None:
            return {"scenario": None}
        following, ran = self._next(), self._run_entries + len(self._ran)
        states = [self._state(entry, is_run=number < self._run_entries) for number, entry in enumerate(self._fixed)]
        states += [self._state(entry, is_run=entry.index in self._ran) for entry in self._waiting]
        return {
            "scenario": self._playback.name,
            "began": format_epoch(self._playback.began_at),
            "ends": format_epoch(self._playback.ends_at),
            "elapsed": round(max(0.0, now - self._playback.began_at), 3),
            "over": now >= self._playback.ends_at,
            "stopped": self._is_stopped,
            "ok": not self._refused,
            "done": ran - len(self._refused),
            "refused": len(self._refused),
            "all": len(states),
            "next": following and following[1].label,
            "steps": states,
        }

    def _state(self, entry: TimelineEntry, *, is_run: bool) -> dict[str, object]:
        at = self._time_of(entry)
        shown: dict[str, object] = {"step": entry.index, "does": entry.label, "at": at and format_epoch(at)}
        if entry.index in self._refused:
            return shown | {"state": "refused", "reason": self._refused[entry.index]}
        return shown | {"state": "done" if is_run else "waiting"}

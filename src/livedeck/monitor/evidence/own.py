"""Rules for stops and slowness of this process. Pure.

Time that this process did not watch proves nothing about an event. Monotonic seconds include the sleep of the machine.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from datetime import datetime, timedelta
from math import ceil, inf
from typing import NamedTuple

from livedeck.monitor.model.own import NotWatched, OwnState, Slowness, Why, watched_seconds
from livedeck.monitor.model.thresholds import Thresholds

BEAT = 0.25
"""Seconds between two pulses of the event loop."""

_IDLE = 0.05
"""Share of a gap between pulses. A process that used or awaited the processor for a smaller share was stopped."""

_BUSY = 0.8
"""Share of a wait. A process that used or awaited the processor for at least this share lacked processor time."""

_PERCENTILE = 0.95

_LEAST_ASKS = 5
"""Minimum number of planned polls in the window to judge the share made in time."""

_SLACK, _SLACK_LEAST = 0.5, 2.5
"""Allowed lateness of a poll: the larger of this share of its interval and these seconds, because a round may last so
long."""

_CUT, _GROWTH = 0.8, 1.25
"""Factors by which the capacity changes in each window: while this process is too slow, and after that."""

_KEPT, _KEPT_FOR = 16, timedelta(days=1)
"""Maximum number and age of the stops in memory; no alarm looks further back."""


class Pulse(NamedTuple):
    """Measurement of this process at one instant, on both clocks. Each total is None if it cannot be measured.

    `used`: processor seconds used so far. `awaited`: seconds that the loop was ready and got no processor. `suspended`:
    seconds that the machine slept.
    """

    at: datetime
    monotonic: float
    used: float | None = None
    awaited: float | None = None
    suspended: float | None = None


class _Ask(NamedTuple):
    """Planned poll that was made. `late`: seconds after it was due; 0 unless this process made it too late."""

    monotonic: float
    late: float


class OwnWatch:
    """Watch of this process over its own stops, lateness and polls.

    `stops`: newest stops, oldest first. `capacity`: polls per second that this process can make in time; None without a
    limit.
    """

    def __init__(self) -> None:
        self.stops: tuple[NotWatched, ...] = ()
        self.capacity: float | None = None
        self._first: Pulse | None = None
        self._last: Pulse | None = None
        self._beats = deque[tuple[Pulse, float]]()  # regular pulses of the window, with their lateness (s)
        self._asks = deque[_Ask]()
        self._readings = deque[
            tuple[float, float]
        ]()  # time of reading of each reply (monotonic s), and seconds since its request
        self._slowness: Slowness | None = None
        self._grave_from = inf  # start of the time in which critically many polls are late (monotonic s)
        self._bad_at = inf  # last moment over half of a limit (monotonic s)
        self._adapted_at = -inf  # last change of the capacity

    def pulse(self, pulse: Pulse, due: float, thresholds: Thresholds) -> NotWatched | None:
        """Take a pulse that was due at `due` (monotonic s). Returns the stop that ends with the pulse, or None."""
        before, self._last = self._last, pulse
        self._first = self._first or pulse
        late = pulse.monotonic - max(due, before.monotonic if before else -inf)
        if late < thresholds.unwatched:
            return None
        stop = NotWatched(pulse.at - timedelta(seconds=late), pulse.at, _cause(before, pulse))
        self.note(stop, pulse)
        return stop

    def note(self, stop: NotWatched, pulse: Pulse) -> None:
        """Store a time without watching that ends with `pulse`. Unless its cause is SLOW, drop earlier measurements."""
        kept = [earlier for earlier in self.stops if stop.until - earlier.until < _KEPT_FOR]
        self.stops = (*kept, stop)[-_KEPT:]
        if stop.why is not Why.SLOW:
            self._first = self._last = pulse
            for measured in (self._beats, self._asks, self._readings):
                measured.clear()

    def beat(self, pulse: Pulse, due: float, thresholds: Thresholds) -> NotWatched | None:
        """Take a pulse of the regular series. Unlike `pulse`, this method also counts how late the pulse is."""
        stop = self.pulse(pulse, due, thresholds)
        late = max(0.0, pulse.monotonic - due)
        stops = [each for each in self.stops if each.why is not Why.SLOW]
        late = max(0.0, watched_seconds(pulse.at - timedelta(seconds=late), pulse.at, stops))
        self._beats.append((pulse, late))
        return stop

    def ask(self, due: float, begun: float, made: float, interval: float) -> None:
        """Take the times of a planned poll (monotonic s).

        A poll that waited for other calls is this process's fault only if it lacked processor time during the wait.

        Args:
            due: Planned time.
            begun: Time at which this process would have begun the poll without waits for the replies to other calls.
            made: Time at which the request was sent.
            interval: Seconds between two polls of the resource.
        """
        late, slack = made - due, max(_SLACK * interval, _SLACK_LEAST)
        is_own = begun - due > slack or (late > slack and self._was_busy_since(due))
        self._asks.append(_Ask(made, late if is_own else 0.0))

    def answer(self, sent: float, read: float) -> None:
        """Take the times at which a request was sent and its reply was read (monotonic s)."""
        self._readings.append((read, read - sent))

    def judge(self, now: datetime, monotonic: float, thresholds: Thresholds, events: int) -> OwnState:
        """Return the state at this moment. `events`: number of events that this process judges."""
        self._forget(monotonic - thresholds.own_window)
        beats = [late for _, late in self._beats]
        late, share = _percentile(beats), self._made_share()
        behind = max(late, _percentile([ask.late for ask in self._asks]) if share < 1.0 else 0.0)
        is_whole = self._first is not None and monotonic - self._first.monotonic >= thresholds.own_window
        is_over = is_whole and (late > thresholds.own_late or share < thresholds.own_asks)
        if late >= thresholds.own_late / 2 or 1 - share >= (1 - thresholds.own_asks) / 2:
            self._bad_at = monotonic
        self._grave_from = min(self._grave_from, monotonic) if share < thresholds.own_asks_critical else inf
        if is_over:
            since = self._slowness.since if self._slowness else now
            is_grave = monotonic - self._grave_from >= thresholds.own_hold
            self._slowness = Slowness(since, max(1.0, round(behind)), events, is_grave)
        elif self._slowness and monotonic - self._bad_at >= thresholds.own_hold:
            self._slowness = None
        self._adapt(monotonic, thresholds.own_window, is_over=is_over)
        is_behind = self._slowness is not None or max(beats, default=0.0) > thresholds.own_late
        delay = max([*beats, *(seconds for _, seconds in self._readings)], default=0.0) if is_behind else 0.0
        shown = float(round(behind)) if behind >= thresholds.own_late else 0.0
        return OwnState(self.stops, shown, self._slowness, round(delay, 1))

    def _forget(self, before: float) -> None:
        """Forget measurements from before a time (monotonic s)."""
        while self._beats and self._beats[0][0].monotonic < before:
            self._beats.popleft()
        while self._asks and self._asks[0].monotonic < before:
            self._asks.popleft()
        while self._readings and self._readings[0][0] < before:
            self._readings.popleft()

    def _made_share(self) -> float:
        """Return the share of the planned polls that this process made in time; 1 if too few were planned."""
        if len(self._asks) < _LEAST_ASKS:
            return 1.0
        return 1 - sum(ask.late > 0.0 for ask in self._asks) / len(self._asks)

    def _was_busy_since(self, since: float) -> bool:
        """Return whether this process used or awaited the processor for most of the time since `since` (monotonic s).

        The time is measured from the last regular pulse before `since` to the newest one.
        """
        if not self._beats:
            return False
        first = last = self._beats[-1][0]
        for pulse, _ in reversed(self._beats):
            first = pulse
            if pulse.monotonic <= since:
                break
        worked = _grown(first.used, last.used) + _grown(first.awaited, last.awaited)
        return first is not last and worked >= _BUSY * (last.monotonic - first.monotonic)

    def _adapt(self, monotonic: float, window: float, *, is_over: bool) -> None:
        """Cut the capacity while this process is too slow, and let it grow after that."""
        if monotonic - self._adapted_at < window:
            return
        if is_over:
            made = max(1.0, len(self._asks) / window)
            self.capacity, self._adapted_at = _CUT * min(made, self.capacity or inf), monotonic
        elif self.capacity is not None and self._slowness is None:
            grown = self.capacity * _GROWTH
            self.capacity, self._adapted_at = grown if grown < _UNLIMITED else None, monotonic


_UNLIMITED = 1000.0
"""Polls per second that no longer limit anything."""


def _cause(before: Pulse | None, pulse: Pulse) -> Why:
    """Return the cause of the gap between two pulses.

    Returns OUTRUN without measurements, because only a process that follows a rehearsal has none.
    """
    if pulse.used is None:
        return Why.OUTRUN
    if before is None:
        return Why.STOPPED
    gap = pulse.monotonic - before.monotonic
    if _grown(before.suspended, pulse.suspended) > gap / 2:
        return Why.SLEPT
    worked = max(_grown(before.used, pulse.used), _grown(before.awaited, pulse.awaited))
    return Why.STOPPED if worked < _IDLE * gap else Why.SLOW


def _grown(before: float | None, after: float | None) -> float:
    return 0.0 if before is None or after is None else after - before


def _percentile(values: Sequence[float]) -> float:
    return sorted(values)[ceil(_PERCENTILE * len(values)) - 1] if values else 0.0

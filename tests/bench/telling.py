"""Measure a step of the notifier as alarms grow: ten times as many may not cost 30 times the processor time."""

from __future__ import annotations

import sys
import time
from datetime import timedelta

from livedeck.monitor import Severity
from livedeck.notify import Board, Box, EventInfo, Outcome, Plan, Route, State, step
from notify.stage import NOW, acknowledged, alarm

FEW, MANY = 300, 3000
BUDGET = 30.0
"""Ratio of processor times that fails; a step of quadratic cost would have 100."""

PLAN, BOX = Plan((Route("ops", "ops"),)), Box("ops", "ops")


def timed(state: State, board: Board, seconds: int) -> tuple[float, Outcome]:
    """Return the processor seconds of a step `seconds` after the beginning, and its outcome."""
    begun = time.process_time()
    outcome = step(PLAN, state, board, NOW + timedelta(seconds=seconds))
    return time.process_time() - begun, outcome


def measure(count: int) -> tuple[float, float]:
    """Return the seconds to notify of `count` alarms at once, and to drop them after they were acknowledged."""
    alarms = [alarm(f"event-{number}", severity=Severity.WARNING) for number in range(count)]
    events = {known.event_id: EventInfo(known.event_id, is_on_air=True) for known in alarms}
    _, opened = timed(State(), Board(alarms, events), 0)
    telling, outcome = timed(opened.state, Board(alarms, events), 6)
    full = State(opened.state.lives, opened.state.opened, sent={BOX: (NOW,) * 12})
    _, held = timed(full, Board(alarms, events), 6)
    dropping, dropped = timed(held.state, Board([acknowledged(known) for known in alarms], events), 7)
    assert (len(outcome.messages), len(held.state.held[BOX]), dropped.state.held) == (1, count, {})
    return telling, dropping


def main() -> None:
    """Print both as ratios. Exits with 1 if one is over the budget."""
    few, many = (min(measure(count) for _ in range(3)) for count in (FEW, MANY))
    ratios = [large / small for small, large in zip(few, many, strict=True)]
    print(f"{MANY} alarms for {FEW}: telling x {ratios[0]:.1f}, dropping x {ratios[1]:.1f}")  # noqa: T201
    sys.exit(max(ratios) > BUDGET)


if __name__ == "__main__":
    main()

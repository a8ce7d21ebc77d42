"""Detect faults for viewers by a fold over the rounds of a probe (monitoring.md, "Viewers"). Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from livedeck.client import Event
from livedeck.monitor.kinds.viewer import VIEWER_RULES, Look, Mark, ViewerRule
from livedeck.monitor.model.thresholds import Thresholds
from livedeck.monitor.model.viewer import STALE_INTERVALS, ViewerState
from livedeck.monitor.model.viewing import ViewerFault, Viewing
from livedeck.monitor.signal.hysteresis import Level

_WINDOW = timedelta(seconds=60)
"""Time for which rounds are kept."""


def update(
    before: Viewing | None, state: ViewerState | None, event: Event, skew: float, thresholds: Thresholds
) -> Viewing | None:
    """Return the rounds and faults of an event after the newest state of its probe.

    Only a new round changes a fault: a probe that is stale, or that knows no playlist, proves nothing.

    Args:
        before: Result so far; None without a round.
        state: Newest state (this machine's clock); None while no probe reads the event's playlist.
        event: The event.
        skew: Seconds by which the server's clock is ahead of this machine's.
        thresholds: Limits of the event.
    """
    if state is None or state.as_of is None or not state.is_known:
        return before if state else None
    if before and state.as_of <= before.at:
        return before
    longest = timedelta(seconds=STALE_INTERVALS * state.interval)
    is_whole = before is not None and state.as_of - before.at <= longest
    earlier = (
        tuple(each for each in before.rounds if each.as_of and state.as_of - each.as_of < _WINDOW) if before else ()
    )
    viewing = Viewing((*earlier, state), before.watched_since if before and is_whole else state.as_of, skew=skew)
    look = Look(
        state,
        earlier[-1] if earlier else None,
        viewing.missed,
        viewing.listed,
        heights(event),
        event.latency_mode == "reduced",
        has_skew=skew != 0.0,
    )
    faults = _watched_faults(before.faults if before else {}, is_whole=is_whole)
    stepped = {
        kind: _step(faults.get(kind), rule, rule.judge(look, thresholds), viewing, thresholds)
        for kind, rule in VIEWER_RULES.items()
    }
    return replace(viewing, faults={kind: fault for kind, fault in stepped.items() if fault})


def heights(event: Event) -> tuple[int, ...]:
    """Return the heights in pixels of the renditions that the platform makes; empty if they are not known."""
    presets = (event.video.presets if event.video else None) or ()
    return tuple(int(name) for preset in presets if (name := preset.removesuffix("p")).isdecimal())


def _watched_faults(faults: Mapping[str, ViewerFault], *, is_whole: bool) -> Mapping[str, ViewerFault]:
    """Return the faults to continue with; after a missed round, only the raised faults."""
    return faults if is_whole else {kind: fault for kind, fault in faults.items() if fault.is_raised}


def _step(
    fault: ViewerFault | None, rule: ViewerRule, mark: Mark, viewing: Viewing, thresholds: Thresholds
) -> ViewerFault | None:
    """Return the fault of a kind after a round; None without a fault."""
    if mark.level is Level.BAD:
        return _after_bad(fault, rule, mark, viewing, thresholds)
    if fault is None or mark.level is Level.DEADBAND:
        return fault
    after = replace(fault, bad=0, good=fault.good + 1)
    return after if fault.is_raised and after.good < thresholds.viewer_clear else None


def _after_bad(
    fault: ViewerFault | None, rule: ViewerRule, mark: Mark, viewing: Viewing, thresholds: Thresholds
) -> ViewerFault:
    at = viewing.at
    since = fault.since if fault else _onset(mark, viewing, at)
    rounds, length = rule.least(thresholds)
    bad = fault.bad + 1 if fault else 1
    is_raised = (fault is not None and fault.is_raised) or (bad >= rounds and at - since >= length)
    return ViewerFault(since, mark.actual, mark.expected, bad, 0, is_raised, mark.is_grave, mark.is_slight)


def _onset(mark: Mark, viewing: Viewing, at: datetime) -> datetime:
    """Return the start of a new fault, which is never before the probe began to watch."""
    return min(at, max(mark.since or at, viewing.watched_since))

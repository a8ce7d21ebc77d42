"""An alarm that comes again and again: flapping, and the habit that makes a warning critical. Pure."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from livedeck.monitor.attention import Attention
from livedeck.monitor.board import Alarm


def aged(alarm: Alarm, now: datetime, rules: Attention) -> Alarm:
    """The alarm with what counts at `now`: its activations of the last 10 min, and whether it still flaps.

    It flaps until it has not come for 2 min: one that comes each 40 s does not begin anew with every third time.
    """
    activations = tuple(moment for moment in alarm.activations if _within(moment, now, rules.habit_window))
    flapping = alarm.flapping and bool(activations) and _within(activations[-1], now, rules.flap_window)
    if (len(activations), flapping) == (len(alarm.activations), alarm.flapping):
        return alarm
    return replace(alarm, activations=activations, flapping=flapping)


def came(alarm: Alarm, since: datetime, rules: Attention) -> Alarm:
    """The alarm after one more activation, that began at `since`."""
    activations = (*alarm.activations, since)
    return replace(
        alarm,
        activations=activations,
        flapping=alarm.flapping or _often(activations, since, rules),
        escalated=alarm.escalated or len(activations) >= rules.habit_count,
    )


def _often(activations: tuple[datetime, ...], now: datetime, rules: Attention) -> bool:
    return sum(_within(moment, now, rules.flap_window) for moment in activations) >= rules.flap_count


def _within(moment: datetime, now: datetime, seconds: float) -> bool:
    return now - moment < timedelta(seconds=seconds)

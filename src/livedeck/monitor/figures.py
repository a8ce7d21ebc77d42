"""Reads the key figures of alarms from a history."""

from __future__ import annotations

from datetime import datetime, timedelta

from livedeck.monitor.alarms.kpi import AlarmHistory, alarm_figures
from livedeck.monitor.history import HistoryReads
from livedeck.monitor.model.kpi import AlarmFigures
from livedeck.monitor.model.thresholds import AlarmLimits

FIGURES_SINCE = timedelta(days=7)
"""Usual length of the time that the figures cover."""


async def read_figures(
    reads: HistoryReads, since: datetime, until: datetime, limits: AlarmLimits | None = None
) -> AlarmFigures:
    """Return the key figures of alarms from `since` to `until`. `limits`: None for the defaults."""
    log = [record for record in await reads.alarm_log(since) if record.at <= until]
    answers = [answer for answer in await reads.answer_log(since) if answer.at <= until]
    watched = await reads.watched(since, until)
    return alarm_figures(AlarmHistory(since, until, log, answers, watched), limits or AlarmLimits())

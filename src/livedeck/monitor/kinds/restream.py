"""Alarm kind for restreams that do not reach their platform."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from livedeck.monitor.kinds.kind import NO_INGEST, RECONNECTING, AlarmKind, EventCase, EventDetector, Observation
from livedeck.monitor.model.alarm import Diagnosis, Severity
from livedeck.monitor.model.state import Component
from livedeck.monitor.model.thresholds import Thresholds


def _observe_down(case: EventCase, _thresholds: Thresholds) -> Iterable[Observation]:
    """Yield one observation for each restream that is down."""
    if not case.is_judged or not case.phase.tally.expects_signal:
        return
    for restream_id, interval in case.restreams.intervals.items():
        if interval.is_raised:
            yield Observation(
                *interval.evidence,
                since=datetime.fromtimestamp(interval.since, UTC),
                is_escalated=interval.severity is Severity.CRITICAL,
                target=restream_id,
                target_name=case.restreams.names[restream_id],
            )


RESTREAM_KIND = AlarmKind(
    name="RESTREAM_DOWN",
    severity=Severity.WARNING,
    component=Component.NONE,
    detector=EventDetector(observe=_observe_down),
    hidden_by=(NO_INGEST, RECONNECTING),
    shared=True,
    explained_by=(),
    diagnosis=Diagnosis(
        cause="The other platform refused or ended the restream: wrong key or address, or a fault of its own.",
        viewers="No effect here; viewers on the other platform see no stream.",
        advice="Check key and stream on the other platform, then restart the restream.",
    ),
)

"""The kind of alarm about copies of an event's stream that do not reach their platforms."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from livedeck.monitor.kinds.kind import NO_INGEST, RECONNECTING, AlarmKind, EventCase, EventDetector, Observation
from livedeck.monitor.model.alarm import Diagnosis, Severity
from livedeck.monitor.model.state import Component
from livedeck.monitor.model.thresholds import Thresholds


def _observe_down(case: EventCase, _thresholds: Thresholds) -> Iterable[Observation]:
    """One observation for each restream that is down."""
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
        cause="The other platform refuses or ended the copy: key, address, or its own trouble.",
        viewers="Nothing here; those who watch over there see no stream.",
        advice="Check the key and the stream on the other platform; renew the restream.",
    ),
)

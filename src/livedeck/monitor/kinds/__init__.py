"""Table of alarm kinds, with one entry for each kind.

To add a kind, add an entry in the file of its subject. Health, suppression, the PLATFORM incident, diagnosis and the
fold over samples read the table. Findings of an event with equal severity are listed in the order of the table.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from types import MappingProxyType

from livedeck.monitor.kinds import audio, delivery, video
from livedeck.monitor.kinds.audio import AUDIO_KINDS
from livedeck.monitor.kinds.deck import DECK_KINDS
from livedeck.monitor.kinds.delivery import DELIVERY_KINDS
from livedeck.monitor.kinds.ingest import INGEST_KINDS, QOS_STALE
from livedeck.monitor.kinds.kind import AlarmKind, EndDetector
from livedeck.monitor.kinds.restream import RESTREAM_KIND
from livedeck.monitor.kinds.video import VIDEO_KINDS
from livedeck.monitor.kinds.viewer import VIEWER_KINDS, VIEWER_RULES
from livedeck.monitor.model.thresholds import Thresholds
from livedeck.monitor.signal.features import SampleFeatures

ALARM_KINDS: Mapping[str, AlarmKind] = MappingProxyType(
    {
        kind.name: kind
        for kind in (
            *INGEST_KINDS,
            *VIDEO_KINDS,
            *AUDIO_KINDS,
            *DELIVERY_KINDS,
            RESTREAM_KIND,
            *VIEWER_KINDS,
            *DECK_KINDS,
        )
    }
)
"""Alarm kinds by name."""

_DATED_APART = timedelta(seconds=5)
"""Tolerance for onsets that samples date. Decks differ because each measures the platform's clock by itself."""

_NOTICED_APART = timedelta(seconds=60)
"""Tolerance for onsets that a deck dated when it noticed the fault."""

_LISTED_APART = timedelta(seconds=30)
"""Tolerance for onsets that a deck finds in event lists or in rounds of a probe, each at its own times."""

_NOTICED = frozenset(
    kind.name for kind in ALARM_KINDS.values() if kind.is_of_deck or isinstance(kind.detector, EndDetector)
) | {QOS_STALE}


def onset_tolerance(kind: str) -> timedelta:
    """Return the largest difference between the onsets that two decks report for one fault of this kind."""
    if kind == RESTREAM_KIND.name or kind in VIEWER_RULES:
        return _LISTED_APART
    return _NOTICED_APART if kind in _NOTICED else _DATED_APART


def is_normal(features: SampleFeatures, thresholds: Thresholds) -> bool:
    """Return whether no SampleDetector judges the sample BAD.

    Nearly all samples are normal, and this check takes a tenth of the time of all detectors.
    """
    return (
        delivery.is_normal(features) and video.is_normal(features, thresholds) and audio.is_normal(features, thresholds)
    )

"""The table of alarm kinds: everything that is particular to a kind stands in its one entry.

To add one: an entry in the file of its subject. Health, suppression, the PLATFORM incident, diagnosis and the fold over
samples read the table. Its order is the order of an event's findings of one severity.
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
from livedeck.monitor.model.thresholds import Thresholds
from livedeck.monitor.signal.features import SampleFeatures

ALARM_KINDS: Mapping[str, AlarmKind] = MappingProxyType(
    {
        kind.name: kind
        for kind in (*INGEST_KINDS, *VIDEO_KINDS, *AUDIO_KINDS, *DELIVERY_KINDS, RESTREAM_KIND, *DECK_KINDS)
    }
)
"""By name."""

_DATED_APART = timedelta(seconds=5)
"""Of what the samples tell: each deck corrects the platform's clock by what it measured itself."""

_NOTICED_APART = timedelta(seconds=60)
"""Of what begins when a deck notices, or is made of what does."""

_NOTICED = frozenset(
    kind.name for kind in ALARM_KINDS.values() if kind.is_of_deck or isinstance(kind.detector, EndDetector)
) | {QOS_STALE}


def onset_tolerance(kind: str) -> timedelta:
    """How far apart two decks may date the onset of one fault of that kind."""
    return _NOTICED_APART if kind in _NOTICED else _DATED_APART


def is_normal(features: SampleFeatures, thresholds: Thresholds) -> bool:
    """Whether no SampleDetector classifies the sample as BAD: nearly all are so, and this finds it at a tenth of the
    cost."""
    return (
        delivery.is_normal(features) and video.is_normal(features, thresholds) and audio.is_normal(features, thresholds)
    )

"""The table of alarm kinds: everything that is particular to a kind stands in its one entry.

To add one: an entry in the file of its subject. Health, suppression, the PLATFORM incident, diagnosis and the fold over
samples read the table. Its order is the order of an event's findings of one severity.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from livedeck.monitor.kinds import audio, delivery, video
from livedeck.monitor.kinds.audio import AUDIO_KINDS
from livedeck.monitor.kinds.deck import DECK_KINDS
from livedeck.monitor.kinds.delivery import DELIVERY_KINDS
from livedeck.monitor.kinds.ingest import INGEST_KINDS
from livedeck.monitor.kinds.kind import AlarmKind
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


def is_normal(features: SampleFeatures, thresholds: Thresholds) -> bool:
    """Whether no SampleDetector classifies the sample as BAD: nearly all are so, and this finds it at a tenth of the
    cost."""
    return (
        delivery.is_normal(features) and video.is_normal(features, thresholds) and audio.is_normal(features, thresholds)
    )

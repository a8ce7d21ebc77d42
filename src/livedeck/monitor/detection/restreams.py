"""RESTREAM_DOWN: the copies of an event's stream that do not reach their platforms (monitoring.md, "Alarms"). Pure.

It is a fold over the answers of the event list, as `detection` is one over the samples.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from livedeck.client import Event, EventRestream
from livedeck.monitor.detection.detect import MOST, episode, moment
from livedeck.monitor.model.state import Episode, Finding, Severity
from livedeck.monitor.model.thresholds import Thresholds
from livedeck.monitor.signal.hysteresis import (
    BAD,
    DEADBAND,
    GOOD,
    FaultInterval,
    Level,
    has_cleared,
    on_bad_sample,
    on_other_sample,
)
from livedeck.text.values import safe

RESTREAM_DOWN = "RESTREAM_DOWN"


CONNECTED = "connected"


@dataclass(frozen=True, slots=True)
class RestreamHistory:
    """By id: `spells`, pending ones too; `well`: when it was last seen connected (epoch s, server clock).

    `names`: what people call them. `past`: those that are over. `listed`: the last answer.
    """

    spells: Mapping[str, FaultInterval] = field(default_factory=dict)
    well: Mapping[str, float] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    past: tuple[Episode, ...] = ()
    listed: float = 0.0


def update(
    known: RestreamHistory, event: Event, as_of: float, on_air: float | None, thresholds: Thresholds
) -> RestreamHistory:
    """What is known after the event was listed at `as_of`; `on_air`: since when its own stream arrives well, or None
    where it does not (epoch s, server clock). Without that nobody can say whether a restream would connect.

    A restream is down since the platform changed it (`updated_at`, and `created_at` before the first change), unless
    it was seen well after that: then the stamp does not tell, and it is down since that was first seen. It is well
    since a stamp later than the last list, or since it was first seen well.
    """
    enabled = [one for one in event.restreams or () if one.id and one.enabled]
    spells = {one.id: _stepped(known, one, as_of, on_air, thresholds) for one in enabled}
    standing = {key: spell for key, spell in spells.items() if key and spell and not _over(spell, as_of, thresholds)}
    if standing and len(standing) == len(enabled) and all(spell.raised for spell in standing.values()):
        standing = {key: spell._replace(severity=Severity.CRITICAL) for key, spell in standing.items()}
    ended = _ended(known, standing, as_of)
    return RestreamHistory(
        spells=standing,
        well={one.id: as_of if one.status == CONNECTED else known.well.get(one.id, 0.0) for one in enabled if one.id},
        names={one.id: safe(one.name or one.id) for one in enabled if one.id},
        past=(*known.past, *ended)[-MOST:] if ended else known.past,
        listed=as_of,
    )


def of_restreams(known: RestreamHistory) -> tuple[Finding, ...]:
    """One finding a restream that is down."""
    return tuple(
        Finding(RESTREAM_DOWN, spell.severity, *spell.words, moment(spell.since), key, known.names[key])
        for key, spell in known.spells.items()
        if spell.raised
    )


def told(known: RestreamHistory) -> Iterable[Episode]:
    """Present and past faults."""
    yield from known.past
    for key, spell in known.spells.items():
        if spell.raised:
            yield episode(RESTREAM_DOWN, spell, None, key)


def _stepped(
    known: RestreamHistory, one: EventRestream, as_of: float, on_air: float | None, thresholds: Thresholds
) -> FaultInterval | None:
    spell, sign = known.spells.get(one.id or ""), _sign(one, on_air)
    if sign != BAD:
        healed = _stamp(one) if _stamp(one) > known.listed else as_of
        return on_other_sample(spell, sign, as_of, healed) if spell else None
    words = f"{safe(one.name or '')} {safe(one.status or '')}".strip(), CONNECTED
    begun = _begun(one, known.well.get(one.id or "", 0.0), as_of, on_air or 0.0)
    fresh = FaultInterval(begun, begun, Severity.WARNING, words)
    return on_bad_sample(spell or fresh, as_of, words, thresholds.restream_hold)


def _sign(one: EventRestream, on_air: float | None) -> Level:
    if one.status is None:
        return DEADBAND
    if one.status == CONNECTED:
        return GOOD
    return DEADBAND if on_air is None else BAD


def _begun(one: EventRestream, well: float, as_of: float, on_air: float) -> float:
    stamp = _stamp(one)
    return min(as_of, max(stamp, on_air)) if stamp > well else as_of


def _stamp(one: EventRestream) -> float:
    """When the platform last changed it; 0 where it does not say."""
    changed = one.updated_at or one.created_at
    return changed.timestamp() if changed else 0.0


def _over(spell: FaultInterval, as_of: float, thresholds: Thresholds) -> bool:
    return has_cleared(spell, as_of, thresholds.restream_hold.off)


def _ended(known: RestreamHistory, standing: Mapping[str, FaultInterval], as_of: float) -> tuple[Episode, ...]:
    """The faults that are gone: healed, switched off or removed."""
    gone = [(key, spell) for key, spell in known.spells.items() if spell.raised and key not in standing]
    return tuple(episode(RESTREAM_DOWN, spell, as_of if spell.good is None else spell.good, key) for key, spell in gone)

"""Glyph, word and style role of every state.

They are the same in the deck, on the wall and on the command line. Data.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from livedeck.monitor import AlarmState, AttachmentState, AuditOutcome, BroadcastState, ConnectionState, Grade, Severity
from livedeck.text.segments import Segment, StyleRole


class Badge(NamedTuple):
    """Appearance of a state. Its glyph and word show the state without the colour."""

    glyph: str
    word: str
    role: StyleRole


TALLY_BADGES: Mapping[BroadcastState, Badge] = MappingProxyType(
    {
        BroadcastState.ON_AIR: Badge("●", "ON AIR", StyleRole.TEXT),
        BroadcastState.RECONNECTING: Badge("◌", "RECONN", StyleRole.STRONG),
        BroadcastState.LOST: Badge("✖", "LOST", StyleRole.STRONG),
        BroadcastState.LATE: Badge("▲", "LATE", StyleRole.WARNING),
        BroadcastState.SCHEDULED: Badge("○", "SCHED", StyleRole.DIM),
        BroadcastState.DRAFT: Badge("·", "DRAFT", StyleRole.DIM),
        BroadcastState.COMPLETED: Badge("■", "DONE", StyleRole.DIM),
        BroadcastState.UNKNOWN: Badge("?", "UNKNOWN", StyleRole.DIM),
    }
)

NO_GO_BADGE = Badge("✖", "NO-GO", StyleRole.STRONG)
"""Badge in place of the tally, for an event that is about to start but is not ready."""

SILENCE_GLYPH = "M"
"""Glyph of a silence, for maintenance."""

LAMP_ROLES: Mapping[BroadcastState, StyleRole] = MappingProxyType(
    {
        BroadcastState.ON_AIR: StyleRole.ON_AIR,
        BroadcastState.RECONNECTING: StyleRole.CRITICAL_MARK,
        BroadcastState.LOST: StyleRole.CRITICAL_MARK,
        BroadcastState.LATE: StyleRole.WARNING,
        BroadcastState.SCHEDULED: StyleRole.INFO,
    }
)
"""Role of the glyph before the word of `TALLY_BADGES`. Other states have a dim glyph."""

SEVERITY_BADGES: Mapping[Severity, Badge] = MappingProxyType(
    {
        Severity.CRITICAL: Badge("✖", "CRIT", StyleRole.CRITICAL),
        Severity.WARNING: Badge("▲", "WARN", StyleRole.WARNING),
        Severity.INFO: Badge("●", "INFO", StyleRole.INFO),
    }
)


def severity_chip(severity: Severity, glyph: str = "") -> Segment:
    """Return glyph and word of a severity with a blank at each end, as a chip. `glyph` replaces the usual glyph."""
    own_glyph, word, role = SEVERITY_BADGES[severity]
    chip = StyleRole.WARNING_CHIP if severity is Severity.WARNING else role
    return f" {glyph or own_glyph} {word} ", chip


def words_role(severity: Severity) -> StyleRole:
    """Return the role of the words beside the chip.

    Words of a critical alarm are not red. To people who cannot see red, a warning would look brighter.
    """
    return StyleRole.STRONG if severity is Severity.CRITICAL else SEVERITY_BADGES[severity].role


SEVERITY_RANKS: Mapping[Severity, int] = MappingProxyType({severity: rank for rank, severity in enumerate(Severity)})
"""Rank of each severity. 0 is the worst."""

GRADE_BADGES: Mapping[Grade, Badge] = MappingProxyType(
    {
        Grade.GOOD: Badge("✓", "GOOD", StyleRole.OK),
        Grade.FAIR: Badge("▲", "FAIR", StyleRole.WARNING),
        Grade.POOR: Badge("✖", "POOR", StyleRole.CRITICAL),
        Grade.NO_DATA: Badge("✖", "NO DATA", StyleRole.CRITICAL),
        Grade.STALE: Badge("▒", "STALE", StyleRole.STALE),
        Grade.WARM_UP: Badge("●", "WARM-UP", StyleRole.INFO),
        Grade.NONE: Badge("", "", StyleRole.DIM),
    }
)

ALARM_STATE_BADGES: Mapping[AlarmState, Badge] = MappingProxyType(
    {
        AlarmState.UNACKNOWLEDGED: Badge("!", AlarmState.UNACKNOWLEDGED.words, StyleRole.STRONG),
        AlarmState.RETURNED: Badge("r", AlarmState.RETURNED.words, StyleRole.WARNING),
        AlarmState.ACKNOWLEDGED: Badge("a", AlarmState.ACKNOWLEDGED.words, StyleRole.TEXT),
        AlarmState.SHELVED: Badge("s", AlarmState.SHELVED.words, StyleRole.DIM),
        AlarmState.SUPPRESSED: Badge("p", AlarmState.SUPPRESSED.words, StyleRole.DIM),
        AlarmState.OUT_OF_SERVICE: Badge("o", AlarmState.OUT_OF_SERVICE.words, StyleRole.DIM),
        AlarmState.CLEARED: Badge("-", AlarmState.CLEARED.words, StyleRole.DIM),
    }
)
"""Badges of the alarm states of ISA-18.2."""

CONNECTION_BADGES: Mapping[ConnectionState, Badge] = MappingProxyType(
    {
        ConnectionState.OK: Badge("✓", "link ok", StyleRole.OK),
        ConnectionState.CONNECTING: Badge("○", "connecting", StyleRole.INFO),
        ConnectionState.POOR: Badge("▲", "link poor", StyleRole.WARNING),
        ConnectionState.FAILING: Badge("▲", "link FAILING", StyleRole.WARNING),
        ConnectionState.BLIND: Badge("✖", "BLIND", StyleRole.CRITICAL),
    }
)

ATTACHMENT_BADGES: Mapping[AttachmentState, Badge] = MappingProxyType(
    {
        AttachmentState.LISTING: Badge("○", "attaching to collector", StyleRole.INFO),
        AttachmentState.WATCHING: Badge("✓", "collector", StyleRole.OK),
        AttachmentState.RESUMING: Badge("◌", "reaching collector", StyleRole.WARNING),
        AttachmentState.SILENT: Badge("✖", "COLLECTOR SILENT", StyleRole.CRITICAL),
        AttachmentState.REFUSED: Badge("✖", "COLLECTOR REFUSES", StyleRole.CRITICAL),
        AttachmentState.ALONE: Badge("▲", "POLLING ALONE", StyleRole.WARNING),
    }
)

OUTCOME_BADGES: Mapping[AuditOutcome, Badge] = MappingProxyType(
    {
        AuditOutcome.DONE: Badge("✓", "done", StyleRole.OK),
        AuditOutcome.APPLIED: Badge("✓", "applied", StyleRole.OK),
        AuditOutcome.NOT_APPLIED: Badge("✖", "not applied", StyleRole.CRITICAL),
        AuditOutcome.REFUSED: Badge("▲", "refused", StyleRole.WARNING),
        AuditOutcome.UNKNOWN: Badge("?", "unknown", StyleRole.CRITICAL),
    }
)

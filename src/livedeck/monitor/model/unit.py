"""Units in which a platform may count bit rates (monitoring.md, "Unit of the bit rates")."""

from __future__ import annotations

from enum import StrEnum


class BitrateUnit(StrEnum):
    """Unit of the bit rates in a platform's answers, per second. The deck itself counts in bit/s everywhere."""

    BIT = "bit"
    KBIT = "kbit"

    @property
    def bits(self) -> float:
        """Number of bits in the unit."""
        return 1000.0 if self is BitrateUnit.KBIT else 1.0

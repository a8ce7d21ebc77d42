"""Possible units of a platform's bit rates (monitoring.md, "Unit of the bit rates")."""

from __future__ import annotations

from enum import StrEnum


class BitrateUnit(StrEnum):
    """Unit of the bit rates in a platform's replies, per second. Everything else in livedeck is in bit/s."""

    BIT = "bit"
    KBIT = "kbit"

    @property
    def bits(self) -> float:
        """Number of bits in the unit."""
        return 1000.0 if self is BitrateUnit.KBIT else 1.0

"""Inks name what a piece of text means. What each looks like is written in themes.py alone."""

from __future__ import annotations

from enum import StrEnum


class Ink(StrEnum):
    """The meaning of a span."""

    TEXT = "text"
    STRONG = "strong"
    DIM = "dim"
    HEAD = "head"
    RULE = "rule"

    ON_AIR = "on-air"
    READY = "ready"
    PENDING = "pending"
    LOST = "lost"
    OFF = "off"

    OK = "ok"
    INFO = "info"
    WARNING = "warning"
    CRITICAL = "critical"
    STALE = "stale"

    KEY_20 = "key-20"
    KEY_50 = "key-50"
    LOSS = "loss"
    ODD = "odd"

    VIDEO = "video"
    AUDIO = "audio"
    FPS = "fps"
    LIMIT = "limit"
    BAND = "band"
    OVER = "over"

    BANNER = "banner"
    BANNER_BLIND = "banner-blind"

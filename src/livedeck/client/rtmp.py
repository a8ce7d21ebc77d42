"""RTMP addresses, as a draft takes them. Pure."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator


def _address(url: str) -> str:
    kept = url.replace(" ", "").rstrip("/")  # as the service does (platform-api.md, 2, "Relay profile")
    try:
        parts = urlsplit(kept)
        good = parts.scheme in {"rtmp", "rtmps"} and parts.hostname and parts.port != 0
    except ValueError:
        good = False
    if not good or not kept.isprintable():
        raise ValueError("should be an rtmp:// or rtmps:// address")
    return kept


RtmpUrl = Annotated[str, AfterValidator(_address)]
"""An rtmp or rtmps address without spaces, and without slashes at its end (decisions.md)."""

"""Error of a peer that breaks the protocol or a limit."""

from __future__ import annotations


class ProtocolError(Exception):
    """The peer sent bytes that are not RTMP, or that exceed a limit. The message never contains bytes of the peer."""

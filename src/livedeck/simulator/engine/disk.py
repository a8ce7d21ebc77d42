"""Disk that may be full: the log gets one message when it fills and one when it has room again."""

from __future__ import annotations

import errno
import logging

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}

_log = logging.getLogger("livedeck.simulator")


def is_disk_full(error: BaseException) -> bool:
    """Return whether a write failed for lack of room."""
    return isinstance(error, OSError) and error.errno in _FULL


class Disk:
    """Last known state of the disk: full or not."""

    def __init__(self) -> None:
        self._is_full = False

    def refuse(self, error: BaseException) -> None:
        """Record that the disk refused a change; log it unless the disk was full already."""
        if not self._is_full:
            _log.error("the disk is full: changes are refused until there is room (%s)", error)
        self._is_full = True

    def take(self) -> None:
        """Record that the disk stored a change; log it if the disk was full."""
        if self._is_full:
            _log.warning("the disk has room again: changes are stored")
        self._is_full = False

"""A disk that is full: the first write that it refuses is said, and so is the first one that it takes again."""

from __future__ import annotations

import errno
import logging

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}

_log = logging.getLogger("livedeck.simulator")


def is_disk_full(error: BaseException) -> bool:
    """Whether there is no room for what was to be written."""
    return isinstance(error, OSError) and error.errno in _FULL


class Disk:
    """Whether the disk takes what is written, as far as it was tried."""

    def __init__(self) -> None:
        self._is_full = False

    def refuse(self, error: BaseException) -> None:
        """It took nothing of a change."""
        if not self._is_full:
            _log.error("the disk is full: changes are refused until there is room (%s)", error)
        self._is_full = True

    def take(self) -> None:
        """It took a change."""
        if self._is_full:
            _log.warning("the disk has room again: changes are stored")
        self._is_full = False

"""Limits that hold as soon as they are written into the settings file (monitoring.md, "Changed limits")."""

from __future__ import annotations

from livedeck.environment import SettingsError, config_path
from livedeck.monitor import Limits, LimitsError
from livedeck.settings.loading import load_limits


class WatchedLimits:
    """The monitor's LimitsSource: one `stat` of the settings file a look, and what stands in it once it was written."""

    def __init__(self) -> None:
        self._written = _written()

    def changed(self) -> Limits | None:
        """The limits in force, where the file was written since the last look; else None. Raises LimitsError with the
        line that is wrong, once for what was written."""
        before, self._written = self._written, _written()
        if before == self._written:
            return None
        try:
            return load_limits().limits()
        except SettingsError as error:
            raise LimitsError(str(error)) from None


def _written() -> tuple[int, int, int] | None:
    """Which file it is, how long, and when it was written last; None where there is none."""
    try:
        status = config_path().stat()
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns

"""Settings that take effect without a restart: limits of alarms, and tokens of the collector.

See monitoring.md, "Changed limits", and collector.md, "Access".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from livedeck.environment import SettingsError, config_path
from livedeck.log import Log
from livedeck.monitor import Limits, LimitsError
from livedeck.settings.loading import load_limits, load_sharing
from livedeck.settings.model import CollectorTokenSettings


class WatchedLimits:
    """Source of limits for the monitor that reads the settings file. Each check costs one `stat` of the file."""

    def __init__(self) -> None:
        self._written = _written()

    def changed(self) -> Limits | None:
        """Return the limits in force if the file was written since the last check; otherwise None.

        After a faulty write, raises LimitsError once. Its message has the number of the faulty line.
        """
        before, self._written = self._written, _written()
        if before == self._written:
            return None
        try:
            return load_limits().limits_in_force()
        except SettingsError as error:
            raise LimitsError(str(error)) from None


class WatchedTokens:
    """Tokens of the collector by name, reloaded when the settings file changes.

    Checks the file by a `stat`, at most once in `seconds`. While the file cannot be read, the previous tokens stay in
    force. `monotonic`: returns monotonic seconds.
    """

    def __init__(
        self, tokens: Mapping[str, CollectorTokenSettings], monotonic: Callable[[], float], seconds: float = 1.0
    ) -> None:
        self._tokens, self._monotonic, self._seconds = tokens, monotonic, seconds
        self._written, self._looked_at = _written(), monotonic()

    def __call__(self) -> Mapping[str, CollectorTokenSettings]:
        """Return the tokens in force."""
        now = self._monotonic()
        if now - self._looked_at >= self._seconds:
            before, self._written, self._looked_at = self._written, _written(), now
            if before != self._written:
                self._read()
        return self._tokens

    def _read(self) -> None:
        try:
            self._tokens = load_sharing().collector.tokens
        except SettingsError as error:
            _log.warning("could not reload the tokens of the collector", error=str(error))


_log = Log("livedeck.settings")


def _written() -> tuple[int, int, int] | None:
    """Return inode, size and modification time of the settings file; None if it does not exist."""
    try:
        status = config_path().stat()
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns

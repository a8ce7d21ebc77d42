"""Settings that hold as soon as they are written into the file: limits (monitoring.md, "Changed limits"), and who may
ask the collector (collector.md, "Access")."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import structlog

from livedeck.environment import SettingsError, config_path
from livedeck.monitor import Limits, LimitsError
from livedeck.settings.loading import load_limits, load_sharing
from livedeck.settings.model import CollectorTokenSettings


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


class WatchedTokens:
    """Who may ask the collector, by name: one `stat` of the settings file each `seconds` at most. While the file cannot
    be read, those of before. `monotonic`: s."""

    def __init__(
        self, tokens: Mapping[str, CollectorTokenSettings], monotonic: Callable[[], float], seconds: float = 1.0
    ) -> None:
        self._tokens, self._monotonic, self._seconds = tokens, monotonic, seconds
        self._written, self._looked_at = _written(), monotonic()

    def __call__(self) -> Mapping[str, CollectorTokenSettings]:
        """Those in force."""
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
            _log.warning("the tokens of the collector stay as they were", error=str(error))


_log: Any = structlog.get_logger("livedeck.settings")


def _written() -> tuple[int, int, int] | None:
    """Which file it is, how long, and when it was written last; None where there is none."""
    try:
        status = config_path().stat()
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns

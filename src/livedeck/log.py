"""Loggers of livedeck. structlog imports parts of rich, so it is imported only for the first line of the log."""

from __future__ import annotations

import sys
from collections.abc import Callable
from threading import Lock
from typing import Any


class Log:
    """Logger of structlog. Each line of the log has an event in words, and values by name."""

    def __init__(self, name: str) -> None:
        self._name = name

    def info(self, event: str, /, **values: object) -> None:
        """Log an event that a reader of the log may look for."""
        _backend.logger(self._name).info(event, **values)

    def warning(self, event: str, /, **values: object) -> None:
        """Log a fault that does no harm."""
        _backend.logger(self._name).warning(event, **values)

    def error(self, event: str, /, **values: object) -> None:
        """Log a failure."""
        _backend.logger(self._name).error(event, **values)

    def exception(self, event: str, /, **values: object) -> None:
        """Log the exception that is being handled, with its traceback."""
        _backend.logger(self._name).exception(event, **values)


class _Backend:
    """Imports structlog and configures it before the first line of the log."""

    def __init__(self) -> None:
        self._configure: Callable[[], None] | None = None
        self._lock = Lock()

    def configure(self, configure: Callable[[], None]) -> None:
        """Call `configure` before the next line of the log, or at once if structlog is in use."""
        with self._lock:
            self._configure = configure
        if "structlog" in sys.modules:
            self.prepare()

    def prepare(self) -> None:
        """Import structlog, so that the next line does not wait for the import."""
        with self._lock:  # structlog that is not configured would print lines on the screen
            if self._configure is not None:
                self._configure()
                self._configure = None

    def logger(self, name: str) -> Any:
        """Return structlog's logger with this name."""
        self.prepare()
        import structlog

        return structlog.get_logger(name)


_backend = _Backend()
configure, prepare = _backend.configure, _backend.prepare

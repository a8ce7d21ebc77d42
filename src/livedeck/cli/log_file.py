"""The log: a rotating file, because anything on stderr would tear the screen."""

from __future__ import annotations

import json
import logging
import re
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path

import structlog
from structlog.typing import Processor

_CREDENTIAL = re.compile(r"(?i)(bearer\s+|\b(?:sign|token)=|stream_?key[\\\"'=:\s]+)[^\s\\\"'&,}]+")

_HIDDEN: set[str] = set()


def hide(secret: str) -> None:
    """Never write this text to the log, whoever logs it and wherever it stands."""
    _HIDDEN.update((secret, json.dumps(secret, ensure_ascii=False)[1:-1]))


class _Redacted(structlog.stdlib.ProcessorFormatter):
    """The last net, over the finished line: exceptions and other libraries' words pass through it too."""

    def format(self, record: logging.LogRecord) -> str:
        line = super().format(record)
        for secret in _HIDDEN:
            line = line.replace(secret, "••••")
        return _CREDENTIAL.sub(r"\1••••", line)


class _PrivateFile(RotatingFileHandler):
    """Every file of the rotation is readable by its owner alone."""

    def _open(self) -> TextIOWrapper:
        file = super()._open()
        Path(self.baseFilename).chmod(0o600)
        return file

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  the name that logging calls
        """Nothing: logging would print what was to be written on stderr, over the screen and before it is redacted."""


def log_to(path: Path) -> None:
    """Send every log line to that file; where its folder cannot be written there is no log, and never a torn screen."""
    said: list[Processor] = [
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.ExceptionRenderer(
            structlog.tracebacks.ExceptionDictTransformer(show_locals=False, max_frames=30)
        ),
    ]
    handler, line = _handler(path), structlog.processors.JSONRenderer(ensure_ascii=False)
    handler.addFilter(_belongs_in_the_log)
    handler.setFormatter(_Redacted(processor=line, foreign_pre_chain=said))
    logging.basicConfig(handlers=[handler], level=logging.INFO, force=True)
    structlog.configure(
        processors=[*said, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
    )


def _belongs_in_the_log(record: logging.LogRecord) -> bool:
    """Our own lines, and warnings of other libraries: below that they write signed addresses and secret headers."""
    return record.name.partition(".")[0] == "livedeck" or record.levelno >= logging.WARNING


def _handler(path: Path) -> logging.Handler:
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        return _PrivateFile(path, maxBytes=2_000_000, backupCount=3, encoding="utf-8", errors="backslashreplace")
    except OSError:
        return logging.NullHandler()

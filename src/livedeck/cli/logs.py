"""The log: a rotating file, because anything on stderr would tear the screen."""

from __future__ import annotations

import logging
import re
from collections.abc import MutableMapping
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any

import structlog

_BEARER = re.compile(r"(?i)(bearer\s+|sign=|stream_?key[\"'=:\s]+)[^\s\"'&,}]+")


def log_to(path: Path) -> None:
    """Send every log line to that file; where its folder cannot be written there is no log, and never a torn screen."""
    handler = _handler(path)
    handler.setFormatter(structlog.stdlib.ProcessorFormatter(processor=structlog.processors.JSONRenderer()))
    logging.basicConfig(handlers=[handler], level=logging.INFO, force=True)
    logging.getLogger("httpx").setLevel(logging.WARNING)
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.ExceptionRenderer(
                structlog.tracebacks.ExceptionDictTransformer(show_locals=False, max_frames=30)
            ),
            redacted,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )


def _handler(path: Path) -> logging.Handler:
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.parent.chmod(0o700)  # what the rotation makes in it is private by that
        return RotatingFileHandler(path, maxBytes=2_000_000, backupCount=3, encoding="utf-8")
    except OSError:
        return logging.NullHandler()


def redacted(_logger: object, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """The last net: what looks like a credential in a line is cut out, whoever wrote it."""
    for key, value in event.items():
        if isinstance(value, str):
            event[key] = _BEARER.sub(r"\1••••", value)
    return event

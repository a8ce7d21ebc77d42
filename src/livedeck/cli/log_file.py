"""Log: a rotating file, because text on standard error would corrupt the screen."""

from __future__ import annotations

import json
import logging
import os
from functools import cached_property
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import TYPE_CHECKING, Any

from livedeck import log
from livedeck.atomic_file import open_private
from livedeck.cli.output import echo
from livedeck.text.outside import escaped_json
from livedeck.text.secrets import mask_value, masked

if TYPE_CHECKING:
    from structlog.typing import EventDict, Processor


def _mask_line(_logger: object, _method: str, line: EventDict) -> EventDict:
    """Mask secrets in every text of a log line, including exceptions. Covers lines of other libraries too."""
    return {name: mask_value(_plain(value)) for name, value in line.items()}


def _plain(value: object) -> object:
    """Return the value in JSON types. Other types become their repr, so that secrets in it can be masked."""
    return json.loads(json.dumps(value, default=repr))


def _to_json(value: object, **options: Any) -> str:
    """Return the value as JSON with control characters escaped, because people read the log on a terminal."""
    return escaped_json(json.dumps(value, ensure_ascii=False, **options))


class _PrivateFileHandler(RotatingFileHandler):
    """Rotating log whose files only their owner can read."""

    def _open(self) -> TextIOWrapper:
        descriptor = open_private(Path(self.baseFilename), os.O_WRONLY | os.O_APPEND)
        return TextIOWrapper(
            os.fdopen(descriptor, "ab"), encoding=self.encoding, errors=self.errors, write_through=True
        )

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  the name in logging
        """Drop a line that cannot be written: logging would print it unmasked on standard error, over the screen."""


def start_logging(path: Path) -> None:
    """Write every log line to the file. Without write access there is no log, and the screen stays intact."""
    handler = _handler(path)
    handler.addFilter(_belongs_in_the_log)
    handler.setFormatter(_Formatter())
    logging.basicConfig(handlers=[handler], level=logging.INFO, force=True)
    log.configure(_configure)


def _configure() -> None:
    import structlog

    structlog.configure(
        processors=[*_processors(), structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
    )


def _processors() -> list[Processor]:
    from structlog import processors, tracebacks

    return [
        processors.add_log_level,
        processors.TimeStamper(fmt="iso", utc=True),
        processors.ExceptionRenderer(tracebacks.ExceptionDictTransformer(show_locals=False, max_frames=30)),
    ]


class _Formatter(logging.Formatter):
    """Formatter that makes structlog's formatter at the first line."""

    @cached_property
    def _formatter(self) -> logging.Formatter:
        from structlog import processors, stdlib

        return stdlib.ProcessorFormatter(
            processors=[
                stdlib.ProcessorFormatter.remove_processors_meta,
                _mask_line,
                processors.JSONRenderer(serializer=_to_json),
            ],
            foreign_pre_chain=_processors(),
        )

    def format(self, record: logging.LogRecord) -> str:
        """Return a line of JSON."""
        return self._formatter.format(record)


def _belongs_in_the_log(record: logging.LogRecord) -> bool:
    """Return whether to log a line: every line of livedeck, but only warnings of libraries.

    Other lines of libraries may hold secrets.
    """
    return record.name.partition(".")[0] == "livedeck" or record.levelno >= logging.WARNING


def _handler(path: Path) -> logging.Handler:
    try:
        return _PrivateFileHandler(path, maxBytes=2_000_000, backupCount=3, encoding="utf-8", errors="backslashreplace")
    except OSError:
        return logging.NullHandler()


class _RequestPrinter(logging.Handler):
    """Handler that prints each request on standard error: method, path, status, duration; secrets are masked."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print the line of a request."""
        echo(f"livedeck: {masked(record.getMessage())}", err=True)


def print_requests() -> None:
    """Print every request from now on; a second call changes nothing."""
    client = logging.getLogger("livedeck.client")
    client.setLevel(logging.DEBUG)
    if not any(isinstance(handler, _RequestPrinter) for handler in client.handlers):
        client.addHandler(_RequestPrinter())

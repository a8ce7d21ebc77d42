"""The log is private and whole, and without secrets, whoever writes to it."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from datetime import datetime
from logging.handlers import RotatingFileHandler
from pathlib import Path

import pytest
import structlog

from cli.commands import logging_restored
from client.answers import listening
from livedeck.cli.log_file import start_logging
from livedeck.client import Api, ApiError
from livedeck.text.secrets import register_secret

SECRET = "a-token-that-nobody-knows"


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    """Restore the logging of the test run at the end."""
    with logging_restored():
        yield


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Log file that is in force for one test."""
    start_logging(tmp_path / "logs" / "livedeck.log")
    return tmp_path / "logs" / "livedeck.log"


def written(log: Path) -> str:
    """Return the whole log. Every line must be JSON."""
    text = log.read_text(encoding="utf-8")
    assert all(json.loads(line) for line in text.splitlines())
    return text


def test_a_secret_with_signs_that_json_escapes_is_nowhere_either(log: Path) -> None:
    register_secret('pass"word\\of"somebody')
    structlog.get_logger().warning("asked", said='pass"word\\of"somebody')
    assert "somebody" not in written(log)


def test_a_known_secret_is_nowhere_whoever_logs_it(log: Path) -> None:
    register_secret(SECRET)
    ours, other = structlog.get_logger(), logging.getLogger("another.library")
    ours.warning("asked", token=SECRET, nested={"deep": [SECRET]})
    other.warning("sent %s", SECRET)
    fault = ValueError(f"Bearer {SECRET}")
    ours.error("failed", exc_info=fault)
    other.error("failed", exc_info=fault)
    assert SECRET not in written(log)
    assert "ValueError" in written(log)


def test_a_line_of_another_library_says_when_how_grave_and_where(log: Path) -> None:
    """An exception that asyncio found in a task is of no use without its traceback."""

    def broken() -> None:
        raise ValueError(SECRET)

    register_secret(SECRET)
    try:
        broken()
    except ValueError:
        logging.getLogger("asyncio").exception("Task exception was never retrieved")
    (line,) = map(json.loads, written(log).splitlines())
    assert line["level"] == "error"
    assert datetime.fromisoformat(line["timestamp"]).tzinfo
    assert line["exception"][0]["frames"][-1]["name"] == "broken"
    assert SECRET not in str(line)


@pytest.mark.parametrize(
    "line", ["Authorization: Bearer abc.def-123", "https://x.example/f?expires=1&sign=abc.def-123"]
)
def test_what_looks_like_a_credential_is_cut_out(log: Path, line: str) -> None:
    logging.getLogger("another.library").warning(line)
    assert "abc.def-123" not in written(log)


def test_the_files_are_private_after_a_rotation_too(log: Path) -> None:
    for _ in range(60):
        logging.getLogger("another.library").warning("x" * 50_000)
    files = list(log.parent.iterdir())
    assert len(files) > 1
    assert not [file for file in files if file.stat().st_mode & 0o077]


def test_a_folder_that_cannot_be_written_is_no_fault(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").touch()
    start_logging(tmp_path / "file" / "livedeck.log")
    structlog.get_logger().warning("nobody hears this")
    assert capfd.readouterr() == ("", "")


def test_a_line_that_cannot_be_made_is_lost_without_a_word(log: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """logging itself would print a traceback and what was to be written, which nobody has redacted."""
    (ours,) = (one for one in logging.getLogger().handlers if isinstance(one, RotatingFileHandler))
    ours.handle(
        logging.makeLogRecord({"name": "livedeck.test", "levelno": logging.INFO, "msg": "%d pieces", "args": (SECRET,)})
    )
    ours.handle(
        logging.makeLogRecord({"name": "livedeck.test", "levelno": logging.INFO, "msg": "half a pair: \ud83d"})
    )  # which no report of a test run can hold
    assert capfd.readouterr() == ("", "")
    assert "half a pair" in written(log)


async def test_with_debug_logging_everywhere_the_wire_is_not_in_the_log(log: Path, tmp_path: Path) -> None:
    """httpx and httpcore write signed addresses below WARNING, and hpack of HTTP/2 writes the token."""
    logging.getLogger().setLevel(logging.DEBUG)
    away = b"HTTP/1.1 302 Away\r\nLocation: https://cdn.example.com/?v=signature-1\r\nContent-Length: 0\r\n\r\n"
    async with listening(away) as (address, _heads), Api(base_url=address, token=SECRET) as api:
        with pytest.raises(ApiError):
            await api.events.list()
        with pytest.raises(ApiError):
            await api.cdn.save(f"{address}/a.vtt?v=signature-2", tmp_path / "a.vtt", "download")
    logging.getLogger("hpack.hpack").debug("Adding (%s) to the header table", f"Bearer {SECRET}")
    structlog.get_logger("livedeck.test").info("asked")
    text = written(log)
    assert "asked" in text
    assert SECRET not in text
    assert "signature" not in text

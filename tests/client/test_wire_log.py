"""The log of `livedeck.client`: a line for each answer at DEBUG, without a secret (trust.md, "Secrets")."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from client.answers import EMPTY_LIST, TOKEN, api_of, listening, saying
from client.test_transport import api_at, nobody
from livedeck.client import Unreachable


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.DEBUG, "livedeck.client")
    return caplog


def lines(log: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in log.records if record.name == "livedeck.client"]


async def test_an_answer_is_logged_with_what_its_support_asks_for(log: pytest.LogCaptureFixture) -> None:
    """Method, path without query, status, time and the answer's own request id."""
    ticks = iter(range(100))
    platform = saying({"data": []}, headers={"X-Request-ID": "req-81"})
    async with api_of(platform, timer=lambda: next(ticks) / 8) as api:
        await api.events.list()
    assert lines(log) == ["GET /v2/live/events: 200 after 125 ms, request id req-81"]


async def test_what_got_no_answer_is_logged_with_its_cause(log: pytest.LogCaptureFixture) -> None:
    async with api_at(nobody()) as api:
        with pytest.raises(Unreachable):
            await api.events.enable("e")
    assert lines(log) == ["PUT /v2/live/events/e/enable: no response (refused)"]


async def test_no_line_shows_a_secret_or_begins_another(log: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    """Though the platform calls a request by the token, an id breaks the line, and a link is signed."""
    async with api_of(saying({"data": []}, headers={"X-Request-ID": f"id-of-{TOKEN}"})) as api:
        await api.qos.get("e\n\x1b[31m")
        await api.cdn.save("https://cdn.example/a.vtt?expires=1&sign=s3cretsign", tmp_path / "a", "download")
    logged = lines(log)
    assert len(logged) == 2
    assert all(line.isprintable() for line in logged)
    assert TOKEN not in str(logged)
    assert "s3cretsign" not in str(logged)
    assert "https://cdn.example/••••?••••" in logged[1]


async def test_a_host_that_logs_everything_at_info_reads_no_signature(
    caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    """Whichever library logs it."""
    caplog.set_level(logging.INFO)
    async with listening(EMPTY_LIST) as (cdn, heads), api_at(cdn) as api:
        await api.cdn.save(f"{cdn}/a.vtt?expires=1&sign=s3cretsign", tmp_path / "a", "download")
    assert b"s3cretsign" in heads[0]
    assert "s3cretsign" not in caplog.text

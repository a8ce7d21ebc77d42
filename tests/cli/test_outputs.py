"""`config check` and `doctor` name unreachable receivers of tally or OTLP, and send them nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from livedeck.cli.collect.outputs import output_faults
from livedeck.cli.doctor import check_outputs
from livedeck.settings import Settings

WALL = {"targets": {"wall": {"address": "127.0.0.1:8900", "displays": {"one": 1}}}}


def settings(**fields: Any) -> Settings:
    return Settings.model_validate({"base_url": "https://platform.example", **fields})


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"tally": WALL}, "tally.targets.wall: not sent: 127.0.0.1 is on this machine"),
        ({"otlp": {"endpoint": "http://127.0.0.1:4318"}}, "otlp: not sent: 127.0.0.1 is on this machine"),
        ({"otlp": {"endpoint": "https://192.0.2.1", "token_file": "/nowhere/token"}}, "otlp.token_file"),
        ({"collector": {"pagerduty_secret_file": "/nowhere/secret"}}, "collector.pagerduty_secret_file"),
    ],
)
async def test_what_cannot_be_used_is_named(fields: dict[str, Any], words: str) -> None:
    faults = await output_faults(settings(**fields))
    assert any(words in fault for fault in faults), faults
    assert {check.code for check in await check_outputs(settings(**fields))} == {2}


async def test_receivers_that_the_settings_allow_are_fine(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("a-secret-of-the-webhook", encoding="utf-8")
    secret.chmod(0o600)
    made = settings(
        notify={"allow_private": ["127.0.0.1"]},
        tally=WALL,
        otlp={"endpoint": "http://127.0.0.1:4318"},
        collector={"pagerduty_secret_file": str(secret)},
    )
    assert await output_faults(made) == []
    (check,) = await check_outputs(made)
    assert check.finding == "tally to wall, OTLP can be used (nothing sent)"
    assert await check_outputs(settings()) == []

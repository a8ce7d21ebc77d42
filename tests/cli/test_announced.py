"""All encoders of a platform without code of livedeck are cut at once. Real programs announce the incident first."""

from __future__ import annotations

import json
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

from cli.commands import TIMEOUT, collecting, environment
from cli.foreign import TOKEN, foreign_platform
from cli.starts import LIVEDECK
from notify.sinks import http_sink

LEARNT_POLLS = 12
"""Polls of each event, by both programs together, in which each learns how late its samples usually are."""

LATER_POLLS = 4
"""Polls of each event after the incident, by both programs together. A single alarm would be announced by then."""

PATIENCE = 180.0
"""Seconds after which the test gives up waiting for a program."""


@pytest.mark.slow
def test_forty_encoders_cut_at_once_are_one_incident_and_no_single_for_everybody(tmp_path: Path) -> None:
    with foreign_platform(count=40) as platform, http_sink() as sink:
        for number, event in enumerate(platform.events):
            event["rtmp_link"] += f"/{number}"  # an encoder for each
        (tmp_path / "hook").write_text(f"{sink.address}/hook")
        (tmp_path / "hook").chmod(0o600)
        (tmp_path / "config.toml").write_text(
            f'[collector]\nlisten = "127.0.0.1:0"\n[collector.tokens.anna]\nsha256 = "{"0" * 64}"\nmay = "read"\n'
            f'[notify]\nallow_private = ["127.0.0.1"]\n'
            f'[notify.targets.ops]\nwebhook_file = "{tmp_path}/hook"\n[[notify.routes]]\nto = "ops"\n'
        )
        env = {"LIVEDECK_CONFIG": str(tmp_path / "config.toml"), "LIVEDECK_BASE_URL": platform.address}
        env |= {"LIVEDECK_TOKEN": TOKEN, "LIVEDECK_HISTORY": str(tmp_path / "history.sqlite")}
        follow = subprocess.Popen(
            [*LIVEDECK, "alarm", "list", "--follow", "--json"],
            env=environment(tmp_path, **{**env, "LIVEDECK_HISTORY": str(tmp_path / "other.sqlite")}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert follow.stdout
        end = threading.Timer(PATIENCE, follow.kill)  # so that a line that never comes is no endless wait
        end.start()
        with collecting(tmp_path, env):
            platform.wait_for_polls(LEARNT_POLLS, PATIENCE)
            platform.cut_at = platform.now()
            first = follow.stdout.readline()
            assert sink.came.wait(PATIENCE)
            platform.wait_for_polls(LATER_POLLS, PATIENCE)
        follow.terminate()
        rest = follow.communicate(timeout=TIMEOUT)[0]
        end.cancel()
        lines = [json.loads(line) for line in (first + rest).splitlines()]
    changes = [(line["kind"], line["change"]) for line in lines if "change" in line]
    assert changes == [("PLATFORM", "raised")]
    bodies: list[Any] = [json.loads(request.body) for request in sink.received]
    assert [alarm["key"][1] for body in bodies for alarm in body["alarms"]] == ["PLATFORM"]

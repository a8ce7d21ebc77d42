"""The real programs on a platform of another house, all of whose encoders are cut at once: the incident comes first."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from cli.commands import TIMEOUT, collecting, environment
from cli.foreign import TOKEN, foreign_platform
from cli.starts import LIVEDECK
from notify.sinks import http_sink

LEARNT_SECONDS = 40
"""In which the programs learn how late the samples of each event usually are."""

ANNOUNCED_SECONDS = 45
"""By then a cut is proven, and announced."""


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
        with collecting(tmp_path, env):
            time.sleep(LEARNT_SECONDS)  # of the programs' own clocks
            platform.cut_at = platform.now()
            time.sleep(ANNOUNCED_SECONDS)
        follow.terminate()
        lines = [json.loads(line) for line in follow.communicate(timeout=TIMEOUT)[0].splitlines()]
    changes = [(line["kind"], line["change"]) for line in lines if "change" in line]
    assert changes == [("PLATFORM", "raised")]
    bodies: list[Any] = [json.loads(request.body) for request in sink.received]
    assert [alarm["key"][1] for body in bodies for alarm in body["alarms"]] == ["PLATFORM"]

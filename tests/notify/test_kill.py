"""A notifier that is killed at any moment tells everything, and nothing under two keys."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from notify.sinks import http_sink

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("rounds", [10, pytest.param(200, marks=pytest.mark.slow)])
def test_after_every_kill_everything_is_told_under_one_key(tmp_path: Path, rounds: int) -> None:
    with http_sink() as sink:
        done = subprocess.run(
            [sys.executable, "-m", "notify.dying", str(tmp_path), sink.address, str(rounds), "7"],
            env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT / 'tests'}"},
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    turns = int(done.stdout)
    keys = defaultdict[tuple[str, str, str, str], set[str]](set)
    named = set()
    bodies: dict[str, bytes] = {}
    for request in sink.received:
        body = json.loads(request.body)
        assert bodies.setdefault(body["id"], request.body) == request.body  # a repeat is the same to the byte
        for entry in body["alarms"]:
            keys[body["route"], body["status"], entry["life"], entry["severity"]].add(body["id"])
            named.add((body["route"], entry["event_id"]))
    counted = sum(json.loads(body)["truncated"] for body in bodies.values())
    assert [known for known, of_it in keys.items() if len(of_it) > 1] == []
    missing = {("ops", f"event-{turn}") for turn in range(1, turns + 1)} - named
    assert len(missing) <= counted
    assert turns > 0

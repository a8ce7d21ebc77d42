"""`livedeck past record`: everything polled without a screen is in one file, for the named events."""

from __future__ import annotations

import json
import re
import signal
import sqlite3
import subprocess
from collections.abc import Mapping
from contextlib import closing
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

from cli.commands import TIMEOUT, called, environment, served
from cli.starts import LIVEDECK, Start
from livedeck.simulator import Platform


def recorded(home: Path, target: Path, env: Mapping[str, str]) -> tuple[int, str]:
    """Record an event until its samples were polled twice, then press ctrl-c.

    The second poll proves that the samples of the first were taken. Returns the exit code and what was printed.
    """
    event = json.loads(called(home, "event", "get", "Morning service", "--json", env=env).stdout)["id"]
    line = [*LIVEDECK, "past", "record", "Morning service", "-o", str(target), "--debug"]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with Start(line, env=environment(home, **env), **pipes) as recording:
        assert recording.stderr
        polls = (said for said in recording.stderr if re.search(rf"GET \S*{event}\S*/qos\S*: 200", said))
        assert len([*islice(polls, 2)]) == 2
        recording.send_signal(signal.SIGINT)
        printed, _ = recording.communicate(timeout=TIMEOUT)
    return recording.returncode, printed


def test_what_is_watched_is_in_one_file_which_is_judged_alike(tmp_path: Path) -> None:
    target, part = tmp_path / "show.livedeck", tmp_path / "show.livedeck.part"
    with served(tmp_path) as (_, service):
        env = {"LIVEDECK_BASE_URL": service["base_url"], "LIVEDECK_TOKEN": service["token"], "LIVEDECK_HISTORY": "off"}
        unknown = called(tmp_path, "past", "record", "nothing like it", "-o", str(target), env=env)
        code, printed = recorded(tmp_path, target, env)
        again = called(tmp_path, "past", "record", "-o", str(target), "--duration", "1s", env=env)
    assert (unknown.returncode, again.returncode, "--force" in again.stderr) == (2, 2, True)
    assert (code, printed.startswith(f"{target}: ")) == (0, True)
    assert [file.name for file in tmp_path.glob("show*")] == [target.name]
    assert not part.exists()
    with closing(sqlite3.connect(f"{target.as_uri()}?mode=ro", uri=True)) as db:
        assert db.execute("SELECT count(DISTINCT event) FROM stream").fetchall() == [(1,)]
        assert db.execute("SELECT count(*) > 100 FROM sample").fetchall() == [(1,)]
        assert db.execute("PRAGMA journal_mode").fetchall() == [("delete",)]
    judged = called(tmp_path, "past", "replay", str(target), "--judge")
    is_alarm_left_out = "not compared" in judged.stdout  # the evening goes on: there may be one that began before
    assert (judged.returncode, "0 different" in judged.stdout) == (6 if is_alarm_left_out else 0, True)


def test_a_rehearsal_is_recorded_by_its_own_clock_until_that_jumps_back(tmp_path: Path) -> None:
    target = tmp_path / "show.livedeck"
    line = [*LIVEDECK, "past", "record", "-o", str(target), "--debug"]
    with served(tmp_path, "--start", "2026-03-01T12:00Z", "--speed", "4") as (_, service):
        env = {"LIVEDECK_BASE_URL": service["base_url"], "LIVEDECK_TOKEN": service["token"]}
        env |= {"LIVEDECK_HISTORY": "off", "LIVEDECK_FOLLOW_CLOCK": "1"}
        with Start(line, env=environment(tmp_path, **env), stderr=subprocess.PIPE, text=True) as recording:
            try:
                assert recording.stderr
                next(said for said in recording.stderr if re.search(r"GET \S*/qos\S*: 200", said))
                Platform.attach(service["control_url"], service["control_token"]).clock.step(-3600)
                _, said = recording.communicate(timeout=TIMEOUT)
            finally:
                recording.kill()
    assert (recording.returncode, "the recording ends before that" in said) == (1, True)
    with closing(sqlite3.connect(f"{target.as_uri()}?mode=ro", uri=True)) as db:
        (times,) = db.execute("SELECT min(at), max(at) FROM published").fetchall()
    noon = datetime(2026, 3, 1, 12, tzinfo=UTC)
    assert all(noon <= datetime.fromtimestamp(time / 1_000_000, UTC) < noon + timedelta(days=1) for time in times)

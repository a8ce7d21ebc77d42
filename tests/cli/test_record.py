"""`livedeck past record`: what is seen without a screen is in one file, for the events that were named."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from cli.commands import called, served


def test_what_is_watched_is_in_one_file_which_is_judged_alike(tmp_path: Path) -> None:
    target, part = tmp_path / "show.livedeck", tmp_path / "show.livedeck.part"
    with served(tmp_path) as (_, service):
        env = {"LIVEDECK_BASE_URL": service["base_url"], "LIVEDECK_TOKEN": service["token"], "LIVEDECK_HISTORY": "off"}
        unknown = called(tmp_path, "past", "record", "nothing like it", "-o", str(target), env=env)
        done = called(tmp_path, "past", "record", "Morning service", "-o", str(target), "--duration", "3s", env=env)
        again = called(tmp_path, "past", "record", "-o", str(target), "--duration", "1s", env=env)
    assert (unknown.returncode, again.returncode, "--force" in again.stderr) == (2, 2, True)
    assert (done.returncode, done.stdout.startswith(f"{target}: ")) == (0, True)
    assert [file.name for file in tmp_path.glob("show*")] == [target.name]
    assert not part.exists()
    with closing(sqlite3.connect(f"{target.as_uri()}?mode=ro", uri=True)) as db:
        assert db.execute("SELECT count(DISTINCT event) FROM stream").fetchall() == [(1,)]
        assert db.execute("SELECT count(*) > 100 FROM sample").fetchall() == [(1,)]
        assert db.execute("PRAGMA journal_mode").fetchall() == [("delete",)]
    judged = called(tmp_path, "past", "replay", str(target), "--judge")
    is_alarm_left_out = "not compared" in judged.stdout  # the evening goes on: there may be one that began before
    assert (judged.returncode, "0 different" in judged.stdout) == (6 if is_alarm_left_out else 0, True)

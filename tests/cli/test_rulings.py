"""`livedeck event rebaseline` and `livedeck event content`: every process of the same history applies them."""

from __future__ import annotations

import asyncio
from pathlib import Path

from cli.commands import called, served
from livedeck.monitor import Content, HistoryReader, ProfileChoice, UsualMark


def test_what_commands_say_of_an_event_is_in_the_history(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    with served(tmp_path) as (_, service):
        env = {
            "LIVEDECK_BASE_URL": service["base_url"],
            "LIVEDECK_TOKEN": service["token"],
            "LIVEDECK_HISTORY": str(path),
        }
        usual = called(tmp_path, "event", "rebaseline", "morning", env=env)
        chosen = called(tmp_path, "event", "content", "morning", "slides", env=env)
        undone = called(tmp_path, "event", "content", "morning", "default", env=env)
        nothing = called(tmp_path, "event", "rebaseline", "lecture", env=env)
        unkept = called(tmp_path, "event", "rebaseline", "morning", env={**env, "LIVEDECK_HISTORY": "off"})
    assert (usual.returncode, usual.stderr) == (0, "")
    assert usual.stdout.startswith("Morning service: the new baseline is the current signal")
    assert chosen.stdout == "Morning service: content slides\n"
    assert undone.stdout == "Morning service: content show, by the settings\n"
    assert (nothing.returncode, "no samples to take as a baseline" in nothing.stderr) == (1, True)
    assert (unkept.returncode, "no history is kept" in unkept.stderr) == (2, True)
    mark, *choices = asyncio.run(HistoryReader(path).new_rulings())
    assert isinstance(mark, UsualMark)
    assert "@" in mark.actor
    assert [choice.profile for choice in choices if isinstance(choice, ProfileChoice)] == [Content.SLIDES, None]

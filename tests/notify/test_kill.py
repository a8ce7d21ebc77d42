"""A notifier that is killed at any moment tells everything, and nothing under two keys."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import defaultdict
from datetime import datetime
from pathlib import Path

import pytest

from breadth import slow
from livedeck.notify import DEAD, SENT, WAITING, Spool
from notify.dying import ANSWERED, ANSWERED_EACH, TURN
from notify.sinks import http_sink, smtp_sink
from notify.stage import NOW

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("rounds", [10, *slow(200)])
def test_after_every_kill_everything_is_told_under_one_key(tmp_path: Path, rounds: int) -> None:
    with http_sink() as sink, smtp_sink() as box:
        mail = f"mailto://127.0.0.1:{box.port}/?from=deck@example.org&to=ops@example.org&mode=insecure"
        done = subprocess.run(
            [sys.executable, "-m", "notify.dying", str(tmp_path), sink.address, mail, str(rounds), "7"],
            env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT / 'tests'}"},
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    turns = int(done.stdout)
    keys = defaultdict[tuple[str, str, str, str], set[str]](set)
    named, answered = set(), []
    bodies: dict[str, bytes] = {}
    for request in sink.received:
        body = json.loads(request.body)
        assert bodies.setdefault(body["id"], request.body) == request.body  # a repeat is the same to the byte
        for entry in body["alarms"]:
            keys[body["route"], body["status"], entry["life"], entry["severity"]].add(body["id"])
            named.add((body["route"], entry["event_id"]))
            if body["status"] == "firing" and is_answered(entry["event_id"], datetime.fromisoformat(body["at"]), turns):
                answered.append(body["title"])
    counted = sum(json.loads(body)["truncated"] for body in bodies.values())
    assert [known for known, of_it in keys.items() if len(of_it) > 1] == []
    assert answered == []
    end = NOW + turns * TURN
    owed = {event for event in (f"event-{turn}" for turn in range(1, turns + 1)) if not is_answered(event, end, turns)}
    missing = {("ops", event) for event in owed} - named
    assert len(missing) <= counted
    assert turns > 0
    mails: dict[str, set[str]] = defaultdict(set)
    for came in box.mails:
        mails[came["Idempotency-Key"]].add(f"{came['Subject']}\n{came.get_body(('plain',))}")
    spool = Spool(tmp_path / "spool", reads=True)
    sent = {spooled.message.key for spooled in spool.messages(SENT) if spooled.message.target == "mail"}
    left = [*spool.messages(WAITING), *spool.messages(DEAD)]
    spool.close()
    assert (left, sent <= mails.keys()) == ([], True)
    repeats = len(sink.received) - len(bodies), len(box.mails) - len(mails)
    print(f"{rounds} kills, {turns} turns, {len(bodies)} posts, {len(mails)} mails, repeats {repeats}")  # noqa: T201


def is_answered(event: str, at: datetime, last: int) -> bool:
    """Whether somebody had acknowledged the alarm of that event then."""
    turn = int(event.removeprefix("event-"))
    return turn % ANSWERED_EACH == 0 and min((at - NOW) // TURN, last) - turn in ANSWERED

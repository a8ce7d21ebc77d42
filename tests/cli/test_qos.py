"""`livedeck event qos` prints each measured sample once, and never prints 0 for a missing one."""

from __future__ import annotations

import csv
import io
import json
import signal
import subprocess
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import click
import pytest

from cli.commands import TIMEOUT, called, environment, served
from cli.listening import listen
from cli.starts import LIVEDECK, Start
from client.answers import Platform, api_of
from livedeck.cli.event.qos import QosFollower, follow_samples, print_samples
from livedeck.cli.lookup import match_event
from livedeck.client import Event, NotFound
from livedeck.settings import Settings
from virtual_clock import VirtualClock

EVENT = Event(id="e1", name="Town \x1b[31mhall")


def sample(second: float, **fields: object) -> dict[str, Any]:
    """Return a sample `second` seconds after noon of the virtual clock's day."""
    at = VirtualClock().now() + timedelta(seconds=second)
    whole: dict[str, Any] = {"bitrate_video": 4_500_000, "bitrate_audio": 128_000, "frame_rate": 30, "status": 0}
    return whole | {"time": f"{at.replace(tzinfo=None).isoformat()}Z"} | fields


@asynccontextmanager
async def platform(clock: VirtualClock, answers: Sequence[object]) -> AsyncIterator[QosFollower]:
    """Yield a follower of a platform with these replies in turn, the last one repeated; an int is a refusal."""
    left = list(answers)

    def reply(_path: str, _query: str) -> tuple[int, bytes, dict[str, str]]:
        answer = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(answer, int):
            return answer, b'{"error":{"code":0,"message":"no"}}', {}
        return 200, json.dumps({"data": answer}).encode(), {}

    options = {"now": clock.now, "timer": clock.monotonic, "sleep": clock.sleep}
    async with api_of(Platform(reply), **options) as api:
        yield QosFollower(api, EVENT, clock, Settings(history="off"))


async def test_csv_reads_back_and_missing_is_empty_where_zero_is_zero(capsys: pytest.CaptureFixture[str]) -> None:
    clock = VirtualClock()
    answer = [sample(-4, bitrate_video=0, status=5), sample(-2, bitrate_audio=None, frame_rate=29.97, status=None)]
    async with platform(clock, [answer]) as follower:
        assert await clock.run(print_samples(follower, "csv", None)) == 0
    first, second = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert first["time"] == "2026-03-01T11:59:56.000Z"
    assert (first["bitrate_video"], first["bitrate_audio"], first["status"]) == ("0", "128000", "5")
    assert (second["bitrate_audio"], second["frame_rate"], second["status"]) == ("", "29.97", "")


async def test_an_object_tells_the_age_and_null_where_nothing_was_measured(capsys: pytest.CaptureFixture[str]) -> None:
    clock = VirtualClock()
    answer = [sample(-42), sample(-40, status=None), {"status": 0}, sample(3600)]
    async with platform(clock, [answer]) as follower:
        await clock.run(print_samples(follower, "json", 60.0))
    told = json.loads(capsys.readouterr().out)
    assert (told["age"], told["freshness"], told["left_out"]) == (40, "stale", 2)
    assert [one["status"] for one in told["samples"]] == [0, None]
    assert told["event"] == {"id": "e1", "name": "Town \x1b[31mhall"}


async def test_without_samples_there_is_a_head_and_a_word(capsys: pytest.CaptureFixture[str]) -> None:
    clock = VirtualClock()
    async with platform(clock, [[]]) as follower:
        await clock.run(print_samples(follower, "csv", None))
    printed = capsys.readouterr()
    assert printed.out == "time,bitrate_video,bitrate_audio,frame_rate,status\n"
    assert "no stream is scheduled" in printed.err
    assert "\x1b" not in printed.err


async def test_each_sample_is_printed_once_however_often_and_late_it_is_answered(
    capsys: pytest.CaptureFixture[str],
) -> None:
    clock = VirtualClock()
    answers = [[sample(-2), sample(0)], [sample(-2), sample(0)], [sample(4), sample(2), sample(4)], [sample(3)], []]
    async with platform(clock, answers) as follower:
        await listen(clock, follow_samples(follower, "json", 60.0), 20)
    printed = capsys.readouterr()
    seconds = [datetime.fromisoformat(json.loads(line)["time"]).second for line in printed.out.splitlines()]
    assert seconds == [58, 0, 2, 4, 3]
    assert printed.err == ""


async def test_a_fault_and_stale_samples_are_told_once_and_so_is_their_end(capsys: pytest.CaptureFixture[str]) -> None:
    clock = VirtualClock()
    answers: list[object] = [[sample(0)], 503, 503, 503, *[[sample(0)]] * 15, [sample(44)]]
    async with platform(clock, answers) as follower:
        await listen(clock, follow_samples(follower, "table", 60.0), 60)
    printed = capsys.readouterr()
    assert len(printed.out.splitlines()) == 3  # the head and two samples
    told = [line.split(": ")[2] for line in printed.err.splitlines()]
    assert [words.split(" ")[0] for words in told] == ["get", "the", "STALE", "samples"], printed.err


async def test_an_event_that_is_gone_ends_it() -> None:
    clock = VirtualClock()
    async with platform(clock, [[sample(0)], 404]) as follower:
        with pytest.raises(NotFound):
            await listen(clock, follow_samples(follower, "json", 60.0), 20)


EVENTS = [
    Event(id="aa-1", name="Town hall"),
    Event(id="aa-2", name="Town hall, overflow"),
    Event(id="bb-1", name="Choir"),
    Event(id="bb-2", name="CHOIR"),
    Event(id="cc", name=None),
]


@pytest.mark.parametrize(
    ("words", "identity"),
    [("aa-1", "aa-1"), ("AA-2", "aa-2"), ("town HALL", "aa-1"), ("town hall,", "aa-2"), ("c", "cc"), ("bb-1", "bb-1")],
)
def test_an_event_is_meant_by_id_by_name_or_by_a_beginning(words: str, identity: str) -> None:
    events = EVENTS if words != "c" else [EVENTS[0], EVENTS[4]]
    assert match_event(events, words).id == identity


DECEPTIVE = [
    Event(id="dd-1", name="Main\u200b stage"),
    Event(id="dd-2", name="M\u0430in stage"),
    Event(id="dd-3", name="Cafe\u0301"),
]


@pytest.mark.parametrize(
    ("words", "identity"),
    [("Main\u200b stage", "dd-1"), ("M\u0430in", "dd-2"), ("Main\u200b", "dd-1"), ("Choir", "bb-1"), ("café", "dd-3")],
)
def test_the_real_name_counts(words: str, identity: str) -> None:
    """In whatever case and Unicode form, where no other one has it to the letter."""
    assert match_event([*EVENTS, *DECEPTIVE], words).id == identity


@pytest.mark.parametrize("words", ["Main stage", "main stage", "Main s"])
def test_a_cleaned_form_of_a_name_names_nothing_and_the_ids_are_told(words: str) -> None:
    with pytest.raises(click.UsageError) as fault:
        match_event(DECEPTIVE, words)
    assert "no event is called" in fault.value.message
    if words != "Main s":
        assert r"'Main\u200b stage' (dd-1)" in fault.value.message


@pytest.mark.parametrize(("words", "told"), [("choir", "bb-2"), ("aa", "aa-1"), ("", "no event"), ("nobody", "nobody")])
def test_what_fits_none_or_several_is_refused_and_they_are_listed(words: str, told: str) -> None:
    with pytest.raises(click.UsageError) as fault:
        match_event(EVENTS, words)
    assert told in fault.value.message


def test_the_command_over_real_http(tmp_path: Path) -> None:
    with served(tmp_path) as (process, service):
        env = {"LIVEDECK_BASE_URL": service["base_url"], "LIVEDECK_TOKEN": service["token"]}
        table = called(tmp_path, "event", "qos", "choir", "--last", "10s", env=env)
        assert (table.returncode, table.stderr) == (0, "")
        assert "0 normal" in table.stdout
        assert "samples of Choir, hall B" in table.stdout
        unclear = called(tmp_path, "event", "qos", "c", "--json", env=env)
        assert (unclear.returncode, unclear.stdout) == (2, "")
        assert "Choir, hall B" in unclear.stderr
        _follow_to_the_end(tmp_path, env)
        process.kill()
        process.wait(TIMEOUT)
        assert called(tmp_path, "event", "qos", "choir", env=env).returncode == 4


def _follow_to_the_end(home: Path, env: dict[str, str]) -> None:
    """Check that ctrl-c gives exit code 130 and a reader that leaves 141, without a word."""
    command = [*LIVEDECK, "event", "qos", "choir", "--follow", "--json", "--last", "2s"]
    for leave, code in (("ctrl-c", 130), ("pipe", 141)):
        with Start(
            command, env=environment(home, **env), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            assert json.loads(process.stdout.readline())["bitrate_video"] > 0
            if leave == "pipe":
                process.stdout.close()
            else:
                process.send_signal(signal.SIGINT)
            assert (process.wait(TIMEOUT), process.stderr.read()) == (code, "")

"""`livedeck doctor`: it finds what is wrong, says what to do, and exits by the first failure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from cli.commands import called, served
from client.answers import Platform, api_of, saying
from collector.stand_in import plain, stand_in
from collector.stand_in import saying as saying_bytes
from collector.third_party import LoopClock, ThirdParty
from livedeck.cli.doctor import (
    Check,
    CheckStatus,
    check_collector,
    check_events,
    check_file,
    check_platform,
    check_rates,
    check_terminal,
)
from livedeck.environment import Terminal
from livedeck.settings import Settings, load_with_origins

SECRET = "a-token-that-nobody-knows"


def examined(home: Path, env: dict[str, str]) -> tuple[int, dict[str, dict[str, Any]]]:
    """Return the exit code and the checks by name; of several checks of a name, the last."""
    done = called(home, "doctor", "--json", env=env)
    assert SECRET not in done.stdout + done.stderr
    return done.returncode, {check["name"]: check for check in json.loads(done.stdout)["checks"]}


def test_a_healthy_machine_is_told_so(tmp_path: Path) -> None:
    with served(tmp_path) as (_, service):
        env = {"LIVEDECK_BASE_URL": service["base_url"], "LIVEDECK_TOKEN": service["token"], "COLORTERM": "truecolor"}
        code, checks = examined(tmp_path, env)
        words = called(tmp_path, "doctor", env=env)
        _, odd = examined(tmp_path, env | {"LIVEDECK_EVENTS": '{"no-such": {"thresholds": {"low_fps": 0.9}}}'})
        refused, refusal = examined(tmp_path, env | {"LIVEDECK_TOKEN": SECRET})
    assert (code, words.returncode) == (0, 0)
    assert [name for name, check in checks.items() if check["verdict"] != "ok"] == ["terminal"]
    of_platform = {"settings", "token", "platform", "access", "clock", "fields", "keys", "rates"}
    assert of_platform | {"colour", "size", "encoding", "history", "log"} <= set(checks)
    assert "LIVEDECK_TOKEN" in checks["token"]["found"]
    assert "✓ ok" in words.stdout
    assert (odd["event"]["verdict"], "no-such" in odd["event"]["advice"]) == ("warn", True)
    assert (refused, refusal["platform"]["verdict"], refusal["access"]["verdict"]) == (3, "ok", "fail")


@pytest.mark.parametrize(
    ("env", "code", "name", "words"),
    [
        ({}, 2, "platform", "livedeck demo"),
        ({"LIVEDECK_BASE_URL": "http://127.0.0.1:1"}, 2, "token", "no token"),
        ({"LIVEDECK_BASE_URL": "http://127.0.0.1:1", "LIVEDECK_TOKEN": SECRET}, 4, "platform", "refuses connections"),
        ({"LIVEDECK_BASE_URL": "http://a.example", "LIVEDECK_TOKEN": SECRET}, 2, "platform", "https"),
        ({"LIVEDECK_BASE_URL": "http://127.0.0.1:1", "LIVEDECK_TOKEN_FILE": "/nowhere"}, 2, "token", "/nowhere"),
        (
            {"LIVEDECK_BASE_URL": "http://127.0.0.1:1", "LIVEDECK_TOKEN_FILE": "/nowhere"},
            2,
            "token",
            "correct token_file of LIVEDECK_TOKEN_FILE",
        ),
        ({"LIVEDECK_TIMEOUT": "0"}, 2, "settings", "LIVEDECK_TIMEOUT"),
    ],
)
def test_what_is_missing_is_named_with_what_to_do(
    tmp_path: Path, env: dict[str, str], code: int, name: str, words: str
) -> None:
    ended, checks = examined(tmp_path, env)
    assert (ended, checks[name]["verdict"]) == (code, "fail")
    assert words in checks[name]["found"] + checks[name]["advice"]
    assert checks["log"]["verdict"] == "ok"


def test_a_platform_that_is_down_leaves_every_other_setting_of_it_unjudged(tmp_path: Path) -> None:
    env = {
        "LIVEDECK_BASE_URL": "http://127.0.0.1:1",
        "LIVEDECK_UPLOAD_URL": "http://127.0.0.1:1/upload",
        "LIVEDECK_TOKEN": SECRET,
        "LIVEDECK_EVENTS": '{"one": {"thresholds": {"low_fps": 0.9}}}',
    }
    code, checks = examined(tmp_path, env)
    assert (code, checks["platform"]["verdict"], {"uploads", "event"} & set(checks)) == (4, "fail", set())


def test_an_upload_address_that_cannot_be_reached_is_a_failure_of_its_own(tmp_path: Path) -> None:
    with served(tmp_path) as (_, service):
        env = {"LIVEDECK_BASE_URL": service["base_url"], "LIVEDECK_TOKEN": service["token"]}
        code, checks = examined(tmp_path, env | {"LIVEDECK_UPLOAD_URL": service["upload_url"]})
        ended, lost = examined(tmp_path, env | {"LIVEDECK_UPLOAD_URL": "http://127.0.0.1:1/upload"})
    assert (code, checks["uploads"]["verdict"]) == (0, "ok")
    assert (ended, lost["access"]["verdict"], lost["uploads"]["verdict"]) == (4, "ok", "fail")
    assert "reach the upload address: 127.0.0.1:1 refuses connections" in lost["uploads"]["found"]


def test_a_file_that_others_can_read_is_a_warning_and_one_that_cannot_be_made_a_failure(tmp_path: Path) -> None:
    file = tmp_path / "log"
    assert check_file("log", tmp_path / "deep" / "down" / "log").status is CheckStatus.OK
    file.touch(mode=0o644)
    assert (check_file("log", file).status, check_file("log", file).advice) == (CheckStatus.WARN, f"chmod 600 {file}")
    assert check_file("log", file / "below").status is CheckStatus.FAIL


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"colours": 16}, "colour"),
        ({"columns": 79}, "size"),
        ({"rows": 23}, "size"),
        ({"encoding": "ascii"}, "encoding"),
        ({"colours": 0}, ""),
        ({}, ""),
    ],
)
def test_a_terminal_that_shows_less_is_a_warning(changes: dict[str, Any], name: str) -> None:
    whole: dict[str, Any] = {"term": "xterm", "colours": 256, "columns": 80, "rows": 24, "encoding": "UTF-8"}
    checks = list(check_terminal(Terminal(**(whole | changes))))
    poor = [check for check in checks if check.status is not CheckStatus.OK and check.name != "terminal"]
    assert [check.name for check in poor] == ([name] if name else [])
    assert all(check.advice for check in poor)


@pytest.mark.parametrize(("seconds", "code", "verdict"), [(30, 1, "fail"), (-5, 0, "warn")])
def test_a_clock_that_differs_from_the_platforms_is_told(tmp_path: Path, seconds: int, code: int, verdict: str) -> None:
    faults = tmp_path / "faults.toml"
    faults.write_text(f'[[faults]]\nkind = "skew"\nseconds = {seconds}\n', encoding="utf-8")
    with served(tmp_path, "--faults", str(faults)) as (_, service):
        env = {"LIVEDECK_BASE_URL": service["base_url"], "LIVEDECK_TOKEN": service["token"]}
        ended, checks = examined(tmp_path, env)
    assert (ended, checks["clock"]["verdict"]) == (code, verdict)
    assert "NTP" in checks["clock"]["advice"]


async def test_a_field_that_cannot_be_read_is_a_warning_that_names_event_and_field_and_not_the_value() -> None:
    rows = [{"id": "e0", "name": "Choir", "reconnect_window": [SECRET]}, {"id": "e1"}, {"id": [SECRET]}]
    async with api_of(saying({"data": rows})) as api:
        odd, missing, *_ = await check_events(api, Settings())
    assert odd.finding == "event Choir (e0): reconnect_window should be a valid integer, not a list of 1"
    assert missing.finding.startswith("1 of the listed events cannot be read: data[2] should ")
    assert {check.status for check in (odd, missing)} == {CheckStatus.WARN}
    assert odd.advice
    assert missing.advice
    assert SECRET not in f"{odd} {missing}"


async def test_limits_that_fit_no_event_are_a_warning() -> None:
    """A wrong name would have no effect, and nobody would know."""
    limits = [{"events": names, "content": "radio"} for names in (["Radio *", "e1"], ["Radoi *"])]
    rows = [{"id": "e0", "name": "Radio North"}, {"id": "e1", "name": "Choir"}, {"id": "e2", "name": "Talk"}]
    async with api_of(saying({"data": rows})) as api:
        checks = await check_events(api, Settings.model_validate({"limits": limits}))
    assert [(check.status, check.finding) for check in checks if check.name == "limits"] == [
        (CheckStatus.OK, "[[limits]] of events Radio *, e1: 2 listed events"),
        (CheckStatus.WARN, "[[limits]] of events Radoi *: 0 listed events"),
    ]


@pytest.mark.parametrize(
    ("video", "audio", "unit", "status", "finding"),
    [
        (2438, 156, "auto", CheckStatus.WARN, 'rates look like kbit/s (2438 / 156): set bitrate_unit = "kbit"'),
        (2438, 156, "bit", CheckStatus.WARN, 'rates look like kbit/s (2438 / 156), but bitrate_unit is "bit"'),
        (2438, 156, "kbit", CheckStatus.OK, "counted in kbit/s, by the settings"),
        (2438000, 156000, "auto", CheckStatus.OK, "counted in bit/s, by the samples"),
        (
            2438000,
            156000,
            "kbit",
            CheckStatus.WARN,
            'rates look like bit/s (2438000 / 156000), but bitrate_unit is "kbit"',
        ),
        (0, 0, "auto", CheckStatus.OK, "no sample has shown yet whether rates are in bit/s or kbit/s"),
    ],
)
async def test_rates_that_contradict_their_unit_or_leave_it_open_are_a_warning(
    video: int, audio: int, unit: str, status: CheckStatus, finding: str
) -> None:
    event = {"id": "e0", "stream": {"id": "s", "status": "live"}}
    sent = [
        {"time": f"2026-03-01T12:0{minute}:00Z", "bitrate_video": video, "bitrate_audio": audio, "frame_rate": 25}
        for minute in range(4)
    ]

    def reply(path: str, _query: str) -> tuple[int, bytes, Mapping[str, str]]:
        return 200, json.dumps({"data": sent if path.endswith("/qos") else [event]}).encode(), {}

    async with api_of(Platform(reply)) as api:
        check = await check_rates(api, Settings.model_validate({"bitrate_unit": unit, "history": "off"}))
    assert (check.name, check.status, check.finding) == ("rates", status, finding)


def answering(events: object, rooms: object) -> Platform:
    """Return a platform with these events and rooms; for None it refuses the request."""

    def reply(path: str, _query: str) -> tuple[int, bytes, Mapping[str, str]]:
        rows = events if path.endswith("/events") else rooms
        if rows is None:
            return 403, b'{"error": {"code": 403403, "message": "no"}}', {}
        return 200, json.dumps({"data": rows}).encode(), {}

    return Platform(reply)


async def keys_of(events: object, rooms: object) -> list[Check]:
    async with api_of(answering(events, rooms)) as api:
        return [check for check in await check_events(api, Settings()) if check.name == "keys"]


async def test_a_key_that_is_a_name_or_an_id_is_told_with_whose_it_is_and_not_shown() -> None:
    events = [
        {"id": "e0", "name": "Choir", "streamkey": "GALA-2026-main"},
        {"id": "event-number-1", "name": "gala-2026-main ", "streamkey": "event-number-1"},
        {"id": "e2", "name": "Talk", "restreams": [{"id": "r", "name": "Copy", "key": "the-green-room"}]},
        {"id": "e3", "name": "Quiet", "streamkey": "a-key-that-nobody-knows"},
    ]
    profile = {"id": "p", "name": "Hall", "stream_key": "choir-0"}
    rooms = [{"id": "m0", "name": "The-Green-Room", "restreams": [profile]}, {"id": "m1", "name": "choir-0"}]
    checks = await keys_of(events, rooms)
    assert [check.finding.partition(" is also a name or an id")[0] for check in checks] == [
        "event Choir (e0): the stream key ••••main",
        "event gala-2026-main  (event-number-1): the stream key ••••er-1",
        "event Talk (e2): the key of restream Copy ••••room",
        "room The-Green-Room (m0): the key of relay profile Hall ••••",
    ]
    assert {check.status for check in checks} == {CheckStatus.WARN}
    assert all("change the key" in check.advice for check in checks)


async def test_a_name_in_which_a_key_stands_is_told_by_its_id_and_masked() -> None:
    events = [
        {"id": "e0", "name": "Choir of live-key-9c1d", "streamkey": "live-key-9c1d"},
        {"id": "e1", "name": "Talk"},
    ]
    (check,) = await keys_of(events, [])
    assert (check.status, "live-key" in check.finding + check.advice) == (CheckStatus.WARN, False)
    assert check.finding.startswith("event Choir of ••••9c1d (e0): its name contains a key or another secret")


async def test_keys_that_nobody_can_read_are_counted_and_rooms_that_cannot_be_asked_are_told() -> None:
    events = [{"id": "e0", "name": "Choir", "streamkey": "live-key-9c1d"}]
    (fine,) = await keys_of(events, [])
    assert (fine.status, fine.finding.startswith("1 stream key checked: none is a name")) == (CheckStatus.OK, True)
    (refused,) = await keys_of(events, None)
    assert (refused.status, "rooms and their keys are not checked" in refused.finding) == (CheckStatus.WARN, True)


def attached_to(address: str, home: Path) -> Settings:
    """Return the settings of a deck attached to a collector."""
    token = home / "collector-token"
    token.write_text(SECRET, encoding="utf-8")
    token.chmod(0o600)
    return Settings(collector_url=address, collector_token_file=token)


_NOT_KNOWN = b'{"error":"no token","say":"this token is not known here"}'
_EXPIRED = b'{"error":"expired token","say":"the token of anna expired 2026-11-01 00:00Z"}'


@pytest.mark.parametrize(
    ("answer", "code", "words", "advice"),
    [
        (plain("401 Unauthorized", _NOT_KNOWN), 3, "this token is not known here", "livedeck collector token create"),
        (plain("401 Unauthorized", _EXPIRED), 3, "the token of anna expired 2026-11-01", "store the new token in"),
        (plain("200 OK", b'{"hello":1}'), 4, "is not a collector", "collector_url"),
        (plain("404 Not Found", b"<html>", "Content-Type: text/html"), 4, "unlike a collector", ""),
        (plain("200 OK", b'{"schema":2}'), 3, "COLLECTOR SPEAKS SCHEMA 2", "version"),
        (b"", 4, "the connection to 127.0.0.1:", ""),
    ],
)
async def test_of_a_collector_that_gives_nothing_it_is_said_why_and_what_to_do(
    tmp_path: Path, answer: bytes, code: int, words: str, advice: str
) -> None:
    async with stand_in(saying_bytes(answer)) as server:
        (check,) = await check_collector(attached_to(server.address, tmp_path))
    assert (check.name, check.status, check.code) == ("collector", CheckStatus.FAIL, code)
    assert words in check.finding
    assert advice in check.advice
    assert SECRET not in check.finding + check.advice


async def test_a_collector_that_takes_the_token_is_well_and_no_platform_is_missed(tmp_path: Path) -> None:
    async with stand_in(ThirdParty(LoopClock()).answer) as server:
        settings = attached_to(server.address, tmp_path)
        (well,) = await check_collector(settings)
        (no_token,) = await check_collector(settings.model_copy(update={"collector_token_file": None}))
    assert (well.status, well.finding.endswith("accepts this deck's token")) == (CheckStatus.OK, True)
    assert (no_token.status, "no token for the collector" in no_token.finding) == (CheckStatus.FAIL, True)
    (away,) = await check_collector(settings)
    assert (away.code, "refuses connections" in away.finding) == (4, True)
    async with stand_in(ThirdParty(LoopClock()).answer) as other:
        both = settings.model_copy(update={"collector_url": (server.address, other.address)})
        assert [check.status for check in await check_collector(both)] == [CheckStatus.FAIL, CheckStatus.OK]
    assert await check_collector(Settings()) == []
    loaded = load_with_origins(collector_url=server.address)
    assert [check.status for check in await check_platform(loaded)] == [CheckStatus.OK]

"""`livedeck probe`: its line and exit codes are those of a plugin, and it needs no platform."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from cli.commands import called, served, settings_of
from livedeck.cli import probe as module
from livedeck.monitor import Picture, Sound
from livedeck.probe import playlist
from livedeck.probe.sight import Sight
from probe.stage import MASTER, SEGMENT, Looks


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PAUSES", (0.0, 0.0))
    monkeypatch.setattr(module, "make_looks", lambda: None)


@contextmanager
def cdn(*, step: int = 1, missing: bool = False, line: str = "", page: bool = False) -> Iterator[str]:
    """A live event whose head goes `step` segments on with each playlist of its lowest rendition."""
    head = [100]

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path.endswith("low.m3u8"):
                head[0] += step
            status, body = self.answer()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def answer(self) -> tuple[int, bytes]:
            if page:
                return 200, b"<!doctype html><title>Player</title>"
            if self.path.endswith("master.m3u8"):
                return 200, MASTER.encode()
            if self.path.endswith(".m3u8"):
                rows = "\n".join(f"#EXTINF:2,\n{number}.ts" for number in range(head[0] - 3, head[0] + 1))
                start = f"#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-MEDIA-SEQUENCE:{head[0] - 3}\n{line}"
                return 200, (start + rows).encode()
            is_there = self.path.endswith(".ts") and not missing
            return (200, SEGMENT) if is_there else (404, b"")

        def log_message(self, *_: Any) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_stream_that_plays_is_ok_with_its_figures(tmp_path: Path) -> None:
    with cdn() as place:
        done = called(tmp_path, "probe", f"{place}/master.m3u8")
        shown = called(tmp_path, "probe", f"{place}/master.m3u8", "--json", "--rounds", "3")
    assert done.returncode == 0
    assert done.stdout.startswith("VIEWER OK - plays, 2 rounds: 2 rungs 144p to 720p, fetch ")
    assert " | ratio=" in done.stdout
    document = json.loads(shown.stdout)
    assert (document["state"], document["viewer"]["rounds"], document["viewer"]["rungs"]) == ("OK", 3, [144, 720])


@pytest.mark.parametrize(
    ("world", "path", "code", "words"),
    [
        ({"missing": True}, "master.m3u8", 1, "segment 102 of 144p: HTTP 404"),
        ({}, "nothing", 2, "VIEWER CRITICAL - gone, 2 rounds: HTTP 404"),
        ({"page": True}, "watch", 3, "VIEWER UNKNOWN - a player page, not a playlist"),
        ({"step": 0}, "master.m3u8", 3, "VIEWER UNKNOWN - unknown, 2 rounds: 2 rungs"),
        ({"line": '#EXT-X-KEY:METHOD=AES-128,URI="key"\n'}, "master.m3u8", 3, "encrypted, picture not judged"),
    ],
)
def test_each_state_has_its_exit_code(tmp_path: Path, world: dict[str, Any], path: str, code: int, words: str) -> None:
    with cdn(**world) as place:
        done = called(tmp_path, "probe", f"{place}/{path}")
    assert (done.returncode, words in done.stdout) == (code, True), done.stdout


@pytest.mark.parametrize(
    ("sight", "code", "words"),
    [
        (Sight(Picture.BLACK, Sound.HEARD), 2, "picture black"),
        (Sight(Picture.MOVES, Sound.SILENT), 1, "picture moves, silent"),
        (Sight(Picture.MOVES, Sound.HEARD, loudness=-21.2), 0, "picture moves, -21 LUFS"),
    ],
)
def test_picture_and_sound_are_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sight: Sight, code: int, words: str
) -> None:
    looks = Looks(sight)
    monkeypatch.setattr(module, "make_looks", lambda: looks)
    with cdn() as place:
        done = called(tmp_path, "probe", f"{place}/master.m3u8")
        bare = called(tmp_path, "probe", f"{place}/master.m3u8", "--no-media")
    assert (done.returncode, words in done.stdout, looks.is_closed) == (code, True, True), done.stdout
    assert (bare.returncode, "picture ?" in bare.stdout) == (0, True)


def test_the_picture_is_written_where_it_is_wanted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "make_looks", lambda: Looks(Sight(Picture.MOVES, Sound.HEARD, jpeg=b"JPEG")))
    target = tmp_path / "picture.jpg"
    with cdn() as place:
        line = ("probe", f"{place}/master.m3u8", "--picture")
        written, again = called(tmp_path, *line, str(target)), called(tmp_path, *line, str(target))
        piped = called(tmp_path, *line, "-")
    assert (written.returncode, target.read_bytes()) == (0, b"JPEG")
    assert (again.returncode, "add --force to replace it" in again.stdout + again.stderr) == (3, True)
    assert (piped.stdout, piped.stderr.startswith("VIEWER OK")) == ("JPEG", True)


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("https://a.example/x", "--plan"),
        ("--plan", "--enable"),
        ("--enable", "--json"),
        ("--rounds", "0"),
        ("http://a.example/x",),
    ],
)
def test_wrong_use_is_unknown(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    assert called(tmp_path, "probe", *arguments).returncode == 3


def test_without_the_extra_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(playlist, "is_installed", lambda: False)
    done = called(tmp_path, "probe", "https://a.example/x")
    assert (done.returncode, "pip install '.[probe]'" in done.stdout) == (3, True)


def test_the_plan_and_the_doctor_show_the_traffic_and_ask_no_segment(tmp_path: Path) -> None:
    with served(tmp_path) as (_, service), cdn(missing=True) as place:
        text = f'[probe]\nenabled = true\nplaylist = "{place}/{{event_id}}/master.m3u8"\nbudget_kbit = 100\n'
        env = {
            **settings_of(tmp_path, text),
            "LIVEDECK_BASE_URL": service["base_url"],
            "LIVEDECK_TOKEN": service["token"],
        }
        plan = called(tmp_path, "probe", "--plan", env=env)
        rows = json.loads(called(tmp_path, "probe", "--plan", "--json", env=env).stdout)["plan"]
        doctor = called(tmp_path, "doctor", env=env).stdout
        event = rows[0]["event_id"]
        asked = called(tmp_path, "probe", event, env=env)
        checked = called(tmp_path, "config", "check", env=env)
    assert plan.returncode == 0, plan.stdout
    assert {row["origin"] for row in rows} == {"playlist"}
    assert all(58_000 < row["rate"] < 70_000 and row["lowest"] == "144p" for row in rows)
    total = f"{len(rows)} events, if all are on air: "
    assert total in plan.stdout
    assert " up to 0.10 Mbit/s, 0.36 GB in a night of 8 h; a round every " in plan.stdout
    assert " s, not 10 s, to stay within budget_kbit" in plan.stdout
    assert total in doctor
    assert (asked.returncode, "segment" in asked.stdout) == (1, True)
    assert "at most 100 kbit/s" in checked.stdout


def test_the_picture_of_an_event_with_a_password_is_not_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks, target = Looks(Sight(Picture.BLACK, Sound.SILENT, jpeg=b"JPEG")), tmp_path / "picture.jpg"
    monkeypatch.setattr(module, "make_looks", lambda: looks)
    with served(tmp_path) as (_, service), cdn() as place:
        env = settings_of(tmp_path, f'[probe]\nplaylist = "{place}/{{event_id}}/master.m3u8"\n')
        env |= {"LIVEDECK_BASE_URL": service["base_url"], "LIVEDECK_TOKEN": service["token"]}
        done = called(tmp_path, "probe", "Cup final, pitch 2", "--picture", str(target), env=env)
        open_event = called(tmp_path, "probe", "Town hall, main", "--picture", str(target), env=env)
    assert (done.returncode, "viewers need a password" in done.stderr) == (0, True), done.stdout
    assert open_event.returncode == 2, "the picture of any other event is"
    assert target.read_bytes() == b"JPEG"


def test_a_viewing_url_that_never_gave_a_playlist_is_unknown(tmp_path: Path) -> None:
    with served(tmp_path) as (_, service):
        env = settings_of(tmp_path, "[probe]\nuse_play_link = true\n")
        env |= {"LIVEDECK_BASE_URL": service["base_url"], "LIVEDECK_TOKEN": service["token"]}
        done = called(tmp_path, "probe", "Town hall, main", env=env)
    assert (done.returncode, "VIEWER UNKNOWN" in done.stdout) == (3, True), done.stdout


def test_the_plan_is_a_limit_only_without_a_mean_bit_rate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mean = MASTER.replace("BANDWIDTH=280000", "BANDWIDTH=380000,AVERAGE-BANDWIDTH=280000")
    for master, is_limit in ((MASTER, True), (mean, False)):
        monkeypatch.setitem(globals(), "MASTER", master)
        with served(tmp_path) as (_, service), cdn() as place:
            env = {
                **settings_of(tmp_path, f'[probe]\nplaylist = "{place}/{{event_id}}/master.m3u8"\n'),
                "LIVEDECK_BASE_URL": service["base_url"],
                "LIVEDECK_TOKEN": service["token"],
            }
            text = called(tmp_path, "probe", "--plan", env=env).stdout
            rows = json.loads(called(tmp_path, "probe", "--plan", "--json", env=env).stdout)["plan"]
        assert [row["is_limit"] for row in rows] == [is_limit] * len(rows)
        assert text.count("up to ") == (len(rows) + 1) * is_limit
        assert all(58_000 < row["rate"] < 70_000 for row in rows)


def test_the_probe_is_switched_on_after_its_traffic_is_shown_and_confirmed(tmp_path: Path) -> None:
    with served(tmp_path) as (_, service), cdn() as place:
        text = f'# ours\n[probe]\nplaylist = "{place}/{{event_id}}/master.m3u8"\n'
        env = {
            **settings_of(tmp_path, text),
            "LIVEDECK_BASE_URL": service["base_url"],
            "LIVEDECK_TOKEN": service["token"],
        }
        unsure = called(tmp_path, "probe", "--enable", env=env)
        stored = Path(env["LIVEDECK_CONFIG"]).read_text()
        sure, again = (called(tmp_path, "probe", "--enable", "--yes", env=env) for _ in range(2))
        other = called(tmp_path, "probe", "--enable", "--yes", env={**env, "LIVEDECK_PROBE": "{}"})
    assert (unsure.returncode, stored, unsure.stderr) == (3, text, "No terminal to confirm at. Add --yes.\n")
    assert " requests/s, " in unsure.stdout
    assert (sure.returncode, "the probe is on" in sure.stdout, "is on already" in again.stdout) == (0, True, True)
    assert Path(env["LIVEDECK_CONFIG"]).read_text() == f"{text}enabled = true\n"
    assert (other.returncode, "LIVEDECK_PROBE is set" in other.stdout) == (3, True)

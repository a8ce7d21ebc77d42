"""Lists with unreadable rows: none is omitted in silence (commands.md, "Unreadable data")."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any
from urllib.parse import urlsplit

import jsonschema_rs
import pytest

from cli.commands import called, command_of

KEY = "the-key-of-a-strange-row-4711"

ANSWERS = {
    "/v2/live/events": b'{"meta":{"pagination":{"page":1,"per_page":100,"total":4}},"data":['
    b'{"id":"e1","name":"Hall 1","chat_active":"perhaps","stream":{"id":"s1","status":7}},'
    b'{"name":"Hall 2","streamkey":"' + KEY.encode() + b'"},'
    b'"' + KEY.encode() + b'",'
    b'{"id":"e4","name":"Hall 4","stream":"on air","restreams":["' + KEY.encode() + b'",{"name":"CDN"}]}]}',
    "/v2/live/events/e4": b'{"data":{"id":"e4","name":"Hall 4","stream":"on air","restreams":["x",{"name":"CDN"}]}}',
    "/v1/meet/rooms": b'{"data":[{"id":"r1","name":"Board"}]}',
    "/v1/meet/rooms/r1": b'{"data":{"id":"r1","name":"Board","restreams":[{"name":"no id"},{"id":"p2","name":"CDN"}]}}',
    "/v1/videos/v/subtitles": b'{"data":[{"id":"t1","language":"uk","position":1},{"language":"fr"}]}',
}
"""Path -> reply of a strange platform, byte for byte."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        body = ANSWERS.get(urlsplit(self.path).path)
        self.send_response(404 if body is None else 200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body or b"")))
        self.end_headers()
        self.wfile.write(body or b"")

    def do_PUT(self) -> None:
        self.send_response(405)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  the base's own name
        """Log nothing."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def run(home: Path, address: str, *words: str) -> CompletedProcess[str]:
    done = called(home, *words, env={"LIVEDECK_BASE_URL": address, "LIVEDECK_TOKEN": "strange"})
    assert KEY not in done.stdout + done.stderr
    return done


def read(home: Path, address: str, *words: str) -> tuple[int, Any]:
    """Return the exit code of a command, and its JSON, which must follow its schema."""
    done = run(home, address, *words, "--json")
    schema = json.loads(run(home, address, *command_of(words), "--schema").stdout)
    printed = json.loads(done.stdout)
    jsonschema_rs.validator_for(schema).validate(printed)
    return done.returncode, printed


def test_rows_that_are_left_out_are_counted_with_the_first_reason(tmp_path: Path, address: str) -> None:
    done = run(tmp_path, address, "event", "list", "--quiet")
    assert (done.returncode, done.stdout.split()) == (4, ["e1", "e4"])
    assert "livedeck: 2 events could not be read and are left out: data[1] should have an id" in done.stderr
    code, printed = read(tmp_path, address, "event", "list")
    assert (code, [item["id"] for item in printed["items"]]) == (4, ["e1", "e4"])
    assert [fault["field"] for fault in printed["unreadable"]] == ["data[1]", "data[2]"]


@pytest.mark.parametrize("form", ["--format=csv", "--format=ndjson", "--columns=id", "--json"])
def test_every_form_of_output_says_so(tmp_path: Path, address: str, form: str) -> None:
    done = run(tmp_path, address, "event", "list", form)
    assert (done.returncode, "2 events could not be read" in done.stderr) == (4, True)


def test_a_field_that_cannot_be_read_is_named_and_is_no_missing_row(tmp_path: Path, address: str) -> None:
    _, printed = read(tmp_path, address, "event", "list")
    faults = {item["id"]: {fault["field"] for fault in item["faults"]} for item in printed["items"]}
    assert faults["e1"] == {"chat_active"}
    assert faults["e4"] == {"stream", "restreams[0]"}
    done = run(tmp_path, address, "event", "get", "Hall 4")
    assert done.returncode == 0
    named = r"^livedeck: Hall 4: could not be read: (stream|restreams\[0\]) should be an object"
    assert re.search(named, done.stderr, re.MULTILINE)


def test_a_row_inside_is_a_row_too(tmp_path: Path, address: str) -> None:
    code, streams = read(tmp_path, address, "event", "stream", "list")
    assert (code, [stream["event"] for stream in streams["items"]]) == (4, ["Hall 1"])
    assert [fault["field"] for fault in streams["unreadable"]] == ["data[1]", "data[2]", "stream"]
    code, relays = read(tmp_path, address, "room", "relay", "list", "Board")
    assert (code, [relay["id"] for relay in relays["items"]]) == (4, ["p2"])
    assert [fault["field"] for fault in relays["unreadable"]] == ["restreams[0]"]


def test_a_name_that_is_not_found_may_be_that_of_a_row_left_out(tmp_path: Path, address: str) -> None:
    done = run(tmp_path, address, "event", "get", "Hall 2")
    assert done.returncode == 4
    assert "no event is called" in done.stderr
    assert "2 events could not be read" in done.stderr


def test_what_names_every_row_is_not_sent_where_a_row_is_not_known(tmp_path: Path, address: str) -> None:
    done = run(tmp_path, address, "video", "subtitle", "reorder", "v", "t1", "--yes")
    assert (done.returncode, "1 subtitle could not be read" in done.stderr) == (4, True)


def test_restreams_are_not_sent_where_one_of_them_is_not_known(tmp_path: Path, address: str) -> None:
    """The list is sent whole: the row that nobody could read would be gone. Another field is sent."""
    rows = tmp_path / "rows.json"
    rows.write_text('[{"name": "CDN", "url": "rtmp://live.example/app", "key": "cdn-key-4711"}]', encoding="utf-8")
    done = run(tmp_path, address, "event", "edit", "Hall 4", "--restreams", str(rows), "--yes")
    assert (done.returncode, "restreams cannot be changed" in done.stderr) == (2, True), done.stderr
    done = run(tmp_path, address, "event", "edit", "Hall 4", "--name", "Hall four", "--yes")
    assert (done.returncode, "405" in done.stderr) == (3, True), done.stderr


def test_a_check_of_all_is_unknown_where_an_event_is_not_known(tmp_path: Path, address: str) -> None:
    done = run(tmp_path, address, "event", "check")
    assert "UNKNOWN 2 events could not be read" in done.stdout

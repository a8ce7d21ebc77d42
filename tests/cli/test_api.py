"""`livedeck api` in scripts: its requests, its output, and refusals."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from cli.commands import called, served

SECRET = "s3cret-key-4417"
ANSWER = {
    "data": [
        {"id": "p1", "name": "Zo\u00eb\x1b[2J", "streamKey": SECRET, "url": "https://cdn.example/a?sign=abcdef12"}
    ],
    "meta": None,
}


class Recorder(BaseHTTPRequestHandler):
    """Handler that stores each request. It refuses the path /refused, and drops the connection of /lost."""

    def answer(self) -> None:
        """Store the request and reply."""
        assert isinstance(self.server, Platform)
        body = self.rfile.read(int(self.headers["Content-Length"] or 0))
        self.server.requests.append((self.command, self.path, json.loads(body) if body else None))
        if "/lost" in self.path:
            self.connection.close()
            return
        refusal = {"error": {"code": 422422, "message": f"bad key {SECRET}"}}
        sent = b"" if "/empty" in self.path else json.dumps(refusal if "/refused" in self.path else ANSWER).encode()
        self.send_response(422 if "/refused" in self.path else 200)
        self.send_header("Content-Length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent if self.command != "HEAD" else b"")

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = answer  # noqa: N815  names of http.server

    def log_message(self, *_: object) -> None:
        """Log nothing."""


class Platform(ThreadingHTTPServer):
    """Server of the handler. `requests`: method, path and decoded body of each request."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Recorder)
        self.requests: list[tuple[str, str, Any]] = []

    def handle_error(self, *_: object) -> None:
        """Ignore a connection that was dropped on purpose."""


@pytest.fixture
def platform() -> Iterator[Platform]:
    with Platform() as platform:
        threading.Thread(target=platform.serve_forever, kwargs={"poll_interval": 0.01}).start()
        try:
            yield platform
        finally:
            platform.shutdown()


def api(home: Path, platform: Platform, *words: str, **options: Any) -> Any:
    """Return the outcome of `livedeck api` with these words."""
    return called(home, "api", *words, env=address(platform) | options.pop("env", {}), **options)


def address(platform: Platform) -> dict[str, str]:
    """The variables that name the platform."""
    return {"LIVEDECK_BASE_URL": f"http://127.0.0.1:{platform.server_port}/base", "LIVEDECK_TOKEN": "t"}


def test_a_read_prints_its_json_on_lines_and_masked(tmp_path: Path, platform: Platform) -> None:
    done = api(tmp_path, platform, "get", "v1/projects?a=1", "-f", "page=2", "-F", "page=3", "-F", 'ids=["x", true]')
    assert (done.returncode, done.stderr) == (0, "")
    assert platform.requests == [("GET", "/base/v1/projects?a=1&page=2&page=3&ids=x&ids=true", None)]
    assert json.loads(done.stdout) == {
        "data": [
            {"id": "p1", "name": "Zo\u00eb\x1b[2J", "streamKey": "••••4417", "url": "https://cdn.example/••••?••••"}
        ],
        "meta": None,
    }
    assert len(done.stdout.splitlines()) > 8
    assert "\x1b" not in done.stdout


@pytest.mark.parametrize("words", [("HEAD", "/v1/x"), ("GET", "/v1/empty"), ("DELETE", "/v1/empty", "--yes")])
def test_nothing_is_printed_for_an_empty_body(tmp_path: Path, platform: Platform, words: tuple[str, ...]) -> None:
    done = api(tmp_path, platform, *words)
    assert (done.returncode, done.stdout) == (0, "")
    assert platform.requests[0][:2] == (words[0], f"/base{words[1]}")


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_a_change_needs_a_confirmation_that_names_its_method(tmp_path: Path, platform: Platform, method: str) -> None:
    line = (method, "/v1/projects/p1?dry=1", "-f", "name=Evening", "-F", "limit=3", "-f", f"apiKey={SECRET}")
    asked, dry = api(tmp_path, platform, *line), api(tmp_path, platform, *line, "--dry-run")
    assert (asked.returncode, dry.returncode, platform.requests) == (2, 0, [])
    assert "No terminal to confirm at. Add --yes." in asked.stderr
    for text in (asked.stderr, dry.stderr):
        assert f'Send request "{method} /v1/projects/p1"?' in text
        assert 'name: - → "Evening"' in text
        assert "limit: - → 3" in text
        assert SECRET not in text
    done = api(tmp_path, platform, *line, "--yes")
    assert (done.returncode, json.loads(done.stdout)["data"][0]["id"]) == (0, "p1")
    assert platform.requests == [
        (method, "/base/v1/projects/p1?dry=1", {"name": "Evening", "limit": 3, "apiKey": SECRET})
    ]


def test_a_body_of_any_json_comes_from_a_file(tmp_path: Path, platform: Platform) -> None:
    (tmp_path / "order.json").write_text('["b", "a"]')
    done = api(tmp_path, platform, "PATCH", "/v1/order", "--input", str(tmp_path / "order.json"), "--yes")
    assert (done.returncode, platform.requests) == (0, [("PATCH", "/base/v1/order", ["b", "a"])])


@pytest.mark.parametrize("flag", [("--read-only",), ()])
def test_a_read_only_livedeck_sends_reads_only(tmp_path: Path, platform: Platform, flag: tuple[str, ...]) -> None:
    env = {} if flag else {"LIVEDECK_READ_ONLY": "true"}
    done = api(tmp_path, platform, "POST", "/v1/x", "--yes", *flag, env=env)
    assert (done.returncode, platform.requests) == (2, [])
    assert "POST /v1/x: not sent, livedeck is read-only" in done.stderr
    assert api(tmp_path, platform, "GET", "/v1/x", *flag, env=env).returncode == 0


@pytest.mark.parametrize(
    "words",
    [
        ("OPTIONS", "/v1/x"),
        ("GET", "//evil.example/x"),
        ("GET", "https://evil.example/x"),
        ("POST", "/v1/../../x", "--yes"),
        ("POST", "/v1/%2e%2e/x", "--dry-run"),
        ("GET", "/v1/x#part"),
        ("GET", "/v1/x\r\nHost: y"),
        ("GET", "/v1/x", "-f", "name"),
        ("GET", "/v1/x", "-f", "=x"),
        ("GET", "/v1/x", "-F", "name=Evening"),
        ("GET", "/v1/x", "-F", 'name={"a": 1}'),
        ("GET", "/v1/x", "--input", "-"),
        ("POST", "/v1/x", "--yes", "-F", "limit=NaN"),
        ("POST", "/v1/x", "--yes", "-f", "a=1", "-f", "a=2"),
        ("POST", "/v1/x", "--yes", "-f", "a=1", "--input", "-"),
        ("POST", "/v1/x", "--yes", "--input", "missing.json"),
    ],
)
def test_a_wrong_line_sends_nothing(tmp_path: Path, platform: Platform, words: tuple[str, ...]) -> None:
    done = api(tmp_path, platform, *words)
    assert (done.returncode, done.stdout, platform.requests) == (2, "", [])
    assert "Traceback" not in done.stderr


def test_a_refusal_is_that_of_every_command(tmp_path: Path, platform: Platform) -> None:
    for words in (("GET", "/v1/refused"), ("POST", "/v1/refused", "-f", f"stream_key={SECRET}", "--yes")):
        done = api(tmp_path, platform, *words)
        assert (done.returncode, done.stdout) == (3, ""), done.stderr
    assert "bad key ••••4417" in done.stderr
    assert SECRET not in done.stderr


def test_a_change_without_a_response_stays_open_until_somebody_looks(tmp_path: Path, platform: Platform) -> None:
    lost = api(tmp_path, platform, "POST", "/v1/lost", "--yes")
    assert (lost.returncode, lost.stdout, len(platform.requests)) == (5, "", 1)
    assert "livedeck does not know which read would show the change" in lost.stderr
    listed = called(tmp_path, "change", "list", env=address(platform))
    assert 'unknown: send "POST /v1/lost"' in listed.stdout
    again = api(tmp_path, platform, "POST", "/v1/lost", "--yes")
    assert (again.returncode, len(platform.requests)) == (2, 1)
    assert "add --confirm 'POST /v1/lost'" in again.stderr
    assert api(tmp_path, platform, "POST", "/v1/lost", "--confirm", "POST /v1/lost").returncode == 5
    assert len(platform.requests) == 2


def test_it_reads_what_the_other_commands_read(tmp_path: Path) -> None:
    with served(tmp_path) as (_, service):
        env = {"LIVEDECK_BASE_URL": service["base_url"], "LIVEDECK_TOKEN": service["token"]}
        raw = called(tmp_path, "api", "GET", "/v2/live/events", "-F", "per_page=3", env=env)
        events = json.loads(called(tmp_path, "event", "list", "--json", env=env).stdout)["items"]
        keys = [event["streamkey"] for event in events]
        missing = called(tmp_path, "api", "GET", "/v2/live/events/nothing", env=env)
    rows = json.loads(raw.stdout)["data"]
    assert len(rows) == 3
    assert {row["id"] for row in rows} < {event["id"] for event in events}
    assert {row["streamkey"] for row in rows} <= {*keys}
    assert missing.returncode == 3

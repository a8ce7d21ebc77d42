"""Platform that counts: events on air, a sample each second, and the time of each poll.

It shares no code with livedeck, and runs as a process of its own: `python counting.py EVENTS BLACK`, with a file of the
ids of events whose picture is black. It prints its port, and then of each poll for samples its time, the event, and the
last character of the token.
"""

from __future__ import annotations

import json
import sys
import time
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any


class Platform(BaseHTTPRequestHandler):
    """Handler that serves the list and the samples."""

    protocol_version = "HTTP/1.1"
    events = 0
    black = Path()
    begun = datetime.now(UTC)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  its name in the library
        """Log nothing: `do_GET` prints the request with its time."""

    def do_GET(self) -> None:
        """Send a page of the list, or the samples of an event."""
        parts = self.path.partition("?")[0].strip("/").split("/")
        if parts[-1] == "qos":
            asker = self.headers.get("Authorization", "")[-1:]
            sys.stdout.write(f"{time.monotonic():.3f} {parts[-2]} {asker}\n")
            answer: dict[str, Any] = {"data": samples(parts[-2])}
        else:
            answer = page(self.path)
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def page(path: str) -> dict[str, Any]:
    """Return a page of the list of events."""
    query = dict(pair.split("=") for pair in path.partition("?")[2].split("&") if "=" in pair)
    number, size = int(query.get("page", 1)), int(query.get("per_page", 20))
    rows = [event(index) for index in range(Platform.events)][(number - 1) * size : number * size]
    pagination = {"page": number, "per_page": size, "total": Platform.events}
    return {"meta": {"pagination": pagination, "order": {}}, "data": rows}


def event(index: int) -> dict[str, Any]:
    """Return an event on air."""
    started = Platform.begun.isoformat()
    stream = {"id": f"s{index}", "status": "live", "started_at": started, "finished_at": None}
    return {"id": f"e{index}", "name": f"Show {index}", "type": "one-time", "reconnect_window": 600, "stream": stream}


def samples(event_id: str) -> list[dict[str, Any]]:
    """Return the last twenty seconds of a steady signal, or of a black one."""
    now = int(time.time())
    is_black = event_id in Platform.black.read_text(encoding="utf-8").split()
    return [
        {
            "time": datetime.fromtimestamp(second, UTC).isoformat(),
            "bitrate_video": 0 if is_black else 4_500_000,
            "bitrate_audio": 128_000,
            "frame_rate": 30,
            "status": 0,
        }
        for second in range(now - 20, now)
    ]


if __name__ == "__main__":
    Platform.events, Platform.black = int(sys.argv[1]), Path(sys.argv[2])
    server = ThreadingHTTPServer(("127.0.0.1", 0), Platform)
    print(server.server_port, flush=True)  # noqa: T201  for who started it
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    server.serve_forever()

"""Operator who acts on alarms in haste, from an outdated list: raw sockets and literal bytes.

Run as `hasty.py PORT NAME COUNT`: it reads the alarms now and then, sends a command for one alarm at a time, and prints
each as a line of JSON: `uid`, `verb`, `key`, the alarm as `shown`, and the reply (`status`, `error`, `changed`).
"""

from __future__ import annotations

import json
import socket
import sys
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from random import Random
from typing import Any

VERBS = ("acknowledge", "acknowledge", "acknowledge", "shelve", "out-of-service", "in-service", "unshelve", "note")
SAID: dict[str, dict[str, Any]] = {
    "shelve": {"minutes": 5, "reason": "known"},
    "out-of-service": {"reason": "known"},
    "note": {"text": "seen"},
}
LOOKS_EACH = 12
"""Number of commands from one list. The alarms change meanwhile."""


class Hasty:
    """Connection that carries one request after another."""

    def __init__(self, port: int, name: str) -> None:
        self._name, self._random = name, Random(name)
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self._answers = self._socket.makefile("rb")

    def commands(self, count: int) -> Iterator[dict[str, Any]]:
        """Send `count` commands and yield their results."""
        shown: list[dict[str, Any]] = []
        for number in range(count):
            if number % LOOKS_EACH == 0:
                _, shown = self._ask("GET", "/shown")
            yield self._answer(f"{self._name}-command-{number}", self._random.choice(shown))

    def acknowledge(self, alarm: dict[str, Any]) -> dict[str, Any]:
        """Acknowledge an alarm as it was shown."""
        return self._answer(f"{self._name}-acknowledges", alarm, "acknowledge")

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()

    def _answer(self, uid: str, alarm: dict[str, Any], verb: str = "") -> dict[str, Any]:
        verb, key = verb or self._random.choice(VERBS), [alarm["event_id"], alarm["kind"], alarm.get("target", "")]
        shown = {"since": alarm["since"], "severity": alarm["severity"], "stage": alarm.get("stage", 0)}
        body = {} if verb in {"in-service", "unshelve"} else {**shown, **SAID.get(verb, {})}
        path = urlsafe_b64encode(json.dumps(key).encode()).decode().rstrip("=")
        status, answer = self._ask("POST", f"/v1/alarms/{path}/{verb}", body, f"Idempotency-Key: {uid}\r\n")
        said = {"error": answer.get("error"), "changed": answer.get("changed"), "say": answer["say"]}
        return {"uid": uid, "verb": verb, "key": key, "shown": shown, "status": status, **said}

    def _ask(self, method: str, path: str, body: Any = None, headers: str = "") -> tuple[int, Any]:
        content = json.dumps(body).encode() if body is not None else b""
        head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer anna\r\n{headers}"
        self._socket.sendall(f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content)
        status, length = int(self._answers.readline().split()[1]), 0
        while line := self._answers.readline().strip():
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        return status, json.loads(self._answers.read(length))


if __name__ == "__main__":
    for command in Hasty(int(sys.argv[1]), sys.argv[2]).commands(int(sys.argv[3])):
        sys.stdout.write(f"{json.dumps(command)}\n")

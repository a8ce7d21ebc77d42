"""Network of its own: hosts with public and private addresses, and a DNS server whose answers change.

`unshare --map-root-user --mount --net` starts it. Its argument is JSON, one or more trials: `kind` (webhook or the name
of a service), `allowed` (entries), `answers` (addresses of moving.example, one list for each lookup; the last stays).
It prints for each trial the result, and the connections and bytes that reached each host. No packet can leave the
machine.
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

from livedeck.client import Outgoing
from livedeck.egress import Egress
from livedeck.environment import sender_variables
from livedeck.notify import AppriseTarget, Delivery, Webhook
from notify.test_egress import SERVICES, THANKS, Sinks, raw_sinks
from notify.test_targets import message

HOSTS = {"public": "198.41.0.4", "private": "10.0.0.5", "loopback": "127.0.0.3"}
NAME, PORT = "moving.example", 8443


class Names:
    """DNS server: it answers lookups of NAME with `answers`, and others with nothing."""

    def __init__(self) -> None:
        self.answers: list[list[str]] = []
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 53))
        Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            query, asker = self._socket.recvfrom(512)
            self._socket.sendto(self._answer(query), asker)

    def _answer(self, query: bytes) -> bytes:
        end = query.index(b"\0", 12)
        kind, _ = struct.unpack("!HH", query[end + 1 : end + 5])
        question, asked = query[12 : end + 5], query[12:end]
        is_ours = asked == b"".join(bytes([len(part)]) + part.encode() for part in NAME.split("."))
        found = []
        if is_ours and kind == 1:  # A, and of IPv6 it has none
            found = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        records = b"".join(struct.pack("!HHHIH", 0xC00C, 1, 1, 0, 4) + socket.inet_aton(each) for each in found)
        flags = 0x8180 if is_ours else 0x8183
        return query[:2] + struct.pack("!HHHHH", flags, 1, len(found), 0, 0) + question + records


def prepare(folder: Path) -> None:
    """Give the network its hosts and its DNS server."""
    for command in (
        ["ip", "link", "set", "lo", "up"],
        *(["ip", "address", "add", f"{address}/32", "dev", "lo"] for address in HOSTS.values()),
    ):
        subprocess.run(command, check=True)
    files = {
        "resolv.conf": "nameserver 127.0.0.1\n",
        "nsswitch.conf": "hosts: files dns\n",
        "hosts": "127.0.0.1 localhost\n",
    }
    for name, text in files.items():
        (folder / name).write_text(text)
        subprocess.run(["mount", "--bind", str(folder / name), f"/etc/{name}"], check=True)


async def attempt(kind: str, allowed: list[str]) -> Delivery:
    """Send one message."""
    rule = Egress.of(allowed)
    if kind == "webhook":
        async with Outgoing(egress=rule) as outgoing:
            return await Webhook(outgoing.send, f"https://{NAME}:{PORT}/hook").send(message())
    address = SERVICES[kind].format(host=NAME, port=PORT)
    if kind == "mailto":
        address += "&cto=1"  # seconds that it waits for a greeting, which no sink says
    return await AppriseTarget(address, sender_variables({"NO_PROXY": "*"}), egress=rule).send(message())


def run(trial: dict[str, Any], names: Names, sinks: Sinks) -> dict[str, Any]:
    """Run a trial. Returns its result, and the connections and bytes of each host."""
    names.answers = trial["answers"]
    before = sinks.counts()
    delivery = asyncio.run(attempt(trial["kind"], trial["allowed"]))
    came = [(now[0] - then[0], now[1] - then[1]) for now, then in zip(sinks.counts(), before, strict=True)]
    return {"is_taken": delivery.is_taken, "said": delivery.answer, **dict(zip(HOSTS, came, strict=True))}


def main() -> None:
    """Run all trials."""
    with TemporaryDirectory() as folder:
        prepare(Path(folder))
        names = Names()
        with raw_sinks(*([address, PORT, THANKS] for address in HOSTS.values())) as sinks:
            results = [run(trial, names, sinks) for trial in json.loads(sys.argv[1])]
    sys.stdout.write(json.dumps(results))


if __name__ == "__main__":
    main()

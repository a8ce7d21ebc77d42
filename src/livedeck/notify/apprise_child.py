"""Program that tries once to send a message through apprise. `AppriseTarget` runs it, and kills it at its time limit.

The program is started by its path and imports only the rule for receivers, because each try pays for every import.
"""

from __future__ import annotations

import json
import logging
import os
import re
import signal
import socket
import sys
from collections.abc import Callable, Mapping
from ipaddress import ip_address
from math import ceil
from typing import Any
from urllib.parse import urlsplit
from weakref import WeakSet

from livedeck.egress import Egress, literal_addresses


def main() -> None:
    """Read the request from stdin and write the result to stdout, both as JSON."""
    output = os.dup(1)
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)  # a service may print to stdout, which carries the result
    request = json.load(sys.stdin.buffer)
    signal.alarm(ceil(request["limit"]))  # the parent may be gone
    gate = Gate(Egress.of(request["allowed"]), request["proxy"])
    sys.addaudithook(gate.hear)
    statuses = Statuses()
    import apprise

    service = apprise.Apprise(asset=apprise.AppriseAsset(http_redirects=False))
    service.add(request["address"])
    taken = service.notify(
        body=request["body"],
        title=request["title"],
        notify_type=apprise.NotifyType(request["type"]),
        body_format=apprise.NotifyFormat.TEXT,
    )
    words = [entry.message for entry in taken.logs()]
    result = {
        "is_taken": bool(taken),
        "words": "; ".join([*words, *gate.refusals])[:_MAX_WORDS],
        "refusal": "" if gate.has_connected else next(iter(gate.refusals), ""),
        "redirect": next((status for status in reversed(statuses.seen) if 300 <= status < 400), 0),
    }
    os.write(output, json.dumps(result).encode())
    os._exit(0)  # a normal exit would wait for threads of apprise, which may hang


class RefusedError(PermissionError):
    """The settings do not allow this receiver."""


class Gate:
    """Guard that refuses connections and programs that the rule does not allow.

    `hear` is an audit hook: for every library, Python calls it with the address of each connection, after the name
    look-up. `refusals`: refused connections, in words. `has_connected`: a connection was allowed. `proxy`: address of
    the proxy, or empty.
    """

    def __init__(self, egress: Egress, proxy: str) -> None:
        self.refusals: list[str] = []
        self.has_connected = False
        self._egress, self._proxy = egress, urlsplit(proxy)
        self._names = dict[str, None]()  # names that were looked up
        self._bound = WeakSet[Any]()
        self._checks: Mapping[str, Callable[..., str]] = {
            "socket.getaddrinfo": self._note_name,
            "socket.gethostbyname": self._note_name,
            "socket.bind": self._note_own,
            "socket.connect": self._check_address,
            "socket.sendto": self._check_address,
            "socket.sendmsg": self._check_address,
            "http.client.send": self._check_tunnel,
            **dict.fromkeys(_LOCAL_EVENTS, self._check_local),
        }

    def hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Raise RefusedError if the rule of `allow_private` forbids the action that Python is about to do.

        This is a hook for `sys.addaudithook`: `event` and `arguments` name the action, such as `socket.connect`.
        """
        check = self._checks.get(event)
        if check and (refusal := check(*arguments)):
            self.refusals.append(refusal)
            raise RefusedError(refusal)

    def _note_name(self, host: object, *_: object) -> str:
        name = host.decode(errors="replace") if isinstance(host, bytes) else host
        if isinstance(name, str):
            self._names[name] = None
        return ""

    def _note_own(self, sock: socket.socket, _address: object) -> str:
        if isinstance(sock, socket.socket):
            self._bound.add(sock)
        return ""

    def _check_address(self, sock: socket.socket, address: Any) -> str:
        if address is None:  # already connected
            return ""
        if sock.family not in {socket.AF_INET, socket.AF_INET6}:
            return self._egress.refusal_local("a local socket")
        address, port = str(address[0]), address[1]
        if not _is_literal(address):  # the system looked it up and does not show the address
            return self._egress.refusal_unseen(address)
        if self._is_proxy(address, port) or self._is_own(address, port):
            return ""
        refusal = self._egress.refusal(address, address)
        if refusal and (host := next((name for name in tuple(self._names) if address in _addresses(name)), "")):
            refusal = self._egress.refusal(host, address)
        self.has_connected = self.has_connected or not refusal
        return refusal

    def _is_proxy(self, address: str, port: int) -> bool:
        proxy = self._proxy.hostname
        return bool(proxy) and port == self._proxy.port and address in _addresses(str(proxy))

    def _is_own(self, address: str, port: int) -> bool:
        """Return whether this process listens at that address. Some libraries wake a thread by such a connection."""
        return any((address, port) == _listens_at(sock) for sock in tuple(self._bound))

    def _check_tunnel(self, _connection: object, data: object) -> str:
        """Check the host of a tunnel through a proxy. The proxy looks up names, so only addresses can be checked."""
        head = _TUNNEL.match(data) if self._proxy.hostname and isinstance(data, bytes) else None
        host = head[1].decode("ascii", "replace") if head else ""
        return next((why for address in literal_addresses(host) if (why := self._egress.refusal(host, address))), "")

    def _check_local(self, *_: object) -> str:
        return self._egress.refusal_local("a program or the system's log")


_TUNNEL = re.compile(rb"CONNECT (\S+):\d+ HTTP/1\.[01]\r\n")  # no text of a message has this line end

_LOCAL_EVENTS = (
    "os.exec",
    "os.posix_spawn",
    "os.spawn",
    "os.system",
    "subprocess.Popen",
    "syslog.openlog",
    "syslog.syslog",
)


class Statuses(logging.Handler):
    """Log handler that keeps the HTTP statuses that urllib3 logs, because apprise words each status differently."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.seen: list[int] = []
        log = logging.getLogger("urllib3.connectionpool")
        log.setLevel(logging.DEBUG)
        log.addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the status of a response."""
        match record.args:
            case (_, _, _, _, _, _, int(status), _):
                self.seen.append(status)


def _is_literal(address: str) -> bool:
    try:
        ip_address(address.partition("%")[0])
    except ValueError:
        return False
    return True


def _addresses(name: str) -> set[str]:
    try:
        return {str(address[0]) for *_, address in socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)}
    except (OSError, UnicodeError):
        return set()


def _listens_at(sock: socket.socket) -> tuple[str, int] | None:
    try:
        is_listening = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
        return sock.getsockname()[:2] if is_listening else None
    except OSError:
        return None


_MAX_WORDS = 10_000

if __name__ == "__main__":
    main()

"""Targets of messages: a webhook, or a service that apprise supports (notifications.md, "Targets").

A target makes one try and returns its result. This package must not use httpx, so a webhook gets a `Post` from its
maker.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import os
import re
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from signal import SIGKILL
from subprocess import DEVNULL, PIPE, Popen, TimeoutExpired
from typing import Any, Protocol, runtime_checkable
from urllib.parse import quote

from livedeck.egress import Egress, literal_addresses
from livedeck.notify.message import Message, Open
from livedeck.record import Record
from livedeck.text.secrets import masked_line

_PASSING = frozenset({401, 403, 404, 408, 425, 429})
"""HTTP statuses of 4xx that concern the target or may soon pass. Any other 4xx refuses the message for good."""

_REDIRECT = "a redirect, which is not followed: use the final address"

_NOWHERE_PRIVATE = Egress()


class Reply(Protocol):
    """Result of a request. `status`: 0 if no reply came. `text`: words for a person. `body`: for programs, unmasked."""

    @property
    def status(self) -> int: ...
    @property
    def text(self) -> str: ...
    @property
    def retry_after(self) -> float | None: ...
    @property
    def body(self) -> bytes: ...


class Post(Protocol):
    """Sends a request once. A failure of the network or the receiver raises nothing."""

    async def __call__(self, method: str, address: str, headers: Mapping[str, str], body: bytes, /) -> Reply:
        """Send the request and return the result."""


class Delivery(Record):
    """Result of a try.

    `answer`: the reply of the receiver, in words. `is_refused`: no further try can succeed. `retry_after`: seconds
    until the next try, as the receiver demands. `receipt`: name of the message at the receiver, by which its end can
    change it; empty if it has none. `is_partial`: the receiver took a new part of the message, so the try does not
    count as failed.
    """

    is_taken: bool
    answer: str
    is_refused: bool = False
    retry_after: float | None = None
    receipt: str = ""
    is_partial: bool = False


class Target(Protocol):
    """Receiver of messages."""

    async def send(self, message: Message) -> Delivery:
        """Try once to send the message. Raises nothing."""


@runtime_checkable
class Refreshing(Target, Protocol):
    """Receiver that forgets open alarms, so the notifier sends them again each `period` seconds.

    No other request to it runs at the same time.
    """

    period: float

    async def refresh(self, opens: Sequence[Open]) -> Delivery:
        """Send everything that is open. Raises nothing."""


FindRefusal = Callable[[str], Awaitable[str]]
"""Function that returns why nothing may be sent to an HTTP address; empty if sending is allowed."""


class CheckedTarget(Target, Protocol):
    """Target that can check, before a message is sent, whether livedeck may send to its address."""

    async def find_refusal(self, find: FindRefusal) -> str:
        """Return why nothing may be sent, as far as the address shows a reason; otherwise empty."""


@dataclass(frozen=True, slots=True, repr=False)
class Webhook:
    """Webhook. `secrets`: keys, each of which signs the body (empty: no signature). `clock`: seconds since 1970."""

    post: Post
    address: str
    secrets: tuple[str, ...] = ()
    clock: Callable[[], float] = time.time

    async def find_refusal(self, find: FindRefusal) -> str:
        """Return why nothing may be sent to the address."""
        return await find(self.address)

    async def send(self, message: Message) -> Delivery:
        """POST the message once. A status of 2xx means that the receiver took it."""
        body = (message.payload or f"{message.title}\n{message.text}").encode()
        content = "application/json" if message.payload else "text/plain; charset=utf-8"
        headers = {"Content-Type": content, "Idempotency-Key": message.key}
        if self.secrets:
            headers["X-Livedeck-Signature"] = signature(self.secrets, int(self.clock()), body)
        return delivery_of(await self.post("POST", self.address, headers, body))


def delivery_of(reply: Reply) -> Delivery:
    """Return what a reply means for a message: any 2xx is a success."""
    is_refused = 400 <= reply.status < 500 and reply.status not in _PASSING
    return Delivery(is_success(reply.status), words_of(reply), is_refused, reply.retry_after)


def words_of(reply: Reply) -> str:
    """Return a reply in words for a person."""
    text = _REDIRECT if 300 <= reply.status < 400 else reply.text
    return f"{reply.status} {text}".strip() if reply.status else text


def is_success(status: int) -> bool:
    """Return whether an HTTP status means success."""
    return 200 <= status < 300


def signature(secrets: Sequence[str], timestamp: int, body: bytes) -> str:
    """Return the header of a signed body: the time in seconds since 1970, and an HMAC-SHA-256 with each secret.

    A receiver that checks the time refuses an old request that somebody sends again.
    """
    signed = f"{timestamp}.".encode() + body
    digests = [hmac.new(secret.encode(), signed, sha256).hexdigest() for secret in secrets]
    return ",".join([f"t={timestamp}", *(f"v1={digest}" for digest in digests)])


_ALARM_KEYS = ("dedup", "alias")
"""Parameters by which services of apprise know an alarm from its beginning to its end."""

_APPRISE_LIMIT = 60.0
"""Time limit of a try in seconds, because some services have no limit of their own."""

_CHILD = Path(__file__).with_name("apprise_child.py")


class TargetError(Exception):
    """A target cannot be made from its address; the text says why and what to do."""


class AppriseTarget:
    """Receiver through a service of apprise, with a process for each try, since a hanging thread cannot be ended.

    The import of apprise costs 70 ms, so it happens only for a target. `egress`: rule for the addresses that the target
    may reach. `variables`: environment of the process, with the proxy (`HTTPS_PROXY`). `limit`: time limit of a try
    (s).
    """

    def __init__(
        self,
        address: str,
        variables: Mapping[str, str] | None = None,
        limit: float = _APPRISE_LIMIT,
        *,
        egress: Egress = _NOWHERE_PRIVATE,
    ) -> None:
        try:
            import apprise
        except ImportError:
            raise TargetError("apprise is not installed: pip install '.[notify]' in the checkout") from None
        service = apprise.Apprise(asset=apprise.AppriseAsset(http_redirects=False))
        if not service.add(address):
            raise TargetError(
                "apprise does not support this address; try it with `apprise -vv`, and see its list of services"
            )
        if any(plugin.redirects for plugin in service):
            raise TargetError("livedeck follows no redirects: remove redirect= from the address")
        self.refusal = next(filter(None, (_refusal(plugin, egress) for plugin in service)), "")
        """Reason why the rule refuses the address. Empty if it does not, or if only a look-up can tell."""
        self._address, self._variables, self._limit, self._egress = address, variables, limit, egress
        self._takes_headers = all("headers" in plugin.template_kwargs for plugin in service)
        self._alarm_key = next(
            (name for name in _ALARM_KEYS if all(name in plugin.template_args for plugin in service)), ""
        )
        self._thread = ThreadPoolExecutor(1, "livedeck-apprise")  # the pool of the loop has other work

    async def find_refusal(self, _find: FindRefusal) -> str:
        """Return why the address is refused; empty if it is not."""
        return self.refusal

    async def send(self, message: Message) -> Delivery:
        """Try once to send the message. Apprise reports failures only in words, so no refusal counts as final."""
        if self.refusal:
            return Delivery(is_taken=False, answer=self.refusal)
        request = {
            "allowed": self._egress.entries,
            "proxy": (self._variables or {}).get("HTTPS_PROXY", ""),
            "address": self._keyed_address(message),
            "body": message.text,
            "title": message.title.replace("=?", "= ?"),  # the header of a mail would be decoded, controls and all
            "type": _KINDS.get(message.status.value, "failure"),
            "limit": self._limit,
        }
        try:
            child = self._begin()
        except OSError as error:
            return _undelivered(f"cannot start a process: {error.strerror}")
        try:
            work = partial(_communicate, child, json.dumps(request).encode(), self._limit)
            return await asyncio.get_running_loop().run_in_executor(self._thread, work)
        finally:
            _end(child)

    def _begin(self) -> Popen[bytes]:
        """Start the child process. It reads the secret address from stdin; its stderr is discarded."""
        command = [sys.executable, "-P", str(_CHILD)]
        return Popen(  # noqa: S603  our own program
            command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env=self._variables, start_new_session=True
        )

    def _keyed_address(self, message: Message) -> str:
        """Return the address of apprise for a message, with keys that prevent duplicates.

        Adds the key of the message as a header, if the service takes headers. Adds the key of the alarm if the message
        has only one alarm, the service takes such a key, and the address has none.
        """
        added = [f"+Idempotency-Key={message.key}"] if self._takes_headers else []
        alarms = json.loads(message.payload)["alarms"] if self._alarm_key and message.payload else []
        if len(alarms) == 1 and not re.search(rf"[?&]{self._alarm_key}=", self._address):
            added.append(f"{self._alarm_key}={quote(alarms[0]['dedup_key'], safe='', errors='replace')}")
        if not added:
            return self._address
        return f"{self._address}{'&' if '?' in self._address else '?'}{'&'.join(added)}"


def _refusal(plugin: Any, egress: Egress) -> str:
    """Return why the rule refuses a service of apprise; empty if the address shows no reason.

    Names are not looked up, because many addresses have a key in place of the host.
    """
    if "{schema}://" in plugin.templates:  # it needs no address
        return egress.refusal_local(f"{plugin.schema}://")
    host = plugin.host if "host" in plugin.template_tokens else ""
    found = (egress.refusal(host, address) for address in literal_addresses(host or ""))
    return next(filter(None, found), "")


_KINDS = {"resolved": "success", "test": "info"}
"""Status of a message -> its type in apprise; any other status is a `failure`."""


def _communicate(child: Popen[bytes], request: bytes, limit: float) -> Delivery:
    """Return the result of a try, and kill the child at the limit."""
    with child:
        try:
            output, _ = child.communicate(request, limit)
        except TimeoutExpired:
            _end(child)
            return _undelivered(f"not finished within {limit:g} s")
    try:
        result = json.loads(output)
    except ValueError:
        return _undelivered(f"its process exited with code {child.returncode}")
    if result["is_taken"]:
        return Delivery(is_taken=True, answer="delivered by apprise")
    if result["refusal"]:
        return Delivery(is_taken=False, answer=masked_line(result["refusal"], 300))
    if result["redirect"]:
        return _undelivered(f"{result['redirect']} {_REDIRECT}")
    return _undelivered(result["words"])


def _undelivered(words: str) -> Delivery:
    return Delivery(is_taken=False, answer=f"apprise failed: {masked_line(words, 300)}")


def _end(child: Popen[bytes]) -> None:
    """Kill the child and its own children."""
    if child.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(child.pid, SIGKILL)

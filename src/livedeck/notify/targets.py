"""Where messages go: a webhook, or one of the many services that apprise knows (notifications.md, "Targets").

A target makes one try and says what came of it. httpx is not for this room: who makes a webhook gives it `Post`, the
way to send a request, which the client has.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from signal import SIGKILL
from subprocess import DEVNULL, PIPE, Popen, TimeoutExpired
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

from livedeck.egress import Egress, literal_addresses
from livedeck.notify.message import Message
from livedeck.text.secrets import masked_line

_REFUSED = frozenset({400, 413, 422})
"""The receiver has read the message and will not have it: the next try would be refused, too."""


_REDIRECT = "a redirect, which is not followed: use the final address"

_NOWHERE_PRIVATE = Egress()


class Answer(Protocol):
    """What a request came to. `status`: 0 where nobody answered; `text`: words for a person."""

    @property
    def status(self) -> int: ...
    @property
    def text(self) -> str: ...
    @property
    def retry_after(self) -> float | None: ...


class Post(Protocol):
    """Sends a request once, and raises nothing for the network or the receiver."""

    async def __call__(self, method: str, address: str, headers: Mapping[str, str], body: bytes, /) -> Answer:
        """What came back."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """What a try came to. `is_refused`: it will never be taken. `retry_after`: seconds that the receiver asks for."""

    is_taken: bool
    answer: str
    is_refused: bool = False
    retry_after: float | None = None


class Target(Protocol):
    """A receiver of messages."""

    async def send(self, message: Message) -> Delivery:
        """Try once to send the message. Raises nothing."""


FindRefusal = Callable[[str], Awaitable[str]]
"""Returns why nothing may be sent to an HTTP address; empty if something may."""


class CheckedTarget(Target, Protocol):
    """A receiver that can tell before a try that the rule for receivers refuses it."""

    async def find_refusal(self, find: FindRefusal) -> str:
        """Return why nothing may be sent, as far as the address shows it; empty if nothing speaks against it."""


@dataclass(frozen=True, slots=True, repr=False)
class Webhook:
    """POSTs the JSON of the message. `secret`: signs it; empty: it is not signed."""

    post: Post
    address: str
    secret: str = ""

    async def find_refusal(self, find: FindRefusal) -> str:
        """Return why nothing may be sent to the address."""
        return await find(self.address)

    async def send(self, message: Message) -> Delivery:
        """POST the message once. A status of 2xx means that it was taken."""
        body = message.payload.encode()
        headers = {"Content-Type": "application/json", "Idempotency-Key": message.key}
        if self.secret:
            headers["X-Livedeck-Signature"] = f"sha256={sign(self.secret, body)}"
        answer = await self.post("POST", self.address, headers, body)
        is_refused = answer.status in _REFUSED
        return Delivery(is_success(answer.status), words_of(answer), is_refused, answer.retry_after)


def words_of(answer: Answer) -> str:
    """What came back, for a person."""
    text = _REDIRECT if 300 <= answer.status < 400 else answer.text
    return f"{answer.status} {text}".strip() if answer.status else text


def is_success(status: int) -> bool:
    """Whether that status of HTTP is a yes."""
    return 200 <= status < 300


def sign(secret: str, body: bytes) -> str:
    """The HMAC-SHA-256 of a body, in hexadecimal digits."""
    return hmac.new(secret.encode(), body, sha256).hexdigest()


_APPRISE_LIMIT = 60.0
"""Seconds for the whole of a try: the services have limits of their own, or none."""

_CHILD = Path(__file__).with_name("apprise_child.py")


class TargetError(Exception):
    """A target cannot be made of its address; the text says why and what to do."""


class AppriseTarget:
    """A service of apprise, by its address, and a process for each try: a thread of apprise that hangs could not be
    ended. Imported when it is made: it costs 70 ms.

    `egress`: where it may lead; `variables`: what that process finds in its environment, and through which proxy it
    sends (`HTTPS_PROXY`); `limit`: seconds for a try.
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
            raise TargetError("apprise is not installed; pip install 'livedeck[notify]'") from None
        service = apprise.Apprise(asset=apprise.AppriseAsset(http_redirects=False))
        if not service.add(address):
            raise TargetError("apprise knows no such address; try it with `apprise -vv`, and see its list of services")
        if any(plugin.redirects for plugin in service):
            raise TargetError("its address asks for redirects (redirect=), and none is followed: leave that out")
        self.refusal = next(filter(None, (_refusal(plugin, egress) for plugin in service)), "")
        """Why the rule allows none of its tries, as far as its address says that."""
        self._address, self._variables, self._limit, self._egress = address, variables, limit, egress
        self._takes_headers = all("headers" in plugin.template_kwargs for plugin in service)
        self._thread = ThreadPoolExecutor(1, "livedeck-apprise")  # the one of the loop has other work

    async def find_refusal(self, _find: FindRefusal) -> str:
        """Return why the address is refused."""
        return self.refusal

    async def send(self, message: Message) -> Delivery:
        """Try once. Apprise words its failures for people, so no refusal counts as final."""
        if self.refusal:
            return Delivery(is_taken=False, answer=self.refusal)
        request = {
            "allowed": self._egress.entries,
            "proxy": (self._variables or {}).get("HTTPS_PROXY", ""),
            "address": self._keyed_address(message.key),
            "body": message.text,
            "title": message.title.replace("=?", "= ?"),  # the header of a mail would be decoded, controls and all
            "type": _KINDS.get(message.status.value, "failure"),
            "limit": self._limit,
        }
        try:
            child = self._begin()
        except OSError as error:
            return _undelivered(f"no process can be started: {error.strerror}")
        try:
            said = partial(_answer, child, json.dumps(request).encode(), self._limit)
            return await asyncio.get_running_loop().run_in_executor(self._thread, said)
        finally:
            _end(child)

    def _begin(self) -> Popen[bytes]:
        """The process: the address, which is a secret, it reads, and what it writes by itself nobody sees."""
        command = [sys.executable, "-P", str(_CHILD)]
        return Popen(  # noqa: S603  a program of ours
            command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env=self._variables, start_new_session=True
        )

    def _keyed_address(self, key: str) -> str:
        """The address, with a header that is the same for every try of a message, where the service takes any: it is
        named with a plus sign."""
        if not self._takes_headers:
            return self._address
        return f"{self._address}{'&' if '?' in self._address else '?'}+Idempotency-Key={key}"


def _refusal(plugin: Any, egress: Egress) -> str:
    """Return why nothing may be sent to a service of apprise; empty if its address does not tell: a name is not looked
    up, for in place of a host many addresses have a key."""
    if "{schema}://" in plugin.templates:  # it needs no address
        return egress.refusal_local(f"{plugin.schema}://")
    host = plugin.host if "host" in plugin.template_tokens else ""
    found = (egress.refusal(host, address) for address in literal_addresses(host or ""))
    return next(filter(None, found), "")


_KINDS = {"resolved": "success", "test": "info"}
"""As apprise calls them."""


def _answer(child: Popen[bytes], request: bytes, limit: float) -> Delivery:
    """What came of that try; whatever has not ended by then is killed."""
    with child:
        try:
            said, _ = child.communicate(request, limit)
        except TimeoutExpired:
            _end(child)
            return _undelivered(f"it did not end within {limit:g} s")
    try:
        answer = json.loads(said)
    except ValueError:
        return _undelivered(f"its process ended with code {child.returncode}")
    if answer["is_taken"]:
        return Delivery(is_taken=True, answer="apprise has delivered it")
    if answer["refusal"]:
        return Delivery(is_taken=False, answer=masked_line(answer["refusal"], 300))
    if answer["redirect"]:
        return _undelivered(f"{answer['redirect']} {_REDIRECT}")
    return _undelivered(answer["words"])


def _undelivered(words: str) -> Delivery:
    return Delivery(is_taken=False, answer=f"apprise could not deliver it: {masked_line(words, 300)}")


def _end(child: Popen[bytes]) -> None:
    """Kill it, and what it has started."""
    if child.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(child.pid, SIGKILL)


class Means(NamedTuple):
    """Everything that a target may need to send.

    `post`: sends HTTP requests through the platform's proxy and certificates. `check_address`: raises TargetError for
    an address that `post` cannot use. `variables`: environment of a child process. `egress`: the rule for receivers.
    """

    post: Post
    check_address: Callable[[str], None]
    variables: Mapping[str, str]
    egress: Egress


class TargetKind(NamedTuple):
    """A kind of target. Its settings, their checks and the template follow from this entry.

    `address`: the address in words, for the settings. `make`: makes a target from an address and a secret, which is
    empty if none is set; raises TargetError. `secret`: the secret in words; empty if the kind has none. `extra`: the
    extra of livedeck that the kind needs, or empty.
    """

    address: str
    make: Callable[[Means, str, str], CheckedTarget]
    secret: str = ""
    extra: str = ""


def _make_webhook(means: Means, address: str, secret: str) -> Webhook:
    means.check_address(address)
    return Webhook(means.post, address, secret)


def _make_apprise(means: Means, address: str, _secret: str) -> AppriseTarget:
    return AppriseTarget(address, means.variables, egress=means.egress)


TARGETS: Mapping[str, TargetKind] = MappingProxyType(
    {
        "webhook": TargetKind("the address of a webhook", _make_webhook, secret="the key that signs the webhook"),  # noqa: S106  words
        "apprise": TargetKind("an address of apprise", _make_apprise, extra="notify"),
    }
)
"""Every kind of target by its name, which begins the names of its settings: `webhook_command`, `webhook_file`."""

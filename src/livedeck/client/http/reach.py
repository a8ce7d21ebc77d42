"""The rules for where a connection may lead: links out of an answer (`LinkGuard`), and notifications (`EgressGuard`).

A platform, or whoever can write into one of its objects, could name an address of this machine or of the network around
it, and have the deck ask there. The same holds for whoever answers a look-up of a receiver's name. So a name is looked
up once, the guard checks its addresses, and the connection goes to those addresses.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from socket import SOCK_STREAM
from typing import Protocol

from livedeck.client.http.errors import Misconfigured
from livedeck.egress import Egress, literal_addresses, zone_of
from livedeck.text.values import safe


class Guard(Protocol):
    """A rule for where a connection may lead."""

    async def resolve(self, host: str, port: int) -> list[str]:
        """Return the addresses of that host that may be connected to. Raises Misconfigured if none may, and OSError."""


_guard: ContextVar[Guard | None] = ContextVar("guard", default=None)


@dataclass(frozen=True, slots=True)
class LinkGuard:
    """Judges where a link leads. `platform_hosts`: the configured ones, in whose networks it may lead, too."""

    summary: str
    platform_hosts: Sequence[str]

    async def resolve(self, host: str, port: int) -> list[str]:
        """The addresses of that host that may be asked. Raises Misconfigured where there is none, and OSError."""
        addresses = await _resolve(host, port)
        if not any(map(zone_of, addresses)):
            return addresses
        own_zones = {zone_of(own) for name in self.platform_hosts for own in await _resolve(name, port)} | {""}
        allowed = [address for address in addresses if zone_of(address) in own_zones]
        if not allowed:
            raise Misconfigured(
                f"{self.summary}: not asked: {safe(host, 100)} is on {zone_of(addresses[0])} ({addresses[0]}), and the "
                "platform is not; what the platform answers may not lead there"
            )
        return allowed


@dataclass(frozen=True, slots=True)
class EgressGuard:
    """Checks where a notification leads. `is_clear`: over plain http, which may not leave this machine."""

    egress: Egress
    is_clear: bool = False

    async def resolve(self, host: str, port: int) -> list[str]:
        """Return the addresses of that host that may be connected to. Raises Misconfigured if none may, and OSError."""
        addresses = await _resolve(host, port)
        reasons = {address: self._refusal(safe(host, 100), address) for address in addresses}
        allowed = [address for address, reason in reasons.items() if not reason]
        if not allowed:
            raise Misconfigured(reasons[addresses[0]])
        return allowed

    def _refusal(self, host: str, address: str) -> str:
        if self.is_clear and zone_of(address) != "this machine":
            return f"not sent: {host} ({address}) is not on this machine, and http is for this machine alone; use https"
        return self.egress.refusal(host, address)


@contextmanager
def guarding(guard: Guard | None) -> Iterator[None]:
    """Let connections that are made inside lead only where that allows; None: anywhere."""
    token = _guard.set(guard)
    try:
        yield
    finally:
        _guard.reset(token)


async def allowed_addresses(host: str, port: int) -> Sequence[str]:
    """What to connect to in place of that host. Raises Misconfigured, OSError."""
    guard = _guard.get()
    return (host,) if guard is None else await guard.resolve(host, port)


async def check_tunnel(host: str, port: int) -> None:
    """Raise Misconfigured where a proxy may not lead: it looks names up itself, so addresses alone can be checked."""
    guard = _guard.get()
    if guard is not None and literal_addresses(host):
        await guard.resolve(host, port)


async def _resolve(host: str, port: int) -> list[str]:
    found = await asyncio.get_running_loop().getaddrinfo(host.strip("[]"), port, type=SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))

"""Guards for the addresses of connections: links in a reply or playlist (`LinkGuard`), notifications (`EgressGuard`).

Anyone who can change an object of the platform could put a link to this machine or its network into the object. The
deck would then connect to this link. Anyone who controls the DNS of a receiver could do the same. Therefore a name is
looked up once, the guard checks its addresses, and the connection uses these addresses.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from socket import SOCK_STREAM
from typing import Protocol

from livedeck.client.http.errors import Misconfigured
from livedeck.egress import Egress, literal_addresses, zone_of
from livedeck.record import Record
from livedeck.text.values import safe


class Guard(Protocol):
    """Rule for the addresses of connections."""

    async def resolve(self, host: str, port: int) -> list[str]:
        """Return the allowed addresses of a host. Raises OSError, or Misconfigured if none is allowed."""


_guard: ContextVar[Guard | None] = ContextVar("guard", default=None)


class LinkGuard(Record):
    """Guard for links in a reply.

    `platform_hosts`: configured hosts, whose networks are allowed, too. `owner`: their name in a refusal.
    """

    summary: str
    platform_hosts: Sequence[str]
    owner: str = "the platform"

    async def resolve(self, host: str, port: int) -> list[str]:
        """Return the allowed addresses of a host. Raises OSError, or Misconfigured if none is allowed."""
        addresses = await _resolve(host, port)
        if not any(map(zone_of, addresses)):
            return addresses
        own_zones = {zone_of(own) for name in self.platform_hosts for own in await _resolve(name, port)} | {""}
        allowed = [address for address in addresses if zone_of(address) in own_zones]
        if not allowed:
            raise Misconfigured(
                f"{self.summary}: not sent, because {safe(host, 100)} is on {zone_of(addresses[0])} ({addresses[0]}), "
                f"and {self.owner} is not; a link of {self.owner} may not lead there"
            )
        return allowed


class EgressGuard(Record):
    """Guard for notifications. `is_clear`: the address is plain http, which must not leave this machine."""

    egress: Egress
    is_clear: bool = False

    async def resolve(self, host: str, port: int) -> list[str]:
        """Return the allowed addresses of a host. Raises OSError, or Misconfigured if none is allowed."""
        addresses = await _resolve(host, port)
        reasons = {address: self._refusal(safe(host, 100), address) for address in addresses}
        allowed = [address for address, reason in reasons.items() if not reason]
        if not allowed:
            raise Misconfigured(reasons[addresses[0]])
        return allowed

    def _refusal(self, host: str, address: str) -> str:
        if self.is_clear and zone_of(address) != "this machine":
            return f"not sent: http is allowed only on this machine, and {host} ({address}) is elsewhere; use https"
        return self.egress.refusal(host, address)


@contextmanager
def guarding(guard: Guard | None) -> Iterator[None]:
    """Apply a guard to the connections made in the block; None allows every address."""
    token = _guard.set(guard)
    try:
        yield
    finally:
        _guard.reset(token)


async def allowed_addresses(host: str, port: int) -> Sequence[str]:
    """Return the addresses to connect to: those that the guard allows, or the host itself without a guard.

    Raises Misconfigured, OSError.
    """
    guard = _guard.get()
    return (host,) if guard is None else await guard.resolve(host, port)


async def check_tunnel(host: str, port: int) -> None:
    """Raise Misconfigured if a tunnel through a proxy leads to a forbidden address.

    Only a host that is written as an address can be checked, because the proxy looks names up itself.
    """
    guard = _guard.get()
    if guard is not None and literal_addresses(host):
        await guard.resolve(host, port)


async def _resolve(host: str, port: int) -> list[str]:
    found = await asyncio.get_running_loop().getaddrinfo(host.strip("[]"), port, type=SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))

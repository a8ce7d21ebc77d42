"""Where an address that came in an answer may lead: to the world, and to the network that the platform itself is in.

A platform, or whoever can write into one of its objects, could name an address of this machine or of the network around
it, and have the deck ask there. A name is resolved once, its addresses are judged, and those are connected to.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from socket import SOCK_STREAM

from livedeck.client.http.errors import Misconfigured
from livedeck.text.values import safe

_NAT64 = IPv6Network("64:ff9b::/96")
_guard: ContextVar[LinkGuard | None] = ContextVar("guard", default=None)


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


@contextmanager
def guarding(guard: LinkGuard | None) -> Iterator[None]:
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
    """Raise Misconfigured where a proxy may not lead: it resolves names itself, so addresses alone can be judged."""
    guard = _guard.get()
    if guard is not None and (host == "localhost" or not host.strip("[]0123456789abcdefx:.")):
        await guard.resolve(host, port)


def zone_of(address: str) -> str:
    """Which network that IP address is in, in words; empty for the world."""
    ip = _unwrapped(ip_address(address.partition("%")[0]))
    if ip.is_loopback or ip.is_unspecified:
        return "this machine"
    if ip.is_link_local:
        return "a link-local network"
    is_local = ip.is_multicast or (isinstance(ip, IPv6Address) and ip.is_site_local)
    return "a private network" if is_local or not ip.is_global else ""


def _unwrapped(ip: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """The IPv4 address in one of IPv6 that is a way to write it, or to tunnel to it."""
    if isinstance(ip, IPv4Address):
        return ip
    if ip in _NAT64 or (int(ip) >> 32 == 0 and int(ip) > 1):
        return IPv4Address(int(ip) & 0xFFFFFFFF)
    return ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else ip)


async def _resolve(host: str, port: int) -> list[str]:
    found = await asyncio.get_running_loop().getaddrinfo(host.strip("[]"), port, type=SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))

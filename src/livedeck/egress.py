"""Rule for the hosts that notifications may go to (notifications.md, "Reach"). Pure, except `literal_addresses`.

This module imports only the standard library, because the process that sends through apprise imports it.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Self

from livedeck.record import Record

THIS_MACHINE = "localhost"
"""Entry that also allows services without an address: the desktop, syslog, local programs and Unix sockets."""

_NAME = re.compile(r"(?!-)[a-z0-9_-]{1,63}(\.(?!-)[a-z0-9_-]{1,63})*")
_NUMBER = re.compile(r"(\d+|0x[0-9a-f]*)")
_NAT64, _LOCAL_NAT64 = IPv6Network("64:ff9b::/96"), IPv6Network("64:ff9b:1::/48")
_ISATAP = frozenset({0x00005EFE, 0x02005EFE})


def read_entry(text: str) -> IPv4Network | IPv6Network | str:
    """Parse an entry of `allow_private`: a network, or a host name in the form of `host_key`.

    Raises ValueError for any other text, and for a number that only some systems read as an address.
    """
    try:
        return ip_network(text)
    except ValueError:
        name = host_key(text)
    if "/" in name or len(name) > 253 or not _NAME.fullmatch(name) or _NUMBER.fullmatch(name.rpartition(".")[2]):
        raise ValueError("should be an address, a network such as `10.1.0.0/16`, or a host name")
    return name


def host_key(host: str) -> str:
    """Return a host name for comparison: lower case, without brackets, scope and final dot."""
    return host.strip("[]").partition("%")[0].casefold().removesuffix(".")


class Egress(Record):
    """Private hosts and networks that notifications may go to. Public addresses are always allowed.

    `hosts`: names in the form of `host_key`; such a host may have any address.
    """

    networks: tuple[IPv4Network | IPv6Network, ...] = ()
    hosts: frozenset[str] = frozenset()

    @classmethod
    def of(cls, entries: Iterable[str]) -> Self:
        """Read the entries of the setting `allow_private`. Raises ValueError."""
        parsed = [read_entry(entry) for entry in entries]
        networks = tuple(entry for entry in parsed if not isinstance(entry, str))
        return cls(networks, frozenset(entry for entry in parsed if isinstance(entry, str)))

    @property
    def entries(self) -> tuple[str, ...]:
        """Entries as text, in the form that `of` reads."""
        return (*map(str, self.networks), *sorted(self.hosts))

    def names(self, host: str) -> bool:
        """Return whether a host is allowed by its name."""
        return host_key(host) in self.hosts

    def refusal(self, host: str, address: str) -> str:
        """Return why a message to this IP address of the host is refused, and what to set; empty if it is allowed."""
        zone = zone_of(address)
        if not zone or self.names(host) or self._has_network(address):
            return ""
        name = host_key(host)
        subject = name if name == host_key(address) else f"{name} ({address})"
        return f"not sent: {subject} is on {zone}; {self.mend(name if _is_entry(name) else host_key(address))}"

    def refusal_unseen(self, host: str) -> str:
        """Return why a message to a host with an unknown address is refused; empty if `hosts` has its name."""
        if self.names(host):
            return ""
        name = host_key(host)
        return f"not sent: this service does not show the address of {name}; {self.mend(name)}"

    def refusal_local(self, subject: str) -> str:
        """Return why a message to a part of this machine is refused; empty if `hosts` has `localhost`.

        `subject`: the part in words, such as a program or a socket.
        """
        return "" if self.names(THIS_MACHINE) else f"not sent: {subject} is on this machine; {self.mend(THIS_MACHINE)}"

    def mend(self, entry: str) -> str:
        """Return, in words, how to change the settings so that they allow the entry."""
        if self.networks or self.hosts:
            return f'to allow it, add "{entry}" to allow_private of [notify]'
        return f'to allow it, set allow_private = ["{entry}"] in [notify]'

    def _has_network(self, address: str) -> bool:
        ip = ip_address(address.partition("%")[0])
        return any(form in network for form in {ip, _unwrapped(ip)} for network in self.networks)


def zone_of(address: str) -> str:
    """Return the kind of private network of an IP address, in words; empty for a public address."""
    outer = ip_address(address.partition("%")[0])
    ip = _unwrapped(outer)
    return _zone(ip) or (_zone(outer) if _is_isatap(outer) else "")


def literal_addresses(host: str) -> list[str]:
    """Return the IP address in the text of a host, also in a notation like `0x7f.1`; empty for a name.

    `localhost` counts as 127.0.0.1. Sends no DNS query.
    """
    name = host.strip("[]").removesuffix(".").casefold()
    if not name:
        return []
    if name == THIS_MACHINE or name.endswith(f".{THIS_MACHINE}"):
        return ["127.0.0.1"]
    try:
        found = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
    except (OSError, UnicodeError):
        return []
    return [str(address[0]) for *_, address in found]


def _is_entry(name: str) -> bool:
    try:
        read_entry(name)
    except ValueError:
        return False
    return True


def _zone(ip: IPv4Address | IPv6Address) -> str:
    if ip.is_loopback or ip.is_unspecified:
        return "this machine"
    if ip.is_link_local:
        return "a link-local network"
    is_local = ip.is_multicast or (isinstance(ip, IPv6Address) and (ip.is_site_local or ip in _LOCAL_NAT64))
    return "a private network" if is_local or not ip.is_global else ""


def _unwrapped(ip: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """Return the IPv4 address that an IPv6 address contains or reaches by a tunnel or translator, or else `ip`."""
    if isinstance(ip, IPv4Address):
        return ip
    if ip in _NAT64 or _is_isatap(ip) or (int(ip) >> 32 == 0 and int(ip) > 1):
        return IPv4Address(int(ip) & 0xFFFFFFFF)
    return ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else ip)


def _is_isatap(ip: IPv4Address | IPv6Address) -> bool:
    return isinstance(ip, IPv6Address) and (int(ip) >> 32) & 0xFFFFFFFF in _ISATAP

"""Addresses to which a token may go (trust.md, "Secrets"). Pure."""

from __future__ import annotations

import re
from ipaddress import ip_address
from urllib.parse import urlsplit

from livedeck.client.errors import Misconfigured

# Narrower than what a URL may be, so that no two readers of it can disagree on its host.
_ADDRESS = re.compile(r"https?://(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?(?:/[\w.~%/-]*)?", re.IGNORECASE)


def origin(name: str, address: str) -> str:
    """The address, without a slash at its end. Raises Misconfigured, naming the setting, where no token may go."""
    if not re.match(r"https?://[^/]", address, re.IGNORECASE):
        raise Misconfigured(f"{name} should begin with https:// and a host")
    if any(char in address for char in "@?#"):
        raise Misconfigured(f"{name} should hold no user name, no query and no fragment")
    if not _ADDRESS.fullmatch(address):
        raise Misconfigured(f"{name} is no URL")
    _check(name, address)
    return address.rstrip("/")


def _check(name: str, address: str) -> None:
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        port = 0
    if port == 0:
        raise Misconfigured(f"{name} should have a port from 1 to 65535")
    if parts.scheme == "http" and not _loopback(parts.hostname or ""):
        raise Misconfigured(f"{name} should be https: over http the token would travel in clear")


def loopback_or_https(address: str) -> bool:
    """Whether nobody on the way can read what is asked there."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    return bool(parts.hostname) and (
        parts.scheme == "https" or (parts.scheme == "http" and _loopback(parts.hostname or ""))
    )


def _loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"

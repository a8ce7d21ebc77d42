"""The platform that a relay address belongs to (platform-api.md, 2; decisions.md, "Relay service"). Pure."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from urllib.parse import urlsplit

CUSTOM = "custom"
"""The service of every domain that the table does not hold."""

_NO_MORE: Mapping[str, str] = MappingProxyType({})


def service_of(url: str, more: Mapping[str, str] = _NO_MORE) -> str:
    """The value of `service` for an RTMP address: `video_share`, ... or `custom`.

    The longest suffix of the host that is in the table decides, on label boundaries; case, port and a trailing dot do
    not count. `more`: domain -> service, before the table of the package.
    """
    labels = _host(url).split(".")
    for start in range(len(labels)):
        domain = ".".join(labels[start:])
        if found := more.get(domain) or _table().get(domain):
            return found
    return CUSTOM


def _host(url: str) -> str:
    try:
        host = urlsplit(url.strip()).hostname or ""
    except ValueError:
        return ""
    return host.removesuffix(".").lower()


@cache
def _table() -> Mapping[str, str]:
    kinds = tomllib.loads(files(__package__).joinpath("platforms.toml").read_text("utf-8"))
    return {domain: kind for kind, domains in kinds.items() for domain in domains}

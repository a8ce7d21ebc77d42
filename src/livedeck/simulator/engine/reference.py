"""Reference tables: language codes, and the platform that a relay address belongs to."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from types import MappingProxyType
from urllib.parse import urlsplit

from livedeck.simulator import schema
from livedeck.simulator.rules import Rule, demand, string

CODES = frozenset(
    (resources.files("livedeck.simulator") / "data" / "languages.txt").read_text(encoding="ascii").split()
)

"""Two lower case letters each."""


NAMES = ("video_share", "game_stream", "messenger", "video_host_ru", "social_video", "own", "custom")

"""Every value of `service`."""


def platform(address: str) -> str:
    """The value of `service` for that address. Subdomains count; `notexample.com` is not under `example.com`."""
    labels = (urlsplit(address).hostname or "").rstrip(".").split(".")
    suffixes = (".".join(labels[start:]) for start in range(len(labels)))
    return next((domains()[suffix] for suffix in suffixes if suffix in domains()), "custom")


@cache
def domains() -> Mapping[str, str]:
    """Every domain that the platform knows, and the value of `service` for addresses under it."""
    table = resources.files("livedeck.simulator") / "data" / "platforms.toml"
    rows = tomllib.loads(table.read_text(encoding="utf-8"))
    return MappingProxyType({domain: name for name, under in rows.items() for domain in under})


def _address(value: object) -> str:
    kept = string(value).replace(" ", "").strip().rstrip("/")
    demand(len(kept) <= 2048, kept)
    parts = urlsplit(demand(kept.isprintable(), kept))
    return demand(parts.scheme in {"rtmp", "rtmps"} and parts.hostname and parts.port != 0, kept)


_WRITTEN = "^rtmps?://[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[1-9][0-9]{0,3})?(/[!-~]*)?$"


ADDRESS = Rule("an rtmp or rtmps address with a host", _address, schema.TEXT | {"maxLength": 2048, "pattern": _WRITTEN})

"""An address as it is kept: without spaces and trailing slashes (platform-api.md, "Relay profile")."""

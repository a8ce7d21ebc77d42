"""Tables that ship with the simulator: languages, platforms of relay addresses, workspaces, scenarios and faults."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

DATA = resources.files("livedeck.simulator") / "data"


def table_names(folder: str) -> list[str]:
    """Return the names of the tables in `folder` of the data, sorted."""
    return sorted(file.name.removesuffix(".toml") for file in (DATA / folder).iterdir() if file.name.endswith(".toml"))


def read_table(folder: str, name: str) -> dict[str, Any]:
    """Return the table `name` from `folder` of the data."""
    return tomllib.loads(table_text(folder, name))


def table_text(folder: str, name: str) -> str:
    """Return the text of the table `name` from `folder` of the data."""
    return (DATA / folder / f"{name}.toml").read_text(encoding="utf-8")


LANGUAGES = tuple(sorted((DATA / "languages.txt").read_text(encoding="ascii").split()))
"""Codes of ISO 639-1: two lower case letters each."""

PLATFORMS = ("video_share", "game_stream", "messenger", "video_host_ru", "social_video", "own", "custom")
"""Every value of the field `service` of a restream, which names the platform that receives the stream."""


def platform_of(address: str) -> str:
    """Return the value of `service` for `address`. Subdomains count; `notexample.com` is not under `example.com`."""
    labels = (urlsplit(address).hostname or "").rstrip(".").split(".")
    suffixes = (".".join(labels[start:]) for start in range(len(labels)))
    return next((domains()[suffix] for suffix in suffixes if suffix in domains()), "custom")


@cache
def domains() -> Mapping[str, str]:
    """Return every domain that the platform recognises, with its value of `service`."""
    table = tomllib.loads((DATA / "platforms.toml").read_text(encoding="utf-8"))
    return MappingProxyType({domain: platform for platform, names in table.items() for domain in names})

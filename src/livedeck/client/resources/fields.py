"""Types of fields common to several resources: timestamps, languages, RTMP addresses, relay platforms. Pure."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator
from pydantic_core import PydanticCustomError

from livedeck.text.times import parse_timestamp


def _timestamp(value: object) -> object:
    if isinstance(value, datetime):
        return value
    if isinstance(value, str):
        try:
            return parse_timestamp(value)
        except ValueError:
            pass  # `suppress` would cost as much as the rest, twice for each chat message
    raise PydanticCustomError("timestamp_type", "should be a timestamp")


def _aware(value: object) -> object:
    if isinstance(value, datetime) and value.tzinfo is None:
        raise ValueError("should have a time zone")
    return _timestamp(value)


Timestamp = Annotated[datetime, BeforeValidator(_timestamp)]
"""Field of a model, read like `parse_timestamp`."""

DateTimeField = Annotated[datetime, BeforeValidator(_aware)]
"""Field of a draft: an aware datetime, or the text of a timestamp."""

_ISO_639_1 = """
aa ab ae af ak am an ar as av ay az ba be bg bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en eo es
et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv ka kg ki
kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no
nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv sw ta te
tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu
"""

_CODES = frozenset(_ISO_639_1.split())


def language(code: str) -> str:
    """Return the code unchanged. Raises ValueError if ISO 639-1 does not list it."""
    if code not in _CODES:
        raise ValueError("should be an ISO 639-1 code (`en`)")
    return code


Language = Annotated[str, AfterValidator(language)]
"""Field of a draft: an ISO 639-1 code."""

CUSTOM = "custom"
"""Service of every domain outside the table."""

_NO_PLATFORMS: Mapping[str, str] = MappingProxyType({})


def service_of(url: str, platforms: Mapping[str, str] = _NO_PLATFORMS) -> str:
    """Return the value of `service` for an RTMP address: `video_share`, ... or `custom`.

    If several domains of the table fit the host, the longest one decides. Case, port and a trailing dot are ignored.
    `platforms`: domain -> service, consulted before the table of the package.
    """
    labels = _host(url).split(".")
    for start in range(len(labels)):
        domain = ".".join(labels[start:])
        if service := platforms.get(domain) or _platform_table().get(domain):
            return service
    return CUSTOM


def _host(url: str) -> str:
    try:
        host = urlsplit(url.strip()).hostname or ""
    except ValueError:
        return ""
    return host.removesuffix(".").lower()


@cache
def _platform_table() -> Mapping[str, str]:
    table = tomllib.loads(files(__package__).joinpath("platforms.toml").read_text("utf-8"))
    return {domain: service for service, domains in table.items() for domain in domains}


def _rtmp_url(url: str) -> str:
    trimmed = url.replace(" ", "").rstrip("/")  # like the service (platform-api.md, "Relay profile")
    try:
        parts = urlsplit(trimmed)
        is_rtmp = parts.scheme in {"rtmp", "rtmps"} and parts.hostname and parts.port != 0
    except ValueError:
        is_rtmp = False
    if not is_rtmp or not trimmed.isprintable():
        raise ValueError("should be an rtmp:// or rtmps:// address")
    return trimmed


RtmpUrl = Annotated[str, AfterValidator(_rtmp_url)]
"""Rtmp or rtmps address without spaces and trailing slashes (platform-api.md, "Relay platforms")."""

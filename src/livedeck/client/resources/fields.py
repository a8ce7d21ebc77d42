"""Types of fields that several resources share: timestamps, languages, RTMP addresses, relay platforms. Pure."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator


def parse_time(text: str) -> datetime:
    """An ISO 8601 timestamp, aware and in UTC; without an offset it is UTC (platform-api.md, conventions).

    Digits past the microsecond are cut off. Raises ValueError for anything else.
    """
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is UTC:
        return moment
    if moment.tzinfo is None:
        return moment.replace(tzinfo=UTC)
    try:
        return moment.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("out of range") from error


def format_timestamp(moment: datetime) -> str:
    """The timestamp of an aware moment, as the platform writes them: `2026-11-21T18:00:00.000000Z`."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def _timestamp(value: object) -> object:
    if isinstance(value, str):
        return parse_time(value)
    if isinstance(value, datetime):
        return value
    raise ValueError("should be a timestamp")


def _aware(value: object) -> object:
    if isinstance(value, datetime) and value.tzinfo is None:
        raise ValueError("should carry a time zone")
    return _timestamp(value)


Timestamp = Annotated[datetime, BeforeValidator(_timestamp)]

"""A field of a model that reads as `parse_time` does."""


DateTimeField = Annotated[datetime, BeforeValidator(_aware)]

"""A field of a draft: an aware datetime, or the text of a timestamp."""


_TABLE = """
aa ab ae af ak am an ar as av ay az ba be bg bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en eo es
et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv ka kg ki
kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no
nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv sw ta te
tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu
"""

_CODES = frozenset(_TABLE.split())


def language(code: str) -> str:
    """The code as it is. Raises ValueError for one that ISO 639-1 does not list."""
    if code not in _CODES:
        raise ValueError("should be an ISO 639-1 code, as `en`")
    return code


Language = Annotated[str, AfterValidator(language)]

"""A field of a draft that takes an ISO 639-1 code."""


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


def _address(url: str) -> str:
    kept = url.replace(" ", "").rstrip("/")  # as the service does (platform-api.md, 2, "Relay profile")
    try:
        parts = urlsplit(kept)
        good = parts.scheme in {"rtmp", "rtmps"} and parts.hostname and parts.port != 0
    except ValueError:
        good = False
    if not good or not kept.isprintable():
        raise ValueError("should be an rtmp:// or rtmps:// address")
    return kept


RtmpUrl = Annotated[str, AfterValidator(_address)]

"""An rtmp or rtmps address without spaces, and without slashes at its end (decisions.md)."""

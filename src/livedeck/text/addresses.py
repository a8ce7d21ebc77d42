"""Addresses with masked secrets: scheme, host, port and app stay readable, and a mask covers the rest. Pure.

A path may hold a key, the part before the host a password, and any parameter a token, so no list of secret parameters
is complete. If an address cannot be parsed, only its scheme stays readable.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from ipaddress import IPv6Address
from typing import NamedTuple
from urllib.parse import unquote

from livedeck.text.outside import Shown, shown
from livedeck.text.values import MASK, UNKNOWN, mask

_OPEN = re.compile(r"\s*([a-z][a-z0-9+.-]{0,31}):(//)?(.*?)\s*", re.IGNORECASE | re.DOTALL)
_SERVER = re.compile(
    r"(?:(?P<user>.*)@)?(?P<host>[\w.-]{1,253}|\[[\da-f:.]{2,45}\])(?::(?P<port>\d{1,5}))?", re.IGNORECASE
)
_APP = re.compile(r"[\w.~-]{1,64}")
_HOLDS_KEY_APART = frozenset({"rtmp", "rtmps", "rtmpt", "rtmpe", "rtmpte", "rtsp", "rtsps"})
_SEPARATORS = re.compile(r"[/,;:=&#!?]+")
_PARAMETER_SEPARATORS = re.compile("[&;]")
_MIN_PART = 8
"""Minimum length of a part of a path or query that counts as a secret. Shorter parts are often plain words."""

_BEGINS = re.compile(r"\s*[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_IN_TEXT = re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s\"'<>\\`{}]+", re.IGNORECASE)


class _Address(NamedTuple):
    """Address in parts. `segments`: segments of the path. `user`, `query`, `fragment`: None if missing."""

    scheme: str
    user: str | None
    server: str
    segments: tuple[str, ...]
    query: str | None
    fragment: str | None


def show(address: str | None, absent: str = UNKNOWN, *, has_key: bool = False, keeps_path: bool = False) -> Shown:
    """Return an address with its secrets masked, such as `rtmp://in.example/live/••••9c1d`.

    Scheme, host, port and app stay readable. The app is the first segment of the path if another segment follows. In an
    RTMP address without a key, the app may be the only segment.

    Args:
        address: The address.
        absent: Result if there is no address.
        has_key: The last segment of the path is a key.
        keeps_path: The path comes from the user and holds no key, so it stays readable.
    """
    if not address:
        return shown(absent)
    opened = _OPEN.fullmatch(address)
    if opened is None:
        return shown(MASK)
    parts = _split(opened)
    if parts is None:
        return shown(f"{opened[1]}:{MASK}")
    app, rest = ("/".join(parts.segments), "") if keeps_path else _app(parts, has_key=has_key)
    path = "/".join(["", *([app] if app else []), *([_mask_once(rest)] if rest else [])])
    user = "" if parts.user is None else f"{MASK}@"
    query = "" if parts.query is None else f"?{MASK}"
    fragment = "" if parts.fragment is None else f"#{MASK}"
    return shown(f"{parts.scheme}://{user}{parts.server}{path}{query}{fragment}")


def may_let_in(address: str) -> bool:
    """Return whether an address has a part that may grant access: a user, parameters or a fragment."""
    return any(sign in address for sign in "@?#")


def holds_secret(text: str) -> bool:
    """Return whether a text contains an address that may grant access or that contains a key."""
    if not _BEGINS.match(text):
        return any(holds_secret(found[0]) for found in _IN_TEXT.finditer(text))
    is_ingest = not text.lower().lstrip().startswith("http")
    return may_let_in(text) or (is_ingest and show(text).rstrip("/") != text.strip().rstrip("/"))


def show_in(text: str) -> str:
    """Mask the secrets of every address in a text."""
    return _IN_TEXT.sub(_show_match, text) if "://" in text else text


def show_text(text: str) -> Shown:
    """Mask the secrets of a text: by `show` if the text is an address, otherwise by `show_in`."""
    return show(text) if _BEGINS.match(text) else shown(show_in(text))


def secret_parts(address: str, *, has_key: bool = False) -> Iterator[str]:
    """Yield the secret parts of an address: password, key and values of parameters.

    `has_key`: the last segment of the path is a key. If False, the path of an http address consists of ids, which are
    no secrets.
    """
    opened = _OPEN.fullmatch(address)
    parts = _split(opened) if opened else None
    if parts is None:
        return
    if parts.user:
        yield unquote(parts.user.partition(":")[2] or parts.user)
    for parameter in _PARAMETER_SEPARATORS.split(f"{parts.query or ''}&{parts.fragment or ''}"):
        yield from _pieces(parameter.partition("=")[2] or parameter)
    _, rest = _app(parts, has_key=has_key)
    if has_key and rest:
        yield unquote(rest.rpartition("/")[2])
    if has_key or not parts.scheme.lower().startswith("http"):
        yield from _pieces(rest)


def _pieces(text: str) -> Iterator[str]:
    for form in {text, unquote(text)}:
        for piece in (form, *_SEPARATORS.split(form)):
            if len(piece) >= _MIN_PART:
                yield piece


def _split(opened: re.Match[str]) -> _Address | None:
    """Split an address into parts. Returns None if it is invalid or if two parsers may read it differently."""
    scheme, slashes, rest = opened[1], opened[2], opened[3]
    rest, has_fragment, fragment = rest.partition("#")
    rest, has_query, query = rest.partition("?")
    server, _, path = rest.partition("/")
    found = _SERVER.fullmatch(server)
    if not slashes or found is None or "\\" in rest or not rest.isprintable() or int(found["port"] or 1) > 65_535:
        return None
    host = found["host"]
    if host.startswith("["):
        try:
            IPv6Address(host[1:-1])
        except ValueError:
            return None
    segments = tuple(segment for segment in path.split("/") if segment)
    server = host + (f":{found['port']}" if found["port"] else "")
    return _Address(
        scheme, found["user"], server, segments, query if has_query else None, fragment if has_fragment else None
    )


def _app(parts: _Address, *, has_key: bool) -> tuple[str, str]:
    """Return the app and the rest of the path. The app is empty if it may be a key."""
    if not parts.segments:
        return "", ""
    app, *others = parts.segments
    may_stand_alone = not has_key and parts.scheme.lower() in _HOLDS_KEY_APART
    secrets = {*others, *_SEPARATORS.split("/".join((parts.user or "", parts.query or "", parts.fragment or "")))}
    if not (others or may_stand_alone) or not _APP.fullmatch(app) or app in secrets:
        return "", "/".join(parts.segments)
    return app, "/".join(others)


def _mask_once(text: str) -> str:
    return text if text.startswith(MASK) and len(text) <= len(mask("x" * 12)) else mask(text)


def _show_match(found: re.Match[str]) -> str:
    address = found[0].rstrip(".,;:!?)")
    return show(address, has_key=True) + found[0][len(address) :]

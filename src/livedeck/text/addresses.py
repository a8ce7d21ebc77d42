"""Addresses as they may be shown: their scheme, host, port and app, and nothing else of them.

A list of names that hold secrets is never complete: a key stands in a path, a password before the host, a token in any
parameter. So all that is not on the list above is a mask, and of an address that cannot be read the scheme is left.
Pure.
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
"""Characters of a part of a path or query that is a secret wherever it stands; a shorter one is often a plain word."""

_BEGINS = re.compile(r"\s*[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_IN_TEXT = re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s\"'<>\\`{}]+", re.IGNORECASE)


class _Address(NamedTuple):
    """An address in parts. `segments`: of its path; `query`, `fragment`: None where there is none."""

    scheme: str
    user: str | None
    server: str
    segments: tuple[str, ...]
    query: str | None
    fragment: str | None


def show(address: str | None, absent: str = UNKNOWN, *, has_key: bool = False, keeps_path: bool = False) -> Shown:
    """The address by scheme, host, port and app; a mask marks what else there is: `rtmp://in.example/live/••••9c1d`.

    The app is the first segment of the path, where another one follows; in an address of RTMP whose key is a field of
    its own it may stand alone. `has_key`: the key is the last segment. `keeps_path`: the path is the user's own and has
    no key. `absent`: what stands for no address.
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
    """Whether it has parts that may let its holder in: a user, parameters, a fragment."""
    return any(sign in address for sign in "@?#")


def holds_secret(text: str) -> bool:
    """Whether an address in it should not stand in a field: one may let its holder in, or a key stands in it."""
    if not _BEGINS.match(text):
        return any(holds_secret(found[0]) for found in _IN_TEXT.finditer(text))
    is_ingest = not text.lower().lstrip().startswith("http")
    return may_let_in(text) or (is_ingest and show(text).rstrip("/") != text.strip().rstrip("/"))


def show_in(text: str) -> str:
    """The text with every address in it shown so."""
    return _IN_TEXT.sub(_show_match, text) if "://" in text else text


def show_text(text: str) -> Shown:
    """Return an address as `show` does, and any other text, such as a name, with only its addresses shown so."""
    return show(text) if _BEGINS.match(text) else shown(show_in(text))


def secret_parts(address: str, *, has_key: bool = False) -> Iterator[str]:
    """What must not be repeated of that address: password, key, and the values of its parameters.

    `has_key`: the key is the last segment of its path. A path of http is no secret by itself: ids stand there.
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
    """The parts of an address; None where it is none that two readers would read alike."""
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
    """The app, empty where none may be shown, and what follows it in the path."""
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

"""Text that must not be shown by accident: stream keys, ingest links, tokens."""

from __future__ import annotations

import re

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from livedeck.text import values

_LINK = re.compile(r"(?P<open>[a-z][a-z0-9+.-]*://[\w.:\[\]-]+/(?:[\w.~-]+/)*)(?P<key>[^/?#@\s]+)", re.IGNORECASE)


class Secret:
    """A string that shows itself masked wherever it is printed; only `reveal()` gives the value.

    Usable as the type of a pydantic field: takes a string, and serialises to the mask.
    """

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """The value in clear. Every call of this is a place to look at in a review."""
        return self._value

    def __str__(self) -> str:
        return values.mask(self._value)

    def __repr__(self) -> str:
        return f"Secret({str(self)!r})"

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)

    def __eq__(self, other: object) -> bool:
        return self._value == other._value if isinstance(other, Secret) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._value)

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: object, _handler: GetCoreSchemaHandler) -> CoreSchema:
        masked = core_schema.to_string_ser_schema(when_used="json")
        return core_schema.no_info_plain_validator_function(cls._parse, serialization=masked)

    @classmethod
    def _parse(cls, value: object) -> Secret:
        if isinstance(value, Secret):
            return value
        if isinstance(value, str):
            return cls(value)
        raise PydanticCustomError("secret_type", "should be a string")


class SecretLink(Secret):
    """An address whose last segment is a key, as an ingest link: `rtmp://ingest.example/live/••••3f9a`.

    One that may hold secrets elsewhere (a user, a query, a fragment, the key twice) is masked whole.
    """

    __slots__ = ()

    def __str__(self) -> str:
        link = _LINK.fullmatch(self._value)
        if link is None or link["key"] in link["open"]:
            return super().__str__()
        return link["open"] + values.mask(link["key"])


class SignedLink(Secret):
    """An address whose query lets anyone in: `https://cdn.example/a.vtt?••••`. Needs no token (platform-api.md,
    "Signed addresses").

    One that may hold secrets elsewhere is masked whole; one that is empty stays so.
    """

    __slots__ = ()

    def __str__(self) -> str:
        address, _, query = self._value.partition("?")
        is_plain = not address or (_LINK.fullmatch(address) and "#" not in self._value)
        if not is_plain:
            return super().__str__()
        return f"{address}?••••" if query else address

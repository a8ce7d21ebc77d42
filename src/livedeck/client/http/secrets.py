"""Text that must not be shown by accident: stream keys, ingest links, tokens, and addresses with such in them."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from pydantic import AfterValidator, GetCoreSchemaHandler, PlainSerializer
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from livedeck.text import addresses, values
from livedeck.text.secrets import is_public, register_address, register_public, register_secret


class Secret:
    """A string that shows itself masked wherever it is printed; only `reveal()` gives the value.

    Usable as the type of a pydantic field: takes a string, which enters the register of secrets, and serialises to the
    mask.
    """

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """The value in clear. Every call of this is a place to look at in a review."""
        return self._value

    @property
    def is_public(self) -> bool:
        """Whether it is also a name or an id that everybody can read, so that it guards nothing."""
        return is_public(self._value)

    def register(self) -> None:
        """Have it masked in every text that leaves the process (trust.md, "The register")."""
        register_secret(self._value)

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
            secret = cls(value)
            secret.register()
            return secret
        raise PydanticCustomError("secret_type", "should be a string")


class SecretLink(Secret):
    """An address whose last segment is a key, as an ingest link: `rtmp://ingest.example/live/••••3f9a`."""

    __slots__ = ()

    def __str__(self) -> str:
        return addresses.show(self._value, has_key=True)

    def register(self) -> None:
        register_address(self._value, has_key=True)


class SignedLink(Secret):
    """An address whose query lets anyone in: `https://cdn.example/subtitles/••••.vtt?••••`. Needs no token
    (platform-api.md, "Signed addresses"). One that is empty stays so.
    """

    __slots__ = ()

    def __str__(self) -> str:
        return addresses.show(self._value, absent="")

    def register(self) -> None:
        register_address(self._value)


def _register_name(name: str) -> str:
    register_public(name)
    return name


PublicName = Annotated[str, AfterValidator(_register_name)]
"""A field of a name or id that is shown to everybody: it is never masked, though a key is the same (trust.md, "The
register")."""


def _register_public(address: str) -> str:
    register_address(address)
    return address


def _register_ingest(address: str) -> str:
    register_address(address, has_key=not address.lower().startswith("rtmp"))
    return address


_JSON = PlainSerializer(partial(addresses.show, absent=""), return_type=str, when_used="json-unless-none")

Address = Annotated[str, AfterValidator(_register_public), _JSON]
"""A field of an address that is plain text: JSON shows it by its parts, and what is secret in it is registered."""

IngestAddress = Annotated[str, AfterValidator(_register_ingest), _JSON]
"""The same of an address that a stream is sent to: outside RTMP, where it is a field of its own, its path is a key."""

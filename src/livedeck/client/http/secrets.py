"""Types for secret texts, which print themselves masked: tokens, stream keys, ingest links, signed addresses."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from pydantic import AfterValidator, GetCoreSchemaHandler, PlainSerializer
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from livedeck.text import addresses, values
from livedeck.text.secrets import is_public, register_address, register_public, register_secret


class Secret:
    """String that prints itself masked; only `reveal()` returns the value.

    As the type of a pydantic field it takes a string, registers it as a secret, and serialises to the mask.
    """

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """Return the value in clear. Review every call of this method."""
        return self._value

    @property
    def is_public(self) -> bool:
        """True if the value equals a public name or id, so that it protects nothing."""
        return is_public(self._value)

    def register(self) -> None:
        """Mask the value in every text that leaves the process (trust.md, "The register")."""
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
    """Address with a key as its last segment, such as an ingest link: `rtmp://ingest.example/live/••••3f9a`."""

    __slots__ = ()

    def __str__(self) -> str:
        return addresses.show(self._value, has_key=True)

    def register(self) -> None:
        register_address(self._value, has_key=True)


class SignedLink(Secret):
    """Address whose query grants access without a token: `https://cdn.example/subtitles/••••.vtt?••••`. May be empty.

    See platform-api.md, "Signed addresses".
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
"""Field with a public name or id, never masked, even if a key has the same value (trust.md, "The register")."""


def _register_public(address: str) -> str:
    register_address(address)
    return address


def _register_ingest(address: str) -> str:
    register_address(address, has_key=not address.lower().startswith("rtmp"))
    return address


_JSON = PlainSerializer(partial(addresses.show, absent=""), return_type=str, when_used="json-unless-none")

Address = Annotated[str, AfterValidator(_register_public), _JSON]
"""Field with an address as plain text. Its secret parts are registered, and masked in JSON."""

IngestAddress = Annotated[str, AfterValidator(_register_ingest), _JSON]
"""Field with an address to send a stream to. The last path segment counts as a key, except for RTMP, whose key is a
field of its own."""

"""The command without one of its masks: `unmasked.py addresses|register|log|... ARGUMENTS...`"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any


def without_addresses() -> None:
    """Addresses are shown as they came."""
    from livedeck.text import addresses

    def as_it_came(address: str | None, absent: str = "?", **_: object) -> Any:
        return address or absent

    setattr(addresses, "show", as_it_came)  # noqa: B010
    setattr(addresses, "show_in", str)  # noqa: B010


def without_register() -> None:
    """Nothing that was parsed is known as a secret."""
    from livedeck.text.secrets import SecretRegister

    def forget(_register: SecretRegister, _secret: str) -> None:
        """Nothing."""

    setattr(SecretRegister, "add", forget)  # noqa: B010


def without_secret_type() -> None:
    """A key is printed as what it is."""
    from livedeck.client import Secret

    setattr(Secret, "__str__", Secret.reveal)  # noqa: B010


def without_json() -> None:
    """The JSON of an object has what the platform said, unknown fields too, and goes to the clipboard so."""
    from livedeck.client.resources import base
    from livedeck.text import secrets

    setattr(base, "MASK", "c4nary-of-an-unknown-field")  # noqa: B010
    setattr(secrets, "mask_secrets", str)  # noqa: B010


MASKS: dict[str, Callable[[], None]] = {
    "addresses": without_addresses,
    "register": without_register,
    "type": without_secret_type,
    "json": without_json,
}

if __name__ == "__main__":
    MASKS[sys.argv.pop(1)]()
    from livedeck.cli import main

    main()

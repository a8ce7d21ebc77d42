"""The command without some of its masks, or with a fault that quotes every secret it knows.

unmasked.py addresses|register|log|...[,crash|action|note|audit|notice] ARGUMENTS...

The fault happens when something is copied.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from livedeck.operations.executor import audit_local
from livedeck.operations.operation import Target

if TYPE_CHECKING:
    from livedeck.ui.app import Deck


def without_addresses() -> None:
    """Show addresses unchanged."""
    from livedeck.text import addresses

    def as_it_came(address: str | None, absent: str = "?", **_: object) -> Any:
        return address or absent

    setattr(addresses, "show", as_it_came)  # noqa: B010
    setattr(addresses, "show_in", str)  # noqa: B010


def without_register() -> None:
    """Register no parsed value as a secret."""
    from livedeck.text.secrets import SecretRegister

    def forget(_register: SecretRegister, _secret: str) -> None:
        """Do nothing."""

    setattr(SecretRegister, "add", forget)  # noqa: B010


def without_shapes() -> None:
    """Keep words in refusals that look like keys."""
    from livedeck.client.http import quoting

    setattr(quoting, "_hidden", as_it_is)  # noqa: B010


def without_secret_type() -> None:
    """Print keys unmasked."""
    from livedeck.client import Secret

    setattr(Secret, "__str__", Secret.reveal)  # noqa: B010


def without_json() -> None:
    """Print and copy the JSON of an object as the platform sent it, with unknown fields."""
    from livedeck.client.resources import base
    from livedeck.text import secrets

    setattr(base, "MASK", "c4nary-of-an-unknown-field")  # noqa: B010
    setattr(secrets, "mask_secrets", str)  # noqa: B010


def without_log() -> None:
    """Write everything into the log unchanged."""
    from livedeck.cli import log_file

    setattr(log_file, "mask_value", as_it_is)  # noqa: B010


def without_history() -> None:
    """Store records in the history unchanged."""
    from livedeck.monitor.model import records

    setattr(records, "masked_line", as_it_is)  # noqa: B010


def without_answers() -> None:
    """Store the words of alarm actions as they were typed."""
    from livedeck.monitor.model import alarm_action

    setattr(alarm_action, "masked_line", as_it_is)  # noqa: B010


def without_notices() -> None:
    """Show notices unchanged."""
    from livedeck.ui import app

    setattr(app, "masked", as_it_is)  # noqa: B010


def as_it_is(value: Any, *_: object) -> Any:
    """Return the value unmasked."""
    return value


MASKS: dict[str, Callable[[], None]] = {
    "addresses": without_addresses,
    "register": without_register,
    "shapes": without_shapes,
    "type": without_secret_type,
    "json": without_json,
    "log": without_log,
    "history": without_history,
    "answers": without_answers,
    "notices": without_notices,
}


def secrets(most: int = 10_000) -> str:
    """Return the secrets that the process registered first."""
    from livedeck.text.secrets import REGISTER

    return " ".join([*REGISTER._secrets.values()][:most])


def crash(deck: Deck) -> None:
    """End the deck by an error with the secrets."""

    def fail() -> None:
        raise RuntimeError(f"no way to show {secrets()}")

    deck.call_later(fail)


def fail_action(_: Deck) -> None:
    """End an action by an error with the secrets; the deck continues."""
    raise RuntimeError(f"no way to copy {secrets()}")


def note(deck: Deck) -> None:
    """Write the secrets into a note on an alarm, as a person."""
    assert deck.snapshot is not None
    deck.start(deck.monitor.note(deck.snapshot.alarms[0].key, secrets(most=5)), "note")


def audit(deck: Deck) -> None:
    """Write the secrets into the audit, as the reason that a person gave."""
    target = Target("event", "-", "-")
    deck.run_worker(audit_local(deck.history, deck.clock.now(), "shelve alarm", target, secrets()))


def notice(deck: Deck) -> None:
    """Show the secrets in a notice."""
    deck.announce(secrets())


FAULTS: dict[str, Callable[[Deck], None]] = {
    "crash": crash,
    "action": fail_action,
    "note": note,
    "audit": audit,
    "notice": notice,
}


def with_fault(name: str) -> None:
    """Make the fault happen when something is copied."""
    from livedeck.ui.app import Deck

    def copy(deck: Deck, *_: object, **__: object) -> None:
        FAULTS[name](deck)

    setattr(Deck, "copy", copy)  # noqa: B010


if __name__ == "__main__":
    for name in sys.argv.pop(1).split(","):
        with_fault(name) if name in FAULTS else MASKS[name]()
    from livedeck.cli import main

    main()

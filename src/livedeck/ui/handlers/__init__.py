"""What is done when an action is called for: one module a group, one function an action (see livedeck.ui.actions)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from livedeck.ui.actions import Action
    from livedeck.ui.app import Deck

Handler = Callable[["Deck", str], Awaitable[None] | None]
"""The deck, and what stood after the command."""


def handler(action: Action) -> Handler:
    """The function that an action names; its module is imported when it is first wanted."""
    module, _, name = action.handler.partition(".")
    return cast("Handler", getattr(import_module(f"livedeck.ui.handlers.{module}"), name))

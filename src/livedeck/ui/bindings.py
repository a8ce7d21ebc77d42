"""The registry as Textual's bindings: one action, `do`, for every key."""

from __future__ import annotations

from collections.abc import Iterable

from textual.binding import Binding, BindingType

from livedeck.ui.actions import ACTIONS, Action
from livedeck.ui.actions.keymap import Keymap


def everywhere() -> list[BindingType]:
    """The bindings of the deck: what works on any screen."""
    return _bound(action for action in ACTIONS if not action.screens)


def here(screen: str) -> list[BindingType]:
    """The bindings of one screen."""
    return _bound(action for action in ACTIONS if screen in action.screens)


def textual(keymap: Keymap) -> dict[str, str]:
    """The changed keys as Textual wants them."""
    return {name: ",".join(keys) for name, keys in keymap.items()}


def _bound(actions: Iterable[Action]) -> list[BindingType]:
    return [
        Binding(",".join(one.keys), f"app.do('{one.name}')", one.label, show=False, id=one.name, priority=one.fixed)
        for one in actions
        if one.keys
    ]

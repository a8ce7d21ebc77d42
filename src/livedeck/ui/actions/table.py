"""The registry as the key table of the README (`livedeck keys` prints it)."""

from __future__ import annotations

from livedeck.ui.actions import ACTIONS, GROUPS, Action
from livedeck.ui.actions.keymap import Keymap, keys_of, written


def groups() -> list[tuple[str, list[Action]]]:
    """The actions by group, in the order of the help."""
    return [(title, [one for one in ACTIONS if one.group == group]) for group, title in GROUPS.items()]


def markdown(keymap: Keymap | None = None) -> str:
    """The whole table; where an action works only on some screens, they are named."""
    lines = ["| key | command | where | what it does |", "|---|---|---|---|"]
    for _, actions in groups():
        lines += [_row(action, keymap or {}) for action in actions]
    return "\n".join(lines)


def _row(action: Action, keymap: Keymap) -> str:
    keys = " ".join(f"`{written(key)}`" for key in keys_of(action, keymap)) or "-"
    command = f"`:{action.name}{f' {action.takes}' if action.takes else ''}`"
    return f"| {keys} | {command} | {', '.join(action.screens) or 'everywhere'} | {action.help} |"

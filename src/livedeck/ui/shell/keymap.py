"""Names of keys, keys in force, and keys in the settings."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from itertools import combinations
from typing import NamedTuple

from livedeck.ui.shell.context import Action, ActionRegistry, Keymap

KEY_TEXTS = {
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
    "pageup": "page up",
    "pagedown": "page down",
    "escape": "esc",
    "plus": "+",
    "minus": "-",
    "equals_sign": "=",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "exclamation_mark": "!",
    "question_mark": "?",
    "colon": ":",
    "slash": "/",
    "less_than_sign": "<",
    "greater_than_sign": ">",
    "full_stop": ".",
    "comma": ",",
    "asterisk": "*",
    "at": "@",
    "left_parenthesis": "(",
    "right_parenthesis": ")",
}
"""Textual's name of a key -> name as a person writes it, if they differ."""

_KEY_NAMES = {text: name for name, text in KEY_TEXTS.items()} | {"page-up": "pageup", "page-down": "pagedown"}

_CHARACTER_NAMES = {"solidus": "slash", "reverse_solidus": "backslash", "commercial_at": "at", "low_line": "underscore"}
"""Unicode name of a character -> Textual's name of its key, if they differ."""

NAMED_KEYS = frozenset(
    {
        "enter",
        "space",
        "tab",
        "backspace",
        "delete",
        "insert",
        "home",
        "end",
        *KEY_TEXTS,
        *(f"f{n}" for n in range(1, 13)),
    }
)

_ACTION_NAME = re.compile(r"\{(\w+\.\w+)\}")


class KeymapError(NamedTuple):
    """Error in a line of `[keys]` in the settings: name of the action and reason."""

    name: str
    reason: str


def key_text(key: str) -> str:
    """Return Textual's key name as a person writes it: `?`, `ctrl-c`, `page up`."""
    return KEY_TEXTS.get(key, key).replace("ctrl+", "ctrl-").replace("shift+", "shift-").replace("alt+", "alt-")


def parse_key(text: str) -> str:
    """Return Textual's name of a key that a person wrote. Raises ValueError if the key does not exist."""
    word = text.strip() or text
    for modifier in ("ctrl", "shift", "alt"):
        if word.lower().startswith((f"{modifier}-", f"{modifier}+")) and len(word) > len(modifier) + 1:
            return f"{modifier}+{parse_key(word[len(modifier) + 1 :])}"
    if len(word) == 1:
        return _character(word)
    name = _KEY_NAMES.get(word.lower(), word.lower())
    if name not in NAMED_KEYS:
        raise ValueError(f"{text!r} is not a key; write f5, ctrl-n, space or x")
    return name


def _character(char: str) -> str:
    if char.isalnum():
        return char
    if char in _KEY_NAMES:
        return _KEY_NAMES[char]
    if char == " ":
        return "space"
    name = unicodedata.name(char, "").lower().replace("-", "_").replace(" ", "_")
    if not name:
        raise ValueError(f"{char!r} is not a key")
    return _CHARACTER_NAMES.get(name, name)


def key_of(name: str, registry: ActionRegistry) -> str:
    """Return the first key in force of the action `name`, as a person writes it."""
    return key_text(registry.keys_of(registry.by_name[name])[0])


def action_text(action: Action, registry: ActionRegistry) -> str:
    """Return the action as the footer shows it: `E enable`; its command if it has no key."""
    keys = registry.keys_of(action)
    return f"{key_text(keys[0])} {action.label}" if keys else f":{action.name}"


def with_keys(text: str, registry: ActionRegistry) -> str:
    """Return the text with each `{name of an action}` replaced by the action's key in force."""
    return _ACTION_NAME.sub(lambda match: key_of(match[1], registry), text)


def read_keymap(
    registry: ActionRegistry, requests: Mapping[str, Iterable[str]]
) -> tuple[Keymap, tuple[KeymapError, ...]]:
    """Return the keymap of `[keys]` in the settings; if it has errors, an empty keymap and the errors."""
    keymap: dict[str, tuple[str, ...]] = {}
    errors: list[KeymapError] = []
    for name, keys in requests.items():
        try:
            keymap[name] = _read_keys(registry, name, tuple(keys))
        except ValueError as error:
            errors.append(KeymapError(name, str(error)))
    errors += _conflicts(ActionRegistry(registry.features, keymap))
    return ({}, tuple(errors)) if errors else (keymap, ())


def _read_keys(registry: ActionRegistry, name: str, keys: tuple[str, ...]) -> tuple[str, ...]:
    if name not in registry.by_name:
        near = get_close_matches(name, registry.by_name, 1)
        raise ValueError(f"there is no action {name!r}" + (f"; did you mean {near[0]!r}?" if near else ""))
    action = registry.by_name[name]
    if action.fixed:
        raise ValueError(f"the key {key_text(action.keys[0])} of {name} cannot be changed, because it must always work")
    if not keys:
        raise ValueError(f"{name} needs a key")
    return tuple(parse_key(key) for key in keys)


def _conflicts(registry: ActionRegistry) -> list[KeymapError]:
    """Return an error for each key that two actions of a screen share.

    The error names the action whose key the settings changed.
    """
    by_key = defaultdict[str, list[int]](list)
    for place, action in enumerate(registry.actions):
        for key in set(registry.keys_of(action)):
            by_key[key].append(place)
    shared = sorted((*pair, key) for key, places in by_key.items() for pair in combinations(places, 2))
    errors = []
    for place, other_place, key in shared:
        action, other = registry.actions[place], registry.actions[other_place]
        if action.meets(other):
            changed, unchanged = (action, other) if action.name in registry.keymap else (other, action)
            errors.append(KeymapError(changed.name, f"{key_text(key)} is also the key of {unchanged.name}"))
    return errors

"""Keys: how a person writes them, what the settings may change, and the registry as Textual's bindings."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from itertools import combinations
from typing import NamedTuple

from textual.binding import Binding, BindingType

from livedeck.ui.registry import ACTIONS, BY_NAME, Action

SHOWN = {
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
    "question_mark": "?",
    "colon": ":",
    "slash": "/",
    "less_than_sign": "<",
    "greater_than_sign": ">",
    "full_stop": ".",
    "comma": ",",
}

"""Textual's name of a key -> how a person writes it, where the two differ."""


_WRITTEN = {shown: name for name, shown in SHOWN.items()} | {"page-up": "pageup", "page-down": "pagedown"}

_TEXTUAL = {"solidus": "slash", "reverse_solidus": "backslash", "commercial_at": "at", "low_line": "underscore"}

"""What Textual calls a character otherwise than Unicode does."""


NAMED = frozenset(
    {"enter", "space", "tab", "backspace", "delete", "insert", "home", "end", *SHOWN, *(f"f{n}" for n in range(1, 13))}
)


Keymap = Mapping[str, tuple[str, ...]]

"""Name of an action -> its keys, for those that the settings change."""


_NAMED_ACTION = re.compile(r"\{(\w+\.\w+)\}")


class KeymapError(NamedTuple):
    """What is wrong with one line of the settings: the name that stands in it, and why it cannot be."""

    name: str
    why: str


def written(key: str) -> str:
    """Textual's name of a key as a person writes it: `?`, `ctrl-c`, `page up`."""
    return SHOWN.get(key, key).replace("ctrl+", "ctrl-").replace("shift+", "shift-").replace("alt+", "alt-")


def read(text: str) -> str:
    """What a person wrote as Textual's name of the key. Raises ValueError where there is no such key."""
    word = text.strip() or text
    for modifier in ("ctrl", "shift", "alt"):
        if word.lower().startswith((f"{modifier}-", f"{modifier}+")) and len(word) > len(modifier) + 1:
            return f"{modifier}+{read(word[len(modifier) + 1 :])}"
    if len(word) == 1:
        return _character(word)
    name = _WRITTEN.get(word.lower(), word.lower())
    if name not in NAMED:
        raise ValueError(f"{text!r} is no key")
    return name


def _character(char: str) -> str:
    if char.isalnum():
        return char
    if char in _WRITTEN:
        return _WRITTEN[char]
    if char == " ":
        return "space"
    name = unicodedata.name(char, "").lower().replace("-", "_").replace(" ", "_")
    if not name:
        raise ValueError(f"{char!r} is no key")
    return _TEXTUAL.get(name, name)


def keys_of(action: Action, keymap: Keymap) -> tuple[str, ...]:
    """The keys in force."""
    return keymap.get(action.name, action.keys)


def key_of(name: str, keymap: Keymap) -> str:
    """The first key in force of the action of that name, as a person writes it."""
    return written(keys_of(BY_NAME[name], keymap)[0])


def worded(text: str, keymap: Keymap) -> str:
    """A text for a person, the key in force in the place of each `{name of an action}`."""
    return _NAMED_ACTION.sub(lambda found: key_of(found[1], keymap), text)


def remapped(given: Mapping[str, Iterable[str]]) -> tuple[Keymap, tuple[KeymapError, ...]]:
    """What `[keys]` of the settings asks for, or everything that is wrong with it."""
    keymap: dict[str, tuple[str, ...]] = {}
    faults: list[KeymapError] = []
    for name, wish in given.items():
        try:
            keymap[name] = _wished(name, tuple(wish))
        except ValueError as error:
            faults.append(KeymapError(name, str(error)))
    faults += _conflicts(keymap)
    return ({}, tuple(faults)) if faults else (keymap, ())


def _wished(name: str, wish: tuple[str, ...]) -> tuple[str, ...]:
    if name not in BY_NAME:
        near = get_close_matches(name, BY_NAME, 1)
        raise ValueError(f"there is no action {name!r}" + (f"; did you mean {near[0]!r}?" if near else ""))
    if BY_NAME[name].fixed:
        raise ValueError(f"{name} keeps its key {written(BY_NAME[name].keys[0])}: it is the way out")
    if not wish:
        raise ValueError(f"{name} needs a key")
    return tuple(read(key) for key in wish)


def _conflicts(keymap: Keymap) -> list[KeymapError]:
    """Two actions on one key where both work; told at the line that was changed."""
    faults = []
    for one, other in combinations(ACTIONS, 2):
        if not one.meets(other):
            continue
        for key in sorted(set(keys_of(one, keymap)) & set(keys_of(other, keymap))):
            changed, kept = (one, other) if one.name in keymap else (other, one)
            faults.append(KeymapError(changed.name, f"{written(key)} is the key of {kept.name} too"))
    return faults


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

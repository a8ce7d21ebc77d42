"""What is typed after `:`, what the palette finds, and the key table of the documentation."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from livedeck.ui.registry import ACTIONS, BY_NAME, GROUPS, Action
from livedeck.ui.shell.keymap import Keymap, keys_of, written

LINE = "app.command"

"""The action that leads to the command line."""


class CommandError(Exception):
    """What was typed is no command: why, and what would be."""


def parse(text: str, screen: str) -> tuple[Action, str]:
    """The action that a command names, and what stands after it. Raises CommandError.

    `:complete` is `:event.complete` where one action alone is called so, or one alone works on this screen.
    """
    word, _, argument = text.strip().removeprefix(":").partition(" ")
    argument = argument.strip()
    if not word:
        raise CommandError("type a command; tab completes it")
    action = BY_NAME.get(word) or _short(word, screen)
    if argument and not action.takes:
        raise CommandError(f":{word} takes nothing after it")
    return action, argument


def _short(verb: str, screen: str) -> Action:
    named = [action for action in ACTIONS if action.verb == verb]
    here = [action for action in named if action.works_on(screen)]
    for found in (here, named):
        if len(found) == 1:
            return found[0]
    if named:
        raise CommandError(f":{verb} is several: " + ", ".join(f":{action.name}" for action in here or named))
    words = sorted({*BY_NAME, *(action.verb for action in ACTIONS)})
    near = get_close_matches(verb, words, 3)
    raise CommandError(f"there is no :{verb}" + (f"; near it: {', '.join(f':{one}' for one in near)}" if near else ""))


def completions(text: str, screen: str) -> list[str]:
    """The names that begin with what was typed, those of this screen first; but for the line that it is typed into."""
    word = text.strip().removeprefix(":")
    ordered = sorted(
        (action for action in ACTIONS if action.name != LINE), key=lambda action: not action.works_on(screen)
    )
    names = [action.name for action in ordered if action.name.startswith(word) or action.verb.startswith(word)]
    return names if " " not in word else []


def search(text: str, screen: str) -> Sequence[Action]:
    """The actions that have every typed word in name, label or help; a match in the name comes first."""
    words = text.lower().split()
    found = [action for action in ACTIONS if all(word in _words(action) for word in words)]
    return sorted(found, key=lambda action: (_place(action, words), not action.works_on(screen)))


def _words(action: Action) -> str:
    return f"{action.name} {action.label} {action.help}".lower()


def _place(action: Action, words: Sequence[str]) -> int:
    if not words:
        return 0
    if action.verb.startswith(words[0]) or action.name.startswith(words[0]):
        return 0
    return 1 if all(word in f"{action.name} {action.label}".lower() for word in words) else 2


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

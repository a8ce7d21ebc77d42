"""Parser for `:` commands, search for the palette, and the key table of the documentation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from livedeck.text.values import safe
from livedeck.ui.shell.context import Action, ActionRegistry
from livedeck.ui.shell.keymap import key_text

LINE = "app.command"
"""Name of the action that opens the command line."""


class CommandError(Exception):
    """The typed text is not a valid command. The message has the reason and, for an unknown name, similar commands."""


def parse(registry: ActionRegistry, text: str, mode: str) -> tuple[Action, str]:
    """Return the action of a command and its argument. Raises CommandError.

    A verb alone is enough if it names only one action on the screen `mode`, or only one action at all: `:complete` for
    `:event.complete`.
    """
    word, _, argument = text.strip().removeprefix(":").partition(" ")
    argument = argument.strip()
    if not word:
        raise CommandError("type a command; tab completes it")
    action = registry.by_name.get(word) or _by_verb(registry, word, mode)
    if argument and not action.takes:
        raise CommandError(f":{word} takes no argument")
    return action, argument


def _by_verb(registry: ActionRegistry, verb: str, mode: str) -> Action:
    matches = [action for action in registry.actions if action.verb == verb]
    here = [action for action in matches if action.works_on(mode)]
    for candidates in (here, matches):
        if len(candidates) == 1:
            return candidates[0]
    if matches:
        raise CommandError(
            f":{verb} has several meanings: " + ", ".join(f":{action.name}" for action in here or matches)
        )
    words = sorted({*registry.by_name, *(action.verb for action in registry.actions)})
    near = get_close_matches(verb, words, 3)
    raise CommandError(
        f"there is no :{verb}" + (f"; did you mean {', '.join(f':{word}' for word in near)}?" if near else "")
    )


def unknown_text(noun: str, typed: str, words: Iterable[str]) -> str:
    """Return the message for an unknown argument: `there is no theme purple: dark, light`."""
    return f"there is no {noun} {safe(typed, 40)}: {', '.join(words)}"


def completions(registry: ActionRegistry, text: str, mode: str) -> list[Action]:
    """Return the actions whose name or verb begins with the typed text. Actions of this screen are first.

    The action that opens the command line is omitted.
    """
    word = text.strip().removeprefix(":")
    if " " in word:
        return []
    matches = [
        action
        for action in registry.actions
        if action.name != LINE and (action.name.startswith(word) or action.verb.startswith(word))
    ]
    return sorted(matches, key=lambda action: not action.works_on(mode))


def search(registry: ActionRegistry, text: str, mode: str) -> list[Action]:
    """Return the actions that have every typed word in name, label or help. Matches in the name are first."""
    words = text.lower().split()
    matches = [action for action in registry.actions if all(word in _searchable(action) for word in words)]
    return sorted(matches, key=lambda action: (_search_rank(action, words), not action.works_on(mode)))


def _searchable(action: Action) -> str:
    return f"{action.name} {action.label} {action.help}".lower()


def _search_rank(action: Action, words: Sequence[str]) -> int:
    if not words:
        return 0
    if action.verb.startswith(words[0]) or action.name.startswith(words[0]):
        return 0
    return 1 if all(word in f"{action.name} {action.label}".lower() for word in words) else 2


def markdown(registry: ActionRegistry) -> str:
    """Return the table of all keys in Markdown. A row names the screens if its action works on some screens only."""
    lines = ["| key | command | where | what it does |", "|---|---|---|---|"]
    lines += [_row(action, registry) for _, actions in registry.groups() for action in actions]
    return "\n".join(lines)


def _row(action: Action, registry: ActionRegistry) -> str:
    keys = " ".join(f"`{key_text(key)}`" for key in registry.keys_of(action)) or "-"
    command = f"`:{action.name}{f' {action.takes}' if action.takes else ''}`"
    return f"| {keys} | {command} | {', '.join(action.screens) or 'everywhere'} | {action.help} |"

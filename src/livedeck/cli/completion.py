"""Shell completion of commands, options and values, from files that are read in milliseconds.

The tree of commands is written once a version, by importing all of them. Ids and names of events are written whenever
a command lists them. Completion sends no request to the platform.

A shell evaluates the text that completion inserts, and each shell quotes differently. Anybody who can name an event
would run commands at the operator's prompt. So only plain words are inserted: of an event its id, never its name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from livedeck import __version__
from livedeck.environment import config_path, state_folder

Tree = dict[str, Any]
"""Of a command: `help`, `options` (name -> what it takes), `arguments` and `commands`."""

MAX_EVENTS = 2000
"""Names that are kept."""


def events_file() -> Path:
    """Where the names of the events are that were listed last."""
    return state_folder() / "completion-events.json"


def remember_events(names: Iterable[tuple[str, str]]) -> None:
    """Keep ids and names for completion: a convenience, no fault of the file is told."""
    from livedeck.atomic_file import write_private

    kept = [pair for pair, _ in zip(names, range(MAX_EVENTS), strict=False)]
    with suppress(OSError):
        write_private(events_file(), json.dumps(kept, ensure_ascii=False), replace=True)


def answer(main: click.Group, words: Iterable[str], incomplete: str) -> list[CompletionItem]:
    """Return the candidates for the last, incomplete word."""
    return [*complete(load_tree(main), words, incomplete)]


def complete_values(source: str, incomplete: str) -> list[CompletionItem]:
    """Return the values of that source that begin with the incomplete word."""
    return [*_values(source, incomplete)]


_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}")  # the scripts of click split at a comma


def may_insert(word: str) -> bool:
    """Return whether a value means only itself in every shell, quoted or not, and is no option."""
    return bool(_PLAIN.fullmatch(word))


def complete(tree: Tree, words: Iterable[str], incomplete: str) -> Iterator[CompletionItem]:
    """Yield the candidates for the last, incomplete word."""
    node, options, position, awaiting = tree, {**tree["options"]}, 0, ""
    for word in words:
        if awaiting:
            awaiting = ""
        elif word.startswith("-"):
            takes = options.get(word, {}).get("takes")
            awaiting = word if takes else ""
        elif word in node["commands"]:
            node, position = node["commands"][word], 0
            options = {**node["options"]}
        else:
            position += 1
    if awaiting:
        yield from _values(options[awaiting]["takes"], incomplete)
    elif incomplete.startswith("-"):
        items = (CompletionItem(name, help=facts["help"]) for name, facts in options.items())
        yield from (item for item in items if item.value.startswith(incomplete))
    else:
        commands = (CompletionItem(name, help=inner["help"]) for name, inner in node["commands"].items())
        yield from (item for item in commands if item.value.startswith(incomplete))
        arguments: list[Any] = node["arguments"]
        if arguments and not node["commands"]:
            yield from _values(arguments[min(position, len(arguments) - 1)], incomplete)


def _values(takes: Any, incomplete: str) -> Iterator[CompletionItem]:
    """Yield values of an option or argument: `takes` is a list of words, or the name of a source."""
    if isinstance(takes, dict):  # several, with commas between them
        head, comma, last = incomplete.rpartition(",")
        found = [CompletionItem(f"{head}{comma}{name}") for name in takes["list"] if name.startswith(last)]
    elif takes == "FILE":  # bash and zsh complete the word on their line; fish evaluates the word that it is given
        yield CompletionItem(incomplete if _PATH.fullmatch(incomplete) else "_", type="file")
        return
    elif takes == "EVENT":
        found = _events(incomplete.casefold())
    else:
        source = _SOURCES.get(str(takes))
        values: list[str] = takes if isinstance(takes, list) else source() if source else []
        found = [CompletionItem(value) for value in values if value.casefold().startswith(incomplete.casefold())]
    for item in found:
        words = item.value.split(",") if isinstance(takes, dict) else [item.value]
        if all(map(may_insert, words)):
            yield item


_PATH = re.compile(r"[A-Za-z0-9_./~][A-Za-z0-9_./+-]*")


def _events(text: str) -> list[CompletionItem]:
    """Return the ids that begin with `text`. If there is none, return the id of the only event whose name does."""
    try:
        pairs = [(str(identity), str(name)) for identity, name in json.loads(events_file().read_text(encoding="utf-8"))]
    except (OSError, ValueError, TypeError, RecursionError):
        return []
    found = [pair for pair in pairs if pair[0].casefold().startswith(text)]
    named = [] if found else [pair for pair in pairs if pair[1].casefold().startswith(text)]
    if len(named) == 1:
        found = named
    return [CompletionItem(identity, help=_described(name)) for identity, name in found]


def _described(name: str) -> str:
    """Return a name as a description in one line: letters, digits and a few signs, as no shell expands them."""
    kept = "".join(char if char.isalnum() or char in "-_." else " " for char in name[:200])
    return " ".join(kept.split())


def _data_files(folder: str) -> list[str]:
    return sorted(path.stem for path in (Path(__file__).parents[1] / "simulator" / "data" / folder).glob("*.toml"))


def _profiles() -> list[str]:
    import tomllib

    try:
        profiles = tomllib.loads(config_path().read_text(encoding="utf-8")).get("profiles", {})
    except (OSError, ValueError):
        return []
    return sorted(profiles) if isinstance(profiles, Mapping) else []


_SOURCES: Mapping[str, Callable[[], list[str]]] = {
    "PROFILE": _profiles,
    "SCENARIO": lambda: _data_files("scenarios"),
    "FAULTS": lambda: _data_files("faults"),
}


def load_tree(main: click.Group) -> Tree:
    """The tree of commands, from its file or made anew, and then kept."""
    path = state_folder() / f"completion-{__version__}.json"
    with suppress(OSError, ValueError):
        kept = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(kept, dict) and kept.get("made_of") == _stamp():
            return kept
    tree = {**make_tree(main, click.Context(main)), "made_of": _stamp()}
    from livedeck.atomic_file import write_private

    with suppress(OSError):
        write_private(path, json.dumps(tree), replace=True)
    return tree


def _stamp() -> str:
    """What tells one installation from another of the same version: when its commands were written."""
    folder = Path(__file__).parents[1]
    times = (entry.stat().st_mtime_ns for room in ("cli", "operations") for entry in (folder / room).rglob("*.py"))
    return f"{folder}:{max(times)}"


def make_tree(command: click.Command, ctx: click.Context) -> Tree:
    """What can be completed of a command and of those below it."""
    tree: Tree = {"help": command.get_short_help_str(60), "options": {}, "arguments": [], "commands": {}}
    for param in command.params:
        if isinstance(param, click.Argument):
            tree["arguments"].append(_takes(param, command))
        elif isinstance(param, click.Option) and not param.hidden:
            facts = {"help": param.help or "", "takes": None if param.is_flag else _takes(param, command)}
            tree["options"] |= dict.fromkeys((*param.opts, *param.secondary_opts), facts)
    tree["options"]["--help"] = {"help": "Show this message and exit.", "takes": None}
    for name in command.list_commands(ctx) if isinstance(command, click.Group) else ():
        inner = command.get_command(ctx, name) if isinstance(command, click.Group) else None
        if inner is not None and not inner.hidden:
            tree["commands"][name] = make_tree(inner, click.Context(inner, parent=ctx, info_name=name))
    return tree


def _takes(param: click.Parameter, command: click.Command) -> Any:
    """What an option or argument takes: words, a dict of words for a list of them, or the name of a source."""
    if isinstance(param.type, click.Choice):
        return [str(choice) for choice in param.type.choices]
    name = str(param.name)
    if name == "columns":
        return {"list": getattr(command, "columns", [])}
    if name == "topic":
        from livedeck.docs import topics

        return list(topics())
    metavar = str(param.metavar or "").partition("|")[0]
    if name in {"profile", "scenario", "faults"}:
        return name.upper()
    return metavar if metavar in {"EVENT", "FILE", "PATH"} else "NONE"

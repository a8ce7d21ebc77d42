"""What a shell completes behind `livedeck`: commands, options and values, from files that are read in milliseconds.

The tree of commands is written down once a version, by importing all of them; the names of events whenever a command
has listed them. Nothing is asked of the platform while somebody waits for a key.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from livedeck import __version__
from livedeck.environment import completing_shell, config_path, state_folder

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
    """What the shell that asks may complete, as it wants it inserted."""
    return _for_shell(complete(load_tree(main), words, incomplete))


def complete_values(source: str, incomplete: str) -> list[CompletionItem]:
    """The values of that source, likewise."""
    return _for_shell(_values(source, incomplete))


def _for_shell(items: Iterable[CompletionItem]) -> list[CompletionItem]:
    if completing_shell() != "bash":  # the others quote what they insert
        return [*items]
    return [CompletionItem(_escaped(str(item.value)), item.type, item.help) for item in items]


def complete(tree: Tree, words: Iterable[str], incomplete: str) -> Iterator[CompletionItem]:
    """What may stand in place of the last, incomplete word."""
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
    """Values of an option or argument: a list of words, or the name of a source."""
    if isinstance(takes, dict):  # several, with commas between them
        head, comma, last = incomplete.rpartition(",")
        yield from (CompletionItem(f"{head}{comma}{name}") for name in takes["list"] if name.startswith(last))
        return
    if takes == "FILE":
        yield CompletionItem(incomplete, type="file")
        return
    source = _SOURCES.get(str(takes))
    words: list[str] = takes if isinstance(takes, list) else source() if source else []
    text = incomplete.casefold()
    yield from (CompletionItem(word) for word in words if word.casefold().startswith(text))


def _events() -> list[str]:
    """Names, and the ids of those whose name is not theirs alone; ids are completed by whoever types one."""
    try:
        pairs = json.loads(events_file().read_text(encoding="utf-8"))
        names = [str(name) for _, name in pairs]
        return [name for name in names if name and names.count(name) == 1] + [str(identity) for identity, _ in pairs]
    except (OSError, ValueError, TypeError):
        return []


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
    "EVENT": _events,
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
    times = (entry.stat().st_mtime_ns for room in ("cli", "operations") for entry in (folder / room).glob("*.py"))
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


def _escaped(value: str) -> str:
    """What splits or quotes words in bash has a backslash before it, and another one: click's script reads it once."""
    return "".join(
        char if char.isalnum() or char in "-_./:,@%+=" or ord(char) > 127 else f"\\\\{char}" for char in value
    )

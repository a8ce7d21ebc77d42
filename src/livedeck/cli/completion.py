"""Shell completion of commands, options and values, from files that are read in milliseconds.

The commands come from the generated description (`description.py`). Ids and names of events are written whenever a
command lists them. Completion sends no request to the platform.

A shell evaluates the text that completion inserts, and each shell quotes differently. Anybody who can name an event
could run commands at the operator's prompt. So only plain words are inserted: for an event its id, never its name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from click.shell_completion import CompletionItem

from livedeck.cli.description import children, load_description
from livedeck.environment import config_path, state_folder

MAX_EVENTS = 2000
"""Maximum number of events to keep."""


def events_file() -> Path:
    """Return the path of the file with the events that a command listed last."""
    return state_folder() / "completion-events.json"


def remember_events(names: Iterable[tuple[str, str]]) -> None:
    """Store pairs of id and name for completion. Faults of the file are ignored: completion is a convenience."""
    from livedeck.atomic_file import write_private

    kept = [pair for pair, _ in zip(names, range(MAX_EVENTS), strict=False)]
    with suppress(OSError):
        write_private(events_file(), json.dumps(kept, ensure_ascii=False), replace=True)


def answer(words: Iterable[str], incomplete: str) -> list[CompletionItem]:
    """Return the candidates for the last, incomplete word. `words`: the complete words before it."""
    return [*complete(load_description(), words, incomplete)]


def complete_values(source: str, incomplete: str) -> list[CompletionItem]:
    """Return the values of that source that begin with the incomplete word."""
    return [*_values(source, incomplete)]


_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}")  # no comma: the shell scripts of click split there


def may_insert(word: str) -> bool:
    """Return whether the word is safe to insert: it is no option, and no shell expands it, quoted or not."""
    return bool(_PLAIN.fullmatch(word))


Described = Mapping[str, Mapping[str, Any]]

_HELP = {"--help": {"help": "Show this message and exit.", "takes": None}}


def complete(described: Described, words: Iterable[str], incomplete: str) -> Iterator[CompletionItem]:
    """Yield the candidates for the last, incomplete word, as `answer` does, from the description `described`."""
    path, position, awaiting = "", 0, ""
    options = _options(described, path)
    for word in words:
        inner = f"{path} {word}".strip()
        if awaiting:
            awaiting = ""
        elif word.startswith("-"):
            awaiting = word if options.get(word, {}).get("takes") else ""
        elif inner in described:
            path, position, options = inner, 0, _options(described, inner)
        else:
            position += 1
    names = children(path)
    if awaiting:
        yield from _values(options[awaiting]["takes"], incomplete)
    elif incomplete.startswith("-"):
        items = (CompletionItem(name, help=facts["help"]) for name, facts in options.items())
        yield from (item for item in items if item.value.startswith(incomplete))
    elif names:
        purposes = {name: _short(str(described[f"{path} {name}".strip()]["purpose"])) for name in names}
        commands = (CompletionItem(name, help=purpose) for name, purpose in purposes.items())
        yield from (item for item in commands if item.value.startswith(incomplete))
    elif arguments := described[path]["arguments"]:
        yield from _values(arguments[min(position, len(arguments) - 1)]["takes"], incomplete)


def _options(described: Described, path: str) -> dict[str, Any]:
    """Return the options of the command at that path, by each of their names."""
    return {name: facts for facts in described[path]["options"] for name in facts["names"]} | _HELP


def _short(purpose: str) -> str:
    """Return the purpose, cut to 60 characters."""
    return purpose if len(purpose) <= _PURPOSE else f"{purpose[: _PURPOSE - 3].rpartition(' ')[0]}..."


_PURPOSE = 60
"""Maximum characters of a purpose beside a candidate."""


def _values(takes: Any, incomplete: str) -> Iterator[CompletionItem]:
    """Yield the values of an option or argument that begin with `incomplete`. `takes`: as `_takes` describes them."""
    if isinstance(takes, dict):  # several values with commas between them
        head, comma, last = incomplete.rpartition(",")
        found = [CompletionItem(f"{head}{comma}{name}") for name in takes["list"] if name.startswith(last)]
    elif takes == "FILE":  # bash and zsh complete the word themselves; fish would evaluate the word that it is given
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
    """Return the event ids that begin with `text`. Without any, return the id of the only event with such a name."""
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
    """Return the name without signs that a shell could expand: only letters, digits, `-`, `_`, `.` and spaces."""
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


def _topics() -> list[str]:
    from livedeck.docs import topics

    return [*topics()]


_SOURCES: Mapping[str, Callable[[], list[str]]] = {
    "PROFILE": _profiles,
    "SCENARIO": lambda: _data_files("scenarios"),
    "FAULTS": lambda: _data_files("faults"),
    "TOPIC": _topics,
}

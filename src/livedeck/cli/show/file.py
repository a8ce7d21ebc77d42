"""Show file: YAML, TOML or JSON. Its fields are checked, errors name the line, and secrets are references."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from difflib import get_close_matches
from pathlib import Path
from typing import Any, ClassVar

import click

from livedeck.cli.objects.entries import STDIN, read_text
from livedeck.environment import expand_user
from livedeck.operations.commands import COMMANDS
from livedeck.operations.nouns import is_id
from livedeck.operations.schema import Field, FieldKind, FormSchema, schema_of_rows
from livedeck.secret_sources import secret_from_command, secret_from_file, secret_from_keyring, secret_from_variable
from livedeck.settings.loading import line_of
from livedeck.text.outside import shown

Keys = tuple[str | int, ...]
"""Keys and indexes from the top of the file to a value."""

MAX_VALUES = 100_000
"""Maximum number of values in a file. Aliases of YAML count each time."""


@dataclass(frozen=True, slots=True)
class Item:
    """Object that the file declares. `kind`: event, room or video. `where`: file and line."""

    kind: str
    content: Mapping[str, Any]
    where: str

    @property
    def id(self) -> str:
        """Declared id; empty if the name identifies the object."""
        return str(self.content.get("id") or "")

    @property
    def name(self) -> str:
        """Declared name; empty without one."""
        return str(self.content.get("name") or "")

    @property
    def title(self) -> str:
        """Kind and name, or id, for people."""
        return f'{self.kind} "{shown(self.name)}"' if self.name else f"{self.kind} {shown(self.id)}"

    def with_id(self, identity: str) -> Item:
        """Return a copy of the item that declares this id."""
        return replace(self, content={**self.content, "id": identity})

    def fault(self, text: str) -> click.UsageError:
        """Return an error about this object, with its line."""
        return click.UsageError(f"{self.where}: {self.title}: {text}")


@dataclass(frozen=True, slots=True)
class Show:
    """Content of a show file.

    `name`: word that confirms a deletion. `parent_id`: project or folder of every event without its own; empty without
    one. `folder`: folder of the file, from which its paths start.
    """

    name: str
    parent_id: str
    items: tuple[Item, ...]
    folder: Path


@dataclass(frozen=True, slots=True)
class _Value:
    """Spec of a field with a single value, which the form checks later. `kind`: kind of the form's field."""

    kind: FieldKind = FieldKind.TEXT


Spec = Mapping[str, Any]
"""Field -> its spec: a `_Value`, a Spec if the field is a mapping, or a list with the Spec of a row."""


def _spec(schema: FormSchema[Any] | None, **own: Any) -> Spec:
    """Return the spec of the fields of a form and of `own`, the fields that only the file has."""
    fields: dict[str, Any] = dict(own)
    for field in schema.fields if schema else ():
        head, dot, tail = field.name.partition(".")
        if dot:
            fields.setdefault(head, {})[tail] = _Value(field.kind)
        else:
            fields.setdefault(head, _of_field(field))
    return fields


def _of_field(field: Field) -> Any:
    if field.kind is FieldKind.ROWS:
        return [_spec(schema_of_rows(field), id=_Value())]
    return _Value(field.kind)


KINDS = {"events": "event", "rooms": "room", "videos": "video"}
"""Name of a list in the file -> kind of its objects."""

SPEC: Spec = {
    "name": _Value(),
    "parent_id": _Value(),
    "events": [
        _spec(
            COMMANDS["event.create"].schema,
            id=_Value(),
            stream={"started_at": _Value(FieldKind.DATETIME)},
            poster={"url": _Value()},
        )
    ],
    "rooms": [_spec(COMMANDS["room.create"].schema, id=_Value())],
    "videos": [
        {"id": _Value(), "poster": {"from_time": _Value()}, "subtitles": [_spec(COMMANDS["subtitle.upload"].schema)]}
    ],
}
"""Fields of a show file. An object has the fields of its form."""


def read_show(path: str, *, has_secrets: bool = True) -> Show:
    """Return the content of a show file. Raises UsageError with file and line, or SettingsError.

    `has_secrets`: read the secrets that the file refers to. False leaves them empty, and runs no program.
    """
    reader = _Reader(path, read_text(path), has_secrets=has_secrets)
    content = reader.checked(reader.parse(), SPEC, ())
    parent = str(content.get("parent_id") or "")
    items = []
    for key, kind in KINDS.items():
        for index, found in enumerate(content.get(key) or ()):
            item = Item(kind, found, reader.where((key, index)))
            if kind == "event" and parent:
                item = replace(item, content={"parent_id": parent, **item.content})
            items.append(item)
    _check_identities(items)
    stem = "show" if path == STDIN else Path(path).stem
    return Show(str(content.get("name") or stem), parent, tuple(items), reader.folder)


def _check_identities(items: Iterable[Item]) -> None:
    """Raise UsageError for an object without an identity, and for two objects with the same one."""
    seen: dict[tuple[str, ...], Item] = {}
    for item in items:
        name = item.name
        if not item.id and (item.kind == "video" or not name):
            raise click.UsageError(f"{item.where}: {'a video needs its id' if item.kind == 'video' else 'name it'}")
        if name != name.strip():
            raise item.fault("the name has blanks at its ends, which a platform may remove")
        if item.kind == "video" and not is_id(item.id):
            raise item.fault("this is not a whole id, and the platform lists no videos")
        identity = (item.kind, item.id) if item.id else (item.kind, name, str(item.content.get("parent_id") or ""))
        if first := seen.get(identity):
            raise item.fault(f"this is the same object as in {first.where}: give each its id, or another name")
        seen[identity] = item


class _Reader:
    """Reader of one file: its parser, its lines, and its checks."""

    def __init__(self, path: str, text: str, *, has_secrets: bool) -> None:
        self.path, self.text, self._has_secrets = path, text, has_secrets
        self.folder = Path.cwd() if path == STDIN else Path(path).expanduser().parent
        self._lines: dict[Keys, int] = {}
        self._secrets: dict[str, str] = {}

    def where(self, path: Keys) -> str:
        """Return file and line of a value, or of the nearest value around it."""
        if self.path.endswith(".toml"):
            line = line_of(self.text, path)
        else:
            around = (path[:count] for count in range(len(path), 0, -1))
            line = next((self._lines[part] for part in around if part in self._lines), None)
        name = "standard input" if self.path == STDIN else shown(self.path)
        return f"{name}:{line}" if line else name

    def parse(self) -> Any:
        """Return the file's content. Raises UsageError, without the text of the file, which may hold a key."""
        if not self.path.endswith(".toml"):
            return self._parse_yaml()
        try:
            return tomllib.loads(self.text)
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            raise click.UsageError(f"{shown(self.path)}: not TOML: {shown(str(error))[:200]}") from None

    def _parse_yaml(self) -> Any:
        try:
            import yaml
        except ImportError:
            raise click.UsageError(
                f"{shown(self.path)}: YAML needs a package: pip install '.[yaml]' in the checkout, or write TOML"
            ) from None

        class Loader(yaml.SafeLoader):  # type: ignore[misc]
            """YAML loader that knows only the types of JSON, so that `18:30` and `no` stay texts."""

            yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {}

        for tag, pattern in _SCALARS.items():
            Loader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(pattern), None)
        try:
            node = yaml.compose(self.text, Loader)
            return None if node is None else self._value(node, (), [0])
        except (yaml.YAMLError, RecursionError) as error:
            mark = getattr(error, "problem_mark", None)
            reason = getattr(error, "problem", None) or "it cannot be read"
            place = f"{shown(self.path)}{f':{mark.line + 1}' if mark else ''}"
            raise click.UsageError(f"{place}: not YAML: {shown(str(reason))[:120]}") from None

    def _value(self, node: Any, path: Keys, count: list[int]) -> Any:
        """Return the value of a node of YAML, and store its line."""
        self._lines.setdefault(path, node.start_mark.line + 1)
        count[0] += 1
        if count[0] > MAX_VALUES:
            raise click.UsageError(f"{shown(self.path)}: more than {MAX_VALUES:,} values")
        make = _MAKERS.get(node.tag.rpartition(":")[2])
        if make is None:
            raise click.UsageError(f"{self.where(path)}: the tag {shown(node.tag)} is not supported")
        if node.id == "sequence":
            return [self._value(item, (*path, index), count) for index, item in enumerate(node.value)]
        if node.id == "mapping":
            found: dict[str, Any] = {}
            for key_node, value_node in node.value:
                key = str(key_node.value)
                self._lines[*path, key] = key_node.start_mark.line + 1
                if key in found:
                    raise click.UsageError(f"{self.where((*path, key))}: {shown(key)} is given twice")
                found[key] = self._value(value_node, (*path, key), count)
            return found
        return make(node.value)

    def checked(self, value: Any, spec: Any, path: Keys) -> Any:
        """Return a value with its secrets and times resolved. Raises UsageError with the line of a fault."""
        if isinstance(spec, _Value):
            return self._checked_value(value, spec, path)
        if value is None:
            return {} if isinstance(spec, Mapping) else []
        if isinstance(spec, list):
            if not isinstance(value, list):
                raise self._fault(path, "should be a list")
            return [self.checked(item, spec[0], (*path, index)) for index, item in enumerate(value)]
        if not isinstance(value, Mapping):
            raise self._fault(path, f"should have fields: {', '.join(spec)}")
        for name in value:
            if name not in spec:
                near = get_close_matches(name, spec, 1)
                advice = f"did you mean {near[0]}?" if near else f"there are {', '.join(spec)}"
                raise self._fault((*path, name), f"there is no such field; {advice}")
        return {name: self.checked(item, spec[name], (*path, name)) for name, item in value.items()}

    def _checked_value(self, value: Any, spec: _Value, path: Keys) -> Any:
        if spec.kind is FieldKind.HIDDEN:
            return self._secret(value, path)
        if spec.kind is FieldKind.DATETIME and value is not None:
            return self._time(value, path)
        if isinstance(value, Mapping) or isinstance(value, list) != (spec.kind is FieldKind.MULTI_CHOICE):
            raise self._fault(path, f"should be a {'list' if spec.kind is FieldKind.MULTI_CHOICE else 'single value'}")
        return value

    def _time(self, value: Any, path: Keys) -> str:
        """Return a time in UTC as text. Date and zone are required, so that the file means the same each time."""
        try:
            at = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
        except ValueError:
            at = None
        if at is None or at.tzinfo is None:
            raise self._fault(path, "should be a time with date and zone, such as 2026-12-01T18:30Z")
        return f"{at.astimezone(UTC).replace(tzinfo=None).isoformat(' ', 'seconds')}Z"

    def _secret(self, value: Any, path: Keys) -> str:
        """Return the secret that a reference names. Errors never show `value`, which may be a secret itself."""
        source, argument = next(iter(value.items())) if isinstance(value, Mapping) and len(value) == 1 else ("", None)
        if source not in _REFERENCES:
            field = path[-1]
            references = f"{field}: {{file: PATH}}, {{command: [PROGRAM, ...]}}, {{env: NAME}}"
            raise self._fault(path, f"a show file holds no secret; write {references} or {{keyring: SERVICE/USER}}")
        read, kind = _REFERENCES[source]
        if not isinstance(argument, kind) or not argument or not all(isinstance(part, str) for part in argument):
            raise self._fault(path, f"{source} should be {'a list of words' if kind is list else 'a text'}")
        if not self._has_secrets:
            return ""
        place = f"{self.where(path)}: {path[-1]}: {source}"
        if source == "file":
            argument = self.folder / expand_user(argument)
        if (key := f"{source}\0{argument}") not in self._secrets:
            self._secrets[key] = read(place, argument)
        return self._secrets[key]

    def _fault(self, path: Keys, text: str) -> click.UsageError:
        name = ".".join(str(part) for part in path if isinstance(part, str))
        return click.UsageError(f"{self.where(path)}: {shown(name)}: {text}")


_REFERENCES: Mapping[str, tuple[Callable[[str, Any], str], type[Any]]] = {
    "file": (secret_from_file, str),
    "command": (lambda place, argv: secret_from_command(place, tuple(argv)), list),
    "env": (secret_from_variable, str),
    "keyring": (secret_from_keyring, str),
}
"""Kind of a reference -> function that reads the secret, and type of its argument."""

_SCALARS = {
    "null": r"^(null|~|)$",
    "bool": r"^(true|false)$",
    "int": r"^-?(0|[1-9][0-9]*)$",
    "float": r"^-?(0|[1-9][0-9]*)\.[0-9]+$",
}

_MAKERS: Mapping[str, Callable[[str], Any]] = {
    "seq": str,  # the values in it have tags of their own
    "map": str,
    "str": str,
    "null": lambda _: None,
    "bool": lambda text: text == "true",
    "int": int,
    "float": float,
}

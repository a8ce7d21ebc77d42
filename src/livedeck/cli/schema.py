"""`livedeck schema`: the JSON of a command, as JSON Schema."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import click

from livedeck.cli.output import echo

DIALECT = "https://json-schema.org/draft/2020-12/schema"


@click.command
@click.argument("words", metavar="[COMMAND]", nargs=-1)
def command(*, words: tuple[str, ...]) -> None:
    """Print the JSON Schema of what COMMAND prints with --json, as `livedeck schema events list`.

    Without a command: the commands that have one. Within a version only fields are added.
    """
    schemas, name = command_schemas(), " ".join(words)
    if not name:
        echo("\n".join(schemas))
    elif name in schemas:
        echo(json.dumps(schemas[name](), indent=2))
    else:
        from difflib import get_close_matches

        near = get_close_matches(name, schemas, 1)
        advice = f"did you mean {near[0]!r}?" if near else "`livedeck schema` lists those that have one"
        raise click.UsageError(f"no command {name!r} prints JSON; {advice}")


def command_schemas() -> Mapping[str, Callable[[], dict[str, Any]]]:
    """The schema of every command that prints JSON, by the words behind `livedeck`."""
    from livedeck.cli.formats import schema_name
    from livedeck.cli.reading import noun_fields
    from livedeck.operations.commands import COMMANDS
    from livedeck.operations.nouns import NOUNS, RECORDINGS, Noun
    from livedeck.presentation.documents import DOCUMENTS
    from livedeck.presentation.json_schema import FAULTS, document_schema, model_fields, object_schema

    def document(name: str, fields: dict[str, Any], *, additional: bool = False) -> dict[str, Any]:
        head = {"schema": {"const": schema_name(name)}}
        described = object_schema({**head, **fields}, additional=additional)
        return {"$schema": DIALECT, "title": schema_name(name), **described}

    def listed(name: str, fields: dict[str, Any]) -> dict[str, Any]:
        items = {"type": "array", "items": object_schema(fields, additional=True)}
        return document(name, {"items": items, "unreadable": FAULTS})

    def schemas_of(noun: Noun) -> dict[str, Callable[[], dict[str, Any]]]:
        return {
            f"{noun.name} list": lambda: listed(f"{noun.name} list", noun_fields(noun)),
            f"{noun.name} get": lambda: document(f"{noun.name} get", noun_fields(noun), additional=True),
        }

    found: dict[str, Callable[[], dict[str, Any]]] = {}
    for noun in NOUNS.values():
        found |= schemas_of(noun)
    found["events recordings"] = lambda: listed(
        "events recordings", {**model_fields(RECORDINGS.model), "faults": FAULTS}
    )
    for name, kind in DOCUMENTS.items():
        found[name] = lambda name=name, kind=kind: {  # type: ignore[misc]
            "$schema": DIALECT,
            "title": schema_name(name),
            **document_schema(kind),
        }
    found["preflight"] = lambda: document("preflight", _preflight_fields())
    for change in COMMANDS.values():
        found[change.path] = lambda path=change.path: document(path, _result_fields())  # type: ignore[misc]
    return found


def _preflight_fields() -> dict[str, Any]:
    """What `livedeck preflight` says."""
    from livedeck.presentation.json_schema import object_schema
    from livedeck.presentation.preflight import Mark

    text, or_null = {"type": "string"}, {"type": ["string", "null"]}
    item = {"name": text, "mark": {"enum": [*map(str, Mark)]}, "finding": text, "advice": or_null}
    return {
        "event": object_schema({"id": text, "name": or_null}),
        "go": {"type": "boolean"},
        "items": {"type": "array", "items": object_schema(item)},
    }


def _result_fields() -> dict[str, Any]:
    """What became of a change."""
    from livedeck.cli.changing import ACCEPTED, DRY_RUN
    from livedeck.operations.operation import Verdict
    from livedeck.presentation.json_schema import object_schema

    text, or_null = {"type": "string"}, {"type": ["string", "null"]}
    return {
        "operation": text,
        "verdict": {"enum": [*map(str, Verdict), ACCEPTED, DRY_RUN]},
        "text": text,
        "target": object_schema({"kind": text, "id": or_null, "name": or_null}),
        "ids": {"type": "array", "items": text},
        "changes": {"type": "array", "items": object_schema({"field": text, "before": text, "after": text})},
        "object": {"type": ["object", "null"]},
    }

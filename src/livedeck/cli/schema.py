"""JSON Schema of the commands' JSON, for `--schema` and `livedeck docs json`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema_text(path: str) -> str:
    """Return the JSON Schema of the output of a command with --json. `path`: the words after `livedeck`."""
    return json.dumps(command_schemas()[path](), indent=2)


def command_schemas() -> Mapping[str, Callable[[], dict[str, Any]]]:
    """Return command (the words after `livedeck`) -> function that makes the JSON Schema of its output."""
    from livedeck.cli.formats import schema_name
    from livedeck.cli.objects.reading import noun_fields
    from livedeck.operations.commands import COMMANDS
    from livedeck.operations.nouns import NOUNS, RECORDINGS, RESTREAMS, Noun
    from livedeck.presentation.documents import DOCUMENTS
    from livedeck.presentation.json_schema import FAULTS, SHORTFALL, document_schema, model_fields, object_schema

    def document(name: str, fields: dict[str, Any], *, additional: bool = False) -> dict[str, Any]:
        head = {"schema": {"const": schema_name(name)}}
        described = object_schema({**head, **fields}, additional=additional)
        return {"$schema": DIALECT, "title": schema_name(name), **described}

    def listed(name: str, fields: dict[str, Any]) -> dict[str, Any]:
        items = {"type": "array", "items": object_schema(fields, additional=True)}
        unlisted = {"unlisted": {"type": "array", "items": {"type": "string"}}} if name == "event list" else {}
        return document(name, {"items": items, "unreadable": FAULTS, "shortfall": SHORTFALL, **unlisted})

    def schemas_of(noun: Noun) -> dict[str, Callable[[], dict[str, Any]]]:
        return {
            f"{noun.path} list": lambda: listed(f"{noun.path} list", noun_fields(noun)),
            f"{noun.path} get": lambda: document(f"{noun.path} get", noun_fields(noun), additional=True),
        }

    found: dict[str, Callable[[], dict[str, Any]]] = {}
    for noun in NOUNS.values():
        found |= schemas_of(noun)
    for name, noun in {"video list": RECORDINGS, "event restreams": RESTREAMS}.items():
        found[name] = lambda name=name, noun=noun: listed(  # type: ignore[misc]
            name, {**model_fields(noun.model), "faults": FAULTS}
        )
    for path, kind in DOCUMENTS.items():
        found[path] = lambda path=path, kind=kind: {  # type: ignore[misc]
            "$schema": DIALECT,
            "title": schema_name(path),
            **document_schema(kind),
        }
    found["serve"] = lambda: {"$schema": DIALECT, "title": schema_name("serve"), **object_schema(_serve_fields())}
    found["change list"] = lambda: document(
        "change list", {"changes": document_schema(DOCUMENTS["status"])["properties"]["open_changes"]}
    )
    for change in COMMANDS.values():
        found[change.path] = lambda path=change.path: document(path, _result_fields())  # type: ignore[misc]
    return found


def _serve_fields() -> dict[str, Any]:
    """Return the schema of the fields that `livedeck serve --json` prints."""
    from dataclasses import fields

    from livedeck.presentation.json_schema import object_schema
    from livedeck.simulator import Workspace
    from livedeck.simulator.server import Addresses

    text = {"type": "string"}
    names = [*(field.name for field in fields(Addresses)), "control_token", "token", "workspace_id", "user_id"]
    other = {field.name: text for field in fields(Workspace)}
    return {**dict.fromkeys(names, text), "other_workspace": object_schema(other)}


def _result_fields() -> dict[str, Any]:
    """Return the schema of the fields in the result of a change."""
    from livedeck.cli.objects.changing import ACCEPTED, DRY_RUN
    from livedeck.operations.operation import Verdict
    from livedeck.presentation.documents import ChangeResult
    from livedeck.presentation.json_schema import document_schema

    fields = dict(document_schema(ChangeResult)["properties"])
    del fields["schema"]
    return {**fields, "verdict": {"enum": [*map(str, Verdict), ACCEPTED, DRY_RUN]}}

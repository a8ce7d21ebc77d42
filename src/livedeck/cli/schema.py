"""The JSON of the commands as JSON Schema, for `--schema` and `livedeck docs json`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema_text(path: str) -> str:
    """Return the JSON Schema of what the command at that path prints with --json, as JSON."""
    return json.dumps(command_schemas()[path](), indent=2)


_PATHS = {
    "alarms": "alarm list",
    "qos": "event qos",
    "history": "past show",
    "episodes": "past episodes",
    "handover": "past handover",
    "report": "past report",
    "search": "past search",
}
"""The commands of the reports, where they have another name."""


def command_schemas() -> Mapping[str, Callable[[], dict[str, Any]]]:
    """Return the schema of every command that prints JSON, by the words after `livedeck`."""
    from livedeck.cli.formats import schema_name
    from livedeck.cli.objects.reading import noun_fields
    from livedeck.operations.commands import COMMANDS
    from livedeck.operations.nouns import NOUNS, RECORDINGS, RESTREAMS, Noun
    from livedeck.presentation.json_schema import FAULTS, model_fields, object_schema
    from livedeck.presentation.report_schemas import REPORTS

    def document(name: str, fields: dict[str, Any], *, additional: bool = False) -> dict[str, Any]:
        head = {"schema": {"const": schema_name(name)}}
        described = object_schema({**head, **fields}, additional=additional)
        return {"$schema": DIALECT, "title": schema_name(name), **described}

    def listed(name: str, fields: dict[str, Any]) -> dict[str, Any]:
        items = {"type": "array", "items": object_schema(fields, additional=True)}
        return document(name, {"items": items, "unreadable": FAULTS})

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
    for path, fields in {_PATHS.get(name, name): fields for name, fields in REPORTS.items()}.items():
        found[path] = lambda path=path, fields=fields: {  # type: ignore[misc]
            "$schema": DIALECT,
            "title": schema_name(path),
            **object_schema(fields, additional=True),
        }
    found["event preflight"] = lambda: document("event preflight", _preflight_fields())
    found["serve"] = lambda: {"$schema": DIALECT, "title": schema_name("serve"), **object_schema(_serve_fields())}
    found["change list"] = lambda: document("change list", {"changes": REPORTS["status"]["open_changes"]})
    for change in COMMANDS.values():
        found[change.path] = lambda path=change.path: document(path, _result_fields())  # type: ignore[misc]
    return found


def _preflight_fields() -> dict[str, Any]:
    """Return the fields of `livedeck event preflight`."""
    from livedeck.presentation.json_schema import object_schema
    from livedeck.presentation.preflight import Mark

    text, or_null = {"type": "string"}, {"type": ["string", "null"]}
    item = {"name": text, "mark": {"enum": [*map(str, Mark)]}, "finding": text, "advice": or_null}
    return {
        "event": object_schema({"id": text, "name": or_null}),
        "go": {"type": "boolean"},
        "items": {"type": "array", "items": object_schema(item)},
    }


def _serve_fields() -> dict[str, Any]:
    """Return the fields of `livedeck serve`."""
    from dataclasses import fields

    from livedeck.presentation.json_schema import object_schema
    from livedeck.simulator import Workspace
    from livedeck.simulator.server import Addresses

    text = {"type": "string"}
    names = [*(field.name for field in fields(Addresses)), "control_token", "token", "workspace_id", "user_id"]
    other = {field.name: text for field in fields(Workspace)}
    return {**dict.fromkeys(names, text), "other_workspace": object_schema(other)}


def _result_fields() -> dict[str, Any]:
    """Return the fields of the result of a change."""
    from livedeck.cli.objects.changing import ACCEPTED, DRY_RUN
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

"""Catalogue of the operations by name. Commands, palette, documents and tests are made from it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from livedeck.operations.annotations import OPERATIONS as ANNOTATIONS
from livedeck.operations.events import OPERATIONS as EVENTS
from livedeck.operations.materials import OPERATIONS as MATERIALS
from livedeck.operations.operation import Operation
from livedeck.operations.posters import OPERATIONS as POSTERS
from livedeck.operations.rooms import OPERATIONS as ROOMS
from livedeck.operations.subtitles import OPERATIONS as SUBTITLES

_ALL: tuple[type[Operation[Any]], ...] = (*EVENTS, *ROOMS, *POSTERS, *SUBTITLES, *ANNOTATIONS, *MATERIALS)

OPERATIONS: Mapping[str, type[Operation[Any]]] = MappingProxyType({operation.name: operation for operation in _ALL})


def evidence_table() -> str:
    """Return the evidence for each operation after a lost response, as a Markdown table (trust.md, "Evidence")."""
    rows = [f"| `{name}` | {_evidence(operation)} |" for name, operation in OPERATIONS.items()]
    return "\n".join(["| Change | Evidence |", "|---|---|", *rows])


def _evidence(operation: type[Operation[Any]]) -> str:
    exception = f"none: {operation.no_evidence}" if operation.no_evidence else ""
    return "; otherwise ".join(filter(None, (operation.evidence, exception)))

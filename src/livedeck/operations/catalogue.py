"""Every operation by its name: what commands, palette, documents and tests are derived from."""

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
    """What proves each of them once no usable answer came, as a table of Markdown (trust.md, "Evidence")."""
    rows = [f"| `{name}` | {_evidence(operation)} |" for name, operation in OPERATIONS.items()]
    return "\n".join(["| Change | What shows it |", "|---|---|", *rows])


def _evidence(operation: type[Operation[Any]]) -> str:
    otherwise = f"nothing: {operation.no_evidence}" if operation.no_evidence else ""
    return "; else ".join(filter(None, (operation.evidence, otherwise)))

"""Posted tables: read from a request as TOML or JSON, kept by name."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import tomlkit
from starlette.responses import Response

from livedeck.simulator.engine.reference import table_names
from livedeck.simulator.engine.store import Document
from livedeck.simulator.errors import ApiError, conflict, invalid
from livedeck.simulator.http import ApiRequest, data
from livedeck.simulator.rehearsal.checking import Source
from livedeck.simulator.rehearsal.naming import there_are

MAX_POSTED = 100
"""Posted tables of one kind."""

TOML = "application/toml"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


async def read_source(request: ApiRequest[Any], name: str) -> Source:
    """Return the table in the body. Raises the documented error if it is neither TOML nor a JSON object."""
    if is_toml(request):
        try:
            return Source.of_text(name, (await request.http.body()).decode())
        except UnicodeDecodeError:
            raise invalid(("body", "must be UTF-8")) from None
    return source_of(await request.json_object(), name)


def source_of(table: dict[str, Any], name: str) -> Source:
    """Return a table that came as JSON. Raises the documented error for values that TOML does not have."""
    try:
        tomlkit.dumps(table)
    except (ValueError, TypeError, RecursionError):
        raise invalid(("body", "must hold tables, lists, text, numbers and booleans, and no null")) from None
    return Source(name, table)


def is_toml(request: ApiRequest[Any]) -> bool:
    """True if the body is TOML."""
    return str(request.http.headers.get("content-type", "")).partition(";")[0].strip().lower() == TOML


def post_table(request: ApiRequest[Any], kind: str, folder: str, source: Source) -> Response:
    """Keep a checked table under its name. Raises the documented error for a name that is shipped or unsound."""
    if not _NAME.fullmatch(source.name):
        raise invalid(("name", "must be 1 to 64 letters, digits, dots, hyphens and underscores"))
    if source.name in table_names(folder):
        raise conflict(f"{source.name} is a shipped one: post it under another name")
    store = request.world.store
    if store.get(kind, source.name) is None and len(store.find_all(kind, "")) >= MAX_POSTED:
        raise conflict(f"{MAX_POSTED} are posted already: delete one first")
    text = tomlkit.dumps(dict(source.table)) if source.text is None else source.text
    store.put(kind, {"id": source.name, "table": source.table, "text": text})
    return data({"name": source.name, "problems": []})


def read_table_text(request: ApiRequest[Any], kind: str, shipped: Callable[[str], str], folder: str) -> Response:
    """Return the text of a shipped or posted table."""
    name = str(request.http.path_params["name"])
    text = shipped(name) if name in table_names(folder) else _posted(request, kind, folder)["text"]
    return Response(text, media_type=TOML)


def delete_table(request: ApiRequest[Any], kind: str, folder: str) -> Response:
    """Delete a posted table."""
    name = str(request.http.path_params["name"])
    if name in table_names(folder):
        raise conflict(f"{name} is a shipped one and stays")
    _posted(request, kind, folder)
    request.world.store.delete(kind, name)
    return data({"name": name, "deleted": True})


def _posted(request: ApiRequest[Any], kind: str, folder: str) -> Document:
    name = str(request.http.path_params["name"])
    document = request.world.store.get(kind, name)
    if document is None:
        raise unknown_table(request, kind, folder, name)
    return document


def unknown_table(request: ApiRequest[Any], kind: str, folder: str, name: str) -> ApiError:
    """Return the error for a name that is neither shipped nor posted."""
    posted = [row["id"] for row in request.world.store.find_all(kind, "", order=[("id", "asc")])]
    reason = f'no {folder.removesuffix("s")} is called "{name}"; {there_are([*posted, *table_names(folder)], name)}'
    return ApiError(404, 404404, reason, [("name", reason)])

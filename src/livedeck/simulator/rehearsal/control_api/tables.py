"""Posted tables: read from a request as TOML or JSON, kept by name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import tomlkit
from starlette.responses import Response

from livedeck.simulator.engine.reference import table_names, table_text
from livedeck.simulator.engine.store import Document
from livedeck.simulator.errors import ApiError, conflict, invalid
from livedeck.simulator.http import ApiRequest, data
from livedeck.simulator.rehearsal.checking import Source
from livedeck.simulator.rehearsal.naming import there_are

MAX_POSTED = 100
"""Maximum number of posted tables of one kind."""

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


@dataclass(frozen=True, slots=True)
class Tables:
    """Shipped and posted tables of one sort.

    `kind`: kind of the documents of posted ones. `folder`: folder of shipped ones; its name is the plural of the sort.
    """

    kind: str
    folder: str

    def post(self, request: ApiRequest[Any], source: Source) -> Response:
        """Keep a checked table under its name. Raises the documented error for an invalid or a shipped name."""
        if not _NAME.fullmatch(source.name):
            raise invalid(("name", "must be 1 to 64 letters, digits, dots, hyphens and underscores"))
        if source.name in table_names(self.folder):
            raise conflict(f"{source.name} is shipped with livedeck: post yours under another name")
        store = request.world.store
        if store.get(self.kind, source.name) is None and len(store.find_all(self.kind, "")) >= MAX_POSTED:
            raise conflict(f"{MAX_POSTED} are posted already: delete one first")
        text = tomlkit.dumps(dict(source.table)) if source.text is None else source.text
        store.put(self.kind, {"id": source.name, "table": source.table, "text": text})
        return data({"name": source.name, "problems": []})

    def read(self, request: ApiRequest[Any]) -> Response:
        """Return the text of the table that the path names."""
        name = str(request.http.path_params["name"])
        is_shipped = name in table_names(self.folder)
        return Response(
            table_text(self.folder, name) if is_shipped else self.posted(request, name)["text"], media_type=TOML
        )

    def delete(self, request: ApiRequest[Any]) -> Response:
        """Delete the posted table that the path names."""
        name = str(request.http.path_params["name"])
        if name in table_names(self.folder):
            raise conflict(f"{name} is shipped with livedeck: only posted ones can be deleted")
        self.posted(request, name)
        request.world.store.delete(self.kind, name)
        return data({"name": name, "deleted": True})

    def posted(self, request: ApiRequest[Any], name: str) -> Document:
        """Return a posted table. Raises the documented error, which lists the posted names."""
        document = request.world.store.get(self.kind, name)
        if document is None:
            raise self.unknown(request, name)
        return document

    def unknown(self, request: ApiRequest[Any], name: str) -> ApiError:
        """Return the error for a name that is neither shipped nor posted."""
        posted = [row["id"] for row in request.world.store.find_all(self.kind, "", order=[("id", "asc")])]
        there = there_are([*posted, *table_names(self.folder)], name)
        reason = f'no {self.folder.removesuffix("s")} is called "{name}"; {there}'
        return ApiError(404, 404404, reason, [("name", reason)])

"""Journal entries as JSON, and as an HTTP Archive (HAR 1.2) for a browser's network panel."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from http import HTTPStatus
from typing import Any
from urllib.parse import quote, urlencode

from livedeck.simulator.engine.clock import format_epoch
from livedeck.simulator.engine.journal import Entry
from livedeck.simulator.engine.store import Document
from livedeck.simulator.rehearsal.redaction import Redaction

_VERSION = "HTTP/1.1"


def show_entry(entry: Entry, known_secrets: Iterable[str]) -> Document:
    """Return an entry as the control API shows it."""
    request, hidden = entry.request, Redaction.of(entry, known_secrets)
    query: dict[str, Any] = {}
    for name, value in request.query:
        query.setdefault(name, []).append(hidden.pair(name, value))
    return {
        "n": entry.n,
        "at": format_epoch(entry.answer.at),
        "took_ms": entry.took_ms,
        "method": request.method,
        "path": hidden.text(request.path),
        "operation": request.operation,
        "ids": dict(request.ids),
        "names": dict(request.names),
        "token": request.token,
        "query": {name: values[0] if len(values) == 1 else values for name, values in query.items()},
        "headers": _headers(request.headers, hidden),
        "body": _body(bytes(request.body), request.bytes_received, hidden),
        "status": entry.answer.status,
        "answer": {"headers": _headers(entry.headers, hidden), **_body(entry.text, entry.bytes_sent, hidden)},
        "faults": [*entry.faults],
        "outcome": entry.answer.outcome,
    }


def _headers(headers: Sequence[tuple[str, str]], hidden: Redaction) -> list[list[str]]:
    return [[name, hidden.pair(name, value)] for name, value in headers]


def _body(kept: bytes, size: int, hidden: Redaction) -> Document:
    return {"text": hidden.text(kept.decode(errors="replace")), "bytes": size, "cut": len(kept) < size}


def archive(entries: Iterable[Document], origin: str, version: str, *, dropped: int) -> Document:
    """Return shown entries as an HTTP Archive.

    `origin`: scheme and host of the addresses. `dropped`: requests that have no entry any more.
    """
    log = {
        "version": "1.2",
        "creator": {"name": "livedeck", "version": version},
        "entries": [_har_entry(entry, origin) for entry in entries],
    }
    return {"log": log | ({"comment": f"dropped requests: {dropped}"} if dropped else {})}


def _har_entry(entry: Document, origin: str) -> Document:
    query = [
        (name, value)
        for name, values in entry["query"].items()
        for value in (values if isinstance(values, list) else [values])
    ]
    request = {
        "method": entry["method"],
        "url": f"{origin}{quote(entry['path'])}{'?' if query else ''}{urlencode(query)}",
        "httpVersion": _VERSION,
        "cookies": [],
        "headers": _pairs(entry["headers"]),
        "queryString": _pairs(query),
        "headersSize": -1,
        "bodySize": entry["body"]["bytes"],
    }
    if entry["body"]["bytes"]:
        media = next((value for name, value in entry["headers"] if name == "content-type"), "")
        request["postData"] = {"mimeType": media, "text": entry["body"]["text"]}
    return {
        "startedDateTime": entry["at"],
        "time": entry["took_ms"],
        "request": request,
        "response": _har_response(entry),
        "cache": {},
        "timings": {"send": 0, "wait": entry["took_ms"], "receive": 0},
        "comment": ", ".join([entry["outcome"], *entry["faults"]]),
    }


def _har_response(entry: Document) -> Document:
    headers, status = entry["answer"]["headers"], entry["status"]
    first = dict(reversed(headers))
    phrases = {code.value: code.phrase for code in HTTPStatus}
    return {
        "status": status,
        "statusText": phrases.get(status, ""),
        "httpVersion": _VERSION,
        "cookies": [],
        "headers": _pairs(headers),
        "content": {
            "size": entry["answer"]["bytes"],
            "mimeType": first.get("content-type", ""),
            "text": entry["answer"]["text"],
        },
        "redirectURL": first.get("location", ""),
        "headersSize": -1,
        "bodySize": entry["answer"]["bytes"],
    }


def _pairs(pairs: Iterable[Sequence[str]]) -> list[Document]:
    return [{"name": name, "value": value} for name, value in pairs]

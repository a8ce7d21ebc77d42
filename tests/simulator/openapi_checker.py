"""Check of replies against an OpenAPI document."""

from __future__ import annotations

import re
from typing import Any
from uuid import UUID

import httpx

Schema = dict[str, Any]
_TYPES = {"string": str, "boolean": bool, "object": dict, "array": list, "null": type(None)}


class OpenApiChecker:
    """Checks replies against a document. It knows only the keywords of JSON Schema that the simulator uses."""

    def __init__(self, document: Schema) -> None:
        self._document = document
        patterns = {path: re.sub(r"\\?\{\w+\\?\}", "[^/]+", re.escape(path)) for path in document["paths"]}
        self._paths = [(re.compile(pattern), path) for path, pattern in sorted(patterns.items())]

    def check(self, answer: httpx.Response) -> None:
        """Raise AssertionError for a reply of a documented endpoint that is not as documented."""
        operation = self._operation(answer.request)
        if operation is None or answer.status_code == 405:
            return
        response = operation["responses"].get(str(answer.status_code))
        assert response is not None, (answer.request.method, answer.request.url.path, answer.status_code)
        media_type, content = next(iter(response["content"].items()))
        assert answer.headers["content-type"].partition(";")[0] == media_type
        if media_type == "application/json":
            self._check_value(content["schema"], answer.json(), answer.request.url.path)
            if answer.status_code != 200:
                assert str(answer.json()["error"]["code"]) in re.findall(r"\d{6}", response["description"])

    def _operation(self, request: httpx.Request) -> Schema | None:
        request_path = request.url.path
        documented = next((path for pattern, path in self._paths if pattern.fullmatch(request_path)), None)
        operation: Schema | None = self._document["paths"].get(documented, {}).get(request.method.lower())
        return operation

    def _check_value(self, schema: Schema, value: object, path: str) -> None:
        if "$ref" in schema:
            schema = self._document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
        if "anyOf" in schema:
            assert schema["anyOf"][1:] == [{"type": "null"}], path
            return None if value is None else self._check_value(schema["anyOf"][0], value, path)
        assert "const" not in schema or value == schema["const"], path
        assert "enum" not in schema or value in schema["enum"], (path, value)
        self._check_type(schema, value, path)
        return None

    def _check_type(self, schema: Schema, value: object, path: str) -> None:
        kind = schema.get("type")
        if kind in {"integer", "number"}:
            assert type(value) is int or (kind == "number" and type(value) is float), (path, value)
        elif kind is not None:
            assert isinstance(value, _TYPES[kind]), (path, value)
        if schema.get("format") == "uuid":
            UUID(str(value))
        if schema.get("format") == "date-time":
            assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", str(value)), (path, value)
        if isinstance(value, list):
            for item in value[:50]:
                self._check_value(schema["items"], item, f"{path}[]")
        if isinstance(value, dict) and "properties" in schema:
            assert schema["additionalProperties"] is False
            assert {*schema["required"]} <= {*value} <= {*schema["properties"]}, path
            for name, item in value.items():
                self._check_value(schema["properties"][name], item, f"{path}.{name}")

"""Replies of a collector, checked against its OpenAPI document."""

from __future__ import annotations

import re
from functools import cache
from typing import Any
from urllib.parse import unquote

import httpx
from jsonschema import Draft202012Validator

from livedeck.collector.serving.openapi import openapi_document


@cache
def _document() -> tuple[dict[str, Any], list[tuple[re.Pattern[str], str]]]:
    document = openapi_document()
    paths = [(re.compile(re.sub(r"\\\{\w+\\\}", ".+", re.escape(path))), path) for path in document["paths"]]
    return document, paths


def check_described(response: httpx.Response) -> None:
    """Raise AssertionError for a reply of a described request with another status, type or schema."""
    document, paths = _document()
    asked, method = unquote(response.request.url.path), response.request.method
    operations = [document["paths"][path].get(method.lower()) for pattern, path in paths if pattern.fullmatch(asked)]
    operation = next(filter(None, operations), None)
    if operation is None:
        return
    described = operation["responses"].get(str(response.status_code))
    assert described, f"{method} {asked}: {response.status_code} is not described: `refuses` of its Endpoint"
    if response.status_code == 304:
        return
    media = response.headers["content-type"].partition(";")[0]
    assert media in described["content"], f"{method} {asked}: {media} is not described"
    if media == "application/json":
        schema = {**described["content"][media]["schema"], "components": document["components"]}
        Draft202012Validator(schema).validate(response.json())

"""The description of the collector's HTTP. Replies of the other tests are checked against it (described.py)."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

from collector.service import service
from livedeck.cli import main
from livedeck.collector.protocol.questions import QUESTIONS, QuestionError
from livedeck.collector.serving.endpoints import Endpoint
from livedeck.collector.serving.openapi import endpoints, openapi_document
from livedeck.monitor import History

ENDPOINTS = {f"{endpoint.method} {endpoint.path}": endpoint for endpoint in endpoints()}


def test_the_printed_document_is_valid() -> None:
    printed = CliRunner().invoke(main, ["docs", "openapi"])
    assert printed.exit_code == 0
    assert [*OpenAPIV31SpecValidator(json.loads(printed.output)).iter_errors()] == []


@pytest.mark.parametrize("name", ENDPOINTS)
def test_a_request_is_described(name: str) -> None:
    endpoint: Endpoint[object] = ENDPOINTS[name]
    assert endpoint.handler.__doc__, f"{name}: a docstring of {endpoint.handler.__name__}"
    assert all(parameter.words for parameter in endpoint.parameters), f"{name}: the words of its parameters"


def test_each_request_is_an_operation_of_its_own() -> None:
    operations = [operation for path in openapi_document()["paths"].values() for operation in path.values()]
    assert len({operation["operationId"] for operation in operations}) == len(operations) == len(ENDPOINTS)


def test_the_right_of_the_token_is_stated() -> None:
    paths = openapi_document()["paths"]
    assert paths["/v1/unit"]["post"]["security"] == [{"token": ["act"]}]
    assert paths["/healthz"]["get"]["security"] == []


@pytest.mark.parametrize(
    ("path", "methods"),
    [
        ("/v1/snapshot", {"GET", "HEAD"}),
        ("/v1/silences", {"GET", "HEAD", "POST"}),
        ("/v1/silences/s-18621de9", {"POST", "DELETE"}),
    ],
)
async def test_a_wrong_method_is_refused_with_the_right_ones(path: str, methods: set[str]) -> None:
    async with service() as made:
        answered = await made.ask(path, method="PATCH")
        assert (answered.status_code, set(answered.headers["allow"].split(", "))) == (405, methods)


def _silence(**matcher: str) -> dict[str, Any]:
    return {"matchers": [matcher], "seconds": 60, "comment": "test", "preview": True}


MARKER = {"event_id": "one", "at": "2026-11-20T20:00:00Z", "text": "encore"}
INTEREST = {"deck": "d1", "ttl": 10}


@pytest.mark.parametrize(
    ("request_line", "fits", "body"),
    [
        ("POST /v1/silences", True, _silence(field="severity", value="info")),
        ("POST /v1/silences", True, _silence(field="severity", op="~", value="w*")),
        ("POST /v1/silences", False, _silence(field="severity", value="loud")),
        ("POST /v1/silences", True, _silence(field="name", value="x" * 500)),
        ("POST /v1/silences", False, _silence(field="name", value="x" * 501)),
        ("POST /v1/silences", False, _silence(field="name", value="Gala", also="this")),
        ("POST /v1/audit", True, {"marker": MARKER}),
        ("POST /v1/audit", False, {"marker": {**MARKER, "colour": "red"}}),
        ("PUT /v1/interest", True, {**INTEREST, "lists": [["rooms", "", ""]]}),
        ("PUT /v1/interest", False, {**INTEREST, "lists": [["cues", "", ""]]}),
    ],
)
async def test_a_body_fits_the_document_if_the_collector_takes_it(
    request_line: str, fits: bool, body: dict[str, Any], tmp_path: Path
) -> None:
    method, path = request_line.split()
    document = openapi_document()
    schema = document["paths"][path][method.lower()]["requestBody"]["content"]["application/json"]["schema"]
    assert Draft202012Validator({**schema, "components": document["components"]}).is_valid(body) is fits
    history = await History.open(tmp_path / "history.sqlite", datetime(2026, 11, 20, tzinfo=UTC))
    async with service(history=history) as made:
        assert (await made.ask(path, method=method, body=body)).status_code == (200 if fits else 422)
    await history.close()


TEXTS = ("0.5", "1795966956", "-1", "-2", "0", "1", "100000", "100001", "1e12", "gala", "2026-11-20T20:00:00Z")


@pytest.mark.parametrize(
    ("question", "name"), [(each.name, name) for each in QUESTIONS.values() for name in each.parameters]
)
def test_a_question_takes_the_values_that_the_document_describes_and_no_others(question: str, name: str) -> None:
    adapter, is_json = QUESTIONS[question].parameters[name]
    if is_json:
        return
    for text in TEXTS:
        try:
            QUESTIONS[question].value(name, text)
            is_taken = True
        except QuestionError:
            is_taken = False
        assert is_taken is _fits(adapter.json_schema(), text), f"{name}={text}"


def _fits(schema: dict[str, Any], text: str) -> bool:
    if schema.get("format") == "date-time":
        return "T" in text
    is_number = schema.get("type") in {"integer", "number"}
    try:
        return bool(Draft202012Validator(schema).is_valid(json.loads(text) if is_number else text))
    except ValueError:
        return False

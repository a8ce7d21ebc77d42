"""The description of the collector's HTTP. Replies of the other tests are checked against it (described.py)."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner
from openapi_spec_validator import OpenAPIV31SpecValidator

from collector.service import service
from livedeck.cli import main
from livedeck.collector.serving.endpoints import Endpoint
from livedeck.collector.serving.openapi import endpoints, openapi_document

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


async def test_a_wrong_method_is_refused_with_the_right_ones() -> None:
    async with service() as made:
        answered = await made.ask("/v1/snapshot", method="DELETE")
        assert (answered.status_code, set(answered.headers["allow"].split(", "))) == (405, {"GET", "HEAD"})

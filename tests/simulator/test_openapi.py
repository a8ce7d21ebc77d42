"""OpenAPI document at /openapi.json. Replies in all other tests are checked against it (openapi_checker.py)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import jsonschema_rs
import pytest

from livedeck.simulator.api import ENDPOINTS
from livedeck.simulator.models import Schema
from livedeck.simulator.openapi import openapi_document
from livedeck.simulator.rehearsal.control_api import ENDPOINTS as CONTROL
from simulator.http_client import openapi_checker
from simulator.openapi_examples import FILE, make_examples


async def test_it_needs_no_token_and_names_every_endpoint(api: httpx.AsyncClient) -> None:
    answer = await api.get("/openapi.json", headers={"Authorization": ""})
    document = answer.json()
    assert document["openapi"] == "3.1.0"
    described = {(verb.upper(), path) for path, verbs in document["paths"].items() for verb in verbs}
    assert described == {(endpoint.method, endpoint.path) for endpoint in ENDPOINTS}
    assert len(described) == 44


OPERATIONS = """
list_posters GET /v1/videos/{video_id}/posters
create_poster POST /v1/videos/{video_id}/posters
read_poster GET /v1/videos/{video_id}/posters/{poster_id}
delete_poster DELETE /v1/videos/{video_id}/posters/{poster_id}
activate_poster POST /v1/videos/{video_id}/posters/{poster_id}/active
upload_poster POST /upload/v2/poster
list_subtitles GET /v1/videos/{video_id}/subtitles
upload_subtitle POST /v1/videos/{video_id}/subtitles
recognise_subtitles POST /v1/videos/{video_id}/subtitles/auto
reorder_subtitles PATCH /v1/videos/{video_id}/subtitles/reorder
read_subtitle GET /v1/videos/{video_id}/subtitles/{subtitle_id}
update_subtitle PATCH /v1/videos/{video_id}/subtitles/{subtitle_id}
delete_subtitle DELETE /v1/videos/{video_id}/subtitles/{subtitle_id}
copy_subtitle POST /v1/videos/{video_id}/subtitles/{subtitle_id}/copy
list_annotations GET /v1/videos/{video_id}/annotations
create_annotation POST /v1/videos/{video_id}/annotations
read_annotation GET /v1/videos/{video_id}/annotations/{annotation_id}
update_annotation PUT /v1/videos/{video_id}/annotations/{annotation_id}
delete_annotation DELETE /v1/videos/{video_id}/annotations/{annotation_id}
upload_material POST /upload/additional-material
link_material GET /v1/additional-materials/{material_id}/link
update_material PUT /v1/additional-materials/{material_id}
delete_material DELETE /v1/additional-materials/{material_id}
reorder_materials PATCH /v1/additional-materials/reorder
list_events GET /v2/live/events
create_event POST /v2/live/events
read_event GET /v2/live/events/{event_id}
update_event PUT /v2/live/events/{event_id}
delete_event DELETE /v2/live/events/{event_id}
enable_event PUT /v2/live/events/{event_id}/enable
complete_event PUT /v2/live/events/{event_id}/complete
move_event PUT /v2/live/events/{event_id}/move
schedule_stream POST /v2/live/events/{event_id}/stream
reschedule_stream PUT /v2/live/events/{event_id}/stream
list_recordings GET /v2/live/events/{event_id}/videos
read_qos GET /v2/live/events/{event_id}/qos
read_chat_json GET /v2/live/events/{event_id}/stream/{stream_id}/chat.json
read_chat_csv GET /v2/live/events/{event_id}/stream/{stream_id}/chat.csv
read_chat_text GET /v2/live/events/{event_id}/stream/{stream_id}/chat.txt
create_room POST /v1/meet/rooms
list_rooms GET /v1/meet/rooms
read_room GET /v1/meet/rooms/{room_id}
delete_room DELETE /v1/meet/rooms/{room_id}
update_profile PATCH /v1/meet/rooms/{room_id}/restreams/{restream_id}
"""
VERBS = {
    *("activate", "complete", "copy", "create", "delete", "enable", "link", "list", "move"),
    *("read", "recognise", "reorder", "reschedule", "schedule", "update", "upload"),
}


def test_every_operation_has_a_name_of_its_own_of_a_verb_and_its_object() -> None:
    described = {
        operation["operationId"]: f"{method.upper()} {path}"
        for path, methods in openapi_document(ENDPOINTS)["paths"].items()
        for method, operation in methods.items()
    }
    assert described == dict(row.split(" ", 1) for row in OPERATIONS.strip().splitlines())
    for name in described:
        verb, *noun = name.split("_")
        assert verb in VERBS, name
        assert noun, name
        assert not VERBS & {*noun}, name


def test_every_operation_says_what_it_does_and_belongs_to_a_described_tag() -> None:
    document = openapi_document(ENDPOINTS)
    tags = {tag["name"]: tag["description"] for tag in document["tags"]}
    for operation in operations(document):
        assert operation["summary"].endswith(".")
        assert tags[operation["tags"][0]].endswith(".")


async def test_the_server_is_the_address_that_the_caller_used(api: httpx.AsyncClient) -> None:
    document = (await api.get("/openapi.json", headers={"Host": "stage.example:9000"})).json()
    assert document["servers"] == [{"url": "http://stage.example:9000"}]


def test_a_conflict_is_described_with_its_reasons() -> None:
    reasons = {
        operation["operationId"]: operation["responses"]["409"]["description"]
        for operation in operations(openapi_document(ENDPOINTS))
        if "409" in operation["responses"]
    }
    assert {*reasons} == {"update_event", "enable_event", "schedule_stream", "reschedule_stream", "update_profile"}
    assert all(len(reason.split()) > 3 for reason in reasons.values())


def test_each_enum_is_written_once() -> None:
    """A generator of clients makes one type of each enum that it meets."""
    enums = [tuple(schema["enum"]) for schema in schemas(openapi_document(ENDPOINTS)) if "enum" in schema]
    ours = [enum for enum in enums if enum not in {("asc", "desc")}]
    assert sorted({*ours}) == sorted(ours)


async def test_the_examples_are_what_the_seeded_workspace_answers() -> None:
    """`python tests/simulator/openapi_examples.py` renews them."""
    assert json.loads(FILE.read_text("utf-8")) == await make_examples()


def test_every_operation_has_an_example_that_fits_its_own_schema() -> None:
    """The answer, the body and each parameter."""
    document = openapi_document(ENDPOINTS)
    components = {"components": document["components"]}
    for operation in operations(document):
        contents = [operation["responses"]["200"], *([body] if (body := operation.get("requestBody")) else [])]
        for content in contents:
            for media in content["content"].values():
                if media["schema"].get("format") != "binary":
                    jsonschema_rs.validate(media["schema"] | components, media["example"])
        for parameter in operation["parameters"]:
            if "example" in parameter:
                jsonschema_rs.validate(parameter["schema"] | components, parameter["example"])
            assert "example" in parameter or not parameter["required"], operation["operationId"]


def operations(document: Schema) -> list[Schema]:
    return [operation for methods in document["paths"].values() for operation in methods.values()]


def schemas(value: Any) -> Iterator[Schema]:
    """Yield every object inside a value, because each may be a schema."""
    if isinstance(value, dict):
        yield value
        value = [child for name, child in value.items() if name != "example"]
    if isinstance(value, list):
        for child in value:
            yield from schemas(child)


async def test_an_undocumented_answer_would_be_seen(api: httpx.AsyncClient) -> None:
    """The check itself: a field too few, a wrong type and an unknown code are noticed."""
    events = (await api.get("/v2/live/events")).json()
    event = events["data"][0]
    request = httpx.Request("GET", f"http://platform.test/v2/live/events/{event['id']}")
    for status, body in (
        (200, {"data": {name: event[name] for name in event if name != "name"}}),
        (200, {"data": event | {"extra": 1}}),
        (200, {"data": event | {"reconnect_window": "600"}}),
        (200, {"data": event | {"created_at": "yesterday"}}),
        (400, {"error": {"code": 400289, "message": "no"}}),
        (418, {}),
    ):
        with pytest.raises(AssertionError):
            openapi_checker().check(httpx.Response(status, json=body, request=request))


async def test_the_control_api_describes_all_its_routes_to_whoever_has_its_token(
    admin: httpx.AsyncClient, api: httpx.AsyncClient
) -> None:
    document = (await admin.get("/_control/openapi.json")).json()
    described = {(method.upper(), path) for path, methods in document["paths"].items() for method in methods}
    assert described == {(endpoint.method, endpoint.path) for endpoint in CONTROL if not endpoint.path.endswith("/")}
    names = [operation["operationId"] for operation in operations(document)]
    assert sorted({*names}) == sorted(names)
    assert (await api.get("/_control/openapi.json")).status_code == 403


def test_where_one_of_several_fields_is_needed_the_schema_says_so() -> None:
    encoder = openapi_document(CONTROL)["components"]["schemas"]["EncoderArguments"]
    assert jsonschema_rs.is_valid(encoder, {"shape": "clean"})
    assert not jsonschema_rs.is_valid(encoder, {})
    event = openapi_document(ENDPOINTS)
    update = event["components"]["schemas"]["EventUpdate"] | {"components": event["components"]}
    assert jsonschema_rs.is_valid(update, {"title": "Gala"})
    assert not jsonschema_rs.is_valid(update, {"title": "Gala", "name": "Gala"})

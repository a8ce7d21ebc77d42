"""Every field table and every envelope of platform-api.md is read whole and written back equal."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from client.answers import api_of, saying
from client.documented import AT, ID, TABLES
from client.test_events import DOCUMENTED as EVENT
from livedeck.client import Api, Event, Material, Model, Page, Poster, RelayDraft, RelayProfile, Room, Subtitle, Unknown
from livedeck.client.http.encoding import encode

EVERY: dict[type[Model], dict[str, Any]] = TABLES | {
    Event: EVENT | {"stream": TABLES[next(model for model in TABLES if model.__name__ == "Stream")]}
}
tables = pytest.mark.parametrize("model", EVERY, ids=lambda model: model.__name__)


def back(model: Model) -> Any:
    """Return the JSON that the model was read from."""
    return json.loads(encode(model.model_dump(exclude_unset=True)))


@tables
def test_a_model_has_the_fields_of_its_table_and_no_other(model: type[Model]) -> None:
    assert set(model.model_fields) == EVERY[model].keys()


@tables
def test_an_object_is_written_back_as_it_was_read(model: type[Model]) -> None:
    assert back(model.model_validate(EVERY[model])) == EVERY[model]


@tables
def test_what_the_document_does_not_name_is_kept(model: type[Model]) -> None:
    sent = EVERY[model] | {"mood": {"blue": [1, None]}, "status": "resting"}
    assert back(model.model_validate(sent)) == sent


@tables
def test_missing_and_null_are_read_and_stay_what_they_were(model: type[Model]) -> None:
    """Missing is not zero, and not null either. What can be asked for has an id."""
    needed = {"id": "x"} if model.model_fields["id"].is_required() else {}
    assert back(model.model_validate(needed)) == needed
    nulls = dict.fromkeys(EVERY[model]) | needed
    assert back(model.model_validate(nulls)) == nulls


@tables
def test_a_secret_of_the_document_is_masked_in_what_is_shown(model: type[Model]) -> None:
    read = model.model_validate(EVERY[model])
    shown = f"{read} {read!r} {read.model_dump_json()} {read.model_dump()}"
    assert not [word for word in ("key-of-the", "signature-of", "live-key", "9c1d-link") if word in shown]


envelope = {"pagination": {"page": 1, "per_page": 20, "total": 1}, "order": {"created_at": "desc"}}


@pytest.mark.parametrize(
    ("call", "model"),
    [
        (lambda api: api.posters.list("v"), Poster),
        (lambda api: api.subtitles.list("v"), Subtitle),
        (lambda api: api.rooms.list(), Room),
    ],
)
async def test_a_list_is_read_with_its_pagination_and_order(
    call: Callable[[Api], Awaitable[Page[Model]]], model: type[Model]
) -> None:
    """platform-api.md, "Response envelope"."""
    async with api_of(saying({"meta": envelope, "data": [EVERY[model]]})) as api:
        page = await call(api)
    assert (page.page, page.per_page, page.total, page.order) == (1, 20, 1, {"created_at": "desc"})
    assert [back(item) for item in page.items] == [EVERY[model]]


async def test_a_change_of_a_relay_answers_the_profile_and_not_the_room() -> None:
    """platform-api.md, "Resources"."""
    async with api_of(saying({"data": EVERY[RelayProfile]})) as api:
        assert back(await api.relays.update("r", "p", RelayDraft(name="B"))) == EVERY[RelayProfile]


async def test_recognition_answers_a_list_of_pending_tracks() -> None:
    """platform-api.md, "Subtitles": at once, with empty data and an empty url."""
    pending = EVERY[Subtitle] | {"status": "pending", "data": {}, "url": "", "file_name": None}
    async with api_of(saying({"data": [pending, pending]})) as api:
        tracks = await api.subtitles.generate("v", ["en", "de"])
    assert [back(track) for track in tracks] == [pending, pending]
    assert str(tracks[0].url) == ""


async def test_a_track_that_was_uploaded_has_eight_fields_and_no_status() -> None:
    first = dict(list(EVERY[Subtitle].items())[:8])
    async with api_of(saying({"data": first})) as api:
        track = await api.subtitles.copy("v", "s")
    assert track.status is None
    assert back(track) == first


@pytest.mark.parametrize("admin", ["true", "false", True, False])
async def test_an_administrator_is_told_in_a_string(admin: object) -> None:
    async with api_of(saying({"data": [{"id": ID, "is_admin": admin, "cteated_at_local": AT}]})) as api:
        [message] = [each async for each in api.chat.messages("e", "s")]
    assert message.is_admin == admin
    assert message.by_admin is (admin in {"true", True})


@pytest.mark.parametrize(
    "call",
    [
        lambda api: api.posters.create("v", 1.5),
        lambda api: api.posters.upload_for_video("v", "https://cdn.example.com/a.png"),
        lambda api: api.posters.upload_for_event("e", "https://cdn.example.com/a.png"),
    ],
)
async def test_an_answer_that_the_document_does_not_show_is_taken_where_it_comes(
    call: Callable[[Api], Awaitable[Poster | None]],
) -> None:
    for body, poster in [({"data": {"id": "p"}}, Poster(id="p")), ({}, None), (b"", None), ({"data": None}, None)]:
        async with api_of(saying(body)) as api:
            assert await call(api) == poster


@pytest.mark.parametrize("body", [b"", {}, {"data": None}, {"data": {"success": True}}, [], "ok"])
async def test_any_answer_to_a_deed_is_a_yes(body: object) -> None:
    """platform-api.md, "Operations": the body is ignored."""
    async with api_of(saying(body)) as api:
        await api.events.enable("e")


async def test_but_not_one_that_says_no() -> None:
    async with api_of(saying({"data": {"success": False}})) as api:
        with pytest.raises(Unknown, match=r"data\.success is false; the change may or may not have been made"):
            await api.events.delete("e")


async def test_the_link_of_a_material_opens_and_shows_no_signature() -> None:
    address = f"https://cdn.example.com/{Material.__name__}?expires=1&sign=signature-of-the-link"
    async with api_of(saying({"data": {"link": address}})) as api:
        link = await api.materials.link("m")
    assert link.reveal() == address
    assert str(link) == "https://cdn.example.com/••••?••••"


@pytest.mark.parametrize(
    "address", ["https://user:signature-of@cdn.example.com/a", "https://cdn.example.com/a#signature-of", "signature-of"]
)
async def test_a_link_shows_none_of_its_parts_that_may_let_in(address: str) -> None:
    async with api_of(saying({"data": {"link": address}})) as api:
        assert "signature-of" not in str(await api.materials.link("m"))

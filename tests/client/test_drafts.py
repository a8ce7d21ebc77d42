"""Drafts beyond the documented limits are refused before a request; only fields that were set are sent."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from client.answers import Recorder, api_of
from client.calls import VTT
from livedeck.client import (
    AnnotationDraft,
    AnnotationFields,
    Api,
    Draft,
    EventDraft,
    EventFields,
    EventRestreamDraft,
    EventRestreamFields,
    Invalid,
    NewAnnotationFields,
    NewEventFields,
    NewRelayFields,
    NewRoomFields,
    RecordDraft,
    RecordFields,
    RelayDraft,
    RelayFields,
    RoomDraft,
    ScheduleDraft,
    ScheduleFields,
    Secret,
    SubtitleDraft,
    SubtitleFields,
    VideoDraft,
    VideoFields,
)

ANY: Any = None
KEY = Secret("k")


def relay(**changed: Any) -> RelayDraft:
    whole: dict[str, Any] = {"name": "A", "url": "rtmp://a.example/live", "stream_key": KEY}
    return RelayDraft(**whole | changed)


@pytest.mark.parametrize(
    ("make", "field", "limit"),
    [
        (lambda: relay(name=""), "name", "should have 1 to 128 characters, not 0"),
        (lambda: relay(name="n" * 129), "name", "should have 1 to 128 characters, not 129"),
        (lambda: relay(name=None), "name", "should be a valid string, not null"),
        (lambda: relay(stream_key=Secret("")), "stream_key", "should have 1 to 512 characters, not 0"),
        (lambda: relay(stream_key=Secret("k" * 513)), "stream_key", "should have 1 to 512 characters, not 513"),
        (lambda: relay(url="https://a.example"), "url", "should be an rtmp:// or rtmps:// address"),
        (lambda: relay(url="rtmp://"), "url", "should be an rtmp:// or rtmps:// address"),
        (lambda: relay(url="rtmp://[a"), "url", "should be an rtmp:// or rtmps:// address"),
        (lambda: relay(service="custom"), "service", "must not be sent"),
        (lambda: RoomDraft(name="Studio", owner_id=ANY), "owner_id", "should be a valid string, not null"),
        (
            lambda: RoomDraft(name="Studio"),  # type: ignore[call-arg]
            "owner_id",
            "is required",
        ),
        (lambda: EventDraft(type=ANY), "type", "should be 'recurring' or 'one-time'"),
        (lambda: EventDraft(name=""), "name", "should have at least 1 character"),
        (lambda: EventDraft(latency_mode="low"), "latency_mode", "should be 'standard' or 'reduced'"),  # type: ignore[arg-type]
        (lambda: EventDraft(auto_start=ANY), "auto_start", "should be a valid boolean, not null"),
        (lambda: EventDraft(reconnect_window=True), "reconnect_window", "should be a valid integer, not a boolean"),
        (lambda: ScheduleDraft(time=datetime(2026, 11, 21)), "time", "should have a time zone"),  # noqa: DTZ001
        (lambda: SubtitleDraft(language="xx"), "language", "should be an ISO 639-1 code (`en`)"),
        (lambda: SubtitleDraft(language="EN"), "language", "should be an ISO 639-1 code (`en`)"),
        (lambda: AnnotationDraft(start_time=1.5), "start_time", "should be a valid integer, not a number"),  # type: ignore[arg-type]
    ],
)
def test_a_draft_names_the_field_and_its_limit(make: Callable[[], Draft], field: str, limit: str) -> None:
    with pytest.raises(Invalid) as caught:
        make()
    assert (caught.value.field, caught.value.limit) == (field, limit)
    assert str(caught.value).endswith(f"draft: {field} {limit}")


def test_a_preset_that_the_document_does_not_list_is_named_with_its_place() -> None:
    with pytest.raises(Invalid) as caught:
        VideoDraft(presets=("360p", "4k"))  # type: ignore[arg-type]
    assert caught.value.field == "presets[1]"
    assert "'2160p'" in caught.value.limit


@pytest.mark.parametrize("length", [1, 128])
def test_a_name_at_the_edge_of_its_limit_is_taken(length: int) -> None:
    assert relay(name="n" * length, stream_key=Secret("k" * 4 * length)).name == "n" * length


@pytest.mark.parametrize(
    "call",
    [
        lambda api: api.rooms.create(RoomDraft(owner_id="o", name="Studio", restreams=(relay(),) * 16)),
        lambda api: api.rooms.create(RoomDraft(owner_id="o", name="Studio", restreams=(RelayDraft(name="A"),))),
        lambda api: api.events.create(EventDraft(name="Show")),
        lambda api: api.events.create(EventDraft(type="one-time")),
        lambda api: api.events.update("x", EventDraft(type="one-time")),
        lambda api: api.annotations.create("v", AnnotationDraft(title="Look")),
        lambda api: api.annotations.update("v", "a", AnnotationDraft(type="text")),
        lambda api: api.streams.schedule("x", datetime(2026, 11, 21)),  # noqa: DTZ001
        lambda api: api.streams.reschedule("x", datetime(2026, 11, 21)),  # noqa: DTZ001
        lambda api: api.posters.create("v", float("nan")),
        lambda api: api.posters.create("v", float("inf")),
        lambda api: api.subtitles.generate("v", ["en", "xx"]),
        lambda api: api.subtitles.generate("v", []),
        lambda api: api.subtitles.reorder("v", []),
        lambda api: api.subtitles.reorder("v", ["a", "b", "a"]),
        lambda api: api.materials.reorder(["a", ""]),
    ],
)
async def test_what_the_document_does_not_allow_never_leaves(call: Callable[[Api], Any]) -> None:
    platform = Recorder({"data": {"id": "x"}})
    async with api_of(platform) as api:
        with pytest.raises(Invalid):
            await call(api)
    assert not platform.requests


async def test_a_profile_that_lacks_a_field_is_named_by_its_place() -> None:
    async with api_of(Recorder({})) as api:
        with pytest.raises(Invalid) as caught:
            await api.rooms.create(RoomDraft(owner_id="o", name="S", restreams=(relay(), RelayDraft(name="B"))))
    assert (caught.value.field, caught.value.limit) == ("restreams[1].url", "is required")


async def test_fifteen_profiles_are_sent_and_their_keys_in_clear() -> None:
    """platform-api.md, "Limits"."""
    profile = relay(url="  rtmp://a.example/ live/ / ", stream_key=Secret("key-of-the-relay"))
    sent = await body_of(lambda api: api.rooms.create(RoomDraft(owner_id="o", name="S", restreams=(profile,) * 15)))
    assert sent == {
        "owner_id": "o",
        "name": "S",
        "type": "permanent_meeting",
        "restreams": [{"name": "A", "url": "rtmp://a.example/live", "stream_key": "key-of-the-relay"}] * 15,
    }


async def body_of(call: Callable[[Api], Any]) -> Any:
    platform = Recorder({"data": {"id": "x"}})
    async with api_of(platform) as api:
        await call(api)
    return json.loads(platform.bodies[0])


async def test_an_update_sends_only_what_was_set_and_null_where_null_was_set() -> None:
    draft = EventDraft(parent_id=None, scheduled=ScheduleDraft(time=None), record=RecordDraft(), chat_active=False)
    sent = await body_of(lambda api: api.events.update("x", draft))
    assert sent == {"parent_id": None, "scheduled": {"time": None}, "record": {}, "chat_active": False}


async def test_a_new_event_is_sent_as_the_document_describes_it() -> None:
    draft = EventDraft(
        name="Evening show",
        type="recurring",
        reconnect_window=600,
        scheduled=ScheduleDraft(time=datetime(2026, 11, 21, 18, tzinfo=UTC)),
        video=VideoDraft(presets=("360p", "2160p")),
        restreams=(EventRestreamDraft(name="E", url="rtmps://e.example/app/", key=Secret("k1"), enabled=False),),
        latency_mode="reduced",
    )
    assert await body_of(lambda api: api.events.create(draft)) == {
        "name": "Evening show",
        "type": "recurring",
        "reconnect_window": 600,
        "scheduled": {"time": "2026-11-21T18:00:00.000000Z"},
        "video": {"presets": ["360p", "2160p"]},
        "restreams": [{"name": "E", "url": "rtmps://e.example/app", "key": "k1", "enabled": False}],
        "latency_mode": "reduced",
    }


async def test_a_relay_is_changed_field_by_field() -> None:
    """platform-api.md, "Live events": omitted fields stay; `service` is never sent."""
    assert await body_of(lambda api: api.relays.update("r", "p", RelayDraft(name="B"))) == {"name": "B"}


async def test_an_annotation_carries_its_video_in_the_body() -> None:
    sent = await body_of(lambda api: api.annotations.create("v", AnnotationDraft(type="text", start_time=0)))
    assert sent == {"video_id": "v", "type": "text", "start_time": 0}


async def test_a_list_of_ids_is_sent_as_it_is() -> None:
    assert await body_of(lambda api: api.subtitles.reorder("v", ["b", "a"])) == ["b", "a"]


async def test_a_time_is_sent_in_utc_with_its_fraction() -> None:
    moment = datetime.fromisoformat("2026-11-21T21:00:00.25+03:00")
    sent = await body_of(lambda api: api.streams.schedule("x", moment))
    assert sent == {"started_at": "2026-11-21T18:00:00.250000Z"}


def test_a_draft_shows_the_names_of_what_was_set_and_no_value() -> None:
    assert repr(relay(name="secret-name")) == "RelayDraft('name', 'stream_key', 'url')"
    assert VTT.decode() not in repr(relay())


FIELDS: list[tuple[type[Draft], tuple[type, ...], set[str]]] = [
    (EventDraft, (EventFields, NewEventFields), set()),
    (EventRestreamDraft, (EventRestreamFields,), set()),
    (ScheduleDraft, (ScheduleFields,), set()),
    (RecordDraft, (RecordFields,), set()),
    (VideoDraft, (VideoFields,), set()),
    (AnnotationDraft, (AnnotationFields, NewAnnotationFields), {"video_id"}),  # the name of an argument
    (RoomDraft, (NewRoomFields,), set()),
    (RelayDraft, (RelayFields, NewRelayFields), set()),
    (SubtitleDraft, (SubtitleFields,), set()),
]


@pytest.mark.parametrize(("draft", "fields", "missing"), FIELDS, ids=lambda value: getattr(value, "__name__", ""))
def test_names_that_a_call_takes_are_those_of_its_draft(
    draft: type[Draft], fields: tuple[type, ...], missing: set[str]
) -> None:
    named = {name for each in fields for name in each.__annotations__}
    assert named == set(draft.model_fields) - missing


async def test_a_call_by_name_is_checked_by_the_type_checker_and_at_run_time() -> None:
    """mypy fails for a comment below that it does not need, so each of them is an error that it finds."""
    platform = Recorder({"data": {"id": "x"}})
    calls: list[Callable[[Api], Any]] = [
        lambda api: api.events.create(nam="x", type="one-time"),  # type: ignore[call-overload]
        lambda api: api.events.create(name="x", type="weekly"),  # type: ignore[call-overload]
        lambda api: api.events.create(name="x"),  # type: ignore[call-overload]
        lambda api: api.events.update("e", type="one-time"),  # type: ignore[call-arg]
        lambda api: api.events.update("e", reconnect_window="long"),  # type: ignore[arg-type]
        lambda api: api.events.update("e", video={"presets": ["8k"]}),  # type: ignore[arg-type]
        lambda api: api.annotations.create("v", title="x"),  # type: ignore[call-overload]
        lambda api: api.annotations.update("v", "a", type="text"),  # type: ignore[call-arg]
        lambda api: api.rooms.create(owner_id="o", name="r", restreams=[{"name": "n"}]),  # type: ignore[list-item]
        lambda api: api.relays.update("r", "p", key="k"),  # type: ignore[call-arg]
        lambda api: api.subtitles.update("v", "s", languages="en"),  # type: ignore[call-arg]
    ]
    async with api_of(platform) as api:
        for call in calls:
            with pytest.raises(Invalid):
                await call(api)
    assert not platform.requests

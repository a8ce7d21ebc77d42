"""Laws of the names on a command line: the best fit alone counts, and a token tells a change from the same object."""

from __future__ import annotations

import re
from typing import Any

import pytest

from client.answers import api_of, saying
from livedeck.client import Event, Incomplete, Room
from livedeck.monitor import KnownMaterial
from livedeck.operations.nouns import MAX_LISTED, NOUNS, Found, NotMatched, match, read_again

ROOMS = tuple(
    Room(id=identity, name=name)
    for identity, name in (("a7e1", "Hall"), ("b2c4", "hall"), ("c9d3", "Hall B"), ("hall", "Studio"), ("e5f6", None))
)


def found(words: str, rooms: tuple[Room, ...] = ROOMS) -> Room:
    """Return the room that the words name."""
    room: Room = match(rooms, words, "room", lambda room: room.name or "")
    return room


def refusal(words: str, rooms: tuple[Room, ...] = ROOMS) -> str:
    """Return the error for words that name no room, or several."""
    with pytest.raises(NotMatched) as error:
        found(words, rooms)
    return str(error.value)


@pytest.mark.parametrize(
    ("words", "identity"),
    [
        ("hall", "hall"),  # an id before two names
        (" HALL ", "hall"),
        ("Hall", "hall"),
        ("c9D3", "c9d3"),
        ("HALL B", "c9d3"),
        ("studio", "hall"),
        ("b2", "b2c4"),
        ("stu", "hall"),
        ("e5", "e5f6"),
    ],
)
def test_words_name_what_fits_best_by_id_then_name_then_the_beginning_of_either(words: str, identity: str) -> None:
    assert found(words).id == identity


def test_a_name_in_its_own_case_is_a_better_fit_than_one_in_another() -> None:
    assert [found(words, ROOMS[:3]).id for words in ("Hall", "hall")] == ["a7e1", "b2c4"]
    assert "'HALL' fits 2 rooms; name one by its id:\n  a7e1  Hall\n  b2c4  hall" in refusal("HALL", ROOMS[:3])


@pytest.mark.parametrize("words", ["", " ", "None", "none"])
def test_what_has_no_id_or_no_name_is_named_by_no_words(words: str) -> None:
    nameless = (Room.model_construct(id=None, name="Hall"), Room(id="e5f6", name=None))
    assert "no room is called" in refusal(words, nameless)


def test_of_many_that_fit_some_are_listed_and_all_are_counted() -> None:
    rooms = tuple(Room(id=f"{number:04}", name=f"Twin {number}") for number in range(MAX_LISTED + 3))
    first, *listed, rest = refusal("twin", rooms).splitlines()
    assert first == f"'twin' fits {len(rooms)} rooms by the beginning of name or id; name one by its id:"
    assert (len(listed), rest) == (MAX_LISTED, "  and 3 more")


def test_words_that_fit_nothing_are_answered_with_up_to_three_similar_names_or_the_list() -> None:
    rooms = tuple(Room(id=f"{number:04}", name=f"Hall {number}") for number in range(5))
    advice = refusal("Hal 1", rooms).partition("did you mean ")[2]
    assert len(advice.split(" or ")) == 3
    assert advice.startswith("'Hall 1'")
    assert refusal("Orchestra", rooms).endswith("; `livedeck room list` lists them all")


def test_a_similar_name_is_followed_by_its_id_if_letters_of_it_are_hidden() -> None:
    rooms = (Room(id="plain-1", name="Hall A"), Room(id="hidden-1", name="Hall\u200b B"))
    advice = refusal("Halls A", rooms).partition("did you mean ")[2]
    assert "plain-1" not in advice
    assert "(hidden-1)" in advice


# Tokens

DOCUMENT: dict[str, Any] = {
    "id": "4f6a",
    "name": "Show",
    "scheduled": {"time": "2026-11-21T18:30:00Z", "mood": "good"},
    "restreams": [{"id": "r", "name": "Out", "url": "rtmp://out.example/a", "key": "k", "enabled": True}],
    "later": 1,
    "unheard_of": 2,
}


def turned(value: Any) -> Any:
    """Return the same document, with the members of each object in another order."""
    if isinstance(value, dict):
        return {name: turned(value[name]) for name in reversed(value)}
    return [turned(item) for item in value] if isinstance(value, list) else value


def test_a_token_is_that_of_the_fields_in_whatever_order_they_come() -> None:
    noun = NOUNS["event"]
    token = noun.fingerprint(Event.model_validate(DOCUMENT))
    assert re.fullmatch("[0-9a-f]{16}", token)
    assert noun.fingerprint(Event.model_validate(turned(DOCUMENT))) == token
    assert noun.fingerprint(Event.model_validate({**DOCUMENT, "name": "Other"})) != token


# Objects


async def test_an_event_without_a_stream_has_none_to_get_and_its_name_or_id_is_said() -> None:
    noun = NOUNS["stream"]
    for event, said in (({"id": "4f6a", "name": "Show"}, "Show"), ({"id": "4f6a"}, "4f6a")):
        async with api_of(saying({"data": event})) as api:
            with pytest.raises(Incomplete, match=f"of event {said}: the event has none"):
                await noun.read(api, None, Event(id="4f6a"))
            assert (await read_again(noun, Found(api, item=Event(id="4f6a")))).item.id == "4f6a"
    async with api_of(saying({"data": {**DOCUMENT, "stream": {"id": "s", "status": "live"}}})) as api:
        assert (await noun.read(api, None, Event(id="4f6a"))).stream.id == "s"
    shown = noun.as_object(Event(id="4f6a", name="Show"))
    assert (shown["id"], shown["status"], shown["event_id"], shown["event"]) == (None, None, "4f6a", "Show")


@pytest.mark.parametrize(("media_type", "shown"), [("", None), ("application/pdf", "application/pdf")])
def test_an_unknown_type_of_a_material_is_null(media_type: str, shown: str | None) -> None:
    row = NOUNS["material"].as_object(KnownMaterial("m", "v", "Notes", "notes.pdf", media_type))
    assert (row["filetype"], row["size"], row["known_since"]) == (shown, None, None)

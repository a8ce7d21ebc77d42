"""Nouns of the platform for programs without a screen, with functions that find, list and read their objects."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import sha256
from types import MappingProxyType
from typing import Any

from livedeck.client import (
    Annotation,
    Api,
    Event,
    EventRestream,
    FieldFault,
    Incomplete,
    Model,
    PagedItems,
    Poster,
    Recording,
    RelayProfile,
    Room,
    Shortfall,
    Stream,
    Subtitle,
    Unreadable,
    collect,
)
from livedeck.monitor import KnownMaterial, Video
from livedeck.presentation.connection import served_text
from livedeck.presentation.rooms import relay_profiles
from livedeck.text.outside import escaped
from livedeck.text.secrets import mask_secrets
from livedeck.text.values import position, safe

MAX_LISTED = 10
"""Maximum number of listed matches, if a name fits several objects."""

Known = Callable[[str], Awaitable[tuple[KnownMaterial, ...]]]
"""Function that returns a video's materials from the history of this machine, because no endpoint lists them."""


_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
"""Pattern of a whole id, which cannot be a name."""


@dataclass(frozen=True, slots=True)
class _Unlisted:
    """Object that no list contains."""

    id: str


@dataclass(frozen=True, slots=True)
class Rows:
    """List that was read. `unreadable`: faults of rows that were left out.

    `shortfall`: rows that were announced and not received; None if the list is complete. `unlisted`: ids of items that
    the list lacks and that were read by id. `unanswered`: number of items that the list lacks and that could not be
    read by id.
    """

    items: tuple[Any, ...] = ()
    unreadable: tuple[FieldFault, ...] = ()
    shortfall: Shortfall | None = None
    unlisted: tuple[str, ...] = ()
    unanswered: int = 0

    def gaps(self, noun: Noun) -> tuple[str, ...]:
        """Return sentences about rows that were left out or not received; empty for a whole list."""
        return (
            *([unreadable_rows_text(noun, self.unreadable)] if self.unreadable else []),
            *([self.shortfall.text(noun.noun)] if self.shortfall else []),
            *([served_text(len(self.items) - len(self.unlisted), len(self.unlisted))] if self.unlisted else []),
            *([_unanswered_text(noun, self.unanswered)] if self.unanswered else []),
        )


def _unanswered_text(noun: Noun, count: int) -> str:
    words = f"{noun.noun} known to be on air is" if count == 1 else f"{noun.noun}s known to be on air are"
    return f"{count} {words} missing from the list: state unknown"


class NotMatched(Exception):  # noqa: N818  read after `except`
    """The typed words fit no object, or several objects equally well. The message lists them."""


@dataclass(frozen=True, slots=True)
class Found:
    """Objects of a command line. `item`: the object.

    `owner`: its event, room or video; None for an object of the workspace. `order`: typed ids of an
    order. `siblings`: all objects of the list that is put in order.
    """

    api: Api
    owner: Any = None
    item: Any = None
    order: tuple[str, ...] = ()
    siblings: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class Noun:
    """Noun of the command line: a kind of object. `name`: word on the command line. `noun`: words in a sentence.

    `arguments`: arguments that name an object, the owner's first. `columns`: columns of a table, as paths in the JSON.
    `called`: returns the name of an object. `read_all`: reads all objects of an owner. `read`: reads an object again.
    `as_object`: returns an object as JSON. `volatile`: fields that change by themselves. `extra_fields`: JSON fields
    that the model lacks, with their JSON Schema. `faults`: returns the unreadable fields of an object. `parent`: noun
    before this noun on the command line: `room` of `room relay`.
    """

    name: str
    noun: str
    arguments: tuple[str, ...]
    columns: tuple[str, ...]
    model: type[Model]
    read_all: Callable[[Api, Any], Awaitable[Rows]]
    read: Callable[[Api, Any, Any], Awaitable[Any]]
    called: Callable[[Any], str]
    as_object: Callable[[Any], dict[str, Any]] = lambda item: dict(item.model_dump(mode="json"))
    volatile: tuple[str, ...] = ()
    extra_fields: Mapping[str, Any] = field(default_factory=dict)
    faults: Callable[[Any], tuple[FieldFault, ...]] = lambda item: getattr(item, "faults", ())
    parent: str = ""

    @property
    def path(self) -> str:
        """Words before the verb in the noun's commands: `event`, `video poster`."""
        return f"{self.parent} {self.name}".strip()

    @property
    def owner(self) -> str:
        """Name of the argument for an object's owner; empty if such objects belong to the workspace."""
        return self.arguments[0] if len(self.arguments) > 1 else ""

    def fingerprint(self, item: Any) -> str:
        """Return a hash of an object's fields, to notice a change (commands.md, "Changes").

        The hash contains secrets only in masked form.
        """
        fields = {name: value for name, value in self.as_object(item).items() if name not in self.volatile}
        return sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()[:16]


def match(items: Iterable[Any], words: str, noun: str, called: Callable[[Any], str]) -> Any:
    """Return the item that fits best: by id, by name, by name in another case, or by the beginning of id or name.

    The words are compared with real names, including invisible characters. Raises NotMatched if no item fits, or if
    several fit equally well. The error lists them.
    """
    items, text = tuple(items), _folded(words.strip())

    def name(item: Any) -> str:
        return _folded(called(item))

    def identity(item: Any) -> str:
        return str(item.id or "").casefold()

    fits: tuple[Callable[[Any], bool], ...] = (
        lambda item: identity(item) == text,
        lambda item: called(item) in {words, words.strip()},
        lambda item: name(item) == text,
        lambda item: identity(item).startswith(text) or name(item).startswith(text),
    )
    for fit in fits if text else ():
        matches = [item for item in items if fit(item)]
        if len(matches) == 1:
            return matches[0]
        if matches:
            how = " by the beginning of name or id" if fit is fits[-1] else ""
            raise NotMatched(_list_matches(words, f"{noun}s{how}", [(str(item.id), called(item)) for item in matches]))
    raise NotMatched(f"no {noun} is called {safe(words, 80)!r}{_similar(text, noun, items, called)}")


def _folded(name: str) -> str:
    """Return a name in the form that is compared: in one case, with composed accents."""
    return unicodedata.normalize("NFC", name.casefold())


def _similar(text: str, noun: str, items: Sequence[Any], called: Callable[[Any], str]) -> str:
    """Return advice after words that fit no item: similar names, or the command that lists all items.

    A name with hidden letters is followed by its id.
    """
    from difflib import get_close_matches

    names = {safe(called(item)).casefold(): item for item in items}
    near = []
    for item in (names[name] for name in get_close_matches(text, names, 3)):
        name = called(item)
        is_plain = escaped(name) == name
        near.append(f"'{safe(escaped(name), 60)}'{'' if is_plain else f' ({safe(str(item.id), 60)})'}")
    return (
        f"; did you mean {' or '.join(near)}?" if near else f"; `livedeck {_LISTS.get(noun, noun)} list` lists them all"
    )


def _list_matches(words: str, nouns: str, matches: Sequence[tuple[str, str]]) -> str:
    lines = [f"  {identity}  {safe(escaped(name), 60)}" for identity, name in matches[:MAX_LISTED]]
    if len(matches) > MAX_LISTED:
        lines.append(f"  and {len(matches) - MAX_LISTED} more")
    return "\n".join([f"{safe(words, 80)!r} fits {len(matches)} {nouns}; name one by its id:", *lines])


async def _all_of(items: PagedItems[Any]) -> Rows:
    """Return every row. A list with neither rows nor the documented total counts as incomplete, not as empty."""
    found = await collect(items)
    is_bare = not found and items.total is None
    return Rows(found, items.unreadable, items.shortfall or (Shortfall() if is_bare else None))


def unreadable_inside(item: Model, name: str) -> tuple[FieldFault, ...]:
    """Return the faults of the field `name` and of its rows that were left out."""
    return tuple(fault for fault in item.faults if re.fullmatch(rf"{name}(\[\d+\])?", fault.field))


async def _events(api: Api, _: Any) -> Rows:
    return await _all_of(api.events.iterate())


async def _events_with_stream(api: Api, _: Any) -> Rows:
    rows = await _events(api, None)
    left_out = [fault for event in rows.items if not event.stream for fault in unreadable_inside(event, "stream")]
    streams = tuple(event for event in rows.items if event.stream)
    return replace(rows, items=streams, unreadable=(*rows.unreadable, *left_out))


async def _event(api: Api, _: Any, event: Event) -> Event:
    return await api.events.get(event.id)


async def _event_with_stream(api: Api, _: Any, event: Event) -> Event:
    found = await api.events.get(event.id)
    if found.stream is None:
        raise Incomplete(f"get stream of event {safe(found.name or found.id, 60)}: the event has none")
    return found


def _stream_object(event: Event) -> dict[str, Any]:
    stream = event.stream or Stream()
    return {**stream.model_dump(mode="json"), "event_id": event.id, "event": event.name}


async def _restreams(api: Api, event: Event) -> Rows:
    found = await api.events.get(event.id)
    return Rows(found.restreams or (), unreadable_inside(found, "restreams"))


def _stream_faults(event: Event) -> tuple[FieldFault, ...]:
    return tuple(fault for fault in event.faults if fault.field.startswith("stream."))


async def _rooms(api: Api, _: Any) -> Rows:
    return await _all_of(api.rooms.iterate())


async def _room(api: Api, _: Any, room: Room) -> Room:
    return await api.rooms.get(room.id)


async def _relays(api: Api, room: Room) -> Rows:
    found = await api.rooms.get(room.id)
    return Rows(relay_profiles(found), unreadable_inside(found, "restreams"))


async def _relay(api: Api, room: Room, relay: RelayProfile) -> RelayProfile:
    rows = await _relays(api, room)
    found: RelayProfile = match(rows.items, relay.id, "relay profile", lambda item: item.name or "")
    return found


async def _posters(api: Api, video: Video) -> Rows:
    return await _all_of(api.posters.iterate(video.id))


async def _poster(api: Api, video: Video, poster: Poster) -> Poster:
    return await api.posters.get(video.id, poster.id or "")


async def _subtitles(api: Api, video: Video) -> Rows:
    return await _all_of(api.subtitles.iterate(video.id, order="position.asc"))


async def _subtitle(api: Api, video: Video, track: Subtitle) -> Subtitle:
    return await api.subtitles.get(video.id, track.id)


async def _annotations(api: Api, video: Video) -> Rows:
    return await _all_of(api.annotations.iterate(video.id))


async def _annotation(api: Api, video: Video, annotation: Annotation) -> Annotation:
    return await api.annotations.get(video.id, annotation.id)


async def _no_materials(_: Api, __: Any) -> Rows:
    """Return no rows, because no endpoint lists materials. Known materials are in the history of this machine."""
    return Rows()


async def _material(api: Api, _: Any, material: KnownMaterial) -> KnownMaterial:
    """Return the material if the platform sends a link to it. Raises ApiError if the material does not exist."""
    await api.materials.link(material.id)
    return material


class KnownMaterialModel(Model):
    """Material from the history of this machine, with the platform's field names where they exist."""

    id: str
    video_id: str
    title: str
    filename: str
    filetype: str | None
    size: int | None
    known_since: datetime | None
    known_from: str


def _material_object(material: KnownMaterial) -> dict[str, Any]:
    model = KnownMaterialModel(
        id=material.id,
        video_id=material.video_id,
        title=material.title,
        filename=material.file_name,
        filetype=material.media_type or None,
        size=material.size,
        known_since=material.at,
        known_from=material.source,
    )
    return model.model_dump(mode="json")


EVENT, ROOM, VIDEO = "EVENT", "ROOM", "VIDEO"

_ALL = (
    Noun(
        "event", "event", (EVENT,), ("id", "name", "type", "scheduled.time", "stream.status"), Event,
        _events, _event, lambda event: event.name or "",
    ),
    Noun(
        "stream", "stream", (EVENT,), ("id", "event", "status", "started_at", "finished_at"), Stream,
        _events_with_stream, _event_with_stream, lambda event: event.name or "", _stream_object,
        extra_fields={"event": {"type": ["string", "null"]}}, faults=_stream_faults, parent="event",
    ),
    Noun(
        "room", "room", (ROOM,), ("id", "name", "type", "status", "code"), Room,
        _rooms, _room, lambda room: room.name or "",
    ),
    Noun(
        "relay", "relay profile", (ROOM, "RELAY"), ("id", "name", "url", "service", "stream_key"),
        RelayProfile, _relays, _relay, lambda relay: relay.name or "", parent="room",
    ),
    Noun(
        "poster", "poster", (VIDEO, "POSTER"), ("id", "from_time", "status", "active"), Poster,
        _posters, _poster, lambda poster: position(poster.from_time), parent="video",
    ),
    Noun(
        "subtitle", "subtitle", (VIDEO, "SUBTITLE"),
        ("id", "position", "language", "description", "status", "file_name"), Subtitle,
        _subtitles, _subtitle, lambda track: track.description or "", volatile=("url", "hls_file", "file"),
        parent="video",
    ),
    Noun(
        "annotation", "annotation", (VIDEO, "ANNOTATION"),
        ("id", "annotation_type", "title", "start_time", "end_time", "link"), Annotation,
        _annotations, _annotation, lambda annotation: annotation.title or "", parent="video",
    ),
    Noun(
        "material", "material", (VIDEO, "MATERIAL"), ("id", "title", "filename", "size", "known_from"),
        KnownMaterialModel,
        _no_materials, _material, lambda material: material.title, _material_object,
        parent="video",
    ),
)  # fmt: skip

NOUNS: Mapping[str, Noun] = MappingProxyType({noun.name: noun for noun in _ALL})
"""Word on the command line -> noun, for the nouns with the commands `list` and `get`."""

RECORDINGS = Noun(
    "video", "recording", (EVENT, "VIDEO"), ("id", "title", "status", "duration", "created_at"), Recording,
    lambda api, event: _all_of(api.events.iterate_videos(event.id)),
    lambda _, __, recording: _same(recording), lambda recording: recording.title or "",
)  # fmt: skip
"""Noun for the recordings of an event, which are the videos that the platform lists."""

RESTREAMS = Noun(
    "restreams", "restream", (EVENT, "RESTREAM"), ("id", "name", "url", "key", "enabled", "status"), EventRestream,
    _restreams, lambda _, __, restream: _same(restream), lambda restream: restream.name or "", parent="event",
)  # fmt: skip
"""Noun for the restreams of an event."""

_LISTS: Mapping[str, str] = {noun.noun: noun.path for noun in (*_ALL, RECORDINGS)}
"""Words of a noun in a sentence -> words of the command that lists its objects."""


async def _same(item: Any) -> Any:
    return item


async def find(noun: Noun, api: Api, words: Sequence[str], materials: Known) -> Found:
    """Return the objects of the words: an owner, or an owner and an object. Raises NotMatched or ApiError.

    `materials`: returns the materials in the history of this machine. The id of any other material is not checked.
    """
    owner: Any = await _find_owner(noun.owner, api, words[0]) if noun.owner else None
    if len(words) < len(noun.arguments):
        return Found(api, owner)
    if noun.name == "material":
        material_id = words[-1].strip()
        found = [material for material in await materials(owner.id) if material.id == material_id]
        return Found(api, owner, found[0] if found else KnownMaterial(material_id, owner.id, source="its id"))
    every = await (_events if noun.arguments == (EVENT,) else noun.read_all)(api, owner)
    item = await _match_or_read(noun, api, owner, every, words[-1])
    return Found(api, owner, item, siblings=every.items)


async def read_again(noun: Noun, found: Found) -> Found:
    """Return `found` with its object read again on its own, because a list may lack fields. Raises ApiError.

    A material stays unchanged, because no endpoint reads a material.
    """
    if noun.model is KnownMaterialModel:
        return found
    read = _event if noun.arguments == (EVENT,) else noun.read
    return replace(found, item=await read(found.api, found.owner, found.item))


async def _match_or_read(noun: Noun, api: Api, owner: Any, rows: Rows, words: str) -> Any:
    """Return the object of the words. Reads it from the platform if the words are a whole id that no row has.

    Raises ApiError if this read fails, Unreadable if no row fits but rows are missing, and NotMatched otherwise.
    """
    try:
        return match(rows.items, words, noun.noun, noun.called)
    except NotMatched as error:
        if is_id(words):
            return await noun.read(api, owner, _Unlisted(words.strip()))
        if gaps := rows.gaps(noun):
            raise Unreadable(f"{'; '.join(gaps)}; in the rest {error}") from None
        raise


def is_id(words: str) -> bool:
    """Return whether the words are a whole id. An object with this id is read by id if no list contains it."""
    return bool(_ID.fullmatch(words.strip()))


def unreadable_rows_text(noun: Noun, faults: Sequence[FieldFault]) -> str:
    """Return the number of omitted rows and the reason: `2 events could not be read and are left out: data[1] ...`."""
    nouns, are = (noun.noun, "is") if len(faults) == 1 else (f"{noun.noun}s", "are")
    return f"{len(faults)} {nouns} could not be read and {are} left out: {mask_secrets(str(faults[0]))}"


async def _find_owner(kind: str, api: Api, words: str) -> Any:
    if kind == VIDEO:
        return Video(words.strip())
    noun = NOUNS["event" if kind == EVENT else "room"]
    return await _match_or_read(noun, api, None, await noun.read_all(api, None), words)

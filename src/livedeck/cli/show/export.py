"""`livedeck show export`: write a show file from the platform. Applying it changes nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

import click

from livedeck.atomic_file import write_private
from livedeck.cli import options
from livedeck.cli.exit_codes import DONE, run
from livedeck.cli.options import FORCE, formats, merge_flags, platform
from livedeck.cli.output import echo
from livedeck.cli.show.plan import need_whole
from livedeck.cli.wiring import make_api
from livedeck.client import Api, Event, Room
from livedeck.environment import expand_user
from livedeck.monitor import Video
from livedeck.operations.events import EDIT_FORM, PENDING, edit_entries, platform_values
from livedeck.operations.nouns import NOUNS, RECORDINGS, NotMatched, Noun, Rows, match
from livedeck.operations.rooms import relay_entries
from livedeck.operations.schema import FieldKind
from livedeck.presentation.rooms import relay_profiles
from livedeck.settings import Settings, load
from livedeck.text import addresses
from livedeck.text.secrets import mask_secrets
from livedeck.text.values import safe

_HEAD = """\
# Show file (`livedeck docs shows`). It holds no keys. A restream or relay profile without a key here
# keeps its key on the platform; a new one needs a reference, such as `{field}: {reference}`.
"""


@click.command
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@formats("yaml", "toml", default="yaml")
@options.output()
@FORCE
@platform
@click.pass_context
def command(
    ctx: click.Context, /, *, names: tuple[str, ...], output_format: str, output: str | None, force: bool, **flags: Any
) -> None:
    """Write a show file of events, rooms, or whole projects and folders, without secrets.

    NAME: an event, a room, or a project or folder by its id or its name in the settings. Recordings of the events are
    in the file if they have subtitles or a poster from a frame.
    """

    async def work() -> int:
        settings = load(**merge_flags(ctx, flags))
        async with make_api(settings) as api:
            text = _written(await _content(api, settings, names), output_format)
        if output is None:
            echo(text, nl=False)
        else:
            write_private(expand_user(output), text, replace=force)
        return DONE

    ctx.exit(run(work))


def _written(content: Mapping[str, Any], output_format: str) -> str:
    """Return the text of a show file. Raises UsageError if the format is YAML and its package is missing."""
    if output_format == "toml":
        import tomlkit

        return _HEAD.format(field="key", reference='{ file = "keys/cdn" }') + tomlkit.dumps(content)
    try:
        import yaml
    except ImportError:
        advice = "pip install '.[yaml]' in the checkout, or add --format toml"
        raise click.UsageError(f"YAML needs a package: {advice}") from None
    dumped: str = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=120)
    return _HEAD.format(field="key", reference="{file: keys/cdn}") + dumped


async def _content(api: Api, settings: Settings, names: Iterable[str]) -> Mapping[str, Any]:
    """Return the content of a show file. Raises UsageError for an unknown name, and ApiError."""
    events, rooms = [await _whole(NOUNS[kind], api) for kind in ("event", "room")]
    parents, chosen, chosen_rooms = list[str](), dict[str, Event](), dict[str, Room]()
    for name in names:
        folder = next((key for key, called in settings.folders.items() if called == name), name)
        inside = [event for event in events if event.parent_id == folder]
        if inside:
            parents.append(folder)
            chosen |= {event.id: event for event in inside}
            continue
        try:
            event = match(events, name, "event", NOUNS["event"].called)
            chosen[event.id] = event
        except NotMatched as error:
            try:
                room = match(rooms, name, "room", NOUNS["room"].called)
            except NotMatched:
                raise click.UsageError(str(error)) from None
            chosen_rooms[room.id] = room
    parent = parents[0] if len(parents) == 1 and all(event.parent_id == parents[0] for event in chosen.values()) else ""
    found: dict[str, Any] = {"parent_id": parent} if parent else {}
    named = Counter((event.name, event.parent_id) for event in events)
    read = [await api.events.get(identity) for identity in chosen]
    if read:
        found["events"] = [_event(event, parent, is_unique=named[event.name, event.parent_id] == 1) for event in read]
    if chosen_rooms:
        room_names = Counter(room.name for room in rooms)
        read_rooms = [await api.rooms.get(identity) for identity in chosen_rooms]
        found["rooms"] = [_room(room, is_unique=room_names[room.name] == 1) for room in read_rooms]
    videos = [video for event in read for video in await _videos(api, event)]
    return {**found, **({"videos": videos} if videos else {})}


async def _whole(noun: Noun, api: Api, owner: Any = None) -> tuple[Any, ...]:
    """Return all objects of a noun. Raises Unreadable for an incomplete list."""
    rows: Rows = await noun.read_all(api, owner)
    need_whole(rows, noun)
    return rows.items


def _identity(item: Any, *, is_unique: bool) -> dict[str, Any]:
    """Return the name of an object as its identity, or its id if the name is missing, not unique or would be masked."""
    name = item.name or ""
    return {"name": name} if is_unique and name and name == name.strip() and _is_plain(name) else {"id": item.id}


def _is_plain(text: str) -> bool:
    """Return whether a text has no secret, in clear or in an address."""
    return mask_secrets(text) == text and addresses.show_in(text) == text


def _event(event: Event, parent: str, *, is_unique: bool) -> dict[str, Any]:
    entries, values, found = edit_entries(event, UTC), platform_values(event), _identity(event, is_unique=is_unique)
    if event.type:
        found["type"] = event.type
    for field in EDIT_FORM.fields:
        entry: Any = entries[field.name]
        if field.name == "name" or values[field.name] is None or (field.name == "parent_id" and parent):
            continue
        if field.kind is FieldKind.ROWS:
            entry = [_row(row, entry) for row in entry]
        elif field.kind is FieldKind.NUMBER:
            entry = int(entry)
        elif field.kind is FieldKind.MULTI_CHOICE:
            entry = [*entry]
        elif field.kind is FieldKind.DATETIME:
            entry = _time(values[field.name])
        head, dot, tail = field.name.partition(".")
        if dot:
            found[head] = {tail: entry}
        else:
            found[head] = entry
    stream = event.stream
    if stream and stream.status == PENDING and stream.started_at:
        found["stream"] = {"started_at": _time(stream.started_at)}
    return found


def _time(at: datetime) -> str:
    return f"{at.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='seconds')}Z"


def _row(row: Mapping[str, Any], rows: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return a restream or relay profile without its key. It has its id only if the name is missing or not unique."""
    is_unique = sum(other["name"] == row["name"] for other in rows) == 1
    kept = {name: value for name, value in row.items() if name not in {"id", "key", "stream_key"} and value is not None}
    texts = {name: value for name, value in kept.items() if not isinstance(value, str) or _is_plain(value)}
    if "url" in kept and addresses.show(url := str(kept["url"])) == url.rstrip("/"):
        texts["url"] = url
    return texts if is_unique and texts.get("name") else {"id": row["id"], **texts}


def _room(room: Room, *, is_unique: bool) -> dict[str, Any]:
    rows = [{**relay_entries(profile), "id": profile.id} for profile in relay_profiles(room)]
    kind = {"type": room.type} if room.type else {}
    return {**_identity(room, is_unique=is_unique), **kind, "restreams": [_row(row, rows) for row in rows]}


async def _videos(api: Api, event: Event) -> list[dict[str, Any]]:
    """Return the recordings of an event that have subtitles or an active poster from a frame.

    Ignores a poster if another poster has the same frame.
    """
    found = []
    for recording in await _whole(RECORDINGS, api, event):
        video = Video(recording.id)
        tracks, posters = [await _whole(NOUNS[name], api, video) for name in ("subtitle", "poster")]
        frames = Counter(poster.from_time for poster in posters)
        at = next((poster.from_time for poster in posters if poster.active and poster.id), None)
        content: dict[str, Any] = {"id": recording.id}
        if at is not None and frames[at] == 1:
            content["poster"] = {"from_time": f"{at:.3f}"}
        if tracks:
            content["subtitles"] = [_track(track) for track in tracks]
        if len(content) > 1:
            found.append(content)
    return found


def _track(track: Any) -> dict[str, str]:
    names = {"language": track.language, "description": track.description, "file": track.file_name}
    return {name: safe(value, 500) if name != "description" else value for name, value in names.items() if value}

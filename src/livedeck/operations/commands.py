"""Operations as commands without a screen: objects that a command line names, and initial values of the form.

Each operation has an entry; the command with its help, completion and schema is made from it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from livedeck.client import subtitle_file
from livedeck.operations import annotations as notes
from livedeck.operations import events, materials, posters, rooms, subtitles
from livedeck.operations.diff import ParsedForm
from livedeck.operations.nouns import NOUNS, Found, Noun
from livedeck.operations.operation import Operation
from livedeck.operations.schema import FieldValues, FormSchema, parse_path
from livedeck.text import times


class Names(StrEnum):
    """Objects that a command line names: none, owner of a new object, an object, or an owner with ordered ids."""

    NOTHING = "nothing"
    OWNER = "owner"
    ITEM = "item"
    ORDER = "order"


Make = Callable[[Found, ParsedForm[Any]], Operation[Any] | Awaitable[Operation[Any]]]
"""Function that makes the operation from the named objects and a filled form. Raises Invalid or FileFault.

It returns an awaitable if a file must be read before.
"""


@dataclass(frozen=True, slots=True)
class Command:
    """Operation as a command of its noun. `initial`: returns values that fill the form before the typed values.

    `always`: fields that are sent even if they were not typed.
    """

    operation: type[Operation[Any]]
    names: Names
    make: Make
    initial: Callable[[Found], FieldValues] = lambda _: {}
    always: tuple[str, ...] = ()

    @property
    def noun(self) -> Noun:
        """Noun of the changed object: `event` of `event.create`."""
        return NOUNS[self.operation.name.partition(".")[0]]

    @property
    def name(self) -> str:
        """Verb of the command: `create` of `event.create`."""
        return self.operation.name.partition(".")[2].replace("_", "-")

    @property
    def path(self) -> str:
        """Words after `livedeck`: `event create`, `video poster import`."""
        return f"{self.noun.path} {self.name}"

    @property
    def arguments(self) -> tuple[str, ...]:
        """Names of the command's arguments."""
        noun = self.noun
        of_owner = (noun.owner,) if noun.owner else ()
        return {Names.NOTHING: (), Names.OWNER: of_owner, Names.ITEM: noun.arguments, Names.ORDER: of_owner}[self.names]

    @property
    def is_new(self) -> bool:
        """True if the command creates an object, so that its form is empty at first."""
        return self.names in {Names.NOTHING, Names.OWNER}

    @property
    def schema(self) -> FormSchema[Any] | None:
        """Form of the operation; None if it has no form."""
        return self.operation.schema

    def initial_values(self, found: Found) -> FieldValues:
        """Return the values that fill the form before the typed values. A field without one is empty."""
        return {**(self.schema.empty() if self.schema else {}), **self.initial(found)}


def _event(found: Found) -> events.EventTarget:
    return events.EventTarget.of_event(found.item)


def _began(found: Found) -> FieldValues:
    stream = found.item.stream
    return {"started_at": times.format_time(stream.started_at, None) if stream and stream.started_at else ""}


def _relay(found: Found, form: ParsedForm[Any]) -> Operation[Any]:
    return rooms.EditRelay(rooms.RelayTarget.of(found.owner, found.item), form, found.api.service_of)


async def _upload_subtitle(found: Found, form: ParsedForm[Any]) -> Operation[Any]:
    file, entries = await subtitle_file(parse_path(form.entries["file"])), form.entries
    return subtitles.UploadSubtitle(found.owner, str(entries["language"]), str(entries["description"]), file)


def _upload_material(found: Found, form: ParsedForm[Any]) -> Operation[Any]:
    file = parse_path(form.entries["file"])
    return materials.UploadMaterial(found.owner, file, str(form.entries["title"]).strip() or file.name)


def _reorder(operation: type[subtitles.ReorderSubtitles] | type[materials.ReorderMaterials]) -> Make:
    def make(found: Found, _: ParsedForm[Any]) -> Operation[Any]:
        shown = tuple(row.id for row in found.siblings) or found.order
        names = {row.id: NOUNS[operation.kind].called(row) or row.id for row in found.siblings}
        return operation(found.owner, found.order, shown, names)

    return make


_ALL = (
    Command(
        events.CreateEvent, Names.NOTHING, lambda _, form: events.CreateEvent(form), lambda _: {"type": "one-time"},
        ("type",),
    ),
    Command(
        events.EditEvent, Names.ITEM, lambda found, form: events.EditEvent(_event(found), form),
        lambda found: events.edit_entries(found.item, None),
    ),
    Command(events.EnableEvent, Names.ITEM, lambda found, _: events.EnableEvent(_event(found))),
    Command(events.CompleteEvent, Names.ITEM, lambda found, _: events.CompleteEvent(_event(found))),
    Command(
        events.MoveEvent, Names.ITEM, lambda found, form: events.MoveEvent(_event(found), form.draft),
        lambda found: {"parent_id": found.item.parent_id or ""},
    ),
    Command(events.DeleteEvent, Names.ITEM, lambda found, _: events.DeleteEvent(_event(found))),
    Command(
        events.SetEventPoster, Names.ITEM, lambda found, form: events.SetEventPoster(_event(found), form.draft),
    ),
    Command(events.ScheduleStream, Names.ITEM, lambda found, form: events.ScheduleStream(_event(found), form.draft)),
    Command(
        events.RescheduleStream, Names.ITEM,
        lambda found, form: events.RescheduleStream(_event(found), form.draft), _began,
    ),
    Command(
        rooms.CreateRoom, Names.NOTHING, lambda _, form: rooms.CreateRoom(form),
        lambda _: {"type": rooms.ROOM_TYPES[0]}, ("type", "restreams"),
    ),
    Command(rooms.DeleteRoom, Names.ITEM, lambda found, _: rooms.DeleteRoom(rooms.RoomTarget.of(found.item))),
    Command(rooms.EditRelay, Names.ITEM, _relay, lambda found: rooms.relay_entries(found.item)),
    Command(posters.CreatePoster, Names.OWNER, lambda found, form: posters.CreatePoster(found.owner, form.draft)),
    Command(posters.UploadPoster, Names.OWNER, lambda found, form: posters.UploadPoster(found.owner, form.draft)),
    Command(posters.ActivatePoster, Names.ITEM, lambda found, _: posters.ActivatePoster(found.owner, found.item)),
    Command(posters.DeletePoster, Names.ITEM, lambda found, _: posters.DeletePoster(found.owner, found.item)),
    Command(subtitles.UploadSubtitle, Names.OWNER, _upload_subtitle),
    Command(
        subtitles.RecogniseSpeech, Names.OWNER, lambda found, form: subtitles.RecogniseSpeech(found.owner, form.draft),
    ),
    Command(
        subtitles.EditSubtitle, Names.ITEM,
        lambda found, form: subtitles.EditSubtitle(found.owner, found.item, form),
        lambda found: subtitles.edit_entries(found.item),
    ),
    Command(subtitles.CopySubtitle, Names.ITEM, lambda found, _: subtitles.CopySubtitle(found.owner, found.item)),
    Command(subtitles.DeleteSubtitle, Names.ITEM, lambda found, _: subtitles.DeleteSubtitle(found.owner, found.item)),
    Command(subtitles.ReorderSubtitles, Names.ORDER, _reorder(subtitles.ReorderSubtitles)),
    Command(
        notes.CreateAnnotation, Names.OWNER,
        lambda found, form: notes.CreateAnnotation(found.owner, form), lambda _: {"type": "text"}, ("type",),
    ),
    Command(
        notes.EditAnnotation, Names.ITEM,
        lambda found, form: notes.EditAnnotation(found.owner, found.item, form),
        lambda found: notes.edit_entries(found.item),
    ),
    Command(
        notes.DeleteAnnotation, Names.ITEM,
        lambda found, _: notes.DeleteAnnotation(found.owner, found.item),
    ),
    Command(materials.UploadMaterial, Names.OWNER, _upload_material),
    Command(
        materials.RenameMaterial, Names.ITEM, lambda found, form: materials.RenameMaterial(found.item, form.draft),
        lambda found: {"title": found.item.title},
    ),
    Command(materials.DeleteMaterial, Names.ITEM, lambda found, _: materials.DeleteMaterial(found.item)),
    Command(materials.ReorderMaterials, Names.ORDER, _reorder(materials.ReorderMaterials)),
)  # fmt: skip

COMMANDS: Mapping[str, Command] = MappingProxyType({command.operation.name: command for command in _ALL})
"""Name of an operation -> its command."""

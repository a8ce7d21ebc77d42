"""One operation of each kind, ready to run on the simulated platform."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

from livedeck.client import Recording, Secret, SubtitleFile, checked_cues
from livedeck.monitor import KnownMaterial, Video
from livedeck.operations import annotations as notes
from livedeck.operations import events, materials, posters, rooms, subtitles
from livedeck.operations.diff import ParsedForm, parse_form
from livedeck.operations.operation import Operation
from livedeck.operations.schema import FieldValues, FormResult, FormSchema
from livedeck.presentation.rooms import relay_profiles
from livedeck.text.times import TimeReference
from operations.rig import DRAFT, EVENING, REHEARSAL, Rig

VTT = b"WEBVTT\n\n00:01.000 --> 00:02.500\nGood evening\n"
PICTURE = "https://pictures.example/a.png"


def filled(schema: FormSchema[Any], initial: FieldValues, **typed: Any) -> ParsedForm[Any]:
    """Return the form with these entries; an underscore stands for a dot of a name."""
    entries = {**initial, **typed}
    return parse_form(schema, initial, FormResult(entries, tuple(typed)), TimeReference(EVENING))


async def recording(rig: Rig) -> Video:
    """Return the recording of the rehearsal, which has tracks, annotations and posters."""
    found: list[Recording] = list((await rig.other.events.videos((await rig.event(REHEARSAL)).id)).items)
    return Video(found[0].id, REHEARSAL, found[0])


async def material(rig: Rig) -> KnownMaterial:
    """Add a material to that recording and return it."""
    video = await recording(rig)
    made = await rig.other.materials.upload(video.id, Path(__file__), "words.txt", "The words")
    assert made
    return KnownMaterial.of(made, video.id, "this test")


async def track(rig: Rig) -> Any:
    """Return the first subtitle track of that recording."""
    return (await rig.other.subtitles.list((await recording(rig)).id, order="position.asc")).items[0]


async def annotation(rig: Rig) -> Any:
    """Return the first annotation of that recording."""
    return (await rig.other.annotations.list((await recording(rig)).id)).items[0]


async def hidden_poster(rig: Rig) -> Any:
    """Return an inactive poster of that recording."""
    video = await recording(rig)
    made = await rig.other.posters.create(video.id, 12.0)
    assert made
    return made


async def room(rig: Rig) -> Any:
    """Return a room with relay profiles."""
    return next(room for room in (await rig.other.rooms.list()).items if room.restreams)


Make = Callable[[Rig], Awaitable[Operation[Any]]]


async def _event_with_stream(rig: Rig) -> events.EventTarget:
    event = await rig.event(DRAFT)
    await rig.other.streams.schedule(event.id, EVENING + timedelta(hours=1))
    return await rig.target(DRAFT)


async def _create_event(_: Rig) -> Operation[Any]:
    return events.CreateEvent(
        filled(events.CREATE_FORM, events.CREATE_DEFAULTS, name="Lost and found", type="one-time")
    )


async def _edit_event(rig: Rig) -> Operation[Any]:
    target = await rig.target(DRAFT)
    initial = events.edit_entries(target.view.event, None)
    return events.EditEvent(target, filled(events.EDIT_FORM, initial, name="Renamed"))


async def _enable_event(rig: Rig) -> Operation[Any]:
    return events.EnableEvent(await rig.target(DRAFT))


async def _complete_event(rig: Rig) -> Operation[Any]:
    return events.CompleteEvent(await rig.target(DRAFT))


async def _move_event(rig: Rig) -> Operation[Any]:
    parents = [event.parent_id for event in (await rig.other.events.list(per_page=100)).items if event.parent_id]
    return events.MoveEvent(await rig.target(DRAFT), parents[0])


async def _delete_event(rig: Rig) -> Operation[Any]:
    return events.DeleteEvent(await rig.target(DRAFT))


async def _set_event_poster(rig: Rig) -> Operation[Any]:
    return events.SetEventPoster(await rig.target(DRAFT), PICTURE)


async def _schedule_stream(rig: Rig) -> Operation[Any]:
    return events.ScheduleStream(await rig.target(DRAFT), EVENING + timedelta(hours=1))


async def _reschedule_stream(rig: Rig) -> Operation[Any]:
    return events.RescheduleStream(await _event_with_stream(rig), EVENING + timedelta(hours=2))


async def _create_room(rig: Rig) -> Operation[Any]:
    schema = rooms.room_form(rig.api.service_of)
    initial = {**schema.empty(), "type": rooms.ROOM_TYPES[0]}
    return rooms.CreateRoom(filled(schema, initial, name="Board", owner_id=rig.simulator.user_id))


async def _delete_room(rig: Rig) -> Operation[Any]:
    shown = await room(rig)
    return rooms.DeleteRoom(rooms.RoomTarget.of(shown))


async def _edit_relay(rig: Rig) -> Operation[Any]:
    shown = await room(rig)
    profile = relay_profiles(shown)[0]
    schema = rooms.relay_form(rig.api.service_of)
    form = filled(schema, rooms.relay_entries(profile), name="Renamed", stream_key=Secret("the-new-key-77f1"))
    return rooms.EditRelay(rooms.RelayTarget.of(shown, profile), form, rig.api.service_of)


async def _create_poster(rig: Rig) -> Operation[Any]:
    return posters.CreatePoster(await recording(rig), 65.5)


async def _upload_poster(rig: Rig) -> Operation[Any]:
    return posters.UploadPoster(await recording(rig), PICTURE)


async def _activate_poster(rig: Rig) -> Operation[Any]:
    return posters.ActivatePoster(await recording(rig), await hidden_poster(rig))


async def _delete_poster(rig: Rig) -> Operation[Any]:
    return posters.DeletePoster(await recording(rig), await hidden_poster(rig))


async def _upload_subtitle(rig: Rig) -> Operation[Any]:
    file = SubtitleFile("a.uk.vtt", VTT, checked_cues(VTT, "check"))
    return subtitles.UploadSubtitle(await recording(rig), "uk", "Українська", file)


async def _recognise_speech(rig: Rig) -> Operation[Any]:
    return subtitles.RecogniseSpeech(await recording(rig), ("fr",))


async def _edit_subtitle(rig: Rig) -> Operation[Any]:
    shown = await track(rig)
    form = filled(subtitles.EDIT_FORM, subtitles.edit_entries(shown), description="For the hall")
    return subtitles.EditSubtitle(await recording(rig), shown, form)


async def _copy_subtitle(rig: Rig) -> Operation[Any]:
    return subtitles.CopySubtitle(await recording(rig), await track(rig))


async def _delete_subtitle(rig: Rig) -> Operation[Any]:
    return subtitles.DeleteSubtitle(await recording(rig), await track(rig))


async def _reorder_subtitles(rig: Rig) -> Operation[Any]:
    video = await recording(rig)
    shown = tuple(track.id for track in (await rig.other.subtitles.list(video.id, order="position.asc")).items)
    return subtitles.ReorderSubtitles(video, shown[::-1], shown, {})


async def _create_annotation(rig: Rig) -> Operation[Any]:
    initial = {**notes.CREATE_FORM.empty(), "type": "text"}
    typed = {"type": "text", "title": "Bar 118", "start_time": "90", "end_time": "120"}
    return notes.CreateAnnotation(await recording(rig), filled(notes.CREATE_FORM, initial, **typed))


async def _edit_annotation(rig: Rig) -> Operation[Any]:
    shown = await annotation(rig)
    form = filled(notes.EDIT_FORM, notes.edit_entries(shown), title="Bar 119")
    return notes.EditAnnotation(await recording(rig), shown, form)


async def _delete_annotation(rig: Rig) -> Operation[Any]:
    return notes.DeleteAnnotation(await recording(rig), await annotation(rig))


async def _upload_material(rig: Rig) -> Operation[Any]:
    return materials.UploadMaterial(await recording(rig), Path(__file__), "The words")


async def _rename_material(rig: Rig) -> Operation[Any]:
    return materials.RenameMaterial(await material(rig), "The other words")


async def _delete_material(rig: Rig) -> Operation[Any]:
    return materials.DeleteMaterial(await material(rig))


async def _reorder_materials(rig: Rig) -> Operation[Any]:
    shown = tuple([(await material(rig)).id for _ in range(3)])
    return materials.ReorderMaterials(await recording(rig), shown[::-1], shown, {})


SAMPLES: Mapping[str, Make] = {
    "event.create": _create_event,
    "event.edit": _edit_event,
    "event.enable": _enable_event,
    "event.complete": _complete_event,
    "event.move": _move_event,
    "event.delete": _delete_event,
    "event.poster": _set_event_poster,
    "event.schedule": _schedule_stream,
    "event.reschedule": _reschedule_stream,
    "room.create": _create_room,
    "room.delete": _delete_room,
    "relay.edit": _edit_relay,
    "poster.create": _create_poster,
    "poster.import": _upload_poster,
    "poster.activate": _activate_poster,
    "poster.delete": _delete_poster,
    "subtitle.upload": _upload_subtitle,
    "subtitle.recognise": _recognise_speech,
    "subtitle.edit": _edit_subtitle,
    "subtitle.copy": _copy_subtitle,
    "subtitle.delete": _delete_subtitle,
    "subtitle.reorder": _reorder_subtitles,
    "annotation.create": _create_annotation,
    "annotation.edit": _edit_annotation,
    "annotation.delete": _delete_annotation,
    "material.upload": _upload_material,
    "material.edit": _rename_material,
    "material.delete": _delete_material,
    "material.reorder": _reorder_materials,
}
"""Name of an operation -> function that makes one for an existing object."""

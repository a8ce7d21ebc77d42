"""Every operation by its name: what commands, palette, documents and tests are derived from."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from livedeck.operations.annotations import CreateAnnotation, DeleteAnnotation, EditAnnotation
from livedeck.operations.events import (
    CompleteEvent,
    CreateEvent,
    DeleteEvent,
    EditEvent,
    EnableEvent,
    MoveEvent,
    RescheduleStream,
    ScheduleStream,
    SetEventPoster,
)
from livedeck.operations.materials import DeleteMaterial, RenameMaterial, ReorderMaterials, UploadMaterial
from livedeck.operations.operation import Operation
from livedeck.operations.posters import ActivatePoster, CreatePoster, DeletePoster, UploadPoster
from livedeck.operations.rooms import CreateRoom, DeleteRoom, EditRelay
from livedeck.operations.subtitles import (
    CopySubtitle,
    DeleteSubtitle,
    EditSubtitle,
    RecogniseSpeech,
    ReorderSubtitles,
    UploadSubtitle,
)

_ALL: tuple[type[Operation[Any]], ...] = (
    CreateEvent,
    EditEvent,
    EnableEvent,
    CompleteEvent,
    MoveEvent,
    DeleteEvent,
    SetEventPoster,
    ScheduleStream,
    RescheduleStream,
    CreateRoom,
    DeleteRoom,
    EditRelay,
    CreatePoster,
    UploadPoster,
    ActivatePoster,
    DeletePoster,
    UploadSubtitle,
    RecogniseSpeech,
    EditSubtitle,
    CopySubtitle,
    DeleteSubtitle,
    ReorderSubtitles,
    CreateAnnotation,
    EditAnnotation,
    DeleteAnnotation,
    UploadMaterial,
    RenameMaterial,
    DeleteMaterial,
    ReorderMaterials,
)

OPERATIONS: Mapping[str, type[Operation[Any]]] = MappingProxyType({operation.name: operation for operation in _ALL})

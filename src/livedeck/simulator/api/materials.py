"""Additional materials of a video: files to download (platform-api.md, "Additional materials")."""

from __future__ import annotations

import mimetypes
import string
from collections.abc import AsyncIterator
from typing import Annotated, Any

from pydantic import Field
from starlette.responses import Response

from livedeck.simulator.api.videos import find_video, next_position, reorder_some
from livedeck.simulator.engine.store import Document
from livedeck.simulator.errors import not_found
from livedeck.simulator.http import ApiRequest, Endpoint, data, sign, success
from livedeck.simulator.models import (
    UNSET,
    ApiObject,
    Data,
    IdOrder,
    OptionalTimestamp,
    Parameters,
    RequestBody,
    Success,
    Timestamp,
    Uuid,
    header_text,
    text,
)


class Material(ApiObject):
    """Additional material of a video, as the API returns it."""

    id: str
    video_id: str
    storage_id: str
    title: str
    filename: str
    filetype: str
    size: int
    position: int
    created_at: Timestamp
    updated_at: Timestamp
    deleted_at: OptionalTimestamp


class MaterialUpload(Parameters):
    """Headers that come with an uploaded file."""

    video_id: Uuid = Field(alias="X-Video-ID")
    file_name: Annotated[str, header_text(1, 255)] = Field(alias="X-File-Name")
    title: Annotated[str, header_text(1, 255)] = Field(alias="X-Title", default=UNSET)


class MaterialUpdate(RequestBody):
    """Changes of a material; an absent field stays as it is."""

    of = Material
    title: Annotated[str, text(1, 255)] = UNSET


class MaterialLink(ApiObject):
    """Address that downloads a file."""

    link: str


class MaterialOrder(IdOrder[Annotated[str, text(1, 64)]]):
    """Ids of materials in the requested order."""


def new_material(number: int, video_id: str, title: str, filename: str, created_at: str) -> Document:
    """Return the stored form of a material before its file arrives; `number` gives its short id."""
    filetype = mimetypes.guess_type(filename)[0] or "application/octet-stream"
    material_id = _short_id(number)
    ids = {"id": material_id, "video_id": video_id, "of_video": video_id, "storage_id": f"file-{material_id}"}
    times = {"created_at": created_at, "updated_at": created_at, "deleted_at": None}
    return ids | {"title": title, "filename": filename, "filetype": filetype, "size": 0, "position": 0} | times


_DIGITS = string.digits + string.ascii_lowercase


def _short_id(number: int) -> str:
    """Return ten characters derived from a number."""
    return "".join(_DIGITS[number // 36**index % 36] for index in range(10))


async def upload_material(request: ApiRequest[MaterialUpload]) -> Response:
    """Attach a file to a video; the body is the file itself, written to the disk as it arrives."""
    headers, world = request.headers(), request.world
    video, title = find_video(request, headers.video_id), headers.title or headers.file_name
    with world.store.transaction():
        material = new_material(world.draw(), video["id"], title, headers.file_name, world.timestamp())
    material["size"] = await world.files.save_stream(material["storage_id"], _chunks(request))
    try:
        with world.store.transaction():
            material["position"] = next_position(request, "material", video["id"])
            world.store.insert("material", request.workspace_id, material)
    except OSError:  # the disk had room for the file, but not for its row
        world.files.delete(material["storage_id"])
        raise
    return data(Material.show(material))


async def _chunks(request: ApiRequest[Any]) -> AsyncIterator[bytes]:
    async for chunk in request.http.stream():
        yield chunk


async def link_material(request: ApiRequest[None]) -> Response:
    """Return an address that downloads the file for a limited time."""
    return data({"link": sign(request, f"/cdn/materials/{_find(request)['id']}")})


async def update_material(request: ApiRequest[MaterialUpdate]) -> Response:
    """Change the title; an absent title stays as it is."""
    material, draft = _find(request), await request.body()
    material |= draft.given() | {"updated_at": request.world.timestamp()}
    request.world.store.update("material", material)
    return data(Material.show(material))


async def reorder_materials(request: ApiRequest[MaterialOrder]) -> Response:
    """Put the named materials in the given order; others keep their position."""
    order = await request.body()
    reorder_some(request, "material", [_find(request, material_id) for material_id in order.root])
    return success()


async def delete_material(request: ApiRequest[None]) -> Response:
    """Delete the material and its file for good."""
    material = _find(request)
    request.world.store.delete("material", material["id"])
    request.world.files.delete(material["storage_id"])
    return success()


def _find(request: ApiRequest[Any], material_id: str | None = None) -> Document:
    """Return the material `material_id`, or else the one whose id is in the request path."""
    material_id = material_id or str(request.http.path_params["material_id"])
    material = request.world.store.get("material", material_id, request.workspace_id)
    if material is None:
        raise not_found()
    return material


_UPLOAD = "/upload/additional-material"
_LIST = "/v1/additional-materials"
_ITEM = f"{_LIST}/{{material_id}}"

ENDPOINTS = (
    Endpoint("POST", _UPLOAD, upload_material, MaterialUpload, Data[Material], [404404], body="file"),
    Endpoint("GET", f"{_ITEM}/link", link_material, None, Data[MaterialLink], [404404]),
    Endpoint("PUT", _ITEM, update_material, MaterialUpdate, Data[Material], [404404]),
    Endpoint("PATCH", f"{_LIST}/reorder", reorder_materials, MaterialOrder, Data[Success], [404404]),
    Endpoint("DELETE", _ITEM, delete_material, None, Data[Success], [404404]),
)

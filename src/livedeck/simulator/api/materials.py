"""Additional materials of a video: files to download (platform-api.md, 2 and 4, "Additional materials")."""

from __future__ import annotations

import mimetypes
import string
from collections.abc import AsyncIterator

from starlette.responses import Response

from livedeck.simulator import schema
from livedeck.simulator.api.videos import find_video, last, order_of, put_among
from livedeck.simulator.engine.store import Document
from livedeck.simulator.errors import unknown
from livedeck.simulator.http import Call, Endpoint, done, one, signed
from livedeck.simulator.rules import UUID, decoded, needed, text

FIELDS = {
    "id": schema.TEXT,
    "video_id": schema.TEXT,
    "storage_id": schema.TEXT,
    "title": schema.TEXT,
    "filename": schema.TEXT,
    "filetype": schema.TEXT,
    "size": schema.INTEGER,
    "position": schema.INTEGER,
    "created_at": schema.MOMENT,
    "updated_at": schema.MOMENT,
    "deleted_at": schema.maybe(schema.MOMENT),
}

"""What the API shows of a material, with its types."""


def new_material(drawn: int, video: str, title: str, filename: str, made_at: str) -> Document:
    """A material as it is stored, before its file has come. `drawn` is what its short id is made from."""
    filetype = mimetypes.guess_type(filename)[0] or "application/octet-stream"
    named = {"id": _short(drawn), "video_id": video, "of_video": video, "storage_id": f"file-{_short(drawn)}"}
    times = {"created_at": made_at, "updated_at": made_at, "deleted_at": None}
    return named | {"title": title, "filename": filename, "filetype": filetype, "size": 0, "position": 0} | times


_DIGITS = string.digits + string.ascii_lowercase


def _short(drawn: int) -> str:
    """Ten characters out of a number."""
    return "".join(_DIGITS[drawn // 36**place % 36] for place in range(10))


async def upload_material(call: Call) -> Response:
    """Attach a file to a video; the body is the file itself, written to the disk as it comes."""
    asked, world = call.headers(), call.world
    video = find_video(call, asked["X-Video-ID"])
    title = asked.get("X-Title", asked["X-File-Name"])
    with world.store.transaction():
        material = new_material(world.draw(), video["id"], title, asked["X-File-Name"], world.stamp())
    material["size"] = await world.files.keep(material["storage_id"], _bytes(call))
    with world.store.transaction():
        material["position"] = last(world.store, "material", call.workspace, video["id"]) + 1
        world.store.create("material", call.workspace, material)
    return one(_shown(material))


async def _bytes(call: Call) -> AsyncIterator[bytes]:
    async for chunk in call.request.stream():
        yield chunk


async def link_material(call: Call) -> Response:
    """An address that downloads the file for a while."""
    material = _find(call, str(call.request.path_params["material_id"]))
    return one({"link": signed(call, f"/cdn/materials/{material['id']}")})


async def change_material(call: Call) -> Response:
    """Change the title; an absent one stays."""
    material, asked = _find(call, str(call.request.path_params["material_id"])), await call.body()
    material |= asked | {"updated_at": call.world.stamp()}
    call.world.store.change("material", material)
    return one(_shown(material))


async def reorder_materials(call: Call) -> Response:
    """Put these materials in that order; those that are not named stay where they are."""
    put_among(call, "material", [_find(call, identity) for identity in await call.array()])
    return done()


async def delete_material(call: Call) -> Response:
    """Delete the material and its file for good."""
    material = _find(call, str(call.request.path_params["material_id"]))
    call.world.store.delete("material", material["id"])
    call.world.files.delete(material["storage_id"])
    return done()


def _find(call: Call, identity: str) -> Document:
    material = call.world.store.get("material", identity, call.workspace)
    if material is None:
        raise unknown()
    return material


def _shown(material: Document) -> Document:
    return {name: material[name] for name in FIELDS}


_ONE = "/v1/additional-materials/{material_id}"

_ANSWER = schema.data(schema.record(FIELDS))

_LINK = schema.data(schema.record({"link": schema.TEXT}))

_UPLOAD = {
    "X-Video-ID": needed(UUID),
    "X-File-Name": needed(decoded(text(1, 255))),
    "X-Title": decoded(text(1, 255)),
}


ENDPOINTS = (
    Endpoint(
        *("POST", "/upload/additional-material", upload_material),
        answer=_ANSWER,
        refuses=[404404],
        headers=_UPLOAD,
        body="file",
    ),
    Endpoint("GET", f"{_ONE}/link", link_material, answer=_LINK, refuses=[404404]),
    Endpoint("PUT", _ONE, change_material, {"title": text(1, 255)}, _ANSWER, [404404]),
    Endpoint(
        *("PATCH", "/v1/additional-materials/reorder", reorder_materials, order_of(text(1, 64))),
        answer=schema.DONE,
        refuses=[404404],
    ),
    Endpoint("DELETE", _ONE, delete_material, answer=schema.DONE, refuses=[404404]),
)

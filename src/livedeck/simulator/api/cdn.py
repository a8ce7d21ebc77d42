"""The CDN address: pictures for everyone, files behind signed addresses (decisions.md, "Responses not shown")."""

from __future__ import annotations

from urllib.parse import quote

from starlette.responses import FileResponse, Response

from livedeck.simulator import http, schema
from livedeck.simulator.api.images import SIZES, png
from livedeck.simulator.api.subtitles import MEDIA, vtt
from livedeck.simulator.errors import unknown
from livedeck.simulator.http import Call, Endpoint

_GUARDED = {"X-Content-Type-Options": "nosniff"}


async def read_poster(call: Call) -> Response:
    """A picture of a poster, in one of its sizes."""
    poster, size = call.request.path_params["poster_id"], SIZES.get(call.request.path_params["size"])
    if size is None or not (poster == "default" or call.world.store.get("poster", poster)):
        raise unknown()
    return Response(png(poster, *size), media_type="image/png")


async def read_subtitle(call: Call) -> Response:
    """The file of a subtitle track, while its address is good."""
    http.check(call)
    track = call.world.store.get("subtitle", call.request.path_params["subtitle_id"])
    if track is None:
        raise unknown()
    if track["storage"]:
        return FileResponse(call.world.files.path(track["storage"]), media_type=MEDIA[track["kind"]], headers=_GUARDED)
    return Response(vtt(track), media_type="text/vtt")


async def read_material(call: Call) -> Response:
    """The file of an additional material, while its address is good."""
    http.check(call)
    material = call.world.store.get("material", call.request.path_params["material_id"])
    if material is None:
        raise unknown()
    disposition = f"attachment; filename*=utf-8''{quote(material['filename'], safe='')}"
    headers = _GUARDED | {"Content-Disposition": disposition}
    return FileResponse(call.world.files.path(material["storage_id"]), media_type=material["filetype"], headers=headers)


ENDPOINTS = (
    Endpoint("GET", "/cdn/posters/{poster_id}/{size}.png", read_poster, answer=schema.BYTES, media="image/png"),
    Endpoint("GET", "/cdn/subtitles/{subtitle_id}.{kind}", read_subtitle, answer=schema.BYTES, media="text/vtt"),
    Endpoint("GET", "/cdn/materials/{material_id}", read_material, answer=schema.BYTES, media="*/*"),
)

"""What needs no token."""

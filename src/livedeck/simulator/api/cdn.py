"""CDN address: public pictures, and files behind signed addresses (platform-api.md, "Poster")."""

from __future__ import annotations

from urllib.parse import quote

from starlette.responses import FileResponse, Response

from livedeck.simulator.api.images import SIZES, png
from livedeck.simulator.api.subtitles import MEDIA_TYPES
from livedeck.simulator.engine.content import webvtt
from livedeck.simulator.errors import not_found
from livedeck.simulator.http import ApiRequest, Endpoint, check_signature

_NOSNIFF = {"X-Content-Type-Options": "nosniff"}


async def read_picture(request: ApiRequest[None]) -> Response:
    """Return the picture of a poster in one of its sizes."""
    poster_id, size = request.http.path_params["poster_id"], SIZES.get(request.http.path_params["size"])
    if size is None or not (poster_id == "default" or request.world.store.get("poster", poster_id)):
        raise not_found()
    return Response(png(poster_id, *size), media_type="image/png")


async def read_subtitle_file(request: ApiRequest[None]) -> Response:
    """Return the file of a subtitle track, while its address is valid."""
    check_signature(request)
    track = request.world.store.get("subtitle", request.http.path_params["subtitle_id"])
    if track is None:
        raise not_found()
    if track["storage"]:
        path = request.world.files.path(track["storage"])
        return FileResponse(path, media_type=MEDIA_TYPES[track["kind"]], headers=_NOSNIFF)
    return Response(webvtt(track["cues"]), media_type="text/vtt")


async def read_material_file(request: ApiRequest[None]) -> Response:
    """Return the file of an additional material, while its address is valid."""
    check_signature(request)
    material = request.world.store.get("material", request.http.path_params["material_id"])
    if material is None:
        raise not_found()
    disposition = f"attachment; filename*=utf-8''{quote(material['filename'], safe='')}"
    headers = _NOSNIFF | {"Content-Disposition": disposition}
    path = request.world.files.path(material["storage_id"])
    return FileResponse(path, media_type=material["filetype"], headers=headers)


ENDPOINTS = (
    Endpoint("GET", "/cdn/posters/{poster_id}/{size}.png", read_picture),
    Endpoint("GET", "/cdn/subtitles/{subtitle_id}.{kind}", read_subtitle_file),
    Endpoint("GET", "/cdn/materials/{material_id}", read_material_file),
)
"""Endpoints that need no token."""

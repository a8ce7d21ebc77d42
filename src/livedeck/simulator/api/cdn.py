"""CDN address: public pictures, and files behind signed addresses (platform-api.md, "Poster")."""

from __future__ import annotations

import os
from urllib.parse import quote

from starlette.responses import FileResponse, Response
from starlette.types import Send

from livedeck.simulator.api.images import SIZES, png
from livedeck.simulator.api.subtitles import MEDIA_TYPES
from livedeck.simulator.engine.content import webvtt
from livedeck.simulator.errors import not_found
from livedeck.simulator.http import ApiRequest, Endpoint, check_signature


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
        return await _file(request, track["storage"], MEDIA_TYPES[track["kind"]], {})
    return Response(webvtt(track["cues"]), media_type="text/vtt")


async def read_material_file(request: ApiRequest[None]) -> Response:
    """Return the file of an additional material, while its address is valid."""
    check_signature(request)
    material = request.world.store.get("material", request.http.path_params["material_id"])
    if material is None:
        raise not_found()
    disposition = f"attachment; filename*=utf-8''{quote(material['filename'], safe='')}"
    return await _file(request, material["storage_id"], material["filetype"], {"Content-Disposition": disposition})


class _StoredFile(FileResponse):
    """Response with a stored file. Its header fields depend on the content alone, not on times of the disk."""

    def set_stat_headers(self, stat_result: os.stat_result) -> None:
        self.headers["content-length"] = str(stat_result.st_size)

    def _should_use_range(self, http_if_range: str) -> bool:
        return http_if_range == self.headers["etag"]

    async def _handle_multiple_ranges(
        self, send: Send, _ranges: object, _file_size: int, send_header_only: bool
    ) -> None:
        """Send the whole file in place of several ranges, because the boundary between them would be random."""
        await self._handle_simple(send, send_header_only, send_pathsend=False)


async def _file(request: ApiRequest[None], storage_id: str, media_type: str, headers: dict[str, str]) -> Response:
    files = request.world.files
    headers = {**headers, "X-Content-Type-Options": "nosniff", "ETag": f'"{await files.digest(storage_id)}"'}
    return _StoredFile(files.path(storage_id), media_type=media_type, headers=headers)


ENDPOINTS = (
    Endpoint("GET", "/cdn/posters/{poster_id}/{size}.png", read_picture),
    Endpoint("GET", "/cdn/subtitles/{subtitle_id}.{kind}", read_subtitle_file),
    Endpoint("GET", "/cdn/materials/{material_id}", read_material_file),
)
"""Endpoints that need no token."""

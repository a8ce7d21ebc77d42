"""Additional materials: downloads beside a video (platform-api.md, "Additional materials").

No endpoint lists them; only the upload returns an id (platform-api.md, "Missing operations").
"""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import StrictInt

from livedeck.client.http.encoding import header_text
from livedeck.client.http.files import FileSource, file_body
from livedeck.client.http.request import Identifier, JsonBody, UploadProgress, describe_call, make_request
from livedeck.client.http.secrets import SignedLink
from livedeck.client.resources.base import Id, Model, Resource, complete_order, id_header
from livedeck.client.resources.fields import Timestamp

_MATERIALS = ("v1", "additional-materials")


class Material(Model):
    """File offered for download beside a video. `id`: short, not a UUID. `filetype`: media type. `size`: bytes."""

    id: Id
    video_id: str | None = None
    storage_id: str | None = None
    title: str | None = None
    filename: str | None = None
    filetype: str | None = None
    size: StrictInt | None = None
    position: StrictInt | None = None
    created_at: Timestamp | None = None
    updated_at: Timestamp | None = None
    deleted_at: Timestamp | None = None


class MaterialLink(Model):
    """Short-lived download address of a material, which needs no token."""

    link: SignedLink


class Materials(Resource):
    """Additional materials of videos."""

    async def upload(
        self,
        video_id: Identifier,
        file: FileSource,
        file_name: str,
        title: str,
        *,
        progress: UploadProgress | None = None,
    ) -> Material | None:
        """Upload a file beside a video, reading it while it is sent. Returns None if the reply lacks the material.

        `file`: a path, bytes, or a file open for reading bytes, from its current position. `progress`: called with the
        bytes sent and the size. Raises FileFault, and any other ApiError.

        >>> material = await api.materials.upload(video_id, b"one, two", "slides.txt", "Slides")
        >>> material.size
        8
        """
        summary = describe_call("upload material of video", video_id)
        names = {"X-File-Name": header_text(file_name, summary), "X-Title": header_text(title, summary)}
        headers = {"X-Video-ID": id_header(video_id, summary)} | names
        async with file_body(file, summary, progress) as body:
            request = make_request(
                "POST", summary, "additional-material", body=body, headers=headers, base_url="upload"
            )
            return await self._optional(Material, request)

    async def link(self, material_id: Identifier) -> SignedLink:
        """Return a short-lived download address. Raises ApiError.

        >>> link = await api.materials.link(material_id)
        >>> size = await api.cdn.save(link, folder / "slides.txt", "save slides")
        """
        summary = describe_call("link material", material_id)
        return (await self._object(MaterialLink, make_request("GET", summary, *_MATERIALS, material_id, "link"))).link

    async def rename(self, material_id: Identifier, title: str) -> Material:
        """Change the title. Raises ApiError.

        >>> (await api.materials.rename(material_id, "All slides")).title
        'All slides'
        """
        summary = describe_call("rename material", material_id)
        return await self._object(
            Material, make_request("PUT", summary, *_MATERIALS, material_id, body=JsonBody({"title": title}))
        )

    async def reorder(self, material_ids: Sequence[Identifier]) -> None:
        """Put the materials in this order. Raises Invalid for an empty order or a duplicate, and any ApiError.

        >>> await api.materials.reorder([material_id])
        """
        summary = "reorder materials"
        body = JsonBody(complete_order(material_ids, summary))
        await self._confirmed(make_request("PATCH", summary, *_MATERIALS, "reorder", body=body))

    async def delete(self, material_id: Identifier) -> None:
        """Delete the material for good. Raises ApiError.

        >>> await api.materials.delete(material_id)
        """
        await self._confirmed(
            make_request("DELETE", describe_call("delete material", material_id), *_MATERIALS, material_id)
        )

"""Files of the platform outside its API: pictures, subtitle files, materials, at addresses that need no token.

The client never sends the token there (trust.md, "Secrets"), and never sends a signature unencrypted over a network.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from livedeck.client.http.content import ContentHead, ContentKind, download_fault
from livedeck.client.http.errors import Misconfigured, Unreadable
from livedeck.client.http.files import download_to_file, unproved
from livedeck.client.http.request import Progress, Request, StreamedResponse, is_https_or_loopback
from livedeck.client.http.secrets import Secret, SignedLink
from livedeck.client.http.transport import Transport

_WORDS: Mapping[ContentKind, str] = {"picture": "a picture", "subtitles": "subtitles", "file": "the file"}


class Cdn:
    """Reader of files by their addresses on the platform."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def content(self, link: Secret | str, max_bytes: int, summary: str) -> bytes:
        r"""Return the whole file. Raises Unreadable if it exceeds `max_bytes`, and any other ApiError.

        >>> poster = await api.posters.get(video_id, poster_id)
        >>> picture = await api.cdn.content(poster.xs, 2**20, "show poster")
        >>> picture[:8]
        b'\x89PNG\r\n\x1a\n'
        """
        content = bytearray()
        async with self._transport.stream(_request(link, summary)) as response:
            async for chunk in response.chunks:
                content += chunk
                if len(content) > max_bytes:
                    raise Unreadable(f"{summary}: the file is larger than {max_bytes >> 20} MiB")
        _check_complete(response, len(content), summary)
        return bytes(content)

    async def save(
        self,
        link: Secret | str,
        to: str | os.PathLike[str],
        summary: str,
        *,
        kind: ContentKind = "file",
        name: str = "",
        size: int | None = None,
        replace: bool = False,
        unchecked: bool = False,
        progress: Progress | None = None,
    ) -> int:
        """Write the file; the target gets its name only when it is complete. Returns its size in bytes.

        A cancelled call leaves nothing.

        Args:
            link: Address of the file.
            to: Path of the target.
            summary: Words for the call in error texts.
            kind: Expected content. A page or an error in its place is not written.
            name: Name of the file on the platform; empty if unknown.
            size: Size of the file in bytes as the platform states it; None if it states none.
            replace: Replace an existing target.
            unchecked: Accept any complete content.
            progress: Called with the bytes received and the total.

        Raises:
            Unproved: The content may not be the requested content.
            FileFault: The file exists, or cannot be written.
            ApiError: Anything else that goes wrong.

        >>> poster = await api.posters.get(video_id, poster_id)
        >>> size = await api.cdn.save(poster.original, folder / "poster.png", "save poster")
        """
        async with (
            download_to_file(Path(to), summary, replace=replace) as writer,
            self._transport.stream(_request(link, summary)) as response,
        ):
            head = ContentHead()
            async for chunk in response.chunks:
                await writer.write(chunk)
                head.add(chunk)
                if progress:
                    progress(writer.written, response.size)
            _check_complete(response, writer.written, summary)
            fault = download_fault(kind, (name, Path(to).name), head, response.media_type, size)
            if fault and not unchecked:
                raise await unproved(summary, Path(to), f"{_WORDS[kind]}: {fault}", head, response.media_type)
        return writer.written


def _request(link: Secret | str, summary: str) -> Request:
    address = link if isinstance(link, Secret) else SignedLink(link)
    if not address.reveal():
        raise Misconfigured(f"{summary}: no address")
    if not is_https_or_loopback(address.reveal()):
        raise Misconfigured(f"{summary}: not fetched from {address}, because http would send its signature unencrypted")
    return Request("GET", "", summary, headers={"Accept": "*/*"}, signed_link=address)


def _check_complete(response: StreamedResponse, received: int, summary: str) -> None:
    if response.size is not None and received != response.size:
        raise Unreadable(f"{summary}: received {received} of {response.size} bytes")

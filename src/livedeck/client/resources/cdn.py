"""What the platform keeps beside its API: pictures, subtitle files, materials, by addresses that need no token.

The token never goes along (trust.md, "Secrets"), and a signature never goes in clear over a network.
"""

from __future__ import annotations

from pathlib import Path

from livedeck.client.http.errors import Misconfigured, Unreadable
from livedeck.client.http.files import download
from livedeck.client.http.request import Progress, Request, StreamedResponse, loopback_or_https
from livedeck.client.http.secrets import Secret, SignedLink
from livedeck.client.http.transport import Transport


class Cdn:
    """Reads what lies behind an address of the platform."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def content(self, link: Secret | str, most: int, what: str) -> bytes:
        """The whole of it. Raises Unreadable for more than `most` bytes, and any other ApiError."""
        found = bytearray()
        async with self._transport.stream(_call(link, what)) as incoming:
            async for chunk in incoming.chunks:
                found += chunk
                if len(found) > most:
                    raise Unreadable(f"{what}: it is larger than {most >> 20} MiB")
        _whole(incoming, len(found), what)
        return bytes(found)

    async def save(
        self, link: Secret | str, to: Path, what: str, *, replace: bool = False, progress: Progress | None = None
    ) -> int:
        """Write it to a file, which has its name only once it is whole. Returns its size in bytes.

        `replace`: also where a file is there. `progress`: told the bytes that came, and of how many. Cancelling leaves
        nothing. Raises FileFault, and any other ApiError.
        """
        async with download(to, what, replace=replace) as sink, self._transport.stream(_call(link, what)) as incoming:
            async for chunk in incoming.chunks:
                await sink.write(chunk)
                if progress:
                    progress(sink.written, incoming.size)
            _whole(incoming, sink.written, what)
        return sink.written


def _call(link: Secret | str, what: str) -> Request:
    address = link if isinstance(link, Secret) else SignedLink(link)
    if not address.reveal():
        raise Misconfigured(f"{what}: there is no address")
    if not loopback_or_https(address.reveal()):
        raise Misconfigured(f"{what}: {address} is not asked: over http its signature would travel in clear")
    return Request("GET", "", what, headers={"Accept": "*/*"}, link=address)


def _whole(incoming: StreamedResponse, came: int, what: str) -> None:
    if incoming.size is not None and came != incoming.size:
        raise Unreadable(f"{what}: {came} of {incoming.size} bytes came")

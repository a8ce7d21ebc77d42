"""Early refusals, and redirected downloads by signed addresses, over TLS too."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from client.answers import TOKEN
from client.certificates import Certificates, make_certificates, needs_openssl, server_context
from client.test_early_refusals import refused, refusing, sparse
from client.test_faults import answer, error
from client.test_transport import api_at
from livedeck.client import Rejected, Secret

pytestmark = needs_openssl


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return make_certificates(tmp_path_factory.mktemp("certificates"))


@pytest.mark.parametrize("size", [1000, 2**20, 300 * 2**20], ids=["small", "1 MiB", "300 MiB"])
@pytest.mark.parametrize("closes", [True, False], ids=["closes", "stays open"])
async def test_an_upload_ends_at_its_refusal(
    closes: bool, size: int, certificates: Certificates, tmp_path: Path
) -> None:
    for status in (413, 401, 400):
        async with (
            refusing(error(status, status * 1001), closes=closes, tls=server_context(certificates)) as address,
            api_at(address, ca_file=certificates.authority) as api,
        ):
            assert (await refused(api, sparse(tmp_path, size))).status == status


@asynccontextmanager
async def answering(sent: bytes, tls: ssl.SSLContext | None) -> AsyncIterator[tuple[str, list[bytes]]]:
    """Yield a server that always sends the same reply: its address, and the heads of its requests."""
    heads: list[bytes] = []

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(sent)
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(talk, "127.0.0.1", 0, ssl=tls) as server:
        port = server.sockets[0].getsockname()[1]
        yield (f"https://localhost:{port}" if tls else f"http://127.0.0.1:{port}"), heads


@pytest.mark.parametrize(
    "is_tls", [(True, True), (False, True), (True, False)], ids=["https to https", "http to https", "https to http"]
)
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirected_download_never_shows_the_token_and_never_leaves_tls(
    status: int, is_tls: tuple[bool, bool], certificates: Certificates, tmp_path: Path
) -> None:
    """trust.md, "Origins": a signed address is read without the token, and its signature stays unread on the way."""
    from_tls, to_tls = (server_context(certificates) if is_used else None for is_used in is_tls)
    is_followed = is_tls != (True, False)
    file = tmp_path / "slides.pdf"
    async with answering(answer(200, b"slides"), to_tls) as (store, stored_heads):
        away = answer(status, b"", f"Location: {store}/kept?sign=s3cretsign")
        async with answering(away, from_tls) as (cdn, cdn_heads), api_at(cdn, ca_file=certificates.authority) as api:
            saving = api.cdn.save(Secret(f"{cdn}/slides?expires=1&sign=f1rstsign"), file, "download slides")
            if is_followed:
                await saving
            else:
                with pytest.raises(Rejected, match=f"a redirect to {store}, which is not followed") as caught:
                    await saving
                assert "sign" not in str(caught.value)
    assert len(cdn_heads) == 1
    assert [head.split()[1] for head in stored_heads] == ([b"/kept?sign=s3cretsign"] if is_followed else [])
    assert file.exists() == is_followed
    for head in cdn_heads + stored_heads:
        assert TOKEN.encode() not in head
        assert b"authorization" not in head.lower()
        assert b"f1rstsign" not in head or head in cdn_heads  # nor in a Referer


async def test_a_long_download_is_whole(certificates: Certificates, tmp_path: Path) -> None:
    """Most of it is read past the parser of HTTP."""
    whole = bytes(range(256)) * 16_000
    async with (
        answering(answer(200, whole), server_context(certificates)) as (cdn, _),
        api_at(cdn, ca_file=certificates.authority) as api,
    ):
        size = await api.cdn.save(Secret(f"{cdn}/slides?sign=f1rstsign"), tmp_path / "slides.pdf", "download slides")
    assert size == len(whole)
    assert (tmp_path / "slides.pdf").read_bytes() == whole

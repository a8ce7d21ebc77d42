"""Private authorities, client certificates and proxies, over real sockets (connect.md, "Company networks")."""

from __future__ import annotations

import asyncio
import base64
import re
import socket
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from client.answers import EMPTY_LIST, TOKEN
from client.certificates import Certificates, make_certificates, needs_openssl
from livedeck.client import Api, Misconfigured, Unreachable

pytestmark = needs_openssl

PASSWORD = "s3cretword"


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return make_certificates(tmp_path_factory.mktemp("certificates"))


@asynccontextmanager
async def serving(certificates: Certificates, *, asks_client: bool = False) -> AsyncIterator[tuple[int, list[bytes]]]:
    """Yield a TLS platform with empty lists: its port, and the heads of its requests."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=certificates.authority)
    context.load_cert_chain(certificates.server)
    context.verify_mode = ssl.CERT_REQUIRED if asks_client else ssl.CERT_NONE
    heads: list[bytes] = []

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            while True:
                heads.append(await reader.readuntil(b"\r\n\r\n"))
                writer.write(EMPTY_LIST)
                await writer.drain()
        writer.close()

    async with _server(talk, ssl=context) as port:
        yield port, heads


@asynccontextmanager
async def proxying(refusal: bytes = b"") -> AsyncIterator[tuple[int, list[bytes]]]:
    """Yield a proxy that opens tunnels, or sends `refusal`: its port, and the bytes that it could read."""
    seen: list[bytes] = []

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        seen.append(head)
        if refusal:
            writer.write(refusal)
        else:
            target = re.match(rb"CONNECT ([\w.]+):(\d+) HTTP/1.1\r\n", head)
            assert target
            there, onward = await asyncio.open_connection(target[1].decode(), int(target[2]))
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            await asyncio.gather(_copy(reader, onward, seen), _copy(there, writer, []))
        writer.close()

    async with _server(talk) as port:
        yield port, seen


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, seen: list[bytes]) -> None:
    with suppress(OSError):
        while data := await reader.read(65_536):
            seen.append(data)
            writer.write(data)
            await writer.drain()
    writer.close()


@asynccontextmanager
async def _server(talk: Any, **options: Any) -> AsyncIterator[int]:
    """Yield the port of a listening socket. All conversations have ended when the block ends."""
    talks: set[asyncio.Task[None]] = set()

    async def begin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        talks.add(task)
        await talk(reader, writer)

    async with await asyncio.start_server(begin, "127.0.0.1", 0, **options) as server:
        yield server.sockets[0].getsockname()[1]
    await asyncio.gather(*talks)


def api_at(port: int, host: str = "localhost", **options: Any) -> Api:
    return Api(base_url=f"https://{host}:{port}", token=TOKEN, **({"retry": 0.0} | options))


async def test_an_authority_of_ones_own_is_trusted_where_it_is_named_and_nowhere_else(
    certificates: Certificates,
) -> None:
    async with serving(certificates) as (port, heads):
        async with api_at(port, ca_file=certificates.authority) as api:
            assert (await api.events.list()).items == ()
        async with api_at(port) as api:
            with pytest.raises(Unreachable, match=r"no trusted connection to localhost:\d+; .* ca_file") as caught:
                await api.events.list()
    assert caught.value.cause == "tls"
    assert len(heads) == 1


async def test_a_platform_that_asks_for_a_certificate_gets_it(certificates: Certificates) -> None:
    names = {"ca_file": str(certificates.authority), "client_cert": str(certificates.client)}
    async with serving(certificates, asks_client=True) as (port, heads), api_at(port, **names) as api:
        assert (await api.events.list()).items == ()
    assert len(heads) == 1


async def test_a_platform_that_gets_no_certificate_says_so(certificates: Certificates) -> None:
    """Over a blocking socket: asyncio's own server hangs up without the alert that TLS demands.

    It closes only behind the client, for a reset would take the alert with it.
    """
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=certificates.authority)
    context.load_cert_chain(certificates.server)
    context.verify_mode = ssl.CERT_REQUIRED

    def refuse(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        wrapped = context.wrap_socket(connection, server_side=True, do_handshake_on_connect=False)
        with pytest.raises(ssl.SSLError):
            wrapped.do_handshake()
        with socket.socket(fileno=wrapped.detach()) as plain:
            while plain.recv(65_536):
                pass

    with socket.create_server(("127.0.0.1", 0)) as listener:
        refusing = asyncio.create_task(asyncio.to_thread(refuse, listener))
        async with api_at(listener.getsockname()[1], ca_file=certificates.authority) as api:
            with pytest.raises(Unreachable, match="client_cert") as caught:
                await api.events.list()
        await refusing
    assert caught.value.cause == "tls"


async def test_a_proxy_opens_the_way_and_reads_nothing_of_it(certificates: Certificates) -> None:
    async with serving(certificates) as (port, heads), proxying() as (proxy_port, seen):
        options: Mapping[str, Any] = {
            "ca_file": certificates.authority,
            "proxy": f"http://me:{PASSWORD}@127.0.0.1:{proxy_port}",
        }
        async with api_at(port, **options) as api:
            assert (await api.events.list()).items == ()
            await api.events.enable("e1")
    assert [head.split(b"\r\n")[0] for head in heads] == [
        b"GET /v2/live/events?page=1&per_page=20 HTTP/1.1",
        b"PUT /v2/live/events/e1/enable HTTP/1.1",
    ]
    credentials = base64.b64encode(f"me:{PASSWORD}".encode())
    assert seen[0].startswith(b"CONNECT localhost:%d HTTP/1.1\r\n" % port)
    assert b"Proxy-Authorization: Basic " + credentials in seen[0]
    assert not [data for data in seen if TOKEN.encode() in data or b"live/events" in data]
    assert not [head for head in heads if b"Proxy-Authorization" in head]


async def test_a_proxy_that_refuses_is_named_and_not_the_platform() -> None:
    refusal = b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n"
    async with proxying(refusal) as (port, _), api_at(443, proxy=f"http://me:{PASSWORD}@127.0.0.1:{port}") as api:
        for call in (api.events.list(), api.events.delete("e1")):
            with pytest.raises(Unreachable) as caught:
                await call
            assert caught.value.cause == "proxy"
            assert f"the proxy http://127.0.0.1:{port} refuses (407 Proxy Authentication Required)" in str(caught.value)
            assert "check the setting proxy" in str(caught.value)
            assert PASSWORD not in f"{caught.value!r}"


async def test_a_proxy_that_is_not_there_is_named() -> None:
    async with _server(None) as port:
        pass
    async with api_at(443, proxy=f"http://127.0.0.1:{port}") as api:
        with pytest.raises(Unreachable, match=f"the proxy http://127.0.0.1:{port} cannot be reached") as caught:
            await api.events.list()
    assert caught.value.cause == "proxy"


async def test_the_environment_is_heeded_where_that_is_said(
    certificates: Certificates, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificates.authority))
    async with serving(certificates) as (port, _), proxying() as (proxy_port, seen):
        monkeypatch.setenv("HTTPS_PROXY", f"127.0.0.1:{proxy_port}")
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        async with api_at(port) as api:
            with pytest.raises(Unreachable, match="no trusted connection"):
                await api.events.list()
        assert not seen
        async with api_at(port, use_environment=True) as api:
            assert (await api.events.list()).items == ()
        assert seen
        seen.clear()
        async with api_at(port, "127.0.0.1", use_environment=True) as api:
            assert (await api.events.list()).items == ()
        assert not seen


async def test_plain_http_to_this_machine_passes_no_proxy() -> None:
    """There the token travels in clear."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(EMPTY_LIST)
        writer.close()

    async with _server(talk) as port, proxying() as (proxy_port, seen):
        proxy = f"http://127.0.0.1:{proxy_port}"
        async with Api(base_url=f"http://127.0.0.1:{port}", token=TOKEN, proxy=proxy, retry=0) as api:
            await api.events.list()
    assert not seen


@pytest.mark.parametrize(
    "proxy", ["socks5://127.0.0.1:1080", "127.0.0.1:3128", "http://127.0.0.1", "http://h:0", "http://h:70000", "x"]
)
def test_a_proxy_that_is_no_address_is_refused_at_once(proxy: str) -> None:
    with pytest.raises(Misconfigured, match=r"^proxy should"):
        api_at(443, proxy=proxy)


def test_a_proxy_of_the_environment_that_is_no_address_is_refused_by_the_name_of_its_variable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("HTTPS_PROXY", raising=False)
    monkeypatch.delenv("https_proxy", raising=False)
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:1080")
    with pytest.raises(Misconfigured, match=r"^ALL_PROXY should be http"):
        api_at(443, use_environment=True)


def test_a_certificate_that_cannot_be_used_is_named(certificates: Certificates, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("no certificate")
    with pytest.raises(Misconfigured, match=f"^ca_file {tmp_path / 'none'}: No such file"):
        api_at(443, ca_file=tmp_path / "none")
    with pytest.raises(Misconfigured, match=f"^ca_file {other}: should contain certificates in PEM"):
        api_at(443, ca_file=other)
    with pytest.raises(Misconfigured, match=f"^client_cert {tmp_path / 'none'}: No such file"):
        api_at(443, client_cert=tmp_path / "none")
    for path in (other, certificates.authority, certificates.locked_client):
        with pytest.raises(Misconfigured, match=f"^client_cert {path}: .* its key, without a passphrase"):
            api_at(443, client_cert=path)


def test_a_variable_that_names_no_certificates_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "none"))
    with pytest.raises(Misconfigured, match=r"^SSL_CERT_FILE or SSL_CERT_DIR: No such file"):
        api_at(443, use_environment=True)
    api_at(443)

"""Webhooks of strangers with any reply, on an event loop where nothing waits, and on real networks."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from itertools import repeat
from pathlib import Path

import pytest

from client.certificates import make_certificates, needs_openssl, server_context
from golden.warp import Warp
from livedeck.client import Outgoing
from livedeck.notify import Delivery, Webhook
from notify.sinks import http_sink
from notify.test_targets import message

ENOUGH = 11.0
"""Seconds after which a try has ended, whatever the receiver does."""

HEAD = b"HTTP/1.1 200 OK\r\n"
Answer = Callable[[], AsyncIterator[bytes]]


async def nothing() -> AsyncIterator[bytes]:
    """Take the request and send nothing."""
    await asyncio.sleep(3600)
    yield b""


async def a_head_without_an_end() -> AsyncIterator[bytes]:
    """Send a header each second."""
    yield HEAD
    for number in range(3600):
        yield b"X-%d: 1\r\n" % number
        await asyncio.sleep(1)


async def yes_without_its_words() -> AsyncIterator[bytes]:
    """Announce a body and send none."""
    yield HEAD + b"Content-Length: 100\r\n\r\n"
    await asyncio.sleep(3600)


async def yes_and_words_without_an_end() -> AsyncIterator[bytes]:
    """Send a letter a second, in chunks."""
    yield HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
    for _ in range(3600):
        yield b"1\r\nx\r\n"
        await asyncio.sleep(1)


async def yes_and_more_words_than_anybody_reads() -> AsyncIterator[bytes]:
    """Send a terabyte."""
    yield HEAD + b"Content-Length: 1000000000000\r\n\r\n"
    for part in repeat(b"x" * 65_536):
        yield part


async def yes_and_cut_off() -> AsyncIterator[bytes]:
    """Close the connection within the body."""
    yield HEAD + b"Content-Length: 100\r\n\r\nthan"


async def yes_in_chunks_that_are_none() -> AsyncIterator[bytes]:
    """Send a status and then nonsense in place of chunks."""
    yield HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n"


async def no_protocol_at_all() -> AsyncIterator[bytes]:
    """Reply like another service at that port."""
    yield b"220 mail.example ESMTP\r\n\r\n"
    await asyncio.sleep(3600)


async def later_by_a_date() -> AsyncIterator[bytes]:
    """Ask for a retry at a date, by the receiver's own clock."""
    yield b"HTTP/1.1 429 Slow\r\nDate: Sat, 21 Nov 2026 20:14:05 GMT\r\n"
    yield b"Retry-After: Sat, 21 Nov 2026 20:15:35 GMT\r\nContent-Length: 0\r\n\r\n"


def tried(answer: Answer) -> tuple[Delivery, float]:
    """Return the result of a try, and the seconds that it took."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        try:
            async for part in answer():
                writer.write(part)
                await writer.drain()
        except ConnectionError:
            pass  # enough was read
        finally:
            writer.close()

    async def work() -> tuple[Delivery, float]:
        loop = asyncio.get_running_loop()
        async with await asyncio.start_server(serve, "127.0.0.1", 0) as server, Outgoing() as outgoing:
            port = server.sockets[0].getsockname()[1]
            delivery = await Webhook(outgoing.send, f"http://127.0.0.1:{port}/").send(message())
            return delivery, loop.time()

    with asyncio.Runner(loop_factory=Warp) as runner:
        return runner.run(work())


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (nothing, Delivery(is_taken=False, answer="no reply (timeout)")),
        (a_head_without_an_end, Delivery(is_taken=False, answer="no reply (timeout)")),
        (no_protocol_at_all, Delivery(is_taken=False, answer="the reply was not HTTP")),
        (yes_without_its_words, Delivery(is_taken=True, answer="200")),
        (yes_and_words_without_an_end, Delivery(is_taken=True, answer="200")),
        (yes_and_cut_off, Delivery(is_taken=True, answer="200")),
        (yes_in_chunks_that_are_none, Delivery(is_taken=True, answer="200")),
        (later_by_a_date, Delivery(is_taken=False, answer="429", retry_after=90.0)),
    ],
)
def test_a_try_ends_soon_and_a_status_counts_whatever_comes_after_it(answer: Answer, expected: Delivery) -> None:
    delivery, seconds = tried(answer)
    assert delivery == expected
    assert seconds < ENOUGH


def test_of_a_body_without_bounds_the_beginning_is_read() -> None:
    delivery, seconds = tried(yes_and_more_words_than_anybody_reads)
    assert delivery.is_taken
    assert delivery.answer.startswith("200 xxx")
    assert len(delivery.answer) < 200
    assert seconds < ENOUGH


async def test_a_receiver_may_have_an_address_of_ipv6() -> None:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no IPv6")
    async with Outgoing() as outgoing:
        with http_sink("::1") as sink:
            assert sink.address.startswith("http://[::1]:")
            assert (await Webhook(outgoing.send, sink.address).send(message())).is_taken


@pytest.mark.parametrize("use_environment", [False, True])
async def test_no_proxy_sees_what_goes_to_this_machine(monkeypatch: pytest.MonkeyPatch, use_environment: bool) -> None:
    with http_sink() as proxy, http_sink() as sink:
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.address)
            monkeypatch.setenv(name.lower(), proxy.address)
        for given in (None, proxy.address):
            async with Outgoing(proxy=given, use_environment=use_environment) as outgoing:
                assert (await Webhook(outgoing.send, sink.address).send(message())).is_taken
    assert len(sink.received) == 2
    assert proxy.received == []


@needs_openssl
async def test_a_certificate_counts_by_the_authority_of_the_settings_and_by_no_other(tmp_path: Path) -> None:
    certificates = make_certificates(tmp_path)
    with http_sink(tls=server_context(certificates)) as sink:
        async with Outgoing() as stranger:
            refused = await Webhook(stranger.send, sink.address).send(message())
        async with Outgoing(ca_file=certificates.authority) as outgoing:
            delivery = await Webhook(outgoing.send, sink.address).send(message())
    assert (refused.is_taken, refused.is_refused) == (False, False)
    assert refused.answer == "no reply (tls)"
    assert delivery.is_taken
    assert len(sink.received) == 1

"""A bad reply never replaces a good file, and no token goes along with a signed link.

(trust.md, "Files" and "Secrets".)
"""

from __future__ import annotations

import asyncio
import gzip
import json
import random
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from client.answers import EMPTY_LIST, TOKEN, listening
from client.test_transport import api_at
from costs import check
from counting import calls_of, counted
from golden.warp import warped
from livedeck.client import ApiError, ChatExport, ChatFormat, MessageFilter, Rejected, Unreachable
from livedeck.client.chat_export.wholeness import JsonWholeness
from trials import trials

GOOD = b"what was exported yesterday"
WHOLE = json.dumps(
    {"data": [{"id": f"m{number}", "message": "Hello", "created_at": ""} for number in range(2000)]}
).encode()
HALVES = {
    "empty": b"",
    "no list": b"{}",
    "a start": b'{"data":',
    "half": WHOLE[: len(WHOLE) // 2],
    "no end": WHOLE[:-2],
}
NO_FILTER = MessageFilter()
ALL = MessageFilter(search="e")


def answer(body: bytes, head: bytes = b"HTTP/1.1 200 OK") -> bytes:
    """Return a response of that length, after which the platform hangs up."""
    return head + b"\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)


def content(path: Path) -> bytes:
    """Return the bytes of the file."""
    return path.read_bytes()


def neighbours(path: Path) -> list[Path]:
    """Return everything in the file's folder."""
    return [*path.parent.iterdir()]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Good file of a successful export."""
    path = tmp_path / "chat"
    path.write_bytes(GOOD)
    return path


@pytest.mark.parametrize("body", HALVES.values(), ids=HALVES)
@pytest.mark.parametrize(
    ("form", "sifted"),
    [("json", NO_FILTER), ("json", ALL), ("csv", ALL), ("txt", ALL), ("ndjson", NO_FILTER), ("xlsx", NO_FILTER)],
)
async def test_an_answer_that_is_no_whole_log_leaves_the_good_file(
    form: ChatFormat, sifted: MessageFilter, body: bytes, file: Path
) -> None:
    async with listening(answer(body)) as (address, _), api_at(address) as api:
        with pytest.raises(ApiError):
            await api.chat.export(ChatExport("e", "s", form, filter=sifted), file, replace=True)
    assert content(file) == GOOD
    assert neighbours(file) == [file]


@pytest.mark.parametrize("form", ["csv", "txt"])
@pytest.mark.parametrize(
    "sent",
    [
        answer(b""),
        answer(b"{}", b"HTTP/1.1 200 OK\r\nContent-Type: application/json"),
        b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\nid,username\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nid,us\r\n",
    ],
    ids=["empty", "{}", "half of the stated length", "half of the chunks"],
)
async def test_a_text_that_is_empty_or_cut_off_leaves_the_good_file(form: ChatFormat, sent: bytes, file: Path) -> None:
    async with listening(sent) as (address, _), api_at(address) as api:
        with pytest.raises(ApiError):
            await api.chat.export(ChatExport("e", "s", form), file, replace=True)
    assert content(file) == GOOD
    assert neighbours(file) == [file]


async def test_a_whole_log_does_replace_it(file: Path) -> None:
    async with listening(answer(WHOLE)) as (address, _), api_at(address) as api:
        await api.chat.export(ChatExport("e", "s"), file, replace=True)
    assert content(file) == WHOLE


LONG = b'{"data":[' + b",".join([b'{"id":"m1","message":"Hello"}'] * 150_000) + b"]}"
"""Log of 4 MiB."""


@pytest.mark.parametrize("further", [b"", b"HTTP/1.1 200 OK\r\n\r\n"], ids=["exact", "more than stated"])
async def test_a_long_log_is_whole_and_the_next_request_is_answered(further: bytes, file: Path) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(LONG)
    async with listening(head + LONG + further, EMPTY_LIST) as (address, heads), api_at(address) as api:
        result = await api.chat.export(ChatExport("e", "s"), file, replace=True)
        assert not (await api.events.list()).items
    assert result.size == len(LONG)
    assert content(file) == LONG
    assert len(heads) == 2


async def test_a_long_log_that_breaks_off_leaves_the_good_file(file: Path) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % (len(LONG) + 2)
    async with listening(head + LONG) as (address, _), api_at(address) as api:
        with pytest.raises(Unreachable, match=r"the connection to .* broke"):
            await api.chat.export(ChatExport("e", "s"), file, replace=True)
    assert content(file) == GOOD
    assert neighbours(file) == [file]


@warped
async def test_a_long_log_that_stops_arriving_is_given_up(file: Path) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % (len(LONG) + 2)
    given_up = asyncio.Event()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(head + LONG)
        with suppress(ConnectionError):
            await writer.drain()
            await given_up.wait()
        writer.close()

    async with await asyncio.start_server(talk, "127.0.0.1", 0) as server:
        address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        async with api_at(address, timeout=0.5) as api:
            with pytest.raises(Unreachable) as caught:
                await api.chat.export(ChatExport("e", "s"), file, replace=True)
        given_up.set()
    assert caught.value.cause == "timeout"
    assert content(file) == GOOD


async def test_a_long_compressed_log_is_whole(file: Path) -> None:
    noise = random.Random(7).randbytes(1_500_000).hex()
    whole = f'{{"data":[{{"id":"m1","message":"{noise}"}}]}}'.encode()
    sent = answer(gzip.compress(whole, 1), b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip")
    assert len(sent) > 3 * 2**19
    async with listening(sent) as (address, _), api_at(address) as api:
        await api.chat.export(ChatExport("e", "s"), file, replace=True)
    assert content(file) == whole


async def test_a_long_log_costs_the_parser_of_http_no_more_than_a_short_one(tmp_path: Path) -> None:
    """It copies each byte four times."""

    async def calls_in_h11(times: int) -> int:
        body = b'{"data":[' + LONG[9:-2] + (b"," + LONG[9:-2]) * (times - 1) + b"]}"
        async with listening(answer(body)) as (address, _), api_at(address) as api:
            with counted() as calls:
                await api.chat.export(ChatExport("e", "s"), tmp_path / "chat", replace=True)
        return sum(count for module, count in calls.items() if module.startswith("h11."))

    check("export: calls in h11 at four times the length", await calls_in_h11(4) / await calls_in_h11(1))


def redirect(to: str, status: int = 302) -> bytes:
    """Return a redirect to an address."""
    return answer(b"", f"HTTP/1.1 {status} Found\r\nLocation: {to}".encode())


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_the_redirect_of_a_signed_link_is_followed_and_no_token_goes_along(status: int, file: Path) -> None:
    async with (
        listening(answer(b"the slides")) as (store, at_store),
        listening(redirect(f"{store}/slides?sign=s3cretsign", status)) as (cdn, at_cdn),
        api_at(store) as api,
    ):
        assert await api.cdn.save(f"{cdn}/m1?sign=s3cretsign", file, "download", replace=True) == 10
    assert content(file) == b"the slides"
    assert at_cdn[0].startswith(b"GET /m1?sign=s3cretsign HTTP/1.1\r\n")
    assert at_store[0].startswith(b"GET /slides?sign=s3cretsign HTTP/1.1\r\n")
    assert not [head for head in (*at_cdn, *at_store) if b"authorization" in head.lower() or TOKEN.encode() in head]


@pytest.mark.parametrize(
    "target",
    ["http://cdn.example/a?sign=s3cretsign", "ftp://127.0.0.1/a", "file:///etc/hosts", "http://[::2]/a", "http://[/a"],
)
async def test_a_redirect_to_where_others_can_read_is_not_followed(target: str, file: Path) -> None:
    async with listening(redirect(target)) as (cdn, heads), api_at(cdn) as api:
        with pytest.raises(Rejected) as caught:
            await api.cdn.save(f"{cdn}/m1", file, "download", replace=True)
    assert caught.value.status == 302
    assert "s3cretsign" not in str(caught.value)
    assert len(heads) == 1
    assert content(file) == GOOD


async def test_redirects_in_a_circle_come_to_an_end(file: Path) -> None:
    async with listening(redirect("/m1")) as (cdn, heads), api_at(cdn) as api:
        with pytest.raises(Rejected):
            await api.cdn.save(f"{cdn}/m1", file, "download", replace=True)
    assert len(heads) == 6
    assert content(file) == GOOD


async def test_a_chat_export_follows_no_redirect(file: Path) -> None:
    """The request contains the token."""
    async with (
        listening(answer(WHOLE)) as (elsewhere, seen),
        listening(redirect(f"{elsewhere}/chat.json")) as (address, _),
        api_at(address) as api,
    ):
        with pytest.raises(Rejected):
            await api.chat.export(ChatExport("e", "s"), file, replace=True)
    assert not seen
    assert content(file) == GOOD


async def test_the_signature_of_a_redirect_is_not_quoted_by_the_error_that_repeats_it(file: Path) -> None:
    """Stores quote the address that they refuse."""
    refused = b'{"error":{"message":"no access to /slides?sign=s3cretsign"}}'
    async with (
        listening(answer(refused, b"HTTP/1.1 403 Forbidden")) as (store, _),
        listening(redirect(f"{store}/slides?sign=s3cretsign")) as (cdn, _),
        api_at(store) as api,
    ):
        with pytest.raises(Rejected) as caught:
            await api.cdn.save(f"{cdn}/m1?sign=another", file, "download", replace=True)
    assert caught.value.status == 403
    assert "s3cretsign" not in str(caught.value)


TRAP = b'{"data":[{"id":"m1","message":"as in a \\\\\\"JSON\\\\\\" document: [1]}'.replace(b"\\\\", b"\\")
"""Message whose text contains `]}`. The log is cut right after it."""

PADDING = b'{"data":[' + b'{"id":"m0","message":"Hello"},' * 4000


def until_close(body: bytes) -> bytes:
    """Return a response without a length: it ends with the connection."""
    return b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + body


@pytest.mark.parametrize("send", [answer, until_close])
@pytest.mark.parametrize("lead", [b"", PADDING], ids=["short", "long"])
async def test_a_log_that_is_cut_behind_what_looks_like_its_end_leaves_the_good_file(
    send: Callable[[bytes], bytes], lead: bytes, file: Path
) -> None:
    cut = lead + TRAP.removeprefix(b'{"data":[') if lead else TRAP
    assert cut.endswith(b"]}")
    async with listening(send(cut)) as (address, _), api_at(address) as api:
        with pytest.raises(ApiError, match=r"half way|is not JSON|not a complete log"):
            await api.chat.export(ChatExport("e", "s"), file, replace=True)
    assert content(file) == GOOD
    assert neighbours(file) == [file]


@pytest.mark.parametrize(
    ("form", "body", "fault"),
    [
        ("csv", b'"id","message"\r\n"m1","Hel', "inside a cell"),
        ("csv", b"id,message\r\nm1,Hel", "last line is incomplete"),
        ("txt", b"[12:00] Ada: Hello\n[12:01] Gr", "last line is incomplete"),
    ],
)
async def test_a_text_without_a_stated_length_that_ends_in_a_line_leaves_the_good_file(
    form: ChatFormat, body: bytes, fault: str, file: Path
) -> None:
    async with listening(until_close(body)) as (address, _), api_at(address) as api:
        with pytest.raises(ApiError, match=fault):
            await api.chat.export(ChatExport("e", "s", form), file, replace=True)
    assert content(file) == GOOD


@pytest.mark.parametrize(
    ("form", "sent"),
    [
        ("json", until_close(WHOLE)),
        ("json", answer(PADDING + b'{"message":"\\\\"}]}')),
        ("json", until_close(b'{"data":[]}')),
        ("csv", until_close(b'"id","message"\r\n"m1","Hel""lo"\r\n')),
        ("txt", until_close(b"[12:00] Ada: Hello\n")),
        ("txt", answer(b'[12:00] Ada: it is 5" wide')),
        ("csv", answer(b"id,message\r\nm1,Hello")),
    ],
)
async def test_a_log_whose_end_can_be_told_is_taken(form: ChatFormat, sent: bytes, file: Path) -> None:
    async with listening(sent) as (address, _), api_at(address) as api:
        await api.chat.export(ChatExport("e", "s", form), file, replace=True)
    assert content(file) == sent.partition(b"\r\n\r\n")[2]


@given(st.recursive(st.none() | st.text(max_size=9), lambda inner: st.lists(inner, max_size=3)), st.integers(1, 7))
def test_every_beginning_of_a_log_is_told_from_the_whole(messages: object, step: int) -> None:
    """A log without its last bracket is incomplete, in whatever pieces it arrives."""
    whole = json.dumps({"data": [messages]}).encode()
    for end in range(1, len(whole) + 1):
        wholeness = JsonWholeness()
        for start in range(0, end, step):
            wholeness.add(whole[start : min(end, start + step)])
        assert (not wholeness.fault) == (end == len(whole)), whole[:end]


MARKED = st.text('"\\\\{}[],:a', max_size=40)


def reference(body: str) -> bool:
    """Return whether a body closes all that it opens, character by character."""
    depth, is_in_text, at = 0, False, 0
    while at < len(body):
        char = body[at]
        at += 2 if body[at : at + 2] in {"\\\\", '\\"'} else 1
        if char == "\\":
            continue
        is_in_text ^= char == '"'
        depth += 0 if is_in_text else (char in "{[") - (char in "}]")
    return not depth and not is_in_text


@trials(2000)
@given(MARKED, st.integers(1, 9))
def test_a_log_is_whole_where_it_closes_all_that_it_opens(marked: str, step: int) -> None:
    whole = f'{{"data":[{marked}]}}'
    wholeness = JsonWholeness()
    for start in range(0, len(whole), step):
        wholeness.add(whole[start : start + step].encode())
    assert (wholeness.fault == "") == reference(whole)


def messages_of(size: int) -> bytes:
    """Return the messages of a log, some with an escaped quotation mark."""
    message = b'{"id":"4d2c2f2e-6f53","username":"someone","message":"Good evening, everyone","is_admin":"false"},'
    quoting = message.replace(b"evening", b'\\"evening\\"')
    return (message * 50 + quoting) * (size // (51 * len(message)))


def bytes_held(chunk: bytes) -> int:
    """Return the maximum number of bytes held for a chunk, in addition to the chunk."""
    wholeness = JsonWholeness()
    wholeness.add(b'{"data":[')
    tracemalloc.start()
    try:
        wholeness.add(chunk)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_piece_of_a_log_is_not_taken_apart() -> None:
    """Each text of a message was once an object of its own, at a quarter of a gigabyte a second."""
    plain = messages_of(2**18).replace(b'\\"', b"")
    check("wholeness: bytes held for each byte of a piece", bytes_held(plain) / len(plain))


def test_ten_times_the_log_is_at_most_eleven_times_the_work() -> None:
    pieces = [messages_of(2**16)] * 100

    def work(count: int) -> Callable[[], None]:
        wholeness = JsonWholeness()

        def add() -> None:
            for piece in pieces[:count]:
                wholeness.add(piece)

        return add

    check("growth of work at ten times the size", calls_of(work(100)) / calls_of(work(10)))
    held = bytes_held(messages_of(10 * 2**16)) / bytes_held(messages_of(2**16))
    check("growth of work at ten times the size", held)

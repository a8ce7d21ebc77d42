"""The chat is read message by message, whatever pieces arrive, and exported to a file that is whole or absent."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import counting
from client.answers import TOKEN, Platform, api_of, listening, saying
from client.test_transport import api_at
from costs import check
from livedeck.client import (
    Api,
    ApiError,
    ChatExport,
    ExportProgress,
    FileFault,
    Message,
    NotFound,
    ReadOnly,
    Rejected,
    Unreachable,
    Unreadable,
)
from livedeck.client.chat_export import parser
from livedeck.client.chat_export.parser import ChatLogParser
from livedeck.client.http.response import NotJson, decode, decode_run
from trials import trials


async def in_pieces(body: bytes, size: int) -> AsyncIterator[bytes]:
    for start in range(0, len(body), size):
        yield body[start : start + size]


async def taken_apart(body: bytes, size: int) -> list[object]:
    return [item async for items in ChatLogParser(in_pieces(body, size)) for item in items]


scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3)
)


@trials(150)
@given(
    st.lists(values, max_size=5),
    st.dictionaries(st.text().filter(lambda name: name not in {"data", "error"}), values, max_size=2),
    st.booleans(),
    st.integers(1, 40),
    st.sampled_from([None, 1]),
)
async def test_a_log_in_pieces_of_any_size_is_what_it_is_as_a_whole(
    items: list[object], beside: dict[str, object], first: bool, size: int, indent: int | None
) -> None:
    document = beside | {"data": items} if first else {"data": items} | beside
    body = json.dumps(document, ensure_ascii=False, indent=indent).encode(errors="replace")
    whole: Any = decode(body)
    assert await taken_apart(body, size) == whole["data"]


@trials(150)
@given(st.binary(max_size=30) | st.text('{}[]",:dataerror01 \\').map(str.encode), st.integers(1, 8))
async def test_what_is_no_log_is_told_and_never_hangs(body: bytes, size: int) -> None:
    with suppress(NotJson):
        items = await taken_apart(body, size)
        whole: Any = decode(body)
        assert "error" in whole or items == (whole["data"] or [])


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"{}",
        b"7",
        b'{"data": 7}',
        b'{"data": {}}',
        b'{"meta": 1}',
        b'{"error": false}',
        b'{"data": [] "meta": 1}',
        b'{"data": [{}] {}}',
        b'{"data": [{} {}]}',
        b'{"data": [NaN]}',
        b'{"data": []} more',
        b'{"data": [{}]',
        b'{"data": [' + b"[" * 100_000,
    ],
)
async def test_what_is_no_log_is_unreadable(body: bytes) -> None:
    async with api_of(saying(body)) as api:
        with pytest.raises(Unreadable, match="read chat of event e: the response is not as documented"):
            await all_of(api)


async def all_of(api: Api) -> list[Message]:
    return [message async for message in api.chat.messages("e", "s")]


def log_of_a_message(size: int) -> bytes:
    """Return a log whose only message has `size` characters of JSON."""
    return b'{"data": [{"message": "' + b"x" * (size - len('{"message": ""}')) + b'"}]}'


@pytest.mark.parametrize("piece", [4096, 65_536, 3 * 2**20])
async def test_a_message_of_a_mebibyte_is_read_and_a_longer_one_is_not(piece: int) -> None:
    """However it comes."""
    (message,) = await anext(ChatLogParser(in_pieces(log_of_a_message(2**20), piece)))
    assert isinstance(message, dict)
    with pytest.raises(NotJson, match="longer than 1 MiB"):
        await anext(ChatLogParser(in_pieces(log_of_a_message(2**20 + 1), piece)))


async def test_a_message_without_end_is_given_up_before_it_fills_the_memory() -> None:
    pieces = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal pieces
        yield b'{"data": [{"message": "'
        while True:
            pieces += 1
            yield b"x" * 65_536

    with pytest.raises(NotJson, match="longer than 1 MiB"):
        await anext(ChatLogParser(endless()))
    assert pieces * 65_536 < 1.5 * 2**20


@pytest.mark.parametrize("said", [24, 60, 121, 250])
async def test_texts_that_look_like_ends_of_messages_are_tried_once_and_not_again(
    said: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that cannot be taken apart costs its length once, wherever in the messages it would have ended."""
    tried: list[int] = []

    def counted(text: str) -> list[object]:
        tried.append(len(text))
        return decode_run(text)

    monkeypatch.setattr(parser, "decode_run", counted)
    log = [{"id": f"{number:06}", "message": "see {a:{b:1},c:2} ".ljust(said, "p")} for number in range(4_000)]
    body = json.dumps({"data": log}).encode()
    assert await taken_apart(body, len(body)) == log
    assert sum(tried) <= 4 * len(body)


@pytest.mark.parametrize("size", [1, 7, 10_000])
@pytest.mark.parametrize(
    ("second", "texts", "left_out"),
    [
        ('{"id":"2","message":"b\tc"}', ["a", "b\tc", "d"], 0),
        ('{"id":"2","message":"b"},', ["a", "b", "d"], None),
        ('{"id":"2","message":"b\\x"}', ["a", "d"], 1),
        ('{"id":"2","message":"b","n":NaN}', ["a", "d"], 1),
        ('{"id":"2" "message":"b"}', ["a", "d"], 1),
        ('{"id":"2","n":' + "[" * 50_000 + "]" * 50_000 + "}", ["a", "d"], 1),
        ('{"id":"2","n":' + "9" * 5000 + "}", ["a", "d"], 1),
    ],
)
async def test_a_forbidden_value_hides_no_other_message(
    second: str, texts: list[str], left_out: int | None, size: int, caplog: pytest.LogCaptureFixture
) -> None:
    """A comma too many is read where it stands after the last message only."""
    rows = ['{"id":"1","message":"a"}', second, '{"id":"3","message":"d"}']
    if left_out is None:
        rows = [rows[0], '{"id":"2","message":"b"}', rows[2] + ","]
    body = f'{{"data":[{",".join(rows)}]}}'.encode()

    async def send(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for start in range(0, len(body), size):
            await send({"type": "http.response.body", "body": body[start : start + size], "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    async with api_of(send) as api:
        assert [message.message async for message in api.chat.messages("e", "s")] == texts
    assert ("items that are no message: 1" in caplog.text) is bool(left_out)


@pytest.mark.parametrize(
    "body", [b'{"data": null}', b'{"data": []}', b'\xef\xbb\xbf{"meta": {}, "data": [ ] , "x": 1.5 }']
)
async def test_a_log_may_be_empty(body: bytes) -> None:
    async with api_of(saying(body)) as api:
        assert await all_of(api) == []


async def test_a_message_is_read_in_a_few_calls() -> None:
    """Those of a log of two lengths, so that what is done once does not count."""
    row = {
        "id": "m1",
        "message": "Hello",
        "created_at": "2026-11-21T18:00:00Z",
        "cteated_at_local": "2026-11-21T19:00:00",
    }

    async def calls(count: int) -> int:
        async with api_of(saying({"data": [row] * count})) as api:
            assert (await anext(aiter(api.chat.messages("e", "s")))).id == "m1"
            with counting.counted() as calls:
                assert len([message async for message in api.chat.messages("e", "s")]) == count
        return calls.total()

    check("messages: calls for each", (await calls(1100) - await calls(100)) / 1000)


async def test_an_error_where_the_log_should_be_is_that_error() -> None:
    async with api_of(saying({"error": {"code": 404404, "message": f"not for {TOKEN}"}})) as api:
        with pytest.raises(NotFound) as caught:
            await all_of(api)
    assert TOKEN not in str(caught.value)


async def test_a_name_cut_inside_a_character_does_not_cost_the_message() -> None:
    async with api_of(saying(rb'{"data": [{"username": "\ud83c"}, {"username": "\\ud83c"}]}')) as api:
        assert [message.username for message in await all_of(api)] == ["\N{REPLACEMENT CHARACTER}", "\\ud83c"]


async def test_what_came_before_the_connection_broke_is_given() -> None:
    head = b'HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{"data": [{"id": "a"}, {"id": "b"}, '
    async with listening(head) as (address, _heads), api_at(address) as api:
        messages = api.chat.messages("e", "s")
        assert [(await anext(messages)).id, (await anext(messages)).id] == ["a", "b"]
        with pytest.raises(Unreachable) as caught:
            await anext(messages)
    assert caught.value.cause == "reset"


CSV = b"id,username\n1,someone\n"
CSV_OF_IT, TXT_OF_IT = ChatExport("e", "s", "csv"), ChatExport("e", "s", "txt")


async def test_an_export_is_what_the_platform_sent_and_its_progress_is_told(tmp_path: Path) -> None:
    told: list[ExportProgress] = []
    platform = saying(CSV, headers={"Content-Type": "text/csv", "Content-Length": str(len(CSV))})
    async with api_of(platform) as api:
        done = await api.chat.export(CSV_OF_IT, tmp_path / "chat.csv", progress=told.append)
    assert (tmp_path / "chat.csv").read_bytes() == CSV
    assert (tmp_path / "chat.csv").stat().st_mode & 0o777 == 0o600
    assert (told[-1].received, told[-1].size, done.size) == (len(CSV),) * 3
    assert platform.requests[0]["path"] == "/v2/live/events/e/stream/s/chat.csv"


def names(folder: Path) -> list[str]:
    """Return the contents of the folder."""
    return [path.name for path in folder.iterdir()]


def failing() -> list[Platform]:
    return [
        saying({"error": {"code": 404404}}, 404),
        saying(b"<html>Sign in</html>", headers={"Content-Type": "text/html; charset=utf-8"}),
        saying(b"", 302, {"Location": "https://elsewhere.example.com/"}),
    ]


@pytest.mark.parametrize("platform", failing())
async def test_an_export_that_fails_leaves_nothing(platform: Platform, tmp_path: Path) -> None:
    async with api_of(platform) as api:
        with pytest.raises((Rejected, Unreadable)):
            await api.chat.export(CSV_OF_IT, tmp_path / "chat.csv")
    assert not names(tmp_path)


async def test_an_export_that_breaks_off_leaves_nothing(tmp_path: Path) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\nid,username\n"
    async with listening(head) as (address, _heads), api_at(address) as api:
        with pytest.raises(Unreachable):
            await api.chat.export(CSV_OF_IT, tmp_path / "chat.csv")
    assert not names(tmp_path)


async def test_an_export_that_is_given_up_leaves_nothing(tmp_path: Path) -> None:
    begun = asyncio.Event()
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nid,us\r\n"

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(head)
        await reader.read()
        writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server, api_at(address) as api:
        export = api.chat.export(CSV_OF_IT, tmp_path / "chat.csv", progress=lambda *_: begun.set())
        task = asyncio.create_task(export)
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert not names(tmp_path)


async def test_an_export_that_is_given_up_at_once_leaves_nothing(tmp_path: Path) -> None:
    """The thread that creates the file outlives a cancelled export."""
    async with api_of(saying(CSV)) as api:
        for _ in range(20):
            task = asyncio.create_task(api.chat.export(CSV_OF_IT, tmp_path / "chat.csv"))
            await asyncio.sleep(0)  # it has begun, and no more
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
    assert not names(tmp_path)


@pytest.mark.parametrize("replace", [False, True])
async def test_a_folder_is_no_place_to_export_onto(replace: bool, tmp_path: Path) -> None:
    platform = saying(CSV)
    async with api_of(platform) as api:
        with pytest.raises(FileFault, match="Is a directory"):
            await api.chat.export(CSV_OF_IT, tmp_path, replace=replace)
    assert not platform.requests


async def test_a_link_to_nowhere_is_not_replaced_unasked(tmp_path: Path) -> None:
    (tmp_path / "chat.csv").symlink_to(tmp_path / "gone")
    async with api_of(saying(CSV)) as api:
        with pytest.raises(FileFault, match="already exists"):
            await api.chat.export(CSV_OF_IT, tmp_path / "chat.csv")


async def test_a_file_may_have_as_long_a_name_as_the_disk_takes(tmp_path: Path) -> None:
    name = "\N{CJK UNIFIED IDEOGRAPH-6F22}" * 83 + ".csv"  # 253 bytes of 255
    async with api_of(saying(CSV)) as api:
        await api.chat.export(CSV_OF_IT, tmp_path / name)
    assert names(tmp_path) == [name]


async def test_a_file_that_is_there_is_kept_unless_it_is_to_be_replaced(tmp_path: Path) -> None:
    target = tmp_path / "chat.txt"
    target.write_text("mine")
    platform = saying(b"[now] Ada: theirs", headers={"Content-Type": "text/plain"})
    async with api_of(platform) as api:
        with pytest.raises(FileFault, match="already exists"):
            await api.chat.export(TXT_OF_IT, target)
        assert (target.read_text(), platform.requests) == ("mine", [])
        await api.chat.export(TXT_OF_IT, target, replace=True)
    assert target.read_text() == "[now] Ada: theirs"
    assert names(tmp_path) == ["chat.txt"]


async def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    platform = saying(CSV)
    async with api_of(platform) as api:
        with pytest.raises(FileFault, match="No such file or directory"):
            await api.chat.export(CSV_OF_IT, tmp_path / "nowhere" / "chat.csv")
    assert not platform.requests


async def test_a_read_only_client_exports() -> None:
    async with api_of(saying({"data": []}), read_only=True) as api:
        with pytest.raises(ReadOnly):
            await api.events.enable("e")
        assert await all_of(api) == []


def test_a_fault_of_a_file_is_an_api_error() -> None:
    assert issubclass(FileFault, ApiError)

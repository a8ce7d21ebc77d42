"""Exports of a chat: byte for byte as sent, or filtered and rewritten so that another library reads the same values."""

import asyncio
import csv
import json
import os
import threading
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import IO, Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl import load_workbook
from openpyxl.utils.escape import unescape

from client.answers import api_of, listening, saying
from client.chats import HARM, chat, message
from client.test_chat import names
from client.test_transport import api_at
from golden.warp import warped
from livedeck.client import (
    ApiError,
    ChatExport,
    ChatFormat,
    ExportProgress,
    ExportResult,
    FileFault,
    Invalid,
    MessageFilter,
    NotFound,
    Unreachable,
    Unreadable,
    plain_name,
)
from livedeck.client.chat_export.formats import FIELDS

COUNTS = [0, 1, 40]
MANY = chat(40)
HEADS: Mapping[str, bytes] = {
    "known size": b"Content-Length: %d\r\n\r\n%s",
    "chunked": b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n",
}


def wanting(form: ChatFormat, **more: Any) -> ChatExport:
    return ChatExport("e", "s", form, **more)


async def exported(items: object, wanted: ChatExport, to: Path) -> ExportResult:
    """Return the export of a log with these items."""
    async with api_of(saying({"meta": {}, "data": items})) as api:
        done = await api.chat.export(wanted, to)
    assert done.size == size_of(to)
    return done


def size_of(path: Path) -> int:
    """Return the number of bytes in the file."""
    return path.stat().st_size


def raw(number: int, mode: str) -> IO[bytes]:
    """Open an end of a pipe."""
    return os.fdopen(number, mode, buffering=0)


def rows(path: Path) -> list[dict[str, str]]:
    """Return the rows that the csv module reads."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("form", ["json", "csv", "txt"])
@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("size", [0, 1, 3_000_001])
async def test_a_documented_format_is_byte_for_byte_the_answer(
    form: ChatFormat, head: str, size: int, tmp_path: Path
) -> None:
    """Whatever bytes the messages hold, and whether they come off the wire or through the parser."""
    noise = os.urandom(size).translate(None, b'"\\')
    body = {
        "json": {0: b'{"data":[]}', 1: b'{"data":[{}]}'}.get(size) or b'{"data":["' + noise + b'"]}',
        "csv": b"id,username,message\r\n" + noise,
        "txt": b"[2026-11-21T18:00:00Z] Ada: " + noise,
    }[form]
    answer = b"HTTP/1.1 200 OK\r\n" + HEADS[head] % (len(body), body)
    async with listening(answer) as (address, _heads), api_at(address) as api:
        done = await api.chat.export(wanting(form), tmp_path / "chat")
    assert (tmp_path / "chat").read_bytes() == body
    assert (done.size, done.messages) == (len(body), None)


@pytest.mark.parametrize("count", COUNTS)
async def test_csv_reads_back_equal(count: int, tmp_path: Path) -> None:
    done = await exported(
        MANY[:count], wanting("csv", filter=MessageFilter(since=datetime(2000, 1, 1, tzinfo=UTC))), tmp_path / "c"
    )
    assert rows(tmp_path / "c") == MANY[:count]
    assert (done.messages, done.read) == (count, count)


@pytest.mark.parametrize("count", COUNTS)
async def test_a_line_of_ndjson_is_a_message(count: int, tmp_path: Path) -> None:
    await exported(MANY[:count], wanting("ndjson"), tmp_path / "c")
    lines = (tmp_path / "c").read_text(encoding="utf-8").split("\n")
    assert [json.loads(line) for line in lines[:-1]] == MANY[:count]
    assert lines[-1] == ""


@pytest.mark.parametrize("count", COUNTS)
async def test_json_sifted_is_json_still(count: int, tmp_path: Path) -> None:
    await exported(MANY[:count], wanting("json", filter=MessageFilter(admins=True)), tmp_path / "c")
    read = json.loads((tmp_path / "c").read_bytes())
    assert read == {"data": [one for one in MANY[:count] if one["is_admin"] == "true"]}


@pytest.mark.parametrize("count", COUNTS)
async def test_a_workbook_reads_back_equal_and_computes_nothing(count: int, tmp_path: Path) -> None:
    done = await exported(MANY[:count], wanting("xlsx"), tmp_path / "c.xlsx")
    head, *read = load_workbook(BytesIO((tmp_path / "c.xlsx").read_bytes())).active.iter_rows()
    assert tuple(cell.value for cell in head[: len(FIELDS)]) == FIELDS
    assert {cell.data_type for row in read for cell in row} <= {"s", "inlineStr", "n"}  # n: an empty cell
    assert {cell.value for row in read for cell in row if cell.data_type == "n"} <= {None}
    cells = [[unescape(cell.value or "") for cell in row] for row in read]
    back = [dict(zip(FIELDS, [*row[:4], "".join([row[4], *row[7:]]), *row[5:7]], strict=True)) for row in cells]
    assert back == MANY[:count]
    assert done.split_messages == sum(len(one["message"]) > 20_000 for one in MANY[:count])


async def test_a_line_of_text_is_a_message(tmp_path: Path) -> None:
    """No message can forge another, whatever ends a line for its reader."""
    breaks = "\n \r\n \r \v \f \x1c \x1d \x1e \x85 \u2028 \u2029"
    forged = {"created_at": "then", "username": "a", "message": "x\n[now] b: y\r\n"}
    await exported([*MANY, forged, {"username": breaks}], wanting("txt", zone=UTC), tmp_path / "c")
    lines = (tmp_path / "c").read_bytes().decode().splitlines()
    names = [line.partition("] ")[2].partition(": ")[0] for line in lines[: len(MANY)]]
    assert names == [one["username"] for one in MANY]
    assert lines[len(MANY) :] == ["[then] a: x [now] b: y ", f"[] {' ' * 21}: "]


async def test_safe_csv_has_no_cell_that_computes_and_counts_those_it_changed(tmp_path: Path) -> None:
    done = await exported(MANY, wanting("csv", safe_csv=True), tmp_path / "c")
    cells = [cell for row in rows(tmp_path / "c") for cell in row.values()]
    assert not [cell for cell in cells if cell.startswith(tuple("=+-@\t\r\n"))]
    formulas = [one["message"] for one in MANY if one["message"].startswith(tuple("=+-@\t"))]
    assert done.escaped_formulas == len(formulas) > 5
    assert [cell[1:] for cell in cells if cell.startswith("'")] == formulas


def test_safe_csv_is_for_csv() -> None:
    with pytest.raises(Invalid, match="safe_csv applies to the format csv only, not xlsx"):
        wanting("xlsx", safe_csv=True)


ODD = [
    {"id": "a"},
    {"id": "b", "is_admin": True, "message": None, "username": 7, "created_at": "soon"},
    {"id": "c", "message": {"text": "in an object"}, "external_id": ["x"], "colour": "red"},
]


async def test_what_is_missing_or_no_text_is_written_all_the_same(tmp_path: Path) -> None:
    await exported(ODD, wanting("csv", zone=UTC), tmp_path / "c")
    read = rows(tmp_path / "c")
    assert [row["id"] for row in read] == ["a", "b", "c"]
    assert [row["message"] for row in read] == ["", "", '{"text":"in an object"}']
    assert (read[1]["is_admin"], read[1]["username"], read[1]["created_at"]) == ("true", "7", "soon")
    await exported(ODD, wanting("ndjson"), tmp_path / "n")
    assert [json.loads(line) for line in (tmp_path / "n").read_text().splitlines()] == ODD


EVENING = [
    message(0, "Good evening", username="Zoë"),
    message(60, "guten ABEND", external_id="viewer-7"),
    message(120, "STRASSE"),
    message(180, "late", created_at="2026-11-21T20:03:00+01:00"),
    message(240, "no time", created_at=None),
]


@pytest.mark.parametrize(
    ("sieve", "numbers"),
    [
        (MessageFilter(), [0, 1, 2, 3, 4]),
        (MessageFilter(search="evening"), [0]),
        (MessageFilter(search="Straße"), [2]),
        (MessageFilter(users=("zoË",)), [0]),
        (MessageFilter(users=("viewer-7", "user120")), [1, 2]),
        (MessageFilter(users=("VIEWER-7",)), []),
        (MessageFilter(admins=True), [0, 1, 2, 3, 4]),
        (MessageFilter(admins=True, search="late"), [3]),
        (MessageFilter(since=datetime(2026, 11, 21, 18, 1, 0, 123456, UTC)), [1, 2, 3]),
        (MessageFilter(until=datetime(2026, 11, 21, 18, 1, 0, 123456, UTC)), [0]),
        (MessageFilter(since=datetime(2026, 11, 21, 20, tzinfo=ZoneInfo("Europe/Berlin"))), [3]),
    ],
)
async def test_a_sieve_lets_through_what_is_wanted(sieve: MessageFilter, numbers: list[int], tmp_path: Path) -> None:
    done = await exported(EVENING, wanting("ndjson", filter=sieve), tmp_path / "c")
    read = [json.loads(line) for line in (tmp_path / "c").read_text(encoding="utf-8").splitlines()]
    assert read == [EVENING[number] for number in numbers]
    assert (done.messages, done.read) == (len(numbers), len(EVENING))
    assert done.undated == bool(sieve.has_times)


async def test_a_preview_is_what_the_export_will_hold() -> None:
    async with api_of(saying({"data": EVENING})) as api:
        found = [
            one
            async for batch in api.chat.selected(wanting("csv", filter=MessageFilter(search="abend")))
            for one in batch
        ]
    assert found == [EVENING[1]]


async def test_a_time_that_the_zone_has_no_clock_for_stays_as_it_came(tmp_path: Path) -> None:
    """Some platforms write the year 1 for no time."""
    none = {"id": "a", "created_at": "0001-01-01T00:00:00Z"}
    await exported([none], wanting("ndjson", zone=ZoneInfo("America/New_York")), tmp_path / "c")
    assert json.loads((tmp_path / "c").read_bytes()) == none


async def test_a_time_zone_changes_the_clock_and_not_the_moment(tmp_path: Path) -> None:
    await exported(EVENING, wanting("ndjson", zone=ZoneInfo("Asia/Kolkata")), tmp_path / "c")
    read = [json.loads(line)["created_at"] for line in (tmp_path / "c").read_text(encoding="utf-8").splitlines()]
    assert read[0] == "2026-11-21T23:30:00.123456+05:30"
    assert (read[3], read[4]) == ("2026-11-22T00:33:00.000000+05:30", None)


@pytest.mark.parametrize(
    ("form", "kind"),
    [("json", NotFound), ("ndjson", NotFound), ("xlsx", NotFound), ("csv", Unreadable), ("txt", Unreadable)],
)
async def test_an_error_in_place_of_the_log_is_no_log(form: ChatFormat, kind: type[ApiError], tmp_path: Path) -> None:
    """The error is raised for a JSON request even if the platform answers 200 (client.answer)."""
    headers = {"Content-Type": "application/json"}
    async with api_of(saying({"error": {"code": 404404, "message": "not found"}}, headers=headers)) as api:
        with pytest.raises(kind):
            await api.chat.export(wanting(form), tmp_path / "chat")
    assert not names(tmp_path)


@pytest.mark.parametrize(
    ("body", "words"),
    [('{"data": [{"id": 1e999}, {}]}', "cannot be written as ndjson"), ('{"data": [{}, {}', "not as documented")],
)
async def test_what_is_no_log_leaves_nothing(body: str, words: str, tmp_path: Path) -> None:
    async with api_of(saying(body.encode())) as api:
        with pytest.raises(Unreadable, match=words):
            await api.chat.export(wanting("ndjson"), tmp_path / "chat")
    assert not names(tmp_path)


@pytest.mark.parametrize("form", ["json", "ndjson", "xlsx"])
@pytest.mark.parametrize("head", [b"Content-Length: 999999", b"Transfer-Encoding: chunked"])
async def test_a_connection_that_breaks_leaves_nothing(form: ChatFormat, head: bytes, tmp_path: Path) -> None:
    body = json.dumps({"data": MANY}).encode()
    body = b"%x\r\n%s\r\n" % (len(body), body) if b"chunked" in head else body
    async with listening(b"HTTP/1.1 200 OK\r\n" + head + b"\r\n\r\n" + body) as (address, _), api_at(address) as api:
        with pytest.raises(Unreachable) as caught:
            await api.chat.export(wanting(form), tmp_path / "chat")
    assert caught.value.cause == "reset"
    assert not names(tmp_path)


async def test_progress_says_what_is_known_and_what_is_not(tmp_path: Path) -> None:
    body, told = json.dumps({"data": MANY}).encode(), list[ExportProgress]()
    async with api_of(saying(body, headers={"Content-Length": str(len(body))})) as api:
        await api.chat.export(wanting("json"), tmp_path / "a", progress=told.append)
    assert (told[-1].received, told[-1].size, told[-1].messages) == (len(body), len(body), None)
    assert told[-1].seconds_left == 0
    async with api_of(saying(body)) as api:
        await api.chat.export(wanting("csv", zone=UTC), tmp_path / "b", progress=told.append)
    last = told[-1]
    assert last.received == len(body)
    assert last.size is last.seconds_left is None
    assert last.messages is not None


def test_rate_and_time_left_follow_from_what_came() -> None:
    progress = ExportProgress(30, 120, None, 2.0)
    assert (progress.rate, progress.seconds_left) == (15.0, 6.0)
    assert (ExportProgress(0, 120, None, 0.0).rate, ExportProgress(0, 120, None, 0.0).seconds_left) == (None, None)


@asynccontextmanager
async def dripping(head: bytes) -> AsyncIterator[str]:
    """Yield a platform that begins a log and never continues."""

    gone = asyncio.Event()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(head)
            await reader.read()
        with suppress(ConnectionError):
            writer.close()
            await writer.wait_closed()
        gone.set()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        await gone.wait()


@pytest.mark.parametrize("form", ["json", "ndjson", "xlsx"])
async def test_an_export_that_is_cancelled_leaves_nothing(form: ChatFormat, tmp_path: Path) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 999999\r\n\r\n" + json.dumps({"data": MANY}).encode()
    begun = asyncio.Event()
    async with dripping(head) as address, api_at(address) as api:
        export = api.chat.export(wanting(form), tmp_path / "chat", progress=lambda _: begun.set())
        task = asyncio.create_task(export)
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert not names(tmp_path)


@pytest.mark.parametrize("form", ["json", "ndjson", "xlsx"])
@warped
async def test_a_log_that_falls_silent_on_the_way_leaves_nothing(form: ChatFormat, tmp_path: Path) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 999999\r\n\r\n" + json.dumps({"data": MANY}).encode()
    async with dripping(head) as address, api_at(address, timeout=0.05) as api:
        with pytest.raises(Unreachable) as caught:
            await api.chat.export(wanting(form), tmp_path / "chat")
    assert caught.value.cause == "timeout"
    assert not names(tmp_path)


async def test_others_have_their_turn_while_much_comes(tmp_path: Path) -> None:
    """However fast it comes: half a mebibyte and no more between two turns."""
    body, turns, seen = os.urandom(8 * 2**20), 0, list[int]()

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    answer = b"HTTP/1.1 200 OK\r\n" + HEADS["known size"] % (len(body), body)
    async with listening(answer) as (address, _heads), api_at(address) as api, asyncio.TaskGroup() as group:
        beside = group.create_task(other())
        await api.chat.export(wanting("csv"), tmp_path / "chat", progress=lambda _: seen.append(turns))
        beside.cancel()
    assert len({*seen}) >= 16


async def test_what_is_left_of_a_killed_export_is_known_by_its_name(tmp_path: Path) -> None:
    seen: list[str] = []
    async with api_of(saying(b"id\r\n")) as api:
        await api.chat.export(wanting("csv"), tmp_path / "chat.csv", progress=lambda _: seen.extend(names(tmp_path)))
    assert [name.startswith("chat.csv.") and name.endswith(".part") for name in seen] == [True]
    assert names(tmp_path) == ["chat.csv"]


async def test_a_pipe_takes_the_same_bytes_and_stays_open(tmp_path: Path) -> None:
    await exported(MANY, wanting("ndjson"), tmp_path / "c")
    pipe = BytesIO()
    async with api_of(saying({"data": MANY})) as api:
        await api.chat.export(wanting("ndjson"), pipe)
        assert pipe.getvalue() == (tmp_path / "c").read_bytes()
        reading, writing = os.pipe()
        os.close(reading)
        with raw(writing, "wb") as broken, pytest.raises(BrokenPipeError):
            await api.chat.export(wanting("ndjson"), broken)


async def test_a_workbook_goes_through_a_pipe() -> None:
    """A zip file that cannot be sought in is one all the same."""
    reading, writing = os.pipe()
    got = list[bytes]()
    with raw(reading, "rb") as end, raw(writing, "wb") as pipe:
        reader = threading.Thread(target=lambda: got.append(end.read()))
        reader.start()
        async with api_of(saying({"data": MANY[:6]})) as api:
            await api.chat.export(wanting("xlsx"), pipe)
        pipe.close()
        reader.join()
    assert load_workbook(BytesIO(got[0])).active.max_row == 7


@pytest.mark.parametrize("form", ["json", "xlsx"])
async def test_a_place_that_takes_no_file_is_named(form: ChatFormat, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    os.mkfifo(tmp_path / "pipe")
    platform = saying({"data": MANY})
    places = {
        tmp_path / "file" / "chat": "Not a directory",
        tmp_path / "pipe": "not a regular file",
        tmp_path: "Is a directory",
        Path("/proc/chat"): "No such file or directory",
    }
    async with api_of(platform) as api:
        for place, words in places.items():
            with pytest.raises(FileFault, match=words):
                await api.chat.export(wanting(form), place, replace=True)
    assert not platform.requests
    assert {*names(tmp_path)} == {"file", "pipe"}


@given(st.text())
def test_a_name_from_outside_stays_in_its_folder(text: str) -> None:
    name = plain_name(text)
    assert Path("/folder", name).resolve().parent == Path("/folder")
    assert not name.startswith((".", "-"))
    assert 0 < len(name.encode()) <= 100
    assert name.isprintable()


def test_a_name_from_outside_is_still_readable() -> None:
    assert plain_name("Cup final, pitch 2") == "Cup-final-pitch-2"
    assert plain_name("../../etc/passwd") == "etc-passwd"
    assert plain_name("\u6771\u4eac \U0001f4bb") == "\u6771\u4eac"
    assert plain_name(HARM["escape codes"]).startswith("31mred-0m")

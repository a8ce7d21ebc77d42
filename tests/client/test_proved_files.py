"""A file is written only if the reply is proved to be the requested one (chat-export.md, "Export files").

The replies are bytes on a socket, in the forms that platforms, proxies and login pages send.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from client.answers import listening
from client.test_chat import names
from client.test_good_files import ALL, GOOD, NO_FILTER, answer, content, until_close
from client.test_transport import api_at
from livedeck.client import (
    ApiError,
    ChatExport,
    ChatFormat,
    ContentKind,
    ExportResult,
    MessageFilter,
    Rejected,
    Unproved,
)

JSON_TYPE = b"HTTP/1.1 200 OK\r\nContent-Type: application/json"
CSV_TYPE = b"HTTP/1.1 200 OK\r\nContent-Type: text/csv; charset=utf-8"
TXT_TYPE = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain"
PAGE = b"<!DOCTYPE html>\n<html><title>Sign in</title></html>\n"
REFUSAL = b'{"error":{"code":404404,"message":"not found"}}'
MESSAGE = b'{"id":"m1","username":"Ada","message":"Hello"}'
LONG = b",".join([MESSAGE] * 3000)
HEADER = b'\xef\xbb\xbf"id";"username";"message"\r\n'
EMPTY_LOG = answer(b'{"data":[]}', JSON_TYPE)

NOT_LOGS: Sequence[tuple[ChatFormat, MessageFilter, bytes, str]] = [
    ("json", NO_FILTER, answer(b'{"data":null}', JSON_TYPE), "its list of messages is null"),
    ("json", NO_FILTER, answer(b" \r\n\t\n"), "it is blank"),
    ("json", NO_FILTER, answer(b""), "it is empty"),
    ("json", NO_FILTER, answer(PAGE, JSON_TYPE), "not JSON"),
    ("json", NO_FILTER, answer(b'{"data":false}', JSON_TYPE), "data should be a list, not a boolean"),
    ("json", NO_FILTER, answer(b'{"data":{"success":0}}', JSON_TYPE), "data should be a list, not an object"),
    ("json", NO_FILTER, answer(b'"false"', JSON_TYPE), "a string without data"),
    ("json", NO_FILTER, answer(b'{"status":"error"}', JSON_TYPE), "an object without data"),
    ("json", NO_FILTER, answer(b'{"data":[],"success":false}', JSON_TYPE), "success is false"),
    ("json", NO_FILTER, answer(b'{"data":[1,2,3]}', JSON_TYPE), "no item of its list is a message"),
    ("json", NO_FILTER, answer(b'{"data":[],"meta":{"pagination":{"total":300}}}'), "0 of the 300 messages"),
    ("json", NO_FILTER, answer(b'{"meta":{"pagination":{"total":2}},"data":[%s]}' % MESSAGE), "1 of the 2 messages"),
    ("json", NO_FILTER, answer(b'{"items":[%s]}' % LONG, JSON_TYPE), "does not fit a log"),
    ("json", NO_FILTER, answer(b'{"page":{"data":[%s]}}' % LONG, JSON_TYPE), "does not fit a log"),
    ("json", NO_FILTER, answer(b'{"data":[%s],"error":{"code":1}}' % LONG), "reports an error beside its list"),
    ("json", NO_FILTER, answer(b'{"error":{"code":1},"data":[%s]}' % LONG), "reports an error beside its list"),
    ("json", NO_FILTER, answer(b'{"data":[%s],"success":false}' % LONG), "success is false"),
    ("json", NO_FILTER, answer(b'{"errors":["no"],"data":[]}'), "errors"),
    ("ndjson", NO_FILTER, answer(b'{"data":[],"errors":["no"]}'), "errors"),
    ("json", ALL, answer(b'{"data":null}', JSON_TYPE), "its list of messages is null"),
    ("csv", ALL, answer(b'{"data":null}', JSON_TYPE), "its list of messages is null"),
    ("ndjson", NO_FILTER, answer(b'{"data":null}', JSON_TYPE), "its list of messages is null"),
    ("xlsx", NO_FILTER, answer(b'{"data":null}', JSON_TYPE), "its list of messages is null"),
    ("ndjson", NO_FILTER, answer(b'{"data":[],"success":false}', JSON_TYPE), "success is false"),
    ("ndjson", NO_FILTER, answer(b'{"data":["m1"]}', JSON_TYPE), "no item of its list is a message"),
    ("ndjson", NO_FILTER, answer(b'{"data":[],"meta":{"pagination":{"total":300}}}'), "0 of the 300 messages"),
    ("csv", NO_FILTER, answer(PAGE, CSV_TYPE), "it is an HTML page"),
    ("csv", NO_FILTER, answer(gzip.compress(PAGE), CSV_TYPE + b"\r\nContent-Encoding: gzip"), "it is an HTML page"),
    ("csv", NO_FILTER, answer(b"id,message\r\n", b"HTTP/1.1 200 OK\r\nContent-Type: text/html"), "it is an HTML page"),
    ("csv", NO_FILTER, answer(REFUSAL, CSV_TYPE), "it is a JSON document"),
    ("csv", NO_FILTER, answer(b'[{"id":"m1"}]', CSV_TYPE), "it is a JSON document"),
    ("csv", NO_FILTER, answer(b'{"data":null}', CSV_TYPE), "it is a JSON document"),
    ("csv", NO_FILTER, answer(b"\r\n\r\n", CSV_TYPE), "it is blank"),
    ("csv", NO_FILTER, answer(b"", CSV_TYPE), "it is empty, without a header"),
    ("csv", NO_FILTER, answer(b"Sorry, we are down, come back\r\n", CSV_TYPE), "does not name the fields"),
    ("csv", NO_FILTER, answer(b"PK\3\4" + bytes(300), CSV_TYPE), "does not name the fields"),
    ("txt", NO_FILTER, answer(PAGE, TXT_TYPE), "it is an HTML page"),
    ("txt", NO_FILTER, answer(REFUSAL, TXT_TYPE), "it is a JSON document"),
    ("txt", NO_FILTER, answer(b"\n", TXT_TYPE), "it is blank"),
    ("txt", NO_FILTER, answer(b"", TXT_TYPE), "it is empty"),
    ("txt", NO_FILTER, answer(b"Service unavailable\n", TXT_TYPE), "its first line is not"),
]
"""Format, filter and reply -> why the reply is not a log."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Good file of an export."""
    path = tmp_path / "chat"
    path.write_bytes(GOOD)
    return path


async def exported(
    to: Path, form: ChatFormat, *sent: bytes, chosen: MessageFilter = NO_FILTER, unchecked: bool = False
) -> ExportResult:
    """Return the result of an export from a platform that gives these answers in turn."""
    async with listening(*sent) as (address, _), api_at(address) as api:
        export = ChatExport("e", "s", form, filter=chosen)
        return await api.chat.export(export, to, replace=True, unchecked=unchecked)


@pytest.mark.parametrize(("form", "chosen", "sent", "reason"), NOT_LOGS)
async def test_an_answer_that_is_not_proved_to_be_the_log_leaves_the_good_file(
    form: ChatFormat, chosen: MessageFilter, sent: bytes, reason: str, file: Path
) -> None:
    with pytest.raises(Unproved, match=reason) as caught:
        await exported(file, form, sent, chosen=chosen)
    assert content(file) == GOOD
    assert names(file.parent) == [file.name]
    assert str(caught.value).endswith(f"they were dropped, and {file} stays as it was")


@pytest.mark.parametrize(
    "sent", [answer(b'{"data":null,"error":{"code":409409}}'), answer(b'{"data":[],"error":"no"}')]
)
@pytest.mark.parametrize("form", ["json", "ndjson", "xlsx"])
async def test_an_error_beside_the_data_is_that_error(form: ChatFormat, sent: bytes, file: Path) -> None:
    with pytest.raises(Rejected):
        await exported(file, form, sent)
    assert content(file) == GOOD


@pytest.mark.parametrize(
    ("form", "sent"),
    [
        ("json", answer(b'{"data":[]}', JSON_TYPE)),
        ("json", answer(b'{"data":[],"meta":{"pagination":{"total":0}}}', JSON_TYPE)),
        ("json", answer(b'{"error":"","data":[],"success":true}', JSON_TYPE)),
        ("json", answer(b'{"error":0,"data":[%s],"errors":[]}' % LONG, JSON_TYPE)),
        ("json", answer(b'{"meta":{"a":[1]},"error":null,"data":[%s]}' % LONG, JSON_TYPE)),
        ("json", answer(b'\xef\xbb\xbf\n{"data" : [%s], "meta":{"pagination":{"total":3000}}}\n' % LONG, JSON_TYPE)),
        ("csv", answer(HEADER, CSV_TYPE)),
        ("csv", answer(b"ID\tMESSAGE\nm1\t<html>\n", CSV_TYPE)),
        ("csv", answer(b"id,message\n", b"HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream")),
        ("txt", answer(b"[12:00] Ada: <html>\n", TXT_TYPE)),
        ("txt", until_close(b"[2026-11-21T18:00:00Z] Ada: Hello\n")),
    ],
)
async def test_a_log_replaces_the_good_file(form: ChatFormat, sent: bytes, file: Path) -> None:
    result = await exported(file, form, sent)
    assert content(file) == sent.partition(b"\r\n\r\n")[2]
    assert not result.doubt


@pytest.mark.parametrize("form", ["csv", "txt"])
async def test_an_empty_text_is_the_whole_log_if_the_json_log_is_empty(form: ChatFormat, file: Path) -> None:
    assert not (await exported(file, form, answer(b""), EMPTY_LOG)).doubt
    assert content(file) == b""


@pytest.mark.parametrize(
    "second",
    [
        answer(b'{"data":[%s]}' % MESSAGE),
        answer(b'{"data":null}'),
        answer(b'{"data":[],"error":"no"}'),
        answer(b'{"data":[],"meta":{"pagination":{"total":3}}}'),
        answer(b"", b"HTTP/1.1 404 Not Found"),
        answer(PAGE),
        b"",
    ],
)
@pytest.mark.parametrize("form", ["csv", "txt"])
async def test_an_empty_text_proves_nothing_by_itself(form: ChatFormat, second: bytes, file: Path) -> None:
    with pytest.raises(Unproved, match="it is empty"):
        await exported(file, form, answer(b""), second)
    assert content(file) == GOOD


@pytest.mark.parametrize(
    ("form", "sent", "doubt"),
    [
        ("json", answer(b'{"data":null}'), "its list of messages is null"),
        ("ndjson", answer(b'{"data":null}'), "its list of messages is null"),
        ("txt", answer(b""), "it is empty"),
        ("txt", answer(b"Ada, 12:00\nHello\n"), "its first line is not"),
        ("csv", answer(b"Nom,Texte\nAda,Bonjour\n"), "does not name the fields"),
    ],
)
async def test_a_doubtful_answer_becomes_a_new_file_and_the_doubt_is_reported(
    form: ChatFormat, sent: bytes, doubt: str, tmp_path: Path
) -> None:
    """A platform of a stranger may write its texts in other words, and nothing is lost."""
    result = await exported(tmp_path / "new", form, sent)
    assert doubt in result.doubt
    assert content(tmp_path / "new") == (b"" if form == "ndjson" else sent.partition(b"\r\n\r\n")[2])


@pytest.mark.parametrize("sent", [answer(PAGE, CSV_TYPE), answer(REFUSAL, CSV_TYPE), answer(b" ", CSV_TYPE)])
async def test_an_answer_that_cannot_be_the_log_becomes_no_new_file_either(sent: bytes, tmp_path: Path) -> None:
    with pytest.raises(Unproved) as caught:
        await exported(tmp_path / "new", "csv", sent)
    assert str(caught.value).endswith("they were dropped")
    assert not names(tmp_path)


@pytest.mark.parametrize(
    ("form", "sent"),
    [(form, sent) for form, chosen, sent, _ in NOT_LOGS if not chosen and form in {"json", "csv", "txt"}],
)
async def test_unchecked_takes_every_complete_answer(form: ChatFormat, sent: bytes, file: Path) -> None:
    await exported(file, form, sent, unchecked=True)
    body = sent.partition(b"\r\n\r\n")[2]
    assert content(file) == (gzip.decompress(body) if b"gzip" in sent else body)


@pytest.mark.parametrize("form", ["json", "csv", "txt", "ndjson"])
async def test_unchecked_takes_no_answer_that_breaks_off(form: ChatFormat, file: Path) -> None:
    with pytest.raises(ApiError):
        await exported(file, form, b'HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{"data":[', unchecked=True)
    assert content(file) == GOOD


async def test_the_error_says_what_came_and_no_secret(file: Path) -> None:
    body = b'<html>\x1b[2J see https://login.example/?token=s3cretsign9 "now"'
    with pytest.raises(Unproved) as caught:
        await exported(file, "csv", answer(body, CSV_TYPE))
    text = str(caught.value)
    assert f"received {len(body)} bytes of text/csv that begin with '<html>" in text
    assert "s3cretsign9" not in text
    assert text.isprintable()


PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)
VTT = b"WEBVTT\n\n00:00.000 --> 00:01.000\nHello\n"
SRT = b"1\r\n00:00:00,000 --> 00:00:01,000\r\nHello\r\n"
SVG = b"<?xml version='1.0'?>\n<svg xmlns='http://www.w3.org/2000/svg'/>"

DOWNLOADS: Sequence[tuple[ContentKind, str, int | None, bytes]] = [
    ("picture", "poster.png", None, answer(PAGE)),
    ("picture", "poster.png", None, answer(REFUSAL)),
    ("picture", "poster.png", None, answer(b"")),
    ("subtitles", "en.vtt", None, answer(PAGE, TXT_TYPE)),
    ("subtitles", "en.vtt", None, answer(b'{"data":null}')),
    ("subtitles", "en.vtt", None, answer(b"\n\n")),
    ("file", "words.pdf", None, answer(PAGE)),
    ("file", "words", None, answer(PAGE)),
    ("file", "words.pdf", None, answer(b"Sign in", b"HTTP/1.1 200 OK\r\nContent-Type: text/html")),
    ("file", "words.pdf", None, answer(REFUSAL)),
    ("file", "words.pdf", None, answer(b'{"data": null}', JSON_TYPE)),
    ("file", "words.pdf", None, answer(b"")),
    ("file", "words.pdf", None, answer(b"  \n")),
    ("file", "words.pdf", 900, answer(b"%PDF-1.7")),
    ("file", "page.html", 900, answer(PAGE)),
    ("file", "words.pdf", 900, answer(b"")),
]


@pytest.mark.parametrize(("kind", "name", "size", "sent"), DOWNLOADS)
async def test_a_download_that_is_not_what_was_asked_for_leaves_the_good_file(
    kind: ContentKind, name: str, size: int | None, sent: bytes, file: Path
) -> None:
    async with listening(sent) as (address, _), api_at(address) as api:

        async def save(*, unchecked: bool) -> int:
            link = f"{address}/f?sign=s3cretsign"
            return await api.cdn.save(
                link, file, "download", kind=kind, name=name, size=size, replace=True, unchecked=unchecked
            )

        with pytest.raises(Unproved, match=r"they were dropped, and .* stays as it was"):
            await save(unchecked=False)
        assert content(file) == GOOD
        assert names(file.parent) == [file.name]
        await save(unchecked=True)
    assert content(file) == sent.partition(b"\r\n\r\n")[2]


@pytest.mark.parametrize(
    ("kind", "name", "size", "body"),
    [
        ("picture", "poster.png", None, PNG),
        ("picture", "poster", None, b"RIFF\0\0\0\0WEBPVP8 "),
        ("picture", "poster", None, SVG),
        ("subtitles", "en.vtt", None, VTT),
        ("subtitles", "en.vtt", None, b"\xef\xbb\xbfWEBVTT\n"),
        ("subtitles", "en.srt", None, SRT),
        ("file", "page.html", None, PAGE),
        ("file", "list.JSON", None, REFUSAL),
        ("file", "words", None, b'{"any":"thing"}'),
        ("file", "words.pdf", len(PAGE), PAGE),
        ("file", "words.txt", 0, b""),
    ],
)
async def test_a_download_that_is_what_was_asked_for_replaces_the_good_file(
    kind: ContentKind, name: str, size: int | None, body: bytes, file: Path
) -> None:
    async with listening(answer(body)) as (address, _), api_at(address) as api:
        await api.cdn.save(f"{address}/f", file, "download", kind=kind, name=name, size=size, replace=True)
    assert content(file) == body


async def test_a_hundred_thousand_messages_are_looked_at_by_their_ends(tmp_path: Path) -> None:
    body = b'{"data":[' + b",".join([MESSAGE] * 100_000) + b"]}"
    result = await exported(tmp_path / "new", "json", answer(body))
    assert (result.size, result.doubt) == (len(body), "")
    assert json.loads(content(tmp_path / "new"))["data"][-1]["id"] == "m1"

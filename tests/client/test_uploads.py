"""Uploads go to their own address, in pieces, with names in headers."""

import asyncio
import gc
import os
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from client.answers import TOKEN, Recorder, api_of, listening, saying
from client.calls import DRAFTS, KEY
from client.test_transport import api_at, nobody
from golden.warp import Warp
from livedeck.client import (
    Api,
    ApiError,
    FileFault,
    Invalid,
    Material,
    Misconfigured,
    Rejected,
    RelayDraft,
    Unknown,
    Unreachable,
    Validation,
)

MATERIAL = b'HTTP/1.1 200 OK\r\nContent-Length: 22\r\n\r\n{"data": {"id": "m1"}}'


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "slides.pdf"
    path.write_bytes(bytes(range(256)) * 4096)
    return path


async def test_a_material_is_sent_as_it_is_with_its_names_in_headers(file: Path) -> None:
    """platform-api.md, "Upload headers": the raw file is the body."""
    told: list[tuple[int, int | None]] = []
    platform = Recorder({"data": {"id": "m1", "size": 2**20}})
    async with api_of(platform) as api:
        made = await api.materials.upload("v", file, "slides.pdf", "The slides", progress=lambda *now: told.append(now))
    assert isinstance(made, Material)
    assert (made.id, made.size) == ("m1", 2**20)
    assert platform.bodies == [bytes(range(256)) * 4096]
    assert max(platform.chunks) <= 256 * 2**10
    assert told == [(n * 2**18, 2**20) for n in (1, 2, 3, 4)]
    assert [platform.header(name) for name in ("x-video-id", "x-file-name", "x-title", "content-length")] == [
        "v",
        "slides.pdf",
        "The slides",
        "1048576",
    ]


@pytest.mark.parametrize(
    ("title", "sent"),
    [
        ("Slides 1", b"Slides 1"),
        ("100%", b"100%"),
        ("a%20b+c", b"a%20b+c"),
        ("", b""),
        (" a b ", b"a b"),
        ("\u0416 1", b"%D0%96%201"),
        ("100% \u00e9", b"100%25%20%C3%A9"),
        ("\ud800", b"%3F"),
    ],
)
async def test_a_name_goes_out_as_it_is_where_a_header_can_carry_it(title: str, sent: bytes, tmp_path: Path) -> None:
    """platform-api.md, "Upload headers": one that holds any other character is encoded as a whole."""
    small = tmp_path / "small.txt"
    small.write_bytes(b"small")
    async with listening(MATERIAL) as (address, heads), api_at(address) as api:
        await api.materials.upload("v", small, title, title)
    assert b"\r\nX-Title: " + sent + b"\r\n" in heads[0]
    assert b"\r\nX-File-Name: " + sent + b"\r\n" in heads[0]


@pytest.mark.parametrize(
    ("url", "sent"),
    [
        ("https://cdn.example.com/a%20b.png?sign=a%2Bb", b"https://cdn.example.com/a%20b.png?sign=a%2Bb"),
        ("https://cdn.example.com/a b.png", b"https://cdn.example.com/a b.png"),
        ("https://cdn.example.com/100%/\u0416.png", b"https://cdn.example.com/100%/%D0%96.png"),
    ],
)
async def test_of_an_address_only_what_is_not_ascii_is_encoded(url: str, sent: bytes) -> None:
    async with listening(MATERIAL) as (address, heads), api_at(address) as api:
        await api.posters.upload_for_event("e", url)
    assert b"\r\nX-Poster-URL: " + sent + b"\r\n" in heads[0]


@pytest.mark.parametrize("char", ["\r", "\n", "\r\nX-Evil: 1", "\0", "\x7f", "\t"])
async def test_a_header_that_would_be_two_is_not_sent(char: str, file: Path) -> None:
    platform = Recorder({"data": {"id": "m1"}})
    async with api_of(platform) as api:
        for name, title in ((f"a{char}b", "b"), ("a", f"a{char}b")):
            with pytest.raises(Invalid, match="should have no control characters"):
                await api.materials.upload("v", file, name, title)
        with pytest.raises(Invalid, match="should have no control characters"):
            await api.posters.upload_for_video("v", f"https://cdn.example.com/{char}")
    assert not platform.requests


async def test_a_poster_is_named_by_its_address_and_its_object() -> None:
    """platform-api.md, "Posters of a video": the same path, another header."""
    platform = Recorder({})
    async with api_of(platform) as api:
        await api.posters.upload_for_video("v", "https://cdn.example.com/a.png")
        assert (platform.header("x-video-id"), platform.header("x-event-id")) == ("v", None)
        await api.posters.upload_for_event("e", "https://cdn.example.com/a.png")
    assert (platform.header("x-video-id"), platform.header("x-event-id")) == (None, "e")
    assert platform.header("x-poster-url") == "https://cdn.example.com/a.png"


async def test_uploads_go_to_the_upload_address_and_the_rest_does_not(tmp_path: Path) -> None:
    file = tmp_path / "small.txt"
    file.write_bytes(b"small")
    async with listening(MATERIAL) as (uploads, sent), api_at(nobody(), upload_url=uploads) as api:
        made = await api.materials.upload("v", file, "a", "b")
        with pytest.raises(Unreachable):
            await api.materials.rename("m1", "c")
    assert made == Material(id="m1")
    assert sent[0].startswith(b"POST /additional-material HTTP/1.1\r\n")
    assert f"Authorization: Bearer {TOKEN}".encode() in sent[0]


async def test_the_address_of_uploads_may_have_a_path() -> None:
    async with listening(MATERIAL) as (uploads, sent), api_at(nobody(), upload_url=f"{uploads}/in/") as api:
        await api.posters.upload_for_event("e", "https://cdn.example.com/a.png")
    assert sent[0].startswith(b"POST /in/v2/poster HTTP/1.1\r\n")


WRITES: list[Callable[[Api, Path], Awaitable[object]]] = [
    lambda api, file: api.materials.upload("v", file, "a", "b"),
    lambda api, _file: api.posters.upload_for_video("v", "https://cdn.example.com/a.png"),
    lambda api, _file: api.events.complete("e"),
]


@pytest.mark.parametrize("write", WRITES)
async def test_no_change_follows_a_redirect(write: Callable[[Api, Path], Awaitable[object]], file: Path) -> None:
    """trust.md, "Secrets": the token never goes along a redirect to another origin."""
    async with listening(MATERIAL) as (elsewhere, seen):
        away = f"HTTP/1.1 307 Away\r\nLocation: {elsewhere}/in\r\nContent-Length: 0\r\n\r\n".encode()
        async with listening(away) as (address, _heads), api_at(address) as api:
            with pytest.raises((Rejected, Unknown)) as caught:
                await write(api, file)
    assert not seen
    assert TOKEN not in str(caught.value)


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("answer", [None, b"", b"HTTP/1.1 200 OK\r\nContent-Length: 90\r\n\r\n{"])
def test_a_change_whose_answer_is_lost_is_unknown(
    write: Callable[[Api, Path], Awaitable[object]], answer: bytes | None, tmp_path: Path
) -> None:
    """The clock moves only when nothing else can happen, so no busy machine makes an answer late."""
    small = tmp_path / "small.txt"
    small.write_bytes(b"small")

    async def lose() -> None:
        async with listening(answer) as (address, heads), api_at(address, timeout=5, upload_timeout=5) as api:
            with pytest.raises(Unknown, match="may or may not have been made"):
                await write(api, small)
        assert len(heads) == 1

    with asyncio.Runner(loop_factory=Warp) as runner:
        runner.run(lose())


async def test_a_file_that_is_not_there_is_not_announced(tmp_path: Path) -> None:
    platform = saying({})
    async with api_of(platform) as api:
        with pytest.raises(FileFault, match=r"upload material of video v: .*none\.pdf: No such file"):
            await api.materials.upload("v", tmp_path / "none.pdf", "a", "b")
    assert not platform.requests


async def test_an_upload_that_is_given_up_at_once_leaves_no_file_open(file: Path) -> None:
    """It is opened in a thread, which goes on when the upload does not; one left open warns, which is an error here."""
    async with api_of(saying({})) as api:
        for _ in range(20):
            task = asyncio.create_task(api.materials.upload("v", file, "a", "b"))
            await asyncio.sleep(0)  # it has begun, and no more
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
    gc.collect()


async def test_what_has_no_size_is_no_file_to_send(tmp_path: Path) -> None:
    """A pipe would be waited for, a device would be sent as nothing."""
    os.mkfifo(tmp_path / "pipe")
    platform = saying({})
    async with api_of(platform) as api:
        for path in (tmp_path / "pipe", tmp_path, Path("/dev/zero")):
            with pytest.raises(FileFault, match="not a regular file"):
                await api.materials.upload("v", path, "a", "b")
            with pytest.raises(FileFault, match="not a regular file"):
                await api.subtitles.upload("v", "en", "", path)
    assert not platform.requests


@pytest.mark.parametrize("write", [0, 1, 2])
async def test_an_upload_to_no_object_is_not_sent(write: int, file: Path) -> None:
    platform = saying({})
    async with api_of(platform) as api:
        calls: list[Callable[[], Awaitable[object]]] = [
            lambda: api.materials.upload("", file, "a", "b"),
            lambda: api.posters.upload_for_video("", "https://cdn.example.com/a.png"),
            lambda: api.posters.upload_for_event("", "https://cdn.example.com/a.png"),
        ]
        with pytest.raises(Misconfigured, match="is not an id"):
            await calls[write]()
    assert not platform.requests


async def test_a_file_that_shrinks_while_it_is_sent_is_told(file: Path) -> None:
    def shrink(_sent: int, _size: int | None) -> None:
        file.write_bytes(b"")

    async with listening(None) as (address, _heads), api_at(address) as api:
        with pytest.raises(FileFault, match="shrank"):
            await api.materials.upload("v", file, "a", "b", progress=shrink)


async def test_an_upload_that_is_too_large_for_the_platform_is_told() -> None:
    refused = b'HTTP/1.1 413 No\r\nContent-Length: 52\r\n\r\n{"error": {"code": 413413, "message": "too large"}}  '
    async with listening(refused) as (address, _heads), api_at(address) as api:
        with pytest.raises(Validation, match="too large"):
            await api.posters.upload_for_video("v", "https://cdn.example.com/a.png")


async def test_a_key_that_the_platform_repeats_is_masked() -> None:
    draft = DRAFTS["api.relays.update"]
    assert isinstance(draft, RelayDraft)
    platform = saying({"error": {"code": 400400, "message": f"bad {KEY}", "invalid_params": [KEY]}}, 400)
    async with api_of(platform) as api:
        with pytest.raises(ApiError) as caught:
            await api.relays.update("r", "p", draft)
    assert KEY not in f"{caught.value} {caught.value!r}"


async def test_calls_at_once_share_the_client(file: Path) -> None:
    platform = Recorder({"data": {"id": "m1"}})
    async with api_of(platform) as api:
        made = await asyncio.gather(*(api.materials.upload("v", file, "a", "b") for _ in range(5)))
    assert made == [Material(id="m1")] * 5

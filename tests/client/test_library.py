"""The client inside another program: it accepts that program's objects, and leaves its process unchanged."""

from __future__ import annotations

import asyncio
import copy
import json
import pickle
import subprocess
import sys
from collections.abc import Awaitable, Callable, Mapping
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

import livedeck.client
from client.answers import Platform, Recorder, api_of, listening, saying
from client.calls import VTT
from client.test_transport import api_at
from golden.warp import warped
from livedeck.client import (
    AnnotationDraft,
    Api,
    ApiError,
    ChatExport,
    Event,
    EventDraft,
    FileFault,
    Invalid,
    Misconfigured,
    NewRelayFields,
    Page,
    Rejected,
    RelayDraft,
    RoomDraft,
    Secret,
    Unauthorized,
    Unreachable,
    Unreadable,
)

SOURCE = Path(__file__).parents[2] / "src"
ID = UUID("4d2c2f2e-6f53-4a3e-9b7d-0d8d1c1c7a10")

PROCESS = """
import asyncio, gc, json, locale, logging, os, signal, sys, threading, warnings

logging.basicConfig(level=logging.ERROR)
{before}

def state():
    loggers = {{name: (logger.level, len(logger.handlers), logger.propagate, logger.disabled)
               for name, logger in logging.root.manager.loggerDict.items() if isinstance(logger, logging.Logger)}}
    return {{
        "root": (logging.root.level, [repr(each) for each in logging.root.handlers], logging.root.manager.disable),
        "loggers": {{name: was for name, was in loggers.items() if was != (0, 0, True, False)}},
        "logger class": repr(logging.getLoggerClass()),
        "signals": [repr(signal.getsignal(number)) for number in signal.valid_signals()],
        "warnings": [repr(entry) for entry in warnings.filters],
        "policy": type(asyncio.get_event_loop_policy()).__name__,
        "environment": dict(os.environ),
        "path": sys.path,
        "folder": os.getcwd(),
        "umask": os.umask(0o077),
        "collector": (gc.isenabled(), gc.get_threshold(), gc.get_freeze_count(), gc.get_debug()),
        "hooks": [repr(sys.excepthook), repr(sys.displayhook), repr(threading.excepthook), repr(sys.unraisablehook)],
        "limits": (sys.getrecursionlimit(), sys.getswitchinterval(), sys.get_int_max_str_digits()),
        "locale": locale.setlocale(locale.LC_ALL),
        "threads": [thread.name for thread in threading.enumerate()],
        "streams": [repr(sys.stdout), repr(sys.stderr), repr(sys.stdin)],
    }}

modules = {{name: dict(vars(module)) for name, module in sys.modules.items() if name in OTHERS}}
known = set(sys.modules)
before = state()
os.umask(before["umask"])
{act}
after = state()
changed = [f"{{name}}.{{key}}" for name, was in modules.items() for key, value in was.items()
           if vars(sys.modules[name]).get(key) is not value]
foreign = sorted({{"textual", "rich", "click", "structlog", "sqlite3", "starlette"}} & sys.modules.keys() - known)
print(json.dumps([{{key: (before[key], after[key]) for key in before if before[key] != after[key]}}, changed, foreign]))
"""


def changes(act: str) -> Any:
    """Return the changes of a process after `act`: its state, members of modules, and unneeded packages."""
    others = "import httpx, pydantic, msgspec, ssl, json, socket\n"
    names = 'OTHERS = ("httpx", "httpcore", "pydantic", "json", "ssl", "socket", "logging", "asyncio", "builtins")\n'
    program = PROCESS.format(before=others + names, act=act)
    done = subprocess.run(
        [sys.executable, "-c", program], env={"PYTHONPATH": str(SOURCE)}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_importing_and_making_one_changes_nothing_in_the_process() -> None:
    """Logging, signals, warnings, loop policy, environment, collector, hooks, threads, and other people's modules."""
    state, members, packages = changes(
        "import livedeck.client\nlivedeck.client.Api(base_url='https://a.example', token='t')"
    )
    assert (state, members, packages) == ({}, [], [])


def test_a_program_that_did_change_something_would_be_seen() -> None:
    act = "import httpx, signal\nhttpx.get = None\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nimport sqlite3"
    state, members, packages = changes(act)
    assert (list(state), members, packages) == (["signals"], ["httpx.get"], ["sqlite3"])


def _errors() -> list[ApiError]:
    """Return an error of each class."""
    made: list[ApiError] = []
    for kind in vars(livedeck.client).values():
        if not (isinstance(kind, type) and issubclass(kind, ApiError)):
            continue
        if issubclass(kind, Invalid):
            made.append(kind("create event", "name", "is required"))
        elif issubclass(kind, Unreachable):
            made.append(kind("it is not there", "dns"))
        elif issubclass(kind, Rejected):
            made.append(
                kind("no", status=400, code=400404, message="m", detail="d", invalid_params=[{"a": 1}], retry_after=2.5)
            )
        else:
            made.append(kind("it went wrong"))
    return made


@pytest.mark.parametrize("error", _errors(), ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("passed_on", [copy.copy, copy.deepcopy, lambda error: pickle.loads(pickle.dumps(error))])
def test_every_error_can_be_copied_and_pickled(error: ApiError, passed_on: Callable[[ApiError], ApiError]) -> None:
    """As a pool of processes does with what its work raises."""
    other = passed_on(error)
    assert type(other) is type(error)
    assert (str(other), other.args, vars(other)) == (str(error), error.args, vars(error))


def test_an_api_in_a_second_event_loop_says_so() -> None:
    api = api_of(saying({"data": []}))
    asyncio.run(_list(api))
    with pytest.raises(
        Misconfigured, match=r"list events: not sent, this Api belongs to another event loop; create one in"
    ):
        asyncio.run(_list(api.without_retry()))


def test_one_that_was_made_outside_belongs_to_the_loop_that_uses_it_first_and_is_left_in_any() -> None:
    async def leave(api: Api) -> None:
        async with api:
            pass

    api = api_of(saying({"data": []}))
    asyncio.run(_list(api))
    asyncio.run(leave(api))


async def _list(api: Api) -> None:
    await api.events.list()


@pytest.mark.parametrize(
    ("identifier", "path"),
    [
        (ID, b"/v2/live/events/4d2c2f2e-6f53-4a3e-9b7d-0d8d1c1c7a10"),
        (42, b"/v2/live/events/42"),
        ("a/b", b"/v2/live/events/a%2Fb"),
        ("a b", b"/v2/live/events/a%20b"),
        ("../rooms", b"/v2/live/events/..%2Frooms"),
        ("%2e%2e", b"/v2/live/events/%252e%252e"),
        ("e?x=1#y", b"/v2/live/events/e%3Fx%3D1%23y"),
        ("東京", b"/v2/live/events/%E6%9D%B1%E4%BA%AC"),
    ],
)
async def test_an_id_is_one_segment_of_the_path_whatever_it_holds(identifier: Any, path: bytes) -> None:
    platform = saying({"data": {"id": str(identifier)}})
    async with api_of(platform) as api:
        await api.events.get(identifier)
    assert platform.requests[0]["raw_path"] == path


async def test_the_object_of_another_id_is_no_reply_to_a_read() -> None:
    async with api_of(saying({"data": {"id": "x"}})) as api:
        reads: list[Callable[[], Awaitable[object]]] = [
            lambda: api.events.get("e1"),
            lambda: api.rooms.get("r1"),
            lambda: api.posters.get("v1", "p1"),
            lambda: api.subtitles.get("v1", "s1"),
            lambda: api.annotations.get("v1", "a1"),
        ]
        for read in reads:
            with pytest.raises(Unreadable, match="the response is about another object"):
                await read()


@pytest.mark.parametrize("identifier", ["", " ", ".", "..", None, 1.5, True, b"e1", ["e1"], object()])
async def test_what_is_no_id_is_refused_with_words_and_nothing_is_sent(identifier: Any) -> None:
    platform = saying({"data": {"id": "x"}})
    async with api_of(platform) as api:
        calls: list[Callable[[], Awaitable[object]]] = [
            lambda: api.events.get(identifier),
            lambda: api.events.move("e1", identifier),
            lambda: api.annotations.create(identifier, type="text"),
            lambda: api.posters.upload_for_event(identifier, "https://a.example/p.png"),
            lambda: api.subtitles.reorder("v1", [identifier, "s2"]),
            lambda: anext(api.chat.messages(identifier, "s1")),
        ]
        for call in calls:
            with pytest.raises((Misconfigured, Invalid), match=r"is not an id|an id should be|every object once"):
                await call()
    assert not platform.requests


async def test_numbers_and_uuids_are_ids_everywhere_that_one_is_sent() -> None:
    platform = Recorder({"data": {"id": "x"}})
    async with api_of(platform) as api:
        await api.events.move(1, ID)
        await api.events.create(name="A", type="one-time", parent_id=ID, record={"parent_id": 7})
        await api.annotations.create(5, type="text", annotation_poster_id=ID)
        await api.subtitles.reorder(5, [ID, 6, "s"])
        await api.posters.upload_for_video(ID, "https://a.example/p.png")
        assert platform.header("x-video-id") == str(ID)
        with pytest.raises(Unreadable):
            await api.events.list(project_id=ID, folder_id=9)
    bodies = [json.loads(body) for body in platform.bodies[:4]]
    assert bodies == [
        {"parent_id": str(ID)},
        {"name": "A", "type": "one-time", "parent_id": str(ID), "record": {"parent_id": "7"}},
        {"video_id": "5", "type": "text", "annotation_poster_id": str(ID)},
        [str(ID), "6", "s"],
    ]
    assert platform.requests[-1]["query_string"] == f"page=1&per_page=20&project_id={ID}&folder_id=9".encode()


SOURCES: Mapping[str, Callable[[Path], Any]] = {
    "path": lambda path: path,
    "text": str,
    "bytes": Path.read_bytes,
    "memory": lambda path: BytesIO(path.read_bytes()),
    "file": lambda path: path.open("rb"),
}


@pytest.mark.parametrize("kind", SOURCES)
async def test_a_file_is_a_path_bytes_or_what_is_open(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "track.vtt"
    path.write_bytes(VTT)
    source = SOURCES[kind](path)
    platform = Recorder({"data": {"id": "x"}})
    async with api_of(platform) as api:
        await api.materials.upload("v", source, "track.vtt", "Track")
        if kind in {"memory", "file"}:
            assert not source.closed
            source.seek(0)
        await api.subtitles.upload("v", "en", "", source)
    assert platform.bodies[0] == VTT
    assert VTT in platform.bodies[1]
    name = b'filename="subtitles.vtt"' if kind in {"bytes", "memory"} else b'filename="track.vtt"'
    assert name in platform.bodies[1]
    if kind == "file":
        source.close()


async def test_an_open_file_is_sent_from_where_it_stands() -> None:
    platform = Recorder({"data": {"id": "x"}})
    file = BytesIO(b"head and body")
    file.seek(9)
    async with api_of(platform) as api:
        await api.materials.upload("v", file, "f", "t")
    assert (platform.bodies, platform.header("content-length")) == ([b"body"], "4")


@pytest.mark.parametrize("file", [StringIO("text"), 7, None, "", {}])
async def test_what_is_no_file_is_refused_with_words(file: Any) -> None:
    platform = Recorder({"data": {"id": "x"}})
    async with api_of(platform) as api:
        calls: list[Callable[[], Awaitable[object]]] = [
            lambda: api.materials.upload("v", file, "f", "t"),
            lambda: api.subtitles.upload("v", "en", "", file),
            lambda: api.chat.export(ChatExport("e", "s"), file),
        ]
        for call in calls:
            with pytest.raises(Misconfigured, match=r"binary mode|should be a path, bytes or an open file"):
                await call()
        with pytest.raises(Misconfigured, match="bytes cannot be a target"):
            await api.chat.export(ChatExport("e", "s"), b"chat.json")  # type: ignore[arg-type]
    assert not platform.requests


async def test_an_export_goes_to_a_path_of_any_kind_or_to_what_is_open(tmp_path: Path) -> None:
    whole = b'{"data":[{"id":"m1"}]}'
    memory = BytesIO()
    async with api_of(saying(whole)) as api:
        for target in (tmp_path / "a", str(tmp_path / "b"), memory):
            assert (await api.chat.export(ChatExport("e", "s"), target)).size == len(whole)
        with pytest.raises(FileFault, match="already exists"):
            await api.chat.export(ChatExport("e", "s"), str(tmp_path / "b"))
    assert [(tmp_path / "a").read_bytes(), (tmp_path / "b").read_bytes(), memory.getvalue()] == [whole] * 3


async def test_what_is_made_is_given_as_a_draft_or_by_name_and_is_the_same() -> None:
    platform = Recorder({"data": {"id": "x"}})
    profile = RelayDraft(name="A", url="rtmp://a.example/x", stream_key=Secret("key"))
    relay: NewRelayFields = {"name": "A", "url": "rtmp://a.example/x", "stream_key": "key"}
    async with api_of(platform) as api:
        await api.events.create(EventDraft(name="A", type="one-time"))
        await api.events.create(name="A", type="one-time")
        await api.rooms.create(RoomDraft(owner_id="o", name="B", restreams=(profile,)))
        await api.rooms.create(owner_id="o", name="B", restreams=[relay])
        await api.annotations.update("v", "a", AnnotationDraft(title="C"))
        await api.annotations.update("v", "a", title="C")
        with pytest.raises(Invalid, match="name should be set in the draft"):
            await api.events.create(EventDraft(name="A", type="one-time"), name="B")  # type: ignore[call-overload]
        with pytest.raises(Invalid, match="colour"):
            await api.events.create(name="A", type="one-time", colour="red")  # type: ignore[call-overload]
        with pytest.raises(Invalid, match="type is required"):
            await api.events.create(name="A")  # type: ignore[call-overload]
    assert platform.bodies[::2] == platform.bodies[1::2]
    assert len(platform.bodies) == 6


async def test_a_page_is_a_sequence_and_knows_the_next_one() -> None:
    def reply(_path: str, query: str) -> tuple[int, bytes, dict[str, str]]:
        page = int(query.partition("page=")[2].partition("&")[0])
        rows = [{"id": f"e{number}"} for number in range(5)][(page - 1) * 2 : page * 2]
        return (
            200,
            json.dumps({"meta": {"pagination": {"page": page, "per_page": 2, "total": 5}}, "data": rows}).encode(),
            {},
        )

    platform = Platform(reply)
    async with api_of(platform) as api:
        first = await api.events.list(per_page=2, order="name.asc")
        assert (len(first), [event.id for event in first], first[1].id) == (2, ["e0", "e1"], "e1")
        assert first[:1] == first.items[:1]
        ids = list[str]()
        page: Page[Event] | None = first
        while page:
            ids += [event.id for event in page]
            page = await page.next()
    assert ids == ["e0", "e1", "e2", "e3", "e4"]
    assert [request["query_string"] for request in platform.requests] == [
        f"page={number}&per_page=2&order=name.asc".encode() for number in (1, 2, 3)
    ]


@warped
async def test_a_call_may_have_a_timeout_of_its_own() -> None:
    async with listening(None) as (address, _), api_at(address, timeout=60) as api:
        with pytest.raises(Unreachable, match=r"no complete response from .* in time \(setting timeout: 0.1 s\)"):
            await api.with_timeout(0.1).events.list()
        with pytest.raises(Misconfigured, match="timeout should be above 0"):
            api.with_timeout(0)


async def test_the_last_response_tells_its_status_and_its_request_id() -> None:
    async with api_of(saying({}, 401, {"X-Request-ID": "r-1\x1b[2J", "Date": "Sat, 21 Nov 2026 12:00:00 GMT"})) as api:
        assert not api.last_response
        with pytest.raises(Unauthorized):
            await api.with_timeout(5).events.list()
        last = api.last_response
    assert last
    assert (last.status, last.request_id[:3], "\x1b" in last.request_id) == (401, "r-1", False)


async def test_a_request_looks_for_no_module(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is missing is looked for in the whole path each time: a third of a request's processor time went there."""
    looked_for: list[str] = []

    class Finder:
        @staticmethod
        def find_spec(name: str, _path: object = None, _target: object = None) -> None:
            looked_for.append(name)

    answer = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 11\r\n\r\n" + b'{"data":[]}'
    async with listening(answer) as (address, _), Api(base_url=address, token="token-of-tests", retry=0.0) as api:
        await api.qos.get("event")
        monkeypatch.setattr(sys, "meta_path", [Finder, *sys.meta_path])
        await api.qos.get("event")
    assert looked_for == []

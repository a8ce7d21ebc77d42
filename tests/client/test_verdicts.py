"""Check what is said about a change or a read, against bytes of a hostile platform (trust.md, "Verdicts").

Each row is a reply and the only verdict that it allows: "done" and "refused" if nothing in the reply contradicts,
otherwise "unknown", and the object is read again.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import pytest

from cli.commands import called
from client.raw_platform import raw_platform
from client.test_faults import answer, error
from client.test_transport import api_at
from livedeck.client import (
    OF_ANOTHER,
    Api,
    ApiError,
    EventDraft,
    NotFound,
    Page,
    Progress,
    Rejected,
    Unknown,
    Unreadable,
)
from livedeck.operations.events import EDIT_FORM as FORM
from livedeck.operations.events import DeleteEvent, EditEvent, EnableEvent, EventTarget, ScheduleStream, edit_entries
from livedeck.operations.executor import Executor
from livedeck.operations.operation import Confirmation, Operation, OperationResult, Platform, Verdict
from operations.samples import filled

R = TypeVar("R")

EVENT = {"id": "e1", "name": "Trial show", "type": "one-time"}
FOUND = answer(200, json.dumps({"data": EVENT}).encode())
LIST = answer(200, json.dumps({"data": [EVENT], "meta": {"pagination": {"page": 1, "total": 1}}}).encode())
GONE = error(400, 400404)
PROXY_404 = answer(404, b"<html>no route</html>", "Content-Type: text/html")
DONE, REFUSED, UNKNOWN = "done", "refused", "unknown"

SUCCESS = {"data": {"success": True}}
CONFLICT = {"code": 409409, "message": "already completed"}


def ok(body: object, status: int = 200, *headers: str) -> bytes:
    sent = body if isinstance(body, bytes) else json.dumps(body).encode()
    return answer(status, sent, *headers)


ANSWERS: Mapping[str, tuple[bytes, str]] = {
    # nothing says otherwise
    "success": (ok(SUCCESS), DONE),
    "success in words": (ok({"data": {"success": "true"}}), DONE),
    "success beside data": (ok({"success": True, "data": None}), DONE),
    "no error": (ok({"data": None, "error": None, "errors": []}), DONE),
    "error is false": (ok({"data": EVENT, "error": False}), DONE),
    "nothing": (ok(b""), DONE),
    "204": (answer(204, b""), DONE),
    "an object of its own status": (ok({"data": {"id": "e1", "status": "error"}}), DONE),
    "an id in another case": (ok({"data": {"id": "E1"}}), DONE),
    "an id beside success": (ok({"data": {"id": "job-7", "success": True}}), DONE),
    "202 that says it is done": (ok(SUCCESS, 202), DONE),
    # an error body of the document, with a code that is a refusal
    "error for data": (ok({"error": CONFLICT}), REFUSED),
    "error beside null": (ok({"data": None, "error": CONFLICT}), REFUSED),
    "error beside no rows": (ok({"data": [], "error": CONFLICT}), REFUSED),
    "error beside success false": (ok({"success": False, "error": CONFLICT}), REFUSED),
    "error in data's success": (ok({"data": {"success": False}, "error": CONFLICT}), REFUSED),
    "409": (ok({"error": CONFLICT}, 409), REFUSED),
    "413 without a body": (answer(413, b""), REFUSED),
    "429": (ok({"error": {"code": 429429}}, 429), REFUSED),
    # reports of a failure that name no code of the document
    "success false": (ok({"success": False}), UNKNOWN),
    "success 0": (ok({"success": 0}), UNKNOWN),
    "success null": (ok({"data": {"success": None}}), UNKNOWN),
    "data false": (ok({"data": False}), UNKNOWN),
    "data false in words": (ok({"data": "false"}), UNKNOWN),
    "data error in words": (ok({"data": "error"}), UNKNOWN),
    "success 0 in data": (ok({"data": {"success": 0}}), UNKNOWN),
    "success no in data": (ok({"data": {"success": "false"}}), UNKNOWN),
    "false": (ok(False), UNKNOWN),
    "false in words": (ok("false"), UNKNOWN),
    "errors": (ok({"errors": [{"code": 409409}]}), UNKNOWN),
    "errors by field": (ok({"errors": {"name": ["taken"]}, "data": None}), UNKNOWN),
    "status error": (ok({"status": "error"}), UNKNOWN),
    "status fail": (ok({"status": "FAIL", "data": None}), UNKNOWN),
    "status 409": (ok({"status": 409, "message": "no"}), UNKNOWN),
    "code beside message": (ok({"code": 409409, "message": "no"}), UNKNOWN),
    "ok false": (ok({"ok": False}), UNKNOWN),
    "nested": (ok({"data": {"data": {"success": False}}}), UNKNOWN),
    "error in data": (ok({"data": {"error": CONFLICT}}), UNKNOWN),
    "a list of failures": (ok({"data": [{"success": False}]}), UNKNOWN),
    "error in words": (ok({"error": "locked"}), UNKNOWN),
    "error without a code": (ok({"error": {"message": "locked"}, "data": None}), UNKNOWN),
    "error with a code of no status": (ok({"error": {"code": 100101}}), UNKNOWN),
    "error of a server": (ok({"error": {"code": 500500}}), UNKNOWN),
    "error of a wait": (ok({"error": {"code": 408408}}), UNKNOWN),
    # contradictions
    "another object": (ok({"data": {**EVENT, "id": "e2"}}), UNKNOWN),
    "error beside success": (ok({"success": True, "error": CONFLICT}), UNKNOWN),
    "error beside data": (ok({"data": EVENT, "error": CONFLICT}), UNKNOWN),
    "error beside success in data": (ok({**SUCCESS, "error": CONFLICT}), UNKNOWN),
    "success beside failure": (ok({"success": True, "data": {"success": False}}), UNKNOWN),
    "object that failed": (ok({"data": {**EVENT, "success": False}}), UNKNOWN),
    "409 with success": (ok(SUCCESS, 409), UNKNOWN),
    "400 with success": (ok({"success": 1, "error": CONFLICT}, 400), UNKNOWN),
    "409 with a code of a server": (ok({"error": {"code": 500500}}, 409), UNKNOWN),
    "409 with a code of success": (ok({"error": {"code": 200200}}, 409), UNKNOWN),
    "two answers": (ok(SUCCESS) + ok({"error": CONFLICT}, 409), UNKNOWN),
    "two successes": (ok(SUCCESS) * 2, UNKNOWN),
    # statuses that leave it open
    "202": (ok(b"", 202), UNKNOWN),
    "202 with null": (ok({"data": None}, 202), UNKNOWN),
    "206": (ok({}, 206), UNKNOWN),
    "207": (ok({}, 207), UNKNOWN),
    "302": (answer(302, b"", "Location: /login"), UNKNOWN),
    "500": (ok({"error": {"code": 500500}}, 500), UNKNOWN),
    # a refusal that the platform may not have sent
    "401 page": (answer(401, b"<html>Sign in</html>"), UNKNOWN),
    "403 page": (answer(403, b"<html>Blocked</html>"), UNKNOWN),
    "409 without a body": (answer(409, b""), UNKNOWN),
    "422 of another kind": (ok({"message": "no"}, 422), UNKNOWN),
    "429 page": (answer(429, b"<html>Slow down</html>"), UNKNOWN),
    # no answer at all
    "page": (answer(200, b"<html>Sign in</html>", "Content-Type: text/html"), UNKNOWN),
    "half": (b'HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"data":', UNKNOWN),
    "silence": (b"", UNKNOWN),
    "a flood": (b"HTTP/1.1 103 Early Hints\r\n\r\n" * 500 + ok(SUCCESS), UNKNOWN),
    # "not found" is no proof, and is read again
    "404": (error(404, 404404), UNKNOWN),
    "400 with 400404": (error(400, 400404), UNKNOWN),
    "404 of a proxy": (PROXY_404, UNKNOWN),
    "404 with success": (ok(SUCCESS, 404), UNKNOWN),
    "410": (answer(410, b""), UNKNOWN),
    "200 with 404404": (error(200, 404404), UNKNOWN),
}
"""Answer to a change -> the verdict."""

EXIT_CODES = {DONE: 0, REFUSED: 3, UNKNOWN: 5}


def replying(changed: bytes, after: bytes = FOUND) -> Callable[[str, str], bytes]:
    """Answer a change with `changed`, and reads with the event; after the change with `after`."""
    has_changed = False

    def reply(method: str, path: str) -> bytes:
        nonlocal has_changed
        if method != "GET":
            has_changed = True
            return changed
        if has_changed:
            return after
        return FOUND if path.endswith("/e1") else LIST

    return reply


@pytest.mark.parametrize("name", ANSWERS)
async def test_the_client_says_no_more_of_a_change_than_the_answer_proves(name: str) -> None:
    sent, verdict = ANSWERS[name]
    said, fault = DONE, None
    with raw_platform(replying(sent)) as address:
        async with api_at(address, timeout=5 if name == "half" else 60) as api:
            try:
                await api.events.enable("e1")
            except ApiError as error:
                said, fault = UNKNOWN if isinstance(error, Unknown | NotFound) else REFUSED, error
    assert (said, str(fault)) == (verdict, str(fault))
    assert said == DONE or isinstance(fault, Rejected | Unknown)


@pytest.mark.parametrize("name", ANSWERS)
def test_the_command_line_says_the_same(name: str, tmp_path: Path) -> None:
    """Enable an event: no read can show that, so the answer alone decides."""
    sent, verdict = ANSWERS[name]
    with raw_platform(replying(sent)) as address:
        env = {"LIVEDECK_BASE_URL": address, "LIVEDECK_TOKEN": "strange"}
        done = called(tmp_path, "event", "enable", "e1", "--yes", env=env)
    assert (done.returncode, done.stdout + done.stderr) == (EXIT_CODES[verdict], done.stdout + done.stderr)
    assert f"event enable: {verdict}: Trial show" in done.stdout + done.stderr


OBJECT_ANSWERS: Mapping[str, tuple[bytes, str]] = {
    "object": (FOUND, DONE),
    "success alone": (ok(SUCCESS), UNKNOWN),
    "nothing": (ok(b""), UNKNOWN),
    "null": (ok({"data": None}), UNKNOWN),
    "no rows": (ok({"data": []}), UNKNOWN),
    "no id": (ok({"data": {"name": "Trial show"}}), UNKNOWN),
    "error beside null": (ok({"data": None, "error": CONFLICT}), REFUSED),
    "error beside the object": (ok({"data": EVENT, "errors": ["partly"]}), UNKNOWN),
    "202 with the object": (ok({"data": EVENT}, 202), DONE),
    "404": (error(404, 404404), UNKNOWN),
}
"""Answer to a change that returns an object -> the verdict."""


@pytest.mark.parametrize("name", OBJECT_ANSWERS)
async def test_a_change_that_returns_its_object_needs_the_object(name: str) -> None:
    sent, verdict = OBJECT_ANSWERS[name]
    said = DONE
    with raw_platform(replying(sent)) as address:
        async with api_at(address) as api:
            try:
                await api.events.update("e1", EventDraft(name="Trial show"))
            except ApiError as error:
                said = UNKNOWN if isinstance(error, Unknown | NotFound) else REFUSED
    assert said == verdict


class _Clock:
    """Clock whose sleeps end at once."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def now(self) -> datetime:
        return datetime(2026, 11, 21, 18, tzinfo=UTC) + timedelta(seconds=self.seconds)

    def monotonic(self) -> float:
        return self.seconds

    async def sleep(self, seconds: float) -> None:
        self.seconds += seconds


class _Ports:
    """Ports that agree and wait."""

    async def confirm(self, _operation: Operation[Any], _confirmation: Confirmation) -> bool:
        return True

    async def watch(self, _title: str, work: Callable[[Progress], Awaitable[R]]) -> R:
        return await work(lambda *_: None)


async def verdict_of(
    address: str, make: Callable[[EventTarget], Operation[Any]], *, reads_back: bool = False
) -> OperationResult:
    """Run a change of the event with the executor, without its search in the background."""
    async with api_at(address) as api:
        ports = _Ports()
        executor = Executor(Platform(api), _Clock(), confirmations=ports, progress=ports, reads_back=reads_back)
        result = await executor.run(make(EventTarget.of_event(await api.events.get("e1"))))
        await executor.stop_watches()
    return result


def renamed(target: EventTarget) -> EditEvent:
    return EditEvent(target, filled(FORM, edit_entries(target.view.event, None), name="Renamed"))


RENAMED = ok({"data": {**EVENT, "name": "Renamed"}})
BUSY = ok({"error": {"code": 503503}}, 503)
NOT_FOUND = {"404": error(404, 404404), "400404": GONE, "proxy": PROXY_404, "200": error(200, 404404)}

READ_BACK: Mapping[str, tuple[Callable[[EventTarget], Operation[Any]], bytes, Verdict, str]] = {
    "delete, gone": (DeleteEvent, GONE, Verdict.APPLIED, "the platform says that the object does not exist"),
    "delete, there": (DeleteEvent, FOUND, Verdict.UNKNOWN, "it still exists"),
    "delete, unreadable": (DeleteEvent, BUSY, Verdict.UNKNOWN, "could not be read again"),
    "delete, page of a proxy": (DeleteEvent, PROXY_404, Verdict.UNKNOWN, "could not be read again"),
    "enable, gone": (EnableEvent, GONE, Verdict.UNKNOWN, "the platform says that the event does not exist"),
    "enable, there": (
        EnableEvent,
        FOUND,
        Verdict.UNKNOWN,
        "it still exists; nothing can prove whether the change happened",
    ),
    "edit, seen": (renamed, RENAMED, Verdict.APPLIED, "it is as you wanted: the fields have changed"),
    "edit, not seen": (renamed, FOUND, Verdict.UNKNOWN, "the change is not visible yet"),
    "edit, gone": (renamed, GONE, Verdict.UNKNOWN, "the platform says that the event does not exist"),
    "edit, unreadable": (renamed, BUSY, Verdict.UNKNOWN, "could not be read again"),
}
"""Change with the reply "not found", and the reads after it -> verdict and the state that is reported."""


@pytest.mark.parametrize("name", READ_BACK)
@pytest.mark.parametrize("refusal", NOT_FOUND)
async def test_not_found_after_a_change_is_read_again_and_says_what_is_seen(refusal: str, name: str) -> None:
    make, after, verdict, words = READ_BACK[name]
    with raw_platform(replying(NOT_FOUND[refusal], after)) as address:
        result = await verdict_of(address, make)
    assert (result.verdict, words in result.text) == (verdict, True), result.text
    assert "responded that it does not exist (" in result.text
    assert result.is_gone == (after == GONE)
    assert bool(result.watched_until) == (verdict is Verdict.UNKNOWN and not result.is_gone and make is not EnableEvent)


@pytest.mark.parametrize(("after", "verdict"), [(RENAMED, Verdict.APPLIED), (FOUND, Verdict.UNKNOWN)])
async def test_a_response_about_another_object_proves_nothing(after: bytes, verdict: Verdict) -> None:
    with raw_platform(replying(ok({"data": {**EVENT, "id": "e2", "name": "Renamed"}}), after)) as address:
        result = await verdict_of(address, renamed)
    assert (result.verdict, OF_ANOTHER in result.text) == (verdict, True)


@pytest.mark.parametrize("refusal", [ok({"error": CONFLICT}, 409), ok({"error": {"code": 400400}}, 400)])
@pytest.mark.parametrize(("after", "verdict"), [(RENAMED, Verdict.APPLIED), (FOUND, Verdict.REFUSED)])
async def test_a_refusal_of_the_second_copy_of_a_change_does_not_hide_the_first(
    after: bytes, verdict: Verdict, refusal: bytes
) -> None:
    with raw_platform(replying(refusal, after)) as address:
        result = await verdict_of(address, renamed)
    assert result.verdict is verdict
    assert ("it is as you wanted" in result.text) == (verdict is Verdict.APPLIED)


@pytest.mark.parametrize("data", [[], {"id": "s9"}])
async def test_a_command_reads_the_start_of_a_scheduled_stream_again(data: object) -> None:
    """trust.md, "Verdicts": a response without the stream, or with another one, is accepted, not done."""
    start = datetime(2036, 11, 21, 18, tzinfo=UTC)
    with raw_platform(replying(ok({"data": data}))) as address:
        result = await verdict_of(address, lambda target: ScheduleStream(target, start), reads_back=True)
    assert result.differs
    assert "accepted, but Trial show has no stream with a start, as before" in result.text


@pytest.mark.parametrize("body", [b"", b"null", b"[]", b'{"data": null}', b'{"data": {"id": "s"}}', b'{"data": {}}'])
@pytest.mark.parametrize("name", ["subtitles", "annotations", "materials", "order"])
async def test_a_change_that_is_documented_to_say_success_needs_it(name: str, body: bytes) -> None:
    with raw_platform(replying(answer(200, body))) as address:
        async with api_at(address) as api:
            calls: dict[str, Callable[[], Awaitable[None]]] = {
                "subtitles": lambda: api.subtitles.delete("v", "s"),
                "annotations": lambda: api.annotations.delete("v", "s"),
                "materials": lambda: api.materials.delete("s"),
                "order": lambda: api.materials.reorder(["s"]),
            }
            with pytest.raises(Unknown, match="it should say success: true"):
                await calls[name]()


async def test_recognition_that_returns_no_track_proves_nothing() -> None:
    with raw_platform(replying(ok({"data": []}))) as address:
        async with api_at(address) as api:
            with pytest.raises(Unknown, match="lacks a track for each language"):
                await api.subtitles.generate("v1", ["en"])


def test_a_404_of_a_proxy_does_not_say_that_a_material_is_removed(tmp_path: Path) -> None:
    with raw_platform(lambda _method, path: PROXY_404 if "/link" in path else FOUND) as address:
        env = {"LIVEDECK_BASE_URL": address, "LIVEDECK_TOKEN": "strange"}
        video = "d1c6d699-e7a8-4d88-8da6-6f87de2c853d"
        done = called(tmp_path, "video", "material", "reorder", video, "m1", "--yes", env=env)
    assert done.returncode == 3
    assert "not sent: could not re-check" in done.stderr
    assert "removed" not in done.stderr


def test_a_material_that_the_platform_does_not_find_was_not_removed_by_anybody(tmp_path: Path) -> None:
    """Its id may be a typing error."""
    with raw_platform(lambda _method, path: error(404, 404404) if "/link" in path else FOUND) as address:
        env = {"LIVEDECK_BASE_URL": address, "LIVEDECK_TOKEN": "strange"}
        video = "d1c6d699-e7a8-4d88-8da6-6f87de2c853d"
        done = called(tmp_path, "video", "material", "reorder", video, "m1", "--yes", env=env)
    assert done.returncode == 3
    assert "the object is not as expected: not found: m1; " in done.stderr


FAILED = ok({"data": {"success": False}})


@pytest.mark.parametrize(
    ("after", "verdict"), [(GONE, Verdict.APPLIED), (FOUND, Verdict.UNKNOWN), (BUSY, Verdict.UNKNOWN)]
)
async def test_a_failure_that_is_told_with_success_is_read_again(after: bytes, verdict: Verdict) -> None:
    with raw_platform(replying(FAILED, after)) as address:
        result = await verdict_of(address, DeleteEvent)
    assert result.verdict is verdict
    assert "data.success is false" in result.text


def test_the_command_line_tells_that_it_is_gone_and_not_who_deleted_it(tmp_path: Path) -> None:
    with raw_platform(replying(error(404, 404404), GONE)) as address:
        env = {"LIVEDECK_BASE_URL": address, "LIVEDECK_TOKEN": "strange"}
        done = called(tmp_path, "event", "delete", "e1", "--yes", env=env)
    assert done.returncode == 0
    assert done.stdout.startswith(
        "event delete: applied: Trial show: the platform responded that it does not exist (code 404404)"
    )
    assert "the platform says that the object does not exist" in done.stdout


def test_an_upload_that_is_not_found_does_not_say_that_it_still_exists(tmp_path: Path) -> None:
    """No read shows an object without an id."""
    (tmp_path / "a.txt").write_text("a")
    with raw_platform(lambda method, _path: error(404, 404404) if method == "POST" else LIST) as address:
        env = {"LIVEDECK_BASE_URL": address, "LIVEDECK_TOKEN": "strange"}
        video = "d1c6d699-e7a8-4d88-8da6-6f87de2c853d"
        words = ("video", "material", "upload", video, "--file", str(tmp_path / "a.txt"), "--yes")
        done = called(tmp_path, *words, env=env)
    assert done.returncode == 5
    assert "which leaves the outcome open; nothing can prove whether the change happened" in done.stderr
    assert "still exists" not in done.stdout + done.stderr


def test_an_order_that_is_not_found_does_not_say_that_it_still_exists(tmp_path: Path) -> None:
    def reply(method: str, path: str) -> bytes:
        if method == "PATCH":
            return error(404, 404404)
        return ok({"data": {"link": "https://cdn.example/a"}}) if "/link" in path else FOUND

    with raw_platform(reply) as address:
        env = {"LIVEDECK_BASE_URL": address, "LIVEDECK_TOKEN": "strange"}
        video = "d1c6d699-e7a8-4d88-8da6-6f87de2c853d"
        done = called(tmp_path, "video", "material", "reorder", video, "m1", "m2", "--yes", env=env)
    assert done.returncode == 5
    assert "Send the order?" in done.stderr
    assert "the platform responded that it does not exist (code 404404), which leaves the outcome open" in done.stderr
    assert "still exists" not in done.stderr


async def test_a_404_of_a_proxy_before_a_change_does_not_say_that_the_object_is_gone() -> None:
    def reply(method: str, _path: str) -> bytes:
        asked.append(method)
        return FOUND if len(asked) == 1 else PROXY_404

    asked = list[str]()
    with raw_platform(reply) as address:
        result = await verdict_of(address, EnableEvent)
    assert (result.verdict, result.is_gone) == (Verdict.REFUSED, False)
    assert result.text.startswith("not sent: could not re-check Trial show (")
    assert asked == ["GET", "GET"]


LISTS: Mapping[str, tuple[bytes, type[ApiError] | None]] = {
    "rows": (LIST, None),
    "no rows": (ok({"data": [], "meta": {"pagination": {"page": 1, "per_page": 100, "total": 0}}}), None),
    "rows and no error": (ok({"data": [EVENT], "error": None, "errors": [], "status": "ok", "success": True}), None),
    "nothing": (ok(b""), Unreadable),
    "false": (ok({"data": False}), Unreadable),
    "an object": (ok({"data": EVENT}), Unreadable),
    "error beside null": (ok({"data": None, "error": {"code": 403403}}), Rejected),
    "error beside no rows": (ok({"data": [], "error": {"code": 500500}}), Rejected),
    "error in words": (ok({"data": None, "error": "down"}), Rejected),
    "error beside rows": (ok({"data": [EVENT], "error": {"code": 500500}}), Unreadable),
    "errors beside rows": (ok({"data": [EVENT], "errors": ["partly"]}), Unreadable),
    "success false": (ok({"success": False, "data": []}), Unreadable),
    "status error": (ok({"status": "error", "data": []}), Unreadable),
}
"""Reply to a list -> the error; None for a valid list."""


@pytest.mark.parametrize("name", LISTS)
def test_a_list_is_empty_only_where_the_answer_says_so(name: str, tmp_path: Path) -> None:
    sent, kind = LISTS[name]
    with raw_platform(lambda _method, _path: sent) as address:
        env = {"LIVEDECK_BASE_URL": address, "LIVEDECK_TOKEN": "strange"}
        done = called(tmp_path, "event", "list", "--quiet", env=env)
    assert (done.returncode == 0) == (kind is None), done.stderr
    assert done.stdout.split() == (["e1"] if kind is None and name != "no rows" else [])


@pytest.mark.parametrize("name", LISTS)
async def test_the_client_raises_what_the_answer_to_a_list_says(name: str) -> None:
    sent, kind = LISTS[name]
    with raw_platform(lambda _method, _path: sent) as address:
        async with api_at(address) as api:
            if kind is None:
                assert isinstance(await api.events.list(), Page)
                return
            with pytest.raises(kind):
                await read(api)


async def read(api: Api) -> object:
    return await api.events.list()


async def test_samples_may_be_null_for_a_stream_that_has_none() -> None:
    with raw_platform(lambda _method, _path: ok({"data": None})) as address:
        async with api_at(address) as api:
            assert not await api.qos.get("e1")

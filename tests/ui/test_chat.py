"""Screen 4: messages of viewers, filtered, and their export to a file (interface.md, "Screens")."""

from __future__ import annotations

import asyncio
import json
import unicodedata
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from livedeck.cli.screenshots import EVENING
from livedeck.client import ChatExport, ExportProgress, ExportResult, MessageFilter
from livedeck.monitor import History
from livedeck.text.segments import plain
from livedeck.ui.app import Deck
from livedeck.ui.chat import view
from livedeck.ui.chat.form import export_options, message_filter
from livedeck.ui.chat.jobs import ExportJob, JobState, exports_of
from livedeck.ui.chat.preview import MAX_ROWS, PreviewRow, preview_row, read_preview
from livedeck.ui.chat.screen import ChatScreen
from livedeck.ui.chat.state import TAIL_SECONDS
from livedeck.ui.chat.view import SILENT_SECONDS, WIDE_BAR_CELLS, Keys, Tail
from livedeck.ui.general.leave import LeaveDialog
from livedeck.ui.kit.dialogs.confirm import Confirm
from livedeck.ui.kit.dialogs.form import Form
from livedeck.ui.kit.driver import INTERRUPTED
from presentation.test_events import FRESH
from ui.deck_stage import Stage, deck_stage
from ui.stage import act, known, running, steady

CHOIR = "Choir, hall B"
DRAFT = "Untitled event"
KEYS = Keys("enter", "/", "esc", "e", "x", "y", "o", "]", "end")


@asynccontextmanager
async def chatting(folder: Path, name: str = CHOIR, **more: Any) -> AsyncIterator[Stage]:
    """Yield a deck on the Chat screen of an event, which writes files to a folder."""
    async with deck_stage(**more) as stage:
        stage.deck.downloads = folder
        stage.choose(name)
        await stage.act("screen.chat")
        await settled(stage)
        yield stage


async def settled(stage: Stage) -> None:
    """Wait until everything requested is received, and no export runs."""
    await quiet(stage.deck)
    await stage.settle()


async def quiet(deck: Deck) -> None:
    for worker in [worker for worker in deck.workers if worker.group in {"preview", "streams", "export"}]:
        await worker.wait()
    deck.snapshot_signal.publish(None)


def files(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def screen(stage: Stage) -> ChatScreen:
    return stage.deck.screen_of(ChatScreen)


def hold(stage: Stage) -> Callable[[], None]:
    """Hold back all requests to the platform until the returned function is called."""
    gate = asyncio.Event()

    async def wait() -> None:
        await gate.wait()

    stage.hooks.append(("GET", wait))
    return gate.set


async def export_to(stage: Stage, file: str, *, steps: int = 0) -> None:
    """Fill in and send the form of an export: the format `steps` after csv, and a file."""
    await stage.act("chat.export")
    assert stage.shows(Form)
    await stage.press(*["right"] * steps, "tab")
    await stage.press("ctrl+u")
    await stage.enter(file)
    await stage.press("ctrl+s")
    await stage.idle()


async def exported(stage: Stage, form: Any, **more: Any) -> bytes:
    """Return the client's export of the shown stream."""
    export = screen(stage).chat_export()
    assert export is not None
    path = stage.deck.downloads / "expected"
    await stage.api.chat.export(replace(export, format=form, **more), path, replace=True)
    data = path.read_bytes()
    path.unlink()
    return data


async def test_nothing_is_read_before_it_is_requested(tmp_path: Path) -> None:
    async with chatting(tmp_path) as stage:
        assert "none yet: enter reads the log" in stage.text()
        assert not [path for _, path in stage.requests if "chat" in path]


async def test_the_whole_log_is_read_and_its_hostile_text_is_harmless(tmp_path: Path) -> None:
    async with chatting(tmp_path) as stage:
        await stage.act("chat.read")
        await settled(stage)
        count = len(json.loads(await exported(stage, "json"))["data"])
        assert f"{count:,} messages, as of 21:14:07Z" in stage.text()
        for _ in range(5):
            await stage.act("row.page_down")
            assert not {unicodedata.category(char) for char in stage.text() if char != "\n"} & {"Cc", "Cf", "Co", "Cn"}
        await stage.act("row.last")
        assert screen(stage)._following.cursor == str(count - 1)
        await stage.act("row.up")
        await stage.act("row.down")
        await stage.act("row.first")
        assert screen(stage)._following.cursor == "0"
        await stage.act("row.page_up")


async def test_only_messages_that_pass_the_filter_are_shown_and_exported(tmp_path: Path) -> None:
    async with chatting(tmp_path) as stage:
        await stage.act("chat.read")
        stage.deck.dispatch("chat.sift", "BEAUTIFUL")
        await settled(stage)
        assert 'contains "BEAUTIFUL"' in stage.text()
        await export_to(stage, "few", steps=2)
        await settled(stage)
        lines = (tmp_path / "few.ndjson").read_text(encoding="utf-8").splitlines()
        assert {json.loads(line)["message"] for line in lines} == {"beautiful"}
        assert f"{len(lines):,} messages match" in stage.text()
        assert f"{len(lines)} of " in stage.text()
        await stage.act("chat.everything")
        await settled(stage)
        assert "none: every message" in stage.text()
        assert " match" not in stage.text()


async def test_a_filter_that_no_message_can_pass_is_refused_with_the_reason(tmp_path: Path) -> None:
    async with chatting(tmp_path) as stage:
        await stage.act("chat.sift")
        await stage.press("tab")
        await stage.enter("viewer-0, ada")
        await stage.press("tab", "space", "tab")
        await stage.enter("21:00")
        await stage.press("tab")
        await stage.enter("20 min ago")
        await stage.press("ctrl+s")
        assert "From must be before Until" in stage.text()
        await stage.press("tab", "tab", "tab", "tab", "ctrl+u")
        await stage.enter("1 min ago")
        await stage.press("ctrl+s")
        await stage.idle()
        since, until = EVENING.replace(minute=0, second=0), EVENING - timedelta(minutes=1)
        assert screen(stage).message_filter == MessageFilter(since, until, ("viewer-0", "ada"), True)
        assert "by viewer-0 or ada, by administrators, from 20 Nov 21:00:00Z, before 20 Nov 21:13:07Z" in stage.text()
        await stage.act("chat.next_event")
        assert "none: every message" in stage.text()
        await stage.act("chat.previous_event")
        assert CHOIR in stage.text()


@pytest.mark.parametrize(("steps", "form"), [(0, "csv"), (1, "txt"), (4, "json")])
async def test_the_file_holds_what_the_platform_sends(tmp_path: Path, steps: int, form: str) -> None:
    async with chatting(tmp_path, read_only=True) as stage:
        await export_to(stage, "all", steps=steps)
        await settled(stage)
        assert (tmp_path / f"all.{form}").read_bytes() == await exported(stage, form)
        text = stage.text()
        assert "✓ DONE" in text
        assert "as the platform sent it" in text
        assert f"all.{form}" in text
        assert not stage.writes


async def test_the_path_of_the_file_is_copied_and_the_file_is_opened(tmp_path: Path) -> None:
    opened: list[Path] = []

    async def opener(path: Path) -> str:
        opened.append(path)
        return "" if len(opened) == 1 else "there is no desktop here"

    async with chatting(tmp_path) as stage:
        for action in ("chat.copy", "chat.open"):
            await stage.act(action)
            assert "no exported file yet" in stage.text()
        stage.deck.opener = opener
        await export_to(stage, "chat")
        await settled(stage)
        await stage.act("chat.copy")
        assert "path of chat.csv copied" in stage.text()
        await stage.act("chat.open")
        assert "opening chat.csv" in stage.text()
        await stage.act("chat.open")
        assert "chat.csv could not be opened: there is no desktop here" in stage.text()
        assert opened == [tmp_path / "chat.csv"] * 2


async def test_an_export_is_audited(tmp_path: Path) -> None:
    history = await History.open(None, EVENING)
    async with chatting(tmp_path, history=history) as stage:
        await export_to(stage, "chat")
        await settled(stage)
    (record,) = await history.audit(EVENING - timedelta(days=1))
    await history.close()
    assert (record.action, record.target_name) == ("chat.export", CHOIR)
    assert "chat.csv" in record.detail


async def test_an_existing_file_is_replaced_only_after_a_confirmation(tmp_path: Path) -> None:
    existing = tmp_path / "chat.csv"
    existing.write_text("mine")
    async with chatting(tmp_path) as stage:
        await export_to(stage, "chat.csv")
        assert stage.shows(Confirm)
        assert "The file exists: 4 B" in stage.text()
        await stage.press("enter")
        assert stage.shows(Form)
        assert existing.read_text() == "mine"
        await stage.press("ctrl+s")
        await stage.idle()
        await stage.press("tab", "enter")
        await settled(stage)
        assert existing.read_bytes() == await exported(stage, "csv")


async def test_an_export_goes_on_behind_other_screens_until_it_is_stopped(tmp_path: Path) -> None:
    async with chatting(tmp_path) as stage:
        release = hold(stage)
        await export_to(stage, "chat")
        await stage.act("screen.events")
        await stage.act("screen.chat")
        assert "● RUNNING" in stage.text()
        await stage.act("chat.export")
        assert "is still being exported: wait, or stop it" in stage.text()
        stage.clock.tick += SILENT_SECONDS
        await stage.act("chat.stop")
        await stage.press("enter")
        assert "no data for" in stage.text()
        await stage.act("chat.stop")
        await stage.press("tab", "enter")
        await stage.idle()
        assert "■ STOPPED" in stage.text()
        assert not files(tmp_path)
        await stage.act("chat.stop")
        assert "no export is running" in stage.text()
        release()
        await export_to(stage, "chat")
        await stage.act("screen.events")
        await settled(stage)
        assert f"export chat of {CHOIR} done" in stage.text()
        assert (tmp_path / "chat.csv").exists()


@pytest.mark.parametrize("again", ["tab enter", "ctrl+c"])
async def test_leaving_asks_about_an_export_and_leaves_nothing_of_it(tmp_path: Path, again: str) -> None:
    async with chatting(tmp_path) as stage:
        hold(stage)
        await export_to(stage, "chat")
        await stage.act("app.quit")
        assert stage.shows(LeaveDialog)
        assert "the export stops and no file" in stage.text()
        await stage.press("enter")
        assert "● RUNNING" in stage.text()
        await stage.act("app.interrupt")
        assert stage.shows(LeaveDialog)
        await stage.press(*again.split())
        await stage.pilot.pause()
    assert stage.deck.return_value == INTERRUPTED
    assert not files(tmp_path)


async def test_without_an_export_leaving_asks_nothing(tmp_path: Path) -> None:
    async with chatting(tmp_path) as stage:
        await export_to(stage, "chat")
        await settled(stage)
        await stage.act("app.quit")
    assert stage.deck.return_value == 0


async def test_a_failed_export_says_why_and_leaves_no_partial_file(tmp_path: Path) -> None:
    (tmp_path / "chat.csv").mkdir()
    async with chatting(tmp_path) as stage:
        await export_to(stage, "chat.csv")
        await settled(stage)
        text = stage.text()
        assert "✖ FAILED" in text
        assert "Is a directory" in " ".join(text.split())  # wherever the line is broken
        assert "no incomplete file is left" in text
    assert files(tmp_path) == ["chat.csv"]


async def test_earlier_streams_come_from_the_history_and_a_refusal_is_shown() -> None:
    history = await History.open(None, EVENING)
    async with deck_stage(history=history) as stage:
        event = stage.choose(CHOIR)
        assert stage.deck.snapshot is not None
        state = stage.deck.snapshot.find(event.id)
        assert state is not None
        assert event.stream is not None
        old = event.model_copy(update={"stream": event.stream.model_copy(update={"id": "of-yesterday"})})
        await history.append(replace(stage.deck.snapshot, events=(replace(state, event=old),)))
        await stage.act("screen.chat")
        await settled(stage)
        assert "1 of 2, ] next" in stage.text()
        await stage.act("chat.next_stream")
        assert "history, 2026-11-20" in stage.text()
        assert "…rday" in stage.text()
        await stage.act("chat.read")
        await settled(stage)
        assert "✖ FAILED after 0 messages" in stage.text()
        await stage.act("chat.previous_stream")
        assert "1 of 2" in stage.text()
        assert "none yet" in stage.text()
    await history.close()


async def test_an_event_without_a_stream_has_no_chat(tmp_path: Path) -> None:
    async with chatting(tmp_path, DRAFT) as stage:
        assert "no stream now, and no past streams known" in stage.text()
        for action in ("chat.read", "chat.export"):
            await stage.act(action)
            assert "there is no chat to read" in stage.text()


class Log:
    """Chat of some messages, in batches."""

    def __init__(self, count: int) -> None:
        self.chat, self._count = self, count

    async def selected(self, _: ChatExport) -> AsyncIterator[list[dict[str, str]]]:
        for begin in range(0, self._count, 700):
            yield [{"message": str(number)} for number in range(begin, min(begin + 700, self._count))]


@pytest.mark.parametrize(("count", "complete"), [(0, True), (MAX_ROWS, True), (MAX_ROWS + 1, False)])
async def test_a_preview_of_any_log_is_bounded_has_the_newest_and_says_so(count: int, complete: bool) -> None:
    api: Any = Log(count)
    *_, last = [preview async for preview in read_preview(api, EXPORT, EVENING)]
    assert (len(last.rows), last.count, last.is_complete, last.is_reading) == (min(count, MAX_ROWS), count, True, False)
    assert [row.text for row in last.rows[-1:]] == ([str(count - 1)] if count else [])
    assert ("an export has all" in plain(view.preview_line(last, FRESH, KEYS, Tail()))) is not complete


async def write_more(stage: Stage, seconds: float) -> None:
    """Let the time of platform and deck pass: viewers write messages, and the log is polled again."""
    stage.simulator.clock.step(seconds)
    stage.clock.tick += TAIL_SECONDS
    stage.deck.snapshot_signal.publish(None)
    await stage.settle()
    await settled(stage)


async def messages_on_the_platform(stage: Stage) -> list[str]:
    """Return the texts of the log as it is now on the platform."""
    export = screen(stage).chat_export()
    assert export is not None
    return [str(message["message"]) async for batch in stage.api.chat.selected(export) for message in batch]


async def test_the_newest_message_stays_in_sight_until_somebody_scrolls_and_then_it_is_counted(tmp_path: Path) -> None:
    async with chatting(tmp_path) as stage:
        await stage.act("chat.read")
        await settled(stage)
        first = await messages_on_the_platform(stage)
        await write_more(stage, 60)
        second = await messages_on_the_platform(stage)
        assert len(second) > len(first)
        assert "▼ following, read every 10 s" in stage.text()
        assert second[-1].split()[0] in stage.text()
        await stage.act("row.up")
        await write_more(stage, 60)
        new = len(await messages_on_the_platform(stage)) - len(second)
        assert new > 0
        assert f"paused, {new:,} new: end resumes" in stage.text()
        await stage.act("row.last")
        assert "following, read every" in stage.text()
        assert "paused" not in stage.text()


async def test_the_wheel_pauses_too(tmp_path: Path) -> None:
    async with chatting(tmp_path) as stage:
        await stage.act("chat.read")
        await settled(stage)
        screen(stage).table().scroll_to(y=0, animate=False)
        await stage.settle()
        stage.deck.snapshot_signal.publish(None)
        await stage.settle()
        assert "‖ paused: end resumes" in stage.text()


def test_an_administrator_is_told_by_a_sign_and_a_word() -> None:
    row = PreviewRow(0, None, "Ola", True, "Welcome")
    cell = next(column for column in view.MESSAGES.columns if column.name == "role").render(row, FRESH)
    assert plain(cell) == "★ admin"


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ({}, PreviewRow(0, None, "", None, "")),
        ({"is_admin": True, "message": 3, "username": None}, PreviewRow(0, None, "", True, "3")),
        ({"is_admin": "false", "message": ["a"], "created_at": "soon"}, PreviewRow(0, None, "", False, "['a']")),
        (
            {"created_at": "2026-11-20T22:00:00+01:00"},
            PreviewRow(0, datetime(2026, 11, 20, 21, tzinfo=UTC), "", None, ""),
        ),
    ],
)
def test_a_message_of_any_shape_is_shown(item: dict[str, Any], expected: PreviewRow) -> None:
    assert preview_row(0, item) == expected


EXPORT = ChatExport("event", "stream", "csv")
PATH = Path("/home/op/Choir-hall-B.csv")
RUNNING = ExportJob(EXPORT, CHOIR, PATH, 0.0, progress=ExportProgress(112_000_000, 250_700_000, None, 2.5))
DONE = replace(RUNNING, state=JobState.DONE, result=ExportResult(250_700_000))
FAILED = replace(RUNNING, state=JobState.FAILED, error="export chat of event: the connection broke after 112.0 MB")


def shown(job: ExportJob, now: float = 0.0, width: int = 120) -> str:
    return "\n".join(plain(line) for line in view.export_lines(job, now, KEYS, width))


def test_a_running_export_says_how_far_how_fast_and_what_is_left() -> None:
    text = shown(RUNNING)
    for words in (
        "█" * int(WIDE_BAR_CELLS * 112 / 250.7),
        "45%",
        "112.0 MB of 250.7 MB",
        "44.8 MB/s",
        "3 s left",
        "x stops",
    ):
        assert words in text
    narrow = shown(RUNNING, width=60)
    for words in ("45%", "112.0 MB of 250.7 MB"):
        assert words in narrow


def test_an_unknown_size_is_said_to_be_unknown_and_silence_is_not_progress() -> None:
    text = shown(replace(RUNNING, progress=ExportProgress(10, None, 3, 0.0)))
    assert "of unknown size" in text
    assert "time left unknown" in text
    assert "%" not in text
    assert "no data for 5 s" in shown(RUNNING, SILENT_SECONDS)


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"format": "json", "safe_csv": True}, "csv"),
        ({"zone": "Mars/Base"}, "is not a time zone"),
        ({"file": "/"}, "needs a file name"),
        ({"file": "~nobody-of-that-name/x"}, "does not have"),
    ],
)
def test_options_that_do_not_go_together_are_refused_with_the_reason(values: dict[str, object], reason: str) -> None:
    with pytest.raises(Exception, match=reason):
        export_options(values)


@pytest.mark.parametrize(
    ("file", "form", "path"),
    [
        ("a", "csv", "a.csv"),
        ("a.CSV", "csv", "a.CSV"),
        ("St. Mary", "txt", "St. Mary.txt"),
        ("a.csv", "json", "a.csv.json"),
    ],
)
def test_a_file_has_the_suffix_of_its_format(file: str, form: str, path: str) -> None:
    assert export_options({"file": file, "format": form}).file == Path(path)


def test_an_empty_filter_passes_every_message() -> None:
    assert not message_filter({"search": " ", "users": " , ", "admins": None, "since": None})


STATES: dict[str, tuple[bool, ExportJob | None]] = {
    "idle": (False, None),
    "preview": (True, None),
    "running": (True, RUNNING),
    "done": (True, DONE),
    "failed": (False, FAILED),
}


@pytest.mark.parametrize("state", STATES)
async def test_a_state(picture: SnapshotAssertion, state: str) -> None:
    read, job = STATES[state]
    async with running((80, 24)) as (deck, pilot):
        deck.select_event(next(state.id for state in known(deck).events if state.event.name == CHOIR))
        exports_of(deck).job = job
        await act(pilot, "screen.chat", *(["chat.read"] if read else []))
        await quiet(deck)
        for size in ((80, 24), (120, 40), (200, 60)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            assert await steady(deck, pilot) == picture(name=f"{size[0]}x{size[1]}")

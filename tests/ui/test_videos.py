"""Screen 6: every action on a video by its keys, and its effect by the API (platform-api.md, "Operations")."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from livedeck.cli.screenshots import EVENING
from livedeck.client import AnnotationDraft, NotFound, Recording, SubtitleFile, checked_cues
from livedeck.monitor import History, Monitor, Video
from livedeck.text.segments import plain
from livedeck.ui.kit.dialogs.confirm import Confirm
from livedeck.ui.kit.dialogs.form import Form
from livedeck.ui.kit.dialogs.progress import ProgressDialog
from livedeck.ui.kit.table import Table
from livedeck.ui.videos.screen import EMPTY_LINES, ExtraPanel, VideosScreen
from livedeck.ui.videos.selection import selection_of
from livedeck.ui.videos.view import video_title
from ui.cinema import REHEARSAL, agree, asked, cached, done, fill, opened, said, sent, videos, words
from ui.deck_stage import Stage, deck_stage

VTT = "WEBVTT\n\n00:01.000 --> 00:02.500\nGood evening\n\n00:03.000 --> 00:04.000\nWelcome\n"


def files(folder: Path) -> list[str]:
    """Return the names in a folder."""
    return [path.name for path in folder.iterdir()]


async def test_the_recordings_of_events_that_are_over_lead_to_their_parts_and_back() -> None:
    async with deck_stage() as stage:
        await stage.act("screen.videos")
        await stage.until(lambda: len(videos(stage)) == 2)
        await stage.settle()
        assert "RECORDINGS 2 of completed events" in stage.text()
        await stage.press("down")
        await stage.act("video.open")
        await asked(stage)
        video = selection_of(stage.deck).video
        assert (stage.deck.current_mode, video and video.title) == ("posters", REHEARSAL)
        await stage.act("part.next")
        assert stage.deck.current_mode == "subtitles"
        await stage.act("part.previous")
        await stage.act("screen.events")
        await stage.act("screen.videos")
        assert stage.deck.current_mode == "posters"
        await stage.act("view.clear")
        assert stage.deck.current_mode == "videos"
        assert "▌Rehearsal Tuesday" in stage.text()


async def test_a_single_recording_leaves_the_height_to_its_panel(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = VideosScreen.rows
    monkeypatch.setattr(VideosScreen, "rows", lambda screen: rows(screen)[:1])
    async with deck_stage((80, 24)) as stage:
        await stage.act("screen.videos")
        await stage.until(lambda: len(videos(stage)) == 2)
        await stage.settle()
        screen = stage.deck.screen
        assert screen.query_one(Table).size.height == EMPTY_LINES
        assert screen.query_one(ExtraPanel).size.height > 2 * EMPTY_LINES


async def test_a_filter_that_hides_every_video_takes_none_from_its_parts() -> None:
    async with deck_stage() as stage:
        video = await opened(stage, "posters")
        await stage.act("view.clear")
        stage.deck.dispatch("view.filter", "no such title")
        await stage.settle()
        await stage.act("part.next")
        known = selection_of(stage.deck).video
        assert (stage.deck.current_mode, known and known.id) == ("posters", video)


async def recorded(stage: Stage, name: str) -> None:
    """End an event and wait until its recording is listed."""
    await stage.api.events.complete(stage.choose(name).id)
    stage.simulator.clock.step(25)
    await stage.act("app.ask")
    await stage.until(lambda: name in [one.event for one in videos(stage)])
    await asked(stage)


async def test_until_somebody_chooses_a_video_the_first_row_is_selected_whatever_came_first() -> None:
    async with deck_stage() as stage:
        await stage.act("screen.videos")
        await asked(stage)
        assert "▌Abendmusik" in stage.text()
        await recorded(stage, "Harbour webcam")
        assert "▌Harbour webcam" in stage.text()
        await stage.press("down", "up")
        await recorded(stage, "Town hall, main")
        assert "▌Harbour webcam" in stage.text()
        await stage.act("part.next")
        assert "Harbour webcam" in stage.text().split("\n")[3]  # below the banner


async def test_any_video_is_opened_by_its_id_and_what_is_none_is_said_with_what_was_typed() -> None:
    async with deck_stage() as stage:
        (video,) = (await stage.api.events.videos(stage.choose(REHEARSAL).id)).items
        await stage.act("screen.videos")
        await stage.act("video.find")
        await stage.enter("no-such-video")
        await sent(stage)
        assert stage.shows(Form)
        assert "no-such-video" in stage.text()
        await stage.press("ctrl+u")
        await stage.enter(video.id)
        await sent(stage)
        assert stage.deck.current_mode == "posters"
        assert getattr(selection_of(stage.deck).video, "id", "") == video.id


async def test_posters_are_made_of_a_time_taken_from_an_address_shown_and_deleted() -> None:
    async with deck_stage() as stage:
        video = await opened(stage, "posters")
        await stage.act("poster.create")
        await stage.enter("9:99")
        await stage.until(lambda: "✖ should be seconds, or H:MM:SS" in stage.text())
        await stage.press("ctrl+u")
        await stage.enter("4:00:00")
        assert "after the end of the video" in stage.text()
        await stage.press("ctrl+u")
        await stage.enter("1:05.5")
        await sent(stage)
        posters = (await stage.api.posters.list(video)).items
        (made,) = [poster for poster in posters if poster.from_time == 65.5]
        assert not made.active
        await stage.press("end")
        await stage.act("poster.activate")
        assert "Viewers see this poster in the player" in stage.text()
        await agree(stage)
        assert made.id
        assert (await stage.api.posters.get(video, made.id)).active
        assert "● shown 00:01:05.5" in stage.text()
        await stage.act("poster.delete")
        await agree(stage)
        with pytest.raises(NotFound):
            await stage.api.posters.get(video, made.id)
        await stage.act("poster.import")
        await stage.enter("https://pictures.example/a.png")
        await sent(stage)
        assert len((await stage.api.posters.list(video)).items) == len(posters)
        assert ("POST", "/upload/v2/poster") in stage.writes


async def test_that_somebody_else_showed_or_hid_a_poster_meanwhile_is_said_in_words() -> None:
    async with deck_stage() as stage:
        video = await opened(stage, "posters")
        made = await stage.api.posters.create(video, 12.0)
        assert made
        assert made.id
        (shown,) = [poster for poster in (await stage.api.posters.list(video)).items if poster.active]
        assert shown.id
        conflicts = {"row.first": "it was shown; it no longer is", "row.last": "it was not shown; it is now"}
        for row, conflict in conflicts.items():
            await stage.api.posters.set_active(video, shown.id)
            await stage.act("app.ask")
            await stage.until(lambda: "· kept 00:00:12" in stage.text())
            await stage.act(row)
            await stage.act("poster.delete")
            await stage.api.posters.set_active(video, made.id)
            await agree(stage)
            await stage.until(lambda: "Since you looked" in words(stage))
            assert f"▲ Since you looked: {conflict}." in words(stage)
            await stage.press("escape")


async def test_a_track_is_uploaded_read_edited_copied_and_deleted(tmp_path: Path) -> None:
    file = tmp_path / "evening.uk.vtt"
    file.write_text("\ufeff" + VTT)
    async with deck_stage((120, 40)) as stage:
        video = await opened(stage, "subtitles")
        await fill(stage, "subtitle.upload", str(file), "uk", "Українська")
        made = (await stage.api.subtitles.list(video, order="position.asc")).items[-1]
        assert (made.language, made.description, made.file_name) == ("uk", "Українська", "evening.uk.vtt")
        assert made.url
        assert await stage.api.cdn.content(made.url, 10_000, "read") == file.read_bytes()
        await stage.act("row.last")
        await stage.act("subtitle.read")
        await asked(stage)
        assert "00:00:01 00:00:02.5 Good evening" in stage.text()
        await stage.press("escape")
        await stage.act("subtitle.edit")
        await stage.press("tab")
        await stage.enter(", full")
        await stage.press("ctrl+s")
        await stage.until(lambda: "Description: Українська → Українська, full" in stage.text())
        await agree(stage)
        assert (await stage.api.subtitles.get(video, made.id)).description == "Українська, full"
        await stage.act("subtitle.copy")
        await agree(stage)
        assert [track.language for track in (await stage.api.subtitles.list(video)).items].count("uk") == 2
        await stage.act("subtitle.delete")
        assert "Viewers lose the" in stage.text()
        await agree(stage)
        with pytest.raises(NotFound):
            await stage.api.subtitles.get(video, made.id)


async def test_recognition_goes_from_pending_to_done_by_asking_and_an_unknown_language_makes_no_track() -> None:
    async with deck_stage((120, 40)) as stage:
        video = await opened(stage, "subtitles")
        before = len((await stage.api.subtitles.list(video)).items)
        await stage.act("subtitle.recognise")
        await stage.enter("uk xx")
        assert "✖ should be an ISO 639-1 code" in stage.text()
        await stage.press("backspace", "backspace")
        await stage.enter("fr")
        await sent(stage)
        tracks = (await stage.api.subtitles.list(video)).items
        assert [track.language for track in tracks if track.status == "pending"] == ["uk", "fr"]
        assert len(tracks) == before + 2
        assert stage.text().count("○ pending") == 2
        stage.simulator.clock.step(31)
        await stage.act("app.ask")
        await asked(stage)
        assert "○ pending" not in stage.text()
        assert stage.last_notice() == "subtitles fr: recognition is done"


async def test_a_language_that_the_platform_does_not_know_is_said_and_what_was_typed_stays() -> None:
    """platform-api.md, "Error codes": unknown language code, HTTP 400; a deployment may lack some of ISO 639-1."""
    async with deck_stage() as stage:
        video = await opened(stage, "subtitles")
        await stage.fault(kind="status", status=400, path="**/subtitles/auto")
        await stage.act("subtitle.recognise")
        await stage.enter("uk aa")
        await sent(stage)
        assert stage.shows(Form)
        await stage.until(lambda: "does not accept the request" in words(stage))
        assert "uk aa" in stage.text()
        await stage.clear_faults()
        await sent(stage)
        assert {track.language for track in (await stage.api.subtitles.list(video)).items} >= {"uk", "aa"}


async def test_moved_rows_are_sent_as_one_full_list_and_escape_drops_them() -> None:
    async with deck_stage((120, 40)) as stage:
        video = await opened(stage, "subtitles")
        ids = [track.id for track in (await stage.api.subtitles.list(video, order="position.asc")).items]
        await stage.act("order.later")
        assert "NOT SENT 2 moved" in stage.text()
        await stage.press("escape")
        assert stage.deck.current_mode == "subtitles"
        assert "NOT SENT" not in stage.text()
        await stage.act("order.send")
        assert stage.last_notice() == "not sent: no row was moved"
        await stage.act("row.last")
        await stage.act("order.earlier")
        await stage.act("order.send")
        await done(stage)
        after = [track.id for track in (await stage.api.subtitles.list(video, order="position.asc")).items]
        assert after == ids[::-1]
        assert stage.writes == [("PATCH", f"/v1/videos/{video}/subtitles/reorder")]
        assert "NOT SENT" not in stage.text()


async def sending(stage: Stage, gate: asyncio.Event) -> None:
    """Move the item in front and send the new order; the reply waits at the gate, in the background."""

    async def held() -> None:
        await gate.wait()

    stage.hooks.append(("PATCH", held))
    stage.clock.impatient = True
    await stage.act("order.later")
    await stage.act("order.send")
    await stage.until(lambda: stage.shows(ProgressDialog))
    await stage.press("enter")


async def test_an_order_that_was_sent_takes_no_other_videos_order_with_it() -> None:
    async with deck_stage((120, 40)) as stage:
        await stage.act("screen.videos")
        await asked(stage)
        await stage.act("row.first")
        other = selection_of(stage.deck).video
        assert other is not None
        (track,) = (await stage.api.subtitles.list(other.id)).items
        await stage.api.subtitles.copy(other.id, track.id)
        await stage.act("app.ask")
        await asked(stage)
        await opened(stage, "subtitles")
        gate = asyncio.Event()
        await sending(stage, gate)
        await stage.deck.switch_mode("videos")
        await stage.act("row.first")
        stage.deck.dispatch("part.next", "subtitles")
        await stage.settle()
        await asked(stage)
        assert selection_of(stage.deck).video == other
        await stage.act("order.later")
        assert "NOT SENT 2 moved" in stage.text()
        gate.set()
        await done(stage)
        assert "put in order: " in stage.last_notice()
        assert "NOT SENT 2 moved" in stage.text()


async def test_rows_that_were_moved_since_the_order_was_sent_are_still_to_be_sent() -> None:
    async with deck_stage((120, 40)) as stage:
        video = await opened(stage, "subtitles")
        track = (await stage.api.subtitles.list(video)).items[0]
        await stage.api.subtitles.copy(video, track.id)
        await stage.act("app.ask")
        await stage.until(lambda: len(cached(stage).items) == 3)
        gate = asyncio.Event()
        await sending(stage, gate)
        await stage.act("row.last")
        await stage.act("order.earlier")
        gate.set()
        await done(stage)
        assert "put in order: " in stage.last_notice()
        assert "NOT SENT 2 moved" in stage.text()


async def test_200_rows_are_reordered_by_one_request_and_a_row_that_vanished_is_said_first() -> None:
    async with deck_stage((120, 40)) as stage:
        video = await opened(stage, "subtitles")
        first = (await stage.api.subtitles.list(video)).items[0]
        for _ in range(198):
            await stage.api.subtitles.copy(video, first.id)
        await stage.act("app.ask")
        await stage.until(lambda: len(cached(stage).items) == 200)
        await stage.settle()
        ids = [one.id for one in cached(stage).items]
        await stage.act("row.last")
        await stage.act("order.earlier")
        await stage.api.subtitles.delete(video, ids[0])
        await stage.act("order.send")
        await stage.until(lambda: stage.shows(Confirm))
        assert "not found: en English" in stage.text()
        assert not stage.writes
        await agree(stage)
        after = [track.id async for track in stage.api.subtitles.iterate(video, order="position.asc")]
        assert after == [*ids[1:-2], ids[-1], ids[-2]]
        assert len(stage.writes) == 1


async def test_annotations_are_made_changed_and_deleted_and_the_platforms_words_stand_at_their_field() -> None:
    async with deck_stage((120, 40)) as stage:
        video = await opened(stage, "annotations")
        await fill(stage, "annotation.create", "", "Bar 118", "90", "60")
        assert stage.shows(Form)
        assert "✖ must not be before start_time" in stage.text()
        assert "Bar 118" in stage.text()
        await stage.press("ctrl+u")
        await stage.enter("120")
        await sent(stage)
        annotations = (await stage.api.annotations.list(video)).items
        (made,) = [annotation for annotation in annotations if annotation.title == "Bar 118"]
        assert (made.annotation_type, made.start_time, made.end_time) == ("text", 90, 120)
        await stage.act("row.first")
        await stage.act("annotation.edit")
        await stage.enter(", again")
        await stage.press("ctrl+s")
        await stage.until(lambda: "Title: Bar 118 → Bar 118, again" in stage.text())
        await agree(stage)
        assert (await stage.api.annotations.get(video, made.id)).title == "Bar 118, again"
        await stage.act("annotation.delete")
        await agree(stage)
        with pytest.raises(NotFound):
            await stage.api.annotations.get(video, made.id)


async def test_what_somebody_else_changed_meanwhile_is_said_before_anything_is_sent() -> None:
    async with deck_stage((120, 40)) as stage:
        video = await opened(stage, "annotations")
        annotation = (await stage.api.annotations.list(video)).items[0]
        await stage.act("annotation.delete")
        await stage.api.annotations.update(video, annotation.id, AnnotationDraft(title="Keep this one"))
        await stage.press("tab", "enter")
        await stage.idle()
        assert 'is "Keep this one" now' in stage.text()
        assert not stage.writes
        await stage.press("enter")
        assert (await stage.api.annotations.get(video, annotation.id)).title == "Keep this one"


async def _history(stage: Stage) -> tuple[str, ...]:
    assert stage.deck.history is not None
    video = selection_of(stage.deck).video
    assert video is not None
    assert isinstance(stage.deck.monitor, Monitor)
    known = await stage.deck.monitor.on_demand.materials.materials(video.id, None)
    return tuple(one.title for one in known)


async def test_materials_are_uploaded_linked_renamed_reordered_downloaded_and_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are remembered: nothing lists them (platform-api.md, "Missing operations")."""
    monkeypatch.chdir(tmp_path)
    history = await History.open(None, EVENING)
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text(f"content of {name}")
    async with deck_stage((120, 40), history=history) as stage:
        await opened(stage, "materials")
        for name in ("a.txt", "b.txt"):
            await stage.act("material.upload")
            await stage.enter(str(tmp_path / name))
            await sent(stage)
        assert await _history(stage) == ("a.txt", "b.txt")
        await stage.act("row.last")
        await stage.act("order.earlier")
        await stage.act("order.send")
        await done(stage)
        assert await _history(stage) == ("b.txt", "a.txt")
        await stage.act("row.first")
        await stage.act("material.edit")
        await stage.press("ctrl+u")
        await stage.enter("The second")
        await sent(stage)
        assert await _history(stage) == ("The second", "a.txt")
        await stage.act("material.link")
        await stage.idle()
        assert stage.last_notice().startswith("link of The second, valid for a short time, copied")
        await stage.act("material.download")
        await stage.press("ctrl+u")
        await stage.enter(str(tmp_path / "got.txt"))
        await sent(stage)
        assert (tmp_path / "got.txt").read_text() == "content of b.txt"
        await stage.act("material.download")
        await stage.press("ctrl+u")
        await stage.enter(str(tmp_path / "got.txt"))
        await sent(stage)
        await stage.until(lambda: "already exists" in words(stage))
        await stage.press("tab", "space")
        await sent(stage)
        await stage.act("material.delete")
        await agree(stage)
        assert await _history(stage) == ("a.txt",)
        assert [record.action for record in await history.audit(EVENING)][-1] == "material.delete"
    await history.close()


async def test_an_upload_that_is_stopped_in_its_dialog_leaves_no_half_of_it_on_the_platform(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file, data, files = tmp_path / "film.bin", tmp_path / "platform.db", tmp_path / "platform.db.files"
    with file.open("wb") as sparse:
        sparse.truncate(8 * 2**20)
    async with deck_stage((120, 40), data=data) as stage:
        video = await opened(stage, "materials")
        first = await stage.api.materials.upload(video, Path(__file__), "first", "First")
        before = {*files.iterdir()}
        stage.clock.impatient = True
        stage.gate.clear()
        await stage.act("material.upload")
        await stage.enter(file.name)
        await stage.press("ctrl+s")
        await stage.until(lambda: stage.shows(ProgressDialog))
        await stage.until(lambda: any(file.stat().st_size for file in {*files.iterdir()} - before))
        await stage.pilot.resize_terminal(100, 30)
        await stage.until(lambda: "of 8,388,608 bytes" in words(stage))
        await stage.press("tab", "enter")
        await stage.until(lambda: stage.shows(Form))
        assert "the connection ended before the whole request was sent" in words(stage)
        assert "film.bin" in words(stage)
        assert {*files.iterdir()} == before
        stage.gate.set()
        second = await stage.api.materials.upload(video, Path(__file__), "second", "Second")
        assert first
        assert second
        assert (first.position, second.position) == (3, 4), "nothing stands between them"


async def test_a_material_of_somebody_else_is_taken_in_by_its_id() -> None:
    async with deck_stage((120, 40)) as stage:
        video = await opened(stage, "materials")
        file = Path(__file__)
        other = await stage.api.materials.upload(video, file, "../../etc/pass wd", "Elsewhere")
        assert other
        await stage.act("material.know")
        await stage.enter("no-such-id")
        await sent(stage)
        assert stage.shows(Form)
        await stage.press("ctrl+u")
        await stage.enter(other.id)
        await sent(stage)
        await done(stage)
        assert other.id in stage.text()


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


async def test_a_name_from_outside_leads_to_no_other_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    async with deck_stage((120, 40)) as stage:
        video = await opened(stage, "subtitles")
        file = tmp_path / "x.vtt"
        file.write_text(VTT)
        evil = SubtitleFile("../../../evil.vtt", VTT.encode(), checked_cues(VTT.encode(), "check"))
        await stage.api.subtitles.upload(video, "en", "", evil)
        await stage.act("app.ask")
        await asked(stage)
        await stage.act("row.last")
        await stage.act("subtitle.download")
        assert stage.shows(Form)
        await sent(stage)
    assert names(tmp_path) == ["evil.vtt", "x.vtt"]
    assert "evil.vtt" not in names(tmp_path.parent)


async def test_a_read_only_deck_reads_everything_and_sends_nothing() -> None:
    writes = ("poster.create", "poster.import", "poster.activate", "poster.delete")
    async with deck_stage((120, 40), read_only=True) as stage:
        await opened(stage, "posters")
        for name in writes:
            await stage.act(name)
            assert stage.last_notice().startswith("RO: this deck is read-only")
        assert "RO" in stage.text()
        assert not stage.writes


async def test_a_failed_question_keeps_what_was_known_and_says_so() -> None:
    async with deck_stage((120, 40)) as stage:
        await opened(stage, "subtitles")
        await stage.fault(kind="drop", method="GET")
        await stage.act("app.ask")
        await stage.until(lambda: bool(cached(stage).error))
        await stage.settle()
        assert "▲ failed, 0 s ago" in stage.text()
        assert "rehearsal-tuesday.en.vtt" in stage.text()


FILES = {
    "broken": (b"WEBVTT\n\n00:01.000 -> 00:02.500\nHello\n", "line 4: times should look like"),
    "empty": (b"", "line 1: the file has no cues"),
    "another encoding": ("1\n00:00:01,000 --> 00:00:02,500\nПривет\n".encode("cp1251"), "line 3: is not UTF-8"),
    "too large": (b" " * (16 * 2**20 + 1), "larger than 16 MiB"),
    "not there": (None, "No such file"),
}


async def test_a_subtitle_file_that_is_refused_says_the_line_and_nothing_leaves(tmp_path: Path) -> None:
    file = tmp_path / "a.vtt"
    async with deck_stage((140, 40)) as stage:
        await opened(stage, "subtitles")
        await fill(stage, "subtitle.upload", str(file), "en")
        for content, why in FILES.values():
            if content is None:
                file.unlink()
            else:
                file.write_bytes(content)
            assert why not in words(stage)
            await sent(stage)
            await said(stage, why)
            assert stage.shows(Form)
            assert not stage.writes


TIMED = "WEBVTT\n\n00:05.000 --> 00:09.000\nA\n\n00:06.000 --> 00:07.000\nB\n\n00:01.000 --> 00:02.000\nC\n"


async def test_cues_out_of_order_or_over_one_another_are_told_by_their_line_before_they_leave(tmp_path: Path) -> None:
    file = tmp_path / "odd.vtt"
    file.write_text(TIMED)
    async with deck_stage((120, 40)) as stage:
        video = await opened(stage, "subtitles")
        await fill(stage, "subtitle.upload", str(file), "en")
        await stage.until(lambda: "The cue in line 9 begins before the previous cue." in stage.text())
        assert "The cue in line 6 begins before the previous cue ends." in stage.text()
        file.write_text("changed after it was checked")
        assert not stage.writes
        await agree(stage)
        made = (await stage.api.subtitles.list(video, order="position.asc")).items[-1]
        assert made.url
        assert await stage.api.cdn.content(made.url, 10_000, "read") == TIMED.encode()


async def test_ten_megabytes_of_cues_are_checked_and_a_platform_that_refuses_them_is_heard(tmp_path: Path) -> None:
    file = tmp_path / "long.srt"
    cue = "{0}\n00:00:{1:02},000 --> 00:00:{2:02},000\n" + "x" * 200_000 + "\n\n"
    file.write_text("".join(cue.format(number, number, number + 1) for number in range(1, 53)))
    async with deck_stage() as stage:
        video = await opened(stage, "subtitles")
        stage.deck.dispatch("subtitle.upload", str(file))
        await stage.settle()
        await stage.press("tab")
        await stage.enter("en")
        await sent(stage)
        await stage.until(lambda: "body too large" in words(stage))
        assert stage.shows(Form)
        assert len((await stage.api.subtitles.list(video)).items) == 2


async def test_the_form_of_a_material_opens_though_the_next_key_led_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("content")
    async with deck_stage((120, 40)) as stage:
        await opened(stage, "materials")
        await fill(stage, "material.upload", str(tmp_path / "a.txt"))
        stage.deck.dispatch("material.edit")
        stage.deck.dispatch("screen.events")
        await stage.idle()
        assert "Rename a.txt" in words(stage)


async def test_a_download_that_names_no_folder_goes_where_files_of_the_deck_go(tmp_path: Path) -> None:
    async with deck_stage((120, 40)) as stage:
        stage.deck.downloads = tmp_path
        await opened(stage, "subtitles")
        await stage.act("subtitle.download")
        await stage.press("ctrl+u")
        await stage.enter("track.vtt")
        await sent(stage)
    assert files(tmp_path) == ["track.vtt"]


@pytest.mark.parametrize("cells", range(20, 120, 5))
def test_of_the_title_of_a_video_what_has_no_room_goes_whole(cells: int) -> None:
    recording = Recording(id="r", title="Harvest festival", duration=4582.0, created_at=EVENING)
    video = Video("8fc41891-3b0a-4f7e-a4a9-543473195914", "Harvest festival", recording)
    shown = plain(video_title(video, cells)).strip()
    parts = ("Harvest festival", "01:16:22", "20 Nov 2026 21:14Z", "of Harvest festival", "…5914")
    assert shown == "  ".join(parts[: len(shown.split("  "))])
    assert len(shown) < cells

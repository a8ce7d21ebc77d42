"""Screen 6 when the platform refuses a change: the reason stands at its field, and typed text stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from livedeck.cli.screenshots import EVENING
from livedeck.monitor import History
from livedeck.ui.general import copying
from livedeck.ui.kit.dialogs.confirm import Confirm
from livedeck.ui.kit.dialogs.form import Form
from livedeck.ui.kit.dialogs.progress import ProgressDialog
from ui.cinema import agree, asked, cached, done, fill, opened, sent, words
from ui.deck_stage import deck_stage
from ui.test_videos import VTT, names

REASON = "is not to our liking"

PARTS: dict[str, dict[str, tuple[tuple[str, ...], str]]] = {
    "posters": {
        "poster.create": (("1:05",), "from_time"),
        "poster.import": (("https://pictures.example/a.png",), "X-Poster-URL"),
    },
    "subtitles": {
        "subtitle.upload": (("a.vtt", "en", "For the hall"), "language"),
        "subtitle.recognise": (("uk",), "languages"),
        "subtitle.edit": (("", ", for the hall"), "description"),
    },
    "annotations": {
        "annotation.create": (("", "Bar 118", "90", "120"), "title"),
        "annotation.edit": ((", again",), "title"),
    },
    "materials": {"material.upload": (("a.vtt", "The words"), "X-Title")},
}
"""Part -> its actions -> texts for the fields of its form, and the field that the platform names."""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Current folder of the test, with a subtitle file."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.vtt").write_text(VTT)
    return tmp_path


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("part", PARTS)
async def test_what_the_platform_does_not_take_stands_at_its_field_and_what_was_typed_stays(part: str) -> None:
    """platform-api.md, "Error codes": 400400 with `invalid_params`."""
    async with deck_stage((160, 40)) as stage:
        await opened(stage, part)
        for action, (typed, name) in PARTS[part].items():
            params = [{"name": name, "reason": REASON}]
            stage.refusals.append((400, {"code": 400400, "message": "invalid parameters", "invalid_params": params}))
            await fill(stage, action, *typed)
            if stage.shows(Confirm):
                await agree(stage)
            assert stage.shows(Form), action
            assert stage.text().count(f"✖ {REASON}") == 2, "beside the field, and whole below"
            assert not [text for text in typed if text not in words(stage)]
            await stage.press("escape")
            assert "Your input will be lost." in words(stage), action
            await stage.press("tab", "enter")
            assert not stage.deck.screen.is_modal


async def test_what_is_gone_meanwhile_is_said_and_what_was_typed_stays() -> None:
    """404404 of a track and of an annotation."""
    async with deck_stage((120, 40)) as stage:
        video = await opened(stage, "subtitles")
        track = (await stage.api.subtitles.list(video, order="position.asc")).items[0]
        await stage.act("subtitle.edit")
        await stage.press("tab")
        await stage.enter(", for the hall")
        await stage.api.subtitles.delete(video, track.id)
        await sent(stage)
        await agree(stage)
        assert stage.shows(Form)
        assert "the platform says that the object does not exist" in words(stage)
        assert ", for the hall" in words(stage)
        await stage.press("escape", "tab", "enter")
        await stage.act("part.next")
        await asked(stage)
        note = cached(stage).items[0]
        await stage.act("annotation.edit")
        await stage.enter(", again")
        await stage.api.annotations.delete(video, note.id)
        await sent(stage)
        await agree(stage)
        assert "the platform says that the object does not exist" in words(stage)
        assert f"{note.title}, again" in words(stage)
        assert not stage.writes


async def test_a_poster_that_is_gone_is_neither_shown_nor_deleted() -> None:
    """400404, as the document has it for posters."""
    async with deck_stage((120, 40)) as stage:
        video = await opened(stage, "posters")
        await stage.act("row.last")
        await stage.act("poster.activate")
        gone = cached(stage).items[-1]
        await stage.api.posters.delete(video, gone.id)
        await agree(stage)
        assert "the platform says that the object does not exist" in stage.last_notice()
        assert not stage.writes


async def test_the_order_of_materials_goes_without_one_that_vanished_and_that_is_said(here: Path) -> None:
    async with deck_stage((120, 40)) as stage:
        video = await opened(stage, "materials")
        made = [await stage.api.materials.upload(video, here / "a.vtt", f"{name}.txt", name) for name in "abc"]
        ids = [material.id for material in made if material]
        for material_id in ids:
            stage.deck.dispatch("material.know", material_id)
            await done(stage)
        await stage.act("row.last")
        await stage.act("order.earlier")
        await stage.api.materials.delete(ids[0])
        await stage.act("order.send")
        await stage.until(lambda: stage.shows(Confirm))
        assert f"not found: {ids[0]}" in words(stage)
        await agree(stage)
        assert stage.writes == [("PATCH", "/v1/additional-materials/reorder")]
        assert [one.id for one in cached(stage).items] == [ids[2], ids[1]]


async def test_a_download_that_is_stopped_keeps_nothing(here: Path) -> None:
    async with deck_stage((120, 40)) as stage:
        await opened(stage, "subtitles")
        stage.clock.impatient = True
        await stage.fault(kind="hang", method="GET", path="/cdn/**")
        await stage.act("subtitle.download")
        await stage.press("ctrl+s")
        await stage.until(lambda: stage.shows(ProgressDialog))
        await stage.press("tab", "enter")
        await stage.until(lambda: "stopped, no file was saved" in stage.last_notice())
    assert names(here) == ["a.vtt"]


async def test_a_download_that_breaks_off_keeps_nothing_and_the_form_says_so(here: Path) -> None:
    async with deck_stage((120, 40)) as stage:
        await opened(stage, "subtitles")
        await stage.fault(kind="truncate", method="GET", path="/cdn/**")
        await stage.act("subtitle.download")
        await sent(stage)
        await stage.until(lambda: stage.shows(Form) and "✖" in stage.text())
        assert names(here) == ["a.vtt"]
        await stage.clear_faults()
        await sent(stage)
    assert len(names(here)) == 2


SRT = "1\n00:00:01,000 --> 00:00:02,500\nGood evening\n\n2\n00:00:03,000 --> 00:00:04,000\nДобрий вечір\n"


@pytest.mark.parametrize("text", [SRT, SRT.replace("\n", "\r\n"), f"\ufeff{VTT}"], ids=["srt", "crlf", "bom"])
async def test_what_leaves_of_a_subtitle_file_is_what_was_checked_byte_for_byte(text: str, here: Path) -> None:
    (here / "a.srt").write_bytes(text.encode())
    async with deck_stage((120, 40)) as stage:
        video = await opened(stage, "subtitles")
        await fill(stage, "subtitle.upload", "a.srt", "en")
        made = (await stage.api.subtitles.list(video, order="position.asc")).items[-1]
        assert made.file_name == "a.srt"
        assert made.url
        assert await stage.api.cdn.content(made.url, 10_000, "read") == text.encode()


async def test_no_link_of_an_event_is_copied_that_the_history_cannot_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """trust.md, "Secrets"."""
    (tmp_path / "file").touch()
    history = await History.open(tmp_path / "file" / "deck.sqlite", EVENING)
    copied: list[str] = []
    monkeypatch.setattr(copying, "copy_texts", lambda *_: {"link": "https://play.example/e?sign=abc"})
    async with deck_stage((120, 40), history=history) as stage:
        monkeypatch.setattr(stage.deck, "copy_text", lambda text, _: copied.append(text))
        stage.deck.dispatch("view.copy", "link")
        await stage.until(lambda: "the copy cannot be recorded: " in stage.last_notice())
        assert stage.last_notice().startswith("not copied: ")
        assert history.fault in stage.last_notice()
    assert history.fault
    assert not copied
    await history.close()


async def test_no_link_of_a_material_is_copied_that_the_history_cannot_record(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """trust.md, "Secrets". A history that fails from the start keeps no materials, so this one fails later."""
    history = await History.open(None, EVENING)
    copied: list[str] = []

    async def not_recorded(*_: object) -> bool:
        return False

    async with deck_stage((120, 40), history=history) as stage:
        monkeypatch.setattr(stage.deck, "copy_text", lambda text, _: copied.append(text))
        video = await opened(stage, "materials")
        made = await stage.api.materials.upload(video, here / "a.vtt", "a.vtt", "a")
        assert made is not None
        stage.deck.dispatch("material.know", made.id)
        await done(stage)
        monkeypatch.setattr(history, "record_action", not_recorded)
        await stage.act("material.link")
        await stage.until(lambda: "not copied, because that cannot be recorded: " in stage.last_notice())
    assert not copied
    await history.close()

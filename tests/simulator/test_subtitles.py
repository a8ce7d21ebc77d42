"""Subtitle tracks: uploaded, recognised, copied, put in order (platform-api.md, "Subtitles")."""

from __future__ import annotations

import httpx
import pytest

from livedeck.simulator import Simulator
from simulator.http_client import UNKNOWN_ID, Row, client_for, data, error_of, invalid_names

VTT = b"WEBVTT\n\n00:01.000 --> 00:02.000\nHello\n"
SRT = b"1\r\n00:00:01,000 --> 00:00:02,000\r\nHello\r\n"


@pytest.fixture
def tracks(video: str) -> str:
    return f"/v1/videos/{video}/subtitles"


async def sent(
    api: httpx.AsyncClient, tracks: str, content: bytes = VTT, name: str = "a.vtt", **form: str
) -> httpx.Response:
    return await api.post(tracks, data={"language": "fr"} | form, files={"file": (name, content)})


@pytest.mark.parametrize(
    ("name", "content", "media"),
    [("a.vtt", VTT, "text/vtt"), ("B.SRT", SRT, "application/x-subrip"), ("c.vtt", b"\xef\xbb\xbf" + VTT, "text/vtt")],
)
async def test_an_uploaded_track_comes_back_behind_its_signed_address(
    api: httpx.AsyncClient, simulator: Simulator, tracks: str, *, name: str, content: bytes, media: str
) -> None:
    created = data(await sent(api, tracks, content, name, description="Français"))
    assert list(created) == ["id", "video_id", "language", "description", "file", "file_name", "hls_file", "url"]
    assert (created["language"], created["description"], created["file_name"]) == ("fr", "Français", name)
    async with client_for(simulator, "none") as anyone:
        answer = await anyone.get(created["url"])
        assert answer.content == content
        assert answer.headers["content-type"].startswith(media)
        simulator.clock.step(601)
        assert error_of(await anyone.get(created["url"])) == (403, 403403)
    track = data(await api.get(f"{tracks}/{created['id']}"))
    assert (track["status"], track["data"], track["active"], track["position"]) == ("done", {}, True, 3)


@pytest.mark.parametrize(
    "begin", [b"WEBVTT\n", b"WEBVTT\r\n", b"WEBVTT a title\n", b"\xef\xbb\xbfWEBVTT\t-\n", b"WEBVTT"]
)
async def test_every_first_line_that_the_format_allows_is_taken(
    api: httpx.AsyncClient, tracks: str, begin: bytes
) -> None:
    assert data(await sent(api, tracks, begin + VTT.removeprefix(b"WEBVTT\n") * (begin != b"WEBVTT"), "a.vtt"))["id"]


@pytest.mark.parametrize(
    ("form", "content", "name", "names"),
    [
        ({"language": "xx"}, VTT, "a.vtt", ["language"]),
        ({"language": "FR"}, VTT, "a.vtt", ["language"]),
        ({"description": "x" * 1001}, VTT, "a.vtt", ["description"]),
        ({"position": "1"}, VTT, "a.vtt", ["position"]),
        ({}, VTT, "a.txt", ["file"]),
        ({}, b"Hello", "a.vtt", ["file"]),
        ({}, b"", "a.srt", ["file"]),
        ({}, b"WEBVTT\n\xff", "a.vtt", ["file"]),
        ({}, b"WEBVTTfoo" + VTT[6:], "a.vtt", ["file"]),
        ({}, b"WEBVTT\xc2\xa0" + VTT[6:], "a.vtt", ["file"]),
        ({}, b"WEBVTTfoo\n\n00:00:01,000 --> 00:00:02,000\nHello\n", "a.vtt", ["file"]),
    ],
)
async def test_a_bad_upload_is_named_and_leaves_nothing(
    api: httpx.AsyncClient, tracks: str, *, form: dict[str, str], content: bytes, name: str, names: list[str]
) -> None:
    before = [track["id"] for track in data(await api.get(tracks))]
    assert invalid_names(await sent(api, tracks, content, name, **form)) == names
    assert [track["id"] for track in data(await api.get(tracks))] == before


@pytest.mark.parametrize(
    ("media", "body", "names"),
    [
        ("application/json", b"{}", ["language", "file"]),
        ("multipart/form-data", b"x", ["body"]),
        ("multipart/form-data; boundary=x", b"no boundary here", ["body"]),
        ("multipart/form-data; boundary=x", b"--x--\r\n", ["language", "file"]),
        ("application/x-www-form-urlencoded", b"language=fr&file=x", ["file"]),
    ],
)
async def test_what_is_no_form_is_refused(
    api: httpx.AsyncClient, tracks: str, media: str, body: bytes, names: list[str]
) -> None:
    assert invalid_names(await api.post(tracks, content=body, headers={"Content-Type": media})) == names


async def test_a_recognised_track_is_pending_until_it_is_done(
    api: httpx.AsyncClient, simulator: Simulator, tracks: str
) -> None:
    created = data(await api.post(f"{tracks}/auto", json={"languages": ["en", "is"]}))
    assert [track["language"] for track in created] == ["en", "is"]
    for track in created:
        assert (track["status"], track["url"], track["data"]) == ("pending", "", {})
    path = f"{tracks}/{created[0]['id']}"
    simulator.clock.step(29)
    assert data(await api.get(path)) == created[0]
    simulator.clock.step(1)
    ready = data(await api.get(path))
    assert ready["status"] == "done"
    assert len(ready["data"]["cues"]) > 10
    file = (await api.get(ready["url"], headers={"Authorization": ""})).text
    assert file.startswith("WEBVTT\n\n00:00:01.000 --> 00:00:")
    assert all(cue["text"] in file for cue in ready["data"]["cues"])


@pytest.mark.parametrize(
    "languages", [[], ["en", "xx"], ["en", ""], ["en", None], ["e" * 100], "en", None, ["en"] * 184]
)
async def test_one_bad_language_makes_no_track(api: httpx.AsyncClient, tracks: str, languages: object) -> None:
    before = data(await api.get(tracks))
    assert error_of(await api.post(f"{tracks}/auto", json={"languages": languages})) == (400, 400400)
    assert error_of(await api.post(f"{tracks}/auto", json={})) == (400, 400400)
    assert [track["id"] for track in data(await api.get(tracks))] == [track["id"] for track in before]


async def test_a_track_is_changed_and_deleted(api: httpx.AsyncClient, tracks: str) -> None:
    created = data(await sent(api, tracks))
    path = f"{tracks}/{created['id']}"
    assert data(await api.patch(path, json={"description": "new"}))["description"] == "new"
    changed = data(await api.patch(path, json={"language": "de"}))
    assert (changed["language"], changed["description"]) == ("de", "new")
    assert invalid_names(await api.patch(path, json={"language": "xx"})) == ["language"]
    assert invalid_names(await api.patch(path, json={"colour": "x"})) == ["colour"]
    assert data(await api.delete(path)) == {"success": True}
    for answer in (await api.get(path), await api.delete(path), await api.patch(path, json={})):
        assert error_of(answer) == (404, 404404)
    assert error_of(await api.get(created["url"])) == (404, 404404)


@pytest.mark.parametrize("index", [0, 1])
async def test_a_copy_is_a_track_of_its_own_and_comes_last(api: httpx.AsyncClient, tracks: str, index: int) -> None:
    source = data(await api.get(tracks))[index]
    created = data(await api.post(f"{tracks}/{source['id']}/copy"))
    assert len(created) == 8
    assert created["id"] != source["id"]
    content = (await api.get(source["url"])).content
    data(await api.delete(f"{tracks}/{source['id']}"))
    assert (await api.get(created["url"])).content == content
    assert data(await api.get(tracks))[-1]["id"] == created["id"]
    assert error_of(await api.post(f"{tracks}/{UNKNOWN_ID}/copy")) == (404, 404404)


async def test_tracks_are_put_in_order_by_the_full_list(api: httpx.AsyncClient, tracks: str) -> None:
    await sent(api, tracks)
    ids = [track["id"] for track in data(await api.get(tracks))]
    order = [ids[2], ids[0], ids[1]]
    assert data(await api.patch(f"{tracks}/reorder", json=order))["id"] in ids
    listed = data(await api.get(tracks))
    assert [(track["id"], track["position"]) for track in listed] == [*zip(order, (1, 2, 3), strict=True)]
    backwards = data(await api.get(tracks, params={"order": "position.desc"}))
    assert [track["id"] for track in backwards] == order[::-1]


@pytest.mark.parametrize("spoil", ["short", "double", "foreign", "object", "number", "none"])
async def test_an_order_that_is_not_full_changes_nothing(api: httpx.AsyncClient, tracks: str, spoil: str) -> None:
    ids = [track["id"] for track in data(await api.get(tracks))]
    orders: Row = {
        "short": ids[:1],
        "double": [ids[0], ids[0]],
        "foreign": [*ids, UNKNOWN_ID],
        "object": {"ids": ids},
        "number": [1, 2],
        "none": [],
    }
    assert error_of(await api.patch(f"{tracks}/reorder", json=orders[spoil])) == (400, 400400)
    assert [track["id"] for track in data(await api.get(tracks))] == ids

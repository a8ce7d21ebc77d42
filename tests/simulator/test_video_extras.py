"""Posters, annotations and additional materials of a video (platform-api.md, "Operations")."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from livedeck.simulator import Simulator
from simulator.http_client import UNKNOWN_ID, FindEvent, Row, client_for, data, error_of, invalid_names

NOTE: Row = {"type": "text", "title": "Here", "start_time": 3, "end_time": 9}


@pytest.fixture
def posters(video: str) -> str:
    return f"/v1/videos/{video}/posters"


@pytest.fixture
def notes(video: str) -> str:
    return f"/v1/videos/{video}/annotations"


async def uploaded(api: httpx.AsyncClient, video: str, content: Any = b"x", **headers: str) -> httpx.Response:
    sent = {"X-Video-ID": video, "X-File-Name": "a.txt"} | {key.replace("_", "-"): headers[key] for key in headers}
    return await api.post("/upload/additional-material", content=content, headers=sent)


# Posters


async def test_a_poster_is_made_of_a_frame(api: httpx.AsyncClient, posters: str) -> None:
    created = data(await api.post(posters, json={"from_time": 63.5}))
    assert (created["from_time"], created["to_time"], created["type"], created["status"]) == (
        63.5,
        63.5,
        "image",
        "done",
    )
    assert not created["active"]
    assert data(await api.get(f"{posters}/{created['id']}")) == created
    assert created in data(await api.get(posters))


async def test_every_poster_is_a_picture_of_its_own_in_four_sizes(api: httpx.AsyncClient, posters: str) -> None:
    listed = data(await api.get(posters))
    pictures = {
        (await api.get(poster[size], headers={"Authorization": ""})).content
        for poster in listed
        for size in ("original", "md", "sm", "xs")
    }
    assert len(pictures) == 4 * len(listed) == 8
    assert all(picture.startswith(b"\x89PNG\r\n\x1a\n") for picture in pictures)


async def test_just_one_poster_is_active_whatever_happens(api: httpx.AsyncClient, posters: str) -> None:
    async def active() -> list[str]:
        return [poster["id"] for poster in data(await api.get(posters)) if poster["active"]]

    created = data(await api.post(posters, json={"from_time": 1}))
    assert len(await active()) == 1
    assert data(await api.post(f"{posters}/{created['id']}/active")) == {"success": True}
    assert await active() == [created["id"]]
    assert data(await api.delete(f"{posters}/{created['id']}")) == {"success": True}
    assert len(await active()) == 1
    for poster in data(await api.get(posters)):
        data(await api.delete(f"{posters}/{poster['id']}"))
    assert data(await api.get(posters)) == []
    assert data(await api.post(posters, json={"from_time": 2}))["active"]


@pytest.mark.parametrize("body", [{}, {"from_time": -1}, {"from_time": "1"}, {"from_time": 5470}, {"from_time": None}])
async def test_a_frame_outside_the_video_is_refused(api: httpx.AsyncClient, posters: str, body: Row) -> None:
    assert invalid_names(await api.post(posters, json=body)) == ["from_time"]
    assert data(await api.post(posters, json={"from_time": 5469}))["from_time"] == 5469


@pytest.mark.parametrize(("verb", "suffix"), [("GET", ""), ("DELETE", ""), ("POST", "/active")])
async def test_a_missing_poster_is_400404(api: httpx.AsyncClient, posters: str, verb: str, suffix: str) -> None:
    assert error_of(await api.request(verb, f"{posters}/{UNKNOWN_ID}{suffix}")) == (400, 400404)
    assert error_of(await api.request(verb, f"{posters}/x{suffix}")) == (400, 400301)


async def test_an_uploaded_poster_is_the_active_one_of_a_video(
    api: httpx.AsyncClient, posters: str, video: str
) -> None:
    headers = {"X-Video-ID": video, "X-Poster-URL": "https://pictures.example/a.png"}
    created = data(await api.post("/upload/v2/poster", headers=headers))
    assert [poster["id"] for poster in data(await api.get(posters)) if poster["active"]] == [created["id"]]


async def test_an_uploaded_poster_is_shown_by_its_event(api: httpx.AsyncClient, find_event: FindEvent) -> None:
    event = await find_event("Lecture 7")
    assert "media_id" not in event["poster"]
    headers = {"X-Event-ID": event["id"], "X-Poster-URL": "https://pictures.example/a.png"}
    created = data(await api.post("/upload/v2/poster", headers=headers))
    assert (await find_event("Lecture 7"))["poster"] == created
    assert created["media_id"] == event["id"]
    assert (await api.get(created["original"], headers={"Authorization": ""})).status_code == 200


@pytest.mark.parametrize(
    ("headers", "names"),
    [
        ({"X-Video-ID": UNKNOWN_ID}, ["X-Poster-URL"]),
        ({"X-Poster-URL": "http://x.example"}, ["X-Video-ID"]),
        ({"X-Poster-URL": "http://x.example", "X-Video-ID": UNKNOWN_ID, "X-Event-ID": UNKNOWN_ID}, ["X-Video-ID"]),
        ({"X-Poster-URL": "ftp://x.example", "X-Video-ID": UNKNOWN_ID}, ["X-Poster-URL"]),
        ({"X-Poster-URL": "http://x.example", "X-Video-ID": "7"}, ["X-Video-ID"]),
        ({"X-Poster-URL": "%FF", "X-Video-ID": UNKNOWN_ID}, ["X-Poster-URL"]),
    ],
)
async def test_a_bad_header_is_named(api: httpx.AsyncClient, headers: Row, names: list[str]) -> None:
    assert invalid_names(await api.post("/upload/v2/poster", headers=headers)) == names


@pytest.mark.parametrize(("header", "code"), [("X-Video-ID", (404, 404404)), ("X-Event-ID", (400, 400404))])
async def test_a_poster_for_nothing_is_refused(api: httpx.AsyncClient, header: str, code: tuple[int, int]) -> None:
    headers = {header: UNKNOWN_ID, "X-Poster-URL": "http://x.example"}
    assert error_of(await api.post("/upload/v2/poster", headers=headers)) == code


# Annotations


async def test_an_annotation_goes_through_its_life(api: httpx.AsyncClient, notes: str, video: str) -> None:
    poster = data(await api.get(f"/v1/videos/{video}/posters"))[0]["id"]
    created = data(await api.post(notes, json=NOTE | {"annotation_poster_id": poster, "link": "https://x.example"}))
    assert set(created) == {
        *("id", "media_id", "video_id", "annotation_type", "title", "link", "start_time", "end_time"),
        *("annotation_poster_id", "created_at", "updated_at"),
    }
    assert (created["media_id"], created["video_id"], created["annotation_type"]) == (video, None, "text")
    assert created["updated_at"] is None
    path = f"{notes}/{created['id']}"
    assert data(await api.get(path)) == created
    changed = data(await api.put(path, json={"title": "There", "video_id": video}))
    assert changed == created | {"title": "There", "video_id": video, "updated_at": changed["updated_at"]}
    assert changed in data(await api.get(notes))
    assert data(await api.delete(path)) == {"success": True}
    assert error_of(await api.get(path)) == error_of(await api.delete(path)) == (404, 404404)


async def test_an_annotation_whose_poster_is_gone_can_be_sent_back_and_no_other_can_name_it(
    api: httpx.AsyncClient, notes: str, video: str
) -> None:
    poster = data(await api.get(f"/v1/videos/{video}/posters"))[0]["id"]
    created = data(await api.post(notes, json=NOTE | {"annotation_poster_id": poster}))
    data(await api.delete(f"/v1/videos/{video}/posters/{poster}"))
    path = f"{notes}/{created['id']}"
    assert data(await api.put(path, json=created))["annotation_poster_id"] == poster
    assert invalid_names(await api.post(notes, json=NOTE | {"annotation_poster_id": poster})) == [
        "annotation_poster_id"
    ]
    data(await api.put(path, json={"annotation_poster_id": None}))
    assert invalid_names(await api.put(path, json={"annotation_poster_id": poster})) == ["annotation_poster_id"]


async def test_the_list_of_annotations_has_pages(api: httpx.AsyncClient, notes: str) -> None:
    body = (await api.get(notes, params={"per_page": 1, "page": 2})).json()
    assert body["meta"] == {"pagination": {"page": 2, "per_page": 1, "total": 2}, "order": {"start_time": "asc"}}
    assert [note["start_time"] for note in body["data"]] == [2400]


@pytest.mark.parametrize(
    ("changes", "names"),
    [
        ({"type": "audio"}, ["type"]),
        ({"title": None}, ["title"]),
        ({"title": "x" * 256}, ["title"]),
        ({"start_time": 1.0}, ["start_time"]),
        ({"start_time": -1}, ["start_time"]),
        ({"start_time": True}, ["start_time"]),
        ({"start_time": 10}, ["end_time"]),
        ({"video_id": UNKNOWN_ID}, ["video_id"]),
        ({"annotation_poster_id": UNKNOWN_ID}, ["annotation_poster_id"]),
        ({"colour": "red"}, ["colour"]),
    ],
)
async def test_a_bad_annotation_is_named(api: httpx.AsyncClient, notes: str, changes: Row, names: list[str]) -> None:
    before = data(await api.get(notes))
    assert invalid_names(await api.post(notes, json=NOTE | changes)) == names
    assert data(await api.get(notes)) == before


@pytest.mark.parametrize("missing", [*NOTE])
async def test_an_annotation_lacks_nothing(api: httpx.AsyncClient, notes: str, missing: str) -> None:
    assert invalid_names(await api.post(notes, json={key: NOTE[key] for key in NOTE if key != missing})) == [missing]


async def test_an_annotation_cannot_change_its_kind_nor_end_before_it_starts(
    api: httpx.AsyncClient, notes: str
) -> None:
    path = f"{notes}/{data(await api.post(notes, json=NOTE))['id']}"
    assert invalid_names(await api.put(path, json={"type": "video"})) == ["type"]
    assert invalid_names(await api.put(path, json={"end_time": 2})) == ["end_time"]
    assert data(await api.put(path, json={"end_time": 3}))["end_time"] == 3


# Additional materials


async def test_a_material_comes_back_byte_for_byte_behind_a_signed_address(
    api: httpx.AsyncClient, simulator: Simulator, video: str
) -> None:
    content = bytes(range(256)) * 5000
    created = data(await uploaded(api, video, content, X_File_Name="%E6%9D%B1%E4%BA%AC.pdf", X_Title="Plan"))
    assert (created["filename"], created["title"], created["filetype"]) == ("東京.pdf", "Plan", "application/pdf")
    assert (created["size"], created["video_id"], created["deleted_at"]) == (len(content), video, None)
    link = data(await api.get(f"/v1/additional-materials/{created['id']}/link"))["link"]
    async with client_for(simulator, "none") as anyone:
        answer = await anyone.get(link)
        assert (answer.content, answer.headers["content-type"]) == (content, "application/pdf")
        assert answer.headers["content-disposition"] == "attachment; filename*=utf-8''%E6%9D%B1%E4%BA%AC.pdf"
        assert (await anyone.get(link, headers={"Range": "bytes=256-511"})).content == bytes(range(256))


async def test_a_signed_address_ends_and_cannot_be_bent(
    api: httpx.AsyncClient, simulator: Simulator, video: str
) -> None:
    first, second = [data(await uploaded(api, video))["id"] for _ in range(2)]
    link = data(await api.get(f"/v1/additional-materials/{first}/link"))["link"]
    address, _, query = link.partition("?")
    expires, sign = query.split("&")
    for bent in (
        address,
        f"{address}?{expires}",
        f"{address}?{sign}",
        f"{address}?{expires}&sign=",
        f"{address}?{expires}&sign=%C3%A9",
        f"{address}?expires=99999999999&{sign}",
        f"{address}?expires=x&{sign}",
        f"{address.replace(first, second)}?{query}",
    ):
        assert error_of(await api.get(bent)) == (403, 403403)
    simulator.clock.step(599)
    assert (await api.get(link)).status_code == 200
    simulator.clock.step(2)
    assert error_of(await api.get(link)) == (403, 403403)


async def test_a_material_is_renamed_and_deleted(api: httpx.AsyncClient, video: str) -> None:
    created = data(await uploaded(api, video))
    assert created["title"] == "a.txt"
    path = f"/v1/additional-materials/{created['id']}"
    link = data(await api.get(f"{path}/link"))["link"]
    renamed = data(await api.put(path, json={"title": "Programme"}))
    assert renamed == created | {"title": "Programme", "updated_at": renamed["updated_at"]}
    assert data(await api.put(path, json={})) | {"updated_at": ""} == renamed | {"updated_at": ""}
    assert data(await api.delete(path)) == {"success": True}
    for answer in (await api.delete(path), await api.get(f"{path}/link"), await api.put(path, json={})):
        assert error_of(answer) == (404, 404404)
    assert error_of(await api.get(link)) == (404, 404404)


async def test_materials_change_positions_among_themselves(
    api: httpx.AsyncClient, video: str, find_event: FindEvent
) -> None:
    """Materials cannot be listed, so no full list is asked for: those that are not named stay where they are."""

    async def positions(ids: list[str]) -> list[int]:
        return [
            data(await api.put(f"/v1/additional-materials/{material_id}", json={}))["position"] for material_id in ids
        ]

    path = "/v1/additional-materials/reorder"
    first, second, third = ids = [data(await uploaded(api, video))["id"] for _ in range(3)]
    before = await positions(ids)
    assert data(await api.patch(path, json=[third, first])) == {"success": True}
    assert await positions([third, second, first]) == before
    event = await find_event("Abendmusik 東京")
    other_video = data(await api.get(f"/v2/live/events/{event['id']}/videos"))[0]["id"]
    other_ids = [data(await uploaded(api, other_video))["id"] for _ in range(2)]
    other_positions = await positions(other_ids)
    data(await api.patch(path, json=[other_ids[1], first, other_ids[0], second, third]))
    assert await positions([other_ids[1], other_ids[0]]) == other_positions
    assert await positions(ids) == before


async def test_an_order_of_materials_names_known_ones_each_once(api: httpx.AsyncClient, video: str) -> None:
    first, second = [data(await uploaded(api, video))["id"] for _ in range(2)]
    path = "/v1/additional-materials/reorder"
    orders: list[object] = [[first, first], [], [7], {}]
    for order in orders:
        assert error_of(await api.patch(path, json=order)) == (400, 400400)
    assert error_of(await api.patch(path, json=[second, first, "nothing"])) == (404, 404404)
    assert (
        data(await api.put(f"/v1/additional-materials/{first}", json={}))["position"]
        < (data(await api.put(f"/v1/additional-materials/{second}", json={}))["position"])
    )


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({"X-Video-ID": ""}, (400, 400400)),
        ({"X-Video-ID": UNKNOWN_ID}, (404, 404404)),
        ({"X-File-Name": ""}, (400, 400400)),
        ({"X-File-Name": "x" * 256}, (400, 400400)),
        ({"X-File-Name": "%C3"}, (400, 400400)),
        ({"X-Title": ""}, (400, 400400)),
    ],
)
async def test_a_bad_upload_is_refused(api: httpx.AsyncClient, video: str, headers: Row, code: tuple[int, int]) -> None:
    sent = {"X-Video-ID": video, "X-File-Name": "a"} | headers
    assert error_of(await api.post("/upload/additional-material", content=b"x", headers=sent)) == code


async def test_an_upload_is_larger_than_other_bodies_may_be(api: httpx.AsyncClient, video: str) -> None:
    async def nine() -> AsyncIterator[bytes]:
        for _ in range(9):
            yield bytes(1024 * 1024)

    assert data(await uploaded(api, video, nine()))["size"] == 9 * 1024 * 1024
    headers = {"Content-Length": str(512 * 1024 * 1024 + 1)}
    answer = await api.post("/upload/additional-material", content=b"x", headers=headers)
    assert error_of(answer) == (413, 413413)


async def test_no_name_from_outside_is_a_path(tmp_path: Path) -> None:
    (tmp_path / "deck").mkdir()
    simulator = Simulator(data=tmp_path / "deck" / "deck.db")
    async with client_for(simulator, simulator.token) as api:
        events = data(await api.get("/v2/live/events?per_page=100"))
        event = next(event["id"] for event in events if event["name"] == "Rehearsal Tuesday")
        video = data(await api.get(f"/v2/live/events/{event}/videos"))[0]["id"]
        created = data(await uploaded(api, video, X_File_Name="../../etc/passwd"))
    assert created["filename"] == "../../etc/passwd"
    assert [path.name for path in tmp_path.iterdir()] == ["deck"]  # noqa: ASYNC240
    simulator.close()


# All of them


EXTRAS = ["posters", "subtitles", "annotations"]


@pytest.mark.parametrize("kind", EXTRAS)
@pytest.mark.parametrize(("video_id", "code"), [(UNKNOWN_ID, (404, 404404)), ("7", (400, 400301))])
async def test_an_unknown_video_has_no_extras(
    api: httpx.AsyncClient, kind: str, video_id: str, code: tuple[int, int]
) -> None:
    assert error_of(await api.get(f"/v1/videos/{video_id}/{kind}")) == code
    assert error_of(await api.get(f"/v1/videos/{video_id}/{kind}/{UNKNOWN_ID}")) == code


@pytest.mark.parametrize("kind", EXTRAS)
async def test_extras_do_not_cross_between_workspaces_and_videos(
    api: httpx.AsyncClient, other: httpx.AsyncClient, video: str, find_event: FindEvent, kind: str
) -> None:
    extra = data(await api.get(f"/v1/videos/{video}/{kind}"))[0]["id"]
    assert error_of(await other.get(f"/v1/videos/{video}/{kind}/{extra}")) == (404, 404404)
    event = await find_event("Abendmusik 東京")
    other_video = data(await api.get(f"/v2/live/events/{event['id']}/videos"))[0]["id"]
    code = (400, 400404) if kind == "posters" else (404, 404404)
    assert error_of(await api.get(f"/v1/videos/{other_video}/{kind}/{extra}")) == code
    assert error_of(await api.delete(f"/v1/videos/{other_video}/{kind}/{extra}")) == code

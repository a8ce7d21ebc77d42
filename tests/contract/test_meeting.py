"""The client talks to the simulator: each of the 43 operations is called, and no reply has an undocumented field."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from client.calls import VTT
from livedeck.client import (
    AnnotationDraft,
    Api,
    ChatExport,
    ChatFormat,
    Conflict,
    EventDraft,
    EventRestreamDraft,
    MessageFilter,
    Model,
    NotFound,
    Poster,
    RelayDraft,
    RoomDraft,
    ScheduleDraft,
    Secret,
    Stream,
    SubtitleDraft,
    Unauthorized,
    Validation,
    VideoDraft,
)
from livedeck.simulator import Simulator, SimulatorClock

START = datetime(2026, 11, 21, 9, tzinfo=UTC)
KEY = Secret("key-of-the-relay-88bb")


@pytest.fixture
def simulator() -> Simulator:
    return Simulator(seed=7, clock=SimulatorClock(START, paused=True))


@pytest.fixture
async def api(simulator: Simulator) -> AsyncIterator[Api]:
    async def wait(seconds: float) -> None:
        simulator.clock.step(seconds)

    base = "http://127.0.0.1"
    async with Api(
        base_url=base, upload_url=f"{base}/upload", token=simulator.token, mount=simulator.app, sleep=wait
    ) as made:
        yield made
    simulator.close()


async def on_air(api: Api) -> tuple[str, str]:
    """Return the ids of an event with a chat and of its stream."""
    events = [event async for event in api.events.iterate()]
    assert known(*events)
    live = next(each for each in events if each.stream and each.stream.status == "live" and each.chat_active)
    return live.id, (live.stream or Stream()).id or ""


async def new_video(api: Api, simulator: Simulator) -> str:
    """Return the id of a new recording without extras.

    It is listed within 20 s of the completion (platform-api.md, "Lists").
    """
    event, _stream = await on_air(api)
    await api.events.complete(event)
    simulator.clock.step(20)
    [recording] = [each async for each in api.events.iterate_videos(event)]
    assert known(recording)
    return recording.id


def known(*models: Model | None) -> bool:
    """Return whether all models came, without undocumented fields."""
    return all(model is not None and not model.model_extra for model in models)


async def test_posters(api: Api, simulator: Simulator) -> None:
    video = await new_video(api, simulator)
    made = await api.posters.create(video, 1.0)
    assert made is not None
    assert made.id
    await api.posters.set_active(video, made.id)
    assert (await api.posters.get(video, made.id)).active
    uploaded = await api.posters.upload_for_video(video, "https://cdn.example.com/a%20b.png")
    assert known(made, uploaded)
    listed = [poster async for poster in api.posters.iterate(video)]
    assert known(*listed)
    await api.posters.delete(video, made.id)
    with pytest.raises(NotFound):
        await api.posters.get(video, made.id)


async def test_a_poster_of_an_event(api: Api) -> None:
    event = (await api.events.list(per_page=1)).items[0]
    poster = await api.posters.upload_for_event(event.id, "https://cdn.example.com/a.png")
    assert isinstance(poster, Poster)
    assert ((await api.events.get(event.id)).poster or Poster()).id == poster.id


async def test_subtitles(api: Api, simulator: Simulator, tmp_path: Path) -> None:
    file = tmp_path / "track.vtt"
    file.write_bytes(VTT)
    video = await new_video(api, simulator)
    uploaded = await api.subtitles.upload(video, "en", "Spoken ж", file)
    [pending] = await api.subtitles.generate(video, ["de"])
    assert (uploaded.description, pending.status, pending.data) == ("Spoken ж", "pending", {})
    done = await api.subtitles.wait_done(video, pending.id)
    assert done.status == "done"
    assert done.data
    changed = await api.subtitles.update(video, uploaded.id, SubtitleDraft(language="fr"))
    copied = await api.subtitles.copy(video, uploaded.id)
    assert changed.language == copied.language == "fr"
    order = [track.id async for track in api.subtitles.iterate(video, order="position.asc")][::-1]
    moved = await api.subtitles.reorder(video, order)
    assert [track.id for track in (await api.subtitles.list(video, order="position.asc")).items] == order
    await api.subtitles.delete(video, copied.id)
    assert known(uploaded, pending, done, changed, copied, moved, await api.subtitles.get(video, uploaded.id))


async def test_annotations(api: Api, simulator: Simulator) -> None:
    video = await new_video(api, simulator)
    draft = AnnotationDraft(type="text", title="Look", link="", start_time=1, end_time=2)
    made = await api.annotations.create(video, draft)
    changed = await api.annotations.update(video, made.id, AnnotationDraft(title="There"))
    assert (made.annotation_type, changed.title, changed.end_time) == ("text", "There", 2)
    assert known(made, changed, *[each async for each in api.annotations.iterate(video)])
    assert made.id in [each.id for each in (await api.annotations.list(video, per_page=100)).items]
    await api.annotations.delete(video, made.id)
    with pytest.raises(NotFound):
        await api.annotations.get(video, made.id)


async def test_materials(api: Api, simulator: Simulator, tmp_path: Path) -> None:
    file = tmp_path / "slides.txt"
    file.write_bytes(b"slides" * 100_000)
    video = await new_video(api, simulator)
    made = await api.materials.upload(video, file, "Folien ä 100%.txt", "Die Folien")
    assert made is not None
    assert (made.filename, made.title, made.size) == ("Folien ä 100%.txt", "Die Folien", 600_000)
    renamed = await api.materials.rename(made.id, "Слайды")
    link = await api.materials.link(made.id)
    assert "sign=" in link.reveal()
    assert "sign=" not in str(link)
    await api.materials.reorder([made.id])
    await api.materials.delete(made.id)
    assert known(made, renamed)
    with pytest.raises(NotFound):
        await api.materials.link(made.id)


async def test_events_and_their_streams(api: Api) -> None:
    draft = EventDraft(
        name="Evening show",
        type="one-time",
        scheduled=ScheduleDraft(time=START + timedelta(hours=2)),
        video=VideoDraft(presets=("720p",)),
        restreams=(EventRestreamDraft(name="E", url="rtmp://e.example/app", key=KEY),),
    )
    made = await api.events.create(draft)
    changed = await api.events.update(made.id, EventDraft(name="Night show", scheduled=ScheduleDraft(time=None)))
    assert (changed.name, (await api.events.get(made.id)).scheduled) == ("Night show", changed.scheduled)
    assert [restream.key for restream in changed.restreams or ()] == [KEY]
    await api.events.enable(made.id)
    planned = await api.streams.schedule(made.id, START + timedelta(hours=3))
    replanned = await api.streams.reschedule(made.id, START + timedelta(hours=4))
    assert isinstance(planned, Stream)
    assert replanned.started_at == START + timedelta(hours=4)
    await api.events.complete(made.id)
    with pytest.raises(Conflict):
        await api.events.enable(made.id)
    assert (await api.events.videos(made.id)).items == ()
    assert known(made, changed, planned, replanned)
    await api.events.delete(made.id)
    with pytest.raises(NotFound):
        await api.events.get(made.id)


async def test_an_event_moves(api: Api) -> None:
    events = [event async for event in api.events.iterate()]
    assert known(*events)
    parent = next(event.parent_id for event in events if event.parent_id)
    assert (await api.events.move(events[0].id, parent)).parent_id == parent


async def test_quality_and_chat_of_an_event_on_air(api: Api, tmp_path: Path) -> None:
    event, stream = await on_air(api)
    samples = await api.qos.get(event)
    assert len(samples)
    assert not samples.extra
    messages = [message async for message in api.chat.messages(event, stream)]
    assert messages
    assert known(*messages)
    formats: list[ChatFormat] = ["json", "csv", "txt"]
    for suffix in formats:
        assert (await api.chat.export(ChatExport(event, stream, suffix), tmp_path / suffix)).size
    assert (tmp_path / "csv").read_text().startswith("id,username,external_id,is_admin,message,created_at,cteated_at_")
    all_of_it = MessageFilter(since=START - timedelta(days=30))
    await api.chat.export(ChatExport(event, stream, "txt", filter=all_of_it), tmp_path / "sifted")
    assert (tmp_path / "sifted").read_bytes() == (tmp_path / "txt").read_bytes()
    assert len((tmp_path / "txt").read_text().splitlines()) == len(messages)


async def test_rooms_and_their_relays(api: Api, simulator: Simulator) -> None:
    relay = RelayDraft(name="A", url=" rtmp://a.rtmp.youtube.com/live2/ ", stream_key=KEY)
    made = await api.rooms.create(RoomDraft(owner_id=simulator.user_id, name="Studio", restreams=(relay, relay)))
    assert made.restreams
    profile = made.restreams[0]
    assert (profile.url, profile.stream_key) == ("rtmp://a.rtmp.youtube.com/live2", KEY)
    changed = await api.relays.update(made.id, profile.id, RelayDraft(name="B"))
    assert ((await api.rooms.get(made.id)).restreams or ())[0].name == changed.name == "B"
    rooms = [room async for room in api.rooms.iterate(q="Studio", type=("permanent_meeting",))]
    assert made.id in [room.id for room in rooms]
    assert known(made, changed, *rooms, *made.restreams)
    await api.rooms.delete(made.id)
    await api.rooms.delete(made.id)
    with pytest.raises(NotFound):
        await api.rooms.get(made.id)


async def test_refusals_have_their_meaning(api: Api, simulator: Simulator) -> None:
    with pytest.raises(Validation) as caught:
        await api.rooms.create(RoomDraft(owner_id="4d2c2f2e-6f53-4a3e-9b7d-0d8d1c1c7a10", name="Studio"))
    assert caught.value.invalid_params
    async with Api(base_url="http://127.0.0.1", token="wrong", mount=simulator.app) as stranger:
        with pytest.raises(Unauthorized):
            await stranger.events.list()

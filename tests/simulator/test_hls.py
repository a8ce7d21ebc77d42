"""HLS: the playlists follow the encoders, the segments fit together, and each fault has the effect of its name."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import httpx
import pytest

from livedeck.simulator import Simulator, SimulatorClock, serve
from livedeck.simulator.engine.faults.matching import HLS_KINDS
from livedeck.simulator.engine.hls import PICTURES, SOUNDS
from livedeck.simulator.engine.reference import DATA
from livedeck.simulator.media.loops import HEIGHTS, PICTURE, SOUND, Loop, loop
from simulator.http_client import Row, data

EVENTS = "/v2/live/events"
START = datetime(2026, 11, 21, 9, tzinfo=UTC)
TIMES = re.compile(r"#EXT-X-PROGRAM-DATE-TIME:(.+)")
NUMBERS = re.compile(r"^(\d+)\.m4s$", re.MULTILINE)
STILLS = tuple(f"{name}-still" for name in PICTURES if name != "black")


@pytest.fixture
def simulator() -> Simulator:
    return Simulator(hls=True, workspace="nine", clock=SimulatorClock(START, paused=True), control_token="c")


@pytest.fixture
async def player(simulator: Simulator) -> AsyncIterator[httpx.AsyncClient]:
    """Client in process, which sends both tokens where they are needed."""
    async with httpx.AsyncClient(transport=httpx.ASGITransport(simulator.app), base_url="http://127.0.0.1") as client:

        async def authorize(request: httpx.Request) -> None:
            token = "c" if request.url.path.startswith("/_control") else simulator.token
            request.headers["Authorization"] = f"Bearer {token}"

        client.event_hooks["request"].append(authorize)
        yield client


async def event_of(player: httpx.AsyncClient, name: str = "Opera gala") -> Row:
    events: list[Row] = data(await player.get(EVENTS, params={"per_page": 100}))
    return next(event for event in events if event["name"] == name)


async def read(player: httpx.AsyncClient, path: str = "72/index.m3u8", name: str = "Opera gala") -> httpx.Response:
    return await player.get((await event_of(player, name))["play_link"].replace("master.m3u8", path))


def numbers(playlist: httpx.Response) -> list[int]:
    assert playlist.status_code == 200, playlist.text
    return [int(number) for number in NUMBERS.findall(playlist.text)]


def times(playlist: httpx.Response) -> list[datetime]:
    return [datetime.fromisoformat(time) for time in TIMES.findall(playlist.text)]


def time_of(segment: bytes) -> int:
    """Return the decode time of a fragment, in ticks."""
    at = segment.index(b"tfdt") + 8
    return int.from_bytes(segment[at : at + 8])


def samples_of(segment: bytes) -> bytes:
    """Return the coded frames, without their place in the stream."""
    return segment[segment.index(b"mdat") :]


async def add_fault(player: httpx.AsyncClient, kind: str, **arguments: object) -> Row:
    fault: Row = data(await player.post("/_control/faults", json={"kind": kind} | arguments))
    return fault


def all_loops() -> list[Loop]:
    pictures = [loop(name, height) for name in (*PICTURES, *STILLS) for height in HEIGHTS]
    return [*pictures, *map(loop, SOUNDS)]


def key_frames(segment: bytes) -> int:
    """Return the number of frames at which a player can start (NAL units of type 5)."""
    coded, at, found = samples_of(segment), 8, 0
    while at < len(coded):
        found += coded[at] & 31 == 5
        at += int.from_bytes(coded[at - 4 : at]) + 4
    return found


def test_the_committed_media_have_the_form_that_the_playlists_declare() -> None:
    for each in all_loops():
        assert [time_of(segment) for segment in each.segments] == [*map(each.track.start, range(len(each.segments)))]
        assert len(each.segments) in {1, 4}
        assert not any(b"sidx" in segment for segment in each.segments)
    assert PICTURE.start(4) / PICTURE.timescale == SOUND.start(4) / SOUND.timescale == 8
    assert sum(file.stat().st_size for file in Path(str(DATA / "media")).iterdir()) < 700_000


def test_a_still_has_one_key_frame_and_every_other_segment_two() -> None:
    for height in HEIGHTS:
        assert {key_frames(segment) for name in PICTURES for segment in loop(name, height).segments} == {2}
        assert [[*map(key_frames, loop(name, height).segments)] for name in STILLS] == [[1]] * len(STILLS)


def test_one_init_segment_serves_every_picture_of_a_rung() -> None:
    for height in HEIGHTS:
        assert len({loop(name, height).init for name in (*PICTURES, *STILLS)}) == 1
    configurations = {init[init.index(b"\x05\x80\x80\x80") :][:10] for init in (loop(name).init for name in SOUNDS)}
    assert len(configurations) == 1


def test_without_hls_nothing_of_it_is_imported_and_a_link_is_a_page() -> None:
    program = (
        "import sys; from livedeck.simulator import Simulator; Simulator();"
        "print([name for name in sys.modules if name.startswith('livedeck.simulator.media')])"
    )
    assert subprocess.check_output([sys.executable, "-c", program], text=True) == "[]\n"


async def test_without_hls_there_are_no_playlists() -> None:
    plain = Simulator(workspace="nine", clock=SimulatorClock(START, paused=True))
    headers = {"Authorization": f"Bearer {plain.token}"}
    transport = httpx.ASGITransport(plain.app)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", headers=headers) as client:
        event = await event_of(client)
        assert event["play_link"] == f"https://play.livedeck.example/{event['id']}"
        assert (await client.get(f"/cdn/hls/{event['id']}/master.m3u8")).status_code == 404


async def test_an_event_off_the_air_has_a_page(player: httpx.AsyncClient) -> None:
    event = await event_of(player)
    assert event["play_link"] == f"http://127.0.0.1/cdn/hls/{event['id']}/master.m3u8"
    data(await player.put(f"{EVENTS}/{event['id']}/complete"))
    assert (await event_of(player))["play_link"].startswith("https://play.livedeck.example/")


async def test_the_rungs_are_the_presets_or_those_of_the_pictures(player: httpx.AsyncClient) -> None:
    assert re.findall(r"RESOLUTION=(\w+)", (await read(player, "master.m3u8")).text) == ["128x72", "320x180"]
    master = await read(player, "master.m3u8", "Lecture 7")
    assert re.findall(r"RESOLUTION=(\w+)", master.text) == ["640x360", "1280x720"]
    assert master.headers["content-type"] == "application/vnd.apple.mpegurl"
    assert numbers(await read(player, "720/index.m3u8", "Lecture 7")) == numbers(
        await read(player, "sound/index.m3u8", "Lecture 7")
    )
    assert (await read(player, "72/index.m3u8", "Lecture 7")).status_code == 404


async def test_every_listed_segment_is_there_and_follows_the_one_before(player: httpx.AsyncClient) -> None:
    for rung, track in (("72", PICTURE), ("180", PICTURE), ("sound", SOUND)):
        listed = numbers(await read(player, f"{rung}/index.m3u8"))
        segments = [(await read(player, f"{rung}/{number}.m4s")).content for number in listed]
        assert [time_of(segment) for segment in segments] == [track.start(number) for number in listed]
        assert len({*map(samples_of, segments)}) == 4
        for number in (str(listed[-1] + 1), "0", "-1", "x", "9" * 5000):
            assert (await read(player, f"{rung}/{number}.m4s")).status_code == 404
        assert (await read(player, f"{rung}/init.mp4")).content[4:8] == b"ftyp"


async def test_the_newest_segment_is_as_old_as_the_packager_takes(
    player: httpx.AsyncClient, simulator: Simulator
) -> None:
    for _ in range(9):
        simulator.clock.step(0.7)
        head = times(await read(player))[-1] + timedelta(seconds=2)
        assert timedelta(seconds=4) <= simulator.clock.now() - head < timedelta(seconds=6)


async def test_the_head_stops_with_the_encoder_and_goes_on_after_a_discontinuity(
    player: httpx.AsyncClient, simulator: Simulator
) -> None:
    control = "/_control/encoders/Opera gala"
    before = numbers(await read(player))
    data(await player.post(control, json={"sending": False}))
    simulator.clock.step(60)
    stopped = await read(player)
    assert before[-1] < numbers(stopped)[-1] <= before[-1] + 3
    assert times(stopped)[-1] < START
    assert "#EXT-X-ENDLIST" not in stopped.text
    data(await player.post(control, json={"sending": True}))
    simulator.clock.step(11)
    resumed = await read(player)
    assert [after - number for number, after in pairwise(numbers(resumed))] == [1] * 9
    assert numbers(resumed)[-1] == numbers(stopped)[-1] + 3
    assert times(resumed)[-3] == START + timedelta(seconds=60)
    tags = [line for line in resumed.text.splitlines() if line.startswith(("#EXT-X-DISC", "#EXT-X-PROG"))]
    assert tags[0] == "#EXT-X-DISCONTINUITY-SEQUENCE:0"
    assert tags.index("#EXT-X-DISCONTINUITY") == len(tags) - 4
    simulator.clock.step(30)
    assert "#EXT-X-DISCONTINUITY-SEQUENCE:1\n" in (await read(player)).text


async def test_a_new_shape_of_a_running_encoder_is_no_gap(player: httpx.AsyncClient, simulator: Simulator) -> None:
    for shape in ("variable", "frozen-picture", "camera-lost", "audio-lost"):
        data(await player.post("/_control/encoders/Opera gala", json={"shape": shape}))
        simulator.clock.step(5)
    assert "#EXT-X-DISCONTINUITY\n" not in (await read(player)).text


@pytest.mark.parametrize(
    ("shape", "picture", "sound"),
    [
        ("clean", "stage", "speech"),
        ("frozen-picture", "stage-still", "speech"),
        ("camera-lost", "black", "speech"),
        ("audio-lost", "stage", "silence"),
    ],
)
async def test_viewers_get_what_the_encoder_sends(
    player: httpx.AsyncClient, simulator: Simulator, shape: str, picture: str, sound: str
) -> None:
    data(await player.post("/_control/encoders/Opera gala", json={"shape": shape}))
    simulator.clock.step(9)
    newest = numbers(await read(player))[-1]
    assert (await read(player, f"72/{newest}.m4s")).content == loop(picture, 72).segment(newest)
    assert (await read(player, f"sound/{newest}.m4s")).content == loop(sound).segment(newest)


async def test_a_ghost_and_a_silent_encoder_have_no_segments(player: httpx.AsyncClient, simulator: Simulator) -> None:
    before = numbers(await read(player))[-1]
    for shape in ("ghost", "silent"):
        data(await player.post("/_control/encoders/Opera gala", json={"shape": shape}))
        simulator.clock.step(60)
    assert numbers(await read(player))[-1] <= before + 3


async def test_the_playlist_of_a_completed_event_ends(player: httpx.AsyncClient, simulator: Simulator) -> None:
    event = await event_of(player)
    data(await player.put(f"{EVENTS}/{event['id']}/complete"))
    path = f"/cdn/hls/{event['id']}/72/index.m3u8"
    assert "#EXT-X-ENDLIST" not in (await player.get(path)).text  # the packager still has some
    simulator.clock.step(4)
    ended = await player.get(path)
    assert ended.text.endswith("#EXT-X-ENDLIST\n")
    simulator.clock.step(3600)
    assert (await player.get(path)).content == ended.content


async def test_an_event_with_time_shift_lists_hours(player: httpx.AsyncClient) -> None:
    event = await event_of(player, "Harbour webcam")
    data(await player.put(f"{EVENTS}/{event['id']}", json={"time_shift": True}))
    listed = numbers(await read(player, name="Harbour webcam"))
    assert len(listed) == 6298  # of three and a half hours, but for the packager's four seconds
    assert (await read(player, f"72/{listed[0]}.m4s", "Harbour webcam")).status_code == 200


async def test_a_range_of_a_segment_is_a_part_of_it(player: httpx.AsyncClient) -> None:
    path = f"72/{numbers(await read(player))[-1]}.m4s"
    whole = await read(player, path)
    url = whole.request.url
    for asked, start, end in (("0-0", 0, 1), ("5-", 5, None), ("10-99999999", 10, None)):
        part = await player.get(url, headers={"Range": f"bytes={asked}"})
        assert (part.status_code, part.content) == (206, whole.content[start:end])
    assert (await player.get(url, headers={"Range": "bytes=99999999-"})).status_code == 416
    assert (await player.get(url, headers={"Range": "bytes=1-0"})).status_code == 416
    assert (await player.get(url, headers={"Range": "lines=1-2"})).content == whole.content


async def test_equal_simulators_play_equal_bytes(player: httpx.AsyncClient, simulator: Simulator) -> None:
    twin = Simulator(hls=True, workspace="nine", clock=SimulatorClock(START, paused=True), control_token="c")
    for clock in (simulator.clock, twin.clock):
        clock.step(7.25)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(twin.app), base_url="http://127.0.0.1") as other:
        for path in ("master.m3u8", "180/index.m3u8", "sound/index.m3u8", f"180/{numbers(await read(player))[-1]}.m4s"):
            mine = await read(player, path)
            theirs = await other.get(mine.request.url)
            assert (mine.headers.raw, mine.content) == (theirs.headers.raw, theirs.content)


async def test_three_names_of_this_machine_tell_hosts_apart(simulator: Simulator) -> None:
    headers = {"Authorization": f"Bearer {simulator.token}"}
    async with serve(simulator) as addresses, httpx.AsyncClient(headers=headers) as client:
        events = data(await client.get(f"{addresses.base_url}{EVENTS}", params={"per_page": 100}))
        hosts = [httpx.URL(event["play_link"]).host for event in events]
        assert {*hosts} == {host.strip("[]") for host in simulator.hls.hosts} >= {"127.0.0.1", "localhost"}
        assert len(simulator.hls.hosts) < 3 or [hosts.count(host) for host in {*hosts}] == [3, 3, 3]
        for event in events:
            assert (await client.get(event["play_link"])).status_code == 200
        simulator.clock.step(1)
        fault = {"kind": "cdn-down", "host": "localhost"}
        control = {"Authorization": f"Bearer {simulator.control_token}"}
        data(await client.post(f"{addresses.control_url}/faults", json=fault, headers=control))
        statuses = {httpx.URL(e["play_link"]).host: (await client.get(e["play_link"])).status_code for e in events}
    assert statuses.pop("localhost") == 503
    assert {*statuses.values()} == {200}


async def test_a_fault_of_hls_hits_the_playlists_of_its_event_and_nothing_of_the_api(player: httpx.AsyncClient) -> None:
    await add_fault(player, "hls-gone", match={"event": "Opera gala"})
    for path in ("master.m3u8", "72/index.m3u8", "72/init.mp4", "sound/index.m3u8"):
        assert (await read(player, path)).status_code == 404
        assert (await read(player, path, "Regatta")).status_code == 200
    event = await event_of(player)
    assert data(await player.get(f"{EVENTS}/{event['id']}"))["id"] == event["id"]


async def test_a_stalled_playlist_gains_nothing_and_then_all(player: httpx.AsyncClient, simulator: Simulator) -> None:
    fault = await add_fault(player, "hls-stalled")
    before = (await read(player)).content
    simulator.clock.step(60)
    assert (await read(player)).content == before
    data(await player.delete(f"/_control/faults/{fault['id']}"))
    assert numbers(await read(player))[-1] == numbers(httpx.Response(200, content=before))[-1] + 30


async def test_missing_segments_are_listed_and_not_served(player: httpx.AsyncClient) -> None:
    await add_fault(player, "hls-missing", every=3)
    for number in numbers(await read(player)):
        assert (await read(player, f"72/{number}.m4s")).status_code == (200 if number % 3 else 404)
        assert (await read(player, f"sound/{number}.m4s")).status_code == 200


async def test_a_slow_segment_is_whole_and_takes_its_seconds(player: httpx.AsyncClient, simulator: Simulator) -> None:
    path = f"72/{numbers(await read(player))[-1]}.m4s"
    sound = (await read(player, path)).content
    data(await player.post("/_control/clock", json={"speed": 20, "paused": False}))
    await add_fault(player, "hls-slow", seconds=5)
    before = simulator.clock.now()
    assert (await read(player, path)).content == sound
    assert simulator.clock.now() - before >= timedelta(seconds=5)


async def test_a_lost_rung_is_gone_from_the_master_playlist_and_gets_404(player: httpx.AsyncClient) -> None:
    await add_fault(player, "hls-rung")
    assert re.findall(r"RESOLUTION=(\w+)", (await read(player, "master.m3u8")).text) == ["128x72"]
    assert (await read(player, "180/index.m3u8")).status_code == 404
    assert (await read(player, "72/index.m3u8")).status_code == 200
    event = await event_of(player)
    data(await player.put(f"{EVENTS}/{event['id']}", json={"video": {"presets": ["720p"]}}))
    assert re.findall(r"RESOLUTION=(\w+)", (await read(player, "master.m3u8")).text) == ["1280x720"]  # the last stays


async def test_late_segments_have_old_dates_and_the_head_goes_on(
    player: httpx.AsyncClient, simulator: Simulator
) -> None:
    await add_fault(player, "hls-late", seconds=50)
    before = await read(player)
    simulator.clock.step(12)
    after = await read(player)
    assert numbers(after)[-1] == numbers(before)[-1] + 6
    assert times(after)[-1] == times(before)[-1] + timedelta(seconds=12 - 50)


@pytest.mark.parametrize(
    ("kind", "path", "was", "becomes"),
    [
        ("hls-black", "72", loop("stage", 72), loop("black", 72)),
        ("hls-black", "180", loop("stage", 180), loop("black", 180)),
        ("hls-frozen", "72", loop("stage", 72), loop("stage-still", 72)),
        ("hls-silent", "sound", loop("speech"), loop("silence")),
    ],
)
async def test_new_segments_change_and_older_ones_stay(
    *, player: httpx.AsyncClient, simulator: Simulator, kind: str, path: str, was: Loop, becomes: Loop
) -> None:
    await add_fault(player, kind)
    simulator.clock.step(12)
    listed = await read(player, f"{path}/index.m3u8")
    for number, time in zip(numbers(listed), times(listed), strict=True):
        expected = becomes if time >= START else was
        assert (await read(player, f"{path}/{number}.m4s")).content == expected.segment(number)


async def test_a_page_is_in_place_of_the_playlists(player: httpx.AsyncClient) -> None:
    await add_fault(player, "hls-page")
    for path in ("master.m3u8", "72/index.m3u8"):
        page = await read(player, path)
        assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
        assert "#EXTM3U" not in page.text


async def test_an_encrypted_playlist_names_a_key_that_nobody_gets(player: httpx.AsyncClient) -> None:
    await add_fault(player, "hls-encrypted")
    assert '#EXT-X-KEY:METHOD=AES-128,URI="key"' in (await read(player)).text
    assert (await read(player, "72/key")).status_code == 403


@pytest.mark.parametrize("kind", HLS_KINDS)
def test_each_fault_of_hls_has_a_set_of_its_name(kind: str) -> None:
    Simulator(hls=True, faults=kind).close()


def test_every_kind_of_hls_has_a_test_here() -> None:
    tests = Path(__file__).read_text(encoding="utf-8")
    assert [kind for kind in HLS_KINDS if f'"{kind}"' not in tests] == []

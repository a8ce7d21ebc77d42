"""Rounds of many events on a virtual clock: when they start, how often, and what a monitor sees of them."""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
from structlog.testing import capture_logs

from livedeck.client import Misconfigured
from livedeck.monitor import Delivery, Picture, Source, Viewed
from livedeck.probe import prober as module
from livedeck.probe.fetch import Fetcher
from livedeck.probe.plan import Plan
from livedeck.probe.prober import Prober
from livedeck.probe.sight import UNDECODABLE, Sight
from probe.stage import MASTER_WITH_SOUND, SEGMENT, Cdn, Looks
from virtual_clock import VirtualClock

PLAN = Plan("https://cdn.example/{event_id}/master.m3u8")


def events(count: int = 1) -> list[Viewed]:
    return [Viewed(f"event-{number}", f"stream-{number}") for number in range(count)]


@asynccontextmanager
async def running(
    plan: Plan = PLAN, looks: Looks | None = None
) -> AsyncIterator[tuple[Prober, Cdn, Callable[[float], Awaitable[None]]]]:
    """Yield a running prober, its CDN, and a function that lets time pass."""
    clock = VirtualClock()
    cdn = Cdn(clock)
    prober = Prober(plan, Fetcher(cdn, timer=clock.monotonic), clock, looks)
    task = asyncio.create_task(prober.run())

    async def wait(seconds: float) -> None:
        await clock.run(clock.sleep(seconds))

    try:
        yield prober, cdn, wait
    finally:
        task.cancel()
        await asyncio.wait([task])


async def test_nothing_is_asked_before_an_event_is_wanted_and_after_it_is_left() -> None:
    async with running() as (prober, cdn, wait):
        await wait(60)
        assert cdn.asked == []
        prober.want([Viewed("event-0", "s")])
        await wait(60)
        count = len(cdn.asked)
        assert count > 0
        prober.want([])
        await wait(60)
        assert (len(cdn.asked), prober.states()) == (count, {})


async def test_an_event_without_an_address_is_never_asked() -> None:
    async with running(Plan()) as (prober, cdn, wait):
        prober.want(events(3))
        await wait(60)
        assert cdn.asked == []
        state = prober.states()["event-0"]
        assert (state.source, state.as_of, state.error[:10]) == (Source.NONE, None, "no address")


async def test_an_event_has_a_round_each_interval_and_its_master_each_minute() -> None:
    async with running() as (prober, cdn, wait):
        prober.want(events())
        await wait(125)
        times = [at for at, _ in cdn.rounds]
        assert {later - earlier for earlier, later in itertools.pairwise(times)} == {10.0}
        masters = [at for at, address, _ in cdn.asked if address.endswith("master.m3u8")]
        assert len(masters) == 3
        state = prober.states()["event-0"]
        assert (state.delivery, state.host, state.rungs) == (Delivery.PLAYS, "cdn.example", (144, 720))


async def test_each_new_segment_is_asked_for_and_the_newest_alone_is_read() -> None:
    async with running() as (prober, cdn, wait):
        prober.want(events())
        await wait(61)
        low = [(address.rpartition("/")[2], part) for _, address, part in cdn.asked if address.endswith(".ts")]
        whole = {name for name, part in low if not part}
        present = {name for name, part in low if part}
        numbers = sorted(int(name.partition(".")[0]) for name in whole | present)
        assert numbers == [*range(numbers[0], numbers[-1] + 1)]
        assert len(whole) == 7
        assert prober.states()["event-0"].missed == 0


async def test_rounds_of_many_events_are_spread_over_the_interval() -> None:
    async with running(Plan(PLAN.template, budget=1e9)) as (prober, cdn, wait):
        prober.want(events(25))
        await wait(100)
        by_second = Counter(int(at) for at, _ in cdn.rounds if 10 <= at < 90)
        assert sum(by_second.values()) == 8 * 25
        assert max(by_second.values()) <= 3


async def test_events_that_come_and_go_keep_no_other_from_its_rounds() -> None:
    async with running() as (prober, cdn, wait):
        for turn in range(40):
            prober.want(events(3 + turn % 7))
            await wait(3)
        times = [at for at, address in cdn.rounds if "/event-0/" in address]
        assert max(later - earlier for earlier, later in itertools.pairwise(times)) < 15.1


async def test_a_doubted_event_is_asked_more_often_for_a_minute() -> None:
    async with running() as (prober, cdn, wait):
        prober.want(events())
        await wait(30)
        prober.want([events()[0]._replace(is_doubted=True)])
        await wait(50)
        assert prober.states()["event-0"].interval == 4.0
        times = [at for at, _ in cdn.rounds if 34 <= at <= 80]
        assert {round(later - earlier, 3) for earlier, later in itertools.pairwise(times)} == {4.0}
        await wait(60)
        assert prober.states()["event-0"].interval == 10.0
        times = [at for at, _ in cdn.rounds if at > 100]
        assert {round(later - earlier, 3) for earlier, later in itertools.pairwise(times)} == {10.0}


async def test_over_the_budget_rounds_become_rarer_and_the_note_says_so() -> None:
    """A round of an event is 75 kB, so ten of them are 600 kbit/s at 10 s."""
    async with running(Plan(PLAN.template, budget=300_000)) as (prober, cdn, wait):
        prober.want(events(10))
        await wait(200)
        interval = prober.states()["event-0"].interval
        assert 18 < interval < 24
        assert prober.traffic == pytest.approx(300_000)
        cost = "5.5 requests/s, 0.3 Mbit/s, 1.1 GB in 8 h"
        assert prober.note == f"probe 10 of 10: {cost}, every {interval:.0f} s to stay within the budget"
        begin = prober.fetcher.weights["cdn.example"]
        await wait(200)
        assert (prober.fetcher.weights["cdn.example"] - begin) * 8 / 200 < 330_000
        assert len(cdn.rounds) < 300


async def test_the_log_says_the_cost_once_each_event_had_two_rounds_and_again_for_other_events() -> None:
    with capture_logs() as lines:
        async with running() as (prober, _, wait):
            prober.want(events(9))
            await wait(60)
            prober.want(events(8))
            await wait(60)
    runs = [line for line in lines if line["event"] == "the probe runs"]
    assert [line["events"] for line in runs] == [9, 8]
    assert runs[0]["traffic"] == "7.2 requests/s, 0.54 Mbit/s, 1.95 GB in a night of 8 h"


async def test_a_state_without_rounds_for_three_intervals_is_stale() -> None:
    async with running() as (prober, cdn, wait):
        prober.want(events())
        await wait(25)
        cdn.headers["Retry-After"] = "600"
        cdn.faults["low.m3u8"] = (503, b"")
        await wait(12)
        assert (prober.states()["event-0"].delivery, prober.states()["event-0"].is_stale) == (Delivery.GONE, False)
        await wait(31)
        assert prober.states()["event-0"].is_stale


async def test_an_address_that_is_a_page_is_asked_once_a_minute() -> None:
    async with running() as (prober, cdn, wait):
        cdn.faults["master.m3u8"] = (200, b"<html><body>a player</body></html>")
        prober.want(events())
        await wait(200)
        assert prober.states()["event-0"].source is Source.PLAYER_PAGE
        assert len(cdn.asked) <= 5


async def test_a_picture_is_kept_unless_the_event_is_protected() -> None:
    looks = Looks()
    async with running(looks=looks) as (prober, _, wait):
        prober.want(events())
        await wait(30)
        state = prober.states()["event-0"]
        assert (state.picture, state.loudness, len(state.image)) == (Picture.MOVES, -21.0, 64)
        assert prober.picture("event-0") == looks.sight.jpeg
        prober.want([events()[0]._replace(is_protected=True)])
        assert (prober.picture("event-0"), prober.states()["event-0"].image) == (b"", "")
        count = len(looks.seen)
        await wait(30)
        assert (len(looks.seen), prober.picture("event-0")) == (count, b"")


async def test_an_address_that_is_signed_anew_goes_on_and_another_one_begins_anew() -> None:
    addresses = [f"https://cdn.example/gala/master.m3u8?sign={number}" for number in range(2)]
    async with running(Plan(secret={"event-0": addresses[0]})) as (prober, cdn, wait):
        prober.want(events())
        await wait(35)
        prober.replan(Plan(secret={"event-0": addresses[1]}))
        count = len(cdn.asked)
        await wait(10)
        assert (cdn.asked[count][1], prober.states()["event-0"].delivery) == (addresses[1], Delivery.PLAYS)
        prober.replan(Plan(secret={"event-0": "https://cdn.example/other/master.m3u8"}))
        assert prober.states()["event-0"].rounds == 0
        prober.replan(Plan())
        assert prober.states()["event-0"].error[:10] == "no address"
        count = len(cdn.asked)
        await wait(30)
        assert len(cdn.asked) == count


async def test_without_the_extra_the_state_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "is_installed", lambda: False)
    async with running() as (prober, cdn, wait):
        prober.want(events())
        await wait(60)
        assert cdn.asked == []
        assert "pip install '.[probe]'" in prober.states()["event-0"].error
        assert prober.fault() == prober.states()["event-0"].error


async def test_a_segment_that_cannot_be_decoded_is_missing_and_a_dead_decoder_is_a_fault_of_the_probe() -> None:
    looks = Looks(Sight(error=UNDECODABLE))
    async with running(looks=looks) as (prober, _, wait):
        prober.want(events())
        await wait(15)
        state = prober.states()["event-0"]
        assert (state.picture, len(state.missing), prober.fault()) == (Picture.UNKNOWN, 1, "")
        assert UNDECODABLE in state.missing[0]
        looks.sight, looks.blindness = Sight(error="picture unknown: the decoder died"), "the decoder died 3 times"
        await wait(10)
        state = prober.states()["event-0"]
        assert (state.delivery, state.missing, prober.fault()) == (Delivery.PLAYS, (), "the decoder died 3 times")


FAULTS: dict[str, tuple[dict[str, tuple[int, bytes] | str], Delivery, str]] = {
    "gone": ({"low.m3u8": (404, b"")}, Delivery.GONE, "HTTP 404"),
    "refused": ({".m3u8": "no reply (refused)"}, Delivery.GONE, "refused"),
    "a page": ({".m3u8": (200, b"<html>")}, Delivery.GONE, "a page in place of the playlist"),
    "a segment is missing": ({"50.ts": (404, b"")}, Delivery.PLAYS, "segment 150 of 144p: HTTP 404"),
    "a segment is cut off": ({".ts": (200, SEGMENT[:1000])}, Delivery.PLAYS, "cut off in mid-packet"),
    "a rung is missing": ({"high.m3u8": (404, b"")}, Delivery.PLAYS, "720p: HTTP 404"),
}


@pytest.mark.parametrize("name", FAULTS)
async def test_a_fault_is_named_by_the_next_round(name: str) -> None:
    faults, delivery, words = FAULTS[name]
    async with running() as (prober, cdn, wait):
        prober.want(events())
        await wait(95)
        cdn.faults |= faults
        await wait(10)
        state = prober.states()["event-0"]
        assert state.delivery is delivery
        assert words in " ".join([state.error, *state.missing, *state.apart])
        cdn.faults.clear()
        await wait(20)
        state = prober.states()["event-0"]
        assert (state.delivery, state.missing, state.apart, state.error) == (Delivery.PLAYS, (), (), "")


UNPROVEN: dict[str, tuple[str, tuple[int, bytes] | Misconfigured, Delivery, str]] = {
    "a long playlist": (
        "low.m3u8",
        (200, b"#EXTM3U".ljust(2**20 + 1, b"\n")),
        Delivery.UNKNOWN,
        "not read: larger than",
    ),
    "a large segment": (".ts", (200, SEGMENT * 130), Delivery.PLAYS, "segment of 144p: not read: larger than 8 MiB"),
    "a strange segment": (".ts", (200, b"?" * 999), Delivery.PLAYS, "picture unknown: the segment is neither MPEG-TS"),
    "a forbidden rung": ("high.m3u8", Misconfigured("not sent: it is link-local"), Delivery.PLAYS, "720p: not sent"),
    "no segments": ("low.m3u8", (200, b"#EXTM3U\n#EXT-X-TARGETDURATION:2"), Delivery.STALLED, "lists no segment"),
}


@pytest.mark.parametrize("name", UNPROVEN)
async def test_a_reply_that_livedeck_does_not_read_blames_no_host(name: str) -> None:
    end, reply, delivery, words = UNPROVEN[name]
    async with running(looks=Looks()) as (prober, cdn, wait):
        prober.want(events())
        await wait(95)
        cdn.faults[end] = reply
        await wait(10)
        state = prober.states()["event-0"]
    assert (state.delivery, state.missing, state.apart) == (delivery, (), ())
    assert words in state.error


async def test_a_segment_that_left_the_playlist_before_it_was_asked_for_is_not_missing() -> None:
    async with running() as (prober, cdn, wait):
        prober.want(events())
        await wait(95)
        cdn.next_bodies = [cdn.media(150).encode(), cdn.media(154).encode()]
        cdn.faults["/146.ts"] = (404, b"")
        await wait(10)
        state = prober.states()["event-0"]
        assert (state.delivery, state.missing, state.missed) == (Delivery.PLAYS, (), 0)
        assert cdn.next_bodies == []


async def test_a_segment_of_a_playlist_that_was_half_written_is_not_missing() -> None:
    async with running() as (prober, cdn, wait):
        prober.want(events())
        await wait(95)
        cdn.next_bodies = [cdn.media(150).removesuffix("0.ts").encode()]
        cdn.faults["/15"] = (404, b"")
        await wait(10)
        state = prober.states()["event-0"]
        assert (state.delivery, state.missing, state.missed) == (Delivery.PLAYS, (), 0)


@pytest.mark.parametrize(("is_served", "missing"), [(True, ("the sound playlist: HTTP 503",)), (False, ())])
async def test_a_sound_without_a_playlist_is_missing_unless_the_picture_is_gone_too(
    is_served: bool, missing: tuple[str, ...]
) -> None:
    async with running() as (prober, cdn, wait):
        cdn.faults["master.m3u8"] = 200, MASTER_WITH_SOUND
        prober.want(events())
        await wait(95)
        cdn.faults["sound.m3u8"] = 503, b""
        cdn.next_bodies = [] if is_served else [cdn.media(150).encode(), b"<html>"]
        await wait(10)
        state = prober.states()["event-0"]
        assert (state.delivery, state.missing, cdn.next_bodies) == (Delivery.PLAYS, missing, [])


async def test_a_stopped_head_is_stalled_in_the_second_round() -> None:
    async with running() as (prober, cdn, wait):
        prober.want(events())
        await wait(95)
        cdn.head = 147
        await wait(20)
        assert prober.states()["event-0"].delivery is Delivery.STALLED


async def test_a_decoder_that_rests_and_a_missing_package_are_faults_of_the_probe(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with running(looks=Looks(blindness="the decoder died")) as (prober, _, _):
        assert prober.fault() == "the decoder died"
    async with running() as (prober, _, _):
        assert not prober.fault()
        monkeypatch.setattr(module, "is_installed", lambda: False)
        assert prober.fault() == module.NOT_INSTALLED


async def test_a_segment_is_missing_if_its_host_serves_neither_it_nor_the_playlist_again() -> None:
    """The host asks for a pause with its refusal, so this round cannot read the playlist again."""
    async with running() as (prober, cdn, wait):
        prober.want(events())
        await wait(95)
        cdn.headers, cdn.faults[".ts"] = {"Retry-After": "5"}, (503, b"")
        await wait(10)
        assert prober.states()["event-0"].missed > 0


@pytest.mark.parametrize(
    ("reply", "is_reached"),
    [((503, b""), True), ((404, b""), True), ((200, b"<html>log in"), False), ((407, b""), False), ("refused", False)],
)
async def test_a_host_is_reached_by_a_reply_of_its_own(reply: tuple[int, bytes] | str, is_reached: bool) -> None:
    async with running() as (prober, cdn, wait):
        prober.want(events())
        await wait(95)
        assert prober.states()["event-0"].is_reached
        cdn.faults[".m3u8"] = reply
        await wait(10)
        state = prober.states()["event-0"]
        assert (state.delivery, state.is_reached) == (Delivery.GONE, is_reached)

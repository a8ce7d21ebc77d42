"""Scripts in a real Redis: holders, right to write, and refusals."""

from __future__ import annotations

import asyncio
from asyncio import StreamReader, StreamWriter, start_server
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, closing, suppress
from pathlib import Path
from socket import socket
from typing import Any

import pytest
from redis import Redis
from structlog.testing import capture_logs

from client.certificates import make_certificates, needs_openssl
from collector.engine.servers import RedisServer, skip_without_redis
from livedeck.collector.engine.engine import first_in_rank
from livedeck.collector.engine.shared import (
    Claim,
    Held,
    News,
    RefusedError,
    SharedDesk,
    SharedKeys,
    SharedStore,
    SharedStoreError,
    check_address,
)

EVENTS = [f"event-{number}" for number in range(40)]
SPAN = 5000
PATIENT = 60.0
"""Timeout in seconds: a busy test machine must not count as a hung Redis."""

Join = Callable[[str], SharedStore]


@pytest.fixture
async def join(redis_server: RedisServer) -> AsyncIterator[Join]:
    """Function that connects a collector of a name."""
    async with AsyncExitStack() as stack:

        def connect(name: str) -> SharedStore:
            store = SharedStore(redis_server.address, "workspace", name, patience=PATIENT)
            stack.push_async_callback(store.close)
            return store

        yield connect


async def claim(store: SharedStore, *workers: str, events: Mapping[str, Claim] | None = None, late: int = 0) -> Held:
    """Claim events for a worker that knows `workers`; by default, those for which it is first in rank."""
    wanted = events or {event: Claim(first_in_rank(event, workers) == store.worker) for event in EVENTS}
    expected = await store.time_ms() - late
    return await store.claim(wanted, span_ms=SPAN, expected_ms=expected, workers=workers, generation="g")


async def test_what_is_nobodys_goes_to_the_first_in_rank(join: Join) -> None:
    a = join("a")
    assert (await claim(a)).epochs == {}  # it did not know that it is there
    held = await claim(a, "a")
    assert held.workers == ("a",)
    assert sorted(held.epochs) == sorted(EVENTS)


async def test_a_join_moves_one_share_and_leaves_the_rest_as_it_was(join: Join) -> None:
    a, b = join("a"), join("b")
    await claim(a, "a")
    before = await claim(a, "a")
    await claim(b, "b")
    there = await claim(b, "a", "b")
    after = await claim(a, "a", "b")
    assert there.workers == after.workers == ("a", "b")
    assert there.epochs.keys().isdisjoint(after.epochs)
    assert sorted({*there.epochs, *after.epochs}) == sorted(EVENTS)
    assert all(before.epochs[event] == epoch for event, epoch in after.epochs.items())
    assert all(epoch > before.epochs[event] for event, epoch in there.epochs.items())


async def test_who_knows_other_workers_than_there_are_takes_nothing(join: Join) -> None:
    a, b = join("a"), join("b")
    await claim(a, "a")
    await claim(a, "a")
    assert (await claim(b, "b")).epochs == {}
    assert (await claim(b, "a", "b", "c")).epochs == {}
    assert sorted((await claim(a, "a")).epochs) == sorted(EVENTS)  # though its view is old, it renews what it holds


async def test_a_claim_that_comes_late_changes_nothing(join: Join) -> None:
    a = join("a")
    await claim(a, "a")
    with pytest.raises(SharedStoreError, match="too late"):
        await claim(a, "a", late=1500)
    b = join("b")
    with pytest.raises(SharedStoreError, match="too late"):
        await claim(b, "b", late=1500)
    assert (await claim(a, "a")).workers == ("a",)


async def test_what_runs_out_falls_to_who_is_left_and_the_lost_one_is_named(
    join: Join, redis_server: RedisServer
) -> None:
    a, b = join("a/1"), join("b/1")
    await claim(a)
    await claim(a, "a/1")
    with Redis.from_url(redis_server.address) as client:  # long ago
        client.zadd(SharedKeys("workspace")("workers")[0], {"a/1": 1})
        leases = SharedKeys("workspace")("leases")[0]
        client.hset(leases, mapping=dict.fromkeys(EVENTS, "a/1 1 1"))
    held = await claim(b, "b/1")
    assert held.workers == ("b/1",)
    assert held.lost == ("a",)
    assert sorted(held.epochs) == sorted(EVENTS)
    back = await claim(join("a/2"))
    assert back.lost == ()


async def test_a_lease_that_ran_out_long_ago_is_forgotten_and_its_epoch_still_grows(
    join: Join, redis_server: RedisServer
) -> None:
    a = join("a")
    now = await a.time_ms()
    hours_ago = now - 2 * 3_600_000
    (leases,) = SharedKeys("workspace")("leases")
    with Redis.from_url(redis_server.address, decode_responses=True) as client:
        expired = {"gone": f"b {hours_ago} {hours_ago}", "left": f" 0 {hours_ago}"}
        kept = {"lately": f"b {now - 60_000} {hours_ago}", "ahead": f" 0 {now + 60_000}", "odd": "of another version"}
        client.hset(leases, mapping={**expired, **kept})
        await claim(a, events={"@desk": Claim.RENEW})
        assert client.hgetall(leases) == kept
    free = {"gone": Claim.IF_FREE, "odd": Claim.IF_FREE}
    assert all(epoch > hours_ago for epoch in (await claim(a, events=free)).epochs.values())


async def test_who_leaves_is_not_lost_and_epochs_go_on(join: Join) -> None:
    a, b = join("a"), join("b")
    await claim(a, "a")
    before = await claim(a, "a")
    await a.release()
    await claim(b)
    held = await claim(b, "b")
    assert held.lost == ()
    assert all(held.epochs[event] > before.epochs[event] for event in EVENTS)


async def test_what_is_to_stay_with_its_holder_is_taken_only_where_nobody_holds_it(join: Join) -> None:
    a, b = join("a"), join("b")
    if_free = {"@desk": Claim.IF_FREE}
    assert (await claim(a, events={"@desk": Claim.RENEW})).epochs == {}
    first = (await claim(a, events=if_free)).epochs
    assert first
    assert (await claim(b, events=if_free)).epochs == {}
    assert (await claim(a, events={"@desk": Claim.RENEW})).epochs == first
    await a.release()
    assert (await claim(b, events=if_free)).epochs["@desk"] > first["@desk"]


async def test_who_cannot_ask_the_platform_holds_nothing(join: Join) -> None:
    a, b = join("a"), join("b")
    await claim(a, "a")
    await claim(a, "a")
    expected = await a.time_ms()
    blind = await a.claim(
        dict.fromkeys(EVENTS, Claim.BY_RANK),
        span_ms=SPAN,
        expected_ms=expected,
        workers=["a"],
        generation="g",
        is_able=False,
    )
    assert (blind.epochs, blind.workers, blind.lost) == ({}, (), ())
    await claim(b)
    assert sorted((await claim(b, "b")).epochs) == sorted(EVENTS)


async def test_epochs_grow_though_redis_forgot(join: Join, redis_server: RedisServer) -> None:
    a = join("a")
    await claim(a)
    before = await claim(a, "a")
    with Redis.from_url(redis_server.address) as client:
        client.flushall()
    await claim(a)
    after = await claim(a, "a")
    assert all(after.epochs[event] > before.epochs[event] for event in EVENTS)


async def test_only_who_holds_an_event_publishes_it_and_the_woken_one_is_refused(join: Join) -> None:
    a, b = join("a"), join("b")
    await claim(a, "a")
    old = (await claim(a, "a")).epochs
    assert await a.publish([("event-1", old["event-1"], "one")]) == ()
    await claim(b, "b")
    new = (await claim(b, "a", "b")).epochs
    moved = next(iter(new))
    await b.read(0.01)
    assert await a.publish([(moved, old[moved], "stale")]) == (moved,)
    assert await a.publish([(moved, new[moved], "forged")]) == (moved,)
    assert await b.publish([(moved, old[moved], "stale")]) == (moved,)
    assert await b.publish([(moved, new[moved], "fresh")]) == ()
    c = join("c")
    c.start_over()
    assert [(answer.event_id, answer.worker, answer.body) for answer in (await c.read(0.01)).answers] == [
        ("event-1", "a", "one"),
        (moved, "b", "fresh"),
    ]


async def test_what_is_said_is_kept_once_and_heard_by_who_comes_later(join: Join) -> None:
    a, b = join("a"), join("b")
    await a.say({"1": "first", "2": "second"})
    await b.say({"2": "second", "3": "third"})
    assert (await join("c").read(0.01)).rows == ["first", "second", "third"]


async def test_a_reader_goes_on_where_it_stood(join: Join) -> None:
    a, b = join("a"), join("b")
    await claim(a, "a")
    epochs = (await claim(a, "a")).epochs
    assert (await b.read(0.01)).answers == []
    await a.publish([("event-1", epochs["event-1"], "1"), ("event-2", epochs["event-2"], "2")])
    assert [answer.body for answer in (await b.read(0.01)).answers] == ["1", "2"]
    await a.release()
    news = await b.read(0.01)
    assert (news.answers, news.has_left) == ([], True)


async def test_what_another_version_wrote_is_passed_over_and_told_once(join: Join, redis_server: RedisServer) -> None:
    a = join("a")
    assert (await a.read(0.01)).rows == []
    answers, said = SharedKeys("workspace")("answers", "said")
    answer = {"event": "event-1", "by": "b", "epoch": "7", "body": "good"}
    strange: list[dict[Any, Any]] = [
        {"event": "event-1"},
        {**answer, "epoch": "soon"},
        {"retry": "later"},
        {b"\xff": b"\xff", "retry": b"\xfe"},
    ]
    with Redis.from_url(redis_server.address) as client:
        client.xadd(said, {"line": "of another shape"})
        client.xadd(said, {"row": "good"})
        for fields in [*strange, answer]:
            client.xadd(answers, fields)
    with capture_logs() as logs:
        news = await a.read(0.01)
        assert ([answer.body for answer in news.answers], news.rows, news.retry_ms) == (["good"], ["good"], 0)
        assert await a.read(0.01) == News([], [])
    assert len(logs) == 1


async def test_the_platforms_wish_to_wait_reaches_all(join: Join) -> None:
    a, b = join("a"), join("b")
    await b.read(0.01)
    now = await a.time_ms()
    await a.hold_back(30)
    await a.hold_back(5)  # which is no sooner
    assert (await b.read(0.01)).retry_ms - now == pytest.approx(30_000, abs=1000)
    assert (await claim(b)).retry_ms == pytest.approx(30_000, abs=1000)


async def test_only_who_holds_the_desk_keeps_and_marks(join: Join, redis_server: RedisServer) -> None:
    a, b = join("a"), join("b")
    await claim(a, events={"@desk": Claim.BY_RANK})
    epoch = (await claim(a, "a", events={"@desk": Claim.BY_RANK})).epochs["@desk"]
    at_a, at_b = (SharedDesk(redis_server.address, "workspace", name) for name in "ab")
    assert at_a.keep(epoch, 0, 1, "state 1", {"k": "message"})
    assert at_a.keep(epoch, 0, 3, "state 3", {"k": "another"})
    assert not at_a.keep(epoch, epoch, 2, "state 2", {})  # a Redis that hung has carried it out too late
    assert not at_b.keep(epoch, epoch, 9, "forged", {})
    assert (at_b.state(), at_b.messages()) == (("state 3", 3, epoch), {"k": "message"})
    await a.release()
    assert not at_a.keep(epoch, epoch, 4, "stale", {})
    assert not at_a.mark(epoch, {"k": "sent"})
    await claim(b, events={"@desk": Claim.BY_RANK})
    before, epoch = epoch, (await claim(b, "b", events={"@desk": Claim.BY_RANK})).epochs["@desk"]
    assert at_b.mark(epoch, {"k": "sent"})
    assert not at_b.keep(epoch, before - 1, 4, "of before a told", {})
    assert at_b.keep(epoch, before, 4, "state 4", {})
    assert at_a.message("k") == "sent"
    stale, gone, good = (("k", "message", "again"), ("gone", "sent", "again"), ("k", "sent", "waiting"))
    assert at_a.change_unchanged([stale, gone, good]) == 1  # at the word of a person, whoever has the desk
    assert at_a.messages() == {"k": "waiting"}
    assert at_b.mark(epoch, {"k": ""})
    assert at_a.message("k") == ""
    at_a.close()
    at_b.close()


async def test_a_redis_that_hangs_or_is_gone_is_said_within_half_a_second(mortal_server: RedisServer) -> None:
    store = SharedStore(mortal_server.address, "workspace", "a")
    await store.time_ms()
    mortal_server.hang()
    with pytest.raises(SharedStoreError, match="does not reply in time"):
        await store.say({"1": "row"})
    mortal_server.wake()
    await store.say({"2": "row"})
    mortal_server.kill()
    with pytest.raises(SharedStoreError, match="Redis"):
        await store.say({"3": "row"})
    await store.close()


@pytest.mark.parametrize("was_there", [True, False])
@pytest.mark.parametrize(
    "call",
    [
        pytest.param(lambda store: store.faults(), id="faults"),
        pytest.param(lambda store: store.time_ms(), id="time_ms"),
        pytest.param(
            lambda store: store.claim({}, span_ms=SPAN, expected_ms=0, workers=(), generation="g"), id="claim"
        ),
        pytest.param(lambda store: store.release(), id="release"),
        pytest.param(lambda store: store.publish([("event-1", 1, "body")]), id="publish"),
        pytest.param(lambda store: store.say({"1": "row"}), id="say"),
        pytest.param(lambda store: store.hold_back(1.0), id="hold_back"),
        pytest.param(lambda store: store.listen(), id="listen"),
        pytest.param(lambda store: store.read(0.01), id="read"),
    ],
)
async def test_no_call_waits_for_a_redis_that_hangs(
    mortal_server: RedisServer, call: Callable[[SharedStore], Awaitable[object]], was_there: bool
) -> None:
    """Whether its connection was there before, or is being made."""
    store = SharedStore(mortal_server.address, "workspace", "a", patience=0.2)
    if was_there:
        with suppress(SharedStoreError):  # such as a claim that comes late
            await call(store)
    mortal_server.hang()
    async with asyncio.timeout(PATIENT):
        with pytest.raises(SharedStoreError, match="does not reply in time"):
            await call(store)
    mortal_server.wake()
    await store.close()


async def test_what_is_not_fit_for_leases_is_said(join: Join, redis_server: RedisServer) -> None:
    store = join("a")
    assert await store.faults() == []
    with Redis.from_url(redis_server.address) as client:
        client.config_set("maxmemory-policy", "allkeys-lru")
        client.config_set("appendonly", "no")
        try:
            appendonly, policy = await store.faults()
        finally:
            client.config_set("maxmemory-policy", "noeviction")
            client.config_set("appendonly", "yes")
    assert "set `appendonly yes`" in appendonly
    assert "set `maxmemory-policy noeviction`" in policy


async def test_a_user_of_few_rights_is_enough(redis_server: RedisServer) -> None:
    """The user of engine.md, "Safety", may not read the policy, and no fault is reported for that."""
    rules = ["+@all", "-@dangerous", "+info"]
    with Redis.from_url(redis_server.address) as client:
        client.acl_setuser("livedeck", enabled=True, passwords=["+password"], keys=["livedeck:*"], commands=rules)
    store = SharedStore(f"unix://livedeck:password@{redis_server.socket}", "workspace", "a")
    assert await store.faults() == []
    await claim(store, "a")
    epochs = (await claim(store, "a")).epochs
    assert await store.publish([("event-1", epochs["event-1"], "body")]) == ()
    await store.say({"1": "row"})
    await store.hold_back(1)
    await store.read(0.01)
    await store.release()
    await store.close()
    with pytest.raises(SharedStoreError, match="rejects this user or password"):
        await SharedStore(f"unix://livedeck:wrong@{redis_server.socket}", "workspace", "a").time_ms()


@pytest.mark.parametrize("address", ["rediss://r.example?ssl_cert_reqs=none", "rediss://r?ssl_check_hostname=False"])
def test_an_address_whose_certificate_nobody_looks_at_is_refused(address: str) -> None:
    with pytest.raises(ValueError, match="ssl_ca_certs"):
        check_address(address)


async def work_once(address: str) -> None:
    """Call every method of the store once."""
    store, desk = SharedStore(address, "workspace", "a", patience=PATIENT), SharedDesk(address, "workspace", "a")
    check_address(address)
    assert await store.faults() == []
    await claim(store, "a")
    epochs = (await claim(store, "a", events={"event-1": Claim.BY_RANK, "@desk": Claim.BY_RANK})).epochs
    assert await store.publish([("event-1", epochs["event-1"], "body")]) == ()
    await store.say({"1": "row"})
    await store.hold_back(1)
    assert (await store.read(0.01)).rows == ["row"]
    assert desk.keep(epochs["@desk"], 0, 1, "state", {"k": "message"})
    assert (desk.state(), desk.messages()) == (("state", 1, epochs["@desk"]), {"k": "message"})
    await store.release()
    await store.close()
    desk.close()


async def test_a_managed_redis_that_has_no_config_is_enough() -> None:
    skip_without_redis()
    with closing(RedisServer("--rename-command", "CONFIG", "")) as server:
        await work_once(server.address)


async def test_one_node_of_a_cluster_has_all_of_a_workspace() -> None:
    skip_without_redis()
    with closing(RedisServer("--cluster-enabled", "yes")) as server, Redis.from_url(server.address) as client:
        store = SharedStore(server.address, "workspace", "a")
        with pytest.raises(RefusedError, match="slot"):
            await claim(store, "a")
        await store.close()
        client.execute_command("CLUSTER", "ADDSLOTSRANGE", "0", "16383")
        while b"cluster_state:ok" not in client.execute_command("CLUSTER", "INFO"):
            pass
        await work_once(server.address)


@needs_openssl
async def test_a_redis_behind_tls_is_known_by_an_authority_of_ones_own(tmp_path: Path) -> None:
    skip_without_redis()
    made = make_certificates(tmp_path)
    with socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    names = {"cert-file": made.server, "key-file": made.server, "ca-cert-file": made.authority, "auth-clients": "no"}
    options = [word for name, value in names.items() for word in (f"--tls-{name}", str(value))]
    with closing(RedisServer("--tls-port", str(port), *options)):
        await work_once(f"rediss://localhost:{port}?ssl_ca_certs={made.authority}")
        stranger = SharedStore(f"rediss://localhost:{port}", "workspace", "a", patience=PATIENT)
        with pytest.raises(SharedStoreError, match="CERTIFICATE_VERIFY_FAILED"):
            await stranger.time_ms()
        await stranger.close()


async def test_a_redis_that_loads_its_file_says_so() -> None:
    async def load(reader: StreamReader, writer: StreamWriter) -> None:
        while await reader.read(1000):
            writer.write(b"-LOADING Redis is loading the dataset in memory\r\n")
        writer.close()

    async with await start_server(load, "127.0.0.1", 0) as server:
        store = SharedStore(f"redis://127.0.0.1:{server.sockets[0].getsockname()[1]}", "workspace", "a")
        with pytest.raises(SharedStoreError, match="is loading"):
            await store.time_ms()
        await store.close()


@pytest.mark.parametrize("address", ["redis://redis.example:6379", "redis://10.0.0.1", "http://127.0.0.1", "localhost"])
def test_an_address_over_which_all_travels_in_clear_is_refused(address: str) -> None:
    with pytest.raises(ValueError, match=r"rediss://|use rediss"):
        check_address(address)


@pytest.mark.parametrize(
    "address", ["rediss://redis.example", "unix:///run/r.sock", "redis://127.0.0.1", "redis://[::1]:7"]
)
def test_an_address_that_nobody_can_listen_on_is_taken(address: str) -> None:
    check_address(address)


def test_a_worker_that_joins_takes_about_its_share() -> None:
    events = [f"event-{number}" for number in range(3000)]
    before = {event: first_in_rank(event, ["a", "b"]) for event in events}
    after = {event: first_in_rank(event, ["c", "b", "a"]) for event in events}
    moved = [event for event in events if before[event] != after[event]]
    assert {after[event] for event in moved} == {"c"}
    assert 800 < len(moved) < 1200

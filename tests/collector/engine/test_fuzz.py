"""Any data in Redis, nearly valid or random: no reader raises, and valid rows after it are read."""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, Phase, given
from hypothesis import strategies as st
from redis import Redis

from collector.engine.mutants import mutants
from collector.engine.servers import RedisServer
from collector.engine.test_engine import WAIT
from collector.engine.test_spool import room_of
from livedeck.cli.wiring import SystemClock
from livedeck.client import QosSamples
from livedeck.collector.engine.engine import Engine
from livedeck.collector.engine.packets import Row, decode_answer, decode_row, encode_answer, encode_row
from livedeck.collector.engine.rows import SharedRows
from livedeck.collector.engine.shared import SharedDesk, SharedKeys, SharedStore
from livedeck.collector.engine.spool import SharedSpool
from livedeck.monitor import (
    ActionKind,
    AlarmAction,
    AlarmKey,
    Content,
    History,
    HistoryReader,
    IntentRecord,
    ProfileChoice,
    Severity,
    SharedAnswer,
    UsualMark,
)
from livedeck.notify import DEAD, SENT, WAITING, Box, Entry, Outcome, Status
from trials import trials

NOW = SystemClock().now()
_ONE = array("d", [NOW.timestamp()])
_ANSWER = {
    "event": "event-1",
    "by": "b/1",
    "epoch": "7",
    "body": encode_answer(SharedAnswer("event-1", "stream", QosSamples(_ONE, _ONE, _ONE, _ONE, array("q", [0]))), 1),
}


def note() -> AlarmAction:
    """Return a new note of a person."""
    return AlarmAction(uuid4().hex, AlarmKey("e", "K"), NOW, ActionKind.NOTE, NOW, "a@b:1", Severity.INFO, 2, until=NOW)


ROWS: list[Row] = [
    note(),
    UsualMark(NOW, "e", "s", 12.001, "anna@regie:1"),
    ProfileChoice(NOW, "e", Content.RADIO, "anna@regie:1"),
    IntentRecord("i", NOW, "event.complete", "complete", "event", "e", "Show", "anna", "regie", 1),
]

Writing: TypeAlias = tuple[str, str, list[bytes]]
"""Key, the kind of write, and the values to write."""


class Hasty(SystemClock):
    """Clock whose waits last a moment."""

    async def sleep(self, seconds: float) -> None:
        """Return after a moment."""
        await super().sleep(min(seconds, 0.01))


async def kept(server: RedisServer) -> dict[str, str]:
    """Return the notifier's state and a message in the form of a collector."""
    async with room_of(server, "a") as room:
        room.raise_alarm("one")
        await room.look()
        spool = room.spools["a"]
        state = spool.state(room.clock.at)
        entry = Entry(
            Status.FIRING, "life", 0, "e", "NO_INGEST", "", Severity.INFO, "E", "", "a", "b", NOW, 1.0, others=("X",)
        )
        spool.keep(Outcome(replace(state, held={Box("ops", "ops"): (entry,)}), (), ()), room.clock.at)
        desk = SharedDesk(server.address, "workspace", "a/1")
        with closing(desk):
            told, (message,) = desk.state(), desk.messages().values()
            return {"state": told[0], "revision": str(told[1]), "epoch": str(told[2]), "message": message}


@pytest.fixture(scope="module")
def originals(_server: RedisServer) -> dict[str, str]:
    """The contents of `told` and `messages`."""
    return asyncio.run(kept(_server))


@st.composite
def writings(draw: st.DrawFn, originals: dict[str, str]) -> Writing:
    """Generate a write of a stranger, of the type of its key."""

    def mutant(original: str) -> bytes:
        return draw(mutants(original.encode()))

    answered = draw(st.sampled_from([*_ANSWER, "retry", "left"]))
    row = encode_row(draw(st.sampled_from(ROWS)))[1]
    told = draw(st.sampled_from(["state", "state", "state", "revision", "epoch"]))
    event = draw(st.sampled_from([b"@desk", b"event-1", b"x"]))
    score = draw(st.sampled_from([b"inf", b"-1", b"1e300", b"4000000000000"]))
    entry = {name.encode(): text.encode() for name, text in _ANSWER.items()}
    entry[answered.encode()] = mutant(_ANSWER.get(answered, "1"))
    return draw(
        st.sampled_from(
            [
                ("answers", "XADD", [part for pair in entry.items() for part in pair]),
                ("said", "XADD", [b"row", mutant(row)]),
                ("told", "HSET", [told.encode(), mutant(originals[told])]),
                ("messages", "HSET", [mutant("key"), mutant(originals["message"])]),
                ("leases", "HSET", [event, mutant("c/1 17 17")]),
                ("lost", "HSET", [mutant("c"), mutant("17")]),
                ("workers", "ZADD", [score, mutant("c/1")]),
                ("retry", "SET", [mutant("17")]),
                ("generation", "SET", [mutant("17")]),
            ]
        )
    )


def write(client: Redis, batch: Sequence[Writing]) -> None:
    """Write everything into Redis."""
    for name, how, values in batch:
        (key,) = SharedKeys("workspace")(name)
        client.execute_command(how, key, *(["*"] if how == "XADD" else []), *values)  # type: ignore[no-untyped-call]


async def hear(server: RedisServer, client: Redis, folder: Path, batches: Sequence[Sequence[Writing]]) -> None:
    """Start a collector after the first batch, write the second while it works, and check the valid rows."""
    clock, path = Hasty(), folder / "history.sqlite"
    write(client, batches[0])
    store = SharedStore(server.address, "workspace", "a/1", patience=10.0)
    engine = Engine(store, clock, 15.0)
    history, reader = await History.open(path, clock.now()), HistoryReader(path)
    try:
        async with asyncio.timeout(WAIT), asyncio.TaskGroup() as group:
            await engine.join()
            rows = SharedRows(engine, store, history, HistoryReader(path), clock)
            working = [group.create_task(engine.run()), group.create_task(rows.run())]
            for batch in batches:
                write(client, batch)
                said, (answers,) = note(), SharedKeys("workspace")("answers")
                await store.say(dict([encode_row(said)]))
                client.xadd(answers, {"event": said.uid, "by": "b/1", "epoch": "7", "body": _ANSWER["body"]})
                heard, answered = set[str](), set[str]()
                while not (said.uid in heard and said.uid in answered):
                    answered |= {answer.event_id for answer in engine.received()}
                    heard |= {answer.uid for answer in await reader.new_alarm_actions()}
                    await asyncio.sleep(0.005)
            for task in working:
                task.cancel()
        assert not history.fault
    finally:
        await history.close()
        await store.close()


@given(
    body=mutants(_ANSWER["body"].encode()),
    row=st.sampled_from(ROWS).flatmap(lambda row: mutants(encode_row(row)[1].encode())),
)
@trials(3000, suppress_health_check=[HealthCheck.too_slow])
def test_what_is_read_can_be_used_and_all_else_is_one_error(body: bytes, row: bytes) -> None:
    with suppress(ValueError):
        answer = decode_answer("event", body.decode(errors="replace"), 1)
        assert timedelta(seconds=answer.age) >= timedelta()
        assert len([*answer.samples]) == len(answer.samples.status)
    with suppress(ValueError):
        read = decode_row(row.decode(errors="replace"))
        assert read.at < datetime.max.replace(tzinfo=UTC)
        assert encode_row(decode_row(encode_row(read)[1])) == encode_row(read)


@given(data=st.data())
@trials(60, phases=[Phase.generate], suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_whatever_is_there_what_is_good_behind_it_is_heard(
    redis_server: RedisServer, originals: dict[str, str], data: st.DataObject
) -> None:
    many = st.lists(writings(originals), min_size=8, max_size=24)
    batches = data.draw(st.tuples(many, many))
    with Redis.from_url(redis_server.address) as client, TemporaryDirectory() as folder:
        client.flushall()
        asyncio.run(hear(redis_server, client, Path(folder), batches))
        spool = SharedSpool(SharedDesk(redis_server.address, "workspace", "a/1"), lambda: 1)
        with closing(spool):
            for writing in [*batches[0], *batches[1]]:
                write(client, [writing])
                spool.state(NOW)
            for state in (WAITING, SENT, DEAD):
                spool.messages(state)

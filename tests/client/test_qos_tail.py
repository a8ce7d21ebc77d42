"""A reply that repeats the previous one is read from where it continues, with the same result as when read whole."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from client.answers import Platform, api_of, saying
from livedeck.client import ApiError, QosSamples
from livedeck.client.resources import qos
from livedeck.client.resources.qos_tail import continuation, is_plain

ROWS = 700
"""Number of samples in a reply, over 64 KiB."""

_ITEMS = (
    '{"a":1}',
    '{"a":2}',
    '{"b":"]}"}',
    '{"b":"},{"}',
    '{"c":[{}]}',
    '{"c":"\\\\"}',
    "{}",
    "7",
    '"},"',
    "[[]]",
    "null",
)
_AROUND = (
    '{"data":[%s]}',
    '{"data":[%s],"meta":[1]}',
    '{"meta":[1],"data":[%s]}',
    '{"data":[%s] }',
    '{"data":[],"data":[%s]}',
)

items = st.lists(st.sampled_from(_ITEMS), max_size=8)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[bytes, bytes]:
    """Generate two replies, the second mostly a continuation of the first. Some are cut, changed or of another form."""
    first = draw(items)
    second = [*first[draw(st.integers(0, len(first))) :], *draw(items)]
    forms = st.sampled_from((_AROUND[0],) * 8 + _AROUND)
    bodies = [draw(forms) % ",".join(rows) for rows in (first, second)]
    if draw(st.integers(0, 3)) == 0:
        place = draw(st.integers(0, len(bodies[1])))
        bodies[1] = bodies[1][:place] + draw(st.sampled_from([",", "]", "}", "{}", '"', "]}"])) + bodies[1][place:]
    if draw(st.integers(0, 3)) == 0:
        bodies[1] = bodies[1][: draw(st.integers(0, len(bodies[1])))]
    return bodies[0].encode(), bodies[1].encode()


@given(pairs())
def test_a_continuation_is_what_the_whole_answer_says(bodies: tuple[bytes, bytes]) -> None:
    before, body = bodies
    if not is_plain(before):
        return
    known = json.loads(before)
    assert known.keys() == {"data"}
    found = continuation(before, body)
    if found:
        assert json.loads(body) == {"data": known["data"][found.first :] + found.rows}
        assert is_plain(body)


def _sample(second: int, random: Random) -> dict[str, Any]:
    time = f"2026-11-21T{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}.000000Z"
    return {
        "time": time,
        "bitrate_video": random.randint(0, 9_000_000),
        "bitrate_audio": 128_000,
        "frame_rate": 29.97,
        "status": random.choice([0, 0, 3, 5]),
    }


def _hostile(body: str, rows: list[dict[str, Any]], random: Random) -> str:
    """Return the reply as a faulty platform may send it."""
    odd = [dict(row) for row in rows]
    match random.randrange(9):
        case 0:
            return body[:-1]
        case 1:
            return body.replace('{"data":', '{"data":[],"data":', 1)
        case 2:
            return f'{body[:-1]},"meta":[1]}}'
        case 3:
            random.shuffle(odd)
        case 4:
            odd[random.randrange(len(odd))]["status"] = "bad"
        case 5:
            odd[-1]["jitter"] = 4
        case 6:
            odd[random.randrange(len(odd))]["time"] = random.choice(["2026-11-21T12:00:00+02:00", None, 7])
        case 7:
            odd[-1]["bitrate_video"] = random.choice([None, 2**60, True, "4500000"])
        case 8:
            return body.replace("2026", "2025")
    return json.dumps({"data": odd}, separators=(",", ":"))


async def _read(source: Any) -> tuple[Any, ...] | str:
    try:
        samples: QosSamples = await source.qos.get("x")
    except ApiError as error:
        return str(error)
    columns = samples.time, samples.bitrate_video, samples.bitrate_audio, samples.frame_rate, samples.status
    facts = samples.extra, samples.dropped, samples.unreadable
    return (*(column.tobytes() for column in columns), *facts)


@pytest.mark.parametrize("seed", range(6))
async def test_any_sequence_of_answers_reads_like_each_of_them_alone(seed: int) -> None:
    random, body = Random(seed), ""
    rows = [_sample(second, random) for second in range(ROWS)]
    async with api_of(Platform(lambda _path, _query: (200, body.encode(), {}))) as api:
        for _ in range(25):
            rows += [_sample(len(rows) + number, random) for number in range(random.randrange(4))]
            rows = rows[random.choice([0, 0, 1, 3]) :]
            plain = json.dumps({"data": rows}, separators=(",", ":"))
            body = _hostile(plain, rows, random) if random.random() < 0.4 else plain
            async with api_of(saying(body.encode())) as other:
                assert await _read(api) == await _read(other)


async def test_only_what_is_new_is_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed = 0
    parse = qos._parse_samples

    def counted(rows: list[object], summary: str, bits: float) -> QosSamples:
        nonlocal parsed
        parsed += len(rows)
        return parse(rows, summary, bits)

    monkeypatch.setattr(qos, "_parse_samples", counted)
    random = Random(1)
    rows = [_sample(second, random) for second in range(ROWS + 30)]

    def body(_path: str, _query: str) -> tuple[int, bytes, dict[str, str]]:
        return 200, json.dumps({"data": rows[:ROWS]}, separators=(",", ":")).encode(), {}

    async with api_of(Platform(body)) as api:
        for _ in range(10):
            assert len(await api.qos.get("x")) == ROWS
            del rows[:3]
    assert parsed == ROWS + 27

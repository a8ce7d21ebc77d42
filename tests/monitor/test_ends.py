"""An event is gone only if two sources agree, in any order of replies."""

from __future__ import annotations

from typing import Literal, TypeAlias

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from livedeck.monitor.evidence.ends import MOST_ASKED, SAMPLED, Answer, Doubts, EventStanding, Standing
from trials import trials

Step: TypeAlias = tuple[float, Literal["lacks", "lists", "part", "news", "served", "denied", "fails", "waits"]]

QUIET = 8.0
SENDING = EventStanding(Standing.SENDING, QUIET)

steps = st.lists(
    st.tuples(
        st.floats(0.1, 9.0),
        st.sampled_from(["lacks", "lacks", "denied", "denied", "lists", "part", "news", "served", "fails", "waits"]),
    ),
    max_size=40,
)


def played(done: list[Step], known: EventStanding = SENDING) -> list[float]:
    """Return the times at which the event is reported as gone."""
    doubts, now, gone = Doubts(), 0.0, []
    for wait, what in done:
        now += wait
        if what == "lacks":
            doubts.take_list((), {"one": known}, now, None)
        elif what == "lists":
            doubts.take_list(("one",), {"one": known}, now, None)
        elif what == "part":
            doubts.take_part(())
        elif what == "news":
            doubts.take_sample("one", now)
        elif what != "waits":
            answers = {"served": Answer.SERVED, "denied": Answer.NOT_FOUND, "fails": Answer.UNKNOWN}
            doubts.take_answer("one", answers[what], now)
        gone += [now] if "one" in doubts.take_gone(now) else []
    return gone


def agreed(done: list[Step], until: float) -> bool:
    """Return whether both sources lacked the event twice, far enough apart, since its last sign."""
    now, lists, denials, news = 0.0, list[float](), list[float](), -QUIET
    for wait, what in done:
        now += wait
        if now > until:
            break
        if what in {"lists", "news"}:
            lists, denials = [], []
        if what == "served":
            denials = []
        if what == "news":
            news = now
        lists += [now] if what == "lacks" else []
        denials += [now] if what == "denied" else []
    are_apart = bool(lists and denials) and lists[-1] - lists[0] >= 5.0 and denials[-1] - denials[0] >= 4.0
    return are_apart and until - news >= QUIET


@trials(300)
@given(steps)
@example([(1, "lacks"), (0.1, "denied"), (4.5, "denied"), (9, "waits")])  # one list only
@example([(1, "lacks"), (0.1, "denied"), (2, "served"), (3, "lacks"), (1, "denied"), (9, "waits")])
def test_a_sending_event_is_gone_only_if_list_and_id_lack_it_twice_and_no_sample_contradicts(done: list[Step]) -> None:
    for at in played(done):
        assert agreed(done, at)


def test_a_sending_event_that_is_deleted_is_gone_after_both_agree() -> None:
    done: list[Step] = [(1, "lacks"), (0.1, "denied"), (5, "lacks"), (0.1, "denied"), (3, "waits")]
    assert played(done) == [pytest.approx(9.2)]


@pytest.mark.parametrize("missing", ["lacks", "denied"])
def test_one_source_alone_proves_nothing_however_often_it_says_so(missing: Literal["lacks", "denied"]) -> None:
    assert played([(1, "lacks"), *[(5, missing)] * 20] if missing == "lacks" else [(5, missing)] * 20) == []


def test_a_sample_after_both_sources_began_to_lack_the_event_starts_the_proof_again() -> None:
    before: list[Step] = [(1, "lacks"), (0.1, "denied"), (5, "lacks"), (0.1, "news")]
    again: list[Step] = [(9, "lacks"), (0.1, "denied"), (5, "lacks"), (0.1, "denied")]
    assert played([*before, *again]) == [pytest.approx(20.4)]


def test_an_event_off_air_is_gone_with_one_answer() -> None:
    assert played([(1, "lacks"), (0.1, "denied")], EventStanding(Standing.OFF_AIR)) == [pytest.approx(1.1)]


def test_events_on_air_are_asked_first_and_few_of_the_others() -> None:
    doubts = Doubts()
    on_air = {f"on{number}": SENDING for number in range(MOST_ASKED + 50)}
    drafts = {f"off{number}": EventStanding(Standing.OFF_AIR) for number in range(50)}
    doubts.take_list((), {**drafts, **on_air}, 0.0, None)
    asked = list(doubts.asks(1.0))
    assert len(asked) == MOST_ASKED + SAMPLED
    assert all(name.startswith("on") for name in asked[:MOST_ASKED])
    assert doubts.seconds_to_list(1.0) == 1.0
    doubts.take_list((), {**drafts, **on_air}, 2.0, None)
    assert doubts.seconds_to_list(2.0) == 5.0
    for name in asked:
        doubts.take_answer(name, Answer.SERVED, 2.0)
    assert set(doubts.asks(2.0).values()) == {15.0}
    assert doubts.seconds_to_list(2.0) is None
    assert set(doubts.kept(2.0)) == set(asked)

"""State of the Chat screen without a terminal: the reader's place in a growing log, and the choice of a stream."""

from __future__ import annotations

import pytest

from livedeck.client import Event
from livedeck.monitor import KnownStream
from livedeck.ui.chat.state import TAIL_SECONDS, TAIL_SHARE, Following, StreamChoice, StreamList

SIZE = 80, 10


def event(id_: str = "choir", stream: str = "today") -> Event:
    """Return an event, with a current stream unless its id is empty."""
    return Event.model_validate({"id": id_, "stream": {"id": stream} if stream else None})


def streams(*ids: str) -> tuple[KnownStream, ...]:
    """Return streams that the history knows; `today` is the current one."""
    return tuple(KnownStream(id_, "current" if id_ == "today" else "history") for id_ in ids)


def loaded(*ids: str, error: str = "") -> StreamChoice:
    """Return a choice among the streams of the event."""
    choice = StreamChoice()
    choice.show(event())
    assert choice.request(event())
    choice.load(StreamList("choir", "today", streams(*ids), error))
    return choice


def test_the_cursor_follows_the_newest_message_until_a_person_moves_it() -> None:
    following = Following()
    following.show("")
    assert following.cursor == ""
    following.show("4")
    assert following.cursor == "4"
    following.choose("2", "4", count=5)
    following.show("9")
    assert (following.cursor, following.is_following) == ("2", False)


def test_messages_since_the_pause_are_counted_once_for_each_pause() -> None:
    following = Following()
    assert following.unseen(100) == 0
    following.choose("2", "4", count=5)
    assert following.unseen(12) == 7
    following.choose("1", "11", count=12)  # a move within the pause
    assert following.unseen(12) == 7
    following.choose("11", "11", count=12)
    assert (following.is_following, following.unseen(12)) == (True, 0)


def test_a_log_that_became_shorter_has_no_new_messages() -> None:
    following = Following()
    following.choose("2", "4", count=5)
    assert following.unseen(3) == 0


@pytest.mark.parametrize(
    ("size", "position", "is_following"), [(SIZE, 29, False), (SIZE, 30, True), (SIZE, 31, True), ((80, 20), 20, True)]
)
def test_a_scroll_up_pauses_and_a_change_of_size_does_not(
    size: tuple[int, int], position: float, *, is_following: bool
) -> None:
    following = Following()
    following.check_scroll(SIZE, 0, count=5)  # nothing was followed so far
    assert following.is_following
    following.record_scroll(SIZE, 30)
    following.check_scroll(size, position, count=5)
    assert following.is_following is is_following


def test_a_restart_follows_again_from_the_newest_message() -> None:
    following = Following()
    following.record_scroll(SIZE, 30)
    following.choose("2", "4", count=5)
    following.restart()
    assert (following.cursor, following.is_following, following.unseen(50)) == ("", True, 0)
    following.check_scroll(SIZE, 0, count=5)
    assert following.is_following


def test_a_log_that_takes_long_is_read_less_often() -> None:
    following = Following()
    following.begin_read(100.0)
    following.end_read(100.5)
    assert following.interval == TAIL_SECONDS
    assert not following.is_due(100.5 + TAIL_SECONDS - 0.25)
    assert following.is_due(100.5 + TAIL_SECONDS)
    following.begin_read(200.0)
    following.end_read(203.0)
    assert following.interval == 3 * TAIL_SHARE
    assert not following.is_due(203.0 + 3 * TAIL_SHARE - 0.25)


def test_streams_are_requested_once_and_again_for_a_new_current_stream() -> None:
    choice = StreamChoice()
    assert choice.show(event())
    assert not choice.show(event())
    assert choice.request(event())
    assert not choice.request(event())
    assert choice.streams is None
    choice.load(StreamList("choir", "today", streams("today")))
    assert not choice.request(event())
    assert choice.request(event(stream="tonight"))
    choice.load(StreamList("choir", "tonight", streams("tonight", "today")))
    assert choice.show(event("lecture"))
    assert choice.streams is None
    assert choice.request(event("lecture"))


def test_only_an_incomplete_list_is_loaded_again() -> None:
    choice = loaded("today")
    choice.retry()
    assert not choice.request(event())
    choice = loaded("today", error="the platform failed (500)")
    assert choice.error == "the platform failed (500)"
    choice.retry()
    assert (choice.streams, choice.error) == (None, "")
    assert choice.request(event())


def test_the_selected_stream_comes_before_the_current_one_and_that_before_the_newest() -> None:
    choice = loaded("today", "yesterday")
    assert choice.stream(event()) == KnownStream("today", "current")
    assert choice.step(event(), 1)
    assert choice.stream(event()) == KnownStream("yesterday", "history")
    assert choice.step(event(), 1)
    assert choice.stream(event()) == KnownStream("today", "current")
    assert choice.step(event(), -1)
    assert choice.stream(event()) == KnownStream("yesterday", "history")
    assert loaded("yesterday").stream(event(stream="")) == KnownStream("yesterday", "history")


def test_without_known_streams_there_is_none_to_step_to() -> None:
    choice = StreamChoice()
    choice.show(event(stream=""))
    assert choice.stream(event(stream="")) is None
    assert not choice.step(event(stream=""), 1)
    choice.load(StreamList("choir", "", ()))
    assert not choice.step(event(stream=""), 1)


def test_another_event_loses_the_selected_stream() -> None:
    choice = loaded("today", "yesterday")
    choice.step(event(), -1)
    choice.forget()
    assert choice.show(event())
    assert choice.stream(event()) == KnownStream("today", "current")

"""Screen 2: the current stream of every event, its destinations, and its recordings."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from livedeck.client import Recording
from livedeck.monitor import CachedList, IngestState
from livedeck.monitor.detection.phase import IngestEvidence, derive
from livedeck.presentation.streams import STREAMS, window_used
from livedeck.text.segments import plain
from livedeck.ui.streams.view import panel
from presentation.test_events import FRESH, NOW, STALE, state
from ui.deck_stage import deck_stage
from ui.stage import act, known, running, text_of


async def test_streams_are_listed_with_what_the_platform_calls_them_and_lead_to_their_quality() -> None:
    async with running() as (deck, pilot):
        await act(pilot, "screen.streams")
        text = text_of(deck)
        assert "Untitled event" not in text  # a draft has no stream
        assert "14% of 10:00" in text
        assert "rtmps://live.social.example:443/rtmp" in text
        await act(pilot, "row.last")
        await pilot.pause()
        assert "Rehearsal Tuesday" in text_of(deck)
        assert "asking" not in text_of(deck)
        await act(pilot, "row.open")
        assert (deck.current_mode, getattr(deck.selected_event(), "id", "")) == (
            "qos",
            STREAMS.rows(known(deck))[-1].id,
        )


@pytest.mark.parametrize(
    ("gone", "window", "share"),
    [
        (60, 600, 0.1),
        (300, 600, 0.5),
        (600, 600, 1.0),
        (660, 600, 1.0),
        (300, None, None),
        (300, 0, None),
        (300, -1, None),
        (86_400, 10**12, 1 / 366),
        (86_400, 10**400, 1 / 366),
    ],
)
def test_how_much_of_the_window_is_gone(gone: float, window: int | None, share: float | None) -> None:
    """Of as much of it as the phase counts: of a year at most."""
    event = state(reconnect_window=window, stream={"id": "s", "status": "live"}).event
    left = NOW - timedelta(seconds=gone)
    known_state = replace(
        state(), event=event, phase=derive(event, IngestEvidence(NOW, newest=left, is_silent=True), NOW)
    )
    assert known_state.phase.ingest.state is IngestState.INTERRUPTED
    assert window_used(known_state, FRESH) == share


def test_no_window_runs_while_bits_arrive() -> None:
    assert window_used(state(reconnect_window=600), FRESH) is None


def test_recordings_are_unknown_failed_none_or_some() -> None:
    recording = Recording.model_validate({"id": "rec", "title": "Choir", "duration": 3600, "status": "done"})
    shown: dict[str, CachedList[Recording]] = {
        "loading": CachedList(),
        "▲ failed as of 0 s ago the platform is away": CachedList((), NOW, "the platform is away"),
        "none": CachedList((), NOW),
        "recorded as of 0 s ago": CachedList((recording,), NOW),
        "▲ failed as of 0 s ago the platform is gone": CachedList((recording,), NOW, "the platform is gone"),
        "▲ failed no reply yet the platform is away": CachedList(error="the platform is away"),
    }
    for words, recordings in shown.items():
        lines = [plain(line) for line in panel(state(), recordings, FRESH, 120)]
        head = next(" ".join(line.split()) for line in lines if line.startswith(" recorded"))
        assert words in head
        assert ("01:00:00" in "".join(lines)) == bool(recordings.items)


async def test_a_failed_question_keeps_the_recordings_that_were_known_with_their_age() -> None:
    async with deck_stage((120, 40)) as stage:
        await stage.act("screen.streams")
        stage.choose("Rehearsal Tuesday")
        await stage.until(lambda: "recorded as of 0 s ago" in stage.text())
        await stage.fault(kind="drop", method="GET", path="**/videos")
        stage.clock.late = timedelta(seconds=31)
        await stage.act("app.ask")
        await stage.until(lambda: "recorded ▲ failed as of 31 s ago" in stage.text())
        assert "01:31:09 16 Nov" in stage.text()
        await stage.clear_faults()
        stage.clock.late = timedelta()
        await stage.act("app.ask")
        await stage.until(lambda: "recorded as of 0 s ago" in stage.text())


@pytest.mark.parametrize("moment", [FRESH, STALE], ids=["fresh", "stale"])
def test_a_status_that_the_document_does_not_name_is_shown_as_it_came(moment: object) -> None:
    strange = state(stream={"id": "s", "status": "warming"})
    (status,) = [column for column in STREAMS.columns if column.name == "status"]
    assert plain(status.render(strange, FRESH if moment is FRESH else STALE)) == "warming"

"""Events with a probe for a still deck: hand-made states, and JPEGs of one colour each."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from io import BytesIO
from typing import Any

from PIL import Image
from textual.pilot import Pilot

from livedeck.cli.screenshots import EVENING
from livedeck.monitor import Delivery, EventState, Finding, Picture, Severity, Sound, Source, ViewerState
from livedeck.ui.app import Deck
from livedeck.ui.shell.screen import BaseScreen
from livedeck.ui.shell.viewer_pictures import ViewerPictures
from ui.stage import known, show


def ago(seconds: float) -> Any:
    return EVENING - timedelta(seconds=seconds)


PLAYS = ViewerState(
    source=Source.PLAYLIST,
    delivery=Delivery.PLAYS,
    picture=Picture.MOVES,
    sound=Sound.HEARD,
    since=ago(900),
    picture_since=ago(900),
    sound_since=ago(900),
    as_of=ago(4),
    rounds=90,
    latency=8.2,
    loudness=-21.2,
    peaks=(-6.0, -8.0),
    luma=120.0,
    image="red",
    image_at=ago(4),
)
VIEWERS = (
    replace(PLAYS, delivery=Delivery.GONE, since=ago(38), error="404 playlist", peaks=(), image_at=ago(38)),
    replace(PLAYS, picture=Picture.BLACK, picture_since=ago(70), image="black"),
    replace(PLAYS, sound=Sound.SILENT, sound_since=ago(34), peaks=(-60.0, -60.0), image="green"),
    replace(PLAYS, image="blue"),
    replace(PLAYS, image="orange", image_at=ago(22)),
    replace(PLAYS, image="white", image_at=ago(33)),
    replace(PLAYS, image="yellow", image_at=ago(61)),
    ViewerState(source=Source.PLAYER_PAGE),
    ViewerState(source=Source.PLAYLIST),
)
"""Nine states: gone, black, silent, playing, an aged picture, a dim one, one too old, not judged, not asked yet."""


def judged(state: EventState, found: ViewerState) -> EventState:
    """Return an event with this state of viewers, and with its fault as the monitor would judge it."""
    critical: dict[object, str] = {Delivery.GONE: "VIEWER_GONE", Picture.BLACK: "VIEWER_BLACK"}
    warning: dict[object, str] = {Sound.SILENT: "VIEWER_SILENT"}
    states = (found.delivery, found.picture, found.sound)
    faults = [Finding(critical[part], Severity.CRITICAL, "", "") for part in states if part in critical]
    faults += [Finding(warning[part], Severity.WARNING, "", "") for part in states if part in warning]
    others = (finding for finding in state.assessment.findings if not finding.kind.startswith("VIEWER_"))
    findings = (*others, *faults)
    return replace(state, viewer=found, assessment=replace(state.assessment, findings=findings))


def jpeg(colour: str) -> bytes:
    """Return a picture of one colour, as a probe makes it."""
    file = BytesIO()
    Image.new("RGB", (160, 90), colour).save(file, "JPEG")
    return file.getvalue()


def watched(events: Sequence[EventState], viewers: Sequence[ViewerState] = VIEWERS) -> tuple[EventState, ...]:
    """Return an event on air for each of the viewer's states."""
    on_air = [state for state in events if state.phase.tally.expects_signal]
    return tuple(
        judged(
            replace(
                on_air[place % len(on_air)],
                event=on_air[place % len(on_air)].event.model_copy(
                    update={"id": f"event-{place:02}", "name": f"Hall {place + 1}"}
                ),
            ),
            found,
        )
        for place, found in enumerate(viewers)
    )


async def probing(deck: Deck, pilot: Pilot[int], viewers: Sequence[ViewerState] = VIEWERS) -> list[str]:
    """Give the deck events with these states of viewers; return the list that each request for a picture joins."""
    asked: list[str] = []

    async def viewer_picture(event_id: str, /) -> bytes:
        state = known(deck).find(event_id)
        assert state
        assert state.viewer
        asked.append(state.viewer.image)
        return jpeg(state.viewer.image)

    deck.monitor.viewer_picture = viewer_picture  # type: ignore[method-assign]
    await show(deck, pilot, events=watched(known(deck).events, viewers))
    await loaded(deck, pilot)
    return asked


async def loaded(deck: Deck, pilot: Pilot[int]) -> None:
    """Paint the screen, and wait until each picture on it is decoded."""
    if isinstance(deck.screen, BaseScreen):
        deck.screen.refresh_all()
    pictures = deck.state(ViewerPictures)
    while pictures._missing():
        await asyncio.sleep(0)
        await pilot.pause()
    await pilot.pause()

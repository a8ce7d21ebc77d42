"""The Videos screens on a stage: a part of the rehearsal's recording, as the platform has it and as it is shown."""

from __future__ import annotations

from livedeck.ui.videos.library import library_of
from ui.deck_stage import Stage

REHEARSAL = "Rehearsal Tuesday"


async def opened(stage: Stage, part: str) -> str:
    """That part of the rehearsal's recording, asked for and painted; the id of the video."""
    stage.deck.dispatch("screen.videos")
    await stage.settle()
    await asked(stage)
    await stage.act("row.last")
    video = library_of(stage.deck).video
    assert video is not None
    assert video.title == REHEARSAL
    stage.deck.dispatch("part.next", part)
    await stage.settle()
    await asked(stage)
    return video.id


async def asked(stage: Stage) -> None:
    """Until the list in front is answered, and painted."""
    part = stage.deck.current_mode
    await stage.until(lambda: not library_of(stage.deck).known(part).due(stage.clock.now()))
    await stage.settle()


async def agree(stage: Stage) -> None:
    """From Cancel to the other button, and enter; until all is done and shown."""
    await stage.press("tab", "enter")
    await done(stage)


async def fill(stage: Stage, action: str, *typed: str) -> None:
    """The form of that action with this typed into its fields, from the first one on; sent."""
    await stage.act(action)
    for text in typed:
        await stage.enter(text)
        await stage.press("tab")
    await sent(stage)


async def sent(stage: Stage) -> None:
    """The form as it stands; until all is done and shown."""
    await stage.press("ctrl+s")
    await done(stage)


async def done(stage: Stage) -> None:
    """Until no action is under way and the list is asked for anew."""
    await stage.idle()
    if not stage.deck.screen.is_modal:
        await asked(stage)


def words(stage: Stage) -> str:
    """What is written on the screen as one line, whatever is drawn around it and wherever it is broken."""
    return " ".join(stage.text().replace("│", " ").split())

"""A live event that is to be made."""

from __future__ import annotations

from livedeck import wording
from livedeck.client import Api, Event, EventDraft, Progress
from livedeck.ui.acts.act import Act, Target
from livedeck.ui.dialogs.edits import Change

Newest = tuple[Event, ...]
"""The newest events of the workspace."""


def create(api: Api, draft: EventDraft, edits: tuple[Change, ...]) -> Act[Newest]:
    """Make it. Whether it was made shows by an event of that name that was not there before."""

    async def look() -> Newest:
        return (await api.events.list(per_page=100)).items

    async def send(_: Progress) -> Event:
        return await api.events.create(draft)

    def made(before: Newest, after: Newest | None) -> bool:
        known = {event.id for event in before}
        return any(event.id not in known and event.name == draft.name for event in after or ())

    target = Target("event", "", wording.safe(draft.name, 60))
    return Act("event.create", "create", target, (), look, lambda *_: (), lambda *_: None, send, made, edits)

"""Evidence of a drill: the simulator's truth joined with the history of a deck."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import msgspec

from livedeck.drill import truth
from livedeck.drill.truth import Change, Evidence, Starved, Truth
from livedeck.monitor import AlarmRecord, HistoryReads


class _Played(msgspec.Struct):
    """Fields that the control API adds to the truth."""

    now: datetime
    dropped: int
    changes: tuple[Change, ...]


def truth_from(found: Mapping[str, Any]) -> Truth:
    """Return the truth of a scenario from the form of the control API. Raises ValueError for another form."""
    return msgspec.convert(found, Truth)


def check_truth(found: Mapping[str, Any]) -> None:
    """Raise ValueError for anything but the truth of a scenario in the form of the control API."""
    truth_from(found)
    msgspec.convert(found, _Played)


async def evidence_of(
    reader: HistoryReads,
    found: Mapping[str, Any],
    ended: datetime,
    starved: Sequence[Starved] = (),
    person: str = "",
    *,
    announced: Sequence[AlarmRecord] = (),
) -> Evidence:
    """Return the evidence of a drill that has ended.

    Args:
        reader: History of the deck.
        found: Truth of the scenario, with the changes, in the form of the control API.
        ended: End of the drill on the simulator's clock.
        starved: Times in which the machine was too busy.
        person: Name of the person, used if the history has no act of the person.
        announced: Transitions of alarms at the times at which the deck could show them.

    Raises:
        ValueError: `found` has another form.
    """
    played = truth_from(found)
    since = played.began - timedelta(days=1)
    records, events = await reader.alarm_log(since), await reader.events()
    acts = truth.acts_of(await reader.answer_log(since))
    changes = msgspec.convert(found, _Played).changes
    return Evidence(
        truth=played,
        ended=min(ended, played.ends),
        raised=truth.raised_of(records, {event.event_id: event.name for event in events}, announced),
        acts=acts,
        changes=tuple(
            replace(change, ends_event=change.ends_event and truth.was_on_air(events, change.event_id, change.at))
            for change in changes
        ),
        starved=tuple(starved),
        by=acts[0].by if acts else person,
    )

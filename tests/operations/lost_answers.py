"""Every change with every loss of its reply, and the truth by the simulator's store."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import product
from pathlib import Path
from typing import Any

from livedeck.client import (
    AnnotationDraft,
    ApiError,
    EventDraft,
    RelayDraft,
    RoomDraft,
    SubtitleDraft,
    SubtitleFile,
    checked_cues,
)
from livedeck.operations import events
from livedeck.operations.operation import Operation, OperationResult, Verdict
from operations.rig import EVENING, ON_AIR, Rig, rig
from operations.samples import PICTURE, SAMPLES, VTT, Make, recording

ANSWERS: Mapping[str, Mapping[str, object]] = {
    "drop": {"answer": "lost"},
    **{str(status): {"answer": "status", "status": status} for status in (502, 504, 524, 503, 408, 303)},
    "hang": {"answer": "hang"},
    "bad JSON": {"answer": "broken-json"},
}
LANDINGS: Mapping[str, Mapping[str, object]] = {
    "at once": {"lands": "at-once"},
    "12 s": {"lands": "late", "seconds": 12},
    "120 s": {"lands": "late", "seconds": 120},
    "never": {"lands": "never"},
}
HANGING, ANSWERING = 0.4, 10.0
"""Client timeouts, in seconds: for a reply that never comes, and for one that does."""


async def _complete_on_air(platform: Rig) -> Operation[Any]:
    return events.CompleteEvent(await platform.target(ON_AIR))


CHANGES: Mapping[str, Make] = {**SAMPLES, "event.complete (on air)": _complete_on_air}
"""Every operation; `event.complete` twice, because only an event with a stream shows its effect."""


@dataclass(frozen=True)
class Cell:
    """Case: the change, its reply, the time it lands, and whether a colleague works on the same object."""

    change: str
    answer: str
    lands: str
    has_colleague: bool

    def __str__(self) -> str:
        return f"{self.change}, {self.answer}, {self.lands}{', colleague' if self.has_colleague else ''}"


ALL_CELLS = tuple(Cell(*facts) for facts in product(CHANGES, ANSWERS, LANDINGS, (False, True)))


def covering_cells() -> Iterator[Cell]:
    """Every change, and every answer with every landing, with and without a colleague in turn."""
    pairs, names = list(product(ANSWERS, LANDINGS)), list(CHANGES)
    for index in range(max(len(pairs), len(names))):
        answer, lands = pairs[index % len(pairs)]
        yield Cell(names[index % len(names)], answer, lands, index // 4 % 2 == 0)


Documents = dict[str, dict[str, Any]]


class Store:
    """Simulator's data file, read with SQLite."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def documents(self) -> Documents:
        """Return the objects by kind and id."""
        found: Documents = {}
        with closing(sqlite3.connect(f"file:{self._path}?mode=ro", uri=True)) as db:
            for kind, document_id, text in db.execute("SELECT kind, id, json FROM document"):
                found.setdefault(kind, {})[document_id] = json.loads(text)
        return found


Happened = Callable[[Any, Documents, Documents], bool]
"""Function that returns whether the change was made. Its arguments: the operation, the store before, the store now."""


def _event(name: str, value: object) -> Happened:
    return lambda change, _, now: now["event"][change.target.id][name] == value


def _made(kind: str, **fields: object) -> Happened:
    """Return whether an object with these fields was created. The colleague creates none that has all of them."""

    def happened(_: Any, before: Documents, now: Documents) -> bool:
        new = [row for row_id, row in now.get(kind, {}).items() if row_id not in before.get(kind, {})]
        return any(all(row[name] == value for name, value in fields.items()) for row in new)

    return happened


def _gone(kind: str) -> Happened:
    return lambda change, _, now: change.target.id not in now.get(kind, {})


def _room_gone(change: Any, before: Documents, now: Documents) -> bool:
    return bool(now["room"].get(change.target.id) != before["room"][change.target.id])


def _is(kind: str, name: str, value: object) -> Happened:
    return lambda change, _, now: now[kind].get(change.target.id, {}).get(name) == value


def _stream_begins(hours: int) -> Happened:
    begins = f"{EVENING + timedelta(hours=hours):%Y-%m-%dT%H:%M:%S}.000Z"
    return lambda change, _, now: (now["event"][change.target.id]["stream"] or {}).get("started_at") == begins


def _relay(change: Any, _: Documents, now: Documents) -> bool:
    profiles = now["room"][change.relay.room.id]["restreams"]
    return any(profile["id"] == change.target.id and profile["name"] == "Renamed" for profile in profiles)


def _order(kind: str) -> Happened:
    def happened(change: Any, _: Documents, now: Documents) -> bool:
        rows = [now[kind][row_id] for row_id in change.order if row_id in now[kind]]
        return [row["position"] for row in rows] == sorted(row["position"] for row in rows)

    return happened


def _copied(change: Any, before: Documents, now: Documents) -> bool:
    return _made("subtitle", description=change.track.description, language=change.track.language)(change, before, now)


_COMPLETED: Happened = lambda change, _, now: now["event"][change.target.id]["completed_at"] is not None  # noqa: E731

HAPPENED: Mapping[str, Happened] = {
    "event.create": _made("event", name="Lost and found", type="one-time"),
    "event.edit": _event("name", "Renamed"),
    "event.enable": _event("enabled", True),
    "event.complete": _COMPLETED,
    "event.complete (on air)": _COMPLETED,
    "event.move": lambda change, _, now: now["event"][change.target.id]["parent_id"] == change.parent_id,
    "event.delete": _gone("event"),
    "event.poster": _made("poster", source=PICTURE),
    "event.schedule": _stream_begins(1),
    "event.reschedule": _stream_begins(2),
    "room.create": _made("room", name="Board", type="permanent_meeting"),
    "room.delete": _room_gone,
    "relay.edit": _relay,
    "poster.create": _made("poster", from_time=65.5),
    "poster.import": _made("poster", source=PICTURE),
    "poster.activate": _is("poster", "active", True),
    "poster.delete": _gone("poster"),
    "subtitle.upload": _made("subtitle", language="uk", description="Українська"),
    "subtitle.recognise": _made("subtitle", language="fr", description="auto-generated"),
    "subtitle.edit": _is("subtitle", "description", "For the hall"),
    "subtitle.copy": _copied,
    "subtitle.delete": _gone("subtitle"),
    "subtitle.reorder": _order("subtitle"),
    "annotation.create": _made("annotation", title="Bar 118", start_time=90),
    "annotation.edit": _is("annotation", "title", "Bar 119"),
    "annotation.delete": _gone("annotation"),
    "material.upload": _made("material", title="The words"),
    "material.edit": _is("material", "title", "The other words"),
    "material.delete": _gone("material"),
    "material.reorder": _order("material"),
}


async def colleague(platform: Rig, name: str, operation: Any) -> None:
    """Work on the same object, or create a similar one. Ignores refusals."""
    with suppress(ApiError):
        await _COLLEAGUES.get(name, _COLLEAGUES[name.partition(".")[0]])(platform.other, operation, platform)


Work = Callable[[Any, Any, Rig], Awaitable[object]]


async def _other_subtitle(api: Any, language: str, description: str, platform: Rig) -> object:
    file = SubtitleFile("a.uk.vtt", VTT, checked_cues(VTT, "check"))
    return await api.subtitles.upload((await recording(platform)).id, language, description, file)


async def _moved_rows(api: Any, change: Any, _: Rig) -> object:
    return await api.materials.reorder((*change.shown[1:], change.shown[0]))


async def _other_room(api: Any, _: Any, platform: Rig) -> object:
    user = platform.simulator.user_id
    return await api.rooms.create(RoomDraft(owner_id=user, name="Board", type="instant_meeting"))


async def _other_annotation(api: Any, change: Any, _: Rig) -> object:
    draft = AnnotationDraft(type="text", title="Bar 118", start_time=10, end_time=120)
    return await api.annotations.create(change.video.id, draft)


_COLLEAGUES: Mapping[str, Work] = {
    "event": lambda api, change, _: api.events.update(change.target.id, EventDraft(reconnect_window=120)),
    "event.create": lambda api, *_: api.events.create(EventDraft(name="Lost and found", type="recurring")),
    "event.poster": lambda api, change, _: api.posters.upload_for_event(change.target.id, f"{PICTURE}?theirs"),
    "stream": lambda api, change, _: api.streams.schedule(change.target.id, EVENING + timedelta(hours=5)),
    "event.reschedule": lambda api, change, _: api.streams.reschedule(change.target.id, EVENING + timedelta(hours=5)),
    "room": _other_room,
    "relay": lambda api, change, _: api.relays.update(
        change.relay.room.id, change.target.id, RelayDraft(url="rtmp://theirs.example/live")
    ),
    "poster": lambda api, change, _: api.posters.create(change.video.id, 66.0),
    "poster.import": lambda api, change, _: api.posters.upload_for_video(change.video.id, f"{PICTURE}?theirs"),
    "subtitle.upload": lambda api, _, platform: _other_subtitle(api, "uk", "Theirs", platform),
    "subtitle.recognise": lambda api, _, platform: _other_subtitle(api, "fr", "Theirs", platform),
    "subtitle.copy": lambda api, change, platform: _other_subtitle(api, change.track.language, "Theirs", platform),
    "subtitle": lambda api, change, _: api.subtitles.update(
        change.video.id, change.target.id, SubtitleDraft(language="de"), before=change.extra
    ),
    "subtitle.reorder": lambda api, _, platform: _other_subtitle(api, "pl", "Theirs", platform),
    "annotation.create": _other_annotation,
    "annotation": lambda api, change, _: api.annotations.update(
        change.video.id, change.target.id, AnnotationDraft(link="https://theirs.example/")
    ),
    "material": lambda api, change, _: api.materials.rename(change.target.id, "Theirs"),
    "material.upload": lambda api, change, _: api.materials.upload(change.video.id, change.file, "a.txt", "Theirs"),
    "material.reorder": _moved_rows,
}
"""Name of a change, or its first word -> work of the colleague."""


@dataclass
class Outcome:
    """Result of a case: the verdicts in order, the truth at each time, and the number of requests.

    `is_open`: whether it is among the changes without a verdict. `can_show`: whether a read could ever show it.
    """

    cell: Cell
    told: list[tuple[OperationResult, bool]] = field(default_factory=list)
    happened: bool = False
    sent: int = 0
    is_open: bool = False
    can_show: bool = False

    @property
    def verdict(self) -> Verdict:
        """Last verdict."""
        return self.told[-1][0].verdict

    def faults(self) -> list[str]:
        """Return the deviations from the promises of trust.md."""
        found = [f"sent {self.sent} times"] if self.sent != 1 else []
        for result, was_so in self.told:
            if result.verdict in {Verdict.DONE, Verdict.APPLIED} and not was_so:
                found.append(f"{result.verdict}, and it had not happened")
        if self.verdict is Verdict.REFUSED and self.happened:
            found.append("refused, and it happened")
        if self.is_open != (self.verdict is Verdict.UNKNOWN):
            found.append(f"{self.verdict}, {'open' if self.is_open else 'not open'}")
        if self.can_show and self.happened and not self.cell.has_colleague and self.verdict is not Verdict.APPLIED:
            found.append(f"{self.verdict}, though it happened and shows")
        return [f"{self.cell}: {fault}" for fault in found]


async def play(cell: Cell, path: Path) -> Outcome:
    """Run the case to the end of its watch. `path`: a new data file."""
    patience = HANGING if cell.answer == "hang" else ANSWERING
    async with rig(data=path, patience_seconds=patience) as platform:
        operation, outcome, store = await CHANGES[cell.change](platform), Outcome(cell), Store(path)
        before, happened = store.documents(), HAPPENED[cell.change]

        def note(_: Operation[Any], result: OperationResult) -> None:
            outcome.told.append((result, happened(operation, before, store.documents())))

        async def meddle() -> None:
            if cell.has_colleague:
                await colleague(platform, cell.change, operation)

        async def lose_answer() -> None:
            for method in ("POST", "PUT", "PATCH", "DELETE"):
                await platform.fault(kind="late-apply", method=method, **ANSWERS[cell.answer], **LANDINGS[cell.lands])

        platform.executor.notify = note
        platform.ports.before_send += [meddle, lose_answer]
        platform.clock.on_sleep += [platform.calm, meddle]
        await platform.run(operation)
        await platform.executor.wait_watches()
        outcome.sent = len(platform.writes)
        outcome.is_open = bool(platform.executor.open_changes.items)
        platform.simulator.clock.step(600)
        await platform.other.events.list(per_page=1)  # whatever is still on its way lands
        outcome.happened = happened(operation, before, store.documents())
        outcome.can_show = bool(platform.clock.sleeps)
    return outcome

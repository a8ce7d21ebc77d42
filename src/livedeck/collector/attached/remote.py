"""A deck's feed out of a collector: the same snapshots, without a request to the platform (collector.md, "The attached
deck")."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Iterable
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from random import Random
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import structlog

from livedeck.collector.attached.clock import RemoteClock
from livedeck.collector.attached.follower import Follower
from livedeck.collector.attached.link import CollectorAwayError, CollectorError, CollectorRefusedError, Link
from livedeck.collector.protocol.commands import request_of
from livedeck.collector.protocol.wire import Held
from livedeck.monitor import (
    ActionKind,
    Alarm,
    AlarmAction,
    AlarmChange,
    AlarmCommand,
    AlarmKey,
    AlarmRefused,
    AlarmState,
    AlarmTransition,
    Attachment,
    AttachmentState,
    Clock,
    ConnectionProblem,
    ConnectionState,
    ConnectionStatus,
    KnownMaterial,
    Monitor,
    Profile,
    ResourceKey,
    RuleChange,
    Shown,
    Snapshot,
    Thresholds,
    Video,
)
from livedeck.monitor.alarms.engine import AlarmEngine
from livedeck.monitor.alarms.faults import MonitorState
from livedeck.monitor.alarms.lifecycle import change_between
from livedeck.monitor.alarms.ranking import urgent_first
from livedeck.monitor.detection.health import unseen
from livedeck.monitor.kinds.kind import COLLECTOR_SILENT
from livedeck.monitor.model.alarm import DECK
from livedeck.monitor.model.attachment import Silence
from livedeck.monitor.polling.poller import wait_first
from livedeck.monitor.published.codec import SHARED_LISTS, UnreadableSnapshotError, encode_record

SILENT_AFTER, ALONE_AFTER, HEALTHY_AFTER = 12.0, 60.0, 10.0
"""Seconds without a word until nothing that is shown is believed, and until this deck asks the platform itself where
that is set; and of words until it leaves that again."""

_STUCK_AFTER = 60.0
"""Seconds without a snapshot until a collector that is heard is not believed either: it takes itself for stuck then
(collector.md, "Routes")."""

_RINGS = timedelta(seconds=10)
"""How old a change may be that rings: to come back is not to hear the evening again."""

_TICK = 1.0
_INTEREST_SECONDS, _INTEREST_TTL = 10.0, 25.0
_TRIES, _TRY_SECONDS = 3, 1.0
"""Of a command whose answer is lost: it is done once, however often it comes."""

_READ_ONLY = "read-only: this deck has no token of its own for the platform"

_OWN = AlarmKey(DECK, COLLECTOR_SILENT)

_log = structlog.get_logger("livedeck.collector")


@dataclass(slots=True)
class _News:
    """What happened since the last snapshot that was given out."""

    changes: tuple[AlarmChange, ...] = ()
    answers: tuple[AlarmAction, ...] = ()
    rule_changes: tuple[RuleChange, ...] = ()
    bells: tuple[AlarmKey, ...] = ()
    told: tuple[str, ...] = ()

    def add(self, snapshot: Snapshot) -> None:
        """What that one says besides, but for what rings."""
        self.changes += snapshot.changes
        self.answers += snapshot.answers
        self.rule_changes += snapshot.rule_changes


class Remote:
    """The `Feed` of a deck that is attached to a collector. One listener at a time; the collector is followed for as
    long as somebody listens. Commands are done by the collector, which answers for all decks.

    `actor`: who acts here; to the others it is the name of the token. `find_video`: asks the platform for a video, None
    where this deck has no token for it. `make_monitor`: what polls the platform while the collector is silent, None:
    nothing can; `polls_alone`: it does so by itself after a minute.
    """

    def __init__(
        self,
        link: Link,
        clock: Clock,
        *,
        actor: str = "",
        find_video: Callable[[str], Awaitable[Video]] | None = None,
        make_monitor: Callable[[], Monitor] | None = None,
        polls_alone: bool = False,
        random: Random | None = None,
    ) -> None:
        self.clock = RemoteClock(clock)
        self.actor = actor
        self._link, self._find_video = link, find_video
        self._make_monitor, self._polls_alone = make_monitor, polls_alone
        self._follower = Follower(link, self.clock, self._take, random)
        self._own = AlarmEngine(Thresholds())
        self._is_report = False
        self._news, self._changed = _News(told=() if find_video else (_READ_ONLY,)), asyncio.Event()
        self._seq = 0
        self._seen: Snapshot | None = None  # the last that the collector told
        self._told_at = clock.monotonic()  # when that was
        self._alone: Monitor | None = None
        self._alone_last: Snapshot | None = None
        self._alone_task: asyncio.Task[None] | None = None
        self._goes_alone = self._comes_back = False  # as a person has asked for
        self._alone_since, self._alone_ahead = 0.0, timedelta()  # of the collector's clock
        self._unshared: list[AlarmCommand] = []
        self._focus: str | None = None
        self._watched: dict[str, tuple[ResourceKey, ...]] = {}
        self._looks = asyncio.Event()
        self._deck_id = uuid4().hex[:12]
        self._tasks = set[asyncio.Task[None]]()

    # What is seen

    async def snapshots(self) -> AsyncGenerator[Snapshot, None]:
        """All that the collector knows: at once, and whenever it changed; and that it is silent."""
        for work in (self._follower.follow(), self._tell_interest()):
            self._start(work)
        try:
            last = self._compose()
            yield last  # nothing is known yet
            while True:
                await self._wait()
                await self._turn()
                is_news = self._changed.is_set()
                self._changed.clear()
                snapshot = self._compose()
                if is_news or snapshot.attachment != last.attachment or snapshot.changes or snapshot.bells:
                    last = snapshot
                    yield self._numbered(snapshot)
        finally:
            tasks = tuple(self._tasks)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _numbered(self, snapshot: Snapshot) -> Snapshot:
        """As it is given out: the first in which anything is known is number one."""
        self._seq += bool(self._seq or self._follower.held or self._alone_last)
        return replace(snapshot, seq=self._seq)

    async def wait_ready(self, timeout: float = 15.0) -> Snapshot:  # noqa: ASYNC109  counted on the clock passed in
        """The first snapshot that is worth reporting, after `timeout` seconds at most: what the collector knows, or
        that it cannot be asked."""
        self._is_report = True
        await wait_first(self._follower.list_once(), self.clock.sleep(timeout))
        return self._numbered(self._compose())

    async def _wait(self) -> None:
        """Until there is news, or time alone may have changed something. Raises what a task of ours has raised."""
        await wait_first(self._changed.wait(), self.clock.sleep(_TICK))
        for task in tuple(self._tasks):
            if task.done():
                self._tasks.discard(task)
                task.result()

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        self._tasks.add(asyncio.create_task(work))

    def _take(self, held: Held, is_listed: bool) -> None:
        """What is held now: what changed since the last time is kept until somebody is told."""
        before, self._seen = self._seen, held.snapshot
        snapshot = held.snapshot
        if before is None or snapshot.at != before.at:
            is_dated = before is None and self.clock.source is None
            age = (self.clock.now() - snapshot.at).total_seconds() if is_dated else 0.0
            self._told_at = self.clock.monotonic() - max(0.0, age)
        if is_listed:
            self._refill()
        if self._alone:
            return
        if is_listed:
            self._news.changes += _changes_between(before, snapshot)
        else:
            self._news.add(snapshot)
        is_late = self.clock.now() - snapshot.at > _RINGS
        has_rung = is_listed and before is not None and snapshot.at <= before.at
        if not (is_late or has_rung):
            self._news.bells += snapshot.bells
        self._changed.set()

    def _compose(self) -> Snapshot:
        """All that is so now, and what happened since the last time."""
        silence, now = self._silence(), self.clock.now()
        news, self._news = self._news, _News()
        alone = self._alone_last if self._alone else None
        if alone is not None:
            base = alone
        elif self._follower.held is not None:
            base = self._follower.held.snapshot
        else:
            began = self.clock.ago(self._follower.quiet_since)
            base = Snapshot(0, began, ConnectionStatus(ConnectionState.CONNECTING, began))
        if silence and alone is None:
            base = self._blind(base, silence)
        own_changes, own_bells = self._own.step(MonitorState((), _well(now), now, silence=silence))
        alarms = urgent_first((*base.alarms, *self._own.ordered(())), base.events)
        return replace(
            base,
            seq=self._seq,
            at=now if silence else base.at,
            alarms=tuple(alarm for alarm in alarms if alarm.active),
            quiet=(*self._own.inactive(now), *base.quiet),
            changes=(*news.changes, *own_changes),
            answers=news.answers,
            rule_changes=news.rule_changes,
            bells=(*news.bells, *own_bells),
            attachment=self._attachment(silence, news.told),
        )

    def _silence(self) -> Silence | None:
        """That of the collector: it has said nothing for a while, or nothing new for longer, or it refuses to."""
        follower, now = self._follower, self.clock.monotonic()
        is_over = now - follower.quiet_since >= SILENT_AFTER
        is_hopeless = self._is_report and follower.held is None
        if not (is_over or follower.is_refused or is_hopeless):
            if follower.held is None or self._is_report or now - self._told_at < _STUCK_AFTER:
                return None
            since = self.clock.ago(self._told_at)
            return Silence(since, f"the collector has told nothing new since {since:%H:%M:%S}Z")
        since = self.clock.ago(follower.quiet_since)
        if follower.is_refused or is_hopeless:
            return Silence(since, follower.reason or f"{self._link.host} does not answer in time")
        reason = f": {follower.reason}" if follower.reason else ""
        return Silence(since, f"the collector is silent since {since:%H:%M:%S}Z{reason}")

    def _blind(self, seen: Snapshot, silence: Silence) -> Snapshot:
        """What was seen last, of which nothing is believed."""
        problem = (
            ConnectionProblem.COLLECTOR_REFUSES if self._follower.is_refused else ConnectionProblem.COLLECTOR_SILENT
        )
        wait = self._follower.next_try - self.clock.monotonic()
        link = replace(
            seen.link,
            state=ConnectionState.BLIND,
            since=silence.since,
            problem=problem,
            reason=silence.reason,
            next_try=self.clock.now() + timedelta(seconds=wait) if wait > 0 else None,
        )
        return replace(seen, link=link, events=tuple(map(unseen, seen.events)), ended=())

    def _attachment(self, silence: Silence | None, told: tuple[str, ...]) -> Attachment:
        follower = self._follower
        if self._alone:
            state, since = AttachmentState.ALONE, self.clock.ago(self._alone_since)
        elif silence:
            state = AttachmentState.REFUSED if follower.is_refused else AttachmentState.SILENT
            since = silence.since
        else:
            state, since = follower.state, self.clock.ago(follower.since)
        return Attachment(
            state,
            self._link.host,
            since.replace(microsecond=0),
            None if follower.heard is None else self.clock.ago(follower.heard).replace(microsecond=0),
            follower.reason,
            round(self.clock.skew, 0),
            tuple(dict.fromkeys(command.key for command in self._unshared)),
            told,
            follower.actor,
            follower.may,
            frozenset(self._own.alarms),
        )

    # What a person looks at

    def refresh(self) -> None:
        """Something was changed: everything should be asked anew, by whoever asks."""
        if self._alone:
            self._alone.refresh()
        else:
            self._start(self._poke())

    async def _poke(self) -> None:
        with suppress(CollectorError):
            await self._link.post("/v1/poke", {})

    def set_focus(self, event_id: str | None) -> None:
        """Somebody is looking at that event: its samples are wanted more often, and of the whole hour."""
        if event_id != self._focus:
            self._looks.set()
        self._focus = event_id
        if self._alone:
            self._alone.set_focus(event_id)
        self._refill()

    def watch(self, viewer: str, *keys: ResourceKey) -> None:
        """That viewer shows these lists, and no others, from now on."""
        if keys != self._watched.get(viewer, ()):
            self._looks.set()
        self._watched[viewer] = keys
        if self._alone:
            self._alone.watch(viewer, *keys)

    def _refill(self) -> None:
        held, event_id = self._follower.held, self._focus
        if held is not None and event_id and held.snapshot.find(event_id):
            self._start(self._fill(event_id))

    async def _fill(self, event_id: str) -> None:
        try:
            await self._follower.fill(event_id)
        except (CollectorError, UnreadableSnapshotError) as error:
            _log.warning("no samples of the hour", event_id=event_id, reason=str(error))
        else:
            self._changed.set()

    async def _tell_interest(self) -> None:
        """Say what is looked at here, for as long as something is, to a collector that is heard: one that refuses a
        token counts how often it comes."""
        while True:
            await self._looks.wait()
            self._looks.clear()
            if self._follower.state is not AttachmentState.WATCHING:
                await self.clock.sleep(_TICK)
                self._looks.set()
                continue
            keys = {key for keys in self._watched.values() for key in keys if key.kind in SHARED_LISTS}
            body = {"deck": self._deck_id, "focus": self._focus, "lists": [list(key) for key in sorted(keys)[:32]]}
            with suppress(CollectorError):
                await self._link.put("/v1/interest", {**body, "ttl": _INTEREST_TTL})
            if self._focus or keys:
                await wait_first(self._looks.wait(), self.clock.sleep(_INTEREST_SECONDS))
                self._looks.set()

    async def find_video(self, video_id: str) -> Video:
        """The video of that id, which need not be listed. Raises ApiError, NotFound where there is none."""
        return await self._find_video(video_id) if self._find_video else Video(video_id)

    # What a person does

    async def acknowledge(self, key: AlarmKey, shown: Shown | None = None) -> bool:
        """Promise to act on that alarm. False where it needed none. Raises AlarmRefused."""
        return await self._answer(AlarmCommand(key, ActionKind.ACKNOWLEDGE, shown))

    async def unacknowledge(self, key: AlarmKey, shown: Shown | None = None) -> None:
        """Take an own acknowledgement of that alarm back, within `TAKE_BACK_FOR`. Raises AlarmRefused."""
        await self._answer(AlarmCommand(key, ActionKind.UNACKNOWLEDGE, shown))

    async def shelve(self, key: AlarmKey, minutes: float | None, reason: str, shown: Shown | None = None) -> None:
        """Put it out of sight for so many minutes, None: until it is over. Raises AlarmRefused."""
        await self._answer(AlarmCommand(key, ActionKind.SHELVE, shown, minutes, reason))

    async def unshelve(self, key: AlarmKey) -> None:
        """Bring it back in sight. Raises AlarmRefused."""
        await self._answer(AlarmCommand(key, ActionKind.UNSHELVE))

    async def out_of_service(self, key: AlarmKey, reason: str, shown: Shown | None = None) -> None:
        """Put it out of sight until it is put in service again. Raises AlarmRefused."""
        await self._answer(AlarmCommand(key, ActionKind.OUT_OF_SERVICE, shown, None, reason))

    async def in_service(self, key: AlarmKey) -> None:
        """End that. Raises AlarmRefused."""
        await self._answer(AlarmCommand(key, ActionKind.IN_SERVICE))

    async def note(self, key: AlarmKey, text: str, shown: Shown | None = None) -> None:
        """Keep these words beside it. Raises AlarmRefused."""
        await self._answer(AlarmCommand(key, ActionKind.NOTE, shown, None, text))

    async def _answer(self, command: AlarmCommand) -> bool:
        """Have it done by whoever watches. Raises AlarmRefused."""
        command = replace(command, shown=command.shown or self._shown_of(command.key), actor=self.actor)
        if command.key == _OWN:
            answer = self._own.answer(command, self.clock.now(), on_air=False)
        elif self._alone:
            answer = self._alone.carry_out(command)
            shown = command.shown and command.shown._replace(since=command.shown.since - self._alone_ahead)
            self._unshared.append(replace(command, shown=shown))  # as the collector dates it
        elif silence := self._silence():
            raise AlarmRefused(f"nothing can be answered: {silence.reason}")
        else:
            return bool((await self._command(*request_of(command), uid=command.uid)).get("changed", True))
        self._changed.set()
        return answer is not None

    def _shown_of(self, key: AlarmKey) -> Shown:
        """The alarm as it was told last. Raises AlarmRefused."""
        told = (*_alarms_of(self._alone_last if self._alone else self._seen), *self._own.alarms.values())
        for alarm in told:
            if alarm.key == key:
                return Shown(alarm.since, alarm.severity, alarm.stage)
        raise AlarmRefused(f"{key.kind}: there is no such alarm any more")

    async def _command(self, path: str, body: dict[str, Any], uid: str = "") -> dict[str, Any]:
        """What the collector answers. Raises AlarmRefused in its words."""
        for left in reversed(range(_TRIES if uid else 1)):
            try:
                return await self._link.post(path, body, idempotency_key=uid)
            except CollectorRefusedError as refusal:
                raise AlarmRefused(str(refusal)) from None
            except CollectorAwayError as error:
                if not left:
                    lost = "it is not known whether that was taken" if error.was_sent else "that was not taken"
                    raise AlarmRefused(f"{lost}: {error}") from None
            await self.clock.sleep(_TRY_SECONDS)
        raise AssertionError("a last try answers or raises")

    async def take_as_usual(self, event_id: str) -> bool:
        """Judge that event by what it sends now. False where there are no samples. Raises AlarmRefused."""
        if self._alone:
            return await self._alone.take_as_usual(event_id)
        return bool((await self._command(f"/v1/events/{quote(event_id, safe='')}/usual", {})).get("changed", True))

    async def choose_profile(self, event_id: str, profile: Profile | None) -> bool:
        """Say what that event consists of; None: what the settings say. False where that is how it is already. Raises
        AlarmRefused."""
        if self._alone:
            return await self._alone.choose_profile(event_id, profile)
        body = {"profile": profile and profile.value}
        return bool((await self._command(f"/v1/events/{quote(event_id, safe='')}/profile", body)).get("changed", True))

    async def remember_materials(self, *materials: KnownMaterial) -> None:
        """Remember these materials of a video, in this order, behind what is known. Raises AlarmRefused."""
        await self._command("/v1/materials", {"remember": [encode_record(material) for material in materials]})
        self.refresh()

    async def forget_materials(self, *ids: str) -> None:
        """These materials are not there any more. Raises AlarmRefused."""
        await self._command("/v1/materials", {"forget": list(ids)})
        self.refresh()

    # Alone

    @property
    def can_poll(self) -> bool:
        """Whether this deck could ask the platform by itself."""
        return self._make_monitor is not None

    def poll_alone(self) -> None:
        """Ask the platform by oneself from now on, until the collector is well again. Raises AlarmRefused."""
        if self._make_monitor is None:
            raise AlarmRefused("this deck has no token for the platform: nothing to poll it with")
        if self._silence() is None:
            raise AlarmRefused("the collector is heard: it watches for this deck")
        self._goes_alone = True
        self._changed.set()

    def attach_again(self) -> None:
        """Go back to the collector as soon as it is heard, which is tried at once."""
        self._comes_back = True
        self._follower.hurry()
        self._changed.set()

    async def _turn(self) -> None:
        """Begin to poll alone, or end it, where it is time to."""
        follower, now, silence = self._follower, self.clock.monotonic(), self._silence()
        if self._alone is None:
            if self._make_monitor and silence:
                is_due = self._polls_alone and self.clock.now() - silence.since >= timedelta(seconds=ALONE_AFTER)
                if self._goes_alone or is_due:
                    self._begin_alone(self._make_monitor())
            self._goes_alone = self._comes_back = False
        elif silence:
            return
        elif follower.state is AttachmentState.WATCHING and (self._comes_back or now - follower.since >= HEALTHY_AFTER):
            await self._end_alone()

    def _begin_alone(self, monitor: Monitor) -> None:
        self._alone_ahead = monitor.clock.now() - self.clock.now()
        alarms = (alarm for alarm in _alarms_of(self._seen) if alarm.event_id != DECK)
        moved = [alarm.moved(self._alone_ahead.total_seconds()) for alarm in alarms]
        monitor.take_over(moved, self.clock.ago(self._follower.quiet_since) + self._alone_ahead)
        self._alone, self._alone_since, self.clock.source = monitor, self.clock.monotonic(), monitor.clock
        monitor.set_focus(self._focus)
        for viewer, keys in self._watched.items():
            monitor.watch(viewer, *keys)
        self._alone_task = asyncio.create_task(self._pump(monitor))
        self._tasks.add(self._alone_task)
        _log.warning("polling alone")

    async def _pump(self, monitor: Monitor) -> None:
        async with aclosing(monitor.snapshots()) as snapshots:
            async for snapshot in snapshots:
                if snapshot.seq == 0:
                    continue  # nothing was asked yet
                self._alone_last = snapshot
                self._news.add(snapshot)
                self._news.bells += snapshot.bells
                self._changed.set()

    async def _end_alone(self) -> None:
        """Go back: first what was answered meanwhile is shared."""
        self._news.told += await self._share()
        if self._unshared:
            return
        if self._alone_task:
            self._tasks.discard(self._alone_task)
            self._alone_task.cancel()
            await asyncio.gather(self._alone_task, return_exceptions=True)
        if self._alone_last and self._seen:
            self._news.changes += _changes_between(self._alone_last, self._seen)
        self._alone = self._alone_last = self.clock.source = None
        self._changed.set()
        _log.warning("attached again")

    async def _share(self) -> tuple[str, ...]:
        """Have the collector do what was answered here; what it said where it did not."""
        told = []
        while self._unshared:
            command = self._unshared[0]
            path, body = request_of(command)
            try:
                await self._link.post(path, body, idempotency_key=command.uid)
            except CollectorRefusedError as refusal:
                told.append(f"{command.key.kind}: what was answered here was not taken: {refusal}")
            except CollectorAwayError:
                break
            self._unshared.pop(0)
        return tuple(told)


def _alarms_of(snapshot: Snapshot | None) -> Iterable[Alarm]:
    return (*snapshot.alarms, *snapshot.quiet) if snapshot else ()


def _changes_between(before: Snapshot | None, now: Snapshot) -> tuple[AlarmChange, ...]:
    """What has become of alarms while nobody listened, as far as they themselves tell."""
    known = {alarm.key: alarm for alarm in _alarms_of(before)}
    alarms = {alarm.key: alarm for alarm in _alarms_of(now)}
    found = [change_between(known.get(key), alarm, alarm.changed) for key, alarm in alarms.items()]
    over = [
        AlarmChange(now.at, AlarmTransition.CLEARED, _cleared(alarm, now.at))
        for key, alarm in known.items()
        if key not in alarms and alarm.state is not AlarmState.CLEARED
    ]
    return tuple(sorted([*filter(None, found), *over], key=lambda change: change.at))


def _cleared(alarm: Alarm, at: datetime) -> Alarm:
    return replace(alarm, state=AlarmState.CLEARED, present=False, needs_ack=False, changed=at)


def _well(now: datetime) -> ConnectionStatus:
    return ConnectionStatus(ConnectionState.OK, now, as_of=now)

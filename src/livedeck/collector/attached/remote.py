"""Feed of an attached deck: snapshots from the collector (collector.md, "The attached deck")."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Iterable
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from math import inf
from random import Random
from typing import Any
from urllib.parse import quote, urlencode
from uuid import uuid4

from livedeck.collector.attached.clock import SILENT_AFTER, RemoteClock
from livedeck.collector.attached.follower import Follower
from livedeck.collector.attached.link import CollectorAwayError, CollectorError, CollectorRefusedError, Link
from livedeck.collector.protocol.commands import key_text, request_of
from livedeck.collector.protocol.silences import body_of
from livedeck.collector.protocol.wire import Held
from livedeck.log import Log
from livedeck.monitor import (
    ActionKind,
    Alarm,
    AlarmAction,
    AlarmChange,
    AlarmCommand,
    AlarmKey,
    AlarmNotSent,
    AlarmOutcomeUnknown,
    AlarmRefused,
    AlarmState,
    AlarmTransition,
    Attachment,
    AttachmentState,
    BitrateUnit,
    Clock,
    ConnectionProblem,
    ConnectionState,
    ConnectionStatus,
    Content,
    Explanation,
    IntentRecord,
    KnownMaterial,
    Monitor,
    ResourceKey,
    RuleChange,
    Shown,
    SilenceDraft,
    Snapshot,
    Thresholds,
    Verdict,
    Video,
)
from livedeck.monitor import Silence as SilenceOfAlarms
from livedeck.monitor.alarms.engine import AlarmEngine
from livedeck.monitor.alarms.faults import MonitorState
from livedeck.monitor.alarms.lifecycle import change_between
from livedeck.monitor.alarms.ranking import urgent_first
from livedeck.monitor.detection.health import unseen
from livedeck.monitor.evidence.blame import Facts, blame
from livedeck.monitor.evidence.own import BEAT, OwnWatch, Pulse
from livedeck.monitor.kinds.kind import COLLECTOR_SILENT
from livedeck.monitor.model.alarm import DECK
from livedeck.monitor.model.attachment import Silence
from livedeck.monitor.model.own import NotWatched, OwnState, Why
from livedeck.monitor.polling.machine import Machine
from livedeck.monitor.polling.poller import wait_first
from livedeck.monitor.published.codec import (
    SHARED_LISTS,
    UnreadableSnapshotError,
    decode_explanation,
    decode_silence,
    encode_record,
)
from livedeck.text.times import parse_timestamp

ALONE_AFTER, HEALTHY_AFTER = 60.0, 10.0
"""Seconds of silence after which the deck polls alone, and seconds of contact after which it attaches again."""

_STUCK_AFTER = 60.0
"""Seconds without a snapshot after which a reachable collector counts as silent; the same limit as in `/healthz`."""

_RINGS = timedelta(seconds=10)
"""Maximum age of a change that rings, so that a deck does not ring for old changes after a break."""

_MAX_PICTURES = 50
"""Number of newest pictures that are kept, so that none is transferred twice."""

_TICK = 1.0
_INTEREST_SECONDS, _INTEREST_TTL = 10.0, 25.0
_TRIES, _TRY_SECONDS = 3, 1.0
"""Number of tries of a command if its reply is lost, and seconds between them. The command is carried out once."""

_READ_ONLY = "read-only: this deck has no platform token of its own"

_OWN = AlarmKey(DECK, COLLECTOR_SILENT)

_LIMITS = Thresholds()

_log = Log("livedeck.collector")


@dataclass(slots=True)
class _News:
    """Changes, actions and bells since the last snapshot that was yielded.

    `changes`: announced transitions of alarms. `log`: all transitions, as in `Snapshot`. `notices`: texts for the user.
    """

    changes: tuple[AlarmChange, ...] = ()
    log: tuple[AlarmChange, ...] = ()
    answers: tuple[AlarmAction, ...] = ()
    rule_changes: tuple[RuleChange, ...] = ()
    bells: tuple[AlarmKey, ...] = ()
    notices: tuple[str, ...] = ()

    def add(self, snapshot: Snapshot) -> None:
        """Add the changes and actions of a snapshot, but not its bells."""
        self.changes += snapshot.changes
        self.log += snapshot.true_changes
        self.answers += snapshot.alarm_actions
        self.rule_changes += snapshot.rule_changes

    def add_changes(self, changes: tuple[AlarmChange, ...]) -> None:
        """Add transitions of alarms to `changes` and to `log`."""
        self.changes += changes
        self.log += changes


class Remote:
    """`Feed` of a deck that is attached to a collector, which carries out the commands of all decks.

    The deck follows the collector while `snapshots` is iterated. Only one iteration at a time.

    Args:
        link: Requests to the collector.
        clock: Clock of this machine.
        actor: Name of the person at this deck; other decks see the name of the token.
        find_video: Gets a video from the platform; None if this deck has no platform token.
        make_monitor: Returns a monitor that polls the platform while the collector is silent; None if this deck has no
            platform token.
        polls_alone: Begin to poll alone after `ALONE_AFTER` seconds, without a command.
        machine: Measurements of this process, to notice its own stops; None to notice none.
        random: Source of jitter for retries.
        is_rehearsal: True: attach only to a collector that follows a rehearsal. False: only to any other collector.
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
        machine: Machine | None = None,
        random: Random | None = None,
        is_rehearsal: bool = False,
    ) -> None:
        self.clock = RemoteClock(clock, is_rehearsal=is_rehearsal)
        self.actor = actor
        self._link, self._find_video = link, find_video
        self._make_monitor, self._polls_alone = make_monitor, polls_alone
        self._follower = Follower(link, self.clock, self._take, random, self._look)
        self._machine, self._own_watch = machine, OwnWatch()
        self._beat_due = inf  # time of the next pulse (monotonic s)
        self._stopped_until = -inf  # end of the last time that this deck did not watch (monotonic s)
        self._own = AlarmEngine(_LIMITS)
        self._is_report = False
        self._news, self._changed = _News(notices=() if find_video else (_READ_ONLY,)), asyncio.Event()
        self._seq = 0
        self._seen: Snapshot | None = None  # latest snapshot of the collector
        self._seen_at = clock.monotonic()  # time of its arrival
        self._alone: Monitor | None = None
        self._pictures: dict[str, tuple[str, bytes]] = {}  # event id -> ETag and newest picture that viewers get
        self._alone_last: Snapshot | None = None
        self._alone_task: asyncio.Task[None] | None = None
        self._goes_alone = self._comes_back = False  # requests of the user
        self._alone_since, self._alone_ahead = 0.0, timedelta()  # time by which its clock is ahead of the collector's
        self._unshared: list[AlarmCommand] = []
        self._focus: str | None = None
        self._watched: dict[str, tuple[ResourceKey, ...]] = {}
        self._has_interest = asyncio.Event()
        self._deck_id = uuid4().hex[:12]
        self._tasks = set[asyncio.Task[None]]()

    # Snapshots

    async def snapshots(self) -> AsyncGenerator[Snapshot, None]:
        """Yield a snapshot at once, after each change, and when the collector falls silent."""
        for work in (self._follower.follow(), self._send_interest(), self._watch_own()):
            self._start(work)
        try:
            last = self._compose()
            yield last  # still empty
            while True:
                await self._wait()
                self._look()
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
        """Return the snapshot with its number. The first snapshot with data has number 1."""
        self._seq += bool(self._seq or self._follower.held or self._alone_last)
        return replace(snapshot, seq=self._seq)

    async def wait_ready(
        self,
        timeout: float = 15.0,  # noqa: ASYNC109  counted on the clock passed in
        patience: float = 0.0,
    ) -> Snapshot:
        """Return the first snapshot with data. After `timeout` seconds, return a snapshot with the reason for no data.

        `patience`: not used, because the collector polls late streams anyway.
        """
        del patience
        self._is_report = True
        await wait_first(self._follower.list_once(), self.clock.sleep(timeout))
        return self._numbered(self._compose())

    async def _wait(self) -> None:
        """Wait for a change, at most `_TICK` seconds. Raises the exception of a failed background task."""
        await wait_first(self._changed.wait(), self.clock.sleep(_TICK))
        for task in tuple(self._tasks):
            if task.done():
                self._tasks.discard(task)
                task.result()

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        self._tasks.add(asyncio.create_task(work))

    def _take(self, held: Held, is_listed: bool) -> None:
        """Take the follower's copy, and collect its changes and actions for the next snapshot."""
        before, self._seen = self._seen, held.snapshot
        snapshot = held.snapshot
        if before is None or snapshot.at != before.at:
            is_dated = before is None and self.clock.source is None
            age = (self.clock.now() - snapshot.at).total_seconds() if is_dated else 0.0
            self._seen_at = self.clock.monotonic() - max(0.0, age)
        if is_listed:
            self._refill()
        if self._alone:
            return
        if is_listed:
            self._news.add_changes(_changes_between(before, snapshot))
        else:
            self._news.add(snapshot)
        is_late = self.clock.now() - snapshot.at > _RINGS
        has_rung = is_listed and before is not None and snapshot.at <= before.at
        if not (is_late or has_rung):
            self._news.bells += snapshot.bells
        self._changed.set()

    def _compose(self) -> Snapshot:
        """Return the current snapshot, with the changes and actions since the last one."""
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
        elif alone is None:
            base = self._unwatched(base)
        self._own.take_silences(base.silences)
        own_changes, own_bells, _ = self._own.step(MonitorState((), _connected(now), now, silence=silence))
        alarms = urgent_first((*base.alarms, *self._own.ordered(())), base.events)
        return replace(
            base,
            seq=self._seq,
            at=now if silence else base.at,
            alarms=tuple(alarm for alarm in alarms if alarm.active),
            quiet=(*self._own.inactive(now), *base.quiet),
            changes=(*news.changes, *own_changes),
            alarm_actions=news.answers,
            rule_changes=news.rule_changes,
            bells=(*news.bells, *own_bells),
            log=None if news.log == news.changes else (*news.log, *own_changes),
            attachment=self._attachment(silence, news.notices),
        )

    def _silence(self) -> Silence | None:
        """Return the silence of the collector; None while new snapshots arrive. A refusal counts as silence, too."""
        follower, now = self._follower, self.clock.monotonic()
        quiet_since, seen_at = (max(at, self._stopped_until) for at in (follower.quiet_since, self._seen_at))
        is_quiet = now - quiet_since >= SILENT_AFTER
        has_failed = self._is_report and follower.held is None
        if not (is_quiet or follower.is_refused or has_failed):
            if follower.held is None or self._is_report or now - seen_at < _STUCK_AFTER:
                return None
            since = self.clock.ago(seen_at)
            return Silence(since, f"the collector has sent no new data since {since:%H:%M:%S}Z")
        since = self.clock.ago(quiet_since)
        if follower.is_refused or has_failed:
            return Silence(since, follower.reason or f"{self._link.host} does not respond in time")
        reason = f": {follower.reason}" if follower.reason else ""
        return Silence(since, f"the collector has been silent since {since:%H:%M:%S}Z{reason}")

    def _blind(self, seen: Snapshot, silence: Silence) -> Snapshot:
        """Return the last snapshot with everything marked as unknown."""
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
            blame=blame(Facts(silence=silence)),
            next_try=self.clock.now() + timedelta(seconds=wait) if wait > 0 else None,
        )
        return replace(seen, link=link, events=tuple(unseen(state, link.blame) for state in seen.events), ended=())

    def _unwatched(self, seen: Snapshot) -> Snapshot:
        """Return the snapshot with this deck's own stops. After a stop, events are unknown until a newer snapshot."""
        stops = self._own_watch.stops
        if not stops:
            return seen
        link = replace(seen.link, own=replace(seen.link.own, stops=(*seen.link.own.stops, *stops)))
        cause = blame(Facts(own=OwnState(stops), answered=seen.at))
        if not cause.is_own:
            return replace(seen, link=link)
        link = replace(link, state=ConnectionState.FAILING, since=stops[-1].until, blame=cause, reason="")
        at = self.clock.now()
        return replace(seen, at=at, link=link, events=tuple(unseen(state, cause) for state in seen.events), ended=())

    def _look(self) -> None:
        """Record a stop of this process if its next pulse is late."""
        if self._machine and self.clock.monotonic() - self._beat_due >= _LIMITS.unwatched:
            self._note_stop(self._own_watch.pulse(self._pulse(self._machine), self._beat_due, _LIMITS))

    async def _watch_own(self) -> None:
        """Take a pulse of this process every `BEAT` seconds, and record the stops."""
        while self._machine:
            self._beat_due = due = self.clock.monotonic() + BEAT
            await self.clock.sleep(BEAT)
            self._note_stop(self._own_watch.pulse(self._pulse(self._machine), due, _LIMITS))

    def _pulse(self, machine: Machine) -> Pulse:
        load = machine.load()
        return Pulse(self.clock.now(), self.clock.monotonic(), load.used, load.awaited, load.suspended)

    def _note_stop(self, stop: NotWatched | None) -> None:
        """Count the collector's silence from the end of a stop. Request a new listing unless the deck was only slow."""
        if stop is None:
            return
        self._stopped_until = self.clock.monotonic()
        if stop.why is not Why.SLOW:
            _log.warning("not watched", why=stop.why.value, seconds=stop.seconds)
            self._follower.start_over()
            self._changed.set()

    def _attachment(self, silence: Silence | None, notices: tuple[str, ...]) -> Attachment:
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
            notices,
            follower.actor,
            follower.may,
            frozenset(self._own.alarms),
        )

    # Interests

    def refresh(self) -> None:
        """Ask the collector to poll everything at once, because this deck has changed something."""
        if self._alone:
            self._alone.refresh()
        else:
            self._start(self._poke())

    def note_intent(self, intent: IntentRecord) -> None:
        """Note a change that this user is about to send. `AttachedHistory` sends the intent to the collector."""
        if self._alone:
            self._alone.note_intent(intent)

    async def _poke(self) -> None:
        with suppress(CollectorError):
            await self._link.post("/v1/poke", {})

    def set_focus(self, event_id: str | None) -> None:
        """Set the event on the screen: its samples are polled more often, and its last hour of samples is loaded."""
        if event_id != self._focus:
            self._has_interest.set()
        self._focus = event_id
        if self._alone:
            self._alone.set_focus(event_id)
        self._refill()

    def watch(self, viewer: str, *keys: ResourceKey) -> None:
        """Replace the lists that are polled for a viewer."""
        if keys != self._watched.get(viewer, ()):
            self._has_interest.set()
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
            _log.warning("could not load the samples of the last hour", event_id=event_id, reason=str(error))
        else:
            self._changed.set()

    async def _send_interest(self) -> None:
        """Send the interests of this deck (event and lists on the screen) until cancelled, and renew them.

        Sends nothing unless the deck follows the collector: a refused token would count as one more wrong token.
        """
        while True:
            await self._has_interest.wait()
            self._has_interest.clear()
            if self._follower.state is not AttachmentState.WATCHING:
                await self.clock.sleep(_TICK)
                self._has_interest.set()
                continue
            keys = {key for keys in self._watched.values() for key in keys if key.kind in SHARED_LISTS}
            body = {"deck": self._deck_id, "focus": self._focus, "lists": [list(key) for key in sorted(keys)[:32]]}
            with suppress(CollectorError):
                await self._link.put("/v1/interest", {**body, "ttl": _INTEREST_TTL})
            if self._focus or keys:
                await wait_first(self._has_interest.wait(), self.clock.sleep(_INTEREST_SECONDS))
                self._has_interest.set()

    async def find_video(self, video_id: str) -> Video:
        """Return a video by id, even if no list holds it. Raises ApiError; NotFound if it does not exist."""
        return await self._find_video(video_id) if self._find_video else Video(video_id)

    async def viewer_picture(self, event_id: str) -> bytes:
        """Return the newest picture that viewers of an event get, as JPEG; empty without one.

        The collector probes for all of its decks. A picture that this deck has is not transferred again.
        """
        if self._alone:
            return await self._alone.viewer_picture(event_id)
        tag, content = self._pictures.get(event_id, ("", b""))
        try:
            newer = await self._link.get_picture(f"/v1/events/{quote(event_id, safe='')}/picture", tag)
        except CollectorRefusedError:
            self._pictures.pop(event_id, None)
            return b""
        except CollectorAwayError:
            return content
        if newer is None:
            return content
        self._pictures.pop(event_id, None)
        self._pictures[event_id] = newer
        for old in tuple(self._pictures)[:-_MAX_PICTURES]:
            del self._pictures[old]
        return newer[1]

    async def explain(self, event_id: str, kind: str = "") -> Explanation | None:
        """Return the explanation of an event's alarms; None without such an event. `kind`: empty for all kinds.

        Raises AlarmRefused with the reason if the collector does not explain.
        """
        if self._alone:
            return await self._alone.explain(event_id, kind)
        query = urlencode({"kind": kind}) if kind else ""
        try:
            return decode_explanation(await self._link.get(f"/v1/events/{quote(event_id, safe='')}/explain", query))
        except CollectorRefusedError as refusal:
            if refusal.code == "gone":
                return None
            raise AlarmRefused(str(refusal)) from None
        except (CollectorAwayError, UnreadableSnapshotError) as error:
            raise AlarmNotSent(f"not explained: {error}") from None

    # Commands

    async def acknowledge(self, key: AlarmKey, shown: Shown | None = None) -> bool:
        """Acknowledge an alarm. Returns False if it needs no acknowledgement. Raises AlarmRefused."""
        return await self._carry_out(AlarmCommand(key, ActionKind.ACKNOWLEDGE, shown))

    async def close_alarm(self, key: AlarmKey, verdict: Verdict, shown: Shown | None = None) -> bool:
        """Acknowledge an alarm with a verdict. Returns False if it has this verdict already. Raises AlarmRefused."""
        return await self._carry_out(AlarmCommand(key, ActionKind.CLOSE, shown, text=verdict.value))

    async def unacknowledge(self, key: AlarmKey, shown: Shown | None = None) -> None:
        """Take back this user's own acknowledgement, within `TAKE_BACK_FOR`. Raises AlarmRefused."""
        await self._carry_out(AlarmCommand(key, ActionKind.UNACKNOWLEDGE, shown))

    async def shelve(
        self, key: AlarmKey, minutes: float | None, reason: str, shown: Shown | None = None, *, only_this: bool = False
    ) -> None:
        """Shelve an alarm. Raises AlarmRefused.

        `minutes`: minutes that it stays shelved; None until it clears. `only_this`: do not shelve its symptoms.
        """
        kind = ActionKind.SHELVE_ALONE if only_this else ActionKind.SHELVE
        await self._carry_out(AlarmCommand(key, kind, shown, minutes, reason))

    async def unshelve(self, key: AlarmKey) -> None:
        """Unshelve an alarm. Raises AlarmRefused."""
        await self._carry_out(AlarmCommand(key, ActionKind.UNSHELVE))

    async def out_of_service(self, key: AlarmKey, reason: str, shown: Shown | None = None) -> None:
        """Take an alarm out of service, until `in_service` brings it back. Raises AlarmRefused."""
        await self._carry_out(AlarmCommand(key, ActionKind.OUT_OF_SERVICE, shown, None, reason))

    async def in_service(self, key: AlarmKey) -> None:
        """Bring an alarm back into service. Raises AlarmRefused."""
        await self._carry_out(AlarmCommand(key, ActionKind.IN_SERVICE))

    async def note(self, key: AlarmKey, text: str, shown: Shown | None = None) -> None:
        """Attach a note to an alarm. Raises AlarmRefused."""
        await self._carry_out(AlarmCommand(key, ActionKind.NOTE, shown, None, text))

    async def make_link(self, key: AlarmKey, minutes: float | None = None, sender: str = "") -> tuple[str, datetime]:
        """Return a link that acknowledges an alarm, and the link's expiry. Raises AlarmRefused.

        `minutes`: validity; None for an hour. `sender`: name of the sender, put beside the name of the token.
        """
        path = f"/v1/alarms/{key_text(key)}/link"
        found = await self._command(path, {"minutes": minutes, "sender": sender})
        return str(found["link"]), parse_timestamp(str(found["until"]))

    async def _carry_out(self, command: AlarmCommand) -> bool:
        """Send a command to the collector; while this deck polls alone, to its own monitor. Raises AlarmRefused."""
        command = replace(command, shown=command.shown or self._shown_of(command.key), actor=self.actor)
        if command.key == _OWN:
            action = self._own.act(command, self.clock.now(), on_air=False)
        elif self._alone:
            action = self._alone.carry_out(command)
            shown = command.shown and command.shown._replace(since=command.shown.since - self._alone_ahead)
            self._unshared.append(replace(command, shown=shown))  # with the time by the collector's clock
        elif silence := self._silence():
            raise AlarmNotSent(f"alarm actions are not possible: {silence.reason}")
        else:
            return bool((await self._command(*request_of(command), uid=command.uid)).get("changed", True))
        self._changed.set()
        return action is not None

    def _shown_of(self, key: AlarmKey) -> Shown:
        """Return an alarm as this deck shows it. Raises AlarmRefused if the deck shows no such alarm."""
        shown = (*_alarms_of(self._alone_last if self._alone else self._seen), *self._own.alarms.values())
        for alarm in shown:
            if alarm.key == key:
                return Shown(alarm.since, alarm.severity, alarm.stage)
        raise AlarmRefused(f"{key.kind}: the alarm no longer exists")

    async def _command(self, path: str, body: dict[str, Any], uid: str = "") -> dict[str, Any]:
        """Return the collector's reply to a command. `uid`: idempotency key. Raises AlarmRefused with the reason."""
        return await self._tried(lambda: self._link.post(path, body, idempotency_key=uid), _TRIES if uid else 1)

    async def _tried(self, ask: Callable[[], Awaitable[dict[str, Any]]], tries: int) -> dict[str, Any]:
        """Return the collector's reply to a request, after up to `tries` tries. Raises AlarmRefused with the reason."""
        for left in reversed(range(tries)):
            try:
                return await ask()
            except CollectorRefusedError as refusal:
                raise AlarmRefused(str(refusal)) from None
            except CollectorAwayError as error:
                if not left:
                    if error.was_sent:
                        raise AlarmOutcomeUnknown(f"unknown whether the action was done: {error}") from None
                    raise AlarmNotSent(f"not done: {error}") from None
            await self.clock.sleep(_TRY_SECONDS)
        raise AssertionError("the last try returns or raises")

    async def add_silence(self, draft: SilenceDraft) -> SilenceOfAlarms:
        """Add a silence, and return it. Raises AlarmRefused."""
        return await self._change_silence(
            lambda: self._link.post("/v1/silences", body_of(draft), idempotency_key=draft.uid)
        )

    async def extend_silence(self, silence_id: str, seconds: float) -> SilenceOfAlarms:
        """Extend a silence, and return it. Raises AlarmRefused."""
        path, uid = f"/v1/silences/{quote(silence_id, safe='')}", uuid4().hex
        return await self._change_silence(lambda: self._link.post(path, {"seconds": seconds}, idempotency_key=uid))

    async def end_silence(self, silence_id: str) -> SilenceOfAlarms:
        """End a silence, or cancel a planned one, and return it. Raises AlarmRefused."""
        path, uid = f"/v1/silences/{quote(silence_id, safe='')}", uuid4().hex
        return await self._change_silence(lambda: self._link.delete(path, idempotency_key=uid))

    async def _change_silence(self, ask: Callable[[], Awaitable[dict[str, Any]]]) -> SilenceOfAlarms:
        """Return the silence in the collector's reply to a request. Raises AlarmRefused."""
        if silence := self._silence():
            raise AlarmNotSent(f"silences are not possible: {silence.reason}")
        try:
            return decode_silence((await self._tried(ask, _TRIES)).get("silence", {}))
        except UnreadableSnapshotError as error:
            raise AlarmOutcomeUnknown(f"unknown whether the silence was changed: {error}") from None

    async def take_as_usual(self, event_id: str) -> bool:
        """Make the current values of an event its baseline. Returns False without samples. Raises AlarmRefused."""
        if self._alone:
            return await self._alone.take_as_usual(event_id)
        return bool((await self._command(f"/v1/events/{quote(event_id, safe='')}/usual", {})).get("changed", True))

    async def choose_content(self, event_id: str, content: Content | None) -> bool:
        """Set the content of an event; None for the content in the settings. Returns False if nothing changes.

        Raises AlarmRefused.
        """
        if self._alone:
            return await self._alone.choose_content(event_id, content)
        body = {"content": content and content.value}
        return bool((await self._command(f"/v1/events/{quote(event_id, safe='')}/content", body)).get("changed", True))

    async def choose_unit(self, unit: BitrateUnit) -> bool:
        """Set the unit of the platform's bit rates. Returns False if nothing changes. Raises AlarmRefused."""
        if self._alone:
            return await self._alone.choose_unit(unit)
        return bool((await self._command("/v1/unit", {"unit": unit.value})).get("changed", True))

    async def remember_materials(self, *materials: KnownMaterial) -> None:
        """Store materials of a video, in this order, after those stored earlier. Raises AlarmRefused."""
        await self._command("/v1/materials", {"remember": [encode_record(material) for material in materials]})
        self.refresh()

    async def forget_materials(self, *ids: str) -> None:
        """Forget deleted materials. Raises AlarmRefused."""
        await self._command("/v1/materials", {"forget": list(ids)})
        self.refresh()

    # Polling alone

    @property
    def can_poll(self) -> bool:
        """True if this deck can poll the platform itself."""
        return self._make_monitor is not None

    def poll_alone(self) -> None:
        """Poll the platform until the collector is back. Raises AlarmRefused."""
        if self._make_monitor is None:
            raise AlarmRefused("this deck cannot poll alone: it has no platform token")
        if self._silence() is None:
            raise AlarmRefused("not needed: the collector responds, and polls for this deck")
        self._goes_alone = True
        self._changed.set()

    def attach_again(self) -> None:
        """Retry the collector at once, and return to it as soon as it responds."""
        self._comes_back = True
        self._follower.hurry()
        self._changed.set()

    async def _turn(self) -> None:
        """Begin to poll alone after `ALONE_AFTER`, and end it after `HEALTHY_AFTER`, or when the user asks."""
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
        ahead = self._alone_ahead.total_seconds()
        monitor.take_silences([silence.moved(ahead) for silence in (self._seen.silences if self._seen else ())])
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
                    continue  # nothing polled yet
                self._alone_last = snapshot
                self._news.add(snapshot)
                self._news.bells += snapshot.bells
                self._changed.set()

    async def _end_alone(self) -> None:
        """Send the alarm actions that were made while polling alone, then return to the collector."""
        self._news.notices += await self._share()
        if self._unshared:
            return
        if self._alone_task:
            self._tasks.discard(self._alone_task)
            self._alone_task.cancel()
            await asyncio.gather(self._alone_task, return_exceptions=True)
        if self._alone_last and self._seen:
            self._news.add_changes(_changes_between(self._alone_last, self._seen))
        self._alone = self._alone_last = self.clock.source = None
        self._changed.set()
        _log.warning("attached again")

    async def _share(self) -> tuple[str, ...]:
        """Send unshared alarm actions to the collector, and return a notice for each that it refuses."""
        notices = []
        while self._unshared:
            command = self._unshared[0]
            path, body = request_of(command)
            try:
                await self._link.post(path, body, idempotency_key=command.uid)
            except CollectorRefusedError as refusal:
                notices.append(f"{command.key.kind}: your action at this deck was refused: {refusal}")
            except CollectorAwayError:
                break
            self._unshared.pop(0)
        return tuple(notices)


def _alarms_of(snapshot: Snapshot | None) -> Iterable[Alarm]:
    return (*snapshot.alarms, *snapshot.quiet) if snapshot else ()


def _changes_between(before: Snapshot | None, now: Snapshot) -> tuple[AlarmChange, ...]:
    """Return the transitions of alarms between two snapshots, by comparing their alarms."""
    earlier = {alarm.key: alarm for alarm in _alarms_of(before)}
    alarms = {alarm.key: alarm for alarm in _alarms_of(now)}
    found = [change_between(earlier.get(key), alarm, alarm.changed) for key, alarm in alarms.items()]
    cleared = [
        AlarmChange(now.at, AlarmTransition.CLEARED, _cleared(alarm, now.at))
        for key, alarm in earlier.items()
        if key not in alarms and alarm.state is not AlarmState.CLEARED
    ]
    return tuple(sorted([*filter(None, found), *cleared], key=lambda change: change.at))


def _cleared(alarm: Alarm, at: datetime) -> Alarm:
    return replace(alarm, state=AlarmState.CLEARED, present=False, needs_ack=False, changed=at)


def _connected(now: datetime) -> ConnectionStatus:
    return ConnectionStatus(ConnectionState.OK, now, as_of=now)


async def silences_of(link: Link) -> tuple[SilenceOfAlarms, ...]:
    """Return the silences of a collector that run or are planned. Raises CollectorError."""
    values = (await link.get("/v1/silences")).get("silences", [])
    try:
        return tuple(map(decode_silence, values))
    except UnreadableSnapshotError as error:
        raise CollectorAwayError(f"{link.host}: {error}") from None

"""Monitor loop: poll, judge and yield snapshots as long as somebody listens."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from math import inf
from random import Random
from typing import TypeVar
from uuid import uuid4

from livedeck.client import MAX_PER_PAGE, Api, ApiError, Event, PagedItems, RateLimited, collect
from livedeck.log import Log
from livedeck.monitor.alarms import silencing
from livedeck.monitor.alarms.engine import AlarmEngine, ids_on_air
from livedeck.monitor.alarms.faults import MonitorState, drop_unproven
from livedeck.monitor.alarms.operator import AlarmRefused
from livedeck.monitor.alarms.ranking import worst_first
from livedeck.monitor.evidence.own import BEAT, OwnWatch, Pulse
from livedeck.monitor.evidence.playlists import with_witness
from livedeck.monitor.evidence.workspace import check_workspace
from livedeck.monitor.history import History, HistoryReader
from livedeck.monitor.model.alarm import Alarm, AlarmKey, Shown
from livedeck.monitor.model.alarm_action import ActionKind, AlarmAction, AlarmCommand, Verdict
from livedeck.monitor.model.explanation import Explanation
from livedeck.monitor.model.limits import Limits, LimitsError, LimitsSource, RuleChange
from livedeck.monitor.model.own import NotWatched, Why
from livedeck.monitor.model.records import ATTRIBUTED_FOR, ENDING_ACTIONS, IntentRecord, ending_actors
from livedeck.monitor.model.resources import KnownMaterial, ResourceKey, ResourceKind, Video
from livedeck.monitor.model.ruling import LIVEDECK, ProfileChoice, Ruling, Rulings, UnitChoice, UsualMark
from livedeck.monitor.model.silence import MaintenanceWindow, Silence, SilenceDraft
from livedeck.monitor.model.snapshot import Snapshot
from livedeck.monitor.model.state import Clock, ConnectionState, EventState, NotifyFault, Proof
from livedeck.monitor.model.thresholds import Cadence, Content
from livedeck.monitor.model.unit import BitrateUnit
from livedeck.monitor.polling import connection
from livedeck.monitor.polling.after_end import EndedStreams
from livedeck.monitor.polling.losses import CallTally, LossMeter, is_passing
from livedeck.monitor.polling.machine import Load, Machine
from livedeck.monitor.polling.on_demand import ResourceCache
from livedeck.monitor.polling.pace import Pace
from livedeck.monitor.polling.playlists import wanted
from livedeck.monitor.polling.poller import EventList, Poller, PollPayload, PollResult, RoundDebounce, wait_first
from livedeck.monitor.polling.schedule import (
    LIST,
    PROBE,
    PollKey,
    PollSchedule,
    PollSpec,
    is_on_platform,
    schedule_events,
    with_asks,
)
from livedeck.monitor.polling.steady_clock import SteadyClock
from livedeck.monitor.shares import SharedPolls, Shares
from livedeck.monitor.tracker import ClockReading, LinkMeasure, WorldTracker
from livedeck.monitor.viewer import Viewer

_MIN_REST = 0.01
"""Minimum seconds between two rounds, because rounding errors in the times of calls would make empty rounds."""

_RESTORE_SECONDS = 10.0
"""Seconds between two attempts to restore alarms from a history that fails; each attempt may block for a while."""

_ACTION_SECONDS = 0.5
"""Seconds between two reads of other decks' alarm actions (monitoring.md, "Shared alarms")."""

_ANALYSIS_SECONDS = 0.5
"""Maximum seconds of analysis between two snapshots after a change of rules; an hour of samples takes 0.1 s."""

PATIENCE = 10.0
"""Seconds from the start of a report during which it polls late streams again."""

_MIN_LATE = 1.0
"""Minimum seconds between two polls of a late stream in a report."""

_MAX_NAMED = 6
"""Maximum number of changed limits named in one line."""

_MAX_SILENCES = 1000
"""Number of newest rows of silences remembered by uid, so that a repeated command is not carried out twice."""

_MAX_FOCUS = 8
"""Maximum number of events in focus at a time, so that many viewers do not load the platform."""


_EXPECTED_FOR = timedelta(minutes=10)
"""A monitor that starts expects an event in the list if its newest recorded sample is at most this old."""

T = TypeVar("T")

_log = Log("livedeck.monitor")


class Monitor:
    """`Feed` that polls and judges every event of the workspace itself.

    Only one listener at a time may call `snapshots()` or `wait_ready()`, because both poll the platform. An alarm
    action makes a new snapshot at once, without a poll.

    Args:
        api: Client of the platform, with samples as the platform sends them. The caller closes it.
        clock: Clock of this machine.
        limits: Limits for judging events.
        cadence: Poll intervals.
        random: Source of jitter for the times of calls.
        limits_source: Source of limits that may change at run time.
        history: Store of all data, which is restored after a restart. The caller closes it.
        reader: History of other decks, if this deck stores none.
        actor: This user, `user@host:pid`.
        notify_fault: Returns the fault of the notifications.
        shares: Other processes that poll together with this one.
        unit: Unit of the platform's bit rates; None to learn it.
        machine: Source of measurements of this process; None if it is not measured, such as in a rehearsal.
        maintenance: Silences that repeat at hours of the week.
        viewer: Probe of what viewers get; None without a probe.

    Attributes:
        clock: Clock of all times in snapshots, which leaves out the steps of this machine's clock.
        on_demand: Lists that are polled only while a screen shows them.
        unread_acts: Reason why the last read of people's actions from the history was incomplete; empty if it was not.
    """

    def __init__(
        self,
        api: Api,
        clock: Clock,
        *,
        limits: Limits | None = None,
        cadence: Cadence | None = None,
        random: Random | None = None,
        limits_source: LimitsSource | None = None,
        history: History | None = None,
        reader: HistoryReader | None = None,
        actor: str = "",
        notify_fault: Callable[[], NotifyFault] | None = None,
        shares: Shares | None = None,
        unit: BitrateUnit | None = None,
        machine: Machine | None = None,
        maintenance: Sequence[MaintenanceWindow] = (),
        viewer: Viewer | None = None,
    ) -> None:
        self._viewer = viewer
        self.clock = self._clock = clock = SteadyClock(clock)
        self._machine, self._own = machine, OwnWatch()
        self._beat_due = inf  # time of the next pulse of the loop (monotonic s)
        self._timings = api.timings
        self._api, self._history = api.without_retry(), history  # the next round retries
        self._unit = unit
        self._notify_fault = notify_fault
        self._limits, self._limits_source = limits or Limits(), limits_source
        self._rulings, self._rule_changes = Rulings(), list[RuleChange]()  # changes since the last snapshot
        self._cadence = cadence or Cadence()
        self.on_demand = ResourceCache(api, clock, self._cadence, history)
        self._ended_streams = EndedStreams(self._cadence, history)
        self._losses, self._pace, self._calls = LossMeter(self._limits.base), Pace(self._cadence), CallTally()
        chance = random or Random()  # noqa: S311  jitter is no secret
        self._poller = Poller(self._fetch, clock, self._cadence, chance, self._own)
        self._awake, self._interrupt = asyncio.Event(), asyncio.Event()
        self._focus: dict[str, str] = {}  # viewer -> event on its screen; the newest entry is at the end
        self._alarms, self.actor = AlarmEngine(self._limits.base, maintenance), actor
        self._shared: History | HistoryReader | None = history or reader
        self._actions: list[AlarmAction] = []  # actions since the last snapshot
        self._silenced_by: dict[str, tuple[object, Silence]] = {}  # commands for silences and their rows, by uid
        self._are_actions_read = False  # earlier actions in the history were read
        self.unread_acts = ""
        self._intents: list[IntentRecord] = []  # changes that this user sent lately
        self._is_report = False  # this process makes one report only
        self._late: dict[PollKey, PollSpec] = {}  # late streams, the only ones that a report polls again
        self._has_settled = False  # samples of every event were polled once, so that the unit can be judged
        self._is_step_known = False  # after the open step of the clock, everything was made due
        self._restore_at = -inf  # next attempt to restore alarms (monotonic s)
        self._debounce = RoundDebounce(clock)
        started_at = self._read_clock()
        self._world = WorldTracker(
            api.timings, started_at, self._limits, self._cadence, origin=api.host, unit_setting=unit
        )
        self._others = SharedPolls(shares, self._poller, self._world, clock, self._cadence)
        self._last = Snapshot(0, started_at.wall, self._world.status)

    async def snapshots(self) -> AsyncGenerator[Snapshot, None]:
        """Yield snapshots: one at once, one after each poll round, and one every few seconds without a round.

        Never ends by itself. Cancelling it cancels the calls in flight. Errors of the platform are not raised.
        """
        beside = [self._watch_own(self._machine)] if self._machine else []
        beside += [self._follow_actions(self._shared)] if self._shared else []
        tasks = [asyncio.create_task(work) for work in beside]
        try:
            yield self._last
            while True:
                yield await self._round()
                await self._rest()
        finally:
            for task in tasks:
                task.cancel()
            await self._poller.close()

    @property
    def snapshot(self) -> Snapshot:
        """Latest snapshot."""
        return self._last

    @property
    def is_settled(self) -> bool:
        """True if the event list was read, and the samples of every event that needs it were polled."""
        return self._last.link.as_of is not None and all(self._has_response(key) for key in self._schedule_all())

    async def wait_ready(
        self,
        timeout: float = 15.0,  # noqa: ASYNC109  measured by the clock passed in
        patience: float = PATIENCE,
    ) -> Snapshot:
        """Return the first complete snapshot, after at most `timeout` seconds.

        A snapshot is complete if the samples of every event that needs it were polled, or if the platform is down.
        Streams whose samples are late or gone are then polled again, until they are decided or `patience` seconds have
        passed since the call. The evidence of a stream that is still undecided becomes NOT_KNOWN.
        """
        self._is_report, self._late = True, {}
        until = self._clock.monotonic() + patience
        try:
            await wait_first(self._poll_until_ready(), self._clock.sleep(timeout))
            left = until - self._clock.monotonic()
            if self.is_settled and left > 0 and self._note_late():
                await wait_first(self._poll_late(), self._clock.sleep(left))
        finally:
            await self._poller.close()
        self._last = replace(self._last, events=tuple(_no_longer_asked(state, patience) for state in self._last.events))
        return self._last

    def refresh(self) -> None:
        """Poll everything now, because something was changed. A Retry-After of the platform is still obeyed."""
        self.on_demand.refresh()
        self._poller.expedite()
        self._awake.set()

    def note_intent(self, intent: IntentRecord) -> None:
        """Note a change that this user is about to send. This works without a history, too."""
        self._intents.append(intent)
        if intent.action in ENDING_ACTIONS:
            self._world.expect_end(intent.target_id)

    async def take_as_usual(self, event_id: str, actor: str = "") -> bool:
        """Make the present signal of an event its baseline from the next sample on. Returns False without samples.

        `actor`: person who decided this; empty for this user.
        """
        tracker = self._world.find(event_id)
        newest = tracker.newest if tracker else None
        if tracker is None or newest is None:
            return False
        by, stream_id = actor or self.actor, tracker.stream_id or ""
        await self._rule(UsualMark.of(event_id, stream_id, newest, self._machine_time(), by))
        return True

    async def choose_content(self, event_id: str, content: Content | None, actor: str = "") -> bool:
        """Set the content of an event; None for the content in the settings. Returns False if nothing changes.

        `actor`: person who decided this; empty for this user.
        """
        if self._rulings.content_of(event_id) is content:
            return False
        at = self._rulings.next_moment(event_id, self._machine_time())
        await self._rule(ProfileChoice(at, event_id, content, actor or self.actor))
        return True

    async def choose_unit(self, unit: BitrateUnit, actor: str = "") -> bool:
        """Set the unit of the platform's bit rates. Returns False if nothing changes, or if the settings name a unit.

        `actor`: person who decided this; empty for this user. Raises AlarmRefused if the newest rates are implausible
        in this unit.
        """
        origin = self._api.host
        if self._unit is not None or self._rulings.unit_of(origin) is unit:
            return False
        if reason := self._world.contradiction_of(unit):
            raise AlarmRefused(reason)
        at = self._rulings.next_unit_moment(origin, self._machine_time())
        await self._rule(UnitChoice(at, unit, actor or self.actor, origin))
        return True

    def _machine_time(self) -> datetime:
        """Return the time of this machine's clock with its steps, as other processes see it."""
        return self._clock.now() + timedelta(seconds=self._clock.offset)

    async def _rule(self, ruling: Ruling) -> None:
        """Apply a ruling in this process at once, and store it for all processes of the same history."""
        self._apply_rulings([ruling], is_news=True)
        if self._history:
            await self._history.record_ruling(ruling)

    def _apply_rulings(self, rulings: Iterable[Ruling], *, is_news: bool) -> None:
        """Apply rulings. `is_news`: report them too; False for rulings from before this monitor started."""
        unknown = [ruling for ruling in rulings if self._rulings.lacks(ruling)]
        if not unknown:
            return
        unit = self._rulings.unit_of(self._api.host)
        self._judge_by(self._limits, self._rulings.including(unknown))
        for ruling in unknown if is_news else ():
            if not isinstance(ruling, UnitChoice) or ruling.unit is not unit:  # several processes learn the same unit
                self._tell(ruling.text, ruling.event_id, ruling.actor)

    def _judge_by(self, limits: Limits, rulings: Rulings) -> None:
        self._limits, self._rulings = limits, rulings
        for judge in (self._alarms, self._losses):
            judge.judge_by(limits.base)
        self._world.judge_by(limits, rulings)

    def _tell(self, text: str, event_id: str = "", actor: str = "", *, is_fault: bool = False) -> None:
        self._rule_changes.append(RuleChange(self._clock.now(), text, event_id, actor, is_fault))
        _log.warning("rules changed", change=text, event_id=event_id, by=actor)
        self._interrupt.set()

    def _reload_limits(self) -> None:
        """Use the limits that the settings have now. If they are invalid, keep the old limits and report the fault."""
        try:
            limits = self._limits_source.changed() if self._limits_source else None
        except LimitsError as error:
            self._tell(f"Limits unchanged: {error}", is_fault=True)
            return
        if limits is None:
            return
        changes = limits.changes_since(self._limits)
        self._judge_by(limits, self._rulings)
        for event_id in dict.fromkeys(change.event_id for change in changes):
            texts = [change.text for change in changes if change.event_id == event_id]
            more = f" and {len(texts) - _MAX_NAMED} more" if len(texts) > _MAX_NAMED else ""
            self._tell(", ".join(texts[:_MAX_NAMED]) + more, event_id)

    def set_focus(self, event_id: str | None, viewer: str = "") -> None:
        """Poll an event's samples more often while a screen shows the event.

        `event_id`: None if the screen shows no event. `viewer`: the screen, or an attached deck. At most `_MAX_FOCUS`
        events are in focus: the events of the viewers that switched last.
        """
        if self._focus.get(viewer) == event_id:
            return
        self._focus.pop(viewer, None)
        if event_id is not None:
            self._focus[viewer] = event_id
        self._awake.set()

    def watch(self, viewer: str, *keys: ResourceKey) -> None:
        """Poll these lists, and no others, for a screen or an attached deck (`viewer`)."""
        if self.on_demand.watch(viewer, keys):
            self._interrupt.set()

    async def find_video(self, video_id: str) -> Video:
        """Return a video by id, even if no list holds it. Raises ApiError; NotFound if it does not exist."""
        return await self.on_demand.find_video(video_id)

    async def remember_materials(self, *materials: KnownMaterial) -> None:
        """Add materials of a video to the remembered materials, in this order."""
        await self.on_demand.materials.remember(materials)
        self.refresh()

    async def forget_materials(self, *ids: str) -> None:
        """Forget materials that no longer exist."""
        await self.on_demand.materials.forget(ids)
        self.refresh()

    async def acknowledge(self, key: AlarmKey, shown: Shown | None = None) -> bool:
        """Acknowledge an alarm, which is then silent until it clears, gets worse or the acknowledgement expires.

        Returns False if the alarm needs no acknowledgement. Raises AlarmRefused.
        """
        return self.carry_out(AlarmCommand(key, ActionKind.ACKNOWLEDGE, shown, actor=self.actor)) is not None

    async def close_alarm(self, key: AlarmKey, verdict: Verdict, shown: Shown | None = None) -> bool:
        """Acknowledge an alarm with a verdict. Returns False if it has this verdict already. Raises AlarmRefused."""
        command = AlarmCommand(key, ActionKind.CLOSE, shown, text=verdict.value, actor=self.actor)
        return self.carry_out(command) is not None

    async def unacknowledge(self, key: AlarmKey, shown: Shown | None = None) -> None:
        """Take back this user's own acknowledgement, within `TAKE_BACK_FOR`. Raises AlarmRefused."""
        self.carry_out(AlarmCommand(key, ActionKind.UNACKNOWLEDGE, shown, actor=self.actor))

    async def shelve(
        self, key: AlarmKey, minutes: float | None, reason: str, shown: Shown | None = None, *, only_this: bool = False
    ) -> None:
        """Shelve an alarm. Raises AlarmRefused.

        `minutes`: None to shelve the alarm until it clears. `only_this`: do not shelve its symptoms.
        """
        kind = ActionKind.SHELVE_ALONE if only_this else ActionKind.SHELVE
        self.carry_out(AlarmCommand(key, kind, shown, minutes, reason, self.actor))

    async def unshelve(self, key: AlarmKey) -> None:
        """Unshelve an alarm. Raises AlarmRefused."""
        self.carry_out(AlarmCommand(key, ActionKind.UNSHELVE, actor=self.actor))

    async def out_of_service(self, key: AlarmKey, reason: str, shown: Shown | None = None) -> None:
        """Take an alarm out of service, until `in_service` brings it back. Raises AlarmRefused."""
        self.carry_out(AlarmCommand(key, ActionKind.OUT_OF_SERVICE, shown, text=reason, actor=self.actor))

    async def in_service(self, key: AlarmKey) -> None:
        """Bring an alarm back into service. Raises AlarmRefused."""
        self.carry_out(AlarmCommand(key, ActionKind.IN_SERVICE, actor=self.actor))

    async def note(self, key: AlarmKey, text: str, shown: Shown | None = None) -> None:
        """Attach a note to an alarm. Raises AlarmRefused."""
        self.carry_out(AlarmCommand(key, ActionKind.NOTE, shown, text=text, actor=self.actor))

    def take_over(self, alarms: Iterable[Alarm], seen: datetime) -> None:
        """Continue with the alarms of another monitor, which has judged the samples up to `seen`."""
        self._alarms.restore(alarms, self._clock.now(), seen)

    def carry_out(self, command: AlarmCommand) -> AlarmAction | None:
        """Carry out a command of any person. Returns its action, or None if another person was first.

        A repeated command returns the action of the first time. Raises AlarmRefused.
        """
        if earlier := self._alarms.find_action(command):
            return earlier
        on_air = command.key.event_id in ids_on_air(self._world.states)
        action = self._alarms.act(command, self._clock.now(), on_air=on_air)
        if action is None:
            return None
        self._actions.append(action)
        if self._history:
            self._history.record_alarm_action(action.moved(self._clock.offset))  # with the steps of this clock
        self._interrupt.set()
        return action

    def is_used(self, uid: str) -> bool:
        """Return whether an action with this id was carried out, here or by another process of the history."""
        return self._alarms.is_used(uid)

    def draft_silence(self, draft: SilenceDraft) -> Silence:
        """Return the silence that `add_silence` would add. Raises AlarmRefused."""
        return silencing.silence_of_draft(
            replace(draft, actor=draft.actor or self.actor), self._world.states, self._machine_time()
        )

    async def add_silence(self, draft: SilenceDraft) -> Silence:
        """Add a silence, and return it. Raises AlarmRefused."""
        command = (draft.matchers, draft.seconds, draft.comment, draft.starts_at, draft.passes, draft.until_end_of)
        return self._silence(draft.uid, command, lambda: self.draft_silence(draft))

    async def extend_silence(self, silence_id: str, seconds: float, *, actor: str = "", uid: str = "") -> Silence:
        """Extend a silence, and return it. Raises AlarmRefused.

        `silence_id`: its id or the beginning of its id. `actor`, `uid`: as in SilenceDraft.
        """
        uid = uid or uuid4().hex

        def make() -> Silence:
            now = self._machine_time()
            by = silencing.Extender(now, actor or self.actor, uid, self._world.states)
            return silencing.extend(self._alarms.silences(now), silence_id, seconds, by)

        return self._silence(uid, (silence_id, seconds), make)

    async def end_silence(self, silence_id: str, *, actor: str = "", uid: str = "") -> Silence:
        """End a silence, or cancel a planned one, and return it. Raises AlarmRefused.

        Arguments as in `extend_silence`.
        """
        uid = uid or uuid4().hex

        def make() -> Silence:
            now = self._machine_time()
            return silencing.end(self._alarms.silences(now), silence_id, now, actor or self.actor, uid)

        return self._silence(uid, (silence_id,), make)

    def _silence(self, uid: str, what: object, make: Callable[[], Silence]) -> Silence:
        """Store and apply the row that `make` returns, and return it. A repeated command returns the first row.

        `what`: the command, to distinguish a repeated command from another one with the same id. Raises AlarmRefused.
        """
        if uid in self._silenced_by:
            earlier_what, row = self._silenced_by[uid]
            if earlier_what != what:
                raise AlarmRefused("This id belongs to another command. Use a new id for each command.")
            return row
        row = make()
        self._silenced_by[uid] = what, row
        for earlier in tuple(self._silenced_by)[:-_MAX_SILENCES]:
            del self._silenced_by[earlier]
        self.take_silences([row])
        if self._history:
            self._history.record_silence(row)
        return row

    def take_silences(self, rows: Iterable[Silence]) -> None:
        """Apply rows of silences of any process."""
        if self._alarms.take_silences(rows):
            self._interrupt.set()

    def find_alarm(self, key: AlarmKey) -> Alarm | None:
        """Return an alarm with all actions up to now applied; None if there is no such alarm."""
        return self._alarms.alarms.get(key)

    async def viewer_picture(self, event_id: str) -> bytes:
        """Return the newest picture that viewers of an event get, as JPEG; empty without one."""
        return self._viewer.picture(event_id) if self._viewer else b""

    async def explain(self, event_id: str, kind: str = "") -> Explanation | None:
        """Return the explanation of an event's alarms now; None without such an event.

        `kind`: explain this kind of alarm only; empty for all.
        """
        from livedeck.monitor.alarms.explain import ExplainCase, explain

        tracker = self._world.find(event_id)
        if tracker is None or tracker.state is None:
            return None
        case = ExplainCase(
            tracker.state,
            self._world.status,
            self._clock.now(),
            tuple(self._alarms.alarms.values()),
            tracker.judged(),
            self._limits,
            self._alarms.waiting(),
        )
        return await asyncio.to_thread(explain, case, kind)

    async def _follow_actions(self, shared: History | HistoryReader) -> None:
        """Apply other decks' alarm actions until cancelled."""
        while True:
            await self._clock.sleep(_ACTION_SECONDS)
            if self._are_actions_read:
                await self._take_actions(shared)

    async def _take_actions(self, shared: History | HistoryReader) -> None:
        """Apply rulings, silences and alarm actions since the last read.

        The first read brings earlier actions, which are applied but not reported as news.
        """
        failures = shared.failures
        self._apply_rulings(await shared.new_rulings(), is_news=self._are_actions_read)
        self.take_silences(await shared.new_silences())
        actions = await shared.new_alarm_actions()
        self.unread_acts = "" if shared.failures == failures else shared.fault or "not every query succeeded"
        news = self._alarms.take(action.moved(-self._clock.offset) for action in actions)
        if news and self._are_actions_read:
            self._actions += news
            self._interrupt.set()
        self._are_actions_read = True

    async def _poll_until_ready(self) -> None:
        while not self._is_ready(await self._round()):
            await self._rest()

    async def _poll_late(self) -> None:
        """Poll the streams whose samples are late or gone again, until each is decided."""
        while self._note_late():
            await self._rest()
            await self._round()

    def _note_late(self) -> bool:
        """Note the undecided streams, each with the seconds between two polls. Returns whether there are any."""
        most = self._cadence.qos
        self._late = {
            state.id: PollSpec(max(_MIN_LATE, min(most, state.qos.cadence or most)), 0)
            for state in self._last.events
            if state.is_undecided
        }
        return bool(self._late)

    def _is_ready(self, snapshot: Snapshot) -> bool:
        if snapshot.link.is_unauthorized or snapshot.link.failures >= self._cadence.give_up:
            return True
        return self.is_settled

    def _has_response(self, key: PollKey) -> bool:
        if isinstance(key, ResourceKey):
            return (
                self.on_demand.has_response(key) if self.on_demand.is_watched(key) else self._world.is_answered(key.id)
            )
        return self._world.is_list_settled if key == LIST else self._world.has_response(key)

    async def _round(self) -> Snapshot:
        """Make the due calls, evaluate everything and return the snapshot. An alarm action ends the round at once."""
        self._reload_limits()
        if self._history:
            await self._restore_alarms(self._history)
        elif self._shared and not self._are_actions_read:
            await self._take_actions(self._shared)
            await self._expect_events(self._shared)
        if self._shared:
            await self._world.preload(self._shared, self._clock.now())
        if not self._is_report:
            await self._ended_streams.update(self._last.events, self._server_time(), self._clock.monotonic())
        self._debounce.begin()
        if await self._others.take_in():
            self._debounce.end_early()
        begun = self._watch_clock()
        results = await self._poller.round(
            self._schedule(), self._ingest, self._interrupt.wait(), self._debounce.wait()
        )
        self._take_pulse(begun + self._cadence.patience)
        self._interrupt.clear()
        self._last = await self._evaluate(results)
        if self._history:
            await self._history.append(self._last)
            await asyncio.sleep(0)
            self._history.record_learnt(self._world.news_learnt())
            self._ended_streams.record()
        await asyncio.sleep(0)
        for change in self._last.true_changes:
            _log.info(f"alarm {change.transition}", kind=change.alarm.kind, event_id=change.alarm.event_id)
        return self._last

    async def _restore_alarms(self, history: History) -> None:
        """Continue with the alarms in the history; retry every `_RESTORE_SECONDS` while they cannot be read."""
        if self._clock.monotonic() < self._restore_at:
            return
        self._restore_at = self._clock.monotonic() + _RESTORE_SECONDS
        alarms = await history.restored()
        if alarms is not None:
            self._restore_at = inf
            offset = self._clock.offset
            self._alarms.restore([alarm.moved(-offset) for alarm in alarms], self._clock.now())
            await self._take_actions(history)
            await self._expect_events(history)

    async def _expect_events(self, shared: History | HistoryReader) -> None:
        """Expect events in the list if the history has them on air just before this monitor started."""
        if not shared.fault:
            self._world.expect(await shared.on_air_since(self._clock.now() - _EXPECTED_FOR))

    async def _fetch(self, key: PollKey) -> PollPayload:
        try:
            if isinstance(key, ResourceKey):
                return await self.on_demand.fetch(key)
            if key == PROBE:
                newest = (await self._api.events.list(per_page=1)).items
                self._check_workspace(newest)
                return EventList(newest)
            if key == LIST:
                events = PagedItems(partial(self._fetch_page, self._api.events.list))
                found = await collect(events)
                self._check_workspace(found)
                return EventList(found, len(events.unreadable), events.shortfall, is_counted=events.total is not None)
            return await self._read(key, partial(self._api.qos.get, key))
        except ApiError as error:
            return error

    def _check_workspace(self, listed: Iterable[Event]) -> None:
        check_workspace(listed, (state.event for state in self._last.events))

    async def _fetch_page(self, fetch: Callable[..., Awaitable[T]], page: int) -> T:
        if page > 1:
            self._poller.spend()
        return await self._read(LIST, partial(fetch, page=page, per_page=MAX_PER_PAGE))

    async def _read(self, key: PollKey, read: Callable[[], Awaitable[T]]) -> T:
        """Return the result of `read`, after one quick retry if the reply was lost. Raises ApiError.

        A report retries an event's samples several times, because it has no next round. During a back-off there is no
        quick retry, because the next round retries.
        """
        for _ in range(self._cadence.report_retries if self._is_report and key != LIST else 1):
            try:
                return await self._count(key, read)
            except ApiError as error:
                if self._poller.is_backing_off or not is_passing(error):
                    raise
            await self._clock.sleep(self._cadence.quick_retry)
            self._poller.spend()
        return await self._count(key, read)

    async def _count(self, key: PollKey, read: Callable[[], Awaitable[T]]) -> T:
        try:
            answer = await read()
        except ApiError as error:
            if is_passing(error):
                self._losses.note_failure(key, self._clock.monotonic())
            self._note_call(key, error)
            raise
        self._losses.note_answer(key, self._clock.monotonic())
        self._note_call(key, None)
        return answer

    def _note_call(self, key: PollKey, error: ApiError | None) -> None:
        at = self._clock.monotonic()
        is_pause = isinstance(error, RateLimited) and error.retry_after is not None
        self._pace.note(at, is_refused=isinstance(error, RateLimited), is_pause=is_pause)
        self._calls.note(key, at, error, self._limits.base.link_window)

    async def _ingest(self, result: PollResult) -> None:
        """Take a result. End the round early if it brings a new fault, or a list that a screen waits for.

        Drops a result that arrives with the end of a stop of this process, because its call is made again. A list
        polled on demand is never dropped.
        """
        if self._take_pulse(self._beat_due) and not isinstance(result.key, ResourceKey):
            return
        self._close_step()
        if isinstance(result.key, ResourceKey) and result.key.kind is ResourceKind.EVENT:
            await self._world.ingest(result)
        if isinstance(result.key, ResourceKey):
            is_watched = self.on_demand.is_watched(result.key)
            is_kept = is_watched or result.key.kind is not ResourceKind.EVENT  # the next viewer need not wait for it
            is_news = is_kept and self.on_demand.ingest(result.key, result) and is_watched
        else:
            self._others.hand_out(result.key, result)
            is_news = await self._world.ingest(result)
            self._ended_streams.ingest(result, self._server_time())
        if is_news:
            self._debounce.end_early()
        await asyncio.sleep(0)

    async def _rest(self) -> None:
        """Wait until a call is due or done, another process publishes samples, or time alone changes the snapshot."""
        to_announcement = self._alarms.seconds_to_announcement(self._clock.now())
        waits = [self._cadence.tick, self._poller.wait(self._schedule()), to_announcement, self._seconds_to_silence()]
        to_blind = self._world.seconds_to_blind(self._read_clock())
        if self._last.link.state is not ConnectionState.BLIND and to_blind > 0:
            waits.append(to_blind)
        due = self._watch_clock() + min(waits)
        rest = self._clock.sleep(max(_MIN_REST, min(waits)))
        news = self._others.wait()
        await wait_first(rest, self._awake.wait(), self._interrupt.wait(), self._poller.wait_result(), news)
        self._awake.clear()
        self._take_pulse(due)

    def _seconds_to_silence(self) -> float:
        """Return the seconds until the next silence begins or ends; inf without one."""
        now = self._clock.now()
        moments = (moment for silence in self._last.silences for moment in (silence.starts_at, silence.ends_at))
        return min(((moment - now).total_seconds() for moment in moments if moment > now), default=inf)

    def _keep_silences(self, state: MonitorState) -> None:
        """Store the silences of maintenance windows that begin, and end the silences whose event has ended.

        Every process of the history then has these silences, even a process with other settings.
        """
        if self._history is None:
            return
        states, now = {event.id: event for event in state.events}, self._machine_time()
        for begun in self._alarms.begun_windows(now):
            self._alarms.take_silences([begun])
            self._history.record_silence(begun)
        if state.is_unlisted:
            return
        for silence in silencing.over_with_event(self._alarms.silences(now).current(now), states, state.may_exist):
            uid = uuid4().hex
            row = silencing.end(self._alarms.silences(now), silence.id, now, LIVEDECK, uid)
            self._alarms.take_silences([row])
            self._history.record_silence(row)

    def _watch_clock(self) -> float:
        """Return monotonic seconds. After a step of the wall clock, make all calls due, to find its cause."""
        self._clock.now()
        if self._clock.open_step and not self._is_step_known:
            self._is_step_known = True
            self._timings.clear()  # measured before the clock's step
            self._poller.expedite()
        return self._clock.monotonic()

    async def _watch_own(self, machine: Machine) -> None:
        """Take regular pulses until cancelled."""
        while True:
            self._beat_due = due = self._watch_clock() + BEAT
            await self._clock.sleep(BEAT)
            self._note_stop(self._own.beat(self._pulse(machine), due, self._limits.base))

    def _take_pulse(self, due: float) -> bool:
        """Take a pulse that was due at `due` (monotonic s). Returns whether a stop of this process ends now."""
        if self._watch_clock() - due < self._limits.base.unwatched:
            return False
        stop = self._own.pulse(self._pulse(self._machine), due, self._limits.base)
        self._note_stop(stop)
        return stop is not None and stop.why is not Why.SLOW

    def _pulse(self, machine: Machine | None) -> Pulse:
        load, monotonic = machine.load() if machine else Load(), self._watch_clock()
        return Pulse(self._clock.now(), monotonic, load.used, load.awaited, load.suspended)

    def _note_stop(self, stop: NotWatched | None) -> None:
        """Note a stop of this process, and make all calls due, because earlier replies prove nothing about now."""
        if stop is None:
            return
        self._world.note_stops(self._own.stops)
        _log.warning("no monitoring", why=stop.why.value, seconds=stop.seconds)
        if stop.why is not Why.SLOW:
            self._poller.start_over()

    def _close_step(self) -> None:
        """Decide the cause of an open clock step as soon as a reply shows the platform's time."""
        if self._clock.open_step and self._is_step_known and self._timings:
            ahead = connection.seconds_ahead(self._timings, self._clock.offset)
            self._is_step_known = False
            change = self._clock.close_step(self._world.seconds_ahead, ahead)
            if change.is_sleep:
                stop = NotWatched(change.at - timedelta(seconds=change.seconds), change.at, Why.SLEPT)
                self._own.note(stop, self._pulse(self._machine))
                self._note_stop(stop)
            else:
                self._world.note_clock_change(change)
                _log.warning("this machine's clock was set", seconds=change.seconds)

    def _schedule(self) -> PollSchedule:
        if self._late:
            return {LIST: PollSpec(inf, 0), **self._late}
        return self._schedule_all()

    def _schedule_all(self) -> PollSchedule:
        focus = [*dict.fromkeys(reversed(self._focus.values()))][:_MAX_FOCUS]
        monotonic = self._clock.monotonic()
        of_events = schedule_events(self._last.events, self._server_time(), focus, self._world.cadence)
        is_answering = self._last.link.state is not ConnectionState.BLIND
        capacity = self._own.capacity
        of_events = self._others.share_out(of_events, focus, is_answering=is_answering, capacity=capacity)
        of_ended = self._ended_streams.schedule(monotonic)
        schedule = {**of_events, **of_ended, **self.on_demand.schedule()}
        return with_asks(schedule, self._world.asks(monotonic), self._world.seconds_to_list(monotonic))

    def _server_time(self) -> datetime:
        return connection.server_time(self._last.link, self._clock.now())

    async def _evaluate(self, results: tuple[PollResult, ...]) -> Snapshot:
        """Return the snapshot of this moment.

        There must be no await between the step of the alarms and its record in the history. During an await, an alarm
        action could run and show before its change is reported, and a cancelled listener would lose changes.
        """
        self._has_settled = self._has_settled or self.is_settled
        if self._world.unit.is_sure and self._has_settled:
            await self.choose_unit(BitrateUnit.KBIT, LIVEDECK)
        at = self._read_clock()
        on_platform = tuple(result for result in results if is_on_platform(result.key))
        lost_share = self._losses.share(at.monotonic, self._world.status.lost_share)
        until = at.monotonic + _ANALYSIS_SECONDS
        if not await self._world.analyse_outdated(lambda: self._clock.monotonic() >= until):
            self._interrupt.set()
        self._poller.pace = self._pace.step(at.monotonic)
        measure = LinkMeasure(
            lost_share,
            self._poller.pace,
            self._poller.is_silence_tried,
            self._clock.offset,
            is_clock_doubtful=self._clock.open_step != 0.0,
            own=self._own.judge(*at, self._limits.base, len(self._world.states)),
            capacity=self._others.of_all(self._own.capacity),
        )
        is_urgent = self._debounce.is_urgent or (bool(self._actions) and not self._rule_changes)
        if self._viewer:
            states = self._viewer.states()
            own = {key: each.moved(-self._clock.offset) for key, each in states.items()}
            self._world.take_viewers(self._others.with_viewers(own), at)
        await self._world.evaluate_all(on_platform, at, measure, is_urgent=is_urgent)
        await self._attribute_ends()
        await asyncio.sleep(0)  # events, their proofs and the alarms take one turn of the loop each
        fault = self._history.lasting_fault if self._history else ""
        state = MonitorState(
            self._world.states,
            with_witness(self._world.status, self._world.states),
            at.wall,
            fault,
            self._is_report,
            self._world.ended,
            self._notify_fault() if self._notify_fault else NotifyFault(),
            sharing=self._others.fault,
            unit_question=self._world.unit.question if self._has_settled else "",
            list_doubt=self._world.list_doubt,
            expected=self._world.expected,
            failing_alike=self._world.failing_alike(self._calls.failed_share),
            is_probing=self._viewer is not None,
            probe_fault=self._viewer.fault() if self._viewer else "",
        )
        state = replace(state, events=drop_unproven(state, self._limits.base))
        await asyncio.sleep(0)
        self._keep_silences(state)
        if self._viewer:
            ours = (event for event in state.events if self._others.holds(event.id))
            self._viewer.want(tuple(wanted(ours, self._server_time(), self._limits.base)))
        changes, bells, log = self._alarms.step(state)
        offset, wall = self._clock.offset, self._machine_time()
        wait = self._poller.seconds_to_retry(self._schedule()) if self._poller.is_backing_off else None
        alarms = self._alarms.ordered(state.events)
        actions, self._actions = tuple(self._actions), []
        rule_changes, self._rule_changes = tuple(self._rule_changes), []
        return Snapshot(
            seq=self._last.seq + 1,
            at=at.wall,
            link=replace(state.connection, next_try=None if wait is None else at.wall + timedelta(seconds=wait)),
            events=worst_first(state.events, alarms),
            alarms=tuple(alarm for alarm in alarms if alarm.active),
            quiet=self._alarms.inactive(at.wall),
            changes=changes,
            alarm_actions=actions,
            rule_changes=rule_changes,
            bells=bells,
            flood=self._alarms.is_flood(at.wall),
            lists=self.on_demand.lists,
            unreadable=self._world.unreadable,
            shortfall=self._world.shortfall,
            ended=self._world.ended,
            list_doubt=self._world.list_doubt,
            log=None if log == changes else log,
            silences=tuple(silence.moved(-offset) for silence in self._alarms.silences(wall).current(wall)),
            probe=self._viewer.note if self._viewer else "",
        )

    async def _attribute_ends(self) -> None:
        """Note which person ended an event on air, at this deck or at another deck of the history."""
        if all(ended.by is not None for ended in self._world.ended):
            return
        since = self._clock.now() - ATTRIBUTED_FOR
        self._intents = [intent for intent in self._intents if intent.at >= since]
        intents = [*(await self._shared.intents(since) if self._shared else ()), *self._intents]
        self._world.attribute_ends(ending_actors(intents), otherwise="" if self._shared else None)

    def _read_clock(self) -> ClockReading:
        return ClockReading(self._clock.now(), self._clock.monotonic())


def _no_longer_asked(state: EventState, patience: float) -> EventState:
    """Return the state of an event after a report has stopped polling it: undecided evidence becomes NOT_KNOWN."""
    if state.evidence is None or not state.is_undecided:
        return state
    return replace(state, evidence=replace(state.evidence, state=Proof.NOT_KNOWN, decided_at=None, asked_for=patience))

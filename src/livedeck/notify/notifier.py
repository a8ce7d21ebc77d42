"""Notifier: makes messages from the monitor's snapshots, stores them in the spool, and sends them to targets."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from random import Random
from typing import Protocol, TypeVar

from livedeck.log import Log
from livedeck.monitor import Alarm, Clock, NotifyFault, Snapshot
from livedeck.notify.groups import Board, Box, Life, Outcome, Plan, State, step, withheld
from livedeck.notify.message import Entry, Message, Open
from livedeck.notify.spool import DEAD, SENT, WAITING, NotOnDutyError, OutdatedError, Spooled, SpoolError
from livedeck.notify.targets import Delivery, Refreshing, Target
from livedeck.notify.texts import dedup_key

MAX_WAIT = 300.0
"""Maximum number of seconds between two tries, unless the receiver asks for more."""

MAX_ASKED = 3600.0
"""Maximum number of seconds between two tries that a receiver can ask for."""

GIVEN_UP = timedelta(hours=24)
"""Age at which an unsent message is given up. The end of an alarm is given up only if the settings lack its target."""

_NO_TARGET = "no such target in the settings"

FAILING = timedelta(minutes=5)
"""Time without a delivery after which a target counts as failing."""

FIRST_LOOK = timedelta(seconds=30)
"""Maximum time that the first step after a start waits for the platform, and for a response of each event on air."""

TRIAL_AFTER = 3
"""Number of failed tries of a message before another message goes to its target as a trial."""

RECONCILED = timedelta(seconds=60)
"""Time between two searches for alarms that are still open at a target, but have cleared."""

_TICK = 1.0
"""Seconds between two steps while something waits for its group: snapshots may come more rarely."""

_RELOAD = 30.0
"""Seconds between two checks for messages that another process wants retried."""

_JITTER = 0.2

_REMEMBERED = 1000
"""Number of sent or withdrawn messages to remember: more than can be sent between two reads of the file."""

_RESULTS = {SENT: "taken", WAITING: "not taken", DEAD: "given up"}

MakeLink = Callable[[Alarm, str], str]
"""Function that returns a link by which anyone can acknowledge an alarm, or an empty text if none is possible.

Its arguments are the alarm, with times by the clock of this machine, and the route that sends the link."""

T = TypeVar("T")

_log = Log("livedeck.notify")


class Storage(Protocol):
    """Durable state of the notifier, and the decision which process sends.

    All methods but `is_on_duty` may block; call them from one thread at a time.

    Raises:
        SpoolError: The storage cannot be used.
        NotOnDutyError: Another process sends the notifications now.
        OutdatedError: Another process has sent notifications meanwhile.
    """

    @property
    def is_on_duty(self) -> bool:
        """True if this process sends the notifications."""

    def close(self) -> None:
        """Release the storage."""

    def state(self, now: datetime, offset: float = 0.0) -> State:
        """Return the stored state, with times by the clock of a notifier started at `now`. `offset`: as in `keep`."""

    def keep(self, outcome: Outcome, now: datetime, offset: float = 0.0) -> None:
        """Store the outcome of a step as a whole.

        `offset`: seconds that the machine's clock is ahead of the outcome's times.
        """

    def messages(self, state: str) -> tuple[Spooled, ...]:
        """Return the messages in `state`, oldest first, with times by the machine's clock."""

    def may_send(self, key: str) -> bool:
        """Return whether this process should still send the message."""

    def mark(self, key: str, state: str, tries: int, answer: str, *, is_taken: bool = False, receipt: str = "") -> None:
        """Store the new state of a message, and the alarms that are open at its target.

        `is_taken`: the target has accepted the message. The state SENT implies this. `receipt`: name that the target
        gave to the message.
        """

    def opens(self) -> tuple[Open, ...]:
        """Return the alarms that are open at each target: the target accepted their beginning but not yet their end."""

    def forget_old(self, now: datetime) -> None:
        """Delete messages that were sent or given up long ago. `now`: time by the machine's clock."""

    def revive(self, keys: Collection[str] = ()) -> int:
        """Put these dead letters back into the queue, all if `keys` is empty. Returns their number."""

    def drop(self, keys: Collection[str]) -> int:
        """Delete dead letters, and return their number."""


def first_of(messages: Sequence[Message]) -> Message | None:
    """Return the message to send first: the oldest with critical alarms, else the oldest; None without messages.

    `messages`: oldest first. No message overtakes an older one about the same alarm.
    """
    if not messages:
        return None
    place = next((place for place, message in enumerate(messages) if message.is_urgent), 0)
    first, alarms = messages[place], messages[place].alarms
    for message in reversed(messages[:place]):
        if message.alarms & alarms:
            first, alarms = message, alarms | message.alarms
    return first


class Notifier:
    """Sends notifications by a plan while on duty. A spool has one notifier (`only_notifier`), whose owner closes it.

    Call `take` with every snapshot; `run` sends until cancelled. If a message cannot be stored, it is sent from memory
    and perhaps again after a restart. `link`: makes the links that acknowledge alarms; None without links.
    """

    def __init__(
        self,
        plan: Plan,
        targets: Mapping[str, Target],
        spool: Storage,
        clock: Clock,
        random: Random | None = None,
        *,
        link: MakeLink | None = None,
    ) -> None:
        self._plan, self._targets, self._spool, self._clock = plan, targets, spool, clock
        self._random = random or Random()  # noqa: S311  jitter is no secret
        self._link = link
        self._thread = ThreadPoolExecutor(1, "livedeck-spool")
        self._state = State()
        self._ahead = timedelta()  # the storage uses the machine's clock, which is ahead by this
        self._is_open = self._has_looked = False
        self._opened_at: datetime | None = None  # time of the first snapshot since the state was read
        self._opens: dict[tuple[str, str], Open] = {}  # what is open at a target, by target and life
        self._reconciled_at: datetime | None = None
        self._unkept: list[Message] = []
        self._unmarked: dict[str, tuple[Spooled, bool, str]] = {}  # new states that the storage does not have yet
        self._withheld: list[Message] = []  # messages kept until this process is known to be on duty
        self._withdrawn: list[str] = []  # keys that the file still has to drop
        self._called_back = frozenset[str]()
        self._on_way = set[str]()
        self._parted = set[str]()  # messages about an alarm of a split message
        self._stepping = asyncio.Lock()
        self._last: Snapshot | None = None
        self._ticked: tuple[Message, ...] = ()
        self._queues: dict[str, dict[str, Spooled]] = {name: {} for name in targets}
        self._news = {name: asyncio.Event() for name in targets}
        self._turns = {name: asyncio.Lock() for name in targets}  # a target gets one request at a time
        self._done: deque[str] = deque(maxlen=_REMEMBERED)  # sent or withdrawn; the file may not know it
        self._failing: dict[str, datetime] = {}
        self._refusing = set[str]()  # targets that refused the last message for good
        self._dead = 0
        self.fault = ""
        self.results = Counter[tuple[str, str]]()
        """Number of tries by route and result: `taken`, `not taken`, `given up`."""

    async def open(self) -> None:
        """Continue from the stored state. Raises SpoolError."""
        self._state = await self._in_thread(partial(self._spool.state, self._clock.now(), self._ahead.total_seconds()))
        self._is_open, self._has_looked, self._opened_at = True, False, None
        self._reconciled_at = None
        await self._read_opens()
        await self._reload()
        self._call_back(self._clock.now())

    async def close(self) -> None:
        """Close the spool."""
        await self._in_thread(self._spool.close)
        self._thread.shutdown()

    @property
    def waiting(self) -> int:
        """Number of unsent messages."""
        return sum(1 for _ in self._waiting())

    @property
    def waiting_since(self) -> datetime | None:
        """Time of the oldest unsent message; None if there is none."""
        return min((message.at for message in self._waiting()), default=None)

    def find_life(self, key: str) -> Life | None:
        """Return the life of an alarm by its dedup key; None for any other key. Raises NotOnDutyError."""
        if not self._is_open:
            raise NotOnDutyError
        lives = self._state.lives.values()
        return next((life for life in lives if dedup_key(life.id, self._plan.sender) == key), None)

    def _waiting(self) -> Iterator[Message]:
        """Yield the messages to send, without those whose alarms are handled."""
        return (message for message in self._queued() if message.key not in self._called_back)

    def _queued(self) -> Iterator[Message]:
        return (spooled.message for queue in self._queues.values() for spooled in queue.values())

    async def unsent(self) -> tuple[Spooled, ...]:
        """Return waiting messages and dead letters, even if another process sends them. Raises SpoolError."""
        found = [await self._in_thread(partial(self._spool.messages, state)) for state in (WAITING, DEAD)]
        return (*found[0], *found[1])

    async def revive(self, keys: Collection[str] = ()) -> int:
        """Retry these dead letters, all if `keys` is empty, at once if this process is on duty. Returns their number.

        Raises SpoolError.
        """
        count = await self._in_thread(partial(self._spool.revive, keys))
        await self._reload()
        return count

    async def drop(self, keys: Collection[str]) -> int:
        """Delete dead letters, and return their number. Raises SpoolError."""
        count = await self._in_thread(partial(self._spool.drop, keys))
        await self._reload()
        return count

    @property
    def failure(self) -> NotifyFault:
        """Fault of the notifications: the targets that take nothing for `FAILING`, and the number of dead letters."""
        long_ago = self._clock.now() - FAILING
        failing = [(name, at) for name, at in self._failing.items() if at <= long_ago]
        down = [f"{name} has taken nothing since {at:%H:%M:%S}Z" for name, at in failing]
        letters = f"{self._dead} dead letter{'' if self._dead == 1 else 's'}: see `livedeck notify dead list`"
        return NotifyFault(", ".join([*down, letters] if self._dead else down), bool(down))

    async def take(self, snapshot: Snapshot) -> tuple[Message, ...]:
        """Store the messages that the alarms of a snapshot require, and return the messages since the last call.

        `run` may have made some of them.
        """
        async with self._stepping:
            self._last, made = snapshot, await self._take(snapshot)
            ticked, self._ticked = self._ticked, ()
        return (*ticked, *made)

    async def _tick(self) -> None:
        """Take a step each `_TICK` seconds while a group or a critical alarm waits, if no newer snapshot came."""
        while True:
            await self._clock.sleep(_TICK)
            if self._stepping.locked():
                continue  # a newer snapshot is there
            async with self._stepping:
                last, now = self._last, self._clock.now()
                is_old = last is not None and now - last.at >= timedelta(seconds=_TICK)
                if last and is_old and self._is_open and self._state.is_waiting:
                    self._last = replace(last, at=now)
                    self._ticked += await self._take(self._last)

    async def _take(self, snapshot: Snapshot) -> tuple[Message, ...]:
        self._ahead = timedelta(seconds=snapshot.link.clock_offset)
        if not await self._go_on_duty():
            return ()
        board = Board.of(snapshot)
        self._opened_at = self._opened_at or snapshot.at
        self._has_looked |= (board.is_known and board.is_complete) or snapshot.at - self._opened_at >= FIRST_LOOK
        if not self._has_looked:  # stored alarms may have cleared meanwhile
            return ()
        unsent = sorted(
            (message for message in self._queued() if message.key not in self._on_way), key=lambda message: message.at
        )
        is_due = self._reconciled_at is None or snapshot.at - self._reconciled_at >= RECONCILED
        is_reconciling = is_due and board.is_known and await self._read_opens()
        if is_reconciling:
            self._reconciled_at = snapshot.at
        self._state, messages, withdrawn = step(
            self._plan, self._state, board, snapshot.at, unsent, opens=self._open(), is_reconciling=is_reconciling
        )
        self._unkept += messages
        self._withheld += messages
        self._withdrawn += withdrawn
        self._forget(withdrawn)
        self._call_back(snapshot.at)
        if not await self._keep(snapshot.at):
            return ()
        messages, self._withheld = tuple(self._withheld), []
        self._enqueue(Spooled(message) for message in messages)
        return messages

    async def _keep(self, now: datetime) -> bool:
        """Store the state, with new and withdrawn messages. Return False if another process is on duty."""
        outcome = Outcome(self._state, tuple(self._unkept), tuple(self._withdrawn))
        try:
            await self._in_thread(partial(self._spool.keep, outcome, now, self._ahead.total_seconds()))
            self._unkept.clear()
            self._withdrawn.clear()
            self.fault = ""
            await self._mark_late()
        except OutdatedError:
            self._go_off_duty()  # if it is on duty again, it starts from the stored state
            return False
        except NotOnDutyError:
            return False
        except SpoolError as error:
            if not self.fault:
                _log.error("spool failed", reason=str(error))
            self.fault = str(error)
        return True

    async def _read_opens(self) -> bool:
        """Read the alarms that are open at a target from the storage. Return False if that fails.

        Keeps the alarms in memory if the storage lacks recent states of messages.
        """
        if self._unmarked:
            return True
        before = self._opens
        try:
            opens = await self._in_thread(self._spool.opens)
        except SpoolError as error:
            _log.warning("open alarms cannot be read", reason=str(error))
            return False
        if self._opens is before:  # otherwise a message was taken meanwhile
            self._opens = {(opened.target, opened.life): opened for opened in opens}
        return True

    def _open(self, name: str | None = None) -> tuple[Open, ...]:
        """Return the alarms that are open at a target, without those whose end a message already reports.

        `name`: name of the target; None for all targets of the settings.
        """
        ended = {(message.target, life) for message in self._queued() for life in message.ends}
        return tuple(
            opened
            for place, opened in self._opens.items()
            if opened.target in self._targets and place not in ended and name in {None, opened.target}
        )

    async def _go_on_duty(self) -> bool:
        """Return whether this process is on duty. If it has just come on duty, continue from the stored state."""
        if not self._spool.is_on_duty:
            self._go_off_duty()
        elif not self._is_open:
            try:
                await self.open()
            except SpoolError as error:
                self.fault = str(error)
        return self._is_open

    def _go_off_duty(self) -> None:
        """Forget the state: the process that sends now reads it from the storage."""
        if self._is_open:
            _log.info("another collector sends the notifications")
        self._is_open, self._state, self.fault = False, State(), ""
        self._unkept, self._withdrawn, self._withheld = [], [], []
        self._unmarked.clear()
        self._opens = {}
        for queue in self._queues.values():
            queue.clear()

    def _forget(self, withdrawn: Iterable[str]) -> None:
        """Remove withdrawn messages from the queues."""
        for key in withdrawn:
            self._done.append(key)
            for queue in self._queues.values():
                queue.pop(key, None)

    def _call_back(self, now: datetime) -> None:
        """Update the set of messages that wait because their alarms are handled."""
        before, self._called_back = self._called_back, withheld(self._state, self._queued(), now)
        if before - self._called_back:
            for news in self._news.values():
                news.set()

    async def run(self) -> None:
        """Send waiting messages until cancelled, for each target in the order of `first_of`."""
        async with asyncio.TaskGroup() as group:
            for name, target in self._targets.items():
                group.create_task(self._send_all(name, target), name=f"notify {name}")
                if isinstance(target, Refreshing):
                    group.create_task(self._refresh(name, target), name=f"refresh {name}")
            group.create_task(self._tick(), name="notify tick")
            while True:
                await self._clock.sleep(_RELOAD)
                await self._reload()

    async def _refresh(self, name: str, target: Refreshing) -> None:
        """Send a target its open alarms again, each `target.period` seconds while this process is on duty."""
        while True:
            if self._is_open:
                async with self._turns[name]:
                    self._note(name, await target.refresh(self._linked(self._open(name))))
            await self._clock.sleep(target.period)

    async def _reload(self) -> None:
        """Queue messages that wait in the storage, and delete old ones.

        A process that is not on duty only reads the tries of the process on duty, to show failing targets to its decks.
        """
        try:
            if self._is_open:
                await self._in_thread(partial(self._spool.forget_old, self._clock.now() + self._ahead))
            self._dead = len(await self._in_thread(partial(self._spool.messages, DEAD)))
            waiting = [self._ours(spooled) for spooled in await self._in_thread(partial(self._spool.messages, WAITING))]
        except SpoolError as error:
            _log.warning("spool cannot be read", reason=str(error))
            return
        if self._is_open:
            self._enqueue(waiting)  # at once: a message that leaves the queue meanwhile must not come back
            await self._give_up_orphans(waiting)
        else:
            tried = [spooled.message for spooled in waiting if spooled.tries]
            self._failing = {message.target: message.at for message in reversed(tried)}

    async def _give_up_orphans(self, waiting: Iterable[Spooled]) -> None:
        """Give up old messages whose target is no longer in the settings."""
        for spooled in waiting:
            if spooled.message.target not in self._targets and self._is_too_old(spooled.message):
                await self._mark(replace(spooled, state=DEAD, answer=_NO_TARGET))

    def _is_too_old(self, message: Message) -> bool:
        return self._clock.now() - message.at >= GIVEN_UP

    def _ours(self, spooled: Spooled) -> Spooled:
        """Return the message with times by the clock of this process."""
        return replace(spooled, message=replace(spooled.message, at=spooled.message.at - self._ahead))

    def _enqueue(self, messages: Iterable[Spooled]) -> None:
        for spooled in messages:
            name, key = spooled.message.target, spooled.message.key
            is_known = key in self._done or key in self._unmarked
            if name in self._queues and not is_known:  # other messages have lost their target
                self._queues[name].setdefault(key, spooled)
                self._news[name].set()

    async def _send_all(self, name: str, target: Target) -> None:
        queue, failures = self._queues[name], 0
        while True:
            first = first_of(self._sendable(name))
            if first is None:
                self._news[name].clear()
                await self._news[name].wait()
                continue
            delivery = await self._send(name, target, first)
            if delivery is None:
                continue
            failures = (1 if delivery.is_partial else failures + 1) if first.key in queue else 0
            if failures and await self._steps_over(name, target, first, failures, delivery):
                failures = 0

    def _sendable(self, name: str) -> list[Message]:
        """Return the messages of a target that may be sent now, oldest first."""
        return [spooled.message for key, spooled in self._queues[name].items() if key not in self._called_back]

    async def _send(self, name: str, target: Target, message: Message) -> Delivery | None:
        """Try once to send a waiting message, and store the result. Returns None if it must not be sent any more.

        A message that is taken or given up leaves the queue. A message that is refused for good is split into its
        alarms. A refused message about one alarm is given up, and its plain text is tried once.
        """
        queue, key = self._queues[name], message.key
        spooled = queue[key]
        self._on_way.add(key)
        if not await self._may_send(key):
            self._on_way.discard(key)
            queue.pop(key, None)
            return None
        delivery = await self._try(target, message)
        self._note(name, delivery)
        if delivery.is_refused and await self._split(name, message):
            self.results[message.route, _RESULTS[WAITING]] += 1
            return delivery
        is_dead = delivery.is_refused or (self._is_too_old(message) and not message.ends)
        state = SENT if delivery.is_taken else DEAD if is_dead else WAITING
        self.results[message.route, _RESULTS[state]] += 1
        is_failed_or_done = state != WAITING or not delivery.is_partial
        tried = Spooled(message, state, spooled.tries + is_failed_or_done, delivery.answer)
        await self._mark(tried, receipt=delivery.receipt)
        self._on_way.discard(key)
        if state == WAITING:
            if key in queue:
                queue[key] = tried
            return delivery
        queue.pop(key, None)
        if state == SENT:
            self._done.append(key)
        else:
            self._dead += 1
        if delivery.is_refused:
            await self._send_as_plain_text(name, target, tried)
        return delivery

    def _note(self, name: str, delivery: Delivery) -> None:
        """Store since when a target takes nothing. A single refusal does not count: the next message may be taken."""
        if delivery.is_taken:
            self._failing.pop(name, None)
            self._refusing.discard(name)
        elif not delivery.is_refused or name in self._refusing:
            self._failing.setdefault(name, self._clock.now())
        else:
            self._refusing.add(name)

    async def _steps_over(self, name: str, target: Target, failed: Message, failures: int, delivery: Delivery) -> bool:
        """Wait for the next try of a failed message, and send trials. Return whether the target took a trial.

        From the third failed try on, another message of the target is sent as a trial. If there is no other, or the
        target does not take it, the trial is a message about one alarm of a shared message. If the target takes a
        trial, the failed message is given up or split; otherwise the target is down.

        A message that came from a split lets other messages go first after each failed try. `failures`: failed tries in
        a row.
        """
        queue, asked = self._queues[name], _asked(delivery)
        longest = target.period if isinstance(target, Refreshing) else MAX_WAIT
        end = self._clock.monotonic() + self._wait(failures, delivery, longest)
        if asked:
            await self._clock.sleep(asked)
        if self._trial(name, failed) is None:
            part = await self._try_part(name, target, failed)
            if part and part.is_taken:
                return True
            end = max(end, self._clock.monotonic() + _asked(part))
        trial_after = 1 if failed.key in self._parted else TRIAL_AFTER
        while failed.key in queue and queue[failed.key].tries >= trial_after:
            trial = self._trial(name, failed)
            if trial is None:
                if not await self._hears_within(name, end - self._clock.monotonic()):
                    return False
                continue
            delivered = await self._send(name, target, trial)
            if delivered is None or delivered.is_refused:
                continue
            if delivered.is_taken:
                is_poison = failed.key in queue and queue[failed.key].tries >= TRIAL_AFTER
                if is_poison and failed.key not in self._called_back:
                    await self._give_up(name, target, failed, trial.alarms)
                return True
            end = max(end, self._clock.monotonic() + _asked(delivered))
            part = None if _asked(delivered) else await self._try_part(name, target, failed)
            if part and part.is_taken:
                return True
            end = max(end, self._clock.monotonic() + _asked(part))
            break
        await self._clock.sleep(max(0.0, end - self._clock.monotonic()))
        return False

    def _trial(self, name: str, failed: Message) -> Message | None:
        """Return the message to send while `failed` waits: the one with the fewest tries, critical alarms first.

        Prefers messages that overtake no older message about the same alarm. Returns None if no message waits.
        """
        queue, found, alarms = self._queues[name], list[Message](), set[str]()
        others = [message for message in self._sendable(name) if message.key != failed.key]
        for message in self._sendable(name):
            if message.key != failed.key and not message.alarms & alarms:
                found.append(message)
            alarms |= message.alarms
        found = found or others[:1]
        return min(found, key=lambda message: (queue[message.key].tries, not message.is_urgent), default=None)

    async def _hears_within(self, name: str, seconds: float) -> bool:
        """Wait up to `seconds` until a message of the target is queued. Return whether a message was queued."""
        self._news[name].clear()
        news = asyncio.ensure_future(self._news[name].wait())
        pause = asyncio.ensure_future(self._clock.sleep(max(0.0, seconds)))
        try:
            await asyncio.wait((news, pause), return_when=asyncio.FIRST_COMPLETED)
        finally:
            news.cancel()
            pause.cancel()
        return news.done() and not news.cancelled()

    async def _try_part(self, name: str, target: Target, failed: Message) -> Delivery | None:
        """Try a message about a single alarm, taken out of a shared message, while another message fails.

        Each call tries another alarm, but never an alarm that several waiting messages are about: a newer message must
        not overtake an older one. If the target takes the single alarm, the shared message is split, and the failed
        message is split or given up. Returns None without such an alarm, and before the third failed try.
        """
        queue = self._queues[name]
        tries = queue[failed.key].tries if failed.key in queue and failed.key not in self._called_back else 0
        if tries < TRIAL_AFTER:
            return None
        waiting = [*self._sendable(name)]
        count = Counter(alarm for message in waiting for alarm in message.alarms)
        parts = {part.key: (part, message) for message in waiting for part in self._parts(message)}
        held_back = withheld(self._state, [part for part, _ in parts.values()], self._clock.now())
        ready = [
            (part, shared)
            for part, shared in parts.values()
            if part.key not in held_back and all(count[alarm] == 1 for alarm in part.alarms)
        ]
        if not ready:
            return None
        part, shared = ready[(tries - TRIAL_AFTER) % len(ready)]
        if not await self._may_send(shared.key):
            return None
        self._on_way.add(shared.key)
        delivery = await self._try(target, part)
        self._note(name, delivery)
        self.results[part.route, _RESULTS[SENT if delivery.is_taken else WAITING]] += 1
        if delivery.is_taken and await self._split(name, shared) and part.key in queue:
            del queue[part.key]
            self._done.append(part.key)
            await self._mark(Spooled(part, SENT, 1, delivery.answer), receipt=delivery.receipt)
        self._on_way.discard(shared.key)
        if delivery.is_taken and failed.key in queue and failed.key not in self._called_back:
            await self._give_up(name, target, failed, frozenset())
        return delivery

    def _parts(self, message: Message) -> list[Message]:
        """Return a message for each alarm of a message about several alarms."""
        box = Box(message.route, message.target)
        try:
            return [self._plan.message(box, [Entry.from_json(entry)], message.at) for entry in message.entries]
        except (ValueError, KeyError, TypeError):  # from a store that others can write
            return []

    async def _split(self, name: str, message: Message) -> list[Message]:
        """Put a message for each alarm in the place of a message that its target does not take, and return them.

        Returns nothing if the message has only one alarm.
        """
        parts, queue = self._parts(message), self._queues[name]
        if not parts:
            return []
        self._on_way.add(message.key)
        async with self._stepping:
            if message.key in queue:
                spooled = {part.key: Spooled(part) for part in parts}
                self._parted = {*spooled, *(self._parted & {message.key for message in self._queued()})}
                waiting = [*queue.items()]
                queue.clear()
                for key, each in waiting:
                    queue.update(spooled if key == message.key else {key: each})
                self._done.append(message.key)
                self._call_back(self._clock.now())
                self._unkept += parts
                self._withdrawn.append(message.key)
                await self._keep(self._clock.now())
        self._on_way.discard(message.key)
        return parts

    async def _give_up(self, name: str, target: Target, message: Message, overtaken: frozenset[str]) -> None:
        """Split a message into its alarms, or give it up if it has a single alarm: the target takes other messages.

        `overtaken`: alarms of which the target took a newer message. Parts about them are given up, too.
        """
        parts = await self._split(name, message)
        for letter in (part for part in parts or [message] if not parts or part.alarms & overtaken):
            if spooled := self._queues[name].get(letter.key):
                dead = replace(spooled, state=DEAD)
                self.results[letter.route, _RESULTS[DEAD]] += 1
                self._dead += 1
                await self._mark(dead)
                self._queues[name].pop(letter.key, None)  # after the file knows it, or `_reload` would queue it again
                if not letter.alarms & overtaken:
                    await self._send_as_plain_text(name, target, dead)

    async def _send_as_plain_text(self, name: str, target: Target, dead: Spooled) -> None:
        """Try once to send a given-up message as short plain text, so that people at least learn of the worst alarm."""
        delivery = await self._try(target, dead.message.as_plain_text())
        if delivery.is_taken:
            self._note(name, delivery)
            words = f"{dead.answer}; taken as plain text"
            await self._mark(replace(dead, answer=words), is_taken=True, receipt=delivery.receipt)

    async def _may_send(self, key: str) -> bool:
        """Return whether to send the message. Returns True if the storage fails: the message may then go out twice."""
        try:
            return await self._in_thread(partial(self._spool.may_send, key))
        except NotOnDutyError:
            return False
        except SpoolError:
            return True

    async def _try(self, target: Target, message: Message) -> Delivery:
        opened = tuple(alarm for alarm in self._opens.values() if alarm.target == message.target)
        links = self._links((beginning.life, message.route) for beginning in message.beginnings)
        try:
            async with self._turns[message.target]:
                delivery = await target.send(replace(message.linked(links), opened=opened))
        except Exception as error:  # noqa: BLE001  the top of a worker
            _log.exception("target failed")
            return Delivery(is_taken=False, answer=f"internal error of livedeck ({type(error).__name__}); see the log")
        _log.info("message", target=message.target, title=message.title, taken=delivery.is_taken, reply=delivery.answer)
        return delivery

    def _links(self, lives: Iterable[tuple[str, str]]) -> dict[str, str]:
        """Return life -> link for each alarm that a person can acknowledge now. `lives`: lives, each with its route."""
        if self._link is None or self._last is None:
            return {}
        alarms = {alarm.key: alarm for alarm in self._last.alarms if alarm.needs_ack and alarm.active}
        present = {life.id: alarms[life.key] for life in self._state.lives.values() if life.key in alarms}
        ahead = self._ahead.total_seconds()
        return {life: self._link(present[life].moved(ahead), route) for life, route in lives if life in present}

    def _linked(self, opens: Sequence[Open]) -> tuple[Open, ...]:
        """Return open alarms with the links that acknowledge them."""
        links = self._links((opened.life, opened.route) for opened in opens)
        return tuple(
            replace(opened, entry=replace(opened.entry, acknowledge=links.get(opened.life, ""))) for opened in opens
        )

    async def _mark(self, spooled: Spooled, *, is_taken: bool = False, receipt: str = "") -> None:
        self._note_open(spooled, receipt, is_taken=is_taken or spooled.state == SENT)
        await self._store(spooled, receipt, is_taken=is_taken)

    async def _store(self, spooled: Spooled, receipt: str, *, is_taken: bool) -> None:
        key = spooled.message.key
        mark = partial(
            self._spool.mark, key, spooled.state, spooled.tries, spooled.answer, is_taken=is_taken, receipt=receipt
        )
        try:
            await self._in_thread(mark)
        except SpoolError as error:  # after a restart it is sent again under the same key
            _log.warning("could not store the state of a message", reason=str(error))
            self._unmarked[key] = spooled, is_taken, receipt
        else:
            self._unmarked.pop(key, None)
            if any(message.key == key for message in self._unkept):
                self._unmarked[key] = spooled, is_taken, receipt  # it was sent from memory and is not stored yet

    def _note_open(self, spooled: Spooled, receipt: str, *, is_taken: bool) -> None:
        """Update the alarms that are open at a target after a try to send, by the rule that the storage uses."""
        message, changed = spooled.message, dict(self._opens)
        for opened in message.opens if is_taken else ():
            changed[opened.target, opened.life] = replace(opened, receipt=receipt)
        for life in message.ends if spooled.state != WAITING else ():
            changed.pop((message.target, life), None)
        self._opens = changed

    async def _mark_late(self) -> None:
        """Store the states that changed while the storage failed."""
        for spooled, is_taken, receipt in tuple(self._unmarked.values()):
            await self._store(spooled, receipt, is_taken=is_taken)

    def _wait(self, tries: int, delivery: Delivery, longest: float) -> float:
        """Return the seconds until the next try, at most `longest` unless the receiver asks for more."""
        back_off = min(longest, 2.0 ** min(tries - 1, 9)) * (1 + _JITTER * (2 * self._random.random() - 1))
        return max(back_off, min(delivery.retry_after or 0.0, MAX_ASKED))

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)


def _asked(delivery: Delivery | None) -> float:
    """Return the seconds for which the reply asks to wait (`Retry-After`), at most an hour."""
    return min((delivery and delivery.retry_after) or 0.0, MAX_ASKED)

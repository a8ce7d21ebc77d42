"""Routes for people's actions at attached decks: alarm actions, silences, rulings, interests.

See collector.md, "Commands" and "Silences".
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from datetime import timedelta
from math import inf
from typing import Annotated, Any, NamedTuple, NotRequired, Protocol

from pydantic import Field, WithJsonSchema
from starlette.requests import Request
from starlette.routing import Route
from typing_extensions import TypedDict

from livedeck.collector.protocol.commands import VERBS, Body, Verb, command_of, parse_key
from livedeck.collector.protocol.silences import DraftBody, Extension, draft_of
from livedeck.collector.serving import past
from livedeck.collector.serving.endpoints import ONCE, Caller, Endpoint, Refusal, not_on_board, routes_of, uid_of
from livedeck.monitor import (
    ActionKind,
    ActionRecord,
    Alarm,
    AlarmGone,
    AlarmKey,
    AlarmRefused,
    BitrateUnit,
    Content,
    History,
    IntentRecord,
    KnownMaterial,
    Marker,
    Monitor,
    ResourceKey,
    Silence,
    SilenceGone,
    person,
    preview_of,
)
from livedeck.monitor.published.codec import SHARED_LISTS, encode_record
from livedeck.text.secrets import masked_line

MAX_DECKS, MAX_DECKS_OF_TOKEN, MAX_LISTS_OF_TOKEN = 256, 8, 32
"""Maximum number of attached decks, of decks with the same token, and of lists that these decks show together."""

KEPT_SECONDS = 1.0
"""Maximum seconds that a reply waits until the alarm action is on the disk."""

POKE_SECONDS = 1.0
"""Minimum seconds between two refreshes that decks request (pokes), for all decks together."""

_MAX_NAME = 100
"""Maximum number of characters of a deck's name, and of the names in its records."""


class Watcher(Protocol):
    """Interface to the monitor, which polls events and lists on a screen more often."""

    def set_focus(self, event_id: str | None, viewer: str = ...) -> None:
        """Set the event on a viewer's screen; None for no event."""

    def watch(self, viewer: str, *keys: ResourceKey) -> None:
        """Poll these lists, and no others, for a viewer."""


class ChosenContent(Body):
    """Content of an event; None for the content in the settings."""

    content: Content | None


class ChosenUnit(Body):
    """Unit of the platform's bit rates."""

    unit: BitrateUnit


class Materials(Body):
    """Materials that were created, renamed or reordered, and ids of deleted materials."""

    remember: tuple[KnownMaterial, ...] = ()
    forget: tuple[str, ...] = ()


class Audited(Body):
    """Intent, action or marker of a person, for the audit. The time of a marker is by the server clock."""

    intent: IntentRecord | None = None
    action: ActionRecord | None = None
    marker: Marker | None = None


_SharedList = Annotated[
    ResourceKey,
    WithJsonSchema(
        {
            "type": "array",
            "prefixItems": [{"enum": sorted(SHARED_LISTS)}, {"type": "string"}, {"type": "string"}],
            "minItems": 1,
            "maxItems": 3,
        }
    ),
]
"""Key of a list that the collector polls for decks: kind, id of the event or video, subtitle track."""


class Interest(Body):
    """Event and lists on the screen of a deck, valid for `ttl` seconds."""

    deck: Annotated[str, Field(min_length=1, max_length=_MAX_NAME)]
    focus: str | None = None
    lists: Annotated[tuple[_SharedList, ...], Field(max_length=32)] = ()
    ttl: Annotated[float, Field(gt=0, le=30)]


class Empty(TypedDict):
    """Reply without values."""


class Changed(TypedDict):
    """Outcome of a request. `changed`: false if it had no effect."""

    changed: bool


class ChangedAlarm(TypedDict):
    """Alarm as in a snapshot; left out if the alarm no longer exists."""

    alarm: NotRequired[dict[str, Any]]


class AlarmReply(ChangedAlarm):
    """Outcome of an alarm action. `changed`: false if somebody else was first. `say`: outcome in words."""

    changed: bool
    say: str


class Silences(TypedDict):
    """Silences that run or are planned."""

    silences: list[dict[str, Any]]


class Covered(TypedDict):
    """Numbers of events and alarms that a silence covers now."""

    events: int
    on_air: int
    alarms: int


class SilenceReply(TypedDict):
    """Silence with its present cover. `say`: outcome in words; left out for a preview."""

    silence: dict[str, Any]
    covers: Covered
    say: NotRequired[str]


def routes(monitor: Monitor, history: History | None) -> list[Route]:
    """Return the routes of this module and of the past. `history`: history of the collector, or None."""
    acts = _Acts(monitor, history)
    return [*routes_of(ACTS, acts), *past.routes(history, monitor.clock.now)]


class _Acts:
    def __init__(self, monitor: Monitor, history: History | None) -> None:
        self._monitor, self._history = monitor, history
        self._interests, self._pokes = Interests(monitor), Pokes(monitor.refresh)

    async def act_on_alarm(self, request: Request, caller: Caller, kind: ActionKind, body: Body) -> AlarmReply:
        """Carry out an alarm action, and return the state of the alarm after it."""
        key = parse_key(request.path_params["key"])
        if key is None:
            raise Refusal(404, "unknown", "no such alarm: its key is the base64url of [EVENT, KIND, TARGET]")
        command = command_of(key, kind, body, caller.name, uid_of(request))
        try:
            action = self._monitor.carry_out(command)
        except AlarmRefused as error:
            raise refusal_of(error, self._alarm(key)) from None
        say = f"{outcome_text(self._monitor.find_alarm(key))}{await unsaved_note(self._history)}"
        return AlarmReply(changed=action is not None, say=say, **self._alarm(key))

    def _alarm(self, key: AlarmKey) -> ChangedAlarm:
        alarm = self._monitor.find_alarm(key)
        return ChangedAlarm(alarm=encode_record(alarm)) if alarm else ChangedAlarm()

    async def list_silences(self, _: Request, __: Caller) -> Silences:
        """Return the silences that run or are planned."""
        return {"silences": [encode_record(silence) for silence in self._monitor.snapshot.silences]}

    async def add_silence(self, request: Request, caller: Caller, body: DraftBody) -> SilenceReply:
        """Add a silence, or preview it."""
        try:
            draft = draft_of(body, caller.name, uid_of(request))
        except ValueError as error:
            raise Refusal(422, "not understood", masked_line(str(error), 300)) from None
        if not body.preview:
            return await self._stored(self._monitor.add_silence(draft))
        try:
            return self._covered(self._monitor.draft_silence(draft))
        except AlarmRefused as error:
            raise refusal_of(error) from None

    async def extend_silence(self, request: Request, caller: Caller, body: Extension) -> SilenceReply:
        """Extend a silence."""
        name = request.path_params["id"]
        return await self._stored(
            self._monitor.extend_silence(name, body.seconds, actor=caller.name, uid=uid_of(request))
        )

    async def end_silence(self, request: Request, caller: Caller) -> SilenceReply:
        """End a silence, or cancel a planned one."""
        name = request.path_params["id"]
        return await self._stored(self._monitor.end_silence(name, actor=caller.name, uid=uid_of(request)))

    async def _stored(self, work: Awaitable[Silence]) -> SilenceReply:
        """Wait for `work` and until its silence is on the disk, and return the silence. Raises Refusal."""
        try:
            silence = await work
        except AlarmRefused as error:
            raise refusal_of(error) from None
        return {**self._covered(silence), "say": f"silence {silence.id}{await unsaved_note(self._history)}"}

    def _covered(self, silence: Silence) -> SilenceReply:
        """Return a silence with its present cover."""
        covered = preview_of(silence, self._monitor.snapshot)
        return {
            "silence": encode_record(silence),
            "covers": {"events": len(covered.events), "on_air": len(covered.on_air), "alarms": len(covered.alarms)},
        }

    async def take_as_usual(self, request: Request, caller: Caller, ___: Body) -> Changed:
        """Make the current values of an event its baseline."""
        event_id = self._event_id(request)
        return {"changed": await self._monitor.take_as_usual(event_id, caller.name)}

    async def choose_content(self, request: Request, caller: Caller, body: ChosenContent) -> Changed:
        """Set the content of an event."""
        event_id = self._event_id(request)
        return {"changed": await self._monitor.choose_content(event_id, body.content, caller.name)}

    async def choose_unit(self, _: Request, caller: Caller, body: ChosenUnit) -> Changed:
        """Set the unit of the platform's bit rates, for every event."""
        try:
            return {"changed": await self._monitor.choose_unit(body.unit, caller.name)}
        except AlarmRefused as error:
            raise refusal_of(error) from None

    def _event_id(self, request: Request) -> str:
        event_id: str = request.path_params["id"]
        if self._monitor.snapshot.find(event_id) is None:
            raise not_on_board(self._monitor.snapshot)
        return event_id

    async def keep_materials(self, _: Request, __: Caller, body: Materials) -> Empty:
        """Remember and forget materials of videos."""
        if body.remember:
            await self._monitor.remember_materials(*body.remember)
        if body.forget:
            await self._monitor.forget_materials(*body.forget)
        return Empty()

    async def keep_audit(self, _: Request, caller: Caller, body: Audited) -> Empty:
        """Store a person's intent, action or marker, so that the collector knows who caused a change.

        The actor is the name of the token. A time in the future becomes the present time.
        """
        now = self._monitor.clock.now()
        if self._history is None:
            raise Refusal(503, "no history", "this collector keeps no history")
        if intent := body.intent:
            verb, host = (masked_line(name, _MAX_NAME) for name in (intent.verb, intent.host))
            kept = replace(intent, at=min(intent.at, now), actor=caller.name, verb=verb, host=host)
            await self._history.record_intent(kept)
        if action := body.action:
            await self._history.record_action(replace(action, at=min(action.at, now)))
        if marker := body.marker:
            server_now = now + timedelta(seconds=self._monitor.snapshot.link.skew)
            await self._history.mark(marker.event_id, min(marker.at, server_now), marker.text)
        return Empty()

    async def take_interest(self, _: Request, caller: Caller, interest: Interest) -> Empty:
        """Poll the event and the lists on a deck's screen more often for some seconds."""
        if any(key.kind not in SHARED_LISTS for key in interest.lists):
            raise Refusal(422, "not understood", f"lists: only {', '.join(sorted(SHARED_LISTS))}")
        self._interests.put(caller.name, interest)
        return Empty()

    async def poke(self, _: Request, __: Caller, ___: Body) -> Empty:
        """Poll everything at once, because a deck has changed something."""
        self._pokes.poke()
        return Empty()


def _acting(name: str, verb: Verb) -> Callable[..., Awaitable[AlarmReply]]:
    """Return the handler of an alarm action."""

    async def act(acts: _Acts, request: Request, caller: Caller, body: Body) -> AlarmReply:
        return await acts.act_on_alarm(request, caller, verb.kind, body)

    act.__name__, act.__doc__ = f"{name.replace('-', '_')}_alarm", f"Carry out `{name}` on an alarm."
    return act


ACTS: tuple[Endpoint[_Acts], ...] = (
    *(
        Endpoint("POST", f"/v1/alarms/{{key}}/{name}", "act", _acting(name, verb), verb.body, (ONCE,), refuses=(409,))
        for name, verb in VERBS.items()
    ),
    Endpoint("GET", "/v1/silences", "read", _Acts.list_silences),
    Endpoint("POST", "/v1/silences", "act", _Acts.add_silence, DraftBody, (ONCE,), refuses=(409,)),
    Endpoint("POST", "/v1/silences/{id:path}", "act", _Acts.extend_silence, Extension, (ONCE,), refuses=(409,)),
    Endpoint("DELETE", "/v1/silences/{id:path}", "act", _Acts.end_silence, None, (ONCE,), refuses=(409,)),
    Endpoint("POST", "/v1/events/{id:path}/usual", "act", _Acts.take_as_usual, Body, refuses=(503,)),
    Endpoint("POST", "/v1/events/{id:path}/content", "act", _Acts.choose_content, ChosenContent, refuses=(503,)),
    Endpoint("POST", "/v1/unit", "act", _Acts.choose_unit, ChosenUnit, refuses=(409,)),
    Endpoint("POST", "/v1/materials", "act", _Acts.keep_materials, Materials),
    Endpoint("POST", "/v1/audit", "act", _Acts.keep_audit, Audited, refuses=(503,)),
    Endpoint("PUT", "/v1/interest", "read", _Acts.take_interest, Interest, refuses=(503,)),
    Endpoint("POST", "/v1/poke", "read", _Acts.poke, Body),
)


class _Deck(NamedTuple):
    """Token owner and self-reported name of an attached deck."""

    person: str
    name: str


class Interests:
    """Interests of all attached decks. An interest expires unless it is renewed."""

    def __init__(self, watcher: Watcher) -> None:
        self._watcher = watcher
        self._current: dict[_Deck, tuple[Interest, asyncio.TimerHandle]] = {}

    def put(self, person: str, interest: Interest) -> None:
        """Set the interest of one of a person's decks. Raises Refusal if there are too many decks or lists."""
        deck = _Deck(person, interest.deck)
        self._refuse_crowd(deck, interest)
        self._cancel(deck)
        self._look(deck, interest.focus, interest.lists)
        if interest.focus or interest.lists:
            end = asyncio.get_running_loop().call_later(interest.ttl, self._forget, deck)
            self._current[deck] = interest, end

    def _refuse_crowd(self, deck: _Deck, interest: Interest) -> None:
        theirs = [
            shown.lists for other, (shown, _) in self._current.items() if other.person == deck.person and other != deck
        ]
        if deck not in self._current and len(theirs) >= MAX_DECKS_OF_TOKEN:
            say = f"{MAX_DECKS_OF_TOKEN} decks already use the token of {deck.person}; create a token per person"
            raise Refusal(429, "too many decks", say)
        if len({*interest.lists}.union(*theirs)) > MAX_LISTS_OF_TOKEN:
            say = (
                f"the decks with the token of {deck.person} show more than {MAX_LISTS_OF_TOKEN} lists together: "
                "close a screen or a deck"
            )
            raise Refusal(429, "too many lists", say)
        if deck not in self._current and len(self._current) >= MAX_DECKS:
            raise Refusal(503, "too many decks", f"{MAX_DECKS} decks are already attached")

    def _forget(self, deck: _Deck) -> None:
        self._cancel(deck)
        self._look(deck, None, ())

    def _cancel(self, deck: _Deck) -> None:
        if entry := self._current.pop(deck, None):
            entry[1].cancel()

    def _look(self, deck: _Deck, focus: str | None, lists: Iterable[ResourceKey]) -> None:
        self._watcher.set_focus(focus, "/".join(deck))
        self._watcher.watch("/".join(deck), *lists)


class Pokes:
    """Rate limit of refreshes. The first poke refreshes at once; further pokes within `seconds` share one refresh."""

    def __init__(self, refresh: Callable[[], None], seconds: float = POKE_SECONDS) -> None:
        self._refresh, self._seconds = refresh, seconds
        self._due, self._waiting = -inf, False

    def poke(self) -> None:
        """Refresh now, or as soon as the rate limit allows."""
        loop = asyncio.get_running_loop()
        if self._waiting:
            return
        if loop.time() < self._due:
            self._waiting = True
            loop.call_at(self._due, self._poke)
        else:
            self._poke()

    def _poke(self) -> None:
        self._waiting, self._due = False, asyncio.get_running_loop().time() + self._seconds
        self._refresh()


def refusal_of(error: AlarmRefused, more: Mapping[str, Any] | None = None) -> Refusal:
    """Return the refusal of a command on an alarm or a silence. `more`: other members of the reply."""
    status = 404 if isinstance(error, AlarmGone | SilenceGone) else 409
    return Refusal(status, error.code, str(error), more)


async def unsaved_note(history: History | None) -> str:
    """Wait until the action is on the disk. Returns a note for the reply if it is not saved, else an empty text."""
    if history is None:
        return ""
    try:
        async with asyncio.timeout(KEPT_SECONDS):
            is_kept = await history.flush()
    except TimeoutError:
        return "; not saved yet: the history is slow to write"
    return "" if is_kept else f"; not saved yet: {masked_line(history.fault)}"


def outcome_text(alarm: Alarm | None) -> str:
    """Return the state of an alarm after a command in words, with the last person who acted on it."""
    if alarm is None:
        return "the alarm no longer exists"
    by = f" by {person(alarm.answered_by)}, {alarm.answered_at:%H:%M:%S}Z" if alarm.answered_at else ""
    return masked_line(f"{alarm.kind}: {alarm.state.words}{by}")

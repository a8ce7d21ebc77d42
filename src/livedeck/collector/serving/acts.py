"""What persons at attached decks do: to alarms, to how events are judged, and what they look at (collector.md,
"Commands")."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import timedelta
from math import inf
from typing import Annotated, Any, NamedTuple, Protocol
from uuid import uuid4

from pydantic import Field
from starlette.requests import Request
from starlette.routing import Route

from livedeck.collector.protocol.commands import VERBS, Body, command_of, parse_key
from livedeck.collector.serving import past
from livedeck.collector.serving.endpoints import Caller, Refusal, endpoint, read_body
from livedeck.monitor import (
    ActionRecord,
    Alarm,
    AlarmGone,
    AlarmKey,
    AlarmRefused,
    History,
    IntentRecord,
    KnownMaterial,
    Marker,
    Monitor,
    Profile,
    ResourceKey,
    person,
)
from livedeck.monitor.published.codec import SHARED_LISTS, encode_record
from livedeck.text.secrets import masked_line

MAX_DECKS, MAX_DECKS_OF_TOKEN, MAX_LISTS_OF_TOKEN = 256, 8, 32
"""Whose interests are followed at a time, with how many lists that are asked for because of them."""

KEPT_SECONDS = 1.0
"""For so long an answer waits until what was done is on the disk."""

POKE_SECONDS = 1.0
"""From one poke that counts to the next, of all decks together."""

_IDEMPOTENCY_KEY = re.compile(r"[A-Za-z0-9_-]{8,64}")

_MAX_NAME = 100
"""Characters of what a deck calls itself, and of the names in its records."""


class Looks(Protocol):
    """Whoever can be told what is looked at, by whom."""

    def set_focus(self, event_id: str | None, viewer: str = ...) -> None:
        """That viewer looks at that event; None: at no one."""

    def watch(self, viewer: str, *keys: ResourceKey) -> None:
        """That viewer shows these lists, and no others."""


class ChosenProfile(Body):
    """What an event consists of; None: what the settings say."""

    profile: Profile | None


class Materials(Body):
    """Materials of videos that were made, renamed or put in order, and ids of those that were deleted."""

    remember: tuple[KnownMaterial, ...] = ()
    forget: tuple[str, ...] = ()


class Audited(Body):
    """What a person at an attached deck is about to send, did, or marked (the time of a marker: server clock)."""

    intent: IntentRecord | None = None
    action: ActionRecord | None = None
    marker: Marker | None = None


class Interest(Body):
    """What is looked at at a deck, for so many seconds: one event, and lists."""

    deck: Annotated[str, Field(min_length=1, max_length=_MAX_NAME)]
    focus: str | None = None
    lists: Annotated[tuple[ResourceKey, ...], Field(max_length=32)] = ()
    ttl: Annotated[float, Field(gt=0, le=30)]


def routes(monitor: Monitor, history: History | None) -> list[Route]:
    """The routes of what persons do, and of the past. `history`: the collector's, where what is done is kept."""
    acts = _Acts(monitor, history)
    return [
        Route("/v1/alarms/{key}/{verb}", endpoint("act", acts.answer_alarm), methods=["POST"]),
        Route("/v1/events/{id:path}/usual", endpoint("act", acts.take_as_usual), methods=["POST"]),
        Route("/v1/events/{id:path}/profile", endpoint("act", acts.choose_profile), methods=["POST"]),
        Route("/v1/materials", endpoint("act", acts.keep_materials), methods=["POST"]),
        Route("/v1/audit", endpoint("act", acts.keep_audit), methods=["POST"]),
        Route("/v1/interest", endpoint("read", acts.take_interest), methods=["PUT"]),
        Route("/v1/poke", endpoint("read", acts.poke), methods=["POST"]),
        *past.routes(history, monitor.clock.now),
    ]


class _Acts:
    def __init__(self, monitor: Monitor, history: History | None) -> None:
        self._monitor, self._history = monitor, history
        self._interests, self._pokes = Interests(monitor), Pokes(monitor.refresh)

    async def answer_alarm(self, request: Request, caller: Caller) -> Any:
        """Do what is wanted of an alarm, and say how it is after that."""
        key, verb = parse_key(request.path_params["key"]), VERBS.get(request.path_params["verb"])
        if key is None or verb is None:
            raise Refusal(404, "unknown", f"no such path; of an alarm there are {', '.join(VERBS)}")
        body = await read_body(request, verb.body)
        command = command_of(key, verb.kind, body, caller.name, _uid(request))
        try:
            answer = self._monitor.carry_out(command)
        except AlarmRefused as refusal:
            status = 404 if isinstance(refusal, AlarmGone) else 409
            raise Refusal(status, refusal.code, str(refusal), self._alarm(key)) from None
        say = f"{_outcome_text(self._monitor.find_alarm(key))}{await self._keep()}"
        return {"changed": answer is not None, "say": say, **self._alarm(key)}

    async def _keep(self) -> str:
        """Have all that was done on the disk before it is said to be done; what is to be said where it is not."""
        if self._history is None:
            return ""
        try:
            async with asyncio.timeout(KEPT_SECONDS):
                is_kept = await self._history.flush()
        except TimeoutError:
            return "; not yet kept: the history takes long to write"
        return "" if is_kept else f"; not yet kept: {masked_line(self._history.fault)}"

    def _alarm(self, key: AlarmKey) -> dict[str, Any]:
        alarm = self._monitor.find_alarm(key)
        return {"alarm": encode_record(alarm)} if alarm else {}

    async def take_as_usual(self, request: Request, caller: Caller) -> Any:
        """Judge an event by what it sends now."""
        event_id = self._event_id(request)
        await read_body(request, Body)
        return {"changed": await self._monitor.take_as_usual(event_id, caller.name)}

    async def choose_profile(self, request: Request, caller: Caller) -> Any:
        """Say what an event consists of."""
        event_id = self._event_id(request)
        body = await read_body(request, ChosenProfile)
        return {"changed": await self._monitor.choose_profile(event_id, body.profile, caller.name)}

    def _event_id(self, request: Request) -> str:
        event_id: str = request.path_params["id"]
        if all(state.id != event_id for state in self._monitor.snapshot.events):
            raise Refusal(404, "gone", "there is no such event")
        return event_id

    async def keep_materials(self, request: Request, _: Caller) -> Any:
        """Remember and forget materials of videos."""
        body = await read_body(request, Materials)
        if body.remember:
            await self._monitor.remember_materials(*body.remember)
        if body.forget:
            await self._monitor.forget_materials(*body.forget)
        return {}

    async def keep_audit(self, request: Request, caller: Caller) -> Any:
        """Keep what a person is about to do, or did: whose doing it was is known here then.

        The name is that of the token, and nothing is dated in the future.
        """
        body, now = await read_body(request, Audited), self._monitor.clock.now()
        if self._history is None:
            raise Refusal(503, "no history", "this collector keeps no history, so nothing can be put in it")
        if intent := body.intent:
            verb, host = (masked_line(name, _MAX_NAME) for name in (intent.verb, intent.host))
            kept = replace(intent, at=min(intent.at, now), actor=caller.name, verb=verb, host=host)
            await self._history.record_intent(kept)
        if action := body.action:
            await self._history.record_action(replace(action, at=min(action.at, now)))
        if marker := body.marker:
            server_now = now + timedelta(seconds=self._monitor.snapshot.link.skew)
            await self._history.mark(marker.event_id, min(marker.at, server_now), marker.text)
        return {}

    async def take_interest(self, request: Request, caller: Caller) -> Any:
        """Ask more often for what is looked at at that deck, for a while."""
        interest = await read_body(request, Interest)
        if any(key.kind not in SHARED_LISTS for key in interest.lists):
            raise Refusal(422, "not understood", f"lists: of {', '.join(sorted(SHARED_LISTS))}")
        self._interests.put(caller.name, interest)
        return {}

    async def poke(self, request: Request, _: Caller) -> Any:
        """Ask for everything anew: something was changed."""
        await read_body(request, Body)
        self._pokes.poke()
        return {}


class _Deck(NamedTuple):
    """Of whose token, and what it calls itself."""

    person: str
    name: str


class Interests:
    """What is looked at at attached decks, together. Of a deck that says nothing more it is forgotten."""

    def __init__(self, looks: Looks) -> None:
        self._looks = looks
        self._looking: dict[_Deck, tuple[Interest, asyncio.TimerHandle]] = {}

    def put(self, person: str, interest: Interest) -> None:
        """That deck of theirs shows this now, and nothing else. Raises Refusal."""
        deck = _Deck(person, interest.deck)
        self._refuse_crowd(deck, interest)
        self._cancel(deck)
        self._look(deck, interest.focus, interest.lists)
        if interest.focus or interest.lists:
            end = asyncio.get_running_loop().call_later(interest.ttl, self._forget, deck)
            self._looking[deck] = interest, end

    def _refuse_crowd(self, deck: _Deck, interest: Interest) -> None:
        theirs = [
            look.lists for other, (look, _) in self._looking.items() if other.person == deck.person and other != deck
        ]
        if deck not in self._looking and len(theirs) >= MAX_DECKS_OF_TOKEN:
            say = f"{MAX_DECKS_OF_TOKEN} decks look with the token of {deck.person} already; add one for each person"
            raise Refusal(429, "too many decks", say)
        if len({*interest.lists}.union(*theirs)) > MAX_LISTS_OF_TOKEN:
            say = f"the decks of {deck.person} look at more than {MAX_LISTS_OF_TOKEN} lists"
            raise Refusal(429, "too many lists", say)
        if deck not in self._looking and len(self._looking) >= MAX_DECKS:
            raise Refusal(503, "too many decks", f"{MAX_DECKS} decks look already")

    def _forget(self, deck: _Deck) -> None:
        self._cancel(deck)
        self._look(deck, None, ())

    def _cancel(self, deck: _Deck) -> None:
        if known := self._looking.pop(deck, None):
            known[1].cancel()

    def _look(self, deck: _Deck, focus: str | None, lists: Iterable[ResourceKey]) -> None:
        self._looks.set_focus(focus, "/".join(deck))
        self._looks.watch("/".join(deck), *lists)


class Pokes:
    """Refreshes at most once in so many seconds, however many ask: at once, or as soon as they are over."""

    def __init__(self, refresh: Callable[[], None], seconds: float = POKE_SECONDS) -> None:
        self._refresh, self._seconds = refresh, seconds
        self._due, self._waiting = -inf, False

    def poke(self) -> None:
        """Something was changed."""
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


def _uid(request: Request) -> str:
    """The id of a command: what is sent again with it is not done again. Raises Refusal."""
    text = request.headers.get("idempotency-key")
    if text is None:
        return uuid4().hex
    if not _IDEMPOTENCY_KEY.fullmatch(text):
        raise Refusal(422, "not understood", "Idempotency-Key: 8 to 64 letters, digits, - and _")
    return text


def _outcome_text(alarm: Alarm | None) -> str:
    """How an alarm stands after a command, and who was the last to answer it."""
    if alarm is None:
        return "there is no such alarm any more"
    by = f" by {person(alarm.answered_by)}, {alarm.answered_at:%H:%M:%S}Z" if alarm.answered_at else ""
    return masked_line(f"{alarm.kind}: {alarm.state}{by}")

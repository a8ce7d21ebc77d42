"""What every screen over another one shares: it answers once, and what is behind or gone takes no input."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from math import inf
from time import monotonic
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar
from weakref import WeakKeyDictionary, WeakSet

from textual import events
from textual.await_complete import AwaitComplete
from textual.message import Message
from textual.screen import ModalScreen, Screen
from textual.widget import Widget

from livedeck.ui.kit.driver import TerminalApp
from livedeck.ui.kit.layers import LayeredScreen
from livedeck.ui.kit.text_field import TextField

R = TypeVar("R")
S = TypeVar("S")

ECHO = 0.5
"""Seconds in which an enter behind the one that answered a dialog is its echo: it goes nowhere."""

MAX_HOLD = 5.0
"""Seconds for which keys wait at most for what a key before them does; then they go nowhere."""

INTERRUPT_KEY = "ctrl+c"
"""Waits for nothing: it leaves whatever is open."""

ROUNDS = 2
"""Ways from the focus up to the app: a key goes the first, and what it led to (a pressed button) the second."""


class Settled(Message):
    """Comes up to the app behind all that the key of that number has led to."""

    def __init__(self, key: int, rounds: int) -> None:
        super().__init__()
        self.key, self.rounds = key, rounds


class HoldExpired(Message):
    """What the key of that number has led to, or the first picture of a screen, takes too long."""

    def __init__(self, key: int) -> None:
        super().__init__()
        self.key = key


class Drawn(Message):
    """A screen over another one is on the terminal for the first time."""


class Answered(Message):
    """A screen over another one goes: what its own widgets were to bring up is lost with them."""


class Modal(ModalScreen[R], LayeredScreen[R], Generic[R]):
    """A screen that returns a value once.

    Keys that come in one burst are in the queues of its widgets before the first of them is acted on. The rest of them
    find a screen that has answered or is covered: they do nothing, to it and to what is in front by then.
    """

    TAKES_TYPED_AHEAD: ClassVar[bool] = False
    """Whether keys that were pressed before it was drawn are meant for it: something is typed into it."""

    CLOSES_OUTSIDE: ClassVar[bool] = False
    """Whether a click beside it is an escape: nothing is lost with it."""

    _has_answered = False

    def __init__(self, *, classes: str | None = None) -> None:
        super().__init__(classes=classes)
        self.is_drawn = False
        self.typed_ahead: WeakSet[events.Key] = WeakSet()

    def on_mount(self) -> None:
        self.call_after_refresh(self.drawn)

    def drawn(self) -> None:
        """It is on the screen for the first time."""
        self.is_drawn = True
        self.app.post_message(Drawn())

    @property
    def is_open(self) -> bool:
        """Whether it is in front and has not answered yet."""
        return not self._has_answered and self.app.screen is self  # `is_current` holds behind another one, too

    async def on_event(self, event: events.Event) -> None:
        """Swallow input once it is not open; it would bubble on to the bindings of the screen in front."""
        if isinstance(event, events.InputEvent) and not self.is_open:
            event.stop()
            event.prevent_default()
            return
        await super().on_event(event)

    def on_click(self, event: events.Click) -> None:
        """A click beside what it shows."""
        if self.CLOSES_OUTSIDE and self.get_widget_at(*event.screen_offset)[0] is self:
            self.dismiss(None)

    def dismiss(self, result: R | None = None) -> AwaitComplete:
        """Answer and go; nothing where it has answered or is not in front: another screen would go in its place."""
        if not self.is_open:
            return AwaitComplete()
        self._has_answered = True
        self.app.post_message(Answered())
        return super().dismiss(result)

    def open_over(self, screen: Screen[S], then: Callable[[S | None], Any]) -> None:
        """Lay another screen over it; nothing where one lies there already, or it has answered."""
        if self.is_open:
            self.app.push_screen(screen, then)


class _Typed(NamedTuple):
    """A key or a paste, the screen that was in front when it came, and when that was."""

    event: events.Key | events.Paste
    screen: Screen[Any]
    at: float

    @property
    def is_enter(self) -> bool:
        return isinstance(self.event, events.Key) and self.event.key == "enter"


class ModalApp(TerminalApp[R], Generic[R]):
    """An app with such screens: a key goes where it was meant, or nowhere. `timer`: seconds that never run backwards.

    Textual hands a key to the focus of that moment, and moves the focus only when the key has come up to the app again.
    So what is typed behind a tab, or behind the key of a form, waits here until that has moved or is drawn.
    """

    def __init__(self, timer: Callable[[], float] = monotonic) -> None:
        super().__init__()
        self._typing_timer = timer
        self._screens_of_keys: WeakKeyDictionary[events.Key, Screen[Any]] = WeakKeyDictionary()
        self._waiting: deque[_Typed] = deque()
        self._entered_at, self._answered_at = -inf, -inf
        self._awaited_key: int | None = None
        self._awaits_drawing = False
        self._keys = 0

    async def on_event(self, event: events.Event) -> None:
        """A key comes twice: first to be handed to the focus, and then, where nothing took it there, for a binding."""
        is_interrupt = isinstance(event, events.Key) and event.key == INTERRUPT_KEY
        if isinstance(event, events.InputEvent) and not self.screen_stack:
            return  # the app is ending
        if isinstance(event, (events.Key, events.Paste)) and not event.is_forwarded and not is_interrupt:
            self._waiting.append(_Typed(event, self.screen, self._typing_timer()))
            await self._hand_on()
            return
        if isinstance(event, events.Key):
            before = self._screens_of_keys.get(event, self.screen)
            if before is not self.screen and (isinstance(before, Modal) or isinstance(self.screen, Modal)):
                return
        await super().on_event(event)

    async def _hand_on(self) -> None:
        """Hand on what waits, until something has to be waited for."""
        while self._waiting and self._awaited_key is None:
            front = self.screen
            self._waiting = deque(typed._replace(screen=front) for typed in self._waiting if _is_meant(typed, front))
            if isinstance(front, Modal) and not front.is_drawn:
                self._wait_for(front)
                return
            if not self._waiting:
                return
            typed = self._waiting.popleft()
            if self._is_echo(typed):
                continue
            event = typed.event
            target = self.focused or front
            if isinstance(event, events.Key):
                self._screens_of_keys[event] = front
            await super().on_event(event)
            if not isinstance(target, TextField) or (isinstance(event, events.Key) and not event.is_printable):
                self._wait_for(target)

    def _is_echo(self, typed: _Typed) -> bool:
        """Whether it is an enter that was pressed again, or held, while the first one answered a dialog."""
        if not typed.is_enter:
            return False
        is_echo = typed.at - self._answered_at < ECHO
        if is_echo:
            self._answered_at = typed.at
        self._entered_at = typed.at
        return is_echo

    def _wait_for(self, target: Widget) -> None:
        """Hold what waits until all that was handed to the target is done, or it is drawn."""
        self._keys += 1
        self._awaited_key = self._keys
        self._awaits_drawing = isinstance(target, Modal) and not target.is_drawn
        asyncio.get_running_loop().call_later(MAX_HOLD, self.post_message, HoldExpired(self._keys))
        if not self._awaits_drawing:
            target.post_message(Settled(self._keys, ROUNDS))

    async def on_settled(self, message: Settled) -> None:
        """All that a key led to is done, once more where that may have led to something else."""
        if message.key == self._awaited_key and self.screen_stack:
            await self._go_on(message.key, message.rounds - 1)

    async def on_drawn(self) -> None:
        """What is typed into a screen can be handed to it."""
        if self._awaits_drawing and self._awaited_key is not None and self.screen_stack:
            await self._go_on(self._awaited_key, 0)

    async def on_answered(self) -> None:
        """Another screen is in front; what the answer leads to comes first."""
        self._answered_at, self._entered_at = self._entered_at, -inf
        if self._awaited_key is not None and self.screen_stack:
            await self._go_on(self._awaited_key, 1)

    async def _go_on(self, key: int, rounds: int) -> None:
        """Hand on what waits behind that key, after so many rounds."""
        if rounds and (self.focused or self.screen).post_message(Settled(key, rounds)):
            return
        self._awaited_key, self._awaits_drawing = None, False
        await self._hand_on()

    def on_hold_expired(self, message: HoldExpired) -> None:
        """Nobody knows any more where what waits would land: it goes nowhere."""
        if message.key == self._awaited_key:
            self._awaited_key, self._awaits_drawing = None, False
            self._waiting.clear()


def _is_meant(typed: _Typed, front: Screen[Any]) -> bool:
    """Whether that was meant for the screen in front, where another one was there when it came.

    A question gets nothing that was typed before it was drawn, and what is behind a dialog nothing that was typed for
    that one.
    """
    event, before, _ = typed
    if not isinstance(front, Modal):
        return front is before or not isinstance(before, Modal)
    if front is before and front.is_drawn:
        return True
    if front.TAKES_TYPED_AHEAD and isinstance(event, events.Key):
        front.typed_ahead.add(event)
    return front.TAKES_TYPED_AHEAD

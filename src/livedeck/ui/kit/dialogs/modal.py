"""Base class of modal screens, which lie over other screens.

A modal screen returns once, and takes no input while hidden or closed.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from math import inf
from pathlib import Path
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

STYLES = Path(__file__).with_name("dialogs.tcss")
"""Stylesheet of all modal screens. Textual parses the deck's own stylesheet four times before the first frame."""

ECHO = 0.5
"""Seconds after an enter that closed a dialog, during which another enter is dropped as an echo."""

MAX_HOLD = 5.0
"""Maximum number of seconds that keys wait for the effect of an earlier key. Then they are dropped."""

INTERRUPT_KEY = "ctrl+c"
"""Key that never waits for earlier keys. It leaves the deck, even from a dialog."""

ROUNDS = 2
"""Number of rounds that waiting keys wait. In a round, one message passes from the focus up to the app.

The first round covers the key itself, the second the effect of the key, such as a pressed button.
"""


class Settled(Message):
    """Message that reaches the app after all effects of the key with the number `key`."""

    def __init__(self, key: int, rounds: int) -> None:
        super().__init__()
        self.key, self.rounds = key, rounds


class HoldExpired(Message):
    """Message: waiting keys have waited `MAX_HOLD` seconds for the effect of an earlier key, whose number is `key`."""

    def __init__(self, key: int) -> None:
        super().__init__()
        self.key = key


class Drawn(Message):
    """Message that a modal screen is on the terminal for the first time."""


class Returned(Message):
    """Message that a modal screen closes. Its widgets cannot post messages any more."""


class Modal(ModalScreen[R], LayeredScreen[R], Generic[R]):
    """Screen over another screen. It returns a value once.

    Textual queues the keys of a burst in the screen's widgets before it handles the first key. If the first key closes
    or covers the screen, the other keys must have no effect on any screen.
    """

    CSS_PATH = STYLES

    TAKES_TYPED_AHEAD: ClassVar[bool] = False
    """True if the screen takes keys that were pressed before it was drawn, because it has a text field."""

    CLOSES_OUTSIDE: ClassVar[bool] = False
    """True if a click outside the box closes the screen. For screens without typed input that a click could lose."""

    _has_returned = False

    def __init__(self, *, classes: str | None = None) -> None:
        super().__init__(classes=classes)
        self.is_drawn = False
        self.typed_ahead: WeakSet[events.Key] = WeakSet()

    def on_mount(self) -> None:
        self.call_after_refresh(self.drawn)

    def drawn(self) -> None:
        """Record that the first picture of this screen is on the terminal."""
        self.is_drawn = True
        self.app.post_message(Drawn())

    @property
    def is_open(self) -> bool:
        """True if the screen is in front and has not returned yet."""
        return not self._has_returned and self.app.screen is self  # `is_current` is also true behind another screen

    async def on_event(self, event: events.Event) -> None:
        """Drop input if the screen is not open, because the input would run a key of the screen in front."""
        if isinstance(event, events.InputEvent) and not self.is_open:
            event.stop()
            event.prevent_default()
            return
        await super().on_event(event)

    def on_click(self, event: events.Click) -> None:
        """Close on a click outside the box, if `CLOSES_OUTSIDE` is set."""
        if self.CLOSES_OUTSIDE and self.get_widget_at(*event.screen_offset)[0] is self:
            self.dismiss(None)

    def dismiss(self, result: R | None = None) -> AwaitComplete:
        """Close the screen and return the result.

        Does nothing if the screen has returned or is not in front, because another screen would close instead.
        """
        if not self.is_open:
            return AwaitComplete()
        self._has_returned = True
        self.app.post_message(Returned())
        return super().dismiss(result)

    def open_over(self, screen: Screen[S], then: Callable[[S | None], Any]) -> None:
        """Open another screen over this one and pass its result to `then`. Does nothing if this screen is not open."""
        if self.is_open:
            self.app.push_screen(screen, then)


class _Typed(NamedTuple):
    """Key or paste, with the time of its arrival and the screen in front at that time."""

    event: events.Key | events.Paste
    screen: Screen[Any]
    at: float

    @property
    def is_enter(self) -> bool:
        return isinstance(self.event, events.Key) and self.event.key == "enter"


class ModalApp(TerminalApp[R], Generic[R]):
    """App with modal screens. A key reaches the screen that it was meant for, or is dropped.

    Textual sends a key to the current focus, and moves the focus only after the key has reached the app. So keys after
    a tab wait here until the focus has moved. Keys after the key that opens a form wait until the form is drawn.
    `timer`: returns monotonic seconds.
    """

    def __init__(self, timer: Callable[[], float] = monotonic) -> None:
        super().__init__()
        self._typing_timer = timer
        self._screens_of_keys: WeakKeyDictionary[events.Key, Screen[Any]] = WeakKeyDictionary()
        self._waiting: deque[_Typed] = deque()
        self._entered_at, self._returned_at = -inf, -inf
        self._awaited_key: int | None = None
        self._awaits_drawing = False
        self._keys = 0

    def has_keys_waiting(self) -> bool:
        """Return whether more keys of a burst have arrived. If so, the next picture would be out of date at once."""
        return bool(self._waiting)

    def has_keys_under_way(self) -> bool:
        """Return whether keys are waiting, or the last key still has effects to come."""
        return self.has_keys_waiting() or self._awaited_key is not None

    async def on_event(self, event: events.Event) -> None:
        """Queue keys and pastes, and handle any other event at once.

        A key that the focused widget did not use comes again, marked as forwarded, and goes to the bindings.
        """
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
        """Pass the waiting keys on, up to the first key with effects that take time."""
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
        """Return whether the key is an enter shortly after the enter that closed a dialog: a double press or a hold."""
        if not typed.is_enter:
            return False
        is_echo = typed.at - self._returned_at < ECHO
        if is_echo:
            self._returned_at = typed.at
        self._entered_at = typed.at
        return is_echo

    def _wait_for(self, target: Widget) -> None:
        """Hold the waiting keys until the target has handled all its messages, or until a new dialog is drawn."""
        self._keys += 1
        self._awaited_key = self._keys
        self._awaits_drawing = isinstance(target, Modal) and not target.is_drawn
        asyncio.get_running_loop().call_later(MAX_HOLD, self.post_message, HoldExpired(self._keys))
        if not self._awaits_drawing:
            target.post_message(Settled(self._keys, ROUNDS))

    async def on_settled(self, message: Settled) -> None:
        """Count down the rounds of a key, because its effects may have effects themselves."""
        if message.key == self._awaited_key and self.screen_stack:
            await self._go_on(message.key, message.rounds - 1)

    async def on_drawn(self) -> None:
        """Pass the waiting keys on, because the new screen can take keys now."""
        if self._awaits_drawing and self._awaited_key is not None and self.screen_stack:
            await self._go_on(self._awaited_key, 0)

    async def on_returned(self) -> None:
        """Pass the waiting keys on to the screen in front, one round after the closed screen has returned its value."""
        self._returned_at, self._entered_at = self._entered_at, -inf
        if self._awaited_key is not None and self.screen_stack:
            await self._go_on(self._awaited_key, 1)

    async def _go_on(self, key: int, rounds: int) -> None:
        """Wait for another round if `rounds` is not 0; otherwise pass the waiting keys on.

        `key`: number of the key whose effects the waiting keys wait for.
        """
        if rounds and (self.focused or self.screen).post_message(Settled(key, rounds)):
            return
        self._awaited_key, self._awaits_drawing = None, False
        await self._hand_on()

    def on_hold_expired(self, message: HoldExpired) -> None:
        """Drop the waiting keys, because their target is uncertain."""
        if message.key == self._awaited_key:
            self._awaited_key, self._awaits_drawing = None, False
            self._waiting.clear()


def _is_meant(typed: _Typed, front: Screen[Any]) -> bool:
    """Return whether a key is meant for the screen in front, even if it arrived while another screen was in front.

    A dialog without a text field takes no keys that arrived before its first picture. A screen takes no keys that were
    meant for a dialog over it.
    """
    event, before, _ = typed
    if not isinstance(front, Modal):
        return front is before or not isinstance(before, Modal)
    if front is before and front.is_drawn:
        return True
    if front.TAKES_TYPED_AHEAD and isinstance(event, events.Key):
        front.typed_ahead.add(event)
    return front.TAKES_TYPED_AHEAD

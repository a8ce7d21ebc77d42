"""What every screen over another one shares: it answers once, and what is behind or gone takes no input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar
from weakref import WeakKeyDictionary

from textual import events
from textual.await_complete import AwaitComplete
from textual.screen import ModalScreen, Screen

from livedeck.ui.kit.driver import TerminalApp

R = TypeVar("R")
S = TypeVar("S")


class Modal(ModalScreen[R], Generic[R]):
    """A screen that returns a value once.

    Keys that come in one burst are in the queues of its widgets before the first of them is acted on. The rest of them
    find a screen that has answered or is covered: they do nothing, to it and to what is in front by then.
    """

    _has_answered = False

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

    def dismiss(self, result: R | None = None) -> AwaitComplete:
        """Answer and go; nothing where it has answered or is not in front: another screen would go in its place."""
        if not self.is_open:
            return AwaitComplete()
        self._has_answered = True
        return super().dismiss(result)

    def open_over(self, screen: Screen[S], then: Callable[[S | None], Any]) -> None:
        """Lay another screen over it; nothing where one lies there already, or it has answered."""
        if self.is_open:
            self.app.push_screen(screen, then)


class ModalApp(TerminalApp[R], Generic[R]):
    """An app with such screens: a key does nothing to one that was not in front when it was pressed."""

    def __init__(self) -> None:
        super().__init__()
        self._screens_of_keys: WeakKeyDictionary[events.Key, Screen[Any]] = WeakKeyDictionary()

    async def on_event(self, event: events.Event) -> None:
        """A key comes twice: first to be handed to the focus, and then, where nothing took it there, for a binding."""
        if isinstance(event, events.Key):
            before = self._screens_of_keys.setdefault(event, self.screen)
            if before is not self.screen and (isinstance(before, Modal) or isinstance(self.screen, Modal)):
                return
        await super().on_event(event)

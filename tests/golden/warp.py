"""An event loop on which an hour passes in seconds: nobody waits, and sockets, timers and limits share its time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor
from functools import wraps
from selectors import DefaultSelector, SelectorKey
from typing import Any, ParamSpec, TypeVar, TypeVarTuple

T = TypeVar("T")
P = ParamSpec("P")
Given = TypeVarTuple("Given")
_Ready = list[tuple[SelectorKey, int]]


class Warp(asyncio.SelectorEventLoop):
    """Its time jumps to the next timer, and only when all that can happen without it has happened.

    Both ends of a connection must live on it: what comes from elsewhere comes too late. Raises AssertionError where
    nothing will ever happen again.
    """

    def __init__(self) -> None:
        self._selection = _Selection()
        super().__init__(self._selection)

    def time(self) -> float:
        """Seconds since this loop was made, of its own time."""
        return self._selection.now

    def run_in_executor(
        self,
        executor: Executor | None,  # noqa: ARG002
        func: Callable[[*Given], T],
        *args: *Given,
    ) -> asyncio.Future[T]:
        """Do the work here and now: a thread would take time of another kind."""
        future: asyncio.Future[T] = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as error:  # noqa: BLE001  whatever it is, who awaits it gets it
            future.set_exception(error)
        return future


def warped(test: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    """Return an async test as one that runs on a `Warp`, so that no busy machine makes a limit of time pass."""

    @wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        with asyncio.Runner(loop_factory=Warp) as runner:
            return runner.run(test(*args, **kwargs))

    return run


class _Selection(DefaultSelector):
    """Waits by passing the time."""

    now = 0.0

    def select(self, timeout: float | None = None) -> _Ready:
        ready: _Ready = super().select(0)
        if ready:
            return ready
        if timeout is None:
            raise AssertionError("nothing sleeps, and nothing happens")
        self.now += max(0.0, timeout)
        return ready

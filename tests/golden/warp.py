"""Event loop on which an hour passes in seconds: nothing waits, and sockets, timers and limits share its time."""

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
    """Loop whose time jumps to the next timer as soon as no task can run without it.

    Both ends of a connection must be on this loop; data from elsewhere comes too late. Raises AssertionError if no task
    can ever run again.
    """

    def __init__(self) -> None:
        self._selection = _Selection()
        super().__init__(self._selection)

    def time(self) -> float:
        """Return the seconds of this loop's time since it was made."""
        return self._selection.now

    def run_in_executor(
        self,
        executor: Executor | None,  # noqa: ARG002
        func: Callable[[*Given], T],
        *args: *Given,
    ) -> asyncio.Future[T]:
        """Do the work in this thread at once, because other threads have other time."""
        future: asyncio.Future[T] = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as error:  # noqa: BLE001  whatever it is, who awaits it gets it
            future.set_exception(error)
        return future


def warped(test: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    """Run an async test on a `Warp`, so that a busy machine exceeds no time limit."""

    @wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        with asyncio.Runner(loop_factory=Warp) as runner:
            return runner.run(test(*args, **kwargs))

    return run


class _Selection(DefaultSelector):
    """Selector that passes the time in place of waiting."""

    now = 0.0

    def select(self, timeout: float | None = None) -> _Ready:
        ready: _Ready = super().select(0)
        if ready:
            return ready
        if timeout is None:
            raise AssertionError("nothing sleeps, and nothing happens")
        self.now += max(0.0, timeout)
        return ready

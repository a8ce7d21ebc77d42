"""Cache of the last result of a function, for the object that draws the result. Pure."""

from __future__ import annotations

from collections.abc import Callable
from operator import is_
from typing import Generic, TypeVar

R = TypeVar("R")


class Remembered(Generic[R]):
    """Cache of the last result of a function, for as long as the inputs stay the same."""

    def __init__(self) -> None:
        self._last: tuple[tuple[object, ...], object, R] | None = None

    def get(self, subjects: tuple[object, ...], values: object, make: Callable[[], R]) -> R:
        """Return the result of `make` for these inputs. Calls `make` only if the inputs have changed.

        `subjects` are compared by identity, because a comparison of 10,000 events would take as long as `make`.
        `values` are compared by equality.
        """
        last = self._last
        if last is None or len(last[0]) != len(subjects) or not all(map(is_, last[0], subjects)) or last[1] != values:
            last = self._last = subjects, values, make()
        return last[2]

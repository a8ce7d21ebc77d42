"""Fixtures for every test: the dispositions of signals as at the start of a program."""

from __future__ import annotations

import gc
import signal
from collections.abc import Iterator
from functools import cache

import pytest
import starlette.routing

from livedeck.text.secrets import REGISTER

# Compiling the paths of its routes was a fifth of the start of a simulator, and a test starts one.
starlette.routing.compile_path = cache(starlette.routing.compile_path)

# The profile of trials is known before the command line is read.
pytest_plugins = ["breadth", "trials", "evening", "stylesheets", "pauses", "dearest"]


@pytest.fixture(autouse=True)
def no_secrets_of_another_test() -> Iterator[None]:
    """Empty the register of the process, so that a secret of one test is a plain word in the next."""
    yield
    REGISTER.clear()


def pytest_collection_finish() -> None:
    """Freeze the collected objects, and look for garbage less often.

    The search took a quarter of the time of a deck's test.
    """
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


for _number in (signal.SIGINT, signal.SIGQUIT):
    # A background job of a shell inherits them as ignored, and so would every program that a test starts.
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, signal.default_int_handler if _number is signal.SIGINT else signal.SIG_DFL)

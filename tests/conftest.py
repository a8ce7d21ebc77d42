"""What holds for every test: the dispositions of signals that a program finds when a person starts it."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from livedeck.text.secrets import REGISTER

pytest_plugins = ["trials", "evening"]  # the profile of trials is known before the command line is read


@pytest.fixture(autouse=True)
def no_secrets_of_another_test() -> Iterator[None]:
    """The register is the process's: what one test parsed as a secret is a plain word in the next."""
    yield
    REGISTER.clear()


for _number in (signal.SIGINT, signal.SIGQUIT):
    # A background job of a shell inherits them as ignored, and so would every program that a test starts.
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, signal.default_int_handler if _number is signal.SIGINT else signal.SIG_DFL)

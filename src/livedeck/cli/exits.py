"""How a command ends: its exit code, and one line on stderr for what it can name."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import click

from livedeck.client import ApiError
from livedeck.settings import SettingsError

DONE, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130


def run(work: Callable[[], Coroutine[Any, Any, int]]) -> int:
    """Run a command to its exit code. Anything but the errors named here is a fault of ours, and shown as one."""
    try:
        return asyncio.run(work())
    except SettingsError as error:
        click.echo(f"livedeck: {error}", err=True)
        return USAGE
    except ApiError as error:
        click.echo(f"livedeck: {error}", err=True)
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED

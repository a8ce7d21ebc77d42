"""How a command ends: its exit code, and one line on stderr for what it can name."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import click

from livedeck.cli.logs import log_to
from livedeck.client import ApiError, Misconfigured
from livedeck.settings import SettingsError, log_path

DONE, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130


def run(work: Callable[[], Coroutine[Any, Any, int]]) -> int:
    """Run a command to its exit code, its log in the file. An error that is not named here is a fault of ours."""
    log_to(log_path())
    try:
        return asyncio.run(work())
    except (SettingsError, Misconfigured) as error:
        click.echo(f"livedeck: {error}", err=True)
        return USAGE
    except ApiError as error:
        click.echo(f"livedeck: {error}", err=True)
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED

"""Commands with the exit codes of a monitoring plugin."""

from __future__ import annotations

from typing import Any

import click

from livedeck.presentation.check import ServiceState


class WrongUse(click.UsageError):
    """Usage error with exit code UNKNOWN, because monitoring systems read 2 as CRITICAL."""

    exit_code = ServiceState.UNKNOWN


class Plugin(click.Command):
    """Command whose usage errors are UNKNOWN."""

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """Make the context as click does. Raises WrongUse."""
        try:
            return super().make_context(*args, **kwargs)
        except click.UsageError as error:
            raise WrongUse(error.format_message(), error.ctx) from None

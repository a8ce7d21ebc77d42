"""Output of the commands. No other module writes to standard output and error, which may be a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from time import monotonic
from typing import TYPE_CHECKING, Any, TextIO

import click

from livedeck.cli.process import flush_errors
from livedeck.environment import terminal
from livedeck.text.outside import shown
from livedeck.text.values import age, size

if TYPE_CHECKING:
    from livedeck.text.segments import Line, StyleRole


def echo(text: object, *, nl: bool = True, err: bool = False) -> None:
    """Print a text with each line made safe for a terminal (trust.md, "Outside text").

    A failure of standard error is ignored: it changes neither what is sent nor the exit code.
    """
    try:
        click.echo("\n".join(shown(line) for line in str(text).split("\n")), nl=nl, err=err)
    except OSError:
        if not err:
            raise
        flush_errors()


def echo_table(head: str, lines: Iterable[str], *, is_bold: bool) -> None:
    """Print a table, each line made safe as in `echo`. `is_bold`: print the head in bold."""
    titles = click.style(shown(head), bold=True) if is_bold else shown(head)
    click.echo("\n".join([titles, *(shown(line) for line in lines)]))


def echo_lines(lines: Iterable[Line]) -> None:
    """Print styled lines, each made safe as in `echo`, in colour on a terminal with colours."""
    styles = _styles() if sys.stdout.isatty() and terminal().colours > 0 else {}
    for line in lines:
        texts = ((shown(text), styles.get(role)) for text, role in line)
        click.echo("".join(click.style(text, **style) if style else text for text, style in texts))


def _styles() -> Mapping[StyleRole, Mapping[str, Any]]:
    """Return styles in the terminal's own colours, for any background. Roles without a style look like plain text."""
    from livedeck.text.segments import StyleRole

    return {
        StyleRole.STRONG: {"bold": True},
        StyleRole.DIM: {"dim": True},
        StyleRole.BAND: {"dim": True},
        StyleRole.OK: {"fg": "green", "dim": True},
        StyleRole.VIDEO: {"fg": "cyan"},
        StyleRole.AUDIO: {"fg": "bright_blue"},
        StyleRole.FPS: {"fg": "green"},
        StyleRole.KEY_20: {"fg": "yellow", "bold": True},
        StyleRole.KEY_50: {"fg": "magenta", "bold": True},
        StyleRole.LOSS: {"fg": "red", "bold": True},
        StyleRole.ODD: {"fg": "magenta"},
    }


def echo_calendar(text: str) -> None:
    """Print an iCalendar text, with each line made safe as in `echo`. Its lines end in CR LF (RFC 5545)."""
    click.echo("".join(f"{shown(line)}\r\n" for line in text.removesuffix("\r\n").split("\r\n")), nl=False)


def echo_json(value: object) -> None:
    """Print the value as one line of JSON, with control characters escaped."""
    from livedeck.presentation.serialization import to_json

    click.echo(to_json(value))


class ProgressLine:
    """Line of progress that overwrites itself, on a terminal only.

    `terminal`: None if standard error is closed. `timer`: monotonic seconds.
    """

    INTERVAL = 0.2

    def __init__(self, terminal: TextIO | None, timer: Callable[[], float]) -> None:
        self._terminal, self._timer = terminal if terminal and terminal.isatty() else None, timer
        self._drawn_at = float("-inf")
        self._width = 0

    def show(self, parts: Iterable[str]) -> None:
        """Draw the line, unless it was drawn less than INTERVAL seconds ago."""
        if self._terminal and self._timer() - self._drawn_at >= self.INTERVAL:
            self._drawn_at = self._timer()
            self._draw(shown(", ".join(parts)))

    def clear(self) -> None:
        """Clear the line for the next output."""
        if self._width:
            self._draw("", end="\r")
            self._width = 0

    def _draw(self, text: str, end: str = "") -> None:
        if self._terminal:
            self._terminal.write(f"\r{text.ljust(self._width)}{end}")
            self._terminal.flush()
        self._width = len(text)


class TransferLine:
    """Progress line of an upload or download: `12.0 MB of 250.7 MB, 4.1 MB/s, 58 s left`."""

    def __init__(self, title: str) -> None:
        self._line, self._title, self._began = ProgressLine(sys.stderr, monotonic), title, monotonic()

    def __call__(self, done: int, total: int | None) -> None:
        """Show that `done` of `total` bytes are transferred. `total`: None if unknown."""
        seconds = monotonic() - self._began
        rate = done / seconds if seconds > 0 else 0.0
        parts = [f"{self._title}: {size(done)} {f'of {size(total)}' if total else 'of unknown size'}"]
        parts += [f"{size(int(rate))}/s"] if rate else []
        parts += [f"{age((total - done) / rate)} left"] if rate and total else []
        self._line.show(parts)

    def clear(self) -> None:
        """Clear the line for the next output."""
        self._line.clear()

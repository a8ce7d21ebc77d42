"""Programs that watch a platform: a deck, a wall and `alarm list --follow`, as a control room runs them."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from cli.commands import TIMEOUT, environment
from cli.foreign import TOKEN, ForeignPlatform
from cli.starts import LIVEDECK, Start
from cli.terminals import Terminal, terminal


def settings(platform: ForeignPlatform) -> dict[str, str]:
    """Return the variables that point at a platform."""
    return {"LIVEDECK_BASE_URL": platform.address, "LIVEDECK_TOKEN": TOKEN}


def words(data: bytes) -> str:
    """Return written bytes as text, without colours and moves of the cursor."""
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", " ", data.decode("utf-8", "replace"))


class Programs:
    """Deck, wall and `alarm list --follow` on one history, and their whole output."""

    def __init__(self, deck: Terminal, wall: Terminal, follow: subprocess.Popen[str]) -> None:
        self.deck, self.wall, self._follow = deck, wall, follow

    def live(self, seconds: float) -> None:
        """Let the programs run for some seconds."""
        for _ in range(round(seconds)):
            self.deck.pause(0.5)
            self.wall.pause(0.5)

    def kinds_shown(self) -> set[str]:
        """Return every kind of alarm that deck or wall named."""
        shown = words(self.deck.written) + words(self.wall.written)
        return set(re.findall(r"\b[A-Z]+_[A-Z_]+\b|\bBLACKOUT\b|\bRECONNECTING\b|\bLOST\b", shown))

    def event_criticals(self) -> list[tuple[str, str]]:
        """Return event and kind of every critical change of an event's alarm that `alarm list --follow` printed.

        Ends it.
        """
        self._follow.terminate()
        lines = [json.loads(line) for line in self._follow.communicate(timeout=TIMEOUT)[0].splitlines()]
        return [(line["event_id"], line["kind"]) for line in lines if _is_event_critical(line)]


def _is_event_critical(line: dict[str, Any]) -> bool:
    return "change" in line and line["severity"] == "critical" and bool(line["event_id"])


@contextmanager
def programs(
    home: Path, platform: ForeignPlatform, size: tuple[int, int] = (120, 40), **env: str
) -> Iterator[Programs]:
    """Yield the three programs once the deck shows data of the platform."""
    env = {**settings(platform), **env}
    if "LIVEDECK_TOKEN_FILE" in env:
        del env["LIVEDECK_TOKEN"]
    with ExitStack() as stack:
        deck = stack.enter_context(terminal(home, size=size, program=LIVEDECK, **env))
        deck.until("100 GOOD")
        wall = stack.enter_context(terminal(home, "wall", size=size, program=LIVEDECK, **env))
        wall.until(r"s ago")
        follow = Start(
            [*LIVEDECK, "alarm", "list", "--follow", "--json"],
            env=environment(home, **env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        )
        stack.callback(follow.wait, TIMEOUT)
        stack.callback(follow.kill)
        yield Programs(deck, wall, follow)

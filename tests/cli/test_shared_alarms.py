"""Two decks, a wall and `alarm list --follow` on one history, as programs: an action at one reaches all."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from random import Random
from time import monotonic

import pytest

from breadth import slow
from cli.commands import TIMEOUT, environment, served
from cli.starts import LIVEDECK, Start
from cli.terminals import Terminal, terminal

SCREENS = {"anna": (), "bert": (), "wall": ("wall",)}
FOLLOW = "follow"
SIZE = (120, 40)
DECKS = ("anna", "bert")
SAVE = "\x13"


class Program:
    """Program in a home of its own. Its log or its standard output shows what it has read."""

    def __init__(self, stack: ExitStack, home: Path, name: str, env: dict[str, str]) -> None:
        self.name, self._home = name, home / name
        self._home.mkdir(exist_ok=True)
        self.screen: Terminal | None = None
        self._raised = self._logged("alarm raised")
        if name == FOLLOW:
            self._out = (self._home / "out.jsonl").open("ab")
            stack.callback(self._out.close)
            self._follow = Start(
                [*LIVEDECK, "alarm", "list", "--follow", "--json"],
                env=environment(self._home, **env),
                stdin=subprocess.DEVNULL,
                stdout=self._out,
            )
            stack.callback(self._follow.wait)
            stack.callback(self._follow.kill)
            return
        self.screen = stack.enter_context(terminal(self._home, *SCREENS[name], size=SIZE, program=LIVEDECK, **env))

    def kill(self) -> None:
        """Kill it like the kernel."""
        process = self.screen.process if self.screen else self._follow
        process.kill()
        process.wait(TIMEOUT)

    def changes(self, word: str) -> int:
        """Return how often it has reported that transition."""
        if self.name == FOLLOW:
            lines = (self._home / "out.jsonl").read_text().splitlines()
            return sum(json.loads(line).get("action") == word for line in lines)
        told = {"note": "alarm noted", "acknowledge": "alarm acknowledged", "shelve": "alarm shelved"}[word]
        return self._logged(told)

    @property
    def is_watching(self) -> bool:
        """True once it has reported the alarms that it found, so that later actions are news to it.

        A deck reads older actions from the history.
        """
        return self.name in DECKS or self._logged("alarm raised") > self._raised

    def _logged(self, event: str) -> int:
        lines = [line for path in self._home.rglob("livedeck.log") for line in path.read_text().splitlines()]
        return sum(json.loads(line)["event"] == event for line in lines)

    @property
    def deck(self) -> Terminal:
        """Terminal of the deck."""
        assert self.screen
        return self.screen


class Room:
    """All programs, and a person who acts at one after another."""

    def __init__(self, stack: ExitStack, home: Path, env: dict[str, str]) -> None:
        self._stack, self._home, self._env = stack, home, env
        self.programs = {name: Program(stack, home, name, env) for name in (*SCREENS, FOLLOW)}
        for name in self.programs:
            self._settle(name)

    def restart(self, name: str) -> None:
        """Kill a program and start it again."""
        self.programs[name].kill()
        self.programs[name] = Program(self._stack, self._home, name, self._env)
        self._settle(name)

    def answer(self, name: str, word: str, act: Callable[[Terminal], None]) -> None:
        """Act at a deck, and wait until every other program has reported it."""
        before = {other: program.changes(word) for other, program in self.programs.items()}
        act(self.programs[name].deck)
        self._until(lambda: all(program.changes(word) > before[other] for other, program in self.programs.items()))

    def _settle(self, name: str) -> None:
        program, screen = self.programs[name], self.programs[name].screen
        self._until(lambda: program.is_watching)
        if screen is None:
            return
        screen.resize(122, 40)  # drawn whole
        screen.until(r"s ago|as of|CRIT")
        screen.until("RECONN")  # the alarm that stays on top; two looks prove it
        if name in DECKS:
            screen.press("7")
            screen.until("incidents")
            screen.press_until("\x1b[H", r"actual")  # the first row is chosen

    def _until(self, is_so: Callable[[], bool]) -> None:
        """Read the output of all programs, so that none blocks, until a condition is true."""
        end = monotonic() + TIMEOUT
        while not is_so():
            assert monotonic() < end, "a program has not heard of it"
            for program in self.programs.values():
                if program.screen:
                    program.screen.pause(0.05)


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    """Yield two decks, a wall and a follower, each in a process of its own."""
    with served(tmp_path) as (_, service), ExitStack() as stack:
        env = {
            "LIVEDECK_BASE_URL": service["base_url"],
            "LIVEDECK_TOKEN": service["token"],
            "LIVEDECK_HISTORY": str(tmp_path / "history.sqlite"),
        }
        yield Room(stack, tmp_path, env)


def acknowledge(deck: Terminal) -> None:
    deck.press_until("a", ": acknowledged")


def shelve(deck: Terminal) -> None:
    deck.press("z")
    deck.until("why the alarm needs no attention")
    deck.press_until(SAVE, "is required")
    deck.press("known since noon")
    deck.press_until(SAVE, ": shelved, ")


def note(text: str) -> Callable[[Terminal], None]:
    def act(deck: Terminal) -> None:
        deck.press(f":alarm.note {text}\r")
        deck.press_until(SAVE, f": note attached, {text}")

    return act


@pytest.mark.parametrize("restarts", [2, *slow(20)])
def test_what_is_answered_at_one_deck_is_so_at_every_program_and_is_never_lost(
    room: Room, tmp_path: Path, restarts: int
) -> None:
    random = Random(restarts)
    room.answer("anna", "acknowledge", acknowledge)
    other = room.programs["bert"].deck
    other.resize(121, 40)  # drawn whole
    other.until("ACKNOWLEDGED")
    room.answer("bert", "shelve", shelve)
    for number in range(restarts):
        room.answer(random.choice(DECKS), "note", note(f"seen-{number}"))
        room.restart(random.choice((*SCREENS, FOLLOW)))
    with closing(sqlite3.connect(tmp_path / "history.sqlite")) as db:
        given = [row for (row,) in db.execute("SELECT answer || ' ' || reason FROM answer ORDER BY at")]
        told = [row for (row,) in db.execute("SELECT json_extract(body, '$.turn') FROM journal WHERE kind = 'alarm'")]
    assert given == ["acknowledge ", "shelve known since noon", *(f"note seen-{number}" for number in range(restarts))]
    assert [told.count(turn) for turn in ("acknowledged", "shelved", "noted")] == [1, 1, restarts]

"""Actions of several processes in one file: no action that was reported as safe is lost, and all processes read it."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from queue import Queue
from random import Random
from threading import Thread

import pytest

from breadth import slow
from livedeck.monitor import History, HistoryReader
from livedeck.monitor.history.database import Database

ROOT = Path(__file__).parents[2]
DEADLINE = 60
"""Seconds of silence that fail the test; nothing is measured."""


class Process:
    """Deck or reader in a process of its own, and its output."""

    def __init__(self, path: Path, name: str, role: str) -> None:
        self.name, self.role, self.heard = name, role, set[str]()
        env = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT / 'tests'}"}
        command = [sys.executable, "-m", "monitor.answering", str(path), name, role]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)
        self._lines: Queue[str] = Queue()
        Thread(target=self._read, daemon=True).start()
        self.wait("ready")

    def _read(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            self._lines.put(line.strip())

    def wait(self, *lines: str) -> None:
        """Wait until the process has printed these lines."""
        while not self.heard.issuperset(lines):
            self.heard.add(self._lines.get(timeout=DEADLINE))

    def answer(self, number: int) -> str:
        """Let the process act on an alarm. Returns the action's id, once that is stored."""
        assert self._process.stdin
        self._process.stdin.write(f"{number}\n")
        self._process.stdin.flush()
        self.wait(f"+{self.name}-{number}")
        return f"{self.name}-{number}"

    def kill(self) -> None:
        """Kill the process like the kernel."""
        self._process.kill()
        self._process.communicate()


@pytest.mark.parametrize("restarts", [2, *slow(20)])
def test_no_answer_is_lost_whoever_is_killed_and_all_hear_of_each(tmp_path: Path, restarts: int) -> None:
    path, random, safe = tmp_path / "history.sqlite", Random(restarts), list[str]()
    roles = {"anna": "deck", "bert": "deck", "wall": "reader", "follow": "reader"}
    running = {name: Process(path, name, role) for name, role in roles.items()}
    try:
        for number in range(restarts):
            safe += [running[name].answer(number) for name in ("anna", "bert")]
            name = random.choice(list(roles))
            running[name].kill()
            running[name] = Process(path, name, roles[name])
            for process in running.values():
                process.wait(*safe)
    finally:
        for process in running.values():
            process.kill()


def test_decks_that_begin_one_history_together_make_it_in_turn(tmp_path: Path) -> None:
    """No deck finds it locked, or takes the file of another for something else."""
    root = Path(__file__).parents[1]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root), str(root.parent / "src")])}
    command = [sys.executable, str(Path(__file__).parent / "making.py")]
    with ExitStack() as stack:
        decks = [
            stack.enter_context(
                subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)
            )
            for _ in range(3)
        ]
        faults = [deck.stdout.readline().strip() for deck in decks if deck.stdout]
        for number in range(60):
            for deck in decks:
                assert deck.stdin
                deck.stdin.write(f"{tmp_path / f'{number}.sqlite'}\n")
            for deck in decks:
                assert deck.stdin
                deck.stdin.flush()
            faults += [deck.stdout.readline().strip() for deck in decks if deck.stdout]
        for deck in decks:
            deck.communicate()
    assert [fault for fault in faults if fault] == []


_GUEST = """
import asyncio, sys
from datetime import UTC, datetime
from pathlib import Path
from livedeck.monitor import History

async def work():
    history = await History.open(Path(sys.argv[1]), datetime.now(UTC))
    await history.mark("guest", datetime.now(UTC))
    await history.close()

asyncio.run(work())
"""


async def test_a_process_that_comes_and_goes_takes_no_log_from_one_that_also_reads_its_own_file(tmp_path: Path) -> None:
    """SQLite deletes the log with the last connection. A lock that is lost makes a guest believe that it has it."""
    path = tmp_path / "history.sqlite"
    now = datetime.now(UTC)
    host = await History.open(path, now)
    await host.mark("host", now)
    reader, again = HistoryReader(path), Database(path)
    assert len(await reader.markers("host")) == 1
    again.close()
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    subprocess.run([sys.executable, "-c", _GUEST, str(path)], env=env, check=True, timeout=DEADLINE)  # noqa: ASYNC221  alone
    await host.mark("host", now)
    await host.flush()
    assert len(await reader.markers("host")) == 2
    assert len(await reader.markers("guest")) == 1
    await host.close()
    assert len(await reader.markers("host")) == 2

"""Operations need no terminal: they run where no package for one can be imported."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from cli.commands import environment, served

SCRIPT = '''
import asyncio, json, sys

TERMINAL = ("textual", "rich", "click")
for package in TERMINAL:
    sys.modules[package] = None  # whoever imports it gets an ImportError

from datetime import UTC, datetime

from livedeck.client import Api
from livedeck.operations.catalogue import OPERATIONS
from livedeck.operations.events import CompleteEvent, EnableEvent, EventTarget
from livedeck.operations.executor import Executor
from livedeck.operations.operation import Platform


class Agree:
    """Ports that confirm everything and show nothing."""

    async def confirm(self, operation, confirmation):
        return True

    async def watch(self, title, work):
        return await work(lambda *_: None)


class Clock:
    def now(self):
        return datetime.now(UTC)

    async def sleep(self, seconds):
        await asyncio.sleep(0)


async def main(base_url, upload_url, token):
    results = {}
    async with Api(base_url=base_url, upload_url=upload_url, token=token) as api:
        executor = Executor(Platform(api), Clock(), confirmations=Agree(), progress=Agree())
        event = next(event for event in (await api.events.list(per_page=100)).items if event.name == "Untitled event")
        for operation in (EnableEvent, CompleteEvent):
            target = EventTarget.of_event(await api.events.get(event.id))
            results[operation.name] = (await executor.run(operation(target))).verdict
    return results

print(json.dumps(asyncio.run(main(*sys.argv[1:]))))
assert len(OPERATIONS) == 29
assert not [package for package in TERMINAL if sys.modules[package]], "something brought a terminal"
loaded = [name for name in sys.modules if name.startswith(("textual.", "rich.", "click."))]
assert not loaded, loaded
'''


def test_an_event_is_enabled_and_completed_where_no_terminal_can_be_imported(tmp_path: Path) -> None:
    with served(tmp_path) as (_, place):
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, place["base_url"], place["upload_url"], place["token"]],
            env=environment(tmp_path),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"event.enable": "done", "event.complete": "done"}

"""A full disk, a pipe that nobody reads and closed streams: no command ends with a traceback (commands.md, "Standard
streams")."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest

from cli.forked import Run, forked
from cli.groups_stage import CHANGES, ON_AIR, READS, Stage
from livedeck.cli import PLACES

SIMPLE = {
    "alarm list": (), "alarm explain": (ON_AIR,), "alarm kpi": (),
    "notify explain": (ON_AIR, "NO_INGEST", "critical"), "change list": (), "collector token list": (),
    "completion": ("bash",),
    "config check": (), "config keys": (), "config path": (), "config show": (), "docs": ("commands",), "doctor": (),
    "event check": (), "event preflight": (ON_AIR,), "event wait": (ON_AIR, "--until", "on-air"), "help": ("event",),
    "past check": (), "past episodes": (), "past handover": (), "past report": ("--day", "today"),
    "past search": ("Kept",), "past vacuum": (), "silence list": ("--json",), "status": (), "demo": (),
    "api": ("GET", "/v2/live/events"), "probe": ("--plan",), "show export": (ON_AIR,),
}  # fmt: skip
"""Commands without an operation that print and leave -> their arguments."""

STREAMS = {
    "full": ({"stdout": "full"}, {1}),
    "broken": ({"stdout": "broken"}, {141, 1}),
    "closed": ({"stdout": "closed"}, {1}),
    "no stderr": ({"stderr": "closed"}, {0}),
    "full stderr": ({"stderr": "full"}, {0}),
    "no stdin": ({"stdin": "closed"}, {0}),
}
"""Fault of a stream -> the streams of the command, and the exit codes that it may have.

Checks have exit codes of their own.
"""


@pytest.fixture(scope="module")
def on_stage(on_stage: Stage) -> Stage:
    on_stage.made("event", "create", "--name", "Kept")  # which begins the history that some commands read
    return on_stage


@pytest.fixture(scope="module")
def run(on_stage: Stage) -> Iterator[Run]:
    with forked(on_stage) as run_line:
        yield run_line


LINES = [*SIMPLE, *(name for name in READS if name not in {"api.qos.get", "api.chat.export"}), *CHANGES]
FULL = list(product(LINES, STREAMS))
SMALL = [(name, [*STREAMS][index % len(STREAMS)]) for index, name in enumerate([*SIMPLE, *LINES[len(SIMPLE) :: 4]])]


def assert_ends_well(on_stage: Stage, run: Run, name: str, trouble: str) -> None:
    if name in SIMPLE:
        arguments: tuple[str, ...] = (*name.split(), *SIMPLE[name])
    else:
        arguments = (CHANGES.get(name) or READS[name])(on_stage)
    streams, codes = STREAMS[trouble]
    code, _, said = run(*arguments, *(["--yes"] if name in CHANGES else []), **streams)
    assert "Traceback" not in said, said
    assert "Exception ignored" not in said, said
    assert code in codes | OWN_CODES.get(name, set()), (code, said)


OWN_CODES = {"event check": {2}, "doctor": {1, 2, 3}, "event wait": {0}, "notify explain": {6}}
"""Exit codes of commands that report their result by the code, and of one that prints nothing to standard output."""


@pytest.mark.parametrize(("name", "trouble"), SMALL)
def test_no_command_ends_with_a_traceback(on_stage: Stage, run: Run, name: str, trouble: str) -> None:
    assert_ends_well(on_stage, run, name, trouble)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "trouble"), FULL)
def test_no_command_ends_with_a_traceback_whatever_stream_fails(
    on_stage: Stage, run: Run, name: str, trouble: str
) -> None:
    assert_ends_well(on_stage, run, name, trouble)


def test_every_command_that_prints_is_tried() -> None:
    screens = {
        "serve",
        "wall",
        "event qos",
        "event chat",
        "collector run",
        "past record",
        "past replay",
        "drill play",
        "mcp",
    }
    changes = {
        "alarm ack", "alarm unack", "alarm shelve", "alarm unshelve", "alarm note", "alarm close", "alarm link",
        "change close", "config init",
        "silence add", "silence extend", "silence end",
        "collector calendar", "collector dashboard", "collector token create", "collector token rotate",
        "collector token delete",
        "event content", "event rebaseline", "notify list", "notify test",
        "notify dead list", "notify dead show", "notify dead retry", "notify dead drop", "past export", "past prune",
        "past salvage", "past convert", "past show", "show apply", "show diff",
        "drill list", "drill show", "drill grade",
    }  # fmt: skip
    assert {*PLACES} - screens - changes == {*SIMPLE}

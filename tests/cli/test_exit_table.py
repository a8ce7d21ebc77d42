"""Table of exit codes in commands.md: each row has commands that end with its code, and no code lacks a row."""

from __future__ import annotations

import re
from contextlib import ExitStack
from typing import Any

import pytest

from cli.commands import called
from cli.groups_stage import ON_AIR, REHEARSAL, Stage
from livedeck import docs
from livedeck.cli.exit_codes import NOT_SO, UNKNOWN, UNREACHABLE, code_of_refusal
from livedeck.monitor import AlarmNotSent, AlarmOutcomeUnknown, AlarmRefused

AWAY = {"LIVEDECK_BASE_URL": "http://127.0.0.1:9"}
NO_COLLECTOR = {"LIVEDECK_COLLECTOR_URL": "http://127.0.0.1:9", "LIVEDECK_COLLECTOR_TOKEN_COMMAND": '["echo", "token"]'}
ENABLE = ("event", "enable", ON_AIR)

Case = tuple[tuple[str, ...], dict[str, str], dict[str, Any]]
"""Command, environment, and fault of the platform."""

CASES: dict[str, list[Case]] = {
    "0": [(("event", "list"), {}, {})],
    "1": [(("past", "handover"), {"LIVEDECK_HISTORY": "/nowhere/history.sqlite"}, {})],
    "2": [(ENABLE, {}, {}), ((*ENABLE, "--yes", "--read-only"), {}, {}), (("event", "list", "--no-such"), {}, {})],
    "3": [
        ((*ENABLE, "--yes"), {}, {"method": "PUT", "status": 403}),
        ((*ENABLE, "--yes"), {}, {"method": "GET", "status": 403}),
        ((*ENABLE, "--yes", "--if-unchanged", "0" * 16), {}, {}),
    ],
    "4": [
        (("event", "list"), AWAY, {}),
        ((*ENABLE, "--yes"), {}, {"method": "GET", "status": 503}),
        (("alarm", "ack", ON_AIR, "PACKET_LOSS"), NO_COLLECTOR, {}),
        (("silence", "add", "--event", ON_AIR, "--duration", "1h", "--comment", "x"), NO_COLLECTOR, {}),
        (("event", "content", ON_AIR, "radio"), NO_COLLECTOR, {}),
    ],
    "5": [((*ENABLE, "--yes"), {}, {"method": "PUT", "status": 503})],
    "6": [(("event", "wait", REHEARSAL, "--until", "on-air"), {}, {})],
}
BY_SIGNAL = "128 + n"
"""Row of endings by a signal: see test_endings.py."""


def test_the_table_has_a_row_for_each_code_and_no_other() -> None:
    table = docs.page("commands").partition("## Exit codes")[2].partition("\n## ")[0]
    assert re.findall(r"^\| (\d[^|]*) \|", table, re.MULTILINE) == [*CASES, BY_SIGNAL]


@pytest.mark.parametrize(
    ("code", "case"),
    [pytest.param(code, case, id=f"{code}-{index}") for code in CASES for index, case in enumerate(CASES[code])],
)
def test_a_command_ends_with_the_code_of_its_row(on_stage: Stage, code: str, case: Case) -> None:
    line, env, fault = case
    with ExitStack() as faults:
        if fault:
            faults.enter_context(on_stage.fault(kind="status", **fault))
        done = called(on_stage.home, *line, env={**on_stage.env, **env})
    assert str(done.returncode) == code, done.stderr


def test_an_action_that_did_not_reach_the_collector_is_no_refusal() -> None:
    assert code_of_refusal(AlarmNotSent("not done: no collector")) == UNREACHABLE
    assert code_of_refusal(AlarmOutcomeUnknown("unknown whether it was done")) == UNKNOWN
    assert code_of_refusal(AlarmRefused("shelved: make it visible first")) == NOT_SO

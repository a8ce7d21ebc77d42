"""Each of the 43 operations as a command, under every way a request can fail (commands.md, "Exit codes")."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import product

import jsonschema_rs
import pytest

from cli.commands import command_of
from cli.forked import Run, forked
from cli.groups_stage import CHANGES, READS, Stage
from livedeck.operations.catalogue import OPERATIONS

pytestmark = pytest.mark.slow

ENDS = ("success", "refusal", "unreachable", "read-only", "bad usage", "lost answer")
LINES = {**CHANGES, **READS}
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
NOTHING_SHOWS = {name for name, operation in OPERATIONS.items() if not operation.evidence} | {"event.complete"}
"""Changes that no read confirms, and `event.complete`, because a draft has no stream that could end."""


@pytest.fixture(scope="module")
def run(on_stage: Stage) -> Iterator[Run]:
    with forked(on_stage) as run_line:
        yield run_line


@pytest.fixture(scope="module")
def run_nowhere(on_stage: Stage) -> Iterator[Run]:
    with forked(on_stage, LIVEDECK_BASE_URL="http://127.0.0.1:9", LIVEDECK_UPLOAD_URL="") as run_line:
        yield run_line


def struck(
    on_stage: Stage, run: Run, line: tuple[str, ...], kind: str, methods: tuple[str, ...]
) -> tuple[int, str, str]:
    """Return exit code, output and errors of a line while a fault hits requests of these methods."""
    for method in methods:
        on_stage.control(
            "POST",
            "faults",
            {"kind": kind, "match": {"method": method}, **({"status": 403} if kind == "status" else {})},
        )
    try:
        return run(*line)
    finally:
        on_stage.control("DELETE", "faults")


def expected(name: str, end: str) -> int:
    """Return the documented exit code."""
    is_change = name in CHANGES
    lost = (5 if name in NOTHING_SHOWS else 0) if is_change else 4
    return {
        "success": 0, "refusal": 3, "unreachable": 4, "read-only": 2 if is_change else 0, "bad usage": 2,
        "lost answer": lost,
    }[end]  # fmt: skip


@pytest.mark.parametrize(("name", "end"), list(product(LINES, ENDS)))
def test_an_operation_ends_as_documented(on_stage: Stage, run: Run, run_nowhere: Run, name: str, end: str) -> None:
    is_change, line = name in CHANGES, LINES[name](on_stage)
    is_grouped = name not in {"api.qos.get", "api.chat.export"}
    full = (*line, *(["--yes"] if is_change else []), *(["--json"] if is_grouped else []))
    writes = METHODS[1:] if is_change else METHODS[:1]
    match end:
        case "refusal":
            code, output, errors = struck(on_stage, run, full, "status", writes)
        case "lost answer":
            code, output, errors = struck(on_stage, run, full, "lose" if is_change else "drop", writes)
        case "unreachable":
            code, output, errors = run_nowhere(*full)
        case "read-only":
            code, output, errors = run(*full, "--read-only")
        case "bad usage":
            code, output, errors = run(*full, "--no-such-option")
        case _:
            code, output, errors = run(*full)
    assert code == expected(name, end), (full, output, errors)
    assert "Traceback" not in errors
    assert errors or not code
    if output and is_grouped:
        _, schema, _ = run(*command_of(line), "--schema")
        jsonschema_rs.validator_for(json.loads(schema)).validate(json.loads(output))
    assert output or code

"""Every change that the platform documents is one operation, and no operation changes anything else."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from contract.endpoints import ROWS, shape
from livedeck.operations.catalogue import OPERATIONS
from livedeck.operations.operation import ConfirmLevel, Operation, Verdict, recognisable
from operations.rig import rig
from operations.samples import SAMPLES

WRITES = [row for row in ROWS if row.method != "GET"]


def test_each_of_the_29_writes_has_one_operation_and_each_operation_one_write() -> None:
    assert len(WRITES) == 29
    assert Counter(row.operation for row in WRITES) == Counter([*OPERATIONS])


def test_no_read_has_an_operation() -> None:
    assert not [row for row in ROWS if row.method == "GET" and row.operation]


@pytest.mark.parametrize("row", WRITES, ids=lambda row: row.operation)
async def test_an_operation_sends_its_endpoint_once_and_nothing_else(row: Any) -> None:
    async with rig() as platform:
        operation = await SAMPLES[row.operation](platform)
        result = await platform.run(operation)
        assert result.verdict is Verdict.DONE, result.text
        sent = [(method, _blanked(path, operation)) for method, path in platform.writes]
        assert sent == [row.shape]


def _blanked(path: str, operation: Operation[Any]) -> str:
    """Return the path without its ids, as `shape` does."""
    owner = getattr(operation, "video", None) or getattr(getattr(operation, "relay", None), "room", None)
    ids = {operation.target.id, getattr(owner, "id", "")}
    for identity in ids - {""}:
        path = path.replace(f"/{identity}", "/{}")
    return shape(path)


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)
def test_an_operation_says_what_commands_and_documents_are_made_of(operation: type[Operation[Any]]) -> None:
    assert operation.name.partition(".")[1]
    assert operation.verb
    assert operation.kind
    assert operation.help
    assert not operation.help.endswith(".")
    assert operation.level in ConfirmLevel


@pytest.mark.parametrize("name", OPERATIONS)
async def test_no_operation_asks_for_more_than_its_level(name: str) -> None:
    order = list(ConfirmLevel)
    async with rig() as platform:
        operation = await SAMPLES[name](platform)
        current = await operation.read(platform.executor.platform)
        for conflicts in ((), ("it is not what it was",)):
            confirmation = operation.confirmation(current, conflicts)
            assert order.index(confirmation.level) <= order.index(operation.level)
            assert confirmation.title
            assert confirmation.button
            told = recognisable(confirmation, operation.target, operation.real_name(current), ())
            assert told.word or not operation.target.id
            assert not operation.target.id or f"(id …{operation.target.id[-6:]})" in told.title


@pytest.mark.parametrize("name", OPERATIONS)
async def test_what_an_operation_says_holds_no_secret(name: str) -> None:
    async with rig() as platform:
        operation = await SAMPLES[name](platform)
        current = await operation.read(platform.executor.platform)
        said = [operation.confirmation(current, ()), operation.target, operation.changes, repr(operation)]
        assert "the-new-key" not in repr(said)


@pytest.mark.parametrize("name", OPERATIONS)
def test_what_became_of_a_change_is_said_in_words(name: str) -> None:
    """Check for `event created` in place of a verdict after the name of a command."""
    operation = OPERATIONS[name]
    assert operation.past != operation.verb
    words = {verdict: operation.verdict_words(operation, verdict) for verdict in Verdict}  # type: ignore[arg-type]
    assert words[Verdict.DONE] == words[Verdict.APPLIED] == f"{operation.kind} {operation.past}"
    assert words[Verdict.REFUSED] == f"{operation.kind} not {operation.past}"
    assert words[Verdict.UNKNOWN].startswith(f"unknown whether the {operation.kind} was ")

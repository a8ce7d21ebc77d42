"""Check each change that a network delivers twice: its second response, often a refusal, hides no change."""

from __future__ import annotations

from pathlib import Path

import pytest

from livedeck.operations.operation import Verdict
from operations.lost_answers import CHANGES, HAPPENED, Store
from operations.rig import rig


@pytest.mark.parametrize("name", CHANGES)
async def test_a_change_that_is_delivered_twice_is_never_told_as_refused(name: str, tmp_path: Path) -> None:
    data = tmp_path / "store.sqlite"
    async with rig(data=data) as platform:
        operation = await CHANGES[name](platform)
        before = Store(data).documents()
        platform.delivers_twice = True
        result = await platform.run(operation)
        after = Store(data).documents()
    assert after != before or "order" in name
    assert result.verdict is not Verdict.REFUSED, result.text
    assert HAPPENED[name](operation, before, after) or result.verdict is Verdict.UNKNOWN

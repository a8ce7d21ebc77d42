"""A read-only client changes nothing, whatever call is made (trust.md, "Changes": the gate)."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from client.answers import api_of, saying
from client.calls import bound, names, result
from contract.endpoints import ROWS
from livedeck.client import Invalid, ReadOnly
from trials import trials

WRITES = sorted(row.client for row in ROWS if row.method != "GET")
READS = sorted({*names()} - {*WRITES})


def test_what_reads_and_what_writes_is_everything() -> None:
    assert len(WRITES) == 29
    assert len(READS) == 23


@trials(150)
@given(st.sampled_from(WRITES), st.text(min_size=1, max_size=40).filter(lambda text: text not in {".", ".."}))
async def test_no_change_reaches_the_wire(name: str, identifier: str) -> None:
    platform = saying({"data": {"id": "x"}})
    with TemporaryDirectory() as folder:
        async with api_of(platform, read_only=True) as api:
            with pytest.raises((ReadOnly, Invalid), match=r"not sent|control characters"):
                await result(bound(api, name, Path(folder), identifier))
    assert not platform.requests


@pytest.mark.parametrize("name", WRITES)
async def test_each_change_reaches_the_wire_once_where_changes_are_allowed(name: str, tmp_path: Path) -> None:
    platform = saying({"data": {"id": "x", "success": True}})
    async with api_of(platform) as api:
        if name == "api.subtitles.generate":
            platform.reply = lambda _path, _query: (200, b'{"data": [{"id": "x"}, {"id": "y"}]}', {})
        await result(bound(api, name, tmp_path))
    assert [request["method"] for request in platform.requests][1:] == []
    assert platform.requests[0]["method"] != "GET"

"""The demo's line that breaks something: a person can paste it, and it shows no token."""

from __future__ import annotations

import asyncio
import shutil
import stat
from contextlib import ExitStack, closing
from urllib.parse import quote

import pytest

from livedeck.cli.demo import write_break
from livedeck.simulator import Simulator, serve


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
async def test_the_line_stops_an_encoder_and_holds_no_token() -> None:
    with closing(Simulator()) as simulator, ExitStack() as stack:
        name = simulator.on_air()[0]
        async with serve(simulator) as addresses:
            url = f"{addresses.control_url}/encoders/{quote(name)}"
            folder = write_break(stack, simulator.control_token, url)
            line = (folder / "break").read_text(encoding="utf-8")
            assert simulator.control_token not in line
            assert stat.S_IMODE((folder / "control").stat().st_mode) == 0o600
            process = await asyncio.create_subprocess_exec("sh", "-c", line, stdout=-1, stderr=-1)
            out, _ = await process.communicate()
        assert b'"sending":false' in out
        assert name not in simulator.on_air()
    assert not folder.exists()

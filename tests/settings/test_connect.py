"""A script gets the client that the settings describe, like each command."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from livedeck.client import ApiError, Misconfigured, ReadOnly, RequestRecord
from livedeck.connect import connect
from livedeck.simulator import Simulator, serve


@pytest.fixture
async def platform(bare: Path) -> AsyncIterator[str]:
    """Token of a simulated platform that the profile `studio` of the settings file names."""
    service = Simulator(seed=7)
    async with serve(service) as addresses:
        _write_settings(bare, addresses.base_url, service.token)
        yield service.token
    service.close()


def _write_settings(path: Path, base_url: str, token: str) -> None:
    token_file = path.parent / "token"
    token_file.write_text(token, encoding="utf-8")
    token_file.chmod(0o600)
    path.write_text(
        f'[profiles.studio]\nbase_url = "{base_url}"\ntoken_file = "token"\ntimeout = 9\n'
        f'[profiles.office]\nbase_url = "{base_url}"\ntoken_file = "token"\nread_only = true\n',
        encoding="utf-8",
    )


async def test_a_profile_of_the_file_gives_address_token_and_limits(platform: str) -> None:
    seen: list[RequestRecord] = []
    async with await asyncio.to_thread(connect, "studio", on_request=seen.append) as api:
        assert len(await api.events.list()) > 0
        assert not api.read_only
    assert [record.operation for record in seen] == ["list events"]
    assert platform not in str(seen)


@pytest.mark.parametrize(("profile", "read_only"), [("office", None), ("studio", True)])
async def test_a_profile_or_the_caller_can_forbid_changes(platform: str, profile: str, read_only: bool | None) -> None:
    assert platform
    async with connect(profile, read_only=read_only) as api:
        with pytest.raises(ReadOnly):
            await api.events.enable("x")


async def test_the_profile_in_force_is_the_default(platform: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert platform
    monkeypatch.setenv("LIVEDECK_PROFILE", "office")
    async with connect() as api:
        assert api.read_only


@pytest.mark.parametrize(
    ("text", "profile", "words"),
    [
        ("", None, "no platform: set LIVEDECK_BASE_URL"),
        ('base_url = "https://a.example"\n', None, "no token: set LIVEDECK_TOKEN"),
        ("timeout = -1\n", None, r"timeout \(.*config.toml:1\)"),
        ("", "absent", r"has no \[profiles.absent\]"),
    ],
)
def test_what_is_wrong_is_an_error_of_the_client_that_names_the_setting(
    bare: Path, text: str, profile: str | None, words: str
) -> None:
    bare.write_text(text, encoding="utf-8")
    with pytest.raises(Misconfigured, match=words) as caught:
        connect(profile)
    assert isinstance(caught.value, ApiError)


def test_a_script_that_connects_loads_no_screen() -> None:
    code = "import sys, livedeck.connect\nassert not {'textual', 'PIL', 'starlette', 'uvicorn'} & set(sys.modules)\n"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)

"""A first start tries its settings on the platform and saves them where the next start finds them."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from cli.commands import served
from livedeck.cli.settings_file import save_platform, try_platform
from livedeck.environment import config_path
from livedeck.secret_sources import read_token
from livedeck.settings import load
from livedeck.ui.general.welcome import PlatformSettings


async def test_answers_are_tried_and_what_works_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    with served(tmp_path) as (_, service):
        address, token = {"base_url": service["base_url"]}, service["token"]
        assert "Token refused. Check what you typed." in await try_platform(
            {}, PlatformSettings(address, "another-token")
        )
        assert "no token" in await try_platform({}, PlatformSettings(address))
        assert not await try_platform({}, PlatformSettings(address, token))
        assert not save_platform(PlatformSettings(address, token))
        settings = load()
        assert (settings.base_url, read_token(settings)) == (service["base_url"], token)
        assert token not in config_path().read_text(encoding="utf-8")
        assert settings.token_file is not None
        assert not stat.S_IMODE(settings.token_file.stat().st_mode) & 0o077

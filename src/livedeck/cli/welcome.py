"""The first start of `livedeck`: without a platform it leads on to the demo, or to settings that work."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from livedeck import settings as configuration
from livedeck.cli.build import make_api
from livedeck.cli.saving import save
from livedeck.client import ApiError
from livedeck.settings import SettingsError

if TYPE_CHECKING:
    from livedeck.ui.welcome import Platform


async def welcome(flags: Mapping[str, Any]) -> str:
    """What the person chose: `demo`, `deck` once the settings are kept, or nothing."""
    from livedeck.cli.taking_over import taking_over
    from livedeck.ui.welcome import Welcome

    app = Welcome(partial(tried, flags), kept, monotonic, theme=configuration.displayed().theme)
    taking_over(app)
    return await app.run_async() or ""


async def tried(flags: Mapping[str, Any], platform: Platform) -> str:
    """Why that platform cannot be used, in words; nothing where it answers to that token."""
    token = {"token": SecretStr(platform.token)} if platform.token else {}
    try:
        settings = configuration.load(**{**flags, **platform.settings, **token})
        api = await asyncio.to_thread(make_api, settings)  # a token command takes its time
        async with api:
            await api.events.list(per_page=1)
    except (ApiError, SettingsError) as error:
        return str(error)
    return ""


def kept(platform: Platform) -> str:
    """Write it into the settings; why that is not possible, in words, or nothing."""
    try:
        save(platform.settings, platform.token)
    except SettingsError as error:
        return str(error)
    return ""

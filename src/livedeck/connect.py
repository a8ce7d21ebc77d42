"""Client with the settings of the command line, for scripts: `from livedeck.connect import connect`.

`livedeck.client` reads no settings, because it can be installed without them (architecture.md, "Rooms").
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from livedeck.client import Api, BitrateUnit, Misconfigured, RequestHook, ResponseHook
from livedeck.environment import SettingsError, config_path, expand_user
from livedeck.monitor import Clock
from livedeck.secret_sources import SettingsTokenSource, read_token
from livedeck.settings import Settings, load
from livedeck.text.secrets import register_address


def connect(
    profile: str | None = None,
    *,
    read_only: bool | None = None,
    on_request: RequestHook | None = None,
    on_response: ResponseHook | None = None,
) -> Api:
    """Return a client of the platform that the settings name, with their token, proxy and certificates.

    Reads the environment and the settings file, as each command does (settings.md). A `token_command` may take up to
    15 s, so call this before an event loop runs, or in a thread.

    Args:
        profile: Name of a table of `[profiles]` in the settings file, as with `--profile`; None for the profile in
            force.
        read_only: Raise ReadOnly for every change; None for the value of the setting.
        on_request: Called with each request, without secrets, before it is sent.
        on_response: Called with the head of each response, without secrets, or with the reason why there is none.

    Raises:
        Misconfigured: A setting cannot be used, or there is no address or no token. Names the setting and its place.
    """
    try:
        settings = load(profile=profile, read_only=read_only)
        unit: BitrateUnit = "kbit" if settings.bitrate_unit == "kbit" else "bit"
        return make_api(settings, bitrate_unit=unit, on_request=on_request, on_response=on_response)
    except SettingsError as error:
        raise Misconfigured(str(error)) from None


def make_api(
    settings: Settings,
    *,
    clock: Clock | None = None,
    machine_seconds: Callable[[float], float] = float,
    mount: Any = None,
    bitrate_unit: BitrateUnit = "bit",
    on_request: RequestHook | None = None,
    on_response: ResponseHook | None = None,
) -> Api:
    """Return a client of the configured platform, or of the ASGI app `mount`. Raises SettingsError, Misconfigured.

    `clock`: None for the clocks of the client. `machine_seconds`: as in `Api`. `bitrate_unit`:
    unit of the platform's bit rates.
    """
    if not settings.base_url:
        path = config_path()
        file = f"set base_url in {path}" if path.exists() else "run `livedeck config init`"
        raise SettingsError(f"no platform: set LIVEDECK_BASE_URL or --base-url, {file}, or try `livedeck demo`")
    token = read_token(settings)
    if settings.proxy:
        register_address(settings.proxy)
    clocks: dict[str, Any] = {}
    if clock is not None:
        clocks = {"now": clock.now, "timer": clock.monotonic, "sleep": clock.sleep, "machine_seconds": machine_seconds}
    return Api(
        base_url=settings.base_url,
        upload_url=settings.upload_url or None,
        token=token,
        token_source=SettingsTokenSource(settings),
        read_only=settings.read_only,
        meet_segment=settings.meet_segment,
        platforms=settings.platforms,
        bitrate_unit=bitrate_unit,
        timeout=settings.timeout,
        proxy=settings.proxy or None,
        ca_file=settings.ca_file and expand_user(str(settings.ca_file)),
        client_cert=settings.client_cert and expand_user(str(settings.client_cert)),
        use_environment=settings.use_environment,
        mount=mount,
        on_request=on_request,
        on_response=on_response,
        **clocks,
    )

"""The settings of `[notify]` made into the objects that tell (notifications.md)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from zoneinfo import ZoneInfo

from livedeck.cli.token import secret_from_command, secret_from_file
from livedeck.cli.wiring import make_outgoing
from livedeck.client import Misconfigured, Outgoing, check_outgoing
from livedeck.environment import child_variables, expand_user, this_process
from livedeck.notify import AppriseMissing, AppriseTarget, Plan, Sender, Target, Webhook, spool_path
from livedeck.settings import Settings, SettingsError, TargetSettings
from livedeck.text.secrets import register_address, register_secret

_NO_SPOOL = "notifications are kept beside the history, and `history` names no file; let it name one"


def make_plan(settings: Settings) -> Plan:
    """The routes that the settings name, and who tells."""
    notify = settings.notify
    host = this_process().partition("@")[2].partition(":")[0]
    profile = "" if settings.profile == "default" else settings.profile
    sender = Sender(host, profile, ZoneInfo(notify.timezone), notify.link_template)
    return Plan(tuple(route.route() for route in notify.routes), sender)


def spool_file(settings: Settings) -> Path:
    """Where what must not be lost is kept. Raises SettingsError without a history beside which it could be."""
    history = settings.history_file()
    if history is None:
        raise SettingsError(_NO_SPOOL)
    return spool_path(history)


async def make_targets(settings: Settings, outgoing: Outgoing) -> Mapping[str, Target]:
    """The receivers by name. Raises SettingsError where the address of one cannot be had or used."""
    targets = settings.notify.targets.items()
    return {
        name: await asyncio.to_thread(_make_target, f"notify.targets.{name}", table, outgoing)
        for name, table in targets
    }


def _make_target(path: str, table: TargetSettings, outgoing: Outgoing) -> Target:
    if address := read_secret(f"{path}.webhook", table.webhook_command, table.webhook_file):
        _check_address(f"{path}.webhook", address)
        return Webhook(outgoing.send, address, read_secret(f"{path}.secret", table.secret_command, table.secret_file))
    try:
        address = read_secret(f"{path}.apprise", table.apprise_command, table.apprise_file)
        return AppriseTarget(address, child_variables())
    except AppriseMissing as error:
        raise SettingsError(f"{path}: {error}") from None


async def notify_faults(settings: Settings) -> list[str]:
    """Why targets or the heartbeat cannot be used, in words. Their secrets are read, and nothing is sent."""
    faults = []
    if settings.notify.targets and settings.history_file() is None:
        faults.append(_NO_SPOOL)
    async with make_outgoing(settings) as outgoing:
        for name, table in settings.notify.targets.items():
            try:
                await asyncio.to_thread(_make_target, f"notify.targets.{name}", table, outgoing)
            except SettingsError as error:
                faults.append(str(error))
    try:
        await heartbeat_address(settings)
    except SettingsError as error:
        faults.append(str(error))
    return faults


async def heartbeat_address(settings: Settings) -> str:
    """What is called while all is well; empty where nothing is. Raises SettingsError."""
    notify = settings.notify
    address = await asyncio.to_thread(read_secret, "notify.heartbeat", notify.heartbeat_command, notify.heartbeat_file)
    if address:
        _check_address("notify.heartbeat", address)
    return address


def read_secret(setting: str, argv: tuple[str, ...], path: Path | None) -> str:
    """The secret of that setting, masked wherever it would be shown; empty where there is none."""
    if argv:
        secret = secret_from_command(f"{setting}_command", argv)
    elif path:
        secret = secret_from_file(f"{setting}_file", expand_user(str(path)))
    else:
        return ""
    register_secret(secret)
    register_address(secret, has_key=True)
    for part in secret.split("/")[3:]:  # of a webhook every part of the path may be the key
        register_secret(part)
    return secret


def _check_address(setting: str, address: str) -> None:
    try:
        check_outgoing(address)
    except Misconfigured as error:
        raise SettingsError(f"{setting}: {error}") from None

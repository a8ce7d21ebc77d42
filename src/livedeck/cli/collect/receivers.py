"""Builders of routes, receivers and heartbeat from the settings of `[notify]` (notifications.md)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from functools import partial
from hashlib import sha256
from pathlib import Path
from zoneinfo import ZoneInfo

from livedeck.cli.wiring import make_outgoing
from livedeck.client import Misconfigured, Outgoing, check_outgoing
from livedeck.egress import Egress
from livedeck.environment import expand_user, sender_variables, this_machine
from livedeck.notify import TARGETS, CheckedTarget, Given, Means, Plan, Sender, TargetError, spool_path
from livedeck.secret_sources import secret_from_command, secret_from_file
from livedeck.settings import Settings, SettingsError, TargetSettings
from livedeck.text.secrets import register_address, register_secret

_NO_SPOOL = "notifications are stored beside the history, and no history is kept: set `history` to a file"


def make_plan(settings: Settings) -> Plan:
    """Return the routes of the settings, and the name that messages give as their sender."""
    notify = settings.notify
    host = this_machine()
    profile = "" if settings.profile == "default" else settings.profile
    has_links = bool(settings.collector.link_url)
    sender = Sender(host, profile, ZoneInfo(notify.timezone), notify.link_template, _origin(settings), has_links)
    acknowledging = frozenset(name for name, table in notify.targets.items() if TARGETS[table.kind].acknowledges)
    keeping = frozenset(name for name, table in notify.targets.items() if TARGETS[table.kind].needs_end)
    templates = {name: table.template for name, table in notify.targets.items()}
    return Plan(tuple(route.route() for route in notify.routes), sender, acknowledging, keeping, templates)


def _origin(settings: Settings) -> str:
    """Return 8 hex digits of the SHA-256 of the platform's address."""
    return sha256(settings.base_url.rstrip("/").encode()).hexdigest()[:8]


def spool_file(settings: Settings) -> Path:
    """Return the path of the spool, which lies beside the history. Raises SettingsError without a history file."""
    history = settings.history_file()
    if history is None:
        raise SettingsError(_NO_SPOOL)
    return spool_path(history)


def make_notification_way(settings: Settings) -> AbstractAsyncContextManager[Outgoing]:
    """Return the sender of webhooks and heartbeats. It reaches public addresses and those in `allow_private`."""
    return make_outgoing(settings, Egress.of(settings.notify.allow_private))


async def make_targets(settings: Settings, outgoing: Outgoing) -> Mapping[str, CheckedTarget]:
    """Return the receivers by name. Raises SettingsError if an address cannot be read or used."""
    return {name: await _make_target(settings, name, outgoing) for name in settings.notify.targets}


async def _make_target(settings: Settings, name: str, outgoing: Outgoing) -> CheckedTarget:
    path, table = f"notify.targets.{name}", settings.notify.targets[name]
    variables, egress = sender_variables(outgoing.proxy_variables()), Egress.of(settings.notify.allow_private)
    means = Means(outgoing.send, _check_receiver, variables, egress, _origin(settings))
    return await asyncio.to_thread(_read_target, path, table, means)


def _read_target(path: str, table: TargetSettings, means: Means) -> CheckedTarget:
    """Return the target that a table of the settings describes, after reading its secrets. Raises SettingsError.

    `path`: name of the table, for errors.
    """
    kind = TARGETS[table.kind]
    address = read_secret(f"{path}.{table.kind}", *table.source(table.kind))
    secret = read_secret(f"{path}.secret", *table.source("secret")) if kind.secret else ""
    try:
        return kind.make(means, Given(address, secret, table.options))
    except TargetError as error:
        raise SettingsError(f"{path}.{table.kind}: {error}") from None


def _check_receiver(address: str) -> None:
    try:
        check_outgoing(address)
    except Misconfigured as error:
        raise TargetError(str(error)) from None


async def notify_faults(settings: Settings, *, looks_up: bool = False) -> list[str]:
    """Return the reasons why targets or the heartbeat cannot be used. Reads their secrets, and sends nothing.

    `looks_up`: resolve the host names, to find private addresses that are not in `allow_private`.
    """
    faults, targets, heartbeat = list[str](), dict[str, CheckedTarget](), ""
    if settings.notify.targets and settings.history_file() is None:
        faults.append(_NO_SPOOL)
    async with make_notification_way(settings) as outgoing:
        for name in settings.notify.targets:
            try:
                targets[name] = await _make_target(settings, name, outgoing)
            except SettingsError as error:
                faults.append(str(error))
        try:
            heartbeat = await heartbeat_address(settings)
        except SettingsError as error:
            faults.append(str(error))
        return [*faults, *await refusals(targets, heartbeat, outgoing, looks_up=looks_up)]


async def refusals(
    targets: Mapping[str, CheckedTarget], heartbeat: str, outgoing: Outgoing, *, looks_up: bool = False
) -> list[str]:
    """Return a line for each receiver whose private address is not in `allow_private`, with the entry to add.

    `looks_up`: resolve host names too; nothing is sent in any case.
    """
    find = partial(outgoing.refusal, looks_up=looks_up)
    found = {f"notify.targets.{name}": await target.find_refusal(find) for name, target in targets.items()}
    if heartbeat:
        found["notify.heartbeat"] = await outgoing.refusal(heartbeat, looks_up=looks_up)
    return [f"{name}: {refusal}" for name, refusal in found.items() if refusal]


async def heartbeat_address(settings: Settings) -> str:
    """Return the address of the heartbeat; empty if none is set. Raises SettingsError."""
    notify = settings.notify
    address = await asyncio.to_thread(read_secret, "notify.heartbeat", notify.heartbeat_command, notify.heartbeat_file)
    if address:
        _check_address("notify.heartbeat", address)
    return address


def read_secret(setting: str, argv: tuple[str, ...], path: Path | None) -> str:
    """Return the secret that a command or file holds, and mask it in all output from now on. Empty if neither is set.

    `setting`: name of the secret, for errors. Raises SettingsError.
    """
    if argv:
        secret = secret_from_command(f"{setting}_command", argv)
    elif path:
        secret = secret_from_file(f"{setting}_file", expand_user(str(path)))
    else:
        return ""
    for line in (secret, *secret.splitlines()):
        register_secret(line)
    register_address(secret, has_key=True)
    for part in secret.split("/")[3:]:  # any part of a webhook's path may be the key
        register_secret(part)
    return secret


def _check_address(setting: str, address: str) -> None:
    try:
        check_outgoing(address)
    except Misconfigured as error:
        raise SettingsError(f"{setting}: {error}") from None

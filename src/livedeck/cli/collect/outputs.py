"""Build and check the outputs of the settings: tally (tally.md) and OTLP (scripting.md, "OpenTelemetry")."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from importlib.util import find_spec

from livedeck.cli.collect.receivers import make_notification_way, read_secret
from livedeck.cli.wiring import SystemClock
from livedeck.collector.otlp import Encoder, MetricsPush
from livedeck.collector.tally import Receiver, TallySender
from livedeck.egress import Egress, literal_addresses
from livedeck.monitor import Clock, Snapshot
from livedeck.notify import Post
from livedeck.presentation.otlp import PACKAGE_NEEDED
from livedeck.settings import Settings, SettingsError
from livedeck.settings.model import host_and_port


def tally_senders(
    settings: Settings, published: Callable[[], Snapshot | None], clock: Clock, report: Callable[[str], object]
) -> list[TallySender]:
    """Return a sender for each receiver of tally messages. A private address must be in `allow_private`."""
    egress = Egress.of(settings.notify.allow_private)
    receivers = (
        Receiver(name, *host_and_port(table.address), table.version, table.transport, table.screen, table.displays)
        for name, table in settings.tally.targets.items()
    )
    return [TallySender(receiver, egress, published, clock, report) for receiver in receivers]


async def make_push(
    settings: Settings, post: Post, encoder: Encoder, clock: Clock, report: Callable[[str], object]
) -> MetricsPush | None:
    """Return the sender that pushes the metrics; None without an endpoint. Raises SettingsError."""
    otlp = settings.otlp
    if not otlp.endpoint:
        return None
    if find_spec("opentelemetry") is None:
        raise SettingsError(f"otlp: {PACKAGE_NEEDED}")
    token = await asyncio.to_thread(read_secret, "otlp.token", otlp.token_command, otlp.token_file)
    is_bearer = otlp.header.lower() == "authorization" and " " not in token
    headers = {otlp.header: f"Bearer {token}" if is_bearer else token} if token else {}
    return MetricsPush(post, otlp.address, headers, encoder, clock, interval=otlp.interval, report=report)


async def webhook_secret(settings: Settings) -> str:
    """Return the secret that signs the webhooks of PagerDuty; empty if none is set. Raises SettingsError."""
    table = settings.collector
    command, file = table.pagerduty_secret_command, table.pagerduty_secret_file
    return await asyncio.to_thread(read_secret, "collector.pagerduty_secret", command, file)


async def output_faults(settings: Settings, *, looks_up: bool = False) -> list[str]:
    """Return the reasons why tally, OTLP or webhooks cannot be used. Reads their secrets, and sends nothing.

    `looks_up`: resolve the host name of the OTLP receiver.
    """
    faults, egress = list[str](), Egress.of(settings.notify.allow_private)
    for name, target in settings.tally.targets.items():
        host, _ = host_and_port(target.address)
        refusals = (egress.refusal(host, address) for address in literal_addresses(host))
        faults += [f"tally.targets.{name}: {refusal}" for refusal in refusals if refusal]
    async with make_notification_way(settings) as outgoing:
        if settings.otlp.endpoint:
            refusal = await outgoing.refusal(settings.otlp.address, looks_up=looks_up)
            faults += [f"otlp: {refusal}"] if refusal else []
        try:
            await make_push(settings, outgoing.send, lambda: None, SystemClock(), faults.append)
            await webhook_secret(settings)
        except SettingsError as error:
            faults.append(str(error))
    return faults

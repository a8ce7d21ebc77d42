"""`livedeck demo`: the deck on its own simulated platform."""

from __future__ import annotations

import shlex
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, ExitStack, aclosing, asynccontextmanager, closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

import click
from pydantic import SecretStr

from livedeck.cli.deck import run_deck
from livedeck.cli.exit_codes import run
from livedeck.cli.options import READ_ONLY, appearance, merge_flags, refuse_platform, simulation
from livedeck.cli.output import echo
from livedeck.environment import no_screen_reason
from livedeck.settings import IN_MEMORY, DisplaySettings, Settings, load_display
from livedeck.simulator import Simulator, SimulatorError, domains, serve
from livedeck.text.outside import shown

if TYPE_CHECKING:
    from livedeck.collector.serving.hub import Hub
    from livedeck.monitor import Monitor

PROBED: Mapping[str, Any] = {"probe": {"enabled": True, "use_play_link": True, "interval": 4}}
"""Settings of a deck that probes each `play_link`."""

IN_PROCESS = "http://127.0.0.1:8787"
"""Address of a simulator in the same process, reached without a socket."""


def demo_settings(simulator: Simulator, base_url: str = IN_PROCESS, **settings: Any) -> Settings:
    """Return settings for the simulator: its address, token and relay platforms, and names of its users and folders."""
    return Settings(
        base_url=base_url,
        token=SecretStr(simulator.token),
        platforms=dict(domains()),
        users={simulator.user_id: simulator.user_name},
        folders=dict(simulator.folders()),
        **settings,
    )


async def run_demo(
    simulator: Simulator,
    display: DisplaySettings,
    *,
    read_only: bool,
    has_collector: bool = False,
    follows_clock: bool = False,
    has_probe: bool = False,
) -> int:
    """Run the deck on the simulator, over HTTP on a free loopback port. Returns the exit code.

    Closes the simulator at the end. `has_collector`: run a collector too, and attach the deck to it.
    `follows_clock`: the deck follows the simulator's clock instead of this machine's. `has_probe`: probe what viewers
    get.
    """
    with closing(simulator):
        async with serve(simulator) as addresses, AsyncExitStack() as stack:
            settings = demo_settings(
                simulator,
                addresses.base_url,
                upload_url=addresses.upload_url,
                profile="DEMO",
                history=IN_MEMORY,
                read_only=read_only,
                follow_clock=follows_clock,
                **(PROBED if has_probe else {}),
                **display.model_dump(),
            )
            if has_collector:
                collector = await stack.enter_async_context(run_collector(settings))
                echo(f"livedeck demo: attach a wall with: {collector.command('wall')}", err=True)
                attached = {"collector_url": collector.url, "collector_token_file": collector.token_file}
                settings = settings.model_copy(update=attached)
            notice = say_how_to_break(simulator, addresses.control_url, stack)
            return await run_deck(settings, notice=f"8 shows what viewers get; {notice}" if has_probe else notice)


@click.command
@simulation
@click.option(
    "--speed", type=click.FloatRange(0.01, 30), help="Speed of the simulated clock. [default: 1, or the stored one]"
)
@click.option("--collector", "has_collector", is_flag=True, help="Run a collector and attach the deck to it.")
@click.option(
    "--probe", "has_probe", is_flag=True, help="Play HLS, and probe what viewers get. [default scenario: nine]"
)
@click.option("--read-only", is_flag=True, envvar="LIVEDECK_READ_ONLY", help=READ_ONLY)
@appearance
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    speed: float | None,
    has_collector: bool,
    has_probe: bool,
    read_only: bool,
    theme: str | None,
    ascii: bool | None,  # noqa: A002
    **simulation: Any,
) -> None:
    """Run the deck on its own simulated platform, without an account.

    Shows twelve events of one evening, some of them in trouble. Nothing is saved, and nothing leaves this machine. Only
    the display settings apply: theme, signs, keys, bell. Prints the address of the control API, and a line of curl that
    breaks something. With --speed the deck follows the clock, up to 30x. --collector also prints the command that
    attaches a wall. --probe shows what viewers get of nine events: a picture goes black, a sound goes silent and a
    playlist stalls, while the encoders send well.
    """
    refuse_platform(ctx)
    if speed is not None and has_collector:
        raise click.UsageError("--speed and --collector exclude each other: an attached deck has the collector's clock")
    flags = merge_flags(ctx, {"theme": theme, "ascii": ascii})
    try:
        if has_probe and not simulation["scenario"]:
            simulation["scenario"] = PROBED_SCENARIO
        simulator = Simulator(speed=speed, hls=has_probe, **simulation)
    except SimulatorError as error:
        raise click.UsageError(shown(str(error))) from None

    async def work() -> int:
        is_locked = read_only or bool(flags.get("read_only"))
        return await run_demo(
            simulator,
            load_display(**flags),
            read_only=is_locked,
            has_collector=has_collector,
            follows_clock=speed is not None,
            has_probe=has_probe,
        )

    ctx.exit(run(work, is_screen=True))


def say_how_to_break(simulator: Simulator, control_url: str, stack: ExitStack | AsyncExitStack) -> str:
    """Print the control address and a line of curl that breaks something.

    Returns a notice for the deck, because the deck covers these lines. Without a screen or an event on air, prints
    nothing and returns an empty text.
    """
    name = next((name for name in simulator.on_air() if "/" not in name), None)
    if name is None or no_screen_reason():
        return ""
    folder = write_break(stack, simulator.control_token, f"{control_url}/encoders/{quote(name)}")
    line = (folder / "break").read_text(encoding="utf-8").strip()
    echo(f"livedeck demo: control {control_url}\nbreak {name} from another terminal: {line}", err=True)
    return f"break {name} from another terminal: sh {folder}/break"


def write_break(stack: ExitStack | AsyncExitStack, token: str, encoder_url: str) -> Path:
    """Return a new private folder with two files: a line of curl that stops an encoder, and the header for curl.

    The file of the header keeps the token off the screen, the list of processes and the history of a shell.
    """
    from tempfile import TemporaryDirectory

    from livedeck.atomic_file import write_private

    # No "livedeck-demo" in the name: it is the demo's token, which the deck masks wherever it stands.
    folder = Path(stack.enter_context(TemporaryDirectory(prefix="livedeck-break-")))
    write_private(folder / "control", f"Authorization: Bearer {token}\n", replace=False)
    header = shlex.quote(f"@{folder}/control")
    line = f"curl -H {header} -d '{{\"sending\": false}}' {shlex.quote(encoder_url)}\n"
    write_private(folder / "break", line, replace=False)
    return folder


PROBED_SCENARIO = "nine"
"""Scenario of `--probe`, if none is named."""

COLLECTOR_NAME = "demo"
"""Name of the demo's only collector token. Alarm actions show it as their actor."""


class DemoCollector(NamedTuple):
    """Address of the demo's collector, and a file with a token that has the right `act` there."""

    url: str
    token_file: Path

    def command(self, name: str) -> str:
        """Return the shell line that runs the named livedeck command attached to this collector."""
        return f"LIVEDECK_COLLECTOR_URL={self.url} LIVEDECK_COLLECTOR_TOKEN_FILE={self.token_file} livedeck {name}"


@asynccontextmanager
async def run_collector(settings: Settings, name: str = COLLECTOR_NAME) -> AsyncIterator[DemoCollector]:
    """Run a collector on a free loopback port while the block runs. `name`: owner of its token."""
    import asyncio
    from hashlib import sha256
    from secrets import token_hex
    from tempfile import TemporaryDirectory

    from livedeck.atomic_file import write_private
    from livedeck.cli.exposure import Exposure
    from livedeck.cli.wiring import SystemClock, follow_clock, make_history, make_monitor, make_paced_api, open_prober
    from livedeck.collector.serving.access import MAX_READERS, Access
    from livedeck.collector.serving.app import collector_app
    from livedeck.collector.serving.hub import Hub
    from livedeck.http_server import serve_app
    from livedeck.presentation.metrics import Counted
    from livedeck.settings import CollectorTokenSettings

    async with AsyncExitStack() as stack:
        clock = await follow_clock(settings, stack)
        api = await stack.enter_async_context(make_paced_api(settings.model_copy(update={"read_only": True}), clock))
        history = await stack.enter_async_context(make_history(settings, clock))
        prober = await stack.enter_async_context(open_prober(settings, clock))
        monitor = make_monitor(api, clock, settings=settings, history=history, viewer=prober)
        token, hub = token_hex(32), Hub(monitor.clock, token_hex(4), clock.speed if clock else None)
        tokens = {name: CollectorTokenSettings(sha256=sha256(token.encode()).hexdigest(), may="act")}
        access = Access(lambda: tokens, SystemClock())
        app = collector_app(hub, monitor, history, access, lambda: Counted(readers=hub.readers))
        token_file = Path(stack.enter_context(TemporaryDirectory(prefix="livedeck-collector-"))) / "token"
        write_private(token_file, token, replace=False)
        listener = stack.enter_context(Exposure(0).listen())
        url = await stack.enter_async_context(serve_app(listener, app, max_connections=2 * MAX_READERS))
        publishing = asyncio.create_task(_publish(monitor, hub))
        try:
            yield DemoCollector(url.rstrip("/"), token_file)
        finally:
            publishing.cancel()
            await asyncio.gather(publishing, return_exceptions=True)
            hub.close()


async def _publish(monitor: Monitor, hub: Hub) -> None:
    async with aclosing(monitor.snapshots()) as snapshots:
        async for snapshot in snapshots:
            await hub.publish(snapshot)

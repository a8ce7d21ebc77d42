"""`livedeck serve`: the simulated platform, until a signal ends it."""

from __future__ import annotations

import asyncio
import json
import logging
import signal
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import click

from livedeck.cli.exit_codes import DONE, FAULT, USAGE, run
from livedeck.cli.options import FORCE, Command, formats, refuse_platform, simulation, timestamp
from livedeck.cli.output import echo
from livedeck.simulator import (
    DEFAULT_TOKEN,
    PROFILES,
    Addresses,
    IngestError,
    Profile,
    Simulator,
    SimulatorClock,
    SimulatorError,
    Timeouts,
    Wire,
    check_table,
    listings,
    serve,
)
from livedeck.text.outside import shown

MOST_SHOWN = 4000
"""Maximum number of printed characters of an error or a problem."""


def timeout(name: str, meaning: str) -> Callable[[Command], Command]:
    """Return a decorator that adds the flag for the field `name` of `Timeouts`."""
    default = getattr(Timeouts(), name)
    span = click.FloatRange(0.1, 86_400)
    return click.option(f"--{name}-timeout", default=default, show_default=True, type=span, help=meaning)


def _clock_from(_ctx: click.Context, _param: click.Parameter, text: str | None) -> SimulatorClock | None:
    """Return a paused clock at the typed time; None if no time was typed. Raises click.BadParameter."""
    try:
        return None if text is None else SimulatorClock(timestamp(text), paused=True)
    except ValueError as error:
        raise click.BadParameter(f"{text!r} is not {error}; write 2026-11-21T18:00Z") from None


@click.command
@click.option(
    "--check",
    "checked",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Check a TOML file of a scenario, a workspace or faults: print every problem, then exit.",
)
@click.option("--list", "is_list", is_flag=True, help="Print the names that a scenario can use, then exit.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to bind to.")
@click.option("--port", default=8787, show_default=True, type=click.IntRange(0, 65535), help="0 means any free port.")
@click.option("--data", type=click.Path(dir_okay=False, path_type=Path), help="Store everything in this SQLite file.")
@click.option("--token", help="Token that the API requires. [default: the demo's, on loopback only]")
@click.option(
    "--workspace",
    metavar="NAME|FILE",
    help="Workspace to serve: stage, big, ... or a TOML file. [default: demo, or the stored one]",
)
@simulation
@FORCE
@click.option(
    "--speed", type=click.FloatRange(0.01, 1000), help="Speed of the simulated clock. [default: 1, or the stored one]"
)
@click.option(
    "--start",
    "clock",
    metavar="TIME",
    callback=_clock_from,
    help="Time that the simulated clock shows first: 2026-11-21T18:00Z. [default: now, or the stored one]",
)
@click.option("--paused", is_flag=True, default=None, help="Start with the simulated clock paused.")
@click.option(
    "--control-token",
    envvar="LIVEDECK_CONTROL_TOKEN",
    help="Token that the control API requires. [default: the stored one, or a random one]",
)
@click.option(
    "--snapshot", type=click.Path(dir_okay=False, path_type=Path), help="Start from this snapshot of a simulator."
)
@click.option(
    "--ingest",
    is_flag=False,
    flag_value=1935,
    type=click.IntRange(0, 65535),
    metavar="[PORT]",
    help="Receive RTMP encoders at this port; 0 means any free port. [default without PORT: 1935]",
)
@click.option("--ingest-host", default="127.0.0.1", show_default=True, help="Address that encoders send to.")
@click.option("--hls", is_flag=True, help="Play events on air as HLS; their play_link is the master playlist.")
@click.option("--meet-segment", default="meet", show_default=True, help="Path segment of the room endpoints.")
@click.option(
    "--strictness",
    "profile",
    default=PROFILES[0],
    show_default=True,
    type=click.Choice(PROFILES),
    help="Accept requests as documented; strict refuses more, lenient accepts more.",
)
@click.option("--cors", multiple=True, metavar="ORIGIN", help="Let web pages of this origin call the API. Repeatable.")
@click.option("--gzip", is_flag=True, help="Compress responses for clients that accept gzip.")
@click.option(
    "--journal",
    default=1000,
    show_default=True,
    type=click.IntRange(0, 100_000),
    help="Number of requests that the journal keeps; 0 turns it off.",
)
@timeout("head", "Maximum seconds until the head of a request is complete.")
@timeout("body", "Maximum seconds between two bytes of a request body or of a response.")
@timeout("idle", "Maximum seconds that a connection may be idle.")
@formats("table", "json")
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    checked: Path | None,
    is_list: bool,
    host: str,
    port: int,
    data: Path | None,
    token: str | None,
    force: bool,
    speed: float | None,
    clock: SimulatorClock | None,
    paused: bool | None,
    control_token: str | None,
    snapshot: Path | None,
    ingest: int | None,
    ingest_host: str,
    hls: bool,
    meet_segment: str,
    profile: Profile,
    cors: tuple[str, ...],
    gzip: bool,
    journal: int,
    head_timeout: float,
    body_timeout: float,
    idle_timeout: float,
    output_format: str,
    **simulation: Any,
) -> None:
    """Run the simulated platform on this machine. Its responses follow the API document.

    Ends on SIGTERM and ctrl-c. --scenario, --workspace and --snapshot need --force to replace the workspace in the file
    of --data. --list and --check help to write a scenario of your own. The control API needs a token: give one with
    --control-token, or read it from --json.
    """
    refuse_platform(ctx)
    if checked:
        ctx.exit(_check(checked, as_json=output_format == "json"))
    if is_list:
        ctx.exit(_list(as_json=output_format == "json"))
    for option, address in (("--host", host), ("--ingest-host", ingest_host)):
        if not _is_loopback(address) and token in {None, "", DEFAULT_TOKEN}:
            raise click.UsageError(
                f"{option} {address} can be reached from elsewhere: protect it with a --token of your own"
            )

    def make_simulator() -> Simulator:
        return Simulator(
            token=token or DEFAULT_TOKEN,
            data=data,
            force=force,
            clock=clock,
            speed=speed,
            paused=bool(paused) if clock else paused,
            control_token=control_token,
            snapshot=snapshot,
            meet_segment=meet_segment,
            wire=Wire(profile, cors, gzip),
            journal=journal,
            hls=hls,
            **simulation,
        )

    rtmp = None if ingest is None else (ingest_host, ingest)
    timeouts = Timeouts(head_timeout, body_timeout, idle_timeout)

    async def work() -> int:
        with _say_on_stderr():
            return await _serve(host, port, make_simulator, timeouts, rtmp, as_json=output_format == "json")

    ctx.exit(run(work))


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _check(path: Path, *, as_json: bool) -> int:
    """Print the problems of a file. Returns the exit code."""
    try:
        problems = check_table(path)
    except SimulatorError as error:
        echo(_one_line(f"livedeck serve: {error}"), err=True)
        return FAULT
    if as_json:
        echo(json.dumps({"problems": [asdict(problem) for problem in problems]}))
    elif problems:
        echo("\n".join(_one_line(str(problem)) for problem in problems))
    else:
        echo(f"{path}: no problems")
    return FAULT if problems else DONE


def _one_line(text: str) -> str:
    """Return a text with names of strangers as one line, cut at `MOST_SHOWN` characters."""
    return shown(text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}...")


def _list(*, as_json: bool) -> int:
    """Print the tables of names that a scenario can use. Returns the exit code."""
    tables = listings()
    if as_json:
        rows = {table.name: [dict(zip(table.head, row, strict=True)) for row in table.rows] for table in tables}
        echo(json.dumps(rows, ensure_ascii=False))
    else:
        echo("\n\n".join(table.text() for table in tables))
    return DONE


async def _serve(
    host: str,
    port: int,
    make_simulator: Callable[[], Simulator],
    timeouts: Timeouts,
    ingest: tuple[str, int] | None,
    *,
    as_json: bool,
) -> int:
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(number, ended.set)
    try:
        with closing(make_simulator()) as simulator:
            async with serve(simulator, host, port, timeouts, ingest) as addresses:
                echo(_json(simulator, addresses) if as_json else _line(simulator, addresses))
                await ended.wait()
    except IngestError as error:
        echo(_one_line(f"livedeck serve: {error}"), err=True)
        return USAGE
    except (OSError, SimulatorError) as error:
        echo(_one_line(f"livedeck serve: {error}"), err=True)
        return FAULT
    return DONE


class _Notices(logging.Handler):
    """Handler that prints a line on standard error for each warning of the simulator; the log has the details."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print the warning, unless standard error is closed."""
        with suppress(OSError, ValueError):
            echo(f"livedeck serve: {record.getMessage()}", err=True)


@contextmanager
def _say_on_stderr() -> Iterator[None]:
    """Print warnings of the simulator on standard error while the block runs."""
    logger, notices = logging.getLogger("livedeck.simulator"), _Notices(logging.WARNING)
    logger.addHandler(notices)
    try:
        yield
    finally:
        logger.removeHandler(notices)


def _json(simulator: Simulator, addresses: Addresses) -> str:
    return json.dumps(
        {
            **asdict(addresses),
            "control_token": simulator.control_token,
            "token": simulator.token,
            "workspace_id": simulator.workspace_id,
            "user_id": simulator.user_id,
            "other_workspace": asdict(simulator.other_workspace),
        }
    )


def _line(simulator: Simulator, addresses: Addresses) -> str:
    return (
        f"livedeck serve: api {addresses.base_url}  upload {addresses.upload_url}  control {addresses.control_url}  "
        f"token {simulator.token}  "
        f"workspace {simulator.workspace_id}  user {simulator.user_id}  "
        f"{f'ingest {addresses.ingest_url}  ' if addresses.ingest_url else ''}(ctrl-c ends it)"
    )

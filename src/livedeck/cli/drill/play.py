"""`livedeck drill play`: a scenario with answers on a simulated platform, and the grade of the reactions."""

from __future__ import annotations

import asyncio
import json
import signal
from contextlib import closing
from dataclasses import asdict
from functools import partial
from pathlib import Path
from random import SystemRandom
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from livedeck.cli.deck import run_deck
from livedeck.cli.demo import demo_settings, run_collector
from livedeck.cli.drill.evidence import evidence_of, truth_from
from livedeck.cli.drill.scores import add_score, print_report, report_object
from livedeck.cli.drill.watch import DrillWatch
from livedeck.cli.exit_codes import DONE, NOT_SO, run
from livedeck.cli.formats import schema_name
from livedeck.cli.options import SEED, appearance, merge_flags, refuse_platform
from livedeck.cli.output import echo, echo_json
from livedeck.cli.wiring import SystemClock
from livedeck.drill.grade import grade
from livedeck.drill.scores import score_of
from livedeck.drill.truth import Evidence, Truth
from livedeck.environment import no_screen_reason, this_process
from livedeck.monitor import HistoryReader, Severity, SystemMachine, person
from livedeck.monitor.polling.poller import wait_first
from livedeck.settings import REHEARSAL_HISTORY, DisplaySettings, Settings, load_display
from livedeck.simulator import Addresses, Simulator, SimulatorError, draw_drill, load_scenario, scenario_names, serve
from livedeck.text.values import safe, short_duration

if TYPE_CHECKING:
    from livedeck.ui.app import Deck

OPERATOR = "operator"
"""Owner of the collector's token in a drill without a screen."""

NO_SCORE = "no score for this drill: this machine was too busy. Play on for practice, or leave"
"""Notice on the deck."""


@click.command
@click.argument("scenario", metavar="[NAME|FILE]", required=False)
@click.option(
    "--random", "is_random", is_flag=True, help="Play 3 to 5 faults drawn from --seed, in place of NAME|FILE."
)
@SEED
@click.option("--headless", is_flag=True, help="Show no screen: print addresses as JSON, for a scripted operator.")
@appearance
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    scenario: str | None,
    is_random: bool,
    seed: int | None,
    headless: bool,
    theme: str | None,
    ascii: bool | None,  # noqa: A002
) -> None:
    """Play a scenario with answers, grade your reactions, and print the report.

    Runs the deck on its own simulated platform until the scenario ends; leave the deck to end the drill earlier.
    Nothing leaves this machine. The score is kept: `livedeck drill list`. Exit code 6 if the drill has no score, such
    as on a machine that is too busy. With --headless a collector takes the place of the deck: acknowledge and note
    there, and change the platform at `base_url`. The last line is the report as JSON.
    """
    refuse_platform(ctx)
    if (scenario is None) != is_random:
        raise click.UsageError("name a drill, or add --random")
    if not headless and (reason := no_screen_reason()):
        raise click.UsageError(f"a drill needs a screen: {reason}; add --headless for a scripted operator")
    display = load_display(**merge_flags(ctx, {"theme": theme, "ascii": ascii}))
    drawn = SystemRandom().randrange(10**6) if seed is None else seed
    try:
        simulator = Simulator(scenario=scenario or draw_drill(drawn), seed=seed, paused=None if headless else True)
    except SimulatorError as error:
        raise click.UsageError(str(error)) from None
    if simulator.scenario is None or not simulator.scenario.answers:
        simulator.close()
        drills = [name for name in scenario_names() if load_scenario(name).answers]
        choice = f"choose from {', '.join(drills)}, or a file with answers"
        raise click.UsageError(f"{scenario} has no [[answers]]: {choice}")

    if not headless:
        echo(_briefing(truth_from(simulator.truth(()))), err=True)

    async def work() -> int:
        begun = SystemClock().now()
        evidence = await play(simulator, display, headless=headless)
        score = score_of(evidence, begun)
        number = await asyncio.to_thread(add_score, score)
        if headless:
            echo_json({"schema": schema_name("drill show"), **report_object(number, score)})
        else:
            print_report(grade(evidence))
        return NOT_SO if score.score is None else DONE

    ctx.exit(run(work, is_screen=not headless))


def _briefing(truth: Truth) -> str:
    """Return the lines that stand on the terminal until the first screen."""
    length = short_duration((truth.ends - truth.began).total_seconds())
    return (
        f"Drill {safe(truth.scenario)}: {safe(truth.title)}. It lasts {length} from the first screen; ctrl+c ends it.\n"
        "Judged: seconds until you acknowledge each alarm, and until you do what it needs. Wrong changes cost points."
    )


async def play(simulator: Simulator, display: DisplaySettings, *, headless: bool) -> Evidence:
    """Play the scenario of the simulator to its end, or until the person leaves. Returns the evidence.

    Closes the simulator. With a screen its clock is paused until the deck has drawn the first frame.
    """
    scenario = simulator.scenario
    assert scenario is not None, "a drill plays a scenario"
    truth = truth_from(simulator.truth(()))
    watch = DrillWatch(simulator, truth, SystemClock(), SystemMachine(), scenario.quiet_speed)
    with closing(simulator), TemporaryDirectory(prefix="livedeck-rehearsal-") as folder:
        history = Path(folder) / REHEARSAL_HISTORY
        async with serve(simulator) as addresses:
            settings = demo_settings(
                simulator,
                addresses.base_url,
                upload_url=addresses.upload_url,
                profile="DRILL",
                history=str(history),
                follow_clock=True,
                **display.model_dump(),
            )
            watching = asyncio.create_task(watch.run())
            try:
                if headless:
                    await _serve_operator(simulator, addresses, settings, watch.over)
                else:
                    await run_deck(
                        settings, notice=f"drill until {truth.ends:%H:%M:%S}Z", beside=partial(attend, simulator, watch)
                    )
            finally:
                watching.cancel()
            ended = simulator.clock.now()
        watch.look()
        reader = HistoryReader(history, is_strict=True)
        played = simulator.truth(watch.entries)
        by = person(this_process())
        return await evidence_of(reader, played, ended, watch.starved, by, announced=watch.announced)


async def attend(simulator: Simulator, watch: DrillWatch, deck: Deck) -> None:
    """Start the clock once the deck has drawn a frame, note the alarms that it announces, and leave it at the end."""
    await deck.drawn.wait()
    simulator.clock.change(paused=False)
    deck.snapshot_signal.subscribe(
        deck, lambda _: watch.note_announced(None if deck.past else deck.snapshot), immediate=True
    )
    await wait_first(watch.over.wait(), watch.lost.wait())
    if not watch.over.is_set():
        deck.announce(NO_SCORE, Severity.WARNING)
    await watch.over.wait()
    deck.end(DONE)


async def _serve_operator(simulator: Simulator, addresses: Addresses, settings: Settings, over: asyncio.Event) -> None:
    """Run a collector until the drill is over or a signal ends it, and print all addresses as JSON."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, over.set)
    async with run_collector(settings, OPERATOR) as collector:
        shown = {
            **asdict(addresses),
            "control_token": simulator.control_token,
            "token": simulator.token,
            "workspace_id": simulator.workspace_id,
            "collector_url": collector.url,
            "collector_token_file": str(collector.token_file),
        }
        echo(json.dumps(shown))
        await over.wait()

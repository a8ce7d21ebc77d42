"""Fixtures for tests of your own client against the simulator (simulator.md, "Test your own client").

pytest imports this module wherever livedeck is installed, so it imports the simulator at the first use of a fixture.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn, TypedDict

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
    from datetime import datetime

    from livedeck.simulator.control_client import Platform
    from livedeck.simulator.threaded import ThreadedSimulator

SHOWN_REQUESTS = 20
"""Number of last requests in the report of a failed test."""


class Options(TypedDict, total=False):
    """Start of the simulator; `livedeck_options` may leave any of them out.

    seed: Seed of ids, keys and signals (1).
    start: Time of its clock at the start: ISO 8601 or a datetime with a time zone (2026-03-01T12:00:00Z).
    paused: Whether the clock stands still until a test moves it (True).
    speed: Simulated seconds per real second while the clock runs (1).
    workspace: The workspace that it serves ("stage").
    token: The token that the API requires.
    meet_segment: The path segment of rooms ("meet").
    """

    seed: int
    start: str | datetime
    paused: bool
    speed: float
    workspace: str
    token: str
    meet_segment: str


DEFAULTS: Options = {"seed": 1, "start": "2026-03-01T12:00:00Z", "paused": True, "speed": 1.0, "workspace": "stage"}


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker."""
    config.addinivalue_line(
        "markers",
        "livedeck(scenario=, workspace=, seed=, start=, faults=[{...}]): start of the simulator for this test",
    )


@pytest.fixture(scope="session")
def livedeck_options() -> Options:
    """Options of the simulator; define a fixture of this name in conftest.py to change some of them."""
    return {}


@pytest.fixture(scope="session")
def livedeck_server(livedeck_options: Options) -> Iterator[ThreadedSimulator]:
    """Simulator in a thread of its own on a free port, for the whole session: one for each worker of xdist."""
    from datetime import datetime

    from livedeck.simulator import Simulator, SimulatorClock, SimulatorError, ThreadedSimulator

    names = Options.__annotations__
    unknown = [name for name in livedeck_options if name not in names]
    if unknown:
        _fail("livedeck_options", [f"{name}: there are {', '.join(names)}" for name in unknown])
    options: dict[str, Any] = {**DEFAULTS, **livedeck_options}
    start, speed, paused = (options.pop(name) for name in ("start", "speed", "paused"))

    def make() -> Simulator:
        began = datetime.fromisoformat(start) if isinstance(start, str) else start
        return Simulator(clock=SimulatorClock(began, speed, paused), **options)

    try:
        server = ThreadedSimulator(make)
    except (SimulatorError, ValueError) as error:
        _fail("livedeck_options", [str(error)])
    with server:
        yield server


@pytest.fixture
def livedeck_platform(
    livedeck_server: ThreadedSimulator, livedeck_options: Options, request: pytest.FixtureRequest
) -> Platform:
    """Platform as at its start, or as the marker `livedeck` of the test asks."""
    platform = livedeck_server.platform
    options: Options = {**DEFAULTS, **livedeck_options}
    platform.reset()
    problems: list[str] = []
    arguments: dict[str, Any] = {}
    for marker in request.node.iter_markers("livedeck"):  # the closest first
        arguments = {**marker.kwargs, **arguments}
        problems += [f"{value!r}: give it as a keyword" for value in marker.args]
    problems += [f"{name}: there are {', '.join(_ARGUMENTS)}" for name in arguments.keys() - set(_ARGUMENTS)]
    problems += _set_up(platform, arguments, options["workspace"])
    if problems:
        _fail("the marker livedeck", problems)
    return platform


_ARGUMENTS = ("scenario", "workspace", "seed", "start", "faults")


def _set_up(platform: Platform, arguments: Mapping[str, Any], workspace: str) -> list[str]:
    """Bring the platform to the start that the marker asks for. Returns every problem.

    `workspace`: the one to serve if the marker names neither a workspace nor a scenario.
    """
    from livedeck.simulator.control_client import ControlError

    problems: list[str] = []

    def attempt(name: str, change: Callable[..., object], /, *values: object, **fields: object) -> None:
        try:
            change(*values, **fields)
        except ControlError as error:
            problems.extend(f"{name}: {reason}" for reason in error.problems or [error.message])
        except (OSError, TypeError, ValueError) as error:  # an unreadable file, or a value of another type
            problems.append(f"{name}: {error}")

    seed = arguments.get("seed")
    if "start" in arguments:
        attempt("start", platform.clock.jump, arguments["start"])
    if "scenario" in arguments:
        attempt("scenario", platform.scenario.play, arguments["scenario"], seed=seed)
        if "workspace" in arguments:
            problems.append("workspace: leave it out, because the scenario has a workspace of its own")
    elif arguments.keys() & {"workspace", "seed", "start"}:
        attempt("workspace", platform.serve, arguments.get("workspace", workspace), seed=seed)
    for position, fault in enumerate(arguments.get("faults", ())):
        attempt(f"faults[{position}]", platform.faults.add, **fault)
    return problems


def _fail(what: str, problems: Iterable[str]) -> NoReturn:
    pytest.fail("\n  ".join([f"{what} is invalid:", *problems]), pytrace=False)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, None]:
    """Add the last requests to the report of a failed test."""
    outcome = yield
    report: pytest.TestReport = outcome.get_result()
    platform: Platform | None = getattr(item, "funcargs", {}).get("livedeck_platform")
    if report.failed and platform is not None:
        report.sections.append(("livedeck requests", _last_requests(platform)))


def _last_requests(platform: Platform) -> str:
    """Return a line for each of the last requests, for a person."""
    from livedeck.simulator.control_client import ControlError, describe

    try:
        entries = platform.requests.find(limit=SHOWN_REQUESTS)
    except ControlError as error:
        return f"unknown: {error}"
    return "\n".join(map(describe, entries)) or "none"

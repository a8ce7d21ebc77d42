"""Documented platform on one machine: an ASGI app over SQLite with simulated encoders and viewers."""

from livedeck.http_server import Timeouts
from livedeck.simulator.engine.clock import SimulatorClock
from livedeck.simulator.engine.reference import domains
from livedeck.simulator.engine.world import Workspace
from livedeck.simulator.errors import IngestError, SimulatorError
from livedeck.simulator.rehearsal.scenario import Expected, Scenario, Step
from livedeck.simulator.rehearsal.scenario import load as load_scenario
from livedeck.simulator.rehearsal.scenario import names as scenario_names
from livedeck.simulator.server import Addresses, serve
from livedeck.simulator.simulator import DEFAULT_TOKEN, Simulator

__all__ = [
    "DEFAULT_TOKEN",
    "Addresses",
    "Expected",
    "IngestError",
    "Scenario",
    "Simulator",
    "SimulatorClock",
    "SimulatorError",
    "Step",
    "Timeouts",
    "Workspace",
    "domains",
    "load_scenario",
    "scenario_names",
    "serve",
]

"""Documented platform on one machine: an ASGI app over SQLite with simulated encoders and viewers.

The names are imported at their first use. So tests of other projects start no slower, although pytest imports this
package for its plugin wherever livedeck is installed.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from livedeck.http_server import Timeouts
    from livedeck.simulator.app import Wire
    from livedeck.simulator.control_client import ControlError, Platform
    from livedeck.simulator.engine.clock import SimulatorClock
    from livedeck.simulator.engine.journal import Entry
    from livedeck.simulator.engine.reference import domains
    from livedeck.simulator.engine.world import Workspace
    from livedeck.simulator.errors import IngestError, SimulatorError
    from livedeck.simulator.profiles import PROFILES, Profile
    from livedeck.simulator.rehearsal.checking import Problem, check_table
    from livedeck.simulator.rehearsal.control_api import control_table
    from livedeck.simulator.rehearsal.drawn import draw_drill
    from livedeck.simulator.rehearsal.listing import Listing, listings
    from livedeck.simulator.rehearsal.recorded import RecordedEvent, RecordedSample, RecordedShow, write_show
    from livedeck.simulator.rehearsal.scenario import Answer, Expected, Scenario, Step
    from livedeck.simulator.rehearsal.scenarios import load as load_scenario
    from livedeck.simulator.rehearsal.scenarios import names as scenario_names
    from livedeck.simulator.server import Addresses, serve
    from livedeck.simulator.simulator import DEFAULT_TOKEN, Simulator
    from livedeck.simulator.threaded import ThreadedSimulator

__all__ = [
    "DEFAULT_TOKEN",
    "PROFILES",
    "Addresses",
    "Answer",
    "ControlError",
    "Entry",
    "Expected",
    "IngestError",
    "Listing",
    "Platform",
    "Problem",
    "Profile",
    "RecordedEvent",
    "RecordedSample",
    "RecordedShow",
    "Scenario",
    "Simulator",
    "SimulatorClock",
    "SimulatorError",
    "Step",
    "ThreadedSimulator",
    "Timeouts",
    "Wire",
    "Workspace",
    "check_table",
    "control_table",
    "domains",
    "draw_drill",
    "listings",
    "load_scenario",
    "scenario_names",
    "serve",
    "write_show",
]

_MODULES = {
    "IngestError": "livedeck.simulator.errors",
    "Wire": "livedeck.simulator.app",
    "PROFILES": "livedeck.simulator.profiles",
    "Profile": "livedeck.simulator.profiles",
    "Answer": "livedeck.simulator.rehearsal.scenario",
    "Entry": "livedeck.simulator.engine.journal",
    "Problem": "livedeck.simulator.rehearsal.checking",
    "check_table": "livedeck.simulator.rehearsal.checking",
    "control_table": "livedeck.simulator.rehearsal.control_api",
    "Listing": "livedeck.simulator.rehearsal.listing",
    "listings": "livedeck.simulator.rehearsal.listing",
    "DEFAULT_TOKEN": "livedeck.simulator.simulator",
    "Addresses": "livedeck.simulator.server",
    "ControlError": "livedeck.simulator.control_client",
    "Expected": "livedeck.simulator.rehearsal.scenario",
    "Platform": "livedeck.simulator.control_client",
    "RecordedEvent": "livedeck.simulator.rehearsal.recorded",
    "RecordedSample": "livedeck.simulator.rehearsal.recorded",
    "RecordedShow": "livedeck.simulator.rehearsal.recorded",
    "Scenario": "livedeck.simulator.rehearsal.scenario",
    "Simulator": "livedeck.simulator.simulator",
    "SimulatorClock": "livedeck.simulator.engine.clock",
    "SimulatorError": "livedeck.simulator.errors",
    "Step": "livedeck.simulator.rehearsal.scenario",
    "ThreadedSimulator": "livedeck.simulator.threaded",
    "Timeouts": "livedeck.http_server",
    "Workspace": "livedeck.simulator.engine.world",
    "domains": "livedeck.simulator.engine.reference",
    "draw_drill": "livedeck.simulator.rehearsal.drawn",
    "load_scenario": "livedeck.simulator.rehearsal.scenarios",
    "scenario_names": "livedeck.simulator.rehearsal.scenarios",
    "serve": "livedeck.simulator.server",
    "write_show": "livedeck.simulator.rehearsal.recorded",
}
_RENAMED = {"load_scenario": "load", "scenario_names": "names"}


def __getattr__(name: str) -> Any:
    """Import the module of a name at the first use of the name."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_MODULES[name]), _RENAMED.get(name, name))
    return value

"""service IS the documented platform on one machine: an ASGI app over SQLite with simulated encoders and viewers."""

from livedeck.service.clock import ServiceClock
from livedeck.service.errors import ServiceError
from livedeck.service.platforms import domains
from livedeck.service.scenario import Expected, Scenario, Step
from livedeck.service.scenario import load as load_scenario
from livedeck.service.scenario import names as scenario_names
from livedeck.service.service import DEFAULT_TOKEN, Service
from livedeck.service.serving import Addresses, serving
from livedeck.service.world import Workspace

__all__ = [
    "DEFAULT_TOKEN",
    "Addresses",
    "Expected",
    "Scenario",
    "Service",
    "ServiceClock",
    "ServiceError",
    "Step",
    "Workspace",
    "domains",
    "load_scenario",
    "scenario_names",
    "serving",
]

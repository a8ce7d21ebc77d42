"""service IS the documented platform on one machine: an ASGI app over SQLite with simulated encoders."""

from livedeck.service.clock import ServiceClock
from livedeck.service.errors import ServiceError
from livedeck.service.service import DEFAULT_TOKEN, Service
from livedeck.service.serving import Addresses, serving
from livedeck.service.world import Workspace

__all__ = ["DEFAULT_TOKEN", "Addresses", "Service", "ServiceClock", "ServiceError", "Workspace", "serving"]

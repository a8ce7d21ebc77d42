"""Route of the real encoders."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from livedeck.simulator.http import ApiRequest, Endpoint, data


async def read_ingest(request: ApiRequest[None]) -> Response:
    """Return the address of the ingest, its publishers with verdict and rates, and whether this machine is too busy."""
    return data(request.world.ingest.show())


ENDPOINTS: tuple[Endpoint[Any], ...] = (Endpoint("GET", "/_control/ingest", read_ingest),)

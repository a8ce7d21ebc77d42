"""The settings of a deck on a simulated platform."""

from __future__ import annotations

from typing import Any

from pydantic import SecretStr

from livedeck.service import Service, domains
from livedeck.settings import Settings, alone

IN_PROCESS = "http://127.0.0.1:8787"
"""The address of a platform that is reached without a socket."""


def simulated(service: Service, base_url: str = IN_PROCESS, **given: Any) -> Settings:
    """Its token, and its table of relay platforms: a form says of an address what that platform will make of it."""
    return alone(base_url=base_url, token=SecretStr(service.token), platforms=dict(domains()), **given)

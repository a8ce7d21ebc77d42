"""Load of this machine: a busy machine makes the encoders on it slow."""

from __future__ import annotations

import os
from collections.abc import Iterable
from ipaddress import ip_address
from pathlib import Path

from livedeck.simulator.engine.store import Document


def show_machine(slow_peers: Iterable[str]) -> Document:
    """Return the number of cores, the load, and `starved`: this machine may be too busy for an encoder on it.

    `starved` is True if an encoder on this machine was slow for 10 s, and more tasks want to run now than there are
    cores. The load and `starved` are None if the system does not report the load.
    """
    cores = os.cpu_count() or 1
    try:
        load, _, _, tasks, _ = Path("/proc/loadavg").read_text(encoding="ascii").split()
    except OSError:  # not Linux
        return {"cores": cores, "load": None, "starved": None}
    is_busy = int(tasks.partition("/")[0]) > cores
    return {"cores": cores, "load": float(load), "starved": is_busy and any(map(_is_local, slow_peers))}


def _is_local(peer: str) -> bool:
    return ip_address(peer.rpartition(":")[0].strip("[]")).is_loopback

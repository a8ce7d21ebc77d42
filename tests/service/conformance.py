"""The service against its description, asked by schemathesis.

`python tests/service/conformance.py [options of st run]`: a command of its own, not a test of the suite, for it takes
minutes.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from livedeck.service import Service, serving

ST = Path(sys.executable).with_name("st")
CONFIG = Path(__file__).with_name("schemathesis.toml")


async def run(*options: str) -> int:
    """All checks against a service of its own; the exit code of schemathesis."""
    service = Service()
    try:
        async with serving(service) as addresses:
            process = await asyncio.create_subprocess_exec(
                *(ST, "--config-file", str(CONFIG), "run", f"{addresses.base_url}/openapi.json"),
                *("--checks", "all", "--seed", "1", "-H", f"Authorization: Bearer {service.token}", *options),
            )
            return await process.wait()
    finally:
        service.close()


if __name__ == "__main__":
    sys.exit(asyncio.run(run(*sys.argv[1:])))

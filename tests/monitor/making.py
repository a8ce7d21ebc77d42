"""One of several decks that begin a history at the same moment: each line on its input is the path of a new file."""

from __future__ import annotations

import asyncio
import sys
from datetime import UTC, datetime
from pathlib import Path

from click import echo

from livedeck.monitor import History


async def make(path: Path) -> str:
    """Return the fault that a deck shows, or an empty text."""
    history = await History.open(path, datetime.now(UTC))
    try:
        return history.fault
    finally:
        await history.close()


if __name__ == "__main__":
    echo()
    for line in sys.stdin:
        echo(asyncio.run(make(Path(line.rstrip()))))

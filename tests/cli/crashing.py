"""Deck that fails by a bug of its own in the middle of a show, to run in a terminal."""

from __future__ import annotations

import asyncio

from textual.pilot import Pilot

from livedeck.cli.screenshots import still_deck

SECRET = "wallet-7f3a-canary"


async def main() -> None:
    async with still_deck() as deck:
        await deck.run_async(auto_pilot=_break)


async def _break(pilot: Pilot[object]) -> None:
    pilot.app.call_after_refresh(_fail)


def _fail() -> None:
    token = SECRET
    raise RuntimeError(f"a fault of {len(token)} letters")


if __name__ == "__main__":
    asyncio.run(main())

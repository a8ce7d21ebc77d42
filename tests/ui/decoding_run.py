"""Decode every file of a folder, one after another, in a process of its own.

`python decoding_run.py FOLDER` prints the result of each file, and the memory that it took: the largest of the decoding
processes, and the growth of this one (MiB).
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage

from livedeck.ui.kit.decoding import decode


async def main(files: list[Path]) -> None:
    """Decode the files and print the results."""
    shown = list[str]()
    await decode(b"", 24, 14, {})
    before = getrusage(RUSAGE_SELF).ru_maxrss
    for file in files:
        if await decode(file.read_bytes(), 24, 14, {}):
            shown.append(file.name)
    peak, after = getrusage(RUSAGE_CHILDREN).ru_maxrss, getrusage(RUSAGE_SELF).ru_maxrss
    sys.stdout.write(json.dumps({"shown": shown, "peak": peak / 1024, "growth": (after - before) / 1024}))


if __name__ == "__main__":
    asyncio.run(main(sorted(Path(sys.argv[1]).iterdir())))

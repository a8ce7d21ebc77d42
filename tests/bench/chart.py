"""Measure a chart (performance.md, "Budgets" 6 and 9): the time of a redraw, and the bytes that a tick sends.

    PYTHONPATH=src:tests python tests/bench/chart.py [--seconds 40]

A redraw paints all panels of the QoS screen. Its samples are gathered once an answer, which is compared with the
parsing of as many samples in the same run. The bytes are those of a deck behind a pseudo terminal of 120x40 and 200x60
that shows the QoS screen of an event in trouble, against a `livedeck serve` of its own, each second. Most bytes are
sent when the picture moves on.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import struct
import termios
import time
from array import array
from collections.abc import Callable
from functools import partial
from random import Random
from statistics import median

from click import echo

from bench.frame import platform, started
from livedeck.monitor import Readings
from livedeck.presentation.qos import Axis
from livedeck.presentation.scale import time_ticks
from livedeck.presentation.time_series import TimeSeries, from_memory
from livedeck.text.segments import StyleRole
from livedeck.ui.kit.chart import Backdrop, Curve, panel_lines, status_line

SIZES = {"120x40": (112, (11, 5, 5)), "200x60": (142, (21, 13, 13))}
"""Name of a screen -> cells and rows of its panels."""

COUNTS = (60, 3_600, 86_400)
"""Numbers of samples: two minutes, the most of an answer (platform-api.md, "QoS response"), and two days."""


def readings(count: int) -> Readings:
    """Return `count` samples of a line that loses packets again and again."""
    random = Random(1)
    statuses = [5 if random.random() < 0.3 else 0 for _ in range(count)]
    values = [random.uniform(1.5e6, 3e6) if status else random.uniform(4.2e6, 4.6e6) for status in statuses]
    return Readings(
        array("d", range(count)),
        array("d", values),
        array("d", [value / 30 for value in values]),
        array("d", [30 - status for status in statuses]),
        array("q", statuses),
    )


def draw(series: TimeSeries, cells: int, rows: tuple[int, int, int]) -> None:
    """Draw all panels and the strip."""
    backdrop = Backdrop(series.statuses, range(cells), time_ticks(series.axis))
    roles = (StyleRole.VIDEO, StyleRole.AUDIO, StyleRole.FPS)
    for role, dots, count in zip(roles, series.curves, rows, strict=True):
        curve = Curve("", "", 1.0, role, dots, limit=1.0)
        panel_lines(curve, curve.scale(count), backdrop)
    status_line("status", backdrop)


def gather(axis: Axis, samples: Readings) -> TimeSeries:
    """Return the columns of the samples, as the screen gathers them after each answer."""
    from_memory.cache_clear()
    return from_memory(axis, samples)


def milliseconds(work: Callable[[], object]) -> float:
    """Return the median of nine rounds of `work`, in ms of processor time."""
    taken = []
    for _ in range(9):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return 1000 * median(taken)


def redraws() -> None:
    """Print the time of a redraw, and of gathering the samples after an answer beside that of parsing them."""
    for name, (cells, rows) in SIZES.items():
        times = []
        for count in COUNTS:
            samples = readings(count)
            axis = Axis.on_clock(count - 1, count, cells)
            text = json.dumps([[*row] for row in zip(samples.time, samples.video, samples.audio, strict=True)])
            parsed = milliseconds(partial(json.loads, text))
            gathered = milliseconds(partial(gather, axis, samples))
            times.append(milliseconds(partial(draw, gather(axis, samples), cells, rows)))
            share = f"{gathered / parsed:.2f} x json.loads"
            echo(
                f"  {name}, {count:6,} samples: drawn in {times[-1]:4.1f} ms, gathered in {gathered:4.1f} ms ({share})"
            )
        echo(f"  {name}: drawn, t(86,400) / t(60) = {times[-1] / times[0]:.2f}")


def sent(name: str, seconds: int, deck: dict[str, str]) -> list[int]:
    """Return the bytes of each second, with the QoS screen of the second event in front."""
    width, height = map(int, name.split("x"))
    with started("-m", "livedeck", **deck) as child:
        fcntl.ioctl(child.master, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
        child.until(b"Harbour webcam")
        os.write(child.master, b"\x1b[B3")
        child.drained(8.0)
        return [child.drained(1.0)[0] for _ in range(seconds)]


def main() -> None:
    """Print the figures."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--seconds", type=int, default=40)
    chosen = arguments.parse_args()
    redraws()
    with platform() as deck:
        for name in SIZES:
            counts = sent(name, chosen.seconds, deck)
            echo(f"  {name}: {sum(counts) / len(counts):6.0f} B/s, median {median(counts):.0f} B, most {max(counts)} B")


if __name__ == "__main__":
    main()

"""The one table of what each thing may cost, in counts that repeat on every machine. Change a limit with its reason.

A limit is about a tenth above the figure at which it was set. A test counts, and passes its figure to `check`
(performance.md, "Counts").
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class Limit(NamedTuple):
    """A limit, and the reason for its height."""

    most: float
    reason: str


_MODULES = "click, the description of the commands, and nothing that only a running command needs"

LIMITS: Mapping[str, Limit] = MappingProxyType(
    {
        # deck
        "calls a key, 100 rows": Limit(27_500, "table, charts and the five widgets that a key paints"),
        "calls a key, 10,000 rows": Limit(27_500, "the same: only what is visible costs"),
        "calls a key, 10,000 rows to 100": Limit(1.1, "no key goes through all rows"),
        # a key of each screen at 200x60
        "calls a key, events": Limit(75_000, "the large chart of another event"),
        "calls a key, streams": Limit(102_000, "the large chart of another stream"),
        "calls a key, alarms": Limit(108_000, "the large chart of another alarm, and its advice"),
        "calls a key, incidents": Limit(63_000, "the thread of another incident, and its chart"),
        "calls a key, chat": Limit(13_400, "a table of messages and the line of the source"),
        "calls a key, rooms": Limit(38_000, "two tables and two panes"),
        "calls a key, videos": Limit(48_000, "a poster of 128x36 cells in runs of a colour, and no layout"),
        "calls a key, posters": Limit(24_000, "the same poster: only rows and panel change"),
        "calls a key, subtitles": Limit(16_100, "a table and a panel"),
        "calls a key, cues": Limit(17_900, "a table and a panel"),
        "calls a key, annotations": Limit(16_500, "a table and a panel"),
        "calls a key, materials": Limit(38_000, "another tab, as the demo knows no material"),
        "calls a key, qos": Limit(90_000, "three curves with the marks of the cursor, and the side"),
        "calls a key, viewers": Limit(33_000, "the tiles that the cursor leaves and enters"),
        "calls a key, help": Limit(147_000, "a typed letter searches and draws the page anew"),
        "calls a page of the wall": Limit(51_000, "all cells of another page"),
        "calls a second of a still deck": Limit(
            32_000, "clocks and ages of 19 visible rows, and two signs that blink; each paint asks all widgets"
        ),
        "refreshes a key": Limit(1, "a key changes the screen once"),
        "pictures of the selected event in a burst of keys": Limit(1, "only the last one is seen"),
        # start: modules beside those of the bare interpreter
        "modules of --help": Limit(105, _MODULES),
        "modules of --version": Limit(98, _MODULES),
        "modules of event --help": Limit(112, _MODULES),
        "modules of event list --help": Limit(112, _MODULES),
        "modules of help video poster create": Limit(130, _MODULES),
        "modules of config path": Limit(130, _MODULES),
        "modules at the first frame": Limit(
            856,
            "Textual, the client, the monitor with silences, key figures and viewers, the events with their views; 848 "
            "to 850, because the first call to the platform has begun in some runs",
        ),
        "dataclasses at the first frame": Limit(155, "one takes 0.7 ms, so a plain frozen value is a Record"),
        # client
        "export: calls in h11 at four times the length": Limit(1.1, "a long body of a stated length passes it by"),
        "wholeness: bytes held for each byte of a piece": Limit(1.3, "one copy of the marks"),
        "samples a step": Limit(3600, "an answer of the platform; a step of so many holds the loop for some ms"),
        "messages: calls for each": Limit(18, "pydantic, and two timestamps"),
        "growth of work at ten times the size": Limit(11, "linear"),
        # monitor
        "detector: copies of an answer of two samples": Limit(6, "the state before, once, in its parts"),
        "detector: calls a sample, two in an answer": Limit(123, "every rule sees each sample"),
        "detector: calls a live sample, 1 in a reply": Limit(180, "one copy of the state, and two comparisons"),
        "detector: calls a live sample, 3 in a reply": Limit(
            123, "the same copy for three samples; every rule sees each"
        ),
        "tracker: calls a reply with one new sample": Limit(870, "from merge to state, with the delivery"),
        "samples a pass of the loop": Limit(30, "so many hard ones hold it for some 10 ms"),
        # history: a tick of 200 samples
        "history: statements a tick": Limit(215, "one for each sample, and some for transactions and the snapshot"),
        "history: commits a tick": Limit(3, "samples, entries, and the snapshot"),
        "history: bytes a tick, median": Limit(70_000, "new samples lie side by side"),
        "history: bytes a tick, mean": Limit(300_000, "with its share of moved minutes and of the log's checkpoints"),
        "history: calls to encode 200 equal events": Limit(5000, "what is equal is not encoded again"),
        "history: calls to write 200 equal events": Limit(5100, "the same, and the row of an empty difference"),
        # simulator
        "simulator: steps of a page of 2,000 events to 200": Limit(1.5, "an index finds the page"),
    }
)

HEAVY = ("httpx", "plotext", "pydantic", "sqlite3", "starlette", "structlog", "textual")
"""Packages that neither the help of a command nor `livedeck config path` imports."""

NOT_AT_FIRST_FRAME = (
    "apprise",
    "keyring",
    "livedeck.monitor.history.salvage",
    "livedeck.notify.groups",
    "livedeck.notify.targets",
    "plotext",
    "redis",
    "starlette",
    "structlog",
    "uvicorn",
    "xlsxwriter",
)
"""Packages and modules that the first frame does without."""


def check(name: str, value: float) -> None:
    """Fail if `value` is above the limit of that name."""
    limit = LIMITS[name]
    assert value <= limit.most, f"{name}: {value:,.2f}, at most {limit.most:,.2f} ({limit.reason})"

"""A checker of what the deck says: its own reading of the screen against the records of the simulated platform.

It shares no code with `presentation` or `monitor`. The sentences are those of `interface.md` and `glossary.md`. A deck
may lag by the age that its screen claims: that of the header, and one poll interval of the resource (`monitoring.md`).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, NamedTuple

from livedeck.simulator import Simulator
from livedeck.simulator.engine.pattern import SeenRequest

LIST_INTERVAL = 17.0
"""Seconds between two polls of the event list, jitter and a round included."""
QOS_INTERVAL = 8.0
"""Seconds between two polls of an event's samples, jitter, a round and one sample included."""
PROOF = 15.0
"""Seconds without a sample that prove that the encoder has left."""

Document = dict[str, Any]


class Sample(NamedTuple):
    """One row of the platform's quality data, in the units of the platform."""

    time: float
    video: float
    audio: float
    fps: float
    status: int


class Then(NamedTuple):
    """An event as the platform held it at a moment (epoch seconds)."""

    at: float
    event: Document
    samples: list[Sample]

    @property
    def started(self) -> float | None:
        """Moment at which the encoder first sent; the planned start before."""
        stream = self.event["stream"]
        if stream is None:
            return None
        sent = [at for at, _, *sending in self.event["encoder"] if (not sending or sending[0]) and at <= self.at]
        return min(sent) if stream["status"] == "pending" and sent else epoch(stream["started_at"])

    @property
    def planned(self) -> float | None:
        stream, time = self.event["stream"], self.event["scheduled"]["time"]
        if stream and stream["status"] == "pending":
            return self.started
        return epoch(time) if time else None

    @property
    def status(self) -> str:
        """Status of the stream, as the platform replies."""
        stream = self.event["stream"]
        if stream is None:
            return "none"
        if stream["status"] == "pending" and any(row[0] <= self.at for row in self.event["encoder"]):
            return "live"
        return str(stream["status"])

    @property
    def past(self) -> list[Sample]:
        """Samples until this moment."""
        return [sample for sample in self.samples if sample.time <= self.at]

    @property
    def gap(self) -> float:
        """Seconds since the newest sample."""
        return self.at - self.past[-1].time if self.past else float("inf")

    def tallies(self) -> set[str]:
        """States of the event that are true at this moment; near a limit more than one is."""
        status = self.status
        if status == "none" and self.planned is None:
            return {"DRAFT"}
        if status == "finished":
            return {"DONE"}
        if status in {"none", "pending"}:
            late = self.at - (self.planned or 0)
            return {"SCHED"} if late < -1 else {"LATE"} if late > 1 else {"SCHED", "LATE"}
        gap, window = self.gap, self.event["reconnect_window"]
        found = {"ON AIR"} if gap <= PROOF + 2 else set()
        found |= {"RECONN"} if PROOF - 4 <= gap <= window + 2 else set()
        return found | ({"LOST"} if gap >= window - 2 else set())

    def has_score(self, score: int, grade: str, component: str) -> bool:
        """Whether the samples of the last minute give that score (monitoring.md, "Health")."""
        minute = [sample.status for sample in self.past if sample.time >= self.past[-1].time - 60]
        worst = max((minute[start : start + 6].count(5) for start in range(len(minute))), default=0)
        is_so = {
            "": not set(minute) & {3, 4, 5} and self.gap <= PROOF + 2 if score == 100 else True,
            "loss": score in {(100, 80, 65, 20)[min(worst, 3)], min((100, 80, 65, 20)[min(worst, 3)], 80)},
            "key": any(sample.status in {3, 4} for sample in self.recent(620)),
        }
        is_graded = grade == ("GOOD" if score >= 90 else "FAIR" if score >= 70 else "POOR")
        return is_graded and bool(is_so.get(component, True))

    def recent(self, seconds: float) -> list[Sample]:
        """Samples of the last seconds."""
        return [sample for sample in self.past if sample.time > self.at - seconds]

    @property
    def restreams(self) -> list[Document]:
        """Enabled restreams, with the status that the platform replies."""
        live = self.status == "live"
        return [row if live else row | {"status": "disconnected"} for row in self.event["restreams"] if row["enabled"]]


def epoch(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


@dataclass
class Records:
    """Everything that the platform held, second by second."""

    simulator: Simulator
    seconds: list[tuple[float, dict[str, Document]]] = field(default_factory=list)
    faults: list[tuple[float, bool]] = field(default_factory=list)
    delays: list[tuple[float, float]] = field(default_factory=list)
    _samples: dict[str, list[Sample]] = field(default_factory=dict)
    _reads: dict[str, list[float]] = field(default_factory=dict)
    _noted: int = 0

    def note(self) -> None:
        """Keep the events of this moment."""
        world, workspace = self.simulator._world, self.simulator.workspace_id
        world.timeline.catch_up(world.now())
        events = {row["id"]: row for row in world.store.find_all("event", workspace)}
        if self.seconds and self.seconds[-1][1] == events:
            events = self.seconds[-1][1]
        self.seconds.append((world.now(), events))
        self.faults.append(
            (
                world.now(),
                any(
                    fault.kind == "status"
                    and fault.since <= world.now() < fault.until
                    and fault.pattern.matches(SeenRequest("GET", "/v2/live/events"))
                    for fault in world.faults.active
                ),
            )
        )
        slow = [fault.seconds for fault in world.faults.active if fault.kind == "latency"]
        self.delays.append((world.now(), max(slow, default=0.0)))
        self._samples.clear()
        self._note_reads()

    def delays_lately(self, seconds: float) -> set[float]:
        """Delays of replies, in seconds, that faults caused in that time."""
        return {delay for at, delay in self.delays if at >= self.now - seconds and delay}

    def reads(self, path: str) -> list[float]:
        """Moments of the requests of that path that the platform carried out."""
        self._note_reads()
        return self._reads.get(path, [])

    def _note_reads(self) -> None:
        """Keep the time of each request, because the journal keeps the newest requests only."""
        for entry in self.simulator.journal.after(self._noted):
            self._noted = entry.n
            if entry.answer.status == 200:
                self._reads.setdefault(entry.request.path, []).append(entry.answer.at)

    def faults_lately(self, seconds: float) -> bool:
        """Whether a fault of the platform was active in that time."""
        return any(struck for at, struck in self.faults if at >= self.now - seconds)

    def all(self, kind: str) -> list[Document]:
        return list(self.simulator._world.store.find_all(kind, self.simulator.workspace_id))

    def samples(self, event: Document) -> list[Sample]:
        """All samples of the event's stream until now, read past the faults of the platform."""
        world = self.simulator._world
        if event["stream"] is None:
            return []
        if event["id"] not in self._samples:
            from livedeck.simulator.engine.encoder import encoder_states

            states = encoder_states(event["encoder"])
            text = world.encoders.encode_samples(event["stream"]["id"], event["signal"], states, world.now())
            self._samples[event["id"]] = [
                Sample(epoch(row["time"]), row["bitrate_video"], row["bitrate_audio"], row["frame_rate"], row["status"])
                for row in json.loads(b"[" + text + b"]")
            ]
        return self._samples[event["id"]]

    @property
    def now(self) -> float:
        return self.seconds[-1][0]

    def then(self, event_id: str, seconds: float) -> list[Then]:
        """The event at each moment of the last `seconds`."""
        last = self.seconds[-1][1].get(event_id)
        return [
            Then(at, events[event_id], self.samples(last or events[event_id]))
            for at, events in reversed(self.seconds)
            if at >= self.now - seconds and event_id in events
        ]

    def named(self, text: str) -> list[str]:
        """Ids of events whose name is that text, or is shortened to it."""
        names = {row["id"]: row["name"] for _, events in self.seconds[-90:] for row in events.values()}
        return [key for key, name in names.items() if is_short_for(text, name)]


def is_short_for(text: str, name: str) -> bool:
    """Whether the text is the name, or the name without its middle."""
    return bool(re.fullmatch(".*".join(re.escape(part) for part in text.strip().split("…")), name))


# Numbers and times as they are written

_UNITS = {"k": 1e3, "M": 1e6, "G": 1e9, "": 1.0}


def is_number(text: str, value: float, unit: float = 1.0) -> bool:
    """Whether the text is that value, to the digits that it shows: `4.50M`, `128k`, `30.0`."""
    found = re.fullmatch(r"(\d+(?:\.(\d+))?)([kMG]?)", text)
    if not found:
        return False
    scale = _UNITS[found[3]] * unit
    half: float = 0.5 * scale / 10 ** len(found[2] or "")
    return abs(float(found[1]) * scale - value) <= half + 1e-6


_DURATION = (
    (r"(\d+)d (\d\d):(\d\d)", (86400, 3600, 60)),
    (r"(\d+)d (\d\d)h", (86400, 3600)),
    (r"(\d+):(\d\d):(\d\d)", (3600, 60, 1)),
    (r"(\d+)h(\d\d)m", (3600, 60)),
    (r"(\d+):(\d\d)", (60, 1)),
    (r"(\d+) s", (1,)),
)


def is_duration(text: str, seconds: float, slack: float = 1.0) -> bool:
    """Whether the text is that duration, to the unit that it shows."""
    for pattern, units in _DURATION:
        if found := re.fullmatch(pattern, text):
            value = sum(int(part) * unit for part, unit in zip(found.groups(), units, strict=True))
            return value - slack <= seconds < value + units[-1] + slack
    return False


def seconds_of(text: str) -> float:
    for pattern, units in _DURATION:
        if found := re.fullmatch(pattern, text):
            return float(sum(int(part) * unit for part, unit in zip(found.groups(), units, strict=True)))
    raise ValueError(text)


def clock_of(text: str, now: float) -> float:
    """Latest moment with that time of the day in UTC."""
    hours, minutes, seconds = (int(part) for part in text.split(":"))
    day = datetime.fromtimestamp(now, UTC).replace(hour=hours, minute=minutes, second=seconds, microsecond=0)
    at = day.timestamp()
    return at if at <= now + 1 else at - 86400


# The screen

_CHART = re.compile(r"[⠀-⣿░╱┊┃━╌▁-█▔▐▀]{2,}|[⠀-⣿░╱┊┃]")
_FRAME = re.compile(r"[│╭╮╰╯]|─{2,}|─(?= |$)|(?<= )─")
_AXIS = re.compile(r"[│ ]* (UTC|last hour|began|open) +(?!so)[\d▁-█]|│ +\d\d:00 ")
_HEADS = re.compile(r" *(SEVERITY  |ROOM  +STATUS|PLATFORM  |VIDEO  +LENGTH|WHEN \(UTC\)|WRITTEN |FIGURE, )")
TALLY = r"(?P<lamp>[●◌○·■▲✖▒?~◆]) (?P<tally>ON AIR|RECONN|LATE|SCHED|DRAFT|DONE|LOST|UNKNOWN|NO-GO)"
_LAMPS = {"ON AIR": "●", "RECONN": "◌", "LOST": "✖", "NO-GO": "✖", "LATE": "▲", "SCHED": "○", "DRAFT": "·", "DONE": "■"}
CLOCK = r"(?P<clock>-|\?|T[+-](?:\d+d )?[\d:]+|\d+d \d\d:\d\d|\d\d+:\d\d:\d\d)"
SPAN = r"\d+d \d\d:\d\d|\d+d \d\dh|\d+:\d\d:\d\d|\d+h\d\dm|\d+:\d\d"
_HEALTH = r"(?P<health>[✖▲✓▒~?◆●]? *(?:\d+|--) [A-Z-]+(?: [A-Z]+)?(?: [a-z]+)?|[✖▲] NOT STARTED|-|·|\?|[a-z ]+)"
_RATE = r"-|--|·|\?|[\d.]+[kMG]?"
_COLUMNS = {
    "TALLY": TALLY,
    "EVENT": r"(?P<name>\S.*?)",
    "T-/ELAPSED": CLOCK,
    "INGEST": rf"(?P<ingest>receiving|none|ended|warming up|\?|lost (?:{SPAN})|warm-up)",
    "ARRIVES": rf"(?P<ingest>receiving|none|ended|warming up|\?|lost (?:{SPAN})|warm-up)",
    "HEALTH": _HEALTH,
    "VIDEO": rf"(?P<video>{_RATE})",
    "AUDIO": rf"(?P<audio>{_RATE})",
    "FPS": rf"(?P<fps>{_RATE})",
    "LAST 5 MIN": r"(?P<bar>[▁-█╌✖▲◆?╱ ]*?)",
    "OUT": r"(?P<out>-|\?|\d+/\d+|\d+)",
    "SINCE": rf"(?P<since>-|\?|·|(?:{SPAN})\+?)",
    "WINDOW": r"(?P<window>(?:\d+% of )?[\d:hm]+|\?)",
    "GOES TO": r"(?P<goes>.*?)",
    "STATUS": r"(?P<status>live|pending|finished)",
    "START (UTC)": r"(?P<started>\d\d \w{3} [\d:]{8}|\?)",
}
_TITLES = re.compile("|".join(re.escape(title) for title in sorted(_COLUMNS, key=len, reverse=True)))


def _has(status: int) -> Callable[[Then], bool]:
    """Return whether an event had a sample of that status in the time of a bar."""
    return lambda then: any(sample.status == status for sample in then.recent(345))


def _without_charts(row: str) -> str:
    return _CHART.sub(lambda found: " " * len(found[0]), row)


@dataclass
class Sheet:
    """What was read: how many sentences were checked, which were untrue, and the shapes of those not read."""

    checked: int = 0
    untrue: list[str] = field(default_factory=list)
    unread: Counter[str] = field(default_factory=Counter)

    @property
    def share(self) -> float:
        """Part of the sentences with a fact that was checked."""
        return self.checked / max(1, self.checked + self.unread.total())

    def summary(self) -> str:
        """Return the counts, and the forms that were not read, most frequent first."""
        head = f"{self.checked} checked, {self.share:.1%} of those with a fact, {len(self.untrue)} untrue"
        return "\n".join([head, *(f"{count:6} {form}" for form, count in self.unread.most_common())])


class Reader:
    """Reads one screen."""

    def __init__(
        self, screen: str, records: Records, sheet: Sheet, place: str, board: dict[str, int] | None = None
    ) -> None:
        """Read a screen; `board`: chips of the board at this moment, which every header must repeat."""
        self.rows, self.records, self.sheet, self.place = screen.split("\n"), records, sheet, place
        self.board = board
        self.now = records.now
        self.selected: str | None = None
        self.room: str | None = None
        self.video: str | None = None
        self.key = 0, ""
        self.address = ""
        self.column = 0
        self.subjects: dict[int, str] = {}
        self.pane = ""
        self.columns: re.Pattern[str] | None = None
        self.chips: dict[str, int] = {}
        self.alarm: tuple[str, str] | None = None
        self.board_kinds: bool | None = None
        self.number, self.is_chart, self.section = 0, False, ""
        self.pane_alarm: tuple[str, str] | None = None
        self.good: int | None = None
        self.grades: Counter[str] = Counter()
        self.severities: Counter[str] = Counter()
        self.sections: list[list[Any]] = []
        self.cleared: set[tuple[str, str]] = set()

    def is_cleared(self, kind: str, name: str) -> bool:
        """Whether the board lists that alarm among those that have cleared or are hidden."""
        return any(kind == its_kind and is_short_for(subject, name) for its_kind, subject in self.cleared)

    @cached_property
    def age(self) -> float:
        """Seconds that the data of this screen may be old, by its header."""
        found = re.search(rf"((?:{SPAN})|\d+ s) ago", self.rows[0])
        return seconds_of(found[1]) + 1 if found else 0.0

    def says(self, sentence: str, is_true: bool, why: object = "") -> None:
        """Count a sentence, and keep it if it is untrue."""
        self.sheet.checked += 1
        if not is_true:
            self.sheet.untrue.append(f"{self.place}: {sentence!r} {why}")

    @property
    def chosen_rooms(self) -> list[Document]:
        """The selected room for a sentence about it: above the panes, or in the left one. Every room for others."""
        rooms, is_chosen = self.records.all("room"), self.room is not None and self.column <= 1
        return [row for row in rooms if not is_chosen or is_short_for(self.room or "", row["name"])]

    def extras(self, kind: str) -> list[Document]:
        """The selected video's items of that kind; none without a selected video."""
        chosen = [row["id"] for row in self.records.all("video") if is_short_for(self.video or "", row["title"])]
        return [row for row in self.records.all(kind) if row["of_video"] in chosen]

    def lately(self, event_id: str) -> list[Then]:
        """The event at each moment that the list may show."""
        return self.records.then(event_id, self.age + LIST_INTERVAL)

    def samples_lately(self, event_id: str) -> list[Then]:
        return self.records.then(event_id, self.age + QOS_INTERVAL)

    def any_of(self, text: str, so: Callable[[Then], bool], *, sampled: bool = False) -> bool:
        """Whether that is so of an event of that name at any moment that the screen may show."""
        moments = self.samples_lately if sampled else self.lately
        return any(so(then) for key in self.records.named(text) for then in moments(key))

    def read(self) -> None:
        """Read each row, compare the header with the board, and the numbers of the board's sections with their rows."""
        is_help = any("─ Help" in row for row in self.rows)
        for number, row in enumerate(self.rows):
            self.number = number
            if not (is_help and row.startswith(("│", "╭", "╰"))):  # a list of keys and signs states no fact
                self._row(row)
        if self.board is not None and self.rows[0].startswith(" livedeck"):
            self.says(f"chips {self.chips}", self.chips == self.board, f"the board has {self.board}")
        has_more = any("▼" in row for row in self.rows)
        for text, count, seen in self.sections if not is_help else ():
            self.says(text, seen == count or (has_more and seen < count), f"{seen} rows")
        if self.good is not None and not has_more:
            self.says(f"{self.good} good", self.good <= self.grades["GOOD"], "rows that are good")
        if self.sections and not has_more and not is_help:
            for chip, severity in (("critical", "CRIT"), ("warning", "WARN")):
                self.says(
                    f"{chip} {self.chips.get(chip, 0)}", self.chips.get(chip, 0) == self.severities[severity], chip
                )

    def _row(self, row: str) -> None:
        if self._table_row(row) or _AXIS.match(row):
            return
        self.is_chart = bool(_CHART.search(row))
        offset = 0
        for part in _FRAME.split(_without_charts(row)):
            if part.strip():
                self.segment(part, offset + (row[:1] == "╭"))
            offset += len(part) + 1

    # tables of events

    def _table_row(self, row: str) -> bool:
        if re.match(r"  (TALLY|ALL) +EVENT", row) or re.match(r"  TALLY", row):
            head = re.split(r"[│╭]", row)[0]
            titles = _TITLES.findall(head)
            self.columns = re.compile(r"(?P<bar_>[▌ ]) ?" + r" +".join(_COLUMNS[title] for title in titles) + r" *")
            self._right_of(row, len(head))
            return True
        if self.columns is None or not re.match(r"[▌ ] [●◌○·■▲✖▒?~◆] [A-Z]", row):
            return False
        part = re.split(r"[│╭╰]", row)[0]
        found = self.columns.fullmatch(part.rstrip() + " ")
        if not found:
            return False
        self._event_row(part, found)
        self._right_of(row, len(part))
        return True

    def _right_of(self, row: str, cells: int) -> None:
        """Read the pane beside a row of the table."""
        rest = row[cells:]
        self.is_chart = bool(_CHART.search(rest))
        for part in _FRAME.split(_without_charts(rest)):
            if part.strip():
                self.segment(part, cells)

    def _event_row(self, row: str, found: re.Match[str]) -> None:
        cells = found.groupdict()
        name, row = cells["name"], row.strip()
        if found["bar_"] == "▌":
            self.selected = name
        if not self.records.named(name):
            self.says(row, False, "no event has that name")
            return
        self.grades["GOOD"] += "GOOD" in (cells.get("health") or "")
        self.tally(row, name, cells["lamp"], cells["tally"])
        for cell, check in (
            ("clock", self.clock),
            ("ingest", self._ingest),
            ("health", self.health),
            ("out", self._out),
            ("since", self._since),
            ("window", self.window),
            ("status", lambda row, name, cell: self.says(row, self.any_of(name, lambda then: then.status == cell))),
            ("started", self._started),
        ):
            if cells.get(cell):
                check(f"{cell} {cells[cell]} of {row}", name, cells[cell].strip())
        for cell in ("video", "audio", "fps"):
            if cells.get(cell):
                self._rate(f"{cell} {cells[cell]} of {row}", name, cell, cells[cell])
        if cells.get("bar", "").strip():
            self._bar(f"{cells['bar']} of {row}", name, cells["bar"])
        if cells.get("goes", "").strip():
            self._goes(f"{cells['goes']} of {row}", name, cells["goes"])

    def tally(self, row: str, name: str, lamp: str, tally: str) -> None:
        """Check the state of an event, and its sign."""
        states = {"SCHED", "LATE"} if tally == "NO-GO" else {tally}
        self.says(row, lamp in {"▒", "≠", _LAMPS.get(tally, "")}, "sign")
        self.says(row, self.any_of(name, lambda then: bool(states & then.tallies())), "tally")

    def clock(self, row: str, name: str, text: str) -> None:
        def so(then: Then) -> bool:
            stream, now = then.event["stream"], self.now
            if text == "-":
                return then.planned is None and stream is None
            if text.startswith("T"):
                ahead = (then.planned or 0) - now
                return is_duration(text[2:], ahead if text[1] == "-" else -ahead)
            if stream and stream["finished_at"]:
                return is_duration(text, epoch(stream["finished_at"]) - epoch(stream["started_at"]))
            return then.started is not None and is_duration(text, now - then.started)

        self.says(row, self.any_of(name, so), "clock")

    def _ingest(self, row: str, name: str, text: str) -> None:
        def so(then: Then) -> bool:
            status = then.status
            if text == "ended":
                return status == "finished"
            if text == "none":
                return not then.past or status == "finished" or status in {"none", "pending"}
            if text.startswith("lost"):
                return then.gap >= PROOF - 4 and is_duration(text[5:], self.now - then.past[-1].time)
            is_on_air = status == "live" or self._ended_lately(then)
            return text == "?" or (is_on_air and then.gap <= PROOF + 2)

        self.says(row, self.any_of(name, so, sampled=True), "ingest")

    def _ended_lately(self, then: Then) -> bool:
        """Whether the list that the screen shows may be from before the end of the stream."""
        stream = then.event["stream"]
        return bool(stream and stream["finished_at"]) and self.now - epoch(stream["finished_at"]) <= LIST_INTERVAL

    def run_start(self, then: Then) -> float:
        """First sample since the last silence of the stream."""
        past = then.past
        start = past[-1].time if past else then.at
        for sample in reversed(past):
            if start - sample.time > PROOF:
                break
            start = sample.time
        return start

    def _since(self, row: str, name: str, text: str) -> None:
        def so(then: Then) -> bool:
            if text in {"-", "?", "·"}:
                return text != "-" or not then.past
            if then.event["stream"] and then.event["stream"]["finished_at"]:
                is_end = is_duration(text, self.now - epoch(then.event["stream"]["finished_at"]), 4)
                if is_end or not self._ended_lately(then):
                    return is_end
            if not then.past:
                return False
            if then.gap > PROOF - 4:
                return is_duration(text, self.now - then.past[-1].time)
            run = self.run_start(then)
            if text.endswith("+"):
                return then.started is not None and seconds_of(text[:-1]) <= self.now - then.started
            return is_duration(text, self.now - run, 2)

        self.says(row, self.any_of(name, so, sampled=True), "since")

    def window(self, row: str, name: str, text: str) -> None:
        def so(then: Then) -> bool:
            window = then.event["reconnect_window"]
            share, _, length = text.rpartition(" of ")
            if not is_duration(length, window):
                return False
            used = (self.now - then.past[-1].time) / window if then.past else 0
            return (
                abs(float(share[:-1]) / 100 - used) < 0.011
                if share
                else then.gap < PROOF + 2 or not then.past or (then.status == "finished")
            )

        self.says(row, self.any_of(name, so, sampled=True), "window")

    def _started(self, row: str, name: str, text: str) -> None:
        self.says(
            row,
            self.any_of(
                name,
                lambda then: (
                    then.started is not None
                    and datetime.fromtimestamp(then.started, UTC).strftime("%d %b %H:%M:%S") == text
                ),
            ),
            "started",
        )

    def health(self, row: str, name: str, text: str) -> None:
        """Check the score of an event, or the word in its place."""
        words: dict[str, Callable[[Then], bool]] = {
            "NOT STARTED": lambda then: "LATE" in then.tallies(),
            "NO DATA": lambda then: then.gap > PROOF - 4,
            "STALE": lambda _: self.age > QOS_INTERVAL,
            "WARM-UP": lambda then: bool(then.past) and then.at - self.run_start(then) <= 45,
        }
        scored = re.fullmatch(r"[✖▲✓~] +(\d+) (GOOD|FAIR|POOR)(?: (\w+))?", text)
        word = next((word for word in words if word in text), "")

        def so(then: Then) -> bool:
            if text in {"-", "·", "?"}:
                return then.status in {"none", "pending", "finished"} or self.age > QOS_INTERVAL
            if scored:
                return then.has_score(int(scored[1]), scored[2], scored[3] or "")
            return words[word](then) if word else text.islower()  # the failed check of a preflight

        self.says(row, self.any_of(name, so, sampled=True), "health")

    def _out(self, row: str, name: str, text: str) -> None:
        def so(then: Then) -> bool:
            rows = then.restreams
            if not rows:
                return text == "-"
            connected = sum(row["status"] == "connected" for row in rows)
            return text == (f"{connected}/{len(rows)}" if then.status == "live" else str(len(rows)))

        self.says(row, self.any_of(name, so), "out")

    def _rate(self, row: str, name: str, cell: str, text: str) -> None:
        def so(then: Then) -> bool:
            if text in {"-", "·", "?"}:
                return then.status in {"none", "pending", "finished"}
            if text == "--":
                return then.gap > PROOF - 4 or self.age > QOS_INTERVAL
            return bool(then.past) and is_number(text, getattr(then.past[-1], cell))

        self.says(row, self.any_of(name, so, sampled=True), cell)

    def _bar(self, row: str, name: str, text: str) -> None:
        statuses = {"▲": 3, "◆": 4, "✖": 5}
        for glyph in set(statuses) & set(text):
            self.says(row, self.any_of(name, _has(statuses[glyph]), sampled=True), f"bar {glyph}")
        if not set(text) & set(statuses) and "╌" not in text:
            self.says(
                row,
                self.any_of(name, lambda then: all(sample.status < 3 for sample in then.recent(270)), sampled=True),
                "a calm bar",
            )

    def _goes(self, row: str, name: str, text: str) -> None:
        if text.strip() == "-":
            self.says(row, self.any_of(name, lambda then: not then.event["restreams"]), "goes")
            return
        for glyph, part in re.findall(r"([▲○✓·?]) (\S.*?)(?=  |$)", text):
            self.says(row, self.is_destination(name, glyph, re.sub(r"\s*\+\d+$", "", part)), f"goes {glyph}")
        if found := re.search(r"\+(\d+)$", text.strip()):
            shown = len(re.findall(r"[▲○✓·?] ", text))
            self.says(row, self.any_of(name, lambda then: len(then.event["restreams"]) == shown + int(found[1])), "+n")

    def is_older(self, text: str, moment: float) -> bool:
        """Whether a moment lies before the oldest sample that the platform serves of that event."""
        return any(
            len(then.samples) >= 3600 and moment < then.samples[0].time + 60
            for key in self.records.named(text)
            for then in self.lately(key)[:1]
        )

    def is_destination(self, name: str, glyph: str, text: str) -> bool:
        """Whether the event has that destination in the state of the glyph and of the word behind the name."""
        part, _, word = re.sub(r"…(connected|disconnected|off)$", r"… \1", text.strip()).rpartition(" ")
        if word not in {"connected", "disconnected", "off"}:
            part, word = text.strip(), ""

        def so(then: Then) -> bool:
            connected = then.status == "live"
            for row in then.event["restreams"]:
                if is_short_for(part, row["name"]):
                    status = row["status"] if connected else "disconnected"
                    state = status if row["enabled"] else "off"
                    glyphs = {"connected": "✓", "disconnected": "▲○", "off": "·"}[state]
                    return glyph in glyphs and word in {"", state}
            return False

        return self.any_of(name, so)

    # sentences

    def segment(self, text: str, offset: int) -> None:
        """Read a part of a row by the first rule that takes it as a whole, else each of its sentences."""
        if self.number in {1, len(self.rows) - 1}:
            return  # the tabs and the keys state no fact
        text = text.strip()
        if _HEADS.match(text):
            self.board_kinds = "ALARM" in text
            return
        if self.is_chart and re.fullmatch(r"(■ )?[\d.: ]+|status|whole|event", text):
            return  # scales of a chart
        for pattern, rule in _SENTENCES:
            if found := pattern.fullmatch(text):
                self.column = offset
                rule(self, text, found)
                return
        chunks = re.split(r"\s{2,}", text)
        if len(chunks) > 1:
            for chunk in chunks:
                self.segment(chunk, offset)
            return
        if offset <= 1 and any(row["name"] == text for row in self.records.all("room")):
            self.room = text  # heading of the checks of another room
        elif self.records.named(text) and "…" not in text:
            self.pane = text if "╭" in self.rows[self.number] and offset else self.pane
        elif re.search(r"\d", text) or re.search(_STATES, text):
            self.sheet.unread[shape(text)] += 1


_STATES = re.compile(
    r"\b(ON AIR|RECONN|LATE|SCHED|DRAFT|DONE|LOST|NO-GO|GO|STALE|GOOD|FAIR|POOR|connected|disconnected|live|pending|"
    r"finished|none|lost|receiving|cleared|hidden|acknowledged)\b"
)


def shape(text: str) -> str:
    """The sentence without its numbers, to count those that are alike."""
    return re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", "ID", re.sub(r"\d+", "9", text))[:70]


Rule = Callable[[Reader, str, re.Match[str]], None]
_SENTENCES: list[tuple[re.Pattern[str], Rule]] = []


def sentence(pattern: str) -> Callable[[Rule], Rule]:
    """Register a rule for sentences of that form."""

    def register(rule: Rule) -> Rule:
        _SENTENCES.append((re.compile(pattern), rule))
        return rule

    return register

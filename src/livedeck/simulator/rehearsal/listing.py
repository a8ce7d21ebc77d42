"""Tables of everything that a scenario can name, for `livedeck serve --list` and for simulator.md."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import inf
from typing import Any

from livedeck.simulator.api import ENDPOINTS
from livedeck.simulator.engine.encoder import SHAPES, Shape
from livedeck.simulator.engine.faults import FAULT_EFFECTS
from livedeck.simulator.models import RequestBody
from livedeck.simulator.rehearsal import scenario_file, scenarios, workspaces
from livedeck.simulator.rehearsal.commands import COMMANDS
from livedeck.simulator.rehearsal.offsets import offset_of
from livedeck.simulator.rehearsal.scenario_file import ALARM_KINDS
from livedeck.simulator.rehearsal.shapes import BurstRow, ShapeRow
from livedeck.simulator.rehearsal.template import (
    AnnotationRow,
    EventRow,
    MaterialRow,
    ProjectRow,
    RelayRow,
    RoomRow,
    SubtitleRow,
    TargetRow,
    VideoRow,
)

FAULT_MEANINGS: Mapping[str, str] = {
    "status": "replies with that HTTP `status` (default 503)",
    "rate-limit": "replies with status 429; `retry_after` is none, seconds or date",
    "redirect": "points to another origin; `status` from 300 to 399 (default 302)",
    "html": "replies with an HTML page and status 200",
    "answer": "replies with `status` (default 200), `headers`, and `json` or `body`; the platform does nothing",
    "latency": "replies after `seconds`, more or less `jitter`",
    "hang": "never replies",
    "drop": "cuts the connection without carrying out the request",
    "lose": "carries out the request and cuts the connection before the reply",
    "late-apply": "replies to a change now and carries it out later; see Late changes",
    "reset-peer": "resets the connection (RST) without carrying out the request; with `after`, after that many bytes",
    "drip": "sends the body in pieces of `size` bytes (1024), one every `pause` seconds (0.1)",
    "bandwidth": "limits the bodies of request and reply to `kbit_per_s` each (1 kbit: 1000 bits)",
    "truncate": "sends half of the body",
    "limit-data": "sends the first `bytes` bytes of the body and closes the connection",
    "slow-close": "sends everything, and closes the connection `seconds` later",
    "skew": "a platform clock that is wrong by `seconds`",
    "broken-json": "a reply that is not JSON",
    "wrong-types": "fields of another type",
    "nulls": "fields that are null",
    "missing-fields": "fields left out",
    "extra-fields": "undocumented fields",
    "duplicates": "items twice",
    "reordered": "items out of order",
    "late-samples": "samples arrive `seconds` late",
    "frozen": "new samples whose time does not advance",
    "future": "every fifth sample dated an hour ahead",
    "huge": "a reply far larger than usual",
    "hls-gone": "404 for the playlists and segments",
    "hls-stalled": "playlists gain no segment",
    "hls-missing": "404 for each segment of a picture whose number is a multiple of `every`; the playlists list it",
    "hls-slow": "a segment of 2 s arrives in `seconds` (3)",
    "hls-rung": "404 for the playlist and segments of the highest of several rungs; the master playlist lacks it",
    "hls-late": "the dates of new segments (EXT-X-PROGRAM-DATE-TIME) are `seconds` (40) late",
    "hls-black": "the picture of new segments is black",
    "hls-frozen": "the picture of new segments stands still",
    "hls-silent": "the sound of new segments is digital silence",
    "hls-page": "an HTML page in place of the playlists",
    "hls-encrypted": "playlists name a key (EXT-X-KEY), which gets 403; the segments stay in clear",
    "cdn-down": "`status` (503) for everything on `host`: 127.0.0.1, localhost or [::1]",
}
"""Effect of each kind of fault, in words."""

Row = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Listing:
    """Table with a `name` for the documentation, a title and the heads of its columns."""

    name: str
    title: str
    head: Row
    rows: Sequence[Row]

    def markdown(self) -> str:
        """Return the table as Markdown; the first column is code."""
        rows = [(f"`{first}`", *rest) if rest else (first,) for first, *rest in self.rows]
        lines = [self.head, tuple("---" for _ in self.head), *rows]
        return "\n".join(f"| {' | '.join(cell.replace('|', '&#124;') for cell in line)} |" for line in lines)

    def text(self) -> str:
        """Return the table in columns, for a terminal."""
        rows = [self.head, *self.rows]
        widths = [max(len(row[column]) for row in rows) for column in range(len(self.head) - 1)]
        lines = ("  ".join((*map(str.ljust, row, widths), row[-1])).rstrip() for row in rows)
        return "\n".join([self.title.upper(), *lines])


def listings() -> tuple[Listing, ...]:
    """Return every table."""
    return (
        Listing("scenarios", "Scenarios", ("Name", "Workspace", "Lasts", "Title"), [*_scenarios()]),
        Listing("workspaces", "Workspaces", ("Name", "Events", "Rooms and their relays"), [*_workspaces()]),
        Listing("shapes", "Shapes of an encoder", ("Name", "Sends"), [(name, _shape(SHAPES[name])) for name in SHAPES]),
        Listing("steps", "Commands of a step (do)", ("Command", "Acts on", "Arguments"), [*_commands()]),
        Listing("operations", "Operations of a request (operation)", ("Operation", "Request"), [*_operations()]),
        Listing("fault-kinds", "Kinds of faults", ("Kind", "Effect"), [*_faults()]),
        Listing("alarm-kinds", "Alarms that a scenario may expect", ("Kinds",), [(", ".join(ALARM_KINDS),)]),
        Listing("scenario-fields", "Tables of a scenario", ("Field", "Needed", "Value"), [*_fields(_SCENARIO)]),
        Listing("workspace-fields", "Tables of a workspace", ("Field", "Needed", "Value"), [*_fields(_WORKSPACE)]),
    )  # fmt: skip


def _scenarios() -> Iterator[Row]:
    for name in scenarios.names():
        scenario = scenarios.load(name)
        yield name, scenario.workspace, offset_of(scenario.lasts), scenario.title


def _operations() -> Iterator[Row]:
    for endpoint in ENDPOINTS:
        yield endpoint.operation, f"{endpoint.method} {endpoint.path}"


def _faults() -> Iterator[Row]:
    for kind in FAULT_EFFECTS:
        yield kind, FAULT_MEANINGS[kind]


def _workspaces() -> Iterator[Row]:
    for name in workspaces.names():
        table = workspaces.find_table(name, {})
        events = (
            f"{row['name']} 001 to {row['count']:03}" if "count" in row else row["name"] for row in table["events"]
        )
        rooms = (
            f"{room['name']} ({', '.join(_relay_names(table, room)) or 'no relays'})" for room in table.get("rooms", ())
        )
        yield name, "; ".join(events), "; ".join(rooms)


def _relay_names(table: Mapping[str, Any], room: Mapping[str, Any]) -> list[str]:
    return [relay.get("name", table["targets"][relay["to"]]["name"]) for relay in room.get("relays", ())]


def _shape(shape: Shape) -> str:
    rates = f"{shape.video / 1e6:g} Mbit/s, audio {shape.audio / 1e3:g} kbit/s, {shape.fps:g} fps"
    parts = [rates, *([f"full rate after {shape.ramp:g} s"] if shape.ramp else [])]
    if shape.connected != inf:
        parts.append(f"connected {shape.connected:g} s, away {shape.disconnected:g} s")
    for burst in shape.bursts:
        changes = {field: value for field, value in asdict(burst).items() if field in {"video", "audio", "fps"}}
        left = ", ".join(f"{field} {value:.0%}" for field, value in changes.items() if value != 1)
        status = f"status {burst.status}" if burst.status else ""
        effect = ", ".join(filter(None, (status, left)))
        parts.append(f"each {burst.period:g} s ({burst.chance:.0%}) for {burst.duration:g} s: {effect}")
    return "; ".join(parts)


def _commands() -> Iterator[Row]:
    for name, command in COMMANDS.items():
        arguments = (
            f"{field}{'' if needed else ' (optional)'}: {value}" for field, needed, value in _words(command.arguments)
        )
        yield name, command.target, "; ".join(arguments)


_SCENARIO: Mapping[str, type[RequestBody]] = {
    "": scenario_file.ScenarioFile,
    "clock.": scenario_file.ClockRow,
    "shapes.NAME.": ShapeRow,
    "shapes.NAME.bursts[].": BurstRow,
    "steps[].": scenario_file.StepHead,
    "alarms[].": scenario_file.AlarmRow,
    "answers[].": scenario_file.AnswerRow,
    "allowed[].": scenario_file.AllowedRow,
}
_WORKSPACE: Mapping[str, type[RequestBody]] = {
    "projects[].": ProjectRow,
    "targets.NAME.": TargetRow,
    "events[].": EventRow,
    "events[].relays[].": RelayRow,
    "videos[].": VideoRow,
    "videos[].subtitles[].": SubtitleRow,
    "videos[].annotations[].": AnnotationRow,
    "videos[].materials[].": MaterialRow,
    "rooms[].": RoomRow,
}


def _fields(tables: Mapping[str, type[RequestBody]]) -> Iterator[Row]:
    for path, model in tables.items():
        for field, needed, value in _words(model):
            yield f"{path}{field}", "yes" if needed else "", value


def _words(model: type[RequestBody]) -> Iterator[tuple[str, bool, str]]:
    """Yield the name of each field, whether it is required, and its values. Inherited fields come last."""
    schema = model.model_json_schema()
    for name in sorted(schema["properties"], key=lambda name: name not in model.__annotations__):
        field = schema["properties"][name]
        if not field.get("readOnly"):
            yield name, name in schema.get("required", ()), _value(field, schema.get("$defs", {}))


def _value(field: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    if "description" in field:
        return str(field["description"])
    if "$ref" in field:
        named = definitions[field["$ref"].rpartition("/")[2]]
        if "enum" in named:
            return f"one of {', '.join(named['enum'])}"
        properties = named["properties"]
        return f"table of {', '.join(name for name, inner in properties.items() if not inner.get('readOnly'))}"
    if field.get("type") == "array":
        return f"list: {_value(field['items'], definitions)}"
    return "text" if field.get("type") == "string" else "tables"

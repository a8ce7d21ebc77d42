"""Blocking client of the control API, with the standard library only: for tests in any framework and for scripts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict
from urllib.parse import quote, urlencode, urlsplit

if TYPE_CHECKING:
    from starlette.types import ASGIApp

ANSWER_SECONDS = 30.0
"""Seconds that the client waits for a reply, in addition to the wait that a request asks of the server."""

Pattern: TypeAlias = Mapping[str, object]
"""Request pattern: criteria by name, such as `{"operation": "enable_event"}`."""

Table: TypeAlias = str | Path
"""Scenario or workspace: the name of a shipped or posted one, or the path of a TOML file."""


class Entry(TypedDict, total=False):
    """Entry of the journal: a request and its reply. `status`: 0 without a reply."""

    n: int
    at: str
    took_ms: float
    method: str
    path: str
    operation: str
    ids: dict[str, str]
    names: dict[str, str]
    token: str
    query: dict[str, Any]
    headers: list[list[str]]
    body: dict[str, Any]
    status: int
    answer: dict[str, Any]
    faults: list[str]
    outcome: str


def describe(entry: Mapping[str, Any]) -> str:
    """Return an entry or near miss as one line for a person."""
    line = f"{entry['n']} {entry['method']} {entry['path']!r} -> {entry['status'] or entry['outcome']}"
    return line + (f" (faults: {', '.join(entry['faults'])})" if entry.get("faults") else "")


@dataclass(frozen=True, slots=True)
class Document:
    """Event or room. `fields`: the object as the API shows it now."""

    id: str
    name: str
    fields: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Problem:
    """Parameter of a request that the simulator refuses, and why. `line`: its line in a TOML text, or None."""

    name: str
    reason: str
    line: int | None = None

    def __str__(self) -> str:
        line = "" if self.line is None else f" (line {self.line})"
        return f"{self.name}{line}: {self.reason}"


class ControlError(Exception):
    """The control API refuses a request, or cannot be reached (status 0). `problems`: one for each wrong parameter."""

    def __init__(self, status: int, message: str, problems: Iterable[Problem] = ()) -> None:
        super().__init__(status, message)
        self.status = status
        self.message = message
        self.problems = tuple(problems)

    def __str__(self) -> str:
        return "; ".join([self.message, *map(str, self.problems)])


@dataclass(frozen=True, slots=True)
class Connection:
    """Address and token of a control API. Each request has a connection of its own, so any thread may send one."""

    control_url: str
    control_token: str = field(repr=False)

    def send(
        self,
        method: str,
        path: str,
        body: Mapping[str, object] | bytes | None = None,
        *,
        media: str = "application/json",
        wait: float = 0,
    ) -> bytes:
        """Send a request and return the body of its reply. `path` is relative to `control_url`.

        Raises:
            ControlError: The simulator refused it, or did not reply within `ANSWER_SECONDS` after `wait`.
        """
        address = urlsplit(self.control_url)
        connect = HTTPSConnection if address.scheme == "https" else HTTPConnection
        connection = connect(address.hostname or "", address.port, timeout=ANSWER_SECONDS + wait)
        content = body if isinstance(body, bytes) or body is None else json.dumps(body, default=_encoded).encode()
        headers = {"Authorization": f"Bearer {self.control_token}", "Connection": "close"}
        headers |= {} if content is None else {"Content-Type": media}
        try:
            connection.request(method, f"{address.path}{path}", content, headers)
            answer = connection.getresponse()
            status, text = answer.status, answer.read()
        except (OSError, HTTPException) as error:
            reason = f"no answer from the simulator at {self.control_url}: {str(error) or type(error).__name__}"
            raise ControlError(0, reason) from error
        finally:
            connection.close()
        if status >= 300:
            raise _refusal(status, text)
        return text

    def ask(self, method: str, path: str, body: Mapping[str, object] | bytes | None = None, *, wait: float = 0) -> Any:
        """Send a request and return the data of its reply. Raises ControlError like `send`."""
        return json.loads(self.send(method, path, body, wait=wait))["data"]

    def post_table(self, path: str, table: Table) -> str:
        """Return the name of a scenario or workspace. A file is first posted under its name without the suffix."""
        if isinstance(table, str):
            return table
        text = table.read_bytes()
        self.send("PUT", f"{path}/{quote(table.stem, safe='')}", text, media="application/toml")
        return table.stem


@dataclass(frozen=True, slots=True)
class Clock:
    """Clock of the simulator. Every method returns the time after the change."""

    _connection: Connection = field(repr=False)

    @property
    def now(self) -> datetime:
        """Time of the simulator: aware, UTC."""
        return _time(self._connection.ask("GET", "/clock"))

    @property
    def paused(self) -> bool:
        return bool(self._connection.ask("GET", "/clock")["paused"])

    @property
    def speed(self) -> float:
        """Simulated seconds per real second while the clock runs."""
        return float(self._connection.ask("GET", "/clock")["speed"])

    def step(self, seconds: float) -> datetime:
        """Move the clock by `seconds`; a negative number moves it back."""
        return self._change(step=seconds)

    def jump(self, to: datetime | str) -> datetime:
        """Set the clock to a time with a time zone."""
        return self._change(jump=to)

    def run(self, speed: float = 1.0) -> datetime:
        """Let the clock run at `speed` simulated seconds per real second."""
        return self._change(speed=speed, paused=False)

    def pause(self) -> datetime:
        """Stop the clock at its current time."""
        return self._change(paused=True)

    def _change(self, **change: object) -> datetime:
        return _time(self._connection.ask("POST", "/clock", change))


_CRITERIA = ("method", "path", "operation", "event", "token")
"""Criteria of `match` that `Faults.add` also accepts as keywords. No field of a fault has one of these names."""


@dataclass(frozen=True, slots=True)
class Faults:
    """Faults in force."""

    _connection: Connection = field(repr=False)

    def add(self, kind: str, *, match: Pattern | None = None, **fields: object) -> dict[str, Any]:
        """Add a fault and return it as the control API shows it.

        Args:
            kind: A kind of fault (simulator.md, "Faults").
            match: The pattern of the requests that it hits. The criteria method, path, operation, event and token may
                be keywords instead: `add("status", status=503, times=1, operation="enable_event")`.
            fields: Fields of the kind, such as `status`, `seconds`, `times`, `skip` and `lasts`.
        """
        criteria = {name: fields.pop(name) for name in _CRITERIA if name in fields}
        pattern = {**criteria, **(match or {})}
        body = {"kind": kind, **fields, **({"match": pattern} if pattern else {})}
        fault: dict[str, Any] = self._connection.ask("POST", "/faults", body)
        return fault

    def active(self) -> list[dict[str, Any]]:
        """Return the faults in force."""
        faults: list[dict[str, Any]] = self._connection.ask("GET", "/faults")
        return faults

    def end(self, fault_id: str) -> None:
        """End one fault."""
        self._connection.ask("DELETE", f"/faults/{quote(fault_id, safe='')}")

    def clear(self) -> None:
        """End every fault."""
        self._connection.ask("DELETE", "/faults")


@dataclass(frozen=True, slots=True)
class Requests:
    """Journal: the last requests of your client and their replies, oldest first.

    Criteria of a pattern are keywords, or keys of `pattern` if their name has a dot, such as `json.name`.
    """

    _connection: Connection = field(repr=False)

    def entries(self, *, after: int = 0, limit: int = 100, wait: int = 0) -> list[Entry]:
        """Return at most `limit` entries after the entry number `after`; wait up to `wait` seconds for the first."""
        query = urlencode({"after": after, "limit": limit, "wait": wait})
        entries: list[Entry] = self._connection.ask("GET", f"/requests?{query}", wait=wait)
        return entries

    def find(self, pattern: Pattern | None = None, *, limit: int = 100, **criteria: object) -> list[Entry]:
        """Return the entries that match, at most the newest `limit`."""
        body = {"pattern": {**(pattern or {}), **criteria}, "limit": limit}
        entries: list[Entry] = self._connection.ask("POST", "/requests/find", body)
        return entries

    def count(self, pattern: Pattern | None = None, **criteria: object) -> int:
        """Return the number of entries that match."""
        body = {"pattern": {**(pattern or {}), **criteria}}
        return int(self._connection.ask("POST", "/requests/count", body)["count"])

    def verify(
        self,
        pattern: Pattern | None = None,
        *,
        exactly: int | None = None,
        at_least: int | None = None,
        at_most: int | None = None,
        within: float | None = None,
        **criteria: object,
    ) -> None:
        """Check the number of entries that match: by default at least 1.

        Args:
            pattern: Criteria whose name has a dot.
            exactly: Required number of entries.
            at_least: Minimum number of entries.
            at_most: Maximum number of entries.
            within: Seconds of this machine to wait until the check holds.
            criteria: The other criteria.

        Raises:
            AssertionError: The check fails, or the journal cannot tell. The message names the requests that almost
                match, and what differs.
        """
        bounds = {"exactly": exactly, "at_least": at_least, "at_most": at_most}
        given = {name: number for name, number in bounds.items() if number is not None} or {"at_least": 1}
        wanted = {**(pattern or {}), **criteria}
        answer = self._verify({"pattern": wanted, **given}, within)
        if not answer["verified"]:
            expected = " and ".join(f"{name.replace('_', ' ')} {number}" for name, number in given.items())
            found = f"expected {expected}, but {answer['count']} match: {_phrase(wanted)}"
            raise AssertionError("\n".join([found, *_hints(answer)]))

    def verify_in_order(self, *patterns: Pattern, within: float | None = None) -> None:
        """Check that entries match the patterns one after another. Raises AssertionError like `verify`."""
        answer = self._verify({"in_order": [*patterns]}, within)
        if not answer["verified"]:
            missing = patterns[answer["count"]]
            raise AssertionError(
                "\n".join([f"pattern {answer['count'] + 1} has no match in order: {_phrase(missing)}", *_hints(answer)])
            )

    def wait_for(self, pattern: Pattern | None = None, *, seconds: float = 10, **criteria: object) -> Entry:
        """Return the oldest entry that matches; wait up to `seconds` for one. Raises AssertionError like `verify`.

        If over 1000 entries match, returns the oldest of the newest 1000.
        """
        wanted = {**(pattern or {}), **criteria}
        self.verify(wanted, within=seconds)
        return self.find(wanted, limit=1000)[0]

    def har(self) -> dict[str, Any]:
        """Return the journal as HAR 1.2, for the network panel of a browser."""
        har: dict[str, Any] = json.loads(self._connection.send("GET", "/requests.har"))
        return har

    def clear(self) -> None:
        """Forget every entry."""
        self._connection.ask("DELETE", "/requests")

    def _verify(self, body: Mapping[str, object], within: float | None) -> dict[str, Any]:
        timed = body if within is None else {**body, "within": within}
        answer: dict[str, Any] = self._connection.ask("POST", "/requests/verify", timed, wait=within or 0)
        return answer


@dataclass(frozen=True, slots=True)
class Scenarios:
    """Scenario that the simulator plays."""

    _connection: Connection = field(repr=False)

    def play(self, scenario: Table, *, seed: int | None = None, force: bool = False) -> dict[str, Any]:
        """Create the workspace of the scenario and play it from now on. Returns its position.

        A file is posted under its name first. `force` replaces a workspace in a data file.

        Raises:
            ControlError: The scenario is unknown, or has problems: all of them, with their lines.
            OSError: The file cannot be read.
        """
        name = self._connection.post_table("/scenarios", scenario)
        return self._ask("POST", "/scenario", {"name": name, **_seed(seed), "force": force})

    def progress(self) -> dict[str, Any]:
        """Return the position of the scenario, and the state of each step."""
        return self._ask("GET", "/scenario")

    def stop(self) -> dict[str, Any]:
        """Stop the scenario; everything else stays."""
        return self._ask("DELETE", "/scenario")

    def replay(self, *, force: bool = False) -> dict[str, Any]:
        """Play the same scenario from its beginning, on a new workspace of the same seed."""
        return self._ask("POST", "/scenario/replay", {"force": force})

    def _ask(self, method: str, path: str, body: Mapping[str, object] | None = None) -> dict[str, Any]:
        answer: dict[str, Any] = self._connection.ask(method, path, body)
        return answer


@dataclass(frozen=True, slots=True)
class Platform:
    """Simulated platform as a test sees it: its addresses and tokens for your client, and its control API for you.

    `base_url`, `upload_url`: addresses of the API. `token`, `workspace_id`: values for the settings of your client.
    `other_token`: opens the second workspace, which `token` must not see.
    """

    base_url: str
    upload_url: str
    token: str = field(repr=False)
    workspace_id: str
    other_token: str = field(repr=False)
    connection: Connection
    _app: ASGIApp | None = field(default=None, repr=False)

    @classmethod
    def attach(cls, control_url: str, control_token: str, *, app: ASGIApp | None = None) -> Platform:
        """Return the platform behind a control API, such as that of `livedeck serve`.

        Args:
            control_url: The address that `livedeck serve --json` prints.
            control_token: The token that it prints.
            app: The simulator as an ASGI app, if it runs in this process.

        Raises:
            ControlError: The simulator does not reply, or refuses the token.
        """
        connection = Connection(control_url.rstrip("/"), control_token)
        shown = connection.ask("GET", "/platform")
        return cls(
            shown["base_url"],
            shown["upload_url"],
            shown["token"],
            shown["workspace_id"],
            shown["other_workspace"]["token"],
            connection,
            app,
        )

    @property
    def app(self) -> ASGIApp:
        """Simulator as an ASGI app, for example for `httpx.ASGITransport`.

        Raises RuntimeError if the simulator runs in another process.
        """
        if self._app is None:
            raise RuntimeError("this simulator runs in another process: use base_url")
        return self._app

    @property
    def clock(self) -> Clock:
        return Clock(self.connection)

    @property
    def faults(self) -> Faults:
        return Faults(self.connection)

    @property
    def requests(self) -> Requests:
        return Requests(self.connection)

    @property
    def scenario(self) -> Scenarios:
        return Scenarios(self.connection)

    def event(self, event: str) -> Document:
        """Return the event with this name or id, as it is now. The journal does not record this, and no fault hits it.

        Raises:
            ControlError: No event has this name (404), or several have (409).
        """
        return self._read("events", event)

    def room(self, room: str) -> Document:
        """Return the room with this name or id, as it is now. Raises ControlError like `event`."""
        return self._read("rooms", room)

    def encoder(self, event: str, *, sending: bool | None = None, shape: str | None = None) -> dict[str, Any]:
        """Start or stop the encoder of an event, or change its shape, from now on."""
        change = {"sending": sending, "shape": shape}
        body = {name: value for name, value in change.items() if value is not None}
        state: dict[str, Any] = self.connection.ask("POST", f"/encoders/{self.event(event).id}", body)
        return state

    def serve(self, workspace: Table, *, seed: int | None = None, force: bool = False) -> None:
        """Replace everything with a workspace as of now. Arguments and errors are those of `Scenarios.play`."""
        name = self.connection.post_table("/workspaces", workspace)
        self.connection.ask("POST", "/workspace", {"name": name, **_seed(seed), "force": force})

    def reset(self, *, seed: int | None = None, keep: Sequence[str] = (), force: bool = False) -> None:
        """Restore everything as it was at the start.

        Args:
            seed: Another seed for the workspaces.
            keep: Parts to keep: clock, journal, faults.
            force: True to replace a workspace in a data file.
        """
        kept = {"keep": [*keep]} if keep else {}
        self.connection.ask("POST", "/reset", {**_seed(seed), **kept, "force": force})

    def snapshot(self, name: str) -> None:
        """Take a snapshot of the whole state under a name."""
        self.connection.send("PUT", f"/snapshots/{quote(name, safe='')}")

    def restore(self, name: str, *, clock: Literal["restored", "kept"] = "restored", force: bool = False) -> None:
        """Restore the snapshot, with its clock or with the current one. `force` replaces a workspace in a data file."""
        self.connection.send("POST", f"/snapshots/{quote(name, safe='')}/restore", {"clock": clock, "force": force})

    def _read(self, kind: str, wanted: str) -> Document:
        fields = self.connection.ask("GET", f"/{kind}/{quote(wanted, safe='')}")
        return Document(fields["id"], fields["name"], fields)


def _refusal(status: int, text: bytes) -> ControlError:
    try:
        error = json.loads(text)["error"]
    except (ValueError, KeyError, TypeError):
        return ControlError(status, f"the simulator answered {status} without an error body")
    wrong = error.get("invalid_params", ())
    problems = (Problem(row["name"], row["reason"], row.get("line")) for row in wrong)
    return ControlError(status, error["message"], problems)


def _encoded(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"{value!r} cannot be sent as JSON")


def _time(clock: Mapping[str, Any]) -> datetime:
    return datetime.fromisoformat(clock["now"])


def _seed(seed: int | None) -> dict[str, object]:
    return {} if seed is None else {"seed": seed}


def _phrase(pattern: Pattern) -> str:
    return " ".join(f"{name}={value!r}" for name, value in pattern.items()) or "any request"


def _hints(answer: Mapping[str, Any]) -> list[str]:
    """Return a line for each near miss, and a line for dropped requests if they leave the result unknown."""
    near = [f"almost: {describe(miss)}: {_differences(miss) or 'came too early'}" for miss in answer["near_misses"]]
    lost = f"unknown: dropped requests ({answer['dropped']}) may match, too; give `since`, or let the journal keep more"
    return near if answer["verified"] is False else [*near, lost]


def _differences(miss: Mapping[str, Any]) -> str:
    return ", ".join(f"{row['field']} is {row['actual']!r}, expected {row['expected']!r}" for row in miss["differs"])

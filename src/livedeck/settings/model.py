"""Model of the settings: every setting with its unit, its allowed values and its description."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    SecretStr,
    create_model,
    field_validator,
    model_validator,
)
from pydantic.fields import FieldInfo

from livedeck.egress import read_entry
from livedeck.environment import expand_user, history_path
from livedeck.monitor import (
    BitrateUnit,
    Cadence,
    Content,
    Limits,
    LimitTemplate,
    MaintenanceWindow,
    Matcher,
    Severity,
    Thresholds,
    with_overrides,
)
from livedeck.notify import OPTIONS, TARGETS, Level, Route, Template, check_template
from livedeck.text.hours import Hours
from livedeck.text.themes import Theme

TOKEN_SOURCES = ("token", "token_file", "token_command", "token_keyring")
"""Settings that give the token (trust.md, "Secrets"). If several are set, the strongest origin wins."""

COLLECTOR_TOKEN_SOURCES = ("collector_token_file", "collector_token_command", "collector_token_keyring")
"""Settings that give the token for a collector. None of them is the token itself."""

OFF, IN_MEMORY = "off", ":memory:"

REHEARSAL_HISTORY = "rehearsal.livedeck"
"""Name of the only history file that a deck with a followed clock keeps."""

HISTORY_WORDS = frozenset({"", OFF, IN_MEMORY})
"""Values of `history` besides a path. The empty value means the default file of the platform."""

_STRICT = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True, defer_build=True)
_CADENCE = Cadence()


def _check_limits(limits: dict[str, Any]) -> dict[str, Any]:
    with_overrides(Thresholds(), limits)
    return limits


ThresholdTable = Annotated[dict[str, Any], AfterValidator(_check_limits)]
"""Fields of `Thresholds` that differ from the default, in the same units.

A `Hold`, `Share` or `Duty` is written as a table, which may lack fields.
"""


def _refuse_content(limits: dict[str, Any]) -> dict[str, Any]:
    if "content" in limits:
        raise ValueError('content: goes directly into [events."ID"], not into its thresholds')
    return limits


EventThresholdTable = Annotated[ThresholdTable, AfterValidator(_refuse_content)]
"""Limits of one event. The content of the event is a separate setting."""


def _none_if_empty(value: object) -> object:
    return None if value == "" else value  # an empty path would name the current folder


def _check_history(value: str) -> str:
    if value in HISTORY_WORDS or expand_user(value).is_absolute():
        return value
    raise ValueError("should be an absolute path, or `off`")


def _refuse_yes_or_no(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError("should be a valid number, not true or false")  # noqa: TRY004  pydantic takes no TypeError
    return value


Number = Annotated[float, BeforeValidator(_refuse_yes_or_no)]
"""Number. True and false are refused."""

Count = Annotated[int, BeforeValidator(_refuse_yes_or_no)]
"""Whole number. True and false are refused."""


def _refuse_shell_line(value: object) -> object:
    if isinstance(value, str):
        raise ValueError(  # noqa: TRY004  pydantic takes no TypeError
            'should be a list, the program first: ["pass", "show", "livedeck"]; no shell reads it'
        )
    return value


def _flatten_keys(value: object) -> object:
    """Return action -> keys. TOML reads `event.complete = "X"` as nested tables; these become dotted names again."""
    return dict(_flat_items(value)) if isinstance(value, dict) else value


def _flat_items(table: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    for name, keys in table.items():
        if isinstance(keys, dict):
            yield from _flat_items(keys, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", (keys,) if isinstance(keys, str) else keys


def is_structured(field: FieldInfo) -> bool:
    """Return whether a setting is a table or a list. An environment variable gives such a setting as JSON."""
    return isinstance(field.default, dict | tuple | BaseModel)


class CadenceSettings(BaseModel):
    """Seconds between polls of the platform (monitoring.md, "Cadence")."""

    model_config = _STRICT

    events: Number = Field(default=_CADENCE.events, ge=1, le=300, description="seconds between polls of the event list")
    events_near: Number = Field(
        default=_CADENCE.events_near,
        ge=1,
        le=300,
        description="seconds between polls of the event list near a start (10 min before to 5 min after it)",
    )
    qos: Number = Field(default=_CADENCE.qos, ge=1, le=60, description="seconds between polls of an event's samples")
    qos_focus: Number = Field(
        default=_CADENCE.qos_focus,
        ge=0.5,
        le=60,
        description="seconds between polls of the samples of the event on the screen",
    )
    qos_early: Number = Field(
        default=_CADENCE.qos_early,
        ge=5,
        le=3600,
        description="seconds between polls of the samples of an event long before its start",
    )
    budget: Number = Field(
        default=_CADENCE.budget, ge=1, le=1000, description="maximum polls per second, of all kinds together"
    )
    at_once: Annotated[int, BeforeValidator(_refuse_yes_or_no)] = Field(
        default=_CADENCE.at_once, ge=1, le=64, description="maximum requests in flight"
    )


class _Judging(BaseModel):
    """Content and limits of events."""

    model_config = _STRICT

    content: Content | None = Field(default=None, description="content of the event")
    thresholds: EventThresholdTable = Field(
        default={}, description="limits of alarms for this event; they win over [thresholds]"
    )

    @property
    def overrides(self) -> Mapping[str, object]:
        """Limits and content of the event, by the names of the fields of `Thresholds`."""
        return {**self.thresholds, "content": self.content} if self.content else self.thresholds


def _check_playlist(text: str, *, is_template: bool = False) -> str:
    """Check the address of a playlist. The path of a template has a field for the id of the event or stream."""
    if not text or (text == OFF and not is_template):
        return text
    parts = urlsplit(text)
    is_safe = parts.scheme == "https" or (parts.scheme == "http" and _is_loopback(parts.hostname or ""))
    if not is_safe or not parts.hostname or not text.isprintable() or " " in text:
        raise ValueError("should be an https address, or http to loopback")
    if any(char in text for char in "@?#"):
        raise ValueError("should have no user name, query or fragment: signed addresses belong in playlists_file")
    places = set(re.findall(r"{(.*?)}", parts.path))
    if "{" in parts.netloc or places - {"event_id", "stream_id"} or (places and not is_template):
        raise ValueError("may have {event_id} and {stream_id} in the path of [probe] playlist, and no other field")
    if is_template and not places:
        raise ValueError("should have {event_id} or {stream_id} in its path, or all events would share a playlist")
    return text


class EventSettings(_Judging):
    """Settings of one event. Their key is the id of the event, because names change and are not unique."""

    playlist: Annotated[str, AfterValidator(_check_playlist)] | None = Field(
        default=None, description="address of the HLS playlist that viewers of this event get, or `off` (`probe.md`)"
    )


class LimitTemplateSettings(_Judging):
    """Settings of all events that fit shell patterns."""

    events: tuple[str, ...] = Field(default=("*",), description="shell patterns for the id or name of the event")
    projects: tuple[str, ...] = Field(
        default=("*",), description="shell patterns for the id of the project of the event"
    )

    @model_validator(mode="after")
    def _has_effect(self) -> Self:
        if not self.overrides:
            raise ValueError("sets nothing; add content or thresholds, or remove it")
        if self.template.is_for_all:
            raise ValueError("fits every event; name events or projects, or use [thresholds]")
        return self

    @property
    def template(self) -> LimitTemplate:
        """Template of limits, converted for the monitor."""
        return LimitTemplate(self.overrides, self.events, self.projects)


def _check_absolute(path: Path | None) -> Path | None:
    if path is None or expand_user(str(path)).is_absolute():
        return path
    raise ValueError("should be an absolute path")


SecretFile = Annotated[Path | None, BeforeValidator(_none_if_empty), AfterValidator(_check_absolute)]
"""Path of a file with a secret. The file is refused if another user can read it."""

SecretCommand = Annotated[tuple[str, ...], BeforeValidator(_refuse_shell_line)]
"""Program that prints a secret, with its arguments. The program runs without a shell for at most 15 s."""


ADDRESS_SOURCES = tuple(f"{kind}_{way}" for kind in TARGETS for way in ("command", "file"))
"""Settings that give the address of a target: a command and a file for each kind of target."""


class _Target(BaseModel):
    """Receiver of messages. The address is a secret, because anybody with the address can send messages to it."""

    model_config = _STRICT

    type: str = Field(
        default="", description="kind of the target; optional, because the name of its address setting shows it"
    )
    title: Annotated[str, AfterValidator(check_template)] = Field(
        default="", description="template of the title, with fields such as `${event}`"
    )
    text: Annotated[str, AfterValidator(check_template)] = Field(
        default="", description="template of the text, with fields such as `${actual}`"
    )

    @model_validator(mode="after")
    def _one_address(self) -> Self:
        sources = [name for name in ADDRESS_SOURCES if getattr(self, name)]
        if self.type and self.type not in TARGETS:
            raise ValueError(f"type: should be one of {', '.join(TARGETS)}")
        named = [source for source in ADDRESS_SOURCES if source.startswith(f"{self.type}_")] or ADDRESS_SOURCES
        if len(sources) != 1 or sources[0] not in named:
            raise ValueError(f"should have one of {', '.join(named)}")
        if others := {name for name in OPTIONS if getattr(self, name)} - {*TARGETS[self.kind].options}:
            raise ValueError(f"{', '.join(sorted(others))}: a target of the type {self.kind} has no such setting")
        return self

    @property
    def kind(self) -> str:
        """Kind of the target: a key of `TARGETS`."""
        return next(kind for kind in TARGETS if any(self.source(kind)))

    def source(self, name: str) -> tuple[tuple[str, ...], Path | None]:
        """Return the command and the file that give the secret `name`. At most one of them is set."""
        return getattr(self, f"{name}_command"), getattr(self, f"{name}_file")

    @property
    def template(self) -> Template:
        """Template of the messages to this target."""
        return Template(self.title, self.text)

    @property
    def options(self) -> dict[str, str]:
        """Options of the target's kind that are set, by name."""
        return {name: value for name in OPTIONS if (value := getattr(self, name))}


def _target_fields() -> Iterator[tuple[str, Any]]:
    """Yield name and type of each setting of a target, from the table of kinds."""
    for name, kind in TARGETS.items():
        secrets = {name: kind.address} | ({"secret": kind.secret} if kind.secret else {})
        for secret, words in secrets.items():
            yield f"{secret}_command", (SecretCommand, Field(default=(), description=f"program that prints {words}"))
            yield (
                f"{secret}_file",
                (SecretFile, Field(default=None, description=f"file that holds {words} (alternative to the command)")),
            )
    for name, words in OPTIONS.items():
        yield name, (str, Field(default="", description=words))


if TYPE_CHECKING:
    TargetSettings = _Target
else:
    TargetSettings = create_model("TargetSettings", __base__=_Target, **dict(_target_fields()))


def _check_hours(text: str) -> str:
    Hours.parse(text)
    return text


def _check_zone(name: str) -> str:
    from zoneinfo import ZoneInfo

    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise ValueError("unknown time zone; write Europe/Berlin, or UTC") from None
    return name


class LevelSettings(BaseModel):
    """Further target of a route (notifications.md, "Levels")."""

    model_config = _STRICT

    after: Number = Field(gt=0, le=1440, description="minutes without acknowledgement")
    to: str = Field(min_length=1, description="target that gets the alarm then")
    repeat: Number = Field(
        default=0, ge=0, le=1440, description="minutes until a critical alarm is sent to this target again"
    )


class RouteSettings(BaseModel):
    """Route from alarms to a target (notifications.md, "Routes")."""

    model_config = _STRICT

    to: str = Field(min_length=1, description="target that gets the messages")
    name: str = Field(default="", description="name of the route (empty: the name of its target)")
    severity: Severity = Field(default=Severity.WARNING, description="lowest severity that the route sends")
    events: tuple[str, ...] = Field(default=("*",), description="shell patterns for the id or name of the event")
    projects: tuple[str, ...] = Field(
        default=("*",), description="shell patterns for the id of the project of the event"
    )
    kinds: tuple[str, ...] = Field(default=("*",), description="shell patterns for the kind of the alarm")
    hours: Annotated[str, AfterValidator(_check_hours)] = Field(
        default="", description="hours when somebody reads the messages, as in `Mo-Fr 08:00-18:00` (empty: always)"
    )
    through: Severity = Field(default=Severity.CRITICAL, description="lowest severity that the route sends at any hour")
    escalate: Number = Field(
        default=0, ge=0, le=1440, description="minutes until an unacknowledged alarm goes to `escalate_to` (0: never)"
    )
    escalate_to: str = Field(default="", description="target for unacknowledged alarms")
    resolved: bool = Field(default=True, description="also send a message when an alarm clears")
    levels: tuple[LevelSettings, ...] = Field(
        default=(), description="further targets of unacknowledged alarms, instead of `escalate_to`"
    )
    repeat: Number = Field(
        default=240,
        ge=0,
        le=1440,
        description="minutes until an unacknowledged critical alarm is sent again (0: never)",
    )
    group_by: Literal["incident", "event", "project", "kind", "none"] = Field(
        default="incident", description="alarms that share a message"
    )
    group_wait: Number = Field(default=5, ge=0, le=60, description="seconds from a group's first alarm to its message")
    group_interval: Number = Field(
        default=60,
        ge=0,
        le=3600,
        description="minimum seconds from a group's message to the next one about its warnings",
    )

    @property
    def called(self) -> str:
        """Name of the route; by default the name of its target."""
        return self.name or self.to

    def route(self) -> Route:
        """Return the route, converted for the notifier."""
        return Route(
            self.called,
            self.to,
            self.severity,
            self.events,
            self.projects,
            self.kinds,
            Hours.parse(self.hours),
            self.through,
            self.escalate,
            self.escalate_to,
            self.resolved,
            tuple(Level(level.after, level.to, level.repeat) for level in self.levels),
            self.repeat,
            self.group_by,
            timedelta(seconds=self.group_wait),
            timedelta(seconds=self.group_interval),
        )


def _check_weekly(text: str) -> str:
    if not Hours.parse(text).spans:
        raise ValueError("should be hours such as Mo-Fr 03:00-04:00")
    return text


def _check_matcher(text: str) -> str:
    Matcher.parse(text)
    return text


class MaintenanceSettings(BaseModel):
    """Hours of the week when some alarms neither ring nor notify anybody (monitoring.md, "Silences")."""

    model_config = _STRICT

    name: str = Field(pattern=r"^[^/@\s][^/@]{0,63}$", description="name of the window; no / and no @")
    hours: Annotated[str, AfterValidator(_check_weekly)] = Field(description="hours, as in `Mo-Fr 03:00-04:00`")
    timezone: Annotated[str, AfterValidator(_check_zone)] = Field(
        default="UTC", description="time zone of the hours, as in `Europe/Berlin`"
    )
    match: tuple[Annotated[str, AfterValidator(_check_matcher)], ...] = Field(
        default=(), description="conditions that an alarm must meet, as in `name ~ Studio *` or `kind = NO_INGEST`"
    )
    everything: bool = Field(default=False, description="set if the conditions are meant to match everything")
    passes: Severity | None = Field(default=None, description="lowest severity that still rings and notifies")
    comment: str = Field(min_length=1, max_length=200, description="reason, shown with the alarms")

    @model_validator(mode="after")
    def _matches_something(self) -> Self:
        matchers = self.window().matchers
        if not self.everything and all(matcher.takes_everything for matcher in matchers):
            raise ValueError("match: matches everything; add a condition, or set everything = true")
        return self

    def window(self) -> MaintenanceWindow:
        """Return the maintenance window, converted for the monitor."""
        matchers = tuple(map(Matcher.parse, self.match))
        return MaintenanceWindow(self.name, Hours.parse(self.hours), self.timezone, matchers, self.comment, self.passes)


def _check_entry(text: str) -> str:
    read_entry(text)
    return text


class NotifySettings(BaseModel):
    """Notifications of the collector (notifications.md)."""

    model_config = _STRICT

    targets: dict[str, TargetSettings] = Field(default={}, description="targets of messages, by name")
    routes: tuple[RouteSettings, ...] = Field(default=(), description="routes from alarms to targets")
    timezone: Annotated[str, AfterValidator(_check_zone)] = Field(
        default="UTC", description="time zone of hours and times, as in `Europe/Berlin`"
    )
    link_template: str = Field(
        default="",
        pattern=r"^$|^https?://",
        description="address of your own page about an event, with `{event_id}` in it",
    )
    heartbeat_command: SecretCommand = Field(
        default=(), description="program that prints the address of the heartbeat, called each minute while all is well"
    )
    heartbeat_file: SecretFile = Field(
        default=None, description="file that holds the address of the heartbeat (alternative to the command)"
    )
    allow_private: tuple[Annotated[str, AfterValidator(_check_entry)], ...] = Field(
        default=(), description="your private hosts, addresses and networks that may receive messages"
    )

    @model_validator(mode="after")
    def _routes_lead_somewhere(self) -> Self:
        """Check that the targets of routes exist and that names of routes are unique.

        Each message begins with the key of the fault, to find its line.
        """
        names: list[str] = []
        for index, route in enumerate(self.routes):
            targets = {"to": route.to, "escalate_to": route.escalate_to}
            targets |= {f"levels.{number}.to": level.to for number, level in enumerate(route.levels)}
            for field, target in targets.items():
                if target and target not in self.targets:
                    targets_set = ", ".join(self.targets) or "none yet"
                    raise ValueError(f"routes.{index}.{field}: no such target {target!r}; known: {targets_set}")
                if target and not route.resolved and TARGETS[self.targets[target].kind].needs_end:
                    raise ValueError(f"routes.{index}.resolved: {target} needs the end of each alarm; remove this line")
            if bool(route.escalate) != bool(route.escalate_to):
                raise ValueError(f"routes.{index}.escalate: set both, escalate and escalate_to")
            if route.levels and route.escalate:
                raise ValueError(f"routes.{index}.levels: set either levels or escalate")
            minutes, names_of_levels = [level.after for level in route.levels], [level.to for level in route.levels]
            if minutes != sorted(set(minutes)) or len({*names_of_levels}) < len(minutes):
                raise ValueError(
                    f"routes.{index}.levels: each level should be later than the one before and have its own target; "
                    "`repeat` sends to a target again"
                )
            if route.called in names:
                raise ValueError(f"routes.{index}.name: two routes are called {route.called!r}; rename one")
            names.append(route.called)
        return self


def _check_listen(text: str) -> str:
    if text:
        host_and_port(text)
    return text


def host_and_port(text: str) -> tuple[str, int]:
    """Return host and port of `127.0.0.1:8710` or `[::1]:8710`. Raises ValueError."""
    host, _, port = text.rpartition(":")
    host = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    if not host or not (port.isascii() and port.isdecimal()) or int(port) > 65535 or (":" in host) != ("[" in text):
        raise ValueError("should be an address and a port, as in `127.0.0.1:8710` or `[::1]:8710`")
    return host, int(port)


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _check_token_name(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}", name):
        raise ValueError("should be a name of letters, digits and . _ @ -, 64 at most")
    return name


TokenName = Annotated[str, AfterValidator(_check_token_name)]
"""Name of the holder of a token, as in histories and on screens."""

May = Literal["read", "act", "metrics", "respond"]
"""Right of a token; `act` includes `read` and `respond`, and `read` includes `metrics`."""


class CollectorTokenSettings(BaseModel):
    """Token for the collector: digest, right and expiry."""

    model_config = _STRICT

    sha256: str = Field(
        pattern=r"^[0-9a-f]{64}$", description="digest of the token, from `livedeck collector token create`"
    )
    may: May = Field(default="read", description="right of the token")
    expires: AwareDatetime | None = Field(
        default=None, description="time from which the token is refused (empty: never)"
    )
    previous_sha256: str = Field(
        default="",
        pattern=r"^([0-9a-f]{64})?$",
        description="digest of the token before the last `livedeck collector token rotate`",
    )
    previous_until: AwareDatetime | None = Field(
        default=None, description="time from which the previous token is refused"
    )

    @model_validator(mode="after")
    def _previous_token_ends(self) -> Self:
        if bool(self.previous_sha256) != bool(self.previous_until):
            raise ValueError("set both, previous_sha256 and previous_until, or neither")
        return self


def _check_link_url(address: str) -> str:
    parts = urlsplit(address)
    is_safe = parts.scheme == "https" or (parts.scheme == "http" and _is_loopback(parts.hostname or ""))
    if address and not (
        is_safe and parts.netloc and "@" not in parts.netloc and not parts.query and not parts.fragment
    ):
        raise ValueError("should be an https address, or http to loopback, such as https://collector.example")
    return address.rstrip("/")


class CollectorSettings(BaseModel):
    """Address and tokens of the collector (collector.md)."""

    model_config = _STRICT

    listen: Annotated[str, AfterValidator(_check_listen)] = Field(
        default="127.0.0.1:8710",
        description="address and port; beyond loopback only with `behind_proxy` (empty: no server)",
    )
    behind_proxy: bool = Field(
        default=False,
        description="your proxy in front of the collector speaks TLS, and only the proxy can reach the collector",
    )
    allowed_hosts: tuple[str, ...] = Field(default=(), description="host names of the proxy")
    link_url: Annotated[str, AfterValidator(_check_link_url)] = Field(
        default="",
        description="address at which people reach this collector, for acknowledgement links and the calendar; "
        "https, or http to loopback (empty: neither)",
    )
    pagerduty_secret_command: SecretCommand = Field(
        default=(), description="program that prints the secret of PagerDuty's webhook (`collector.md`)"
    )
    pagerduty_secret_file: SecretFile = Field(
        default=None, description="file that holds the secret of PagerDuty's webhook (alternative to the command)"
    )
    tokens: dict[TokenName, CollectorTokenSettings] = Field(default={}, description="tokens by name of their holder")

    @model_validator(mode="after")
    def _one_secret(self) -> Self:
        if self.pagerduty_secret_command and self.pagerduty_secret_file:
            raise ValueError("should have one of pagerduty_secret_command, pagerduty_secret_file")
        return self

    @model_validator(mode="after")
    def _is_out_of_reach(self) -> Self:
        if self.listen and not self.behind_proxy and not _is_loopback(host_and_port(self.listen)[0]):
            raise ValueError(
                "listen: beyond loopback only with `behind_proxy = true`, because the collector speaks no TLS"
            )
        return self

    def address(self) -> tuple[str, int] | None:
        """Return host and port to listen at; None if `listen` is off."""
        return host_and_port(self.listen) if self.listen else None


class SharingSettings(BaseModel):
    """Access to the collector. Changes take effect without a restart."""

    model_config = _STRICT

    collector: CollectorSettings = Field(
        default=CollectorSettings.model_construct(), description="address and tokens of the collector (`collector.md`)"
    )


class ProbeSettings(BaseModel):
    """Probe of the playlists that viewers get (probe.md)."""

    model_config = _STRICT

    enabled: bool = Field(
        default=False, description="probe playlists; `livedeck probe --enable` shows the traffic first"
    )
    playlist: Annotated[str, AfterValidator(partial(_check_playlist, is_template=True))] = Field(
        default="", description="address of every event's HLS playlist, with `{event_id}` or `{stream_id}` in its path"
    )
    use_play_link: bool = Field(
        default=False, description="use the viewing URL of events that have no other address; it may lead to a page"
    )
    playlists_file: SecretFile = Field(
        default=None,
        description="JSON file of event id -> address, for signed addresses; refused if others can read it",
    )
    interval: Number = Field(default=10, ge=4, le=300, description="seconds between two rounds of an event")
    budget_kbit: Number = Field(
        default=2000, ge=50, le=1_000_000, description="maximum kbit/s of all events; above it, rounds become rarer"
    )
    pictures: bool = Field(default=True, description="judge picture and sound; needs `pip install '.[media]'`")
    cmcd: bool = Field(
        default=False, description="send a CMCD-Session header (CTA-5004), so that a CDN can exclude the probe"
    )


class TallyTargetSettings(BaseModel):
    """Receiver of tally messages (tally.md)."""

    model_config = _STRICT

    address: str = Field(description="host and port, as in `10.0.8.20:8900`")
    version: Literal["3.1", "5.0"] = Field(default="5.0", description="version of TSL UMD")
    transport: Literal["udp", "tcp"] = Field(default="udp", description="`tcp` only with 5.0")
    screen: Count = Field(default=0, ge=0, le=0xFFFE, description="number of the screen, for 5.0")
    displays: dict[str, Count] = Field(
        default={}, description="number of the display of each event, as event id = number"
    )

    @field_validator("address")
    @classmethod
    def _check_address(cls, text: str) -> str:
        host, port = host_and_port(text)
        if not port or not text.isprintable() or any(char in host for char in " /@"):
            raise ValueError("should be a host and a port, as in `10.0.8.20:8900`")
        return text

    @model_validator(mode="after")
    def _displays_exist(self) -> Self:
        if self.transport == "tcp" and self.version == "3.1":
            raise ValueError("transport: tcp only with version 5.0")
        highest, numbers = (126 if self.version == "3.1" else 0xFFFE), [*self.displays.values()]
        if any(not 0 <= number <= highest for number in numbers):
            raise ValueError(f"displays: numbers of {self.version} are 0 to {highest}")
        if len({*numbers}) < len(numbers):
            raise ValueError("displays: two events have the same display")
        return self


class TallySettings(BaseModel):
    """Tally of the collector for multiviewers and switchers (tally.md)."""

    model_config = _STRICT

    targets: dict[str, TallyTargetSettings] = Field(default={}, description="receivers of tally messages, by name")


def _check_header(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9-]{1,64}", name):
        raise ValueError("should be the name of a header, as in `Authorization` or `api-key`")
    return name


class OtlpSettings(BaseModel):
    """Push of the collector's metrics by OTLP (scripting.md, "OpenTelemetry")."""

    model_config = _STRICT

    endpoint: Annotated[str, AfterValidator(_check_link_url)] = Field(
        default="",
        description="address of an OTLP receiver over HTTP; https, or http to loopback; without a path, `/v1/metrics` "
        "is added (empty: no push)",
    )
    token_file: SecretFile = Field(default=None, description="file that holds the receiver's token")
    token_command: SecretCommand = Field(
        default=(), description="program that prints the receiver's token (alternative to the file)"
    )
    header: Annotated[str, AfterValidator(_check_header)] = Field(
        default="Authorization", description="header of the token; `Authorization` sends it as `Bearer TOKEN`"
    )
    interval: Number = Field(default=30, ge=5, le=600, description="seconds between two pushes")

    @model_validator(mode="after")
    def _one_token(self) -> Self:
        if self.token_file and self.token_command:
            raise ValueError("should have one of token_file, token_command")
        return self

    @property
    def address(self) -> str:
        """Address that requests go to; empty without an endpoint."""
        return f"{self.endpoint}/v1/metrics" if self.endpoint and not urlsplit(self.endpoint).path else self.endpoint


class EngineSettings(BaseModel):
    """Settings for several collectors of a workspace (engine.md)."""

    model_config = _STRICT

    redis_url_command: SecretCommand = Field(
        default=(), description="program that prints the address of the Redis that the collectors share"
    )
    redis_url_file: SecretFile = Field(
        default=None, description="file that holds the address of Redis (alternative to `redis_url_command`)"
    )
    name: str = Field(
        default="",
        pattern=r"^[A-Za-z0-9._-]{0,64}$",
        description="name of this collector (empty: the name of its machine)",
    )
    ttl: Number = Field(
        default=15,
        ge=5,
        le=60,
        description="a collector counts as dead if it renews no lease for nine tenths of these seconds",
    )

    @model_validator(mode="after")
    def _one_address(self) -> Self:
        if self.redis_url_command and self.redis_url_file:
            raise ValueError("should have one of redis_url_command, redis_url_file")
        return self


class PlatformSettings(BaseModel):
    """Settings of a profile: the platform, its token, and the connection to it."""

    model_config = _STRICT

    base_url: str = Field(default="", description="address of the platform's API; https, or http to loopback")
    upload_url: str = Field(default="", description="address of the upload endpoints, if they have their own")
    token_file: Annotated[Path | None, BeforeValidator(_none_if_empty)] = Field(
        default=None, description="file that holds the token; refused if others can read it"
    )
    token_command: Annotated[tuple[str, ...], BeforeValidator(_refuse_shell_line)] = Field(
        default=(),
        description='program and arguments that print the token, as in `["pass", "show", "livedeck"]`; no shell, 15 s',
    )
    token_keyring: str = Field(
        default="",
        pattern=r"^$|^[^/]+/.+$",
        description="`SERVICE/USER` of this machine's keyring; needs `pip install '.[keyring]'` in the checkout",
    )
    read_only: bool = Field(default=False, description="send only GET and HEAD")
    follow_clock: bool = Field(
        default=False, description="follow the clock of the simulator at this address (`simulator.md`)"
    )
    meet_segment: str = Field(default="meet", description="path segment of the meeting product")
    platforms: dict[str, str] = Field(
        default={}, description="relay platforms, as domain = value of `service`; they win over the built-in table"
    )
    users: dict[str, str] = Field(
        default={}, description="names of users, as id = name, because the platform names none"
    )
    folders: dict[str, str] = Field(
        default={}, description="names of projects and folders, as id = name, because the platform names none"
    )
    bitrate_unit: Literal["auto", "bit", "kbit"] = Field(
        default="auto", description="unit of the platform's bit rates, per second; `auto` learns it from their values"
    )
    timeout: Number = Field(
        default=4.0,
        gt=0,
        le=60,
        description="maximum seconds to connect and of each silence; a request without a file takes at most twice that",
    )
    proxy: str = Field(default="", description="proxy for https, as in `http://proxy.example:3128`")
    ca_file: Annotated[Path | None, BeforeValidator(_none_if_empty)] = Field(
        default=None, description="PEM file of more trusted certificates, besides the public authorities"
    )
    client_cert: Annotated[Path | None, BeforeValidator(_none_if_empty)] = Field(
        default=None, description="PEM file of a client certificate and its key"
    )
    use_environment: bool = Field(
        default=False,
        description="if not set here, use HTTPS_PROXY, ALL_PROXY, NO_PROXY, SSL_CERT_FILE and SSL_CERT_DIR",
    )
    collector_url: str | tuple[str, ...] = Field(
        default="",
        description="collector to attach to, or a list of equivalent ones; https, or http to loopback "
        "(empty: this deck polls the platform itself)",
    )
    collector_token_file: SecretFile = Field(
        default=None, description="file that holds the token for the collector; refused if others can read it"
    )
    collector_token_command: SecretCommand = Field(
        default=(), description="program and arguments that print the token for the collector; no shell, 15 s"
    )
    collector_token_keyring: str = Field(
        default="",
        pattern=r"^$|^[^/]+/.+$",
        description="`SERVICE/USER` of the token for the collector in this machine's keyring",
    )
    collector_fallback: Literal["show", "poll"] = Field(
        default="show",
        description="after a minute without the collector: `show` the last state, or `poll` the platform",
    )


class ViewSettings(BaseModel):
    """Named arrangement of the Events table (interface.md, "Views and pins")."""

    model_config = _STRICT

    filter: str = Field(default="", max_length=500, description="rows to show, in the words of the filter `/`")
    sort: str = Field(default="", description="column that sorts the rows; `-` before it: descending")
    columns: tuple[str, ...] = Field(default=(), description="columns to show; empty: all")
    group: Literal["", "project"] = Field(default="", description="rows under a head for each project or folder")


ViewName = Annotated[str, Field(min_length=1, max_length=24, pattern=r"^[\w-]([\w -]*[\w-])?$")]
"""Name of a view: letters, digits, `-`, `_` and blanks."""


class DisplaySettings(BaseModel):
    """Look and keys of the deck on every platform; `livedeck demo` uses only these."""

    model_config = _STRICT

    theme: Literal["auto", Theme] = Field(
        default="auto", description="colours of the deck; `auto`: best for the terminal"
    )
    ascii: bool = Field(default=False, description="use only ASCII characters")
    graphics: Literal["auto", "blocks", "kitty", "iterm2", "sixel"] = Field(
        default="auto",
        description="drawing of posters; `auto`: as the variables of the terminal say, or else half blocks",
    )
    bell: bool = Field(default=True, description="ring the bell of the terminal for a new alarm")
    notification: Literal["osc9", "osc99", "osc777", "off"] = Field(
        default="osc9", description="sequence for a desktop notification of a new alarm, if the terminal supports it"
    )
    window_title: bool = Field(default=True, description="show the most urgent alarm in the title of the window")
    keys: Annotated[dict[str, tuple[str, ...]], BeforeValidator(_flatten_keys)] = Field(
        default={}, description="keys of actions, as action = key or list of keys (`livedeck config keys`)"
    )
    views: dict[ViewName, ViewSettings] = Field(
        default={},
        description="arrangements of the Events table by name (`:view NAME`): `filter`, `sort`, `columns`, `group`",
    )


class LimitSettings(BaseModel):
    """Limits of the alarms on every platform; changes take effect without a restart."""

    model_config = _STRICT

    thresholds: ThresholdTable = Field(default={}, description="limits of the alarms by name (`monitoring.md`)")
    events: dict[str, EventSettings] = Field(
        default={}, description="content and limits of one event by its id; they win over `[[limits]]`"
    )
    limits: tuple[LimitTemplateSettings, ...] = Field(
        default=(),
        description="content and limits of events by name or project; they win over `[thresholds]`, "
        "and later entries over earlier ones",
    )

    def limits_in_force(self) -> Limits:
        """Return the limits of `[thresholds]`, `[[limits]]` and `[events]`, converted for the monitor."""
        own = {event_id: event.overrides for event_id, event in self.events.items() if event.overrides}
        base = with_overrides(Thresholds(), self.thresholds)
        return Limits(base, tuple(table.template for table in self.limits), own)


class Settings(SharingSettings, LimitSettings, DisplaySettings, PlatformSettings):
    """Settings of a profile. The TOML file uses these names; an environment variable is called `LIVEDECK_<NAME>`.

    The token itself comes only from the environment (trust.md, "Secrets"). It never comes from a flag, because every
    process of the machine can see flags.
    """

    token: SecretStr | None = Field(default=None, description="token of the workspace; only in the environment")
    profile: str = Field(default="default", min_length=1, description="profile in force, by its name in `[profiles]`")
    profiles: dict[str, PlatformSettings] = Field(
        default={}, description="more platforms by name, each with its address, token source and connection settings"
    )
    history: Annotated[str, AfterValidator(_check_history)] = Field(
        default="",
        description="file for samples, alarms, markers and actions (`off`: none, and the deck shows no stream key; "
        "empty: a file for each platform in your data folder)",
    )
    retention_days: Number = Field(default=30, ge=1, le=3650, description="days that the history keeps")
    uptime_target: Number = Field(
        default=99.9,
        ge=0,
        le=100,
        description="percent of the time on air that should be good; the rest is the error budget",
    )
    cadence: CadenceSettings = Field(
        default=CadenceSettings.model_construct(),
        description="seconds between polls, and limits on the number of polls",
    )
    maintenance: tuple[MaintenanceSettings, ...] = Field(
        default=(), description='weekly hours when some alarms neither ring nor notify (`monitoring.md`, "Silences")'
    )
    notify: NotifySettings = Field(
        default=NotifySettings.model_construct(), description="notifications of alarms (`notifications.md`)"
    )
    probe: ProbeSettings = Field(
        default=ProbeSettings.model_construct(), description="probe of the playlists that viewers get (`probe.md`)"
    )
    tally: TallySettings = Field(
        default=TallySettings.model_construct(), description="tally for multiviewers and switchers (`tally.md`)"
    )
    otlp: OtlpSettings = Field(
        default=OtlpSettings.model_construct(),
        description="push of the collector's metrics to OpenTelemetry (`scripting.md`)",
    )
    engine: EngineSettings = Field(
        default=EngineSettings.model_construct(), description="Redis of several collectors of a workspace (`engine.md`)"
    )

    _withheld_token_reason: str = PrivateAttr("")

    @model_validator(mode="after")
    def _one_token_source(self) -> Self:
        for sources in (self.token_sources, self.collector_token_sources):
            if len(sources) > 1:
                raise ValueError(f"{' and '.join(sources)}: set only one source of the token")
        return self

    @model_validator(mode="after")
    def _unique_windows(self) -> Self:
        names = [window.name for window in self.maintenance]
        if twice := next((name for name in names if names.count(name) > 1), ""):
            raise ValueError(f"maintenance: two windows are called {twice!r}; rename one")
        return self

    @property
    def token_sources(self) -> tuple[str, ...]:
        """Name of the setting that gives the token; empty or one element."""
        return tuple(name for name in TOKEN_SOURCES if getattr(self, name))

    @property
    def collector_urls(self) -> tuple[str, ...]:
        """Addresses of equivalent collectors; empty if this deck polls the platform itself."""
        return tuple(self.collector_url.split()) if isinstance(self.collector_url, str) else self.collector_url

    @property
    def collector_token_sources(self) -> tuple[str, ...]:
        """Name of the setting that gives the collector's token; empty or one element."""
        return tuple(name for name in COLLECTOR_TOKEN_SOURCES if getattr(self, name))

    @property
    def withheld_token_reason(self) -> str:
        """Reason why the configured token is not used, such as that it belongs to another platform; otherwise empty."""
        return self._withheld_token_reason

    def withholding_token(self, reason: str) -> Self:
        """Record the reason why the token is not used, and return these settings."""
        self._withheld_token_reason = reason
        return self

    @property
    def rate_unit(self) -> BitrateUnit | None:
        """Unit of the platform's bit rates; None to learn it."""
        return None if self.bitrate_unit == "auto" else BitrateUnit(self.bitrate_unit)

    def history_file(self) -> Path | None:
        """Return the path of the history file; None if the history is off or in memory.

        A rehearsal is never recorded in the history of shows: with `follow_clock` the file has the name
        `REHEARSAL_HISTORY`, or the history is in memory.
        """
        if self.history in {OFF, IN_MEMORY}:
            return None
        if self.follow_clock and Path(self.history).name != REHEARSAL_HISTORY:
            return None
        return expand_user(self.history) if self.history else history_path(self.profile, self.base_url)

    def maintenance_windows(self) -> tuple[MaintenanceWindow, ...]:
        """Return the maintenance windows, converted for the monitor."""
        return tuple(window.window() for window in self.maintenance)

    def polling_cadence(self) -> Cadence:
        """Return the cadence of polls, converted for the monitor."""
        return replace(_CADENCE, **self.cadence.model_dump())

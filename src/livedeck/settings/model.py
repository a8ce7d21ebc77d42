"""Everything that can be set, with its unit and what is allowed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    SecretStr,
    model_validator,
)
from pydantic.fields import FieldInfo

from livedeck.egress import read_entry
from livedeck.environment import expand_user, history_path
from livedeck.monitor import Cadence, Limits, Severity, Thresholds, with_overrides

if TYPE_CHECKING:
    from livedeck.notify import Route

TOKEN_SOURCES = ("token", "token_file", "token_command", "token_keyring")
"""Where a token may come from (trust.md, "Secrets"). One is used: the one that the strongest origin names."""

COLLECTOR_TOKEN_SOURCES = ("collector_token_file", "collector_token_command", "collector_token_keyring")
"""Where the token for a collector may come from: as `TOKEN_SOURCES`, but that none is given in clear."""

OFF, IN_MEMORY = "off", ":memory:"

HISTORY_WORDS = frozenset({"", OFF, IN_MEMORY})
"""What `history` may be besides a path. Empty: a file of the platform's own."""

_STRICT = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)
_CADENCE = Cadence()


def _check_limits(limits: dict[str, Any]) -> dict[str, Any]:
    with_overrides(Thresholds(), limits)
    return limits


ThresholdTable = Annotated[dict[str, Any], AfterValidator(_check_limits)]
"""Names of `Thresholds` = another value, in that name's unit; a hold or share is a table, given in part."""


def _none_if_empty(value: object) -> object:
    return None if value == "" else value  # an empty path would be the folder itself


def _check_history(value: str) -> str:
    if value in HISTORY_WORDS or expand_user(value).is_absolute():
        return value
    raise ValueError("should be an absolute path, or `off`")


def _refuse_yes_or_no(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError("should be a valid number, not true or false")  # noqa: TRY004  pydantic takes no TypeError
    return value


Number = Annotated[float, BeforeValidator(_refuse_yes_or_no)]
"""A number; yes and no are none."""

Count = Annotated[int, BeforeValidator(_refuse_yes_or_no)]
"""The same without a fraction."""


def _refuse_shell_line(value: object) -> object:
    if isinstance(value, str):
        raise ValueError(  # noqa: TRY004  pydantic takes no TypeError
            'should be a list, the program first: ["pass", "show", "livedeck"]; no shell reads it'
        )
    return value


def _flatten_keys(value: object) -> object:
    """TOML makes tables of `event.complete = "X"`: back to the names of actions, each with a list of keys."""
    return dict(_flat_items(value)) if isinstance(value, dict) else value


def _flat_items(table: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    for name, keys in table.items():
        if isinstance(keys, dict):
            yield from _flat_items(keys, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", (keys,) if isinstance(keys, str) else keys


def is_structured(field: FieldInfo) -> bool:
    """Whether a setting is a table or a list: a variable of the environment gives it as JSON."""
    return isinstance(field.default, dict | tuple | BaseModel)


class CadenceSettings(BaseModel):
    """How often the platform is asked (monitoring.md, "Cadence")."""

    model_config = _STRICT

    events: Number = Field(default=_CADENCE.events, ge=1, le=300, description="seconds between two event lists")
    events_near: Number = Field(
        default=_CADENCE.events_near, ge=1, le=300, description="... from T-10 to T+5 min of a start, s"
    )
    qos: Number = Field(
        default=_CADENCE.qos, ge=1, le=60, description="seconds between two asks for an event's samples"
    )
    qos_focus: Number = Field(
        default=_CADENCE.qos_focus, ge=0.5, le=60, description="... of the event that is looked at, s"
    )
    qos_early: Number = Field(
        default=_CADENCE.qos_early, ge=5, le=3600, description="... of an event whose start is far, s"
    )
    budget: Number = Field(
        default=_CADENCE.budget, ge=1, le=1000, description="requests a second of all polling together"
    )
    at_once: Annotated[int, BeforeValidator(_refuse_yes_or_no)] = Field(
        default=_CADENCE.at_once, ge=1, le=64, description="requests in flight at most"
    )


class EventSettings(BaseModel):
    """What holds for one event. It is named by its id: names change, and two events may share one."""

    model_config = _STRICT

    thresholds: ThresholdTable = Field(default={}, description="limits of this event, over those of [thresholds]")


def _check_absolute(path: Path | None) -> Path | None:
    if path is None or expand_user(str(path)).is_absolute():
        return path
    raise ValueError("should be an absolute path")


SecretFile = Annotated[Path | None, BeforeValidator(_none_if_empty), AfterValidator(_check_absolute)]
"""A file that holds a secret; refused when others can read it."""

SecretCommand = Annotated[tuple[str, ...], BeforeValidator(_refuse_shell_line)]
"""A program and its arguments that print a secret; no shell, 15 s."""


class TargetSettings(BaseModel):
    """A receiver of messages. Its address is a secret: whoever has it can write there."""

    model_config = _STRICT

    webhook_command: SecretCommand = Field(default=(), description="program that prints the address of a webhook")
    webhook_file: SecretFile = Field(default=None, description="or a file that holds it")
    secret_command: SecretCommand = Field(default=(), description="program that prints what the webhook is signed with")
    secret_file: SecretFile = Field(default=None, description="or a file that holds it")
    apprise_command: SecretCommand = Field(default=(), description="program that prints an address of apprise")
    apprise_file: SecretFile = Field(default=None, description="or a file that holds it")

    @model_validator(mode="after")
    def _one_address(self) -> Self:
        sources = [name for name in ADDRESS_SOURCES if getattr(self, name)]
        if len(sources) != 1:
            raise ValueError(f"should have one of {', '.join(ADDRESS_SOURCES)}")
        return self


ADDRESS_SOURCES = ("webhook_command", "webhook_file", "apprise_command", "apprise_file")


def _check_hours(text: str) -> str:
    from livedeck.notify import Hours  # only where somebody is to be told: a deck starts without that room

    Hours.parse(text)
    return text


def _check_zone(name: str) -> str:
    from zoneinfo import ZoneInfo

    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise ValueError("this machine knows no such time zone; write Europe/Berlin, or UTC") from None
    return name


class RouteSettings(BaseModel):
    """Who is told of what (notifications.md, "Routes")."""

    model_config = _STRICT

    to: str = Field(min_length=1, description="target that its messages go to")
    name: str = Field(default="", description="what the route is called; empty: as its target")
    severity: Severity = Field(default=Severity.WARNING, description="this and worse")
    events: tuple[str, ...] = Field(default=("*",), description="shell patterns over id and name of the event")
    projects: tuple[str, ...] = Field(
        default=("*",), description="shell patterns over the id of the project that the event is in"
    )
    kinds: tuple[str, ...] = Field(default=("*",), description="shell patterns over the kind of the alarm")
    hours: Annotated[str, AfterValidator(_check_hours)] = Field(
        default="", description="when it is read, as in `Mo-Fr 08:00-18:00`; empty: always"
    )
    through: Severity = Field(default=Severity.CRITICAL, description="this and worse goes out at every hour")
    escalate: Number = Field(default=0, ge=0, le=1440, description="minutes until `escalate_to` is told; 0: never")
    escalate_to: str = Field(default="", description="target that is told what nobody has acknowledged")
    resolved: bool = Field(default=True, description="tell the end, too")

    @property
    def called(self) -> str:
        """The name of the route."""
        return self.name or self.to

    def route(self) -> Route:
        """The same as the notifier takes it."""
        from livedeck.notify import Hours, Route

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
        )


def _check_entry(text: str) -> str:
    read_entry(text)
    return text


class NotifySettings(BaseModel):
    """Who is told by `livedeck collector run` (notifications.md)."""

    model_config = _STRICT

    targets: dict[str, TargetSettings] = Field(default={}, description="receivers of messages, by name")
    routes: tuple[RouteSettings, ...] = Field(default=(), description="who is told of what")
    timezone: Annotated[str, AfterValidator(_check_zone)] = Field(
        default="UTC", description="in which hours are meant and times are told, as in `Europe/Berlin`"
    )
    link_template: str = Field(
        default="", pattern=r"^$|^https?://", description="address of a page of yours, with `{event_id}` in it"
    )
    heartbeat_command: SecretCommand = Field(
        default=(), description="program that prints the address that is called each minute while all is well"
    )
    heartbeat_file: SecretFile = Field(default=None, description="or a file that holds it")
    allow_private: tuple[Annotated[str, AfterValidator(_check_entry)], ...] = Field(
        default=(), description="hosts, addresses and networks of yours that are not public and may be sent to"
    )

    @model_validator(mode="after")
    def _routes_lead_somewhere(self) -> Self:
        """What is wrong begins with its place, by which its line is found."""
        names: list[str] = []
        for index, route in enumerate(self.routes):
            for field in ("to", "escalate_to"):
                target = getattr(route, field)
                if target and target not in self.targets:
                    known = ", ".join(self.targets) or "none is there yet"
                    raise ValueError(f"routes.{index}.{field}: no such target {target!r}; known: {known}")
            if bool(route.escalate) != bool(route.escalate_to):
                raise ValueError(f"routes.{index}.escalate: it needs minutes and escalate_to, both")
            if route.called in names:
                raise ValueError(f"routes.{index}.name: two routes are called {route.called!r}; name one otherwise")
            names.append(route.called)
        return self


def _check_listen(text: str) -> str:
    if text:
        host_and_port(text)
    return text


def host_and_port(text: str) -> tuple[str, int]:
    """The two of `127.0.0.1:8710` or `[::1]:8710`. Raises ValueError."""
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
"""Who acts with a token: it stands in histories and on screens."""

May = Literal["read", "act", "metrics"]
"""What a token may; acting includes reading, and reading the metrics."""


class CollectTokenSettings(BaseModel):
    """A token that the collector knows, by its digest."""

    model_config = _STRICT

    sha256: str = Field(pattern=r"^[0-9a-f]{64}$", description="of the token, by `livedeck collector token create`")
    may: May = Field(default="read", description="what it may")
    expires: AwareDatetime | None = Field(default=None, description="when it is refused from; empty: never")
    previous_sha256: str = Field(
        default="",
        pattern=r"^([0-9a-f]{64})?$",
        description="of the token before the last `livedeck collector token rotate`",
    )
    previous_until: AwareDatetime | None = Field(default=None, description="when that one is refused from")

    @model_validator(mode="after")
    def _previous_token_ends(self) -> Self:
        if bool(self.previous_sha256) != bool(self.previous_until):
            raise ValueError("previous_sha256 and previous_until go together: name both, or neither")
        return self


class CollectSettings(BaseModel):
    """To whom `livedeck collector run` serves what it knows (collector.md)."""

    model_config = _STRICT

    listen: Annotated[str, AfterValidator(_check_listen)] = Field(
        default="127.0.0.1:8710",
        description="address and port; beyond loopback only with `behind_proxy`; empty: nothing is served",
    )
    behind_proxy: bool = Field(default=False, description="a proxy of ours speaks TLS before it, and alone reaches it")
    allowed_hosts: tuple[str, ...] = Field(default=(), description="names under which the proxy is asked")
    tokens: dict[TokenName, CollectTokenSettings] = Field(default={}, description="who may ask, by name")

    @model_validator(mode="after")
    def _is_out_of_reach(self) -> Self:
        if self.listen and not self.behind_proxy and not _is_loopback(host_and_port(self.listen)[0]):
            raise ValueError("listen: beyond loopback only with `behind_proxy = true`: it speaks no TLS")
        return self

    def address(self) -> tuple[str, int] | None:
        """Where it listens; None where nothing is served."""
        return host_and_port(self.listen) if self.listen else None


class SharingSettings(BaseModel):
    """Who may ask the collector: what holds as soon as it is written."""

    model_config = _STRICT

    collect: CollectSettings = Field(
        default=CollectSettings(), description="to whom `livedeck collector run` serves what it knows (`collector.md`)"
    )


class EngineSettings(BaseModel):
    """Several collectors of one workspace (engine.md)."""

    model_config = _STRICT

    redis_url_command: SecretCommand = Field(
        default=(), description="program that prints the address of the Redis that the collectors share"
    )
    redis_url_file: SecretFile = Field(default=None, description="or a file that holds it")
    name: str = Field(
        default="", pattern=r"^[A-Za-z0-9._-]{0,64}$", description="of this collector; empty: that of its machine"
    )
    ttl: Number = Field(
        default=15, ge=5, le=60, description="seconds after which others take over what a dead collector held"
    )

    @model_validator(mode="after")
    def _one_address(self) -> Self:
        if self.redis_url_command and self.redis_url_file:
            raise ValueError("should have one of redis_url_command, redis_url_file")
        return self


class PlatformSettings(BaseModel):
    """What a named profile may set: the platform, the token for it, and how it is spoken to."""

    model_config = _STRICT

    base_url: str = Field(default="", description="address of the platform's API; https, or http to loopback")
    upload_url: str = Field(default="", description="address of its upload endpoints, where it is another")
    token_file: Annotated[Path | None, BeforeValidator(_none_if_empty)] = Field(
        default=None, description="file that holds the token; refused when others can read it"
    )
    token_command: Annotated[tuple[str, ...], BeforeValidator(_refuse_shell_line)] = Field(
        default=(),
        description='program and arguments that print the token, as in `["pass", "show", "livedeck"]`; no shell, 15 s',
    )
    token_keyring: str = Field(
        default="",
        pattern=r"^$|^[^/]+/.+$",
        description="`SERVICE/USER` of this machine's keyring; needs `pip install 'livedeck[keyring]'`",
    )
    read_only: bool = Field(default=False, description="nothing but GET and HEAD leaves the deck")
    meet_segment: str = Field(default="meet", description="path segment of the meeting product")
    platforms: dict[str, str] = Field(
        default={}, description="domain of a relay address = its value of `service`, before the table of the package"
    )
    users: dict[str, str] = Field(
        default={}, description="id of a user = what you call them: the platform names no users, and rooms have owners"
    )
    folders: dict[str, str] = Field(
        default={}, description="id of a project or folder = what you call it: the platform names none"
    )
    bitrate_unit: Literal["bit", "kbit"] = Field(
        default="bit", description="what the platform counts bit rates in, a second"
    )
    timeout: Number = Field(default=4.0, gt=0, le=60, description="seconds that one request may take")
    proxy: str = Field(default="", description="proxy for https, as in `http://proxy.example:3128`")
    ca_file: Annotated[Path | None, BeforeValidator(_none_if_empty)] = Field(
        default=None, description="certificates in PEM that are trusted besides the public authorities"
    )
    client_cert: Annotated[Path | None, BeforeValidator(_none_if_empty)] = Field(
        default=None, description="PEM file of the certificate that the platform asks for, and its key"
    )
    use_environment: bool = Field(
        default=False,
        description="where these say nothing, heed HTTPS_PROXY, ALL_PROXY, NO_PROXY, SSL_CERT_FILE and SSL_CERT_DIR",
    )
    collector_url: str | tuple[str, ...] = Field(
        default="",
        description="collector that decks attach to, or a list of which any will do; https, or http to loopback; "
        "empty: this deck asks the platform itself",
    )
    collector_token_file: SecretFile = Field(
        default=None, description="file that holds the token for it; refused when others can read it"
    )
    collector_token_command: SecretCommand = Field(
        default=(), description="program and arguments that print that token; no shell, 15 s"
    )
    collector_token_keyring: str = Field(
        default="", pattern=r"^$|^[^/]+/.+$", description="`SERVICE/USER` of that token in this machine's keyring"
    )
    collector_fallback: Literal["show", "poll"] = Field(
        default="show",
        description="when it is silent for a minute: `show` what was seen last, or `poll` the platform alone",
    )


class DisplaySettings(BaseModel):
    """How the deck looks and which keys it has, on whatever platform: `livedeck demo` heeds these and no others."""

    model_config = _STRICT

    theme: Literal["auto", "dark", "light", "contrast", "ansi-16", "mono"] = Field(
        default="auto", description="colours of the deck; `auto`: what the terminal can show"
    )
    ascii: bool = Field(default=False, description="the deck uses no character beyond ASCII")
    graphics: Literal["auto", "blocks", "kitty", "iterm2", "sixel"] = Field(
        default="auto",
        description="how posters are drawn; `auto`: as the terminal's variables say, else in half blocks",
    )
    bell: bool = Field(default=True, description="a new alarm rings the bell of the terminal")
    notification: Literal["osc9", "osc99", "osc777", "off"] = Field(
        default="osc9",
        description="a new alarm is a notification of the desktop, where the terminal takes that sequence for one",
    )
    window_title: bool = Field(default=True, description="the window is called by the most urgent alarm")
    keys: Annotated[dict[str, tuple[str, ...]], BeforeValidator(_flatten_keys)] = Field(
        default={}, description="name of an action = its key, or a list of keys (`livedeck config keys`)"
    )


class LimitSettings(BaseModel):
    """What events are judged by, on whatever platform: what holds as soon as it is written."""

    model_config = _STRICT

    thresholds: ThresholdTable = Field(
        default={},
        description="limits of the alarms, each by its name and in its unit; `livedeck config init` lists them all",
    )
    events: dict[str, EventSettings] = Field(
        default={}, description="limits of one event, named by its id, over those of all"
    )

    def thresholds_of(self, event_id: str = "") -> Thresholds:
        """The thresholds of that event, or of every event that has none of its own."""
        event = self.events.get(event_id)
        return with_overrides(with_overrides(Thresholds(), self.thresholds), event.thresholds if event else {})

    def event_thresholds(self) -> Mapping[str, Thresholds]:
        """Event id -> its own thresholds."""
        return {event_id: self.thresholds_of(event_id) for event_id, event in self.events.items() if event.thresholds}

    def limits(self) -> Limits:
        """The same as the monitor takes them."""
        return Limits(self.thresholds_of(), self.event_thresholds())


class Settings(SharingSettings, LimitSettings, DisplaySettings, PlatformSettings):
    """Everything that can be set. The names are those of the TOML file, `LIVEDECK_<NAME>` those of the environment.

    A token in clear comes from the environment alone: never from a flag, which every process of the machine can see,
    and never from the TOML file (trust.md, "Secrets").
    """

    token: SecretStr | None = Field(default=None, description="workspace API token; environment only")
    profile: str = Field(
        default="default", min_length=1, description="which of `[profiles]` is in force; the header shows it"
    )
    profiles: dict[str, PlatformSettings] = Field(
        default={}, description="more platforms by name: address, token source and manners of each"
    )
    history: Annotated[str, AfterValidator(_check_history)] = Field(
        default="",
        description="file that keeps samples, alarms, markers and what was done; `off`: none, and no stream key is "
        "shown; empty: one a platform in your data folder",
    )
    retention_days: Number = Field(default=30, ge=1, le=3650, description="days after which the history forgets")
    uptime_target: Number = Field(
        default=99.9,
        ge=0,
        le=100,
        description="percent of the time on air that should be good: the rest is error budget",
    )
    cadence: CadenceSettings = Field(
        default=CadenceSettings(), description="seconds between asks, and how many at once"
    )
    notify: NotifySettings = Field(
        default=NotifySettings(), description="who is told of alarms by `livedeck collector run` (`notifications.md`)"
    )
    engine: EngineSettings = Field(
        default=EngineSettings(), description="where several collectors of one workspace meet (`engine.md`)"
    )

    _withheld_token_reason: str = PrivateAttr("")

    @model_validator(mode="after")
    def _one_token_source(self) -> Self:
        for sources in (self.token_sources, self.collector_token_sources):
            if len(sources) > 1:
                raise ValueError(f"{' and '.join(sources)}: name one source of the token")
        return self

    @property
    def token_sources(self) -> tuple[str, ...]:
        """The sources of the token that are named: at most one."""
        return tuple(name for name in TOKEN_SOURCES if getattr(self, name))

    @property
    def collector_urls(self) -> tuple[str, ...]:
        """The addresses of collectors, any of which will do; none where this deck asks the platform itself."""
        return tuple(self.collector_url.split()) if isinstance(self.collector_url, str) else self.collector_url

    @property
    def collector_token_sources(self) -> tuple[str, ...]:
        """The sources of the collector's token that are named: at most one."""
        return tuple(name for name in COLLECTOR_TOKEN_SOURCES if getattr(self, name))

    @property
    def withheld_token_reason(self) -> str:
        """Why a source that is named is not used: it belongs to another platform. Empty where none is withheld."""
        return self._withheld_token_reason

    def withholding_token(self, reason: str) -> Self:
        """The same settings, with that reason."""
        self._withheld_token_reason = reason
        return self

    def history_file(self) -> Path | None:
        """Where the history is kept; None where it is off or in memory."""
        if self.history in {OFF, IN_MEMORY}:
            return None
        return expand_user(self.history) if self.history else history_path(self.profile, self.base_url)

    def polling_cadence(self) -> Cadence:
        """How often the platform is asked, as the monitor takes it."""
        return replace(_CADENCE, **self.cadence.model_dump())

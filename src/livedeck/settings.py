"""Flags over environment over TOML, made into one frozen Settings. The sole reader of the environment."""

from __future__ import annotations

import os
import stat
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import platformdirs
from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, TomlConfigSettingsSource

PREFIX = "LIVEDECK_"


class SettingsError(Exception):
    """A setting that cannot be used: which one, from where, and what to do."""


class Settings(BaseSettings):
    """Everything that can be set. The names are those of the TOML file, `LIVEDECK_<NAME>` those of the environment.

    The token comes from the environment or from a file that nobody else can read: never from a flag, which every
    process of the machine can see, and never from the TOML file (trust.md, Secrets).
    """

    model_config = SettingsConfigDict(env_prefix=PREFIX, extra="forbid", frozen=True)

    base_url: str = Field(default="", description="address of the platform's API")
    upload_url: str = Field(default="", description="address of its upload endpoints; the API's where empty")
    token: SecretStr | None = Field(default=None, description="workspace API token (environment only)")
    token_file: Path | None = Field(default=None, description="file that holds the token, readable by you alone")
    profile: str = Field(default="default", description="what the header calls this platform", min_length=1)
    read_only: bool = Field(default=False, description="nothing but GET and HEAD leaves the deck")
    meet_segment: str = Field(default="meet", description="path segment of the meeting product")
    platforms: dict[str, str] = Field(default={}, description="domain of a relay address -> its value of `service`")
    timeout: float = Field(default=4.0, gt=0, le=60, description="seconds that one request may take")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Flags first, then the environment, then the file."""
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls, config_path())

    def secret_token(self) -> str:
        """The token in clear, for the client alone. Raises SettingsError where there is none."""
        if self.token is not None and self.token.get_secret_value():
            return self.token.get_secret_value()
        if self.token_file is not None:
            return _token_from(self.token_file.expanduser())
        raise SettingsError(f"no token: set {PREFIX}TOKEN, or token_file in {config_path()}")


def load(**flags: Any) -> Settings:
    """The settings in force. A flag that is None was not given. Raises SettingsError."""
    given = {name: value for name, value in flags.items() if value is not None}
    _check_file(config_path())
    try:
        return Settings(**given)
    except ValidationError as error:
        raise SettingsError("\n".join(_fault(one, given) for one in error.errors(include_input=False))) from None


def alone(**given: Any) -> Settings:
    """Settings that nothing but their caller has a say in: neither the environment nor the file."""
    return Settings.model_construct(**given)


def config_path() -> Path:
    """The TOML file: `LIVEDECK_CONFIG`, or `config.toml` in the user's configuration folder."""
    named = os.environ.get(f"{PREFIX}CONFIG")
    return Path(named).expanduser() if named else platformdirs.user_config_path("livedeck") / "config.toml"


def log_path() -> Path:
    """Where the log is written."""
    return platformdirs.user_log_path("livedeck") / "livedeck.log"


def why_no_screen() -> str:
    """Why no full screen can be shown here, in words; empty where one can."""
    if os.environ.get("TERM", "") in {"dumb", ""}:
        return "TERM is not set" if not os.environ.get("TERM") else "TERM=dumb"
    for stream, name in ((sys.stdin, "standard input"), (sys.stdout, "standard output")):
        if not stream.isatty():
            return f"{name} is not a terminal"
    return ""


def _check_file(path: Path) -> None:
    """What the settings library would say of the file less clearly."""
    if not path.exists():
        if os.environ.get(f"{PREFIX}CONFIG"):
            raise SettingsError(f"{PREFIX}CONFIG names {path}, and there is no such file")
        return
    try:
        known: Mapping[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(f"{path}: {error}") from None
    if "token" in known:
        raise SettingsError(f"{path}: a token in clear is not read from here; use token_file or {PREFIX}TOKEN")


def _fault(error: Mapping[str, Any], flags: Mapping[str, Any]) -> str:
    name = str(error["loc"][0]) if error["loc"] else "settings"
    if name in flags:
        origin = f"--{name.replace('_', '-')}"
    else:
        variable = f"{PREFIX}{name.upper()}"
        origin = variable if variable in os.environ else str(config_path())
    return f"{name} ({origin}): {error['msg']}"


def _token_from(path: Path) -> str:
    try:
        mode = path.stat().st_mode
        text = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"token_file {path}: {error}") from None
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise SettingsError(f"token_file {path}: others can read it; run chmod 600 {path}")
    if not text:
        raise SettingsError(f"token_file {path}: it is empty")
    return text

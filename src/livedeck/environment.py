"""What this machine says: variables, paths of files, the terminal. The sole reader of the environment."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import platformdirs

PREFIX = "LIVEDECK_"


def variables() -> Mapping[str, str]:
    """The variables that are meant for us, by name, which may be of any case."""
    return {name: value for name, value in os.environ.items() if name.upper().startswith(PREFIX)}


def config_path() -> Path:
    """The TOML file: `LIVEDECK_CONFIG`, or `config.toml` in the user's configuration folder."""
    path = os.environ.get(f"{PREFIX}CONFIG")
    return Path(path).expanduser() if path else platformdirs.user_config_path("livedeck") / "config.toml"


def log_path() -> Path:
    """Where the log is written."""
    return platformdirs.user_log_path("livedeck") / "livedeck.log"


def history_path(profile: str, base_url: str) -> Path:
    """Where the history of that platform is kept, if no setting says otherwise: a file each."""
    name = re.sub(r"[^a-z0-9]+", "-", profile.lower()).strip("-") or "platform"
    platform = sha256(base_url.rstrip("/").encode()).hexdigest()[:8]
    return platformdirs.user_data_path("livedeck") / f"history-{name[:40]}-{platform}.sqlite"


def state_folder() -> Path:
    """Where the preferences of the deck are kept."""
    return platformdirs.user_state_path("livedeck")


def multiplexer() -> str:
    """The program between the deck and the person's own terminal, if there is one: `tmux`, `screen`, or nothing."""
    if os.environ.get("TMUX"):
        return "tmux"
    return "screen" if os.environ.get("STY") else ""


def file_opener() -> str:
    """The program that opens a file in the application that it belongs to; empty without a desktop, as over ssh."""
    if sys.platform == "darwin":
        return shutil.which("open") or ""
    desktop = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    return (shutil.which("xdg-open") or "") if desktop else ""


def no_screen_reason() -> str:
    """Why no full screen can be shown here; empty where one can."""
    if os.environ.get("TERM", "") in {"dumb", ""}:
        return "TERM is not set" if not os.environ.get("TERM") else "TERM=dumb"
    streams = {"standard input": sys.stdin, "standard output": sys.stdout, "standard error": sys.stderr}
    for name, stream in streams.items():  # all three: a screen is drawn on standard error
        if not stream.isatty():
            return f"{name} is not a terminal"
    return ""


@dataclass(frozen=True, slots=True)
class Terminal:
    """What the terminal can show. `colours`: how many, 0 where none are wanted; `columns`, `rows`: cells."""

    term: str
    colours: int
    columns: int
    rows: int
    encoding: str


def terminal() -> Terminal:
    """The terminal of this process, or what is assumed where there is none."""
    size = shutil.get_terminal_size()
    return Terminal(os.environ.get("TERM", ""), _colours(), size.columns, size.lines, sys.stdout.encoding or "unknown")


def _colours() -> int:
    if os.environ.get("NO_COLOR"):
        return 0
    if os.environ.get("COLORTERM", "") in {"truecolor", "24bit"}:
        return 1 << 24
    return 256 if "256" in os.environ.get("TERM", "") else 16

"""Environment variables, paths of files and facts of the terminal. No other module reads `os.environ`."""

from __future__ import annotations

import fcntl
import os
import re
import struct
import sys
import termios
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from pwd import getpwuid
from typing import Literal

PREFIX = "LIVEDECK_"


class SettingsError(Exception):
    """A setting cannot be used. The message names the setting, its origin and the remedy."""


def variables() -> Mapping[str, str]:
    """Return livedeck's variables (`LIVEDECK_...`, upper or lower case) by name."""
    return {name: value for name, value in os.environ.items() if name.upper().startswith(PREFIX)}


def named_variable(name: str) -> str:
    """Return the value of a variable that the user has named; empty if it is not set."""
    return os.environ.get(name, "")


def child_variables() -> dict[str, str]:
    """Return the variables for a child process: all except livedeck's own, which may hold a token."""
    return {name: value for name, value in os.environ.items() if not name.upper().startswith(PREFIX)}


def sender_variables(proxies: Mapping[str, str]) -> dict[str, str]:
    """Return the variables for a program that sends a notification: `child_variables`, with these proxies only.

    Hides the user's `.netrc` from the program, because receivers must not get the credentials in it.
    """
    kept = {name: value for name, value in child_variables().items() if not name.lower().endswith("_proxy")}
    return {**kept, "NETRC": os.devnull, **proxies}


_TELLTALE = ("TEXTUAL", "TEXTUAL_LOG", "TEXTUAL_DEBUG", "TEXTUAL_SCREENSHOT", "TEXTUAL_PRESS", "TEXTUAL_SHOW_RETURN")


def ignore_telltale_variables() -> tuple[str, ...]:
    """Unset the variables that make Textual write keys, messages and screens to files and sockets.

    Call it before Textual is imported. Returns the names of the variables that were set.
    """
    return tuple(name for name in _TELLTALE if os.environ.pop(name, None))


def config_path() -> Path:
    """Return the path of the TOML file: `LIVEDECK_CONFIG`, or `config.toml` in the user's configuration folder.

    Raises SettingsError.
    """
    path = os.environ.get(f"{PREFIX}CONFIG")
    return expand_user(path) if path else _absolute("config", "XDG_CONFIG_HOME") / "config.toml"


def log_path() -> Path:
    """Return the path of the log. Raises SettingsError."""
    return _absolute("log", "XDG_STATE_HOME") / "livedeck.log"


def history_path(profile: str, base_url: str) -> Path:
    """Return the default path of a history; each profile and platform has its own file. Raises SettingsError."""
    from hashlib import sha256

    name = re.sub(r"[^a-z0-9]+", "-", profile.lower()).strip("-") or "platform"
    platform = sha256(base_url.rstrip("/").encode()).hexdigest()[:8]
    return _absolute("data", "XDG_DATA_HOME") / f"history-{name[:40]}-{platform}.sqlite"


def drills_path() -> Path:
    """Return the path of the scores of drills. Raises SettingsError."""
    return _absolute("data", "XDG_DATA_HOME") / "drills.jsonl"


def state_folder() -> Path:
    """Return the folder of the deck's preferences. Raises SettingsError."""
    return _absolute("state", "XDG_STATE_HOME")


def this_process() -> str:
    """Return the user and process as `user@host:pid`, with the user's number if the account has no name."""
    try:
        user = getpwuid(os.getuid()).pw_name
    except KeyError:
        user = str(os.getuid())
    return f"{user}@{this_machine()}:{os.getpid()}"


def this_machine() -> str:
    """Return the name of this machine."""
    from socket import gethostname

    return gethostname()


def is_credential(path: Path) -> bool:
    """Return whether the file is a systemd credential of this service, which changes only when the service restarts."""
    folder = os.environ.get("CREDENTIALS_DIRECTORY")
    return bool(folder) and path.is_relative_to(str(folder))


def expand_user(path: str) -> Path:
    """Return the path with `~` replaced by the home folder; `~name` of an unknown user stays unchanged."""
    return Path(os.path.expanduser(path))  # noqa: PTH111  Path.expanduser raises RuntimeError for an unknown user


def _absolute(kind: Literal["config", "data", "log", "state"], variable: str) -> Path:
    """Return livedeck's folder of a kind. Raises SettingsError if a variable makes it relative.

    A relative folder would depend on the working directory, and anybody may write settings there.
    """
    for name in (variable, "HOME"):
        value = os.environ.get(name, "").strip()
        if value and not Path(value).is_absolute():
            raise SettingsError(f"{name}: should be an absolute path; set it to one, or unset it")
    from platformdirs import PlatformDirs

    folders = PlatformDirs("livedeck")
    return Path(getattr(folders, f"user_{kind}_path"))


def shell_folder(kind: Literal["config", "data"]) -> Path:
    """Return the folder where shells look for files of a kind: the XDG folder on every system. Raises SettingsError."""
    variable, usual = {"config": ("XDG_CONFIG_HOME", "~/.config"), "data": ("XDG_DATA_HOME", "~/.local/share")}[kind]
    _absolute(kind, variable)
    return Path(os.environ.get(variable, "").strip() or expand_user(usual))


def multiplexer() -> str:
    """Return the terminal multiplexer that the deck runs in: `tmux` or `screen`; empty if there is none."""
    if os.environ.get("TMUX"):
        return "tmux"
    return "screen" if os.environ.get("STY") else ""


def has_mouse() -> bool:
    """Return whether to let the terminal report the mouse: not in GNU screen, which would delay a lone escape."""
    return multiplexer() != "screen"


_KITTY_PROGRAMS, _SIXEL_TERMS = {"ghostty", "WezTerm"}, ("foot", "mlterm", "contour", "yaft")


def graphics() -> str:
    """Return the terminal's graphics protocol by its variables: `kitty`, `iterm2` or `sixel`; empty if unknown.

    Always empty in tmux and GNU screen, because they hide the terminal.
    """
    term, program = os.environ.get("TERM", ""), os.environ.get("TERM_PROGRAM", "")
    if multiplexer():
        return ""
    if "kitty" in term or os.environ.get("KITTY_WINDOW_ID") or program in _KITTY_PROGRAMS:
        return "kitty"
    if program == "iTerm.app" or os.environ.get("LC_TERMINAL") == "iTerm2":
        return "iterm2"
    return "sixel" if term.startswith(_SIXEL_TERMS) else ""


def cell_pixels() -> tuple[int, int]:
    """Return width and height of a cell in pixels.

    If the terminal does not report a size, returns 6 by 12: cells are rarely smaller, so no picture gets too large.
    """
    try:
        size = fcntl.ioctl(sys.__stdout__ or 1, termios.TIOCGWINSZ, bytes(8))
    except (OSError, ValueError):
        size = bytes(8)
    rows, columns, width, height = struct.unpack("HHHH", size)
    return (width // columns, height // rows) if rows and columns and width >= columns and height >= rows else (6, 12)


def file_opener() -> str:
    """Return the program that opens a file in its default application. Empty without a desktop, such as over ssh."""
    import shutil

    if sys.platform == "darwin":
        return shutil.which("open") or ""
    desktop = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    return (shutil.which("xdg-open") or "") if desktop else ""


def no_screen_reason() -> str:
    """Return why this process cannot show a full screen; empty if it can."""
    if os.environ.get("TERM", "") in {"dumb", ""}:
        return "TERM is not set" if not os.environ.get("TERM") else "TERM=dumb"
    streams = {"standard input": sys.stdin, "standard output": sys.stdout, "standard error": sys.stderr}
    for name, stream in streams.items():  # standard error too, because Textual draws there
        if stream is None:
            return f"{name} is closed"
        if not stream.isatty():
            return f"{name} is not a terminal"
    return ""


@dataclass(frozen=True, slots=True)
class Terminal:
    """Facts of the terminal. `colours`: number of colours, 0 if NO_COLOR is set. `columns`, `rows`: size in cells."""

    term: str
    colours: int
    columns: int
    rows: int
    encoding: str


def terminal() -> Terminal:
    """Return the facts of this process's terminal, or defaults if there is none."""
    import shutil

    size = shutil.get_terminal_size()
    return Terminal(os.environ.get("TERM", ""), _colours(), size.columns, size.lines, sys.stdout.encoding or "unknown")


def _colours() -> int:
    if os.environ.get("NO_COLOR"):
        return 0
    if os.environ.get("COLORTERM", "") in {"truecolor", "24bit"}:
        return 1 << 24
    return 256 if "256" in os.environ.get("TERM", "") else 16

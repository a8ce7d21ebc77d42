"""What this machine says: variables, paths of files, the terminal. The sole reader of the environment."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import struct
import sys
import termios
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from pwd import getpwuid
from socket import gethostname

import platformdirs

PREFIX = "LIVEDECK_"


class SettingsError(Exception):
    """A setting that cannot be used: which one, from where, and what to do."""


def variables() -> Mapping[str, str]:
    """The variables that are meant for us, by name, which may be of any case."""
    return {name: value for name, value in os.environ.items() if name.upper().startswith(PREFIX)}


def child_variables() -> dict[str, str]:
    """What a program that we start may know: all but the variables that are meant for us, a token among them."""
    return {name: value for name, value in os.environ.items() if not name.upper().startswith(PREFIX)}


def sender_variables(proxies: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of a program that sends a notification: `child_variables`, with these proxies alone.

    It finds no `.netrc`: the credentials there are not meant for receivers.
    """
    kept = {name: value for name, value in child_variables().items() if not name.lower().endswith("_proxy")}
    return {**kept, "NETRC": os.devnull, **proxies}


_TELLTALE = ("TEXTUAL", "TEXTUAL_LOG", "TEXTUAL_DEBUG", "TEXTUAL_SCREENSHOT", "TEXTUAL_PRESS", "TEXTUAL_SHOW_RETURN")


def ignore_telltale_variables() -> tuple[str, ...]:
    """Unset what has Textual write keys, messages and screens to files and sockets that others read.

    To be called before Textual is imported. Returns the names of those that were set.
    """
    return tuple(name for name in _TELLTALE if os.environ.pop(name, None))


def config_path() -> Path:
    """The TOML file: `LIVEDECK_CONFIG`, or `config.toml` in the user's configuration folder. Raises SettingsError."""
    path = os.environ.get(f"{PREFIX}CONFIG")
    return expand_user(path) if path else _absolute(platformdirs.user_config_path, "XDG_CONFIG_HOME") / "config.toml"


def log_path() -> Path:
    """Where the log is written. Raises SettingsError."""
    return _absolute(platformdirs.user_log_path, "XDG_STATE_HOME") / "livedeck.log"


def history_path(profile: str, base_url: str) -> Path:
    """Where the history of that platform is kept, if no setting says otherwise: a file each. Raises SettingsError."""
    name = re.sub(r"[^a-z0-9]+", "-", profile.lower()).strip("-") or "platform"
    platform = sha256(base_url.rstrip("/").encode()).hexdigest()[:8]
    return _absolute(platformdirs.user_data_path, "XDG_DATA_HOME") / f"history-{name[:40]}-{platform}.sqlite"


def state_folder() -> Path:
    """Where the preferences of the deck are kept. Raises SettingsError."""
    return _absolute(platformdirs.user_state_path, "XDG_STATE_HOME")


def this_process() -> str:
    """Who acts, and by which process: `user@host:pid`; the number of an account that has no name."""
    try:
        user = getpwuid(os.getuid()).pw_name
    except KeyError:
        user = str(os.getuid())
    return f"{user}@{gethostname()}:{os.getpid()}"


def is_credential(path: Path) -> bool:
    """Return whether systemd hands that file to this service: a copy, made when the service starts."""
    folder = os.environ.get("CREDENTIALS_DIRECTORY")
    return bool(folder) and path.is_relative_to(str(folder))


def expand_user(path: str) -> Path:
    """The path with `~` for the user's home; one of a user that this machine does not know stays as it is."""
    return Path(os.path.expanduser(path))  # noqa: PTH111  which raises no RuntimeError


def _absolute(find_folder: Callable[[str], Path], variable: str) -> Path:
    """Our folder of that kind: a relative one would be another wherever the command is run, and anyone's settings."""
    for name in (variable, "HOME"):
        value = os.environ.get(name, "").strip()
        if value and not Path(value).is_absolute():
            raise SettingsError(f"{name}: should be an absolute path; set it to one, or unset it")
    return find_folder("livedeck")


def multiplexer() -> str:
    """The program between the deck and the person's own terminal, if there is one: `tmux`, `screen`, or nothing."""
    if os.environ.get("TMUX"):
        return "tmux"
    return "screen" if os.environ.get("STY") else ""


_KITTY_PROGRAMS, _SIXEL_TERMS = {"ghostty", "WezTerm"}, ("foot", "mlterm", "contour", "yaft")


def graphics() -> str:
    """How this terminal draws pictures, by what it says of itself: `kitty`, `iterm2`, `sixel`; empty: it says nothing.

    In tmux and GNU screen nothing is known of the terminal behind them.
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
    """Width and height of a cell in pixels; where the terminal does not say, so few that no picture is too large."""
    try:
        answer = fcntl.ioctl(sys.__stdout__ or 1, termios.TIOCGWINSZ, bytes(8))
    except (OSError, ValueError):
        answer = bytes(8)
    rows, columns, width, height = struct.unpack("HHHH", answer)
    return (width // columns, height // rows) if rows and columns and width >= columns and height >= rows else (6, 12)


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
        if stream is None:
            return f"{name} is closed"
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

"""Every fault of the settings ends the real command with exit code 2 and a line: place, key and remedy."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from cli.commands import called, livedeck

SECRET = "a-token-that-nobody-knows"
VALIDATE = ("config", "check")
STATUS = ("status",)
A = 'base_url = "https://a.example"\n'


@dataclass(frozen=True)
class Case:
    """Text of `config.toml` and its surroundings, the command, and words of its output.

    `make`: makes the file if it is more than text. `is_named`: whether the output names that file; otherwise it names
    another place.
    """

    text: str | bytes = ""
    words: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    arguments: tuple[str, ...] = VALIDATE
    make: Callable[[Path], object] | None = None
    is_named: bool = True


def token_file(content: bytes = SECRET.encode(), mode: int = 0o600) -> Callable[[Path], object]:
    """Return a function that writes a token file with that content and mode, and settings that name it."""

    def make(path: Path) -> None:
        path.write_text(f'{A}token_file = "token"\n')
        path.with_name("token").write_bytes(content)
        path.with_name("token").chmod(mode)

    return make


def writable(mode: int) -> Callable[[Path], object]:
    """Return a function that writes settings with that mode."""

    def make(path: Path) -> None:
        path.write_text(A)
        path.chmod(mode)

    return make


def socket_at(path: Path) -> None:
    """Put a socket in place of the file. It is bound from its folder, because the path may be too long."""
    before = Path.cwd()
    os.chdir(path.parent)
    try:
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(path.name)
    finally:
        os.chdir(before)


def elsewhere(words: tuple[str, ...], text: str = "", **fields: Any) -> Case:
    """Return a fault outside the file."""
    return Case(text, words, is_named=False, **fields)


TOKEN = {"LIVEDECK_TOKEN": SECRET}

CASES = {
    # The file
    "no TOML": Case("base_url = \n", (":1", "base_url", "correct the line")),
    "no key": Case('\n= "x"\n', (":2", "correct the line")),
    "text without quotes": Case("theme = dark\n", (":1", "theme", "correct the line")),
    "cut short": Case(f'{A}token_keyring = "a', (":2", "token_keyring", "correct the line")),
    "wrong escape": Case('history = "C:\\Users"\n', (":1", "history", "correct the line")),
    "table not closed": Case("[cadence\nqos = 1\n", (":1", "correct the line")),
    "list not closed": Case('token_command = ["pass",\n', (":1", "token_command", "correct the line")),
    "key twice": Case("timeout = 4\ntimeout = 5\n", (":2", "timeout", "set twice; remove one")),
    "table twice": Case("[cadence]\nqos = 1\n[cadence]\nevents = 9\n", (":3", "set twice; remove one")),
    "key and table": Case("cadence = 1\n[cadence]\nqos = 1\n", (":2", "remove one")),
    "fault after CRLF": Case(b'theme = "dark"\r\ntimeout = 0\r\n', (":2", "timeout", "greater than 0")),
    "fault after a BOM": Case(b"\xef\xbb\xbftimeout = 0\n", (":1", "timeout", "greater than 0")),
    "fault after odd line ends": Case('theme = "dark"  # \u2028 x\ntimeout = 0\n', (":2", "greater than 0")),
    "UTF-16": Case('theme = "dark"\n'.encode("utf-16"), (":1", "not UTF-8; save the file as UTF-8")),
    "Latin-1": Case('\nprofile = "\xe9t\xe9"\n'.encode("latin-1"), (":2", "UTF-8")),
    "binary": Case(bytes(range(256)), (":2", "UTF-8")),
    "NUL": Case(b'theme = "da\x00rk"\n', (":1", "theme", "correct the line")),
    "deep lists": Case("a = " + "[" * 5000 + "]" * 5000, ("32 deep", "no setting needs that")),
    "deep tables": Case("keys." + "a." * 3000 + 'b = "x"', ("keys", "32 deep")),
    "huge": Case(b"# x\n" * 300_000, ("larger than 1 MiB", "name another file")),
    "folder": Case(make=Path.mkdir, words=("not a regular file",)),
    "pipe": Case(make=os.mkfifo, words=("not a regular file",)),
    "socket": Case(make=socket_at, words=("not a regular file",)),
    "device": Case(
        env={"LIVEDECK_CONFIG": "/dev/zero"}, words=("/dev/zero", "not a regular file"), is_named=False
    ),
    "link to nowhere": Case(make=lambda path: path.symlink_to("absent.toml"), words=("broken link; repair or remove",)),
    "link in a circle": Case(make=lambda path: path.symlink_to(path), words=("symbolic links",)),
    "others may write": Case(
        make=writable(0o666), words=("others can change it; run chmod go-w",)
    ),
    "group may write": Case(
        make=writable(0o620), words=("others can change it; run chmod go-w",)
    ),
    "named and absent": Case(
        env={"LIVEDECK_CONFIG": "/nowhere/at/all.toml"},
        words=("LIVEDECK_CONFIG", "/nowhere/at/all.toml", "config init"),
        is_named=False,
    ),
    "home of nobody": Case(
        env={"LIVEDECK_CONFIG": "~nobody-at-all/x.toml"}, words=("LIVEDECK_CONFIG", "~nobody-at-all"), is_named=False
    ),
    "relative XDG": Case(
        env={"XDG_CONFIG_HOME": "conf"}, words=("XDG_CONFIG_HOME", "absolute path; set it"), is_named=False
    ),
    "relative home": Case(env={"HOME": "here"}, words=("HOME", "absolute path; set it"), is_named=False),
    # A value
    "wrong type": Case('timeout = "soon"\n', (":1", "timeout", "valid number")),
    "number for text": Case("theme = 1\n", (":1", "theme", "'auto', 'dark'")),
    "boolean for a number": Case("timeout = true\n", (":1", "timeout", "valid number")),
    "number for yes or no": Case("read_only = 2\n", (":1", "read_only", "valid boolean")),
    "boolean for a count": Case("[cadence]\nat_once = true\n", (":2", "cadence.at_once", "not true or false")),
    "boolean for a limit": Case("[thresholds]\nlow_video = true\n", (":2", "low_video", "a number from 0")),
    "word for yes or no": Case('read_only = "perhaps"\n', (":1", "read_only", "valid boolean")),
    "negative": Case("timeout = -1\n", (":1", "timeout", "greater than 0")),
    "too large": Case("timeout = 61\n", (":1", "timeout", "less than or equal to 60")),
    "not a number": Case("timeout = nan\n", (":1", "timeout", "less than or equal to 60")),
    "infinite": Case("retention_days = inf\n", (":1", "retention_days", "less than or equal to 3650")),
    "wrong unit": Case('retention_days = "30d"\n', (":1", "retention_days", "valid number")),
    "a unit that is none": Case('bitrate_unit = "mbit"\n', (":1", "bitrate_unit", "'auto', 'bit' or 'kbit'")),
    "fraction for a count": Case("[cadence]\nat_once = 1.5\n", (":2", "cadence.at_once", "valid integer")),
    "unknown theme": Case('theme = "neon"\n', (":1", "theme", "'mono'")),
    "date for a number": Case("timeout = 2026-01-01\n", (":1", "timeout", "valid number")),
    "table for a value": Case("[timeout]\nseconds = 4\n", (":1", "timeout", "valid number")),
    "value for a table": Case("cadence = 4\n", (":1", "cadence", "valid dictionary")),
    "list for a value": Case('theme = ["dark"]\n', (":1", "theme", "'dark'")),
    "value for a list": Case(
        f'{A}token_command = "pass show x"\n', (":2", "token_command", 'should be a list, the program first: ["pass"')
    ),
    "relative history": Case('history = "deck.sqlite"\n', (":1", "history", "absolute path, or `off`")),
    "history of nobody": Case('history = "~nobody-at-all/h"\n', (":1", "history", "absolute path, or `off`")),
    "keyring without a user": Case('token_keyring = "livedeck"\n', (":1", "token_keyring", "match pattern")),
    # A name
    "unknown key": Case('colour = "red"\n', (":1", "colour", "no such setting")),
    "mistyped key": Case("time_out = 4\n", (":1", "time_out", "did you mean timeout")),
    "unknown table": Case("[cadences]\nqos = 1\n", (":1", "cadences", "did you mean cadence")),
    "unknown key in a table": Case("[cadence]\nqos = 1\nquos = 1\n", (":3", "cadence.quos", "did you mean qos")),
    "unknown threshold": Case("[thresholds]\nlow_vido = 0.5\n", (":2", "low_vido", "low_video")),
    "unknown action": Case('[keys]\napp.akc = "f5"\n', (":2", "app.akc", "did you mean 'app.ask'")),
    "unknown key of the keyboard": Case('[keys]\napp.ask = "blue"\n', (":2", "'blue' is not a key; write f5")),
    "field of a view": Case('[views.live]\nfilter = "nofield:x"\n', (":1", "views.live", "no field 'nofield'")),
    "column of a view": Case('[views.live]\nsort = "helth"\n', (":1", "views.live", "no column 'helth'")),
    "name of every event": Case('[views.all]\nsort = "health"\n', (":1", "views.all", "choose another name")),
    "name of a view": Case('[views."a/b"]\nsort = "health"\n', ("views",)),
    "key of another action": Case('[keys]\napp.ask = "q"\n', (":2", "q is also the key of app.quit")),
    # Profiles, tokens, addresses
    "token in clear": Case(f'{A}token = "{SECRET}"\n', (":2", "token_file, token_command or LIVEDECK_TOKEN")),
    "token in a profile": Case(f'[profiles.x]\ntoken = "{SECRET}"\n', (":2", "token_file, token_command")),
    "two sources": Case(
        f'{A}token_file = "t"\ntoken_keyring = "a/b"\n', (":2", "token_file and token_keyring: set only one")
    ),
    "no profiles": Case('profile = "staging"\n', (":1", "[profiles.staging]", "known: none yet")),
    "another profile": Case(
        f"[profiles.stage]\n{A}",
        ("--profile", "[profiles.staging]", "known: stage"),
        arguments=(*VALIDATE, "--profile", "staging"),
    ),
    "profiles that are none": Case("profiles = 4\n", (":1", "profiles", "valid dictionary")),
    "key that no profile has": Case("[profiles.x]\nhistory = 'off'\n", (":2", "profiles.x.history", "not a setting")),
    "fault in a profile": Case("[profiles.x]\ntimeout = 0\n", (":2", "profiles.x.timeout", "greater than 0")),
    "empty profile": elsewhere(("--profile", "at least 1"), arguments=(*VALIDATE, "--profile", "")),
    "no address": elsewhere(("base_url", "begin with https://"), 'base_url = "a"\n', env=TOKEN, arguments=STATUS),
    "address in clear": elsewhere(
        ("base_url", "https"), 'base_url = "http://a.example"\n', env=TOKEN, arguments=STATUS
    ),
    "address with a user": elsewhere(
        ("base_url", "no user name"), 'base_url = "https://u:p@a.example"\n', env=TOKEN, arguments=STATUS
    ),
    "upload elsewhere": Case(
        f'{A}token_file = "t"\n',
        ("--upload-url", "https://b.example", "Set upload_url in the same place"),
        arguments=(*STATUS, "--upload-url", "https://b.example"),
    ),
    "token of another platform": Case(
        f'{A}token_file = "t"\n',
        (":1", "--base-url", "Set a source of the token"),
        arguments=(*STATUS, "--base-url", "https://b.example"),
    ),
    "no platform": elsewhere(("no platform", "livedeck config init"), arguments=STATUS),
    "no platform to follow": elsewhere(("no platform", "livedeck config init"), arguments=(*STATUS, "--follow-clock")),
    "no token": Case(A, ("no token", "LIVEDECK_TOKEN, or token_file"), arguments=STATUS),
    "token file absent": elsewhere(("token_file", "No such file"), f'{A}token_file = "t"\n', arguments=STATUS),
    "token file for all": elsewhere(("token_file", "chmod 600"), make=token_file(mode=0o644), arguments=STATUS),
    "token file empty": elsewhere(("token_file", "empty"), make=token_file(b"\n"), arguments=STATUS),
    "token file binary": elsewhere(("token_file", "not a text"), make=token_file(b"\xff\xfe"), arguments=STATUS),
    "token file huge": elsewhere(("token_file", "too large"), make=token_file(b"x" * 20_000), arguments=STATUS),
    "token with a space": elsewhere(
        ("token", "characters that cannot be sent"), A, env={"LIVEDECK_TOKEN": "two words"}, arguments=STATUS
    ),
    "token command absent": elsewhere(
        ("token_command", "cannot be run"), f'{A}token_command = ["/nowhere/pass"]\n', arguments=STATUS
    ),
    # Variables
    "variable of a wrong type": elsewhere(("LIVEDECK_TIMEOUT", "valid number"), env={"LIVEDECK_TIMEOUT": "soon"}),
    "variable that is no JSON": elsewhere(("LIVEDECK_KEYS", "list, written as JSON"), env={"LIVEDECK_KEYS": "{"}),
    "variable that is too deep": elsewhere(("LIVEDECK_KEYS", "32 deep"), env={"LIVEDECK_KEYS": "[" * 9999}),
    "variable that is a list": elsewhere(("LIVEDECK_CADENCE", "valid dictionary"), env={"LIVEDECK_CADENCE": "[1]"}),
    "variable not a number": elsewhere(("LIVEDECK_TIMEOUT", "less than or equal"), env={"LIVEDECK_TIMEOUT": "nan"}),
    "variable in lower case": elsewhere(("LIVEDECK_READ_ONLY", "boolean"), env={"livedeck_read_only": "si"}),
    "flag and file": Case("timeout = 0\n", (":1", "timeout"), arguments=(*VALIDATE, "--read-only")),
}  # fmt: skip


def check(home: Path, case: Case, run: Callable[..., object]) -> None:
    config = home / ".config" / "livedeck" / "config.toml"
    config.parent.mkdir(parents=True)
    if case.make:
        case.make(config)
    elif case.text:
        config.write_bytes(case.text if isinstance(case.text, bytes) else case.text.encode())
    done = run(home, *case.arguments, env=case.env)
    stderr = str(getattr(done, "stderr", ""))
    assert (getattr(done, "returncode", None), getattr(done, "stdout", None)) == (2, ""), stderr
    assert "Traceback" not in stderr
    assert SECRET not in stderr
    assert stderr.count("\n") == 1, stderr
    assert len(stderr) < 600
    assert all(word in stderr for word in case.words), stderr
    assert not case.is_named or str(config) in stderr


def test_there_are_sixty_and_more() -> None:
    assert len(CASES) >= 60


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_fault_is_named_and_ends_the_command(tmp_path: Path, case: Case) -> None:
    check(tmp_path, case, called)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_fault_ends_the_process(tmp_path: Path, case: Case) -> None:
    check(tmp_path, case, livedeck)

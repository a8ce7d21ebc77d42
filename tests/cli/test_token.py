"""The token comes from one source, and no output shows what this source prints (trust.md, "Secrets")."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from cli.commands import livedeck
from livedeck.secret_sources import SettingsTokenSource, read_token
from livedeck.settings import Settings, SettingsError, load

SECRET = "a-token-that-nobody-knows"


@pytest.fixture(autouse=True)
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Path of the TOML file, in an environment without settings."""
    for name in [name for name in os.environ if name.startswith("LIVEDECK_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = tmp_path / "livedeck"
    folder.mkdir()
    return folder / "config.toml"


def test_the_token_comes_from_the_environment_first(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bare.write_text('token_file = "absent"\n', encoding="utf-8")
    monkeypatch.setenv("LIVEDECK_TOKEN", SECRET)
    settings = load()
    assert read_token(settings) == SECRET
    assert SECRET not in f"{settings!r} {settings}"


def test_the_token_comes_from_a_file_that_others_cannot_read(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(f"{SECRET}\n", encoding="utf-8")
    settings = Settings(token_file=file)
    for mode, words in ((0o644, "chmod 600"), (0o640, "chmod 600"), (0o606, "chmod 600")):
        file.chmod(mode)
        with pytest.raises(SettingsError, match=words):
            read_token(settings)
    file.chmod(0o600)
    assert read_token(settings) == SECRET


def test_a_credential_of_systemd_is_named_as_one_with_what_makes_it_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file of the service's user, mode 0400, that does not change while the service runs."""
    file = tmp_path / "token"
    file.write_text(SECRET, encoding="utf-8")
    file.chmod(0o400)
    settings = Settings(token_file=file)
    assert read_token(settings) == SECRET
    assert "livedeck rereads it without a restart" in SettingsTokenSource(settings).advice
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path))
    assert "restart the service" in SettingsTokenSource(settings).advice


def test_a_token_file_of_a_variable_belongs_to_the_platform_of_the_settings_file(
    bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the unit in `docs/files` names it, by `%d`."""
    (tmp_path / "token").write_text(SECRET, encoding="utf-8")
    (tmp_path / "token").chmod(0o400)
    bare.write_text('base_url = "https://platform.example"\n', encoding="utf-8")
    monkeypatch.setenv("LIVEDECK_TOKEN_FILE", str(tmp_path / "token"))
    assert read_token(load()) == SECRET


@pytest.mark.parametrize("kind", ["pipe", "folder", "device"])
def test_a_token_file_that_is_none_is_refused_at_once(tmp_path: Path, kind: str) -> None:
    """A pipe that nobody writes to would keep the command waiting for ever."""
    file = tmp_path / "token"
    if kind == "pipe":
        os.mkfifo(file, 0o600)
    elif kind == "folder":
        file.mkdir(mode=0o700)
    else:
        file = Path("/dev/zero")
    env = {"LIVEDECK_BASE_URL": "http://127.0.0.1:1", "LIVEDECK_TOKEN_FILE": str(file)}
    done = livedeck(tmp_path, "status", env=env)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert f"token_file {file}: not a regular file" in done.stderr


def test_a_token_file_of_somebody_else_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "token"
    file.write_text(SECRET)
    file.chmod(0o600)
    somebody = 12_345
    if os.geteuid():
        monkeypatch.setattr(os, "geteuid", lambda: somebody)
    else:
        os.chown(file, somebody, -1)
    with pytest.raises(SettingsError, match="belongs to another user"):
        read_token(Settings(token_file=file))


def test_a_file_that_is_too_large_for_a_token_is_not_sent(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(SECRET * 10_000)
    file.chmod(0o600)
    with pytest.raises(SettingsError, match="too large") as refusal:
        read_token(Settings(token_file=file))
    assert SECRET not in str(refusal.value)


@pytest.mark.parametrize(("content", "words"), [("", "empty"), (None, "No such file")])
def test_a_token_file_without_a_token_is_named(tmp_path: Path, content: str | None, words: str) -> None:
    file = tmp_path / "token"
    if content is not None:
        file.touch(mode=0o600)
    with pytest.raises(SettingsError, match=words):
        read_token(Settings(token_file=file))


def test_no_token_at_all_says_where_one_may_come_from() -> None:
    with pytest.raises(SettingsError, match=r"LIVEDECK_TOKEN.*token_file"):
        read_token(load())


def program(code: str) -> tuple[str, ...]:
    """Return a command that runs these lines of Python."""
    return sys.executable, "-c", code


def test_a_command_prints_the_token() -> None:
    assert read_token(Settings(token_command=program(f"print({SECRET!r})"))) == SECRET


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (program(f"import sys; sys.stderr.write({SECRET!r}); sys.exit(3)"), "exit code 3"),
        (program("pass"), "printed nothing"),
        (("/nowhere/at-all",), "No such file"),
        (("nul\0",), "cannot be run"),
    ],
)
def test_a_command_without_a_token_is_named_and_its_words_are_not(argv: tuple[str, ...], words: str) -> None:
    with pytest.raises(SettingsError) as fault:
        read_token(Settings(token_command=argv))
    assert words in str(fault.value)
    assert "token_command" in str(fault.value)
    assert SECRET not in str(fault.value)


def test_no_shell_reads_the_arguments(tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    assert read_token(Settings(token_command=("echo", f"$(touch {trap})"))) == f"$(touch {trap})"
    assert not trap.exists()


def keyring(folder: Path, answer: str) -> dict[str, str]:
    """Return the settings of a machine whose keyring package gives that result."""
    package = folder / "packages" / "keyring"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(f"def get_password(service, user):\n    {answer}\n", "utf-8")
    (package / "errors.py").write_text("class KeyringError(Exception):\n    pass\n", "utf-8")
    source = Path(__file__).parents[2] / "src"
    return {
        "PYTHONPATH": f"{package.parent}:{source}",
        "LIVEDECK_BASE_URL": "http://127.0.0.1:1",
        "LIVEDECK_TOKEN_KEYRING": "livedeck/production",
    }


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("return None", "keyring set livedeck production"),
        (f"from keyring.errors import KeyringError; raise KeyringError({SECRET!r})", "KeyringError"),
        ("return '-'.join(['a', 'token', service, user])", "refuses connections"),
    ],
)
def test_the_keyring_is_asked_for_its_entry(tmp_path: Path, answer: str, words: str) -> None:
    done = livedeck(tmp_path, "status", env=keyring(tmp_path, answer))
    assert words in done.stderr
    assert SECRET not in done.stderr


def test_a_machine_without_the_keyring_package_is_told_which(tmp_path: Path) -> None:
    env = keyring(tmp_path, "pass")
    (tmp_path / "packages" / "keyring" / "__init__.py").write_text("raise ImportError\n", "utf-8")
    done = livedeck(tmp_path, "status", env=env)
    assert (done.returncode, "'.[keyring]'" in done.stderr) == (2, True)

"""The token, from the one source that the settings name (trust.md, "Secrets")."""

from __future__ import annotations

import stat
import subprocess
from pathlib import Path

from livedeck.cli import skeleton
from livedeck.settings import Settings, SettingsError, config_path

PATIENCE = 15.0
"""Seconds that a token command may take: time enough to touch a security key."""


def token_of(settings: Settings) -> str:
    """The token in clear, for the client alone. Raises SettingsError where its source gives none.

    A command and a keyring may make the caller wait; they are asked once, before anything is shown.
    """
    if settings.token is not None and settings.token.get_secret_value():
        return settings.token.get_secret_value()
    if settings.token_file is not None:
        return _from_file(settings.token_file.expanduser())
    skeleton.lower()  # what is asked now may ask the person
    if settings.token_command:
        return _from_command(settings.token_command)
    if settings.token_keyring:
        return _from_keyring(settings.token_keyring)
    raise SettingsError(f"no token: set LIVEDECK_TOKEN, or token_file or token_command in {config_path()}")


def _from_file(path: Path) -> str:
    try:
        mode = path.stat().st_mode
        text = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text"
        raise SettingsError(f"token_file {path}: {why}") from None
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise SettingsError(f"token_file {path}: others can read it; run chmod 600 {path}")
    if not text:
        raise SettingsError(f"token_file {path}: it is empty")
    return text


def _from_command(argv: tuple[str, ...]) -> str:
    """What the program prints. Its words are shown to nobody: they may hold the token."""
    what = f"token_command {argv[0]}"
    try:
        done = subprocess.run(  # noqa: S603  the user's own program, and no shell reads its arguments
            argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE, check=False
        )
    except subprocess.TimeoutExpired:
        raise SettingsError(f"{what}: it did not end within {PATIENCE:.0f} s") from None
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "its arguments cannot be passed on"
        raise SettingsError(f"{what}: it cannot be run: {why}") from None
    if done.returncode:
        raise SettingsError(f"{what}: it failed with exit code {done.returncode}; run it by hand to see why")
    text = done.stdout.decode("utf-8", errors="replace").strip()
    if not text:
        raise SettingsError(f"{what}: it printed nothing")
    return text


def _from_keyring(entry: str) -> str:
    try:
        import keyring
        from keyring.errors import KeyringError
    except ImportError:
        raise SettingsError("token_keyring: the keyring is not installed; pip install 'livedeck[keyring]'") from None
    service, _, user = entry.partition("/")
    try:
        text: str | None = keyring.get_password(service, user)
    except KeyringError as error:
        raise SettingsError(
            f"token_keyring {entry}: the keyring of this machine fails ({type(error).__name__})"
        ) from None
    if not text:
        raise SettingsError(f"token_keyring {entry}: no such entry; run keyring set {service} {user}")
    return text

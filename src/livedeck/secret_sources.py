"""Tokens and signed addresses from the source in the settings. A refused token is read again (trust.md, "Secrets")."""

from __future__ import annotations

import asyncio
import json
import stat
import subprocess
from errno import EINVAL, EISDIR, ENXIO
from pathlib import Path

from livedeck.atomic_file import owner_fault, read_regular
from livedeck.client import Misconfigured, Secret
from livedeck.environment import child_variables, config_path, expand_user, is_credential, named_variable
from livedeck.settings import Settings, SettingsError
from livedeck.text.secrets import register_address, register_secret

TOKEN_COMMAND_TIMEOUT = 15.0
"""Maximum duration of a token command in seconds: long enough to touch a security key."""

MAX_TOKEN_BYTES = 16_384
"""Maximum size of a token file in bytes. No HTTP header is longer."""

_MAX_ADDRESSES = 2**20
"""Maximum size of a file of addresses in bytes."""


def read_token(settings: Settings) -> str:
    """Return the platform's token unmasked, for the client only. Raises SettingsError if the source has no token.

    A token command or a keyring may block, and a command may prompt the user. So call this before a screen is shown, or
    in a thread.
    """
    token = _read_source(settings)
    register_secret(token)
    return token


def read_collector_token(settings: Settings) -> str:
    """Return the collector's token unmasked, for the link to it only.

    Raises SettingsError if the source has no token.
    """
    if settings.collector_token_file is not None:
        token = secret_from_file("collector_token_file", expand_user(str(settings.collector_token_file)))
    elif settings.collector_token_command:
        token = secret_from_command("collector_token_command", settings.collector_token_command)
    elif settings.collector_token_keyring:
        token = secret_from_keyring("collector_token_keyring", settings.collector_token_keyring)
    else:
        raise SettingsError(
            "no token for the collector: create one there with `livedeck collector token create NAME`; set "
            f"collector_token_file or collector_token_command in {config_path()}"
        )
    register_secret(token)
    return token


def _read_source(settings: Settings) -> str:
    if settings.token is not None and settings.token.get_secret_value():
        return settings.token.get_secret_value()
    if settings.token_file is not None:
        return secret_from_file("token_file", expand_user(str(settings.token_file)))
    if settings.token_command:
        return secret_from_command("token_command", settings.token_command)
    if settings.token_keyring:
        return secret_from_keyring("token_keyring", settings.token_keyring)
    if settings.withheld_token_reason:
        raise SettingsError(settings.withheld_token_reason)
    raise SettingsError(f"no token: set LIVEDECK_TOKEN, or token_file or token_command in {config_path()}")


def secret_from_file(setting: str, path: Path, limit: int = MAX_TOKEN_BYTES) -> str:
    """Return the content of a file that only its owner can read. Raises SettingsError, which names the setting."""
    try:
        content, status = read_regular(path, limit)
        text = content.decode().strip()
    except UnicodeDecodeError:
        raise SettingsError(f"{setting} {path}: not a text file") from None
    except OSError as error:
        is_other = error.errno in {EINVAL, EISDIR, ENXIO}
        reason = "not a regular file; name a regular file" if is_other else error.strerror
        raise SettingsError(f"{setting} {path}: {reason}") from None
    if reason := owner_fault(path, status, forbidden=stat.S_IRWXG | stat.S_IRWXO):
        raise SettingsError(f"{setting} {path}: {reason}")
    if not text:
        raise SettingsError(f"{setting} {path}: the file is empty")
    if len(content) > limit:
        raise SettingsError(f"{setting} {path}: too large for a secret ({status.size:,} bytes)")
    return text


def read_addresses(setting: str, path: Path) -> dict[str, str]:
    """Return name -> address from a JSON object in a file that only its owner can read. Raises SettingsError.

    Errors never quote the file, because its addresses may be signed.
    """
    try:
        found = json.loads(secret_from_file(setting, path, _MAX_ADDRESSES))
    except (ValueError, RecursionError):
        raise SettingsError(f"{setting} {path}: should be a JSON object of event id -> address") from None
    if not isinstance(found, dict) or not all(isinstance(address, str) for address in found.values()):
        raise SettingsError(f"{setting} {path}: should be a JSON object of event id -> address")
    for address in found.values():
        register_address(address)
    return found


def secret_from_command(setting: str, argv: tuple[str, ...]) -> str:
    """Return the output of a program. Raises SettingsError, without the output, which may be the secret."""
    source = f"{setting} {argv[0]}"
    try:
        process = subprocess.run(  # noqa: S603  the user's own program, run without a shell
            argv,
            env=child_variables(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TOKEN_COMMAND_TIMEOUT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        late = f"still running after {TOKEN_COMMAND_TIMEOUT:.0f} s; run it by hand to see why"
        raise SettingsError(f"{source}: {late}") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "an argument has a character that cannot be passed"
        raise SettingsError(f"{source}: cannot be run: {reason}") from None
    if process.returncode:
        raise SettingsError(f"{source}: failed with exit code {process.returncode}; run it by hand to see why")
    text = process.stdout.decode("utf-8", errors="replace").strip()
    if not text:
        raise SettingsError(f"{source}: printed nothing")
    return text


def secret_from_keyring(setting: str, entry: str) -> str:
    """Return an entry of the machine's keyring, `SERVICE/USER`. Raises SettingsError, which names the setting."""
    try:
        import keyring
        from keyring.errors import KeyringError
    except ImportError:
        raise SettingsError(
            f"{setting}: the package keyring is missing: pip install '.[keyring]' in the checkout"
        ) from None
    service, _, user = entry.partition("/")
    try:
        text: str | None = keyring.get_password(service, user)
    except KeyringError as error:
        raise SettingsError(f"{setting} {entry}: the keyring of this machine failed ({type(error).__name__})") from None
    if not text:
        raise SettingsError(f"{setting} {entry}: no such entry; run keyring set {service} {user}")
    return text


def secret_from_variable(setting: str, name: str) -> str:
    """Return the value of a variable of the environment. Raises SettingsError, which names the setting."""
    if not (text := named_variable(name).strip()):
        raise SettingsError(f"{setting} {name}: the variable is not set")
    return text


class SettingsTokenSource:
    """Source of the token in the settings. `advice`: advice to the user after a refused token."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.advice = _advice(settings)

    async def read(self) -> Secret:
        """Read the token again, in a thread, because a token command may block. Raises Misconfigured."""
        try:
            return Secret(await asyncio.to_thread(read_token, self._settings))
        except SettingsError as error:
            raise Misconfigured(str(error)) from None


def _advice(settings: Settings) -> str:
    if settings.token is not None and settings.token.get_secret_value():
        return "Token refused. Set another LIVEDECK_TOKEN and restart livedeck"
    if settings.token_file is not None and is_credential(expand_user(str(settings.token_file))):
        return (
            f"token_file {settings.token_file} is a systemd credential; write another token to the file of "
            "LoadCredential=, and restart the service"
        )
    if settings.token_file is not None:
        return f"token_file {settings.token_file}: write another token there; livedeck rereads it without a restart"
    if settings.token_command:
        return (
            f"token_command {settings.token_command[0]}: make it print another token; "
            "livedeck reruns it without a restart"
        )
    return f"token_keyring {settings.token_keyring}: store another token there; livedeck rereads it without a restart"

"""The network settings reach every command, and their faults are named (connect.md, "Company networks")."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.commands import called
from client.test_transport import nobody
from livedeck.cli.exit_codes import UNREACHABLE, USAGE

PASSWORD = "s3cretword"
PLATFORM = {"LIVEDECK_BASE_URL": "https://platform.invalid", "LIVEDECK_TOKEN": "token-5a1e"}


def config(folder: Path, text: str) -> dict[str, str]:
    """The environment with a settings file of that text."""
    path = folder / "livedeck.toml"
    path.write_text(text, "utf-8")
    return PLATFORM | {"LIVEDECK_CONFIG": str(path)}


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ('ca_file = "none.pem"', "ca_file {folder}/none.pem: No such file"),
        ('client_cert = "none.pem"', "client_cert {folder}/none.pem: No such file"),
        ('client_cert = "livedeck.toml"', "client_cert {folder}/livedeck.toml: should be a PEM file"),
        ('proxy = "socks5://127.0.0.1:1"', "proxy should be http or https, a host and a port"),
    ],
)
@pytest.mark.parametrize("command", [("status",), ("doctor",)])
def test_what_cannot_be_used_is_named_by_its_key(command: tuple[str, ...], text: str, key: str, tmp_path: Path) -> None:
    done = called(tmp_path, *command, env=config(tmp_path, text))
    assert done.returncode == USAGE
    assert key.format(folder=tmp_path) in " ".join((done.stdout + done.stderr).split())


@pytest.mark.parametrize("command", [("status",), ("doctor",)])
def test_a_proxy_that_is_not_there_is_named_and_its_password_is_not(command: tuple[str, ...], tmp_path: Path) -> None:
    host = nobody().removeprefix("http://")
    proxy = f"http://me:{PASSWORD}@{host}"
    done = called(tmp_path, *command, env=PLATFORM | {"LIVEDECK_PROXY": proxy})
    said = " ".join((done.stdout + done.stderr).split())
    assert done.returncode == UNREACHABLE
    assert f"the proxy http://{host} cannot be reached; check the setting proxy" in said
    assert PASSWORD not in said
    shown = called(tmp_path, "config", "show", env=PLATFORM | {"LIVEDECK_PROXY": proxy})
    assert f'proxy = "http://••••@{host}"' in shown.stdout
    assert not [path for path in tmp_path.rglob("*.log") if PASSWORD in path.read_text("utf-8")]

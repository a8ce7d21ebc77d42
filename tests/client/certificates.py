"""Certificates for platforms and proxies on this machine, made by the openssl command."""

from __future__ import annotations

import shutil
import ssl
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

needs_openssl = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificates")


class Certificates(NamedTuple):
    """PEM files: an authority of the test, and a server and a client that it signed, each with its key."""

    authority: Path
    server: Path
    client: Path
    locked_client: Path


def make_certificates(folder: Path) -> Certificates:
    """Write the certificates into a folder; they are valid for two days."""
    _make(
        folder, "authority", "-x509", "-addext", "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=keyCertSign"
    )
    for name in ("server", "client"):
        _make(folder, name, "-CA", "authority.pem", "-CAkey", "authority.key", "-x509", "-addext", _NAMES, *_LEAF)
        (folder / f"{name}.both").write_text(
            (folder / f"{name}.pem").read_text() + (folder / f"{name}.key").read_text()
        )
    _run(folder, "ec", "-in", "client.key", "-aes128", "-passout", "pass:x", "-out", "locked.key")
    (folder / "locked.both").write_text((folder / "client.pem").read_text() + (folder / "locked.key").read_text())
    return Certificates(*(folder / name for name in ("authority.pem", "server.both", "client.both", "locked.both")))


_LEAF = ("-addext", "basicConstraints=CA:FALSE")
_NAMES = "subjectAltName=DNS:localhost,IP:127.0.0.1"


def _make(folder: Path, name: str, *options: str) -> None:
    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", f"{name}.key")
    _run(folder, "req", *key, "-subj", f"/CN={name}", "-days", "2", "-out", f"{name}.pem", *options)


def _run(folder: Path, *arguments: str) -> None:
    subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True, timeout=60)


def server_context(certificates: Certificates) -> ssl.SSLContext:
    """Return TLS settings for a server at localhost or 127.0.0.1."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificates.server)
    return context

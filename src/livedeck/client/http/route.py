"""Proxy and TLS settings for reaching the platform (connect.md, "Company networks")."""

from __future__ import annotations

import re
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from livedeck.client.http.errors import Misconfigured
from livedeck.client.http.secrets import Secret
from livedeck.record import Record

_PROXY = re.compile(r"https?://(?:[^/@\s]*@)?(?:[\w.-]+|\[[\da-f:.]+\]):\d{1,5}/?", re.IGNORECASE)


class Proxy(Record):
    """Proxy that opens tunnels. `address`: scheme, host and port. `credentials`: user and password, or None."""

    address: str
    credentials: tuple[Secret, Secret] | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Route:
    """Route of requests. Only https goes through a proxy, in a tunnel that the proxy cannot read.

    Args:
        proxy: `http://host:port` or `https://host:port`, with `user:password@` if needed.
        ca_file: Certificates in PEM that are trusted besides the public authorities.
        client_cert: PEM file with a certificate and its key.
        use_environment: Use HTTPS_PROXY, ALL_PROXY, NO_PROXY, SSL_CERT_FILE and SSL_CERT_DIR unless set above.
    """

    proxy: Secret | None = None
    ca_file: Path | None = None
    client_cert: Path | None = None
    use_environment: bool = False

    @property
    def names_certificates(self) -> bool:
        """True if the settings name certificate files, or the environment may name some."""
        return self.use_environment or self.ca_file is not None or self.client_cert is not None

    def check(self) -> None:
        """Raise Misconfigured if the proxy cannot be used."""
        if self.proxy is not None:
            _parse_proxy("proxy", self.proxy.reveal())
        elif self.use_environment:
            _environment_proxy()

    def proxy_for(self, scheme: str, host: str) -> Proxy | None:
        """Return the proxy for a host, or None for a direct connection. Raises Misconfigured."""
        if scheme != "https":
            return None
        if self.proxy is not None:
            return _parse_proxy("proxy", self.proxy.reveal())
        if not self.use_environment or proxy_bypass(host):
            return None
        return _environment_proxy()

    def variables(self) -> dict[str, str]:
        """Return the environment variables that give another program the same route. Raises Misconfigured."""
        self.check()
        if self.proxy is not None:
            return {"HTTPS_PROXY": self.proxy.reveal()}
        found = getproxies() if self.use_environment else {}
        proxy = found.get("https") or found.get("all")
        return {"HTTPS_PROXY": proxy, "NO_PROXY": found.get("no", "")} if proxy else {"NO_PROXY": "*"}

    def ssl_context(self, make_default: Callable[[], ssl.SSLContext]) -> ssl.SSLContext:
        """Return the default TLS context with this route's certificates. Raises Misconfigured for an unusable file."""
        with _named_faults("SSL_CERT_FILE or SSL_CERT_DIR", "should name certificates in PEM"):
            context = make_default()
        if self.ca_file is not None:
            with _named_faults(f"ca_file {self.ca_file}", "should contain certificates in PEM"):
                context.load_verify_locations(cafile=self.ca_file)
        if self.client_cert is not None:
            demand = "should be a PEM file with a certificate and its key, without a passphrase"
            with _named_faults(f"client_cert {self.client_cert}", demand):
                context.load_cert_chain(self.client_cert, password=lambda: "")  # otherwise OpenSSL prompts for it
        return context


@contextmanager
def _named_faults(subject: str, demand: str) -> Iterator[None]:
    try:
        yield
    except ssl.SSLError:
        raise Misconfigured(f"{subject}: {demand}") from None
    except OSError as error:
        raise Misconfigured(f"{subject}: {error.strerror or 'cannot be read'}; give a readable file") from None


def _environment_proxy() -> Proxy | None:
    """Return the proxy of the environment, or None. Raises Misconfigured, which names the variable."""
    proxies = getproxies()
    for scheme in ("https", "all"):
        if address := proxies.get(scheme):
            return _parse_proxy(f"{scheme.upper()}_PROXY", address if "://" in address else f"http://{address}")
    return None


def _parse_proxy(name: str, address: str) -> Proxy:
    if not _PROXY.fullmatch(address):
        raise Misconfigured(f"{name} should be http or https, a host and a port; other proxies are not supported")
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        port = None
    if not port:
        raise Misconfigured(f"{name} should have a port from 1 to 65535")
    user, _, password = parts.netloc.rpartition("@")[0].partition(":")
    credentials = (Secret(unquote(user)), Secret(unquote(password))) if user else None
    return Proxy(f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}", credentials)

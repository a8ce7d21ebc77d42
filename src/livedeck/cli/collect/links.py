"""Key of the links that acknowledge an alarm, and the maker of links (collector.md, "Links")."""

from __future__ import annotations

from pathlib import Path

from livedeck.atomic_file import owner_fault, read_regular, write_private
from livedeck.cli.wiring import SystemClock
from livedeck.collector.links import KEY_BYTES, LinkRefused, Links, new_secret
from livedeck.monitor import Alarm
from livedeck.settings import Settings, SettingsError

_OTHERS = 0o077


def make_links(settings: Settings) -> Links | None:
    """Return the maker of links; None without `link_url`. Reads or creates the key beside the history.

    Raises SettingsError. Call it in a thread.
    """
    address, history = settings.collector.link_url, settings.history_file()
    if not address or history is None:
        return None
    return Links(_read_or_make(history.with_name(f"{history.name}.links")), address, SystemClock().now)


def link_of_route(links: Links, alarm: Alarm, route: str) -> str:
    """Return a link for a message of a route; empty if the ids of the alarm are too long for a link."""
    try:
        return links.link(alarm, f"route {route}")
    except LinkRefused:
        return ""


def _read_or_make(path: Path) -> bytes:
    try:
        return _read(path)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise SettingsError(f"{path}: {error.strerror}; cannot read the key that signs acknowledgement links") from None
    try:
        write_private(path, new_secret().hex(), replace=False)
    except FileExistsError:  # another process was first
        pass
    except OSError as error:
        raise SettingsError(
            f"{path}: {error.strerror}; cannot store the key that signs acknowledgement links"
        ) from None
    return _read(path)


def _read(path: Path) -> bytes:
    """Return the key in a file. Raises OSError, SettingsError."""
    content, status = read_regular(path, 2 * KEY_BYTES)
    if fault := owner_fault(path, status, forbidden=_OTHERS):
        raise SettingsError(f"{path}: {fault}")
    try:
        key = bytes.fromhex(content.decode())
    except ValueError:
        key = b""
    if len(key) != KEY_BYTES:
        raise SettingsError(f"{path}: no key that signs links; delete the file, and the collector makes a new key")
    return key

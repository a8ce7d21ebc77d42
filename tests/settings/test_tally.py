"""`[tally]`: the displays of each receiver, and faults with their lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from livedeck.settings import SettingsError, load

TOML = """base_url = "https://platform.example"
[tally.targets.wall]
address = "10.0.8.20:8900"
version = "3.1"
transport = "udp"
displays = { "id-1" = 0, "id-2" = 126 }
"""


def test_a_receiver_has_its_displays(bare: Path) -> None:
    assert load().tally.targets == {}
    bare.write_text(TOML, "utf-8")
    assert load().tally.targets["wall"].displays == {"id-1": 0, "id-2": 126}
    bare.write_text(TOML.replace("3.1", "5.0").replace("126", "65534").replace("udp", "tcp"), "utf-8")
    assert load().tally.targets["wall"].transport == "tcp"


@pytest.mark.parametrize(
    ("line", "instead", "why"),
    [
        ("10.0.8.20:8900", "10.0.8.20", r"tally\.targets\.wall\.address \(.*:3\): should be an address and a port"),
        ("10.0.8.20:8900", "udp://10.0.8.20:8900", r"address \(.*:3\): should be"),
        ("10.0.8.20:8900", "10.0.8.20:0", r"address \(.*:3\): should be a host and a port"),
        ('"udp"', '"tcp"', "transport: tcp only with version 5.0"),
        ("126", "127", "numbers of 3.1 are 0 to 126"),
        ("126", "0", "two events have the same display"),
        ("126", "true", "displays"),
        ("3.1", "4.0", r"version \(.*:4\)"),
    ],
)
def test_a_wrong_receiver_is_refused(bare: Path, line: str, instead: str, why: str) -> None:
    bare.write_text(TOML.replace(line, instead), "utf-8")
    with pytest.raises(SettingsError, match=why):
        load()

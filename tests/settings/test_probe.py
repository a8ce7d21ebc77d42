"""`[probe]`: addresses of playlists, and faults with their lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from livedeck.secret_sources import read_addresses
from livedeck.settings import SettingsError, load

TOML = """base_url = "https://platform.example"
[probe]
enabled = true
playlist = "https://cdn.example/live/{event_id}/master.m3u8"
interval = 20
[events."id-1"]
playlist = "https://own.example/a.m3u8"
[events."id-2"]
playlist = "off"
"""


def test_the_probe_is_off_until_asked(bare: Path) -> None:
    assert not load().probe.enabled
    bare.write_text(TOML, "utf-8")
    settings = load()
    assert (settings.probe.enabled, settings.probe.interval, settings.probe.budget_kbit) == (True, 20, 2000)
    assert settings.events["id-2"].playlist == "off"
    assert settings.limits_in_force().events == {}


@pytest.mark.parametrize(
    ("line", "instead", "why"),
    [
        ("/{event_id}/", "/gala/", r"probe\.playlist \(.*:4\): should have {event_id} or {stream_id}"),
        ("/{event_id}/", "/{event}/", r"probe\.playlist \(.*:4\): may have {event_id} and"),
        ("cdn.example/live", "{event_id}.example/live", r"probe\.playlist \(.*:4\)"),
        ("https://cdn.example", "http://cdn.example", r"probe\.playlist \(.*:4\): should be an https address"),
        ("https://cdn.example", "https://user:word@cdn.example", r"probe\.playlist .*playlists_file"),
        ("master.m3u8", "master.m3u8?sign=4711", r"probe\.playlist .*signed addresses belong in playlists_file"),
        ("a.m3u8", "{event_id}.m3u8", r"events\.id-1\.playlist \(.*:7\)"),
        ('"off"', '"no"', r"events\.id-2\.playlist \(.*:9\): should be an https address"),
        ("interval = 20", "interval = 1", r"probe\.interval \(.*:5\)"),
        ("interval = 20", "budget = 1", r"probe\.budget \(.*:5\): no such setting; did you mean budget_kbit"),
    ],
)
def test_what_cannot_be_is_said_with_its_line(bare: Path, line: str, instead: str, why: str) -> None:
    bare.write_text(TOML.replace(line, instead), "utf-8")
    with pytest.raises(SettingsError, match=why):
        load()


def test_limits_by_name_have_no_playlist(bare: Path) -> None:
    bare.write_text('[[limits]]\nevents = ["A *"]\nplaylist = "https://own.example/a.m3u8"\n', "utf-8")
    with pytest.raises(SettingsError, match="no such setting"):
        load()


def test_the_file_of_signed_addresses_is_private_and_never_quoted(tmp_path: Path) -> None:
    path = tmp_path / "playlists.json"
    path.write_text('{"id-1": "https://cdn.example/a.m3u8?sign=hunter2hunter2"}', "utf-8")
    path.chmod(0o600)
    assert read_addresses("probe.playlists_file", path) == {"id-1": "https://cdn.example/a.m3u8?sign=hunter2hunter2"}
    for text in ('["hunter2hunter2"]', '{"id-1": 4711}', '{"hunter2hunter2'):
        path.write_text(text, "utf-8")
        with pytest.raises(SettingsError, match="should be a JSON object") as raised:
            read_addresses("probe.playlists_file", path)
        assert "hunter2" not in str(raised.value)
    path.chmod(0o644)
    with pytest.raises(SettingsError, match=r"probe\.playlists_file"):
        read_addresses("probe.playlists_file", path)

"""Addresses of collectors, to which alone their tokens go."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from livedeck.secret_sources import read_collector_token
from livedeck.settings import SettingsError, load

A, B = "https://a.example", "https://b.example"
TOP = f'collector_url = "{A}"\ncollector_token_keyring = "top/a"\n'
PROFILE = f'[profiles.staging]\ncollector_url = "{B}"\n'
PROFILE_TOKEN = f'{PROFILE}collector_token_keyring = "staging/b"\n'


def write(text: str) -> None:
    """Write the settings file."""
    from livedeck.environment import config_path

    config_path().parent.mkdir(parents=True, exist_ok=True)
    config_path().write_text(text, encoding="utf-8")
    config_path().chmod(0o600)


@pytest.mark.parametrize(
    ("file", "variables", "urls"),
    [
        ("", {}, ()),
        (f'collector_url = "{A}"\n', {}, (A,)),
        (f'collector_url = ["{A}", "{B}"]\n', {}, (A, B)),
        (f'collector_url = "{A}"\n', {"COLLECTOR_URL": B}, (B,)),
        ("", {"COLLECTOR_URL": f"{A} {B}"}, (A, B)),
    ],
)
def test_one_address_or_several(
    monkeypatch: pytest.MonkeyPatch, file: str, variables: Mapping[str, str], urls: tuple[str, ...]
) -> None:
    write(file)
    for name, value in variables.items():
        monkeypatch.setenv(f"LIVEDECK_{name}", value)
    assert load().collector_urls == urls


@pytest.mark.parametrize(
    ("file", "variables", "flags", "used"),
    [
        (TOP, {}, {}, "top/a"),
        (TOP, {"COLLECTOR_TOKEN_KEYRING": "env/a"}, {}, "env/a"),
        (TOP + PROFILE_TOKEN, {}, {"profile": "staging"}, "staging/b"),
        (TOP + PROFILE, {}, {"profile": "staging"}, None),
        (TOP, {"COLLECTOR_URL": B}, {}, None),
        (TOP, {"COLLECTOR_URL": B, "COLLECTOR_TOKEN_KEYRING": "env/b"}, {}, "env/b"),
        (
            '[profiles.staging]\ncollector_token_keyring = "staging/b"\n',
            {"COLLECTOR_URL": A},
            {"profile": "staging"},
            None,
        ),
    ],
)
def test_its_token_stays_with_the_address_that_it_is_named_beside(
    monkeypatch: pytest.MonkeyPatch, file: str, variables: Mapping[str, str], flags: dict[str, str], used: str | None
) -> None:
    write(file)
    for name, value in variables.items():
        monkeypatch.setenv(f"LIVEDECK_{name}", value)
    if used is None:
        with pytest.raises(SettingsError, match="may be for another collector"):
            load(**flags)
    else:
        assert load(**flags).collector_token_keyring == used


def test_it_comes_from_a_file_or_a_program_and_two_sources_are_refused(tmp_path: Path) -> None:
    secret = tmp_path / "token"
    secret.write_text("of-the-collector\n", encoding="utf-8")
    secret.chmod(0o600)
    write(f'collector_url = "{A}"\ncollector_token_file = "{secret}"\n')
    assert read_collector_token(load()) == "of-the-collector"
    write(f'collector_url = "{A}"\ncollector_token_command = {json.dumps(["echo", "of-a-program"])}\n')
    assert read_collector_token(load()) == "of-a-program"
    secret.chmod(0o644)
    write(f'collector_url = "{A}"\ncollector_token_file = "{secret}"\n')
    with pytest.raises(SettingsError, match="collector_token_file"):
        read_collector_token(load())
    write(f'collector_url = "{A}"\n')
    with pytest.raises(SettingsError, match="no token for the collector"):
        read_collector_token(load())
    write(f'{TOP}collector_token_file = "{secret}"\n')
    with pytest.raises(SettingsError, match="set only one source"):
        load()
